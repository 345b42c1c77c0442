// SPDX-License-Identifier: MIT
// Stepping a recording again gives the same bytes, from any step on; what is damaged or not there
// is told and passed over.
#include "replay/player/player.h"

#include "log/format/chunk.h"
#include "step/snapshot/snapshot.h"
#include "support/log_tape.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>

START_TEST(a_recording_steps_again_without_a_difference) {
    Tape *tape = tape_open();
    ck_assert_uint_gt(tape->steps, tape->fault_step);
    ck_assert_uint_gt(tape->fault_step, 75); // some steps of the order that failed were taken
    tape_expect_whole(tape);
    ck_assert_uint_eq(player_unconverged(tape->player), tape->unconverged);
    ck_assert_uint_gt(player_bytes(tape->player), sizeof(World));
    tape_close(tape);
}
END_TEST

START_TEST(every_step_is_reached_from_every_other) {
    Tape *tape = tape_open();
    for (uint64_t i = 0; i <= tape->steps; i++) {
        // forwards, backwards, far and near: 37 is no divisor of the number of steps plus one
        uint64_t to = i * 37 % (tape->steps + 1);
        tape_seek(tape, to);
        ck_assert_uint_le(player_step(tape->player), to);
        ck_assert_uint_lt(to - player_step(tape->player), TAPE_KEYFRAME_STEPS);
        PlayerDifference difference = tape_play(tape, to, i % 2 == 1);
        ck_assert_msg(!difference.found, "%s", difference.message);
        ck_assert_uint_eq(player_step(tape->player), to);
        tape_expect_state(tape, to == tape->steps && i % 2 == 1 ? tape->end : tape->state[to]);
    }
    tape_close(tape);
}
END_TEST

START_TEST(a_player_that_stands_before_the_step_goes_on_from_there) {
    Tape *tape = tape_open();
    tape_seek(tape, 17);
    tape_play(tape, 19, false);
    tape_seek(tape, 20);
    ck_assert_uint_eq(player_step(tape->player), 19);
    tape_play(tape, 20, false);
    tape_seek(tape, 18);
    ck_assert_uint_eq(player_step(tape->player), TAPE_KEYFRAME_STEPS);
    Error error = {0};
    ck_assert_int_eq(player_seek(tape->player, tape->reader, tape->steps + 1, NULL, &error),
                     STATUS_OUT_OF_RANGE);
    tape_close(tape);
}
END_TEST

static bool is_tired(void *context) {
    return ++*(int *)context > 5;
}

START_TEST(it_stops_between_steps_when_told_to) {
    Tape *tape = tape_open();
    Error error = {0};
    PlayerDifference difference;
    tape_seek(tape, 0);
    for (uint64_t i = 1; i <= 20; i++) { // there is no time at all: a step per call
        ck_assert_int_eq(player_run(tape->player, tape->reader, 20, true, &tape->arena, 0, NULL,
                                    &difference, &error),
                         STATUS_OK);
        ck_assert_uint_eq(player_step(tape->player), i);
        tape_expect_state(tape, tape->state[i]);
    }
    int asked = 0;
    Stop stop = {.asked = is_tired, .context = &asked};
    Context context = {.stop = &stop};
    ck_assert_int_eq(player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, &context, &difference, &error),
                     STATUS_OK);
    ck_assert(!difference.found);
    ck_assert_uint_lt(player_step(tape->player), 30);
    PlayerDifference rest = tape_play(tape, tape->steps, true);
    ck_assert_msg(!rest.found, "%s", rest.message);
    tape_expect_state(tape, tape->end);
    tape_close(tape);
}
END_TEST

// A body is added behind step 45, whose frame does not have it.
START_TEST(checking_may_begin_between_a_step_and_the_next) {
    Tape *tape = tape_open();
    Error error = {0};
    PlayerDifference difference;
    tape_seek(tape, 45);
    tape_play(tape, 45, false);
    ck_assert_uint_eq(player_world(tape->player)->body_count, 4);
    ck_assert_int_eq(player_run(tape->player, tape->reader, 46, false, &tape->arena, 0, NULL,
                                &difference, &error),
                     STATUS_OK);
    ck_assert_uint_eq(player_world(tape->player)->body_count, 5);
    ck_assert_uint_eq(player_step(tape->player), 45);
    difference = tape_play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert(!player_is_stopped(tape->player));
    tape_expect_state(tape, tape->end);
    tape_close(tape);
}
END_TEST

START_TEST(a_step_is_sought_again_once_something_was_done_behind_it) {
    Tape *tape = tape_open();
    Error error = {0};
    PlayerDifference difference;
    tape_seek(tape, 45);
    tape_play(tape, 45, false);
    ck_assert_int_eq(player_run(tape->player, tape->reader, 46, false, &tape->arena, 0, NULL,
                                &difference, &error),
                     STATUS_OK);
    ck_assert_uint_eq(player_step(tape->player), 45);
    tape_seek(tape, 45);
    tape_play(tape, 45, false);
    tape_expect_state(tape, tape->state[45]);
    tape_close(tape);
}
END_TEST

