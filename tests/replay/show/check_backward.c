// SPDX-License-Identifier: MIT
// Going backward: marks lead back to the bytes that were there, and frames are the same in either
// direction, however little room there is for them.
#include "replay/show/backward.h"

#include "step/snapshot/snapshot.h"
#include "support/log_tape.h"
#include "support/suite.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static void go_to(Tape *tape, uint64_t step) {
    tape_seek(tape, step);
    PlayerDifference difference = tape_play(tape, step, false);
    ck_assert_msg(!difference.found, "%s", difference.message);
}

static void expect_return(Tape *tape, const PlayerMark *mark) {
    Error error = {0};
    const uint64_t step = player_mark_step(mark);
    ck_assert_int_eq(player_return(tape->player, tape->reader, mark, &error), STATUS_OK);
    ck_assert_uint_eq(player_step(tape->player), step);
    tape_expect_state(tape, tape->state[step]);
}

// Changes, orders of several steps with wrenches, a step that failed, a body that leaves: all of it
// lies behind some of these marks.
START_TEST(a_mark_leads_back_to_where_it_was_made_and_on_from_there) {
    static PlayerMark *mark[TAPE_STEPS_MAX];
    Tape *tape = tape_open();
    tape_seek(tape, 0);
    for (uint64_t step = 0; step <= tape->steps; step++) {
        tape_play(tape, step, false);
        mark[step] = player_mark(tape->player);
        ck_assert_ptr_nonnull(mark[step]);
        ck_assert_uint_gt(player_mark_bytes(mark[step]), tape->state[step].count);
    }
    for (uint64_t i = 0; i <= tape->steps; i++) {
        uint64_t step = i * 37 % (tape->steps + 1);
        uint64_t to = step + i % 20 < tape->steps ? step + i % 20 : tape->steps;
        expect_return(tape, mark[step]);
        PlayerDifference difference = tape_play(tape, to, i % 2 == 1);
        ck_assert_msg(!difference.found, "%s", difference.message);
        tape_expect_state(tape, to == tape->steps && i % 2 == 1 ? tape->end : tape->state[to]);
    }
    for (uint64_t step = 0; step <= tape->steps; step++) {
        player_mark_free(mark[step]);
    }
    tape_close(tape);
}
END_TEST

START_TEST(a_mark_whose_inputs_are_gone_is_damage) {
    Tape *tape = tape_open();
    go_to(tape, 21);
    PlayerMark *mark = player_mark(tape->player);
    tape_close_reader(tape);
    char sql[64];
    snprintf(sql, sizeof(sql), "DELETE FROM chunk WHERE kind = %d", CHUNK_INPUTS);
    tape_sql(tape, sql);
    tape_open_reader(tape);
    Error error = {0};
    ck_assert_int_eq(player_return(tape->player, tape->reader, mark, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "step 21"));
    player_mark_free(mark);
    tape_close(tape);
}
END_TEST

static void expect_frame(const Tape *tape, const EpisodeFrame *frame, uint64_t step) {
    Error error = {0};
    World *world;
    ck_assert_int_eq(snapshot_read(tape->state[step].bytes, tape->state[step].count, &tape_limits,
                                   &world, &error),
                     STATUS_OK);
    ck_assert_uint_eq(frame->frame.step, step);
    ck_assert_uint_eq(frame->frame.world_step, world->step);
    ck_assert_uint_eq(frame->body_count, world->body_count);
    ck_assert_mem_eq(frame->ids, world->body_id, world->body_count * sizeof(uint64_t));
    ck_assert_mem_eq(frame->frame.pose, world->pose, 7 * sizeof(double) * world->body_count);
    ck_assert_mem_eq(frame->frame.velocity, world->velocity,
                     6 * sizeof(double) * world->body_count);
    world_destroy(world);
}

// What is said of each step forward, and of which there is something to say.
static struct {
    StepReport report;
    bool is_told;
} forward[TAPE_STEPS_MAX];

static void go_forward(Tape *tape) {
    tape_seek(tape, 0);
    for (uint64_t step = 0; step <= tape->steps; step++) {
        tape_play(tape, step, false);
        forward[step].report = *player_report(tape->player);
        forward[step].is_told = player_stepper(tape->player)->has_last;
    }
}

