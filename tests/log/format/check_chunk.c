// SPDX-License-Identifier: MIT
// A chunk opens as it was sealed, and nothing else opens: no flipped bit, no cut, no other place.
#include "log/format/chunk.h"

#include "log/format/chunk_valid.h"
#include "log/mend.h"
#include "support/suite.h"

#include <string.h>

enum { BODY_BYTES = 40, CHUNK_BYTES = CHUNK_HEADER_BYTES + BODY_BYTES };

// Offsets of the header, as chunk.h says.
enum { AT_VERSION = 8, AT_KIND = 12, AT_UID = 16, AT_SEQUENCE = 32, AT_WORLD = 40 };
enum { AT_WORLD_COUNT = 44, AT_FIRST = 48, AT_LAST = 56, AT_TIME = 64, AT_WRITTEN = 72 };
enum { AT_FIGURES = 80, AT_SOLVER = 144, AT_FLAGS = 160, AT_PREDECESSOR = 168 };
enum { AT_BODY_BYTES = 176, AT_CHECKSUM = 184 };

static const uint8_t uid[UID_BYTES] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

static void make_chunk(uint8_t bytes[CHUNK_BYTES]) {
    memset(bytes, 0xee, CHUNK_HEADER_BYTES);
    for (int i = 0; i < BODY_BYTES; i++) {
        bytes[CHUNK_HEADER_BYTES + i] = (uint8_t)(3 * i);
    }
    Chunk chunk = {.kind = CHUNK_INPUTS,
                   .sequence = 77,
                   .first_world = 64,
                   .world_count = 32,
                   .first_step = 1000,
                   .last_step = 1250,
                   .time = 12.5,
                   .written_ns = 123456789,
                   .figures = {.unconverged_steps = 3,
                               .worst_own = 1e-5,
                               .worst_penetration = 1e-3,
                               .contacts_max = 40,
                               .hardest_impact = 2.5,
                               .hardest_impact_step = 1111,
                               .energy_gain = 0.25,
                               .energy_gain_step = 1200},
                   .solver = "mdp",
                   .predecessor = 0x0123456789abcdef};
    memcpy(chunk.uid, uid, UID_BYTES);
    uint64_t checksum = chunk_seal(bytes, CHUNK_BYTES, &chunk);
    ck_assert_int_eq(memcmp(&checksum, bytes + AT_CHECKSUM, sizeof(checksum)), 0);
}

START_TEST(a_sealed_chunk_opens_as_it_was) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    Chunk chunk;
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, uid, &chunk, NULL), STATUS_OK);
    ck_assert_int_eq(chunk.kind, CHUNK_INPUTS);
    ck_assert_uint_eq(chunk.first_step, 1000);
    ck_assert_uint_eq(chunk.last_step, 1250);
    ck_assert_mem_eq(chunk.uid, uid, UID_BYTES);
    ck_assert_uint_eq(chunk.sequence, 77);
    ck_assert_uint_eq(chunk.first_world, 64);
    ck_assert_uint_eq(chunk.world_count, 32);
    ck_assert_double_eq(chunk.time, 12.5);
    ck_assert_uint_eq(chunk.written_ns, 123456789);
    ck_assert_uint_eq(chunk.figures.unconverged_steps, 3);
    ck_assert_uint_eq(chunk.figures.energy_gain_step, 1200);
    ck_assert_str_eq(chunk.solver, "mdp");
    ck_assert_uint_eq(chunk.predecessor, 0x0123456789abcdef);
    ck_assert_ptr_eq(chunk.body, bytes + CHUNK_HEADER_BYTES);
    ck_assert_uint_eq(chunk.body_bytes, BODY_BYTES);
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, NULL, &chunk, NULL), STATUS_OK);
}
END_TEST

START_TEST(the_header_is_as_documented) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    uint8_t expected[AT_CHECKSUM + BODY_BYTES] = "MOREAUCK\4\0\0\0\2\0\0\0";
    memcpy(expected + AT_UID, uid, UID_BYTES);
    expected[AT_SEQUENCE] = 77;
    expected[AT_WORLD] = 64;
    expected[AT_WORLD_COUNT] = 32;
    memcpy(expected + AT_TIME, &(double){12.5}, 8);
    memcpy(expected + AT_WRITTEN, &(uint64_t){123456789}, 8);
    const StepFigures figures = {3, 1e-5, 1e-3, 40, 2.5, 1111, 0.25, 1200, 0, {0.0, 0.0, 0.0}};
    memcpy(expected + AT_FIGURES, &figures, 64);
    memcpy(expected + AT_SOLVER, "mdp", 3);
    memcpy(expected + AT_PREDECESSOR, &(uint64_t){0x0123456789abcdef}, 8);
    expected[AT_FIRST] = 1000 & 0xff;
    expected[AT_FIRST + 1] = 1000 >> 8;
    expected[AT_LAST] = 1250 & 0xff;
    expected[AT_LAST + 1] = 1250 >> 8;
    expected[AT_BODY_BYTES] = BODY_BYTES;
    ck_assert_mem_eq(bytes, expected, AT_CHECKSUM);
    memcpy(expected + AT_CHECKSUM, bytes + CHUNK_HEADER_BYTES, BODY_BYTES);
    uint64_t checksum = hash_bytes(expected, sizeof(expected), 0);
    for (int i = 0; i < 8; i++) {
        ck_assert_uint_eq(bytes[AT_CHECKSUM + i], (checksum >> 8 * i) & 0xff);
    }
}
END_TEST

