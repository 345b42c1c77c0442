// SPDX-License-Identifier: MIT
// Stored frames, contacts and key-frames that are not what the steps give are told by step, body
// and quantity, though their checksums are sound.
#include "log/format/frames.h"
#include "support/log_tape.h"
#include "support/suite.h"

#include <string.h>

// Where a number of a body stands behind the head of a frame or of a snapshot's state.
enum { BODY_COUNT = 4 };

static size_t pose_at(size_t body, size_t number) {
    return 8 * (7 * body + number);
}

static size_t velocity_at(size_t body, size_t number) {
    return pose_at(BODY_COUNT, 0) + 8 * (6 * body + number);
}

static double flip_double(uint8_t *bytes, size_t at, double *before) {
    double number;
    memcpy(before, bytes + at, sizeof(*before));
    bytes[at] ^= 1; // the lowest bit
    memcpy(&number, bytes + at, sizeof(number));
    return number;
}

static void expect_content(const PlayerDifference *difference, const TapeBlob *blob,
                           uint64_t at_step, uint64_t body, const char *quantity, double expected,
                           double found) {
    ck_assert(difference->found);
    ck_assert(!difference->is_damage);
    ck_assert_int_eq(difference->chunk, blob->id);
    ck_assert_uint_eq(difference->step, at_step);
    ck_assert_uint_eq(difference->body, body);
    ck_assert_str_eq(difference->quantity, quantity);
    ck_assert_mem_eq(&difference->expected, &expected, sizeof(double));
    ck_assert_mem_eq(&difference->value, &found, sizeof(double));
    ck_assert_ptr_nonnull(strstr(difference->message, quantity));
}

START_TEST(a_frame_that_differs_names_body_and_quantity) {
    Tape *tape = tape_open();
    TapeBlob blob;
    ck_assert(tape_read_blob(tape, CHUNK_FRAMES, 0, &blob));
    const size_t bodies = BODY_COUNT,
                 head = CHUNK_HEADER_BYTES + frame_chunk_head_bytes(bodies, &(FrameJoints){0});
    const size_t frame =
        head + 5 * frame_chunk_frame_bytes(bodies, &(FrameJoints){0}); // of step 5 * TAPE_STRIDE
    const struct {
        size_t at;
        uint64_t body;
        const char *quantity;
    } numbers[] = {{16, 0, "time"},
                   {24 + pose_at(2, 2), 3, "position.z"},
                   {24 + pose_at(3, 3), 4, "orientation.w"},
                   {24 + velocity_at(2, 5), 3, "velocity.wz"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double before, after = flip_double(blob.bytes, frame + numbers[i].at, &before);
        tape_write_mended(tape, &blob);
        tape_seek(tape, 0);
        PlayerDifference difference = tape_play(tape, tape->steps, true);
        expect_content(&difference, &blob, (uint64_t)5 * TAPE_STRIDE, numbers[i].body,
                       numbers[i].quantity, after, before);
        ck_assert_uint_eq(player_step(tape->player), (uint64_t)5 * TAPE_STRIDE);
        difference = tape_play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, frame + numbers[i].at, &before);
    }
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

START_TEST(contacts_that_differ_name_body_and_quantity) {
    Tape *tape = tape_open();
    TapeBlob blob;
    ck_assert(tape_read_blob(tape, CHUNK_CONTACTS, 0, &blob));
    uint64_t first;
    memcpy(&first, blob.bytes + CHUNK_HEADER_BYTES + 16, sizeof(first));
    ck_assert_uint_ge(first, 1);                                     // the ball rests on the ground
    const size_t list = CHUNK_HEADER_BYTES + 24, column = 8 * first; // of one number per contact
    const struct {
        size_t at;
        const char *quantity;
    } numbers[] = {{4 * column + 8, "contact.point[1]"},
                   {16 * column, "contact.gap"},
                   {17 * column, "contact.impulse[0]"},
                   {23 * column, "contact.friction"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double before, after = flip_double(blob.bytes, list + numbers[i].at, &before);
        tape_write_mended(tape, &blob);
        tape_seek(tape, 0);
        PlayerDifference difference = tape_play(tape, tape->steps, true);
        expect_content(&difference, &blob, TAPE_STRIDE, 1, numbers[i].quantity, after, before);
        difference = tape_play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, list + numbers[i].at, &before);
    }
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

// Where a section of this kind begins in a snapshot that stands in a chunk.
static size_t find_section(const TapeBlob *blob, uint32_t kind) {
    Source source = {.bytes = blob->bytes, .count = blob->count, .used = CHUNK_HEADER_BYTES + 16};
    for (;;) {
        uint32_t found = source_u32(&source);
        source_u32(&source);
        size_t count = source_count(&source, 1);
        ck_assert(!source.failed);
        if (found == kind) {
            return source.used;
        }
        source_bytes(&source, (count + 7) / 8 * 8);
    }
}

START_TEST(a_keyframe_that_differs_names_body_and_quantity) {
    Tape *tape = tape_open();
    TapeBlob blob;
    ck_assert(tape_read_blob(tape, CHUNK_KEYFRAME, 1, &blob));
    enum { SETTINGS = 1, BODIES = 4, STATE = 6, MEMORY = 7 };
    const struct {
        uint32_t section;
        size_t at;
        uint64_t body;
        const char *quantity;
    } numbers[] = {{SETTINGS, 24, 0, "time_step"},
                   {BODIES, 8 + 96 * 2 + 16, 3, "mass"},
                   {BODIES, 8 + 96 * 1 + 64, 2, "inertia.zz"},
                   {STATE, 8, 0, "time"},
                   {STATE, 32 + pose_at(1, 0), 2, "position.x"},
                   {STATE, 32 + velocity_at(3, 2), 4, "velocity.vz"},
                   {MEMORY, 8 + 40, 1, "impulse.z"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        size_t at = find_section(&blob, numbers[i].section) + numbers[i].at;
        double before, after = flip_double(blob.bytes, at, &before);
        tape_write_mended(tape, &blob);
        tape_seek(tape, 0);
        PlayerDifference difference = tape_play(tape, tape->steps, true);
        expect_content(&difference, &blob, TAPE_KEYFRAME_STEPS, numbers[i].body,
                       numbers[i].quantity, after, before);
        difference = tape_play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, at, &before);
    }
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

static TCase *case_content(void) {
    TCase *tcase = tcase_create("content");
    tcase_add_test(tcase, a_frame_that_differs_names_body_and_quantity);
    tcase_add_test(tcase, contacts_that_differ_name_body_and_quantity);
    tcase_add_test(tcase, a_keyframe_that_differs_names_body_and_quantity);
    return tcase;
}

SUITE_MAIN("run/player_check", case_content)
