// SPDX-License-Identifier: MIT
// Stored inputs and hashes that were changed or taken away are found at their step, and what lies
// behind the next key-frame is still there.
#include "log/format/entries.h"
#include "log/mend.h"
#include "support/log_tape.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

// The first entry of a chunk of inputs that passes the test, and where its input and hashes stand.
typedef struct Found {
    Entry entry;
    size_t input, hashes;
} Found;

static Found find_entry(const TapeBlob *blob, uint32_t input_is, uint32_t flags) {
    size_t at = 0;
    Found found;
    Error error = {0};
    do {
        ck_assert(entry_next(blob->bytes + CHUNK_HEAD_BYTES_MAX, blob->count - CHUNK_HEAD_BYTES_MAX,
                             &at, &found.entry, &error));
    } while (found.entry.flags != flags ||
             input_kind((InputBytes){.bytes = found.entry.input,
                                     .count = found.entry.input_bytes}) != input_is);
    found.input = (size_t)(found.entry.input - blob->bytes);
    found.hashes = (size_t)(found.entry.hashes - blob->bytes);
    return found;
}

static PlayerDifference expect_hash(Tape *tape, const TapeBlob *blob, uint64_t at_step) {
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    ck_assert(difference.found);
    ck_assert(!difference.is_damage);
    ck_assert_int_eq(difference.chunk, blob->id);
    ck_assert_uint_eq(difference.chunk_kind, CHUNK_INPUTS);
    ck_assert_uint_eq(difference.step, at_step);
    ck_assert(difference.expected_hash != difference.found_hash);
    char hash[32];
    snprintf(hash, sizeof(hash), "0x%016llx", (unsigned long long)difference.expected_hash);
    ck_assert_ptr_nonnull(strstr(difference.message, hash));
    tape_expect_lost(tape);
    tape_expect_sound_behind(tape, at_step);
    return difference;
}

START_TEST(a_hash_that_differs_is_found_at_its_step) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, 0);
    Found found = find_entry(&blob, INPUT_STEP, 0);
    uint64_t hash = entry_hash(&found.entry, 6);
    put_u64(blob.bytes, found.hashes + 8 * (size_t)6, hash ^ 0x100);
    tape_write_mended(tape, &blob);
    PlayerDifference difference = expect_hash(tape, &blob, 7);
    ck_assert_uint_eq(difference.expected_hash, hash ^ 0x100);
    ck_assert_uint_eq(difference.found_hash, hash);
    ck_assert_str_eq(difference.quantity, "");
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

START_TEST(a_change_that_differs_is_found_by_its_hash) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, 20);
    Found found = find_entry(&blob, INPUT_SET, 0);
    double gravity;
    size_t at = found.input + 16 + 8;
    while (memcpy(&gravity, blob.bytes + at, 8), gravity != -9.0) {
        at += 4;
    }
    gravity = -9.5;
    memcpy(blob.bytes + at, &gravity, sizeof(gravity));
    tape_write_mended(tape, &blob);
    expect_hash(tape, &blob, 20);
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

// The entry of steps that begins at `from`.
static Found find_order(const TapeBlob *blob, uint64_t from) {
    Found found;
    TapeBlob rest = *blob;
    for (;;) {
        found = find_entry(&rest, INPUT_STEP, 0);
        found.input = (size_t)(found.entry.input - blob->bytes);
        found.hashes = (size_t)(found.entry.hashes - blob->bytes);
        if (found.entry.step == from) {
            return found;
        }
        size_t next = found.hashes + 8 * (size_t)found.entry.hash_count;
        rest.bytes = blob->bytes + next - CHUNK_HEAD_BYTES_MAX;
        rest.count = blob->count - next + CHUNK_HEAD_BYTES_MAX;
    }
}

// Another push from step 20 on, and step 21 has a frame.
START_TEST(steps_that_differ_name_a_body_where_there_is_a_frame) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, 20);
    Found found = find_order(&blob, 20);
    const size_t push_x = found.input + 16 + 8 + 8 + 8 + 8; // head, steps, time step, count, body
    double push;
    memcpy(&push, blob.bytes + push_x, sizeof(push));
    ck_assert_double_eq(push, 3.0);
    push = 4.0;
    memcpy(blob.bytes + push_x, &push, sizeof(push));
    tape_write_mended(tape, &blob);
    PlayerDifference difference = expect_hash(tape, &blob, 21);
    ck_assert_uint_eq(difference.body, 2);
    ck_assert_str_eq(difference.quantity, "position.x");
    ck_assert_double_gt(difference.value, difference.expected);
    ck_assert_ptr_nonnull(strstr(difference.message, "position.x of body 2 is "));
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