// What energy inputs gained, in front of their body, since version 7; and no other kind.
START_TEST(inputs_tell_what_was_gained) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    Chunk chunk;
    Error error = {0};
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, uid, &chunk, NULL), STATUS_OK);
    ck_assert_uint_eq(chunk.figures.has_gain, 0); // not known
    chunk.version = CHUNK_FORMAT_GAINS;
    chunk.figures.gain = (Gain){0.5, 20.0, 0.25};
    chunk_seal(bytes, CHUNK_BYTES, &chunk);
    ck_assert_mem_eq(bytes + CHUNK_HEADER_BYTES, (&(double[]){0.5, 20.0, 0.25}), CHUNK_GAIN_BYTES);
    Chunk found;
    ck_assert_int_eq(chunk_read_head(bytes, CHUNK_HEAD_BYTES_MAX, &found, NULL), STATUS_OK);
    ck_assert_double_eq(found.figures.gain.sum, 0.5);
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, uid, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.figures.has_gain, 1);
    ck_assert_double_eq(found.figures.gain.scale, 20.0);
    ck_assert_double_eq(found.figures.gain.step, 0.25);
    ck_assert_ptr_eq(found.body, bytes + CHUNK_HEADER_BYTES + CHUNK_GAIN_BYTES);
    ck_assert_uint_eq(found.body_bytes, BODY_BYTES - CHUNK_GAIN_BYTES);

    put_u64(bytes, AT_BODY_BYTES, CHUNK_GAIN_BYTES - 8); // there is no room for it
    const size_t count = CHUNK_HEADER_BYTES + CHUNK_GAIN_BYTES - 8;
    mend_checksum(bytes, count);
    ck_assert_int_eq(chunk_open(bytes, count, uid, &found, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "what energy was gained"));

    make_chunk(bytes);
    chunk.kind = CHUNK_FRAMES;
    chunk_seal(bytes, CHUNK_BYTES, &chunk);
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, uid, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.figures.has_gain, 0);
    ck_assert_uint_eq(found.body_bytes, BODY_BYTES);
}
END_TEST

START_TEST(any_flipped_bit_is_found) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    for (size_t bit = 0; bit < 8 * (size_t)CHUNK_BYTES; bit++) {
        Chunk chunk;
        Error error = {0};
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        ck_assert_msg(chunk_open(bytes, CHUNK_BYTES, NULL, &chunk, &error) == STATUS_DATA_LOSS,
                      "bit %zu", bit);
        ck_assert_str_ne(error.message, "");
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
}
END_TEST

START_TEST(any_cut_is_found) {
    uint8_t bytes[CHUNK_BYTES + 8] = {0};
    make_chunk(bytes);
    Chunk chunk;
    Error error = {0};
    for (size_t count = 0; count < CHUNK_BYTES; count++) {
        ck_assert_int_eq(chunk_open(bytes, count, uid, &chunk, &error), STATUS_DATA_LOSS);
        ck_assert_ptr_nonnull(strstr(error.message, "it is cut short"));
    }
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES + 8, uid, &chunk, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "it is too long"));
    ck_assert_int_eq(chunk_open(NULL, 0, uid, &chunk, &error), STATUS_DATA_LOSS);
}
END_TEST

START_TEST(a_wrong_checksum_is_told_with_the_right_one) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    put_u64(bytes, AT_CHECKSUM, 0x123);
    Chunk chunk;
    Error error = {0};
    chunk_open(bytes, CHUNK_BYTES, uid, &chunk, &error);
    ck_assert_ptr_nonnull(strstr(error.message, "its checksum is wrong: 0x"));
    ck_assert_ptr_nonnull(strstr(error.message, " instead of 0x0000000000000123"));
}
END_TEST

START_TEST(a_chunk_of_another_recording_is_refused) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    uint8_t other[UID_BYTES];
    memcpy(other, uid, UID_BYTES);
    other[15] ^= 1;
    Chunk chunk;
    Error error = {0};
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, other, &chunk, &error), STATUS_DATA_LOSS);
    ck_assert_str_eq(error.message, "it belongs to another recording");
}
END_TEST