// A report's members: the holes between them are nobody's.
#define MEMBER(name)                                                                               \
    { #name, offsetof(StepReport, name), sizeof(((StepReport *)NULL)->name) }
static const struct {
    const char *name;
    size_t at, bytes;
} report_members[] = {
    MEMBER(contact_count),
    MEMBER(row_count),
    MEMBER(iterations),
    MEMBER(asleep_count),
    MEMBER(recovery_count),
    MEMBER(softened_count),
    MEMBER(idle_count),
    MEMBER(removed_count),
    MEMBER(broken_count),
    MEMBER(certificate.entry),
    MEMBER(certificate.velocity),
    MEMBER(certificate.scale),
    MEMBER(certificate.penetration),
    MEMBER(certificate.worst_contact),
    MEMBER(certificate.tolerance),
    MEMBER(certificate.converged),
    MEMBER(certificate.islands),
    MEMBER(certificate.islands_open),
    MEMBER(certificate.worst_tree),
    MEMBER(worst_body),
    MEMBER(open.islands),
    MEMBER(open.islands_open),
    MEMBER(open.body),
    MEMBER(open.contacts),
    MEMBER(open.reason),
    MEMBER(open.residual),
    MEMBER(launch),
    MEMBER(energy),
};

// Backward the same; but for the time that it took.
static void expect_report(const StepReport *report, uint64_t step) {
    ck_assert((report != NULL) == forward[step].is_told);
    if (report != NULL) {
        const char *here = (const char *)report, *there = (const char *)&forward[step].report;
        for (size_t i = 0; i < sizeof(report_members) / sizeof(report_members[0]); i++) {
            const size_t at = report_members[i].at;
            ck_assert_msg(memcmp(here + at, there + at, report_members[i].bytes) == 0,
                          "%s at step %llu", report_members[i].name, (unsigned long long)step);
        }
    }
}

// Room for one frame and one mark, for some, for all; whatever time there is for a call.
static const struct {
    size_t bytes;
    uint64_t stride, first, until_ns;
    bool contacts;
} backwards[] = {
    {1, 1, 0, UINT64_MAX, false},
    {1, 1, 0, 0, true},
    {3000, 1, 0, 0, false},
    {3000, 3, 0, UINT64_MAX, true},
    {20000, 7, 5, 0, false},
    {BACKWARD_BYTES_DEFAULT, 1, 0, 0, true},
    {BACKWARD_BYTES_DEFAULT, 5, 33, UINT64_MAX, false},
};

START_TEST(frames_are_the_same_backward) {
    Tape *tape = tape_open();
    Backward *backward = backward_create(&(BackwardDef){
        .first = backwards[_i].first,
        .stride = backwards[_i].stride,
        .wants = {.contacts = backwards[_i].contacts, .reports = backwards[_i].contacts},
        .bytes = backwards[_i].bytes,
        .bytes_max = tape_limits.bytes_max});
    ck_assert_ptr_nonnull(backward);
    go_forward(tape);
    uint64_t calls = 0, frames = 0, contacts = 0;
    for (uint64_t step = tape->steps; step >= backwards[_i].first && step <= tape->steps;
         step -= backwards[_i].stride) {
        const EpisodeFrame *frame = NULL;
        while (frame == NULL) {
            Error error = {0};
            ck_assert_int_eq(backward_get(backward, tape->player, tape->reader, step, 0,
                                          &tape->arena, backwards[_i].until_ns, NULL, &frame,
                                          &error),
                             STATUS_OK);
            ck_assert_uint_lt(++calls, 100 * tape->steps);
        }
        expect_frame(tape, frame, step);
        if (backwards[_i].contacts) {
            expect_report(frame->report, step);
        }
        contacts += frame->contacts.count;
        frames++;
    }
    ck_assert_uint_eq(frames, (tape->steps - backwards[_i].first) / backwards[_i].stride + 1);
    ck_assert(backwards[_i].contacts == (contacts > 0));
    backward_destroy(backward);
    tape_close(tape);
}
END_TEST

static TCase *case_backward(void) {
    TCase *tcase = tcase_create("backward");
    tcase_add_test(tcase, a_mark_leads_back_to_where_it_was_made_and_on_from_there);
    tcase_add_test(tcase, a_mark_whose_inputs_are_gone_is_damage);
    tcase_add_loop_test(tcase, frames_are_the_same_backward, 0,
                        (int)(sizeof(backwards) / sizeof(backwards[0])));
    return tcase;
}

SUITE_MAIN("replay/backward", case_backward)