static bool is_always_tired(void *context) {
    (void)context;
    return true;
}

START_TEST(what_was_done_behind_the_last_step_is_not_left_out_in_silence) {
    Tape *tape = tape_open();
    Error error = {0};
    PlayerDifference difference;
    Stop stop = {.asked = is_always_tired};
    Context context = {.stop = &stop};
    tape_seek(tape, tape->steps);
    tape_play(tape, tape->steps, false);
    tape_expect_state(tape, tape->state[tape->steps]);
    ck_assert_int_eq(player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, &context, &difference, &error),
                     STATUS_OK);
    ck_assert(player_is_stopped(tape->player));
    difference = tape_play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert(!player_is_stopped(tape->player));
    tape_expect_state(tape, tape->end);
    tape_close(tape);
}
END_TEST

START_TEST(another_dynamics_version_is_refused_by_both_names) {
    Tape *tape = tape_open();
    EpisodeRow row = tape->row;
    row.dynamics_version = 4711;
    Player *player = NULL;
    Error error = {0};
    ck_assert_int_eq(player_open(&player, &row, &tape_limits, &error), STATUS_FAILED_PRECONDITION);
    char own[32];
    snprintf(own, sizeof(own), "is %d:", DYNAMICS_VERSION);
    ck_assert_ptr_nonnull(strstr(error.message, "4711"));
    ck_assert_ptr_nonnull(strstr(error.message, own));
    tape_close(tape);
}
END_TEST

// ---- damage

static void expect_damage_once(Tape *tape, const TapeBlob *blob) {
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    tape_expect_damage(&difference, blob);
    ck_assert_uint_ge(difference.step, blob->first_step);
    ck_assert_uint_le(difference.step, blob->last_step);
    if (blob->kind == CHUNK_INPUTS) {
        tape_expect_lost(tape);
        tape_expect_sound_behind(tape, blob->first_step);
        return;
    }
    difference = tape_play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert_uint_eq(player_step(tape->player), tape->steps);
    tape_expect_state(tape, tape->end);
    tape_expect_sound_behind(tape, blob->last_step);
}

static const ChunkKind kinds[] = {CHUNK_KEYFRAME, CHUNK_INPUTS, CHUNK_FRAMES, CHUNK_CONTACTS};

START_TEST(a_flipped_byte_is_found_in_every_chunk) {
    Tape *tape = tape_open();
    ChunkKind kind = kinds[_i];
    TapeBlob blob;
    int count = 0;
    for (; tape_read_blob(tape, kind, count, &blob); count++) {
        size_t at = CHUNK_HEADER_BYTES + 7 * (size_t)count % (blob.count - CHUNK_HEADER_BYTES);
        blob.bytes[at] ^= 0x10;
        tape_write_blob(tape, &blob);
        if (kind == CHUNK_KEYFRAME && blob.first_step == 0) {
            PlayerDifference difference;
            Error error = {0};
            ck_assert_int_eq(player_seek(tape->player, tape->reader, 5, &difference, &error),
                             STATUS_DATA_LOSS);
            tape_expect_damage(&difference, &blob);
        } else {
            expect_damage_once(tape, &blob);
        }
        blob.bytes[at] ^= 0x10;
        tape_write_blob(tape, &blob);
        free(blob.bytes);
        tape_expect_whole(tape);
    }
    ck_assert_int_ge(count, 1);
    tape_close(tape);
}
END_TEST