START_TEST(a_step_that_failed_must_fail_again) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, tape->fault_step);
    Found found = find_entry(&blob, INPUT_STEP, ENTRY_FAULTED);
    ck_assert_uint_eq(found.entry.step + found.entry.hash_count - 1, tape->fault_step);

    // another hash of the faulted world
    size_t last = found.hashes + 8 * ((size_t)found.entry.hash_count - 1);
    uint64_t hash = entry_hash(&found.entry, found.entry.hash_count - 1);
    put_u64(blob.bytes, last, ~hash);
    tape_write_mended(tape, &blob);
    expect_hash(tape, &blob, tape->fault_step);
    put_u64(blob.bytes, last, hash);

    // a step that is said to have succeeded: the steps it asks for count it as done
    put_u32(blob.bytes, found.input - ENTRY_HEAD_BYTES + 8, 0);
    put_u64(blob.bytes, found.input + 16, found.entry.hash_count);
    tape_write_mended(tape, &blob);
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    ck_assert(difference.found && !difference.is_damage);
    ck_assert_uint_eq(difference.step, tape->fault_step + 1);
    ck_assert_ptr_nonnull(strstr(difference.message, "finite"));
    tape_expect_lost(tape);
    free(blob.bytes);

    // a step that is said to have failed, and does not
    blob = tape_inputs_behind(tape, 0);
    found = find_entry(&blob, INPUT_STEP, 0);
    put_u32(blob.bytes, found.input - ENTRY_HEAD_BYTES + 8, ENTRY_FAULTED);
    put_u64(blob.bytes, found.input + 16, found.entry.hash_count - 1);
    tape_write_mended(tape, &blob);
    tape_seek(tape, 0);
    difference = tape_play(tape, tape->steps, true);
    ck_assert(difference.found && !difference.is_damage);
    ck_assert_uint_eq(difference.step, TAPE_KEYFRAME_STEPS);
    tape_expect_lost(tape);
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

START_TEST(more_steps_than_hashes_are_refused) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, 0);
    Found found = find_entry(&blob, INPUT_STEP, 0);
    put_u64(blob.bytes, found.input + 16, UINT64_C(1000000000000));
    tape_write_mended(tape, &blob);
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    tape_expect_damage(&difference, &blob);
    ck_assert_uint_eq(player_step(tape->player), 0);
    tape_expect_lost(tape);
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

START_TEST(inputs_that_are_missing_are_missed) {
    Tape *tape = tape_open();
    TapeBlob blob = tape_inputs_behind(tape, 20), next = tape_inputs_behind(tape, blob.last_step);
    char sql[96];
    snprintf(sql, sizeof(sql), "DELETE FROM chunk WHERE id = %lld", (long long)blob.id);
    tape_sql(tape, sql);
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    tape_expect_damage(&difference, &next);
    ck_assert_ptr_nonnull(strstr(difference.message, "begins at step"));
    ck_assert_uint_eq(player_step(tape->player), blob.first_step);
    tape_expect_lost(tape);
    tape_expect_sound_behind(tape, blob.first_step);

    tape_sql(tape, "DELETE FROM chunk WHERE kind = 2 AND last_step > 50");
    tape_seek(tape, 48);
    difference = tape_play(tape, tape->steps, false);
    ck_assert(difference.found && difference.is_damage);
    ck_assert_ptr_nonnull(strstr(difference.message, "end at step"));
    free(blob.bytes);
    free(next.bytes);
    tape_close(tape);
}
END_TEST

static TCase *case_inputs(void) {
    TCase *tcase = tcase_create("inputs");
    tcase_add_test(tcase, a_hash_that_differs_is_found_at_its_step);
    tcase_add_test(tcase, a_change_that_differs_is_found_by_its_hash);
    tcase_add_test(tcase, steps_that_differ_name_a_body_where_there_is_a_frame);
    tcase_add_test(tcase, a_step_that_failed_must_fail_again);
    tcase_add_test(tcase, more_steps_than_hashes_are_refused);
    tcase_add_test(tcase, inputs_that_are_missing_are_missed);
    return tcase;
}

SUITE_MAIN("run/player_walk", case_inputs)
