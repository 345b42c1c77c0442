// SPDX-License-Identifier: MIT
// Entries come back in order; bytes that are none are refused wherever they were cut or changed.
#include "log/format/entries.h"

#include "log/mend.h"
#include "support/suite.h"

#include <string.h>

enum { FIRST_BYTES = ENTRY_HEAD_BYTES + 16 + 3 * 8, SECOND_BYTES = ENTRY_HEAD_BYTES + 8 };
enum { BODY_BYTES = FIRST_BYTES + SECOND_BYTES };
enum { AT_FLAGS = 8, AT_HASH_COUNT = 12, AT_INPUT_BYTES = 16 };

// Two entries: steps, with an input of 16 bytes and three hashes; one of no input and one hash.
static void make_body(uint8_t body[BODY_BYTES]) {
    Sink sink = {.bytes = body};
    sink_u64(&sink, 41);
    sink_u32(&sink, ENTRY_FAULTED);
    sink_u32(&sink, 3);
    sink_u64(&sink, 16);
    sink_bytes(&sink, "sixteen letters.", 16);
    sink_u64(&sink, 100);
    sink_u64(&sink, 101);
    sink_u64(&sink, UINT64_MAX);
    sink_u64(&sink, 43);
    sink_u32(&sink, 0);
    sink_u32(&sink, 1);
    sink_u64(&sink, 0);
    sink_u64(&sink, 103);
    ck_assert_uint_eq(sink.count, BODY_BYTES);
}

START_TEST(entries_come_back_in_order) {
    uint8_t body[BODY_BYTES];
    make_body(body);
    size_t at = 0;
    Entry entry;
    Error error = {0};
    ck_assert(entry_next(body, BODY_BYTES, &at, &entry, &error));
    ck_assert_uint_eq(at, FIRST_BYTES);
    ck_assert_uint_eq(entry.step, 41);
    ck_assert_uint_eq(entry.flags, ENTRY_FAULTED);
    ck_assert_uint_eq(entry.input_bytes, 16);
    ck_assert_mem_eq(entry.input, "sixteen letters.", 16);
    ck_assert_uint_eq(entry.hash_count, 3);
    ck_assert_uint_eq(entry_hash(&entry, 0), 100);
    ck_assert_uint_eq(entry_hash(&entry, 1), 101);
    ck_assert_uint_eq(entry_hash(&entry, 2), UINT64_MAX);
    ck_assert(entry_next(body, BODY_BYTES, &at, &entry, &error));
    ck_assert_uint_eq(entry.step, 43);
    ck_assert_uint_eq(entry.input_bytes, 0);
    ck_assert_uint_eq(entry_hash(&entry, 0), 103);
    ck_assert(!entry_next(body, BODY_BYTES, &at, &entry, &error));
    ck_assert_int_eq(error.status, STATUS_OK);
    ck_assert_uint_eq(at, BODY_BYTES);
}
END_TEST

START_TEST(a_body_may_be_empty) {
    size_t at = 0;
    Entry entry;
    Error error = {0};
    ck_assert(!entry_next(NULL, 0, &at, &entry, &error));
    ck_assert_int_eq(error.status, STATUS_OK);
}
END_TEST

START_TEST(a_cut_is_found_unless_it_is_between_entries) {
    uint8_t body[BODY_BYTES];
    make_body(body);
    size_t count = (size_t)_i, at = 0;
    Entry entry;
    Error error = {0};
    while (entry_next(body, count, &at, &entry, &error)) {
    }
    bool between = count == 0 || count == FIRST_BYTES || count == BODY_BYTES;
    ck_assert_int_eq(error.status, between ? STATUS_OK : STATUS_DATA_LOSS);
}
END_TEST

static const struct {
    size_t at;
    uint64_t value;
} lies[] = {
    {AT_INPUT_BYTES, 17},                   // no multiple of 8
    {AT_INPUT_BYTES, BODY_BYTES},           // longer than the body
    {AT_INPUT_BYTES, UINT64_MAX - 7},       // the sum overflows
    {AT_INPUT_BYTES, (uint64_t)1 << 63},    // as a signed number negative
    {AT_FLAGS, 2 | (uint64_t)3 << 32},      // a flag of a later version
    {AT_FLAGS, (uint64_t)UINT32_MAX << 32}, // four milliards of hashes
    {AT_FLAGS, (uint64_t)8 << 32},          // one hash more than there are bytes
};

START_TEST(a_lie_is_found) {
    uint8_t body[BODY_BYTES];
    make_body(body);
    put_u64(body, lies[_i].at, lies[_i].value);
    size_t at = 0;
    Entry entry;
    Error error = {0};
    ck_assert(!entry_next(body, BODY_BYTES, &at, &entry, &error));
    ck_assert_int_eq(error.status, STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "its entry at byte 0"));
    ck_assert_uint_eq(at, 0);
}
END_TEST

static TCase *case_entries(void) {
    TCase *tcase = tcase_create("entries");
    tcase_add_test(tcase, entries_come_back_in_order);
    tcase_add_test(tcase, a_body_may_be_empty);
    tcase_add_loop_test(tcase, a_cut_is_found_unless_it_is_between_entries, 0, BODY_BYTES + 1);
    tcase_add_loop_test(tcase, a_lie_is_found, 0, (int)(sizeof(lies) / sizeof(lies[0])));
    return tcase;
}

SUITE_MAIN("log/entries", case_entries)