// What nobody seals, with a checksum that is right.
static const struct {
    size_t at;
    uint64_t value;
    const char *why;
} nonsense[] = {
    {AT_KIND, 0, "its kind, 0, is unknown"},
    {AT_KIND, CHUNK_KIND_COUNT, "its kind, 15, is unknown"},
    {AT_VERSION, 12 | (uint64_t)CHUNK_INPUTS << 32, "its format version is 12, and"},
    {AT_VERSION, 1 | (uint64_t)CHUNK_INPUTS << 32, "its format version is 1, and"},
    {AT_WORLD, (uint64_t)64, "its range of worlds, 0 from 64 on, cannot be"},
    {AT_WORLD, (uint64_t)32 << 32 | 0xfffffff0, "its range of worlds, 32 from 4294967280 on"},
    {AT_FLAGS, CHUNK_COMPRESSED, "it has flags that this program does not know (0x1): a newer"},
    {AT_FIRST, 1251, "its first step, 1251, comes after its last, 1250"},
    {AT_KIND, CHUNK_KEYFRAME, "it is a key-frame of more than one step: 1000 to 1250"},
    {AT_KIND, CHUNK_GAP, "it is a gap and has a body of 40 bytes"},
    {AT_BODY_BYTES, UINT64_MAX, "it is cut short: its body has 40 bytes instead of 18"},
    {AT_BODY_BYTES, 0, "it is too long: its body has 40 bytes instead of 0"},
};

START_TEST(nonsense_is_refused_though_its_checksum_is_right) {
    uint8_t bytes[CHUNK_BYTES];
    make_chunk(bytes);
    if (nonsense[_i].at == AT_KIND) {
        put_u32(bytes, AT_KIND, (uint32_t)nonsense[_i].value);
    } else {
        put_u64(bytes, nonsense[_i].at, nonsense[_i].value);
    }
    mend_checksum(bytes, CHUNK_BYTES);
    Chunk chunk;
    Error error = {0};
    ck_assert_int_eq(chunk_open(bytes, CHUNK_BYTES, uid, &chunk, &error), STATUS_DATA_LOSS);
    ck_assert_msg(strstr(error.message, nonsense[_i].why) != NULL, "%s", error.message);
}
END_TEST

START_TEST(kinds_have_names) {
    ck_assert_str_eq(chunk_kind_name(CHUNK_KEYFRAME), "key-frame");
    ck_assert_str_eq(chunk_kind_name(CHUNK_GAP), "gap");
    ck_assert_str_eq(chunk_kind_name(0), "unknown");
    ck_assert_str_eq(chunk_kind_name(CHUNK_HIGHLIGHTS), "highlights");
    ck_assert_str_eq(chunk_kind_name(CHUNK_KIND_COUNT), "unknown");
    ck_assert_str_eq(chunk_kind_name(UINT32_MAX), "unknown");
}
END_TEST

START_TEST(what_no_recording_has_is_named) {
    Defect defect = {0};
    const Chunk sound = {.kind = CHUNK_KEYFRAME, .world_count = 1, .first_step = 3, .last_step = 3};
    ck_assert(chunk_is_valid(&sound, &defect));
    Chunk chunk = sound;
    chunk.last_step = 4;
    ck_assert(!chunk_is_valid(&chunk, &defect));
    ck_assert_str_eq(defect.what, "it shows one step, and names two");
    chunk = sound;
    chunk.world_count = 0;
    ck_assert(!chunk_is_valid(&chunk, &defect));
    chunk = sound;
    chunk.kind = CHUNK_DEFINITION;
    ck_assert(!chunk_is_valid(&chunk, &defect));
}
END_TEST

static TCase *case_chunk(void) {
    TCase *tcase = tcase_create("chunk");
    tcase_add_test(tcase, a_sealed_chunk_opens_as_it_was);
    tcase_add_test(tcase, the_header_is_as_documented);
    tcase_add_test(tcase, inputs_tell_what_was_gained);
    tcase_add_test(tcase, any_flipped_bit_is_found);
    tcase_add_test(tcase, any_cut_is_found);
    tcase_add_test(tcase, a_wrong_checksum_is_told_with_the_right_one);
    tcase_add_test(tcase, a_chunk_of_another_recording_is_refused);
    tcase_add_loop_test(tcase, nonsense_is_refused_though_its_checksum_is_right, 0,
                        (int)(sizeof(nonsense) / sizeof(nonsense[0])));
    tcase_add_test(tcase, kinds_have_names);
    tcase_add_test(tcase, what_no_recording_has_is_named);
    return tcase;
}

SUITE_MAIN("log/chunk", case_chunk)