START_TEST(a_damaged_keyframe_is_passed_over) {
    Tape *tape = tape_open();
    TapeBlob blob;
    ck_assert(tape_read_blob(tape, CHUNK_KEYFRAME, 2, &blob));
    ck_assert_uint_eq(blob.first_step, (uint64_t)2 * TAPE_KEYFRAME_STEPS);
    for (int mended = 0; mended < 2; mended++) { // also one that is no snapshot
        blob.bytes[CHUNK_HEADER_BYTES + 40] ^= 0xff;
        blob.bytes[CHUNK_HEADER_BYTES] = 'x';
        mended ? tape_write_mended(tape, &blob) : tape_write_blob(tape, &blob);
        tape_seek(tape, 0);
        PlayerDifference difference;
        Error error = {0};
        ck_assert_int_eq(
            player_seek(tape->player, tape->reader, blob.first_step + 3, &difference, &error),
            STATUS_OK);
        tape_expect_damage(&difference, &blob);
        difference = tape_play(tape, blob.first_step + 3, false);
        ck_assert(!difference.found);
        tape_expect_state(tape, tape->state[blob.first_step + 3]);
    }
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

// ---- gaps

START_TEST(a_gap_says_which_steps_a_lossy_recording_dropped) {
    Tape *tape = tape_open();
    tape_close_reader(tape);
    TapeBlob blob = tape_inputs_behind(tape, TAPE_KEYFRAME_STEPS);
    ck_assert_uint_eq(blob.first_step, TAPE_KEYFRAME_STEPS);
    ck_assert_uint_eq(blob.last_step, (uint64_t)2 * TAPE_KEYFRAME_STEPS);
    blob.count = CHUNK_HEADER_BYTES;
    Chunk gap;
    ck_assert_int_eq(chunk_read_head(blob.bytes, blob.count, &gap, NULL), STATUS_OK);
    gap.kind = CHUNK_GAP;
    chunk_seal(blob.bytes, blob.count, &gap);
    tape_write_blob(tape, &blob);
    char sql[160];
    snprintf(sql, sizeof(sql),
             "UPDATE chunk SET kind = %d WHERE id = %lld; "
             "UPDATE recording SET lossy = 1",
             CHUNK_GAP, (long long)blob.id);
    tape_sql(tape, sql);
    tape_open_reader(tape);

    // up to the gap and from its end on everything is there
    Error error = {0};
    ck_assert_int_eq(player_seek(tape->player, tape->reader, TAPE_KEYFRAME_STEPS + 3, NULL, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "behind 16 up to 32"));
    tape_seek(tape, TAPE_KEYFRAME_STEPS);
    tape_expect_state(tape, tape->state[TAPE_KEYFRAME_STEPS]);
    tape_seek(tape, 3);
    PlayerDifference difference = tape_play(tape, TAPE_KEYFRAME_STEPS, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    tape_expect_state(tape, tape->state[TAPE_KEYFRAME_STEPS]);
    tape_expect_lost(tape);
    tape_expect_sound_behind(tape, TAPE_KEYFRAME_STEPS);
    free(blob.bytes);
    tape_close(tape);
}
END_TEST

// ---- any bytes

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Whatever stands in chunks with sound checksums, every call ends, and with a sentence.
START_TEST(no_bytes_bring_it_down) {
    Tape *tape = tape_open();
    uint32_t seed = 17;
    int counts[4] = {0};
    TapeBlob blob;
    for (size_t k = 0; k < 4; k++) {
        while (tape_read_blob(tape, kinds[k], counts[k], &blob)) {
            counts[k]++;
            free(blob.bytes);
        }
    }
    int found = 0;
    for (int round = 0; round < 300; round++) {
        size_t k = next_random(&seed) % 4;
        ck_assert(tape_read_blob(tape, kinds[k], (int)next_random(&seed) % counts[k], &blob));
        uint8_t *sound = malloc(blob.count);
        memcpy(sound, blob.bytes, blob.count);
        for (uint32_t flips = 1 + next_random(&seed) % 3; flips > 0; flips--) {
            size_t at = CHUNK_HEADER_BYTES + next_random(&seed) % (blob.count - CHUNK_HEADER_BYTES);
            blob.bytes[at] = (uint8_t)(next_random(&seed) % 5 == 0 ? 0xff : next_random(&seed));
        }
        tape_write_mended(tape, &blob);
        Error error = {0};
        PlayerDifference difference = {0};
        Status status = player_seek(tape->player, tape->reader, blob.first_step, NULL, &error);
        for (int calls = 0; status == STATUS_OK && calls < 1000; calls++) {
            status = player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, NULL, &difference, &error);
            found += difference.found;
            ck_assert(!difference.found || strlen(difference.message) > 10);
            if (status == STATUS_OK && !difference.found) {
                ck_assert_uint_eq(player_step(tape->player), tape->steps);
                break;
            }
        }
        ck_assert(status == STATUS_OK || strlen(error.message) > 10);
        memcpy(blob.bytes, sound, blob.count);
        tape_write_blob(tape, &blob);
        free(blob.bytes);
        free(sound);
    }
    ck_assert_int_gt(found, 100);
    tape_expect_whole(tape);
    tape_close(tape);
}
END_TEST

static TCase *case_play(void) {
    TCase *tcase = tcase_create("play");
    tcase_add_test(tcase, a_recording_steps_again_without_a_difference);
    tcase_add_test(tcase, every_step_is_reached_from_every_other);
    tcase_add_test(tcase, a_player_that_stands_before_the_step_goes_on_from_there);
    tcase_add_test(tcase, it_stops_between_steps_when_told_to);
    tcase_add_test(tcase, checking_may_begin_between_a_step_and_the_next);
    tcase_add_test(tcase, a_step_is_sought_again_once_something_was_done_behind_it);
    tcase_add_test(tcase, what_was_done_behind_the_last_step_is_not_left_out_in_silence);
    tcase_add_test(tcase, another_dynamics_version_is_refused_by_both_names);
    return tcase;
}

static TCase *case_damage(void) {
    TCase *tcase = tcase_create("damage");
    tcase_add_loop_test(tcase, a_flipped_byte_is_found_in_every_chunk, 0, 4);
    tcase_add_test(tcase, a_damaged_keyframe_is_passed_over);
    tcase_add_test(tcase, a_gap_says_which_steps_a_lossy_recording_dropped);
    tcase_add_test(tcase, no_bytes_bring_it_down);
    return tcase;
}

SUITE_MAIN("run/player", case_play, case_damage)
