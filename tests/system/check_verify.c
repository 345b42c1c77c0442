// SPDX-License-Identifier: MIT
// EpisodeVerify over real sockets: what was recorded verifies, on any number of lanes and after a
// restart; and whatever is changed in the file is found and named.
#include "log/format/chunk.h"
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { STEPS = 150, KEYFRAME_STEPS = 20, STRIDE = 3, LONG_STEPS = 40000 };

static WireDepot depot;
static WireEpisode episode;

// An episode with every kind of chunk but a gap: changes, steps of two kinds, contacts.
static void record(uint64_t steps) {
    uint64_t world = wire_world(depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_stride = start.has_keyframe_steps = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__CONTACTS;
    start.stride = STRIDE;
    start.keyframe_steps = KEYFRAME_STEPS;
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, steps / 2);
    uint64_t body = 2;
    double velocity[6] = {1.0, 0.5, 2.0, 0.1, 0.2, 0.3};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.n_ids = 1;
    set.ids = &body;
    set.n_velocity = 6;
    set.velocity = velocity;
    wire_accept(depot.client, &set);
    wire_step(depot.client, world, steps - steps / 2);
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, steps);
}

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
    record(STEPS);
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static Moreau__V1__EpisodeVerify verify_call(void) {
    Moreau__V1__EpisodeVerify call = MOREAU__V1__EPISODE_VERIFY__INIT;
    call.episode = episode.id;
    return call;
}

static const Moreau__V1__EpisodeVerifyReply *verify(void) {
    Moreau__V1__EpisodeVerify call = verify_call();
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_int_eq(reply->result_case, MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY);
    return reply->episode_verify;
}

static void expect_verified(const Moreau__V1__EpisodeVerifyReply *result, uint64_t steps) {
    ck_assert_msg(result->verified, "step %llu: %s",
                  result->n_differences == 0 ? 0ull
                                             : (unsigned long long)result->differences[0]->step,
                  result->n_differences == 0 ? "" : result->differences[0]->message);
    ck_assert_uint_eq(result->n_differences, 0);
    ck_assert_uint_eq(result->steps, steps);
    ck_assert_uint_eq(result->dropped_steps, 0);
}

// ---- what is true

START_TEST(what_was_recorded_verifies) {
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    expect_verified(result, STEPS);
    ck_assert_uint_eq(result->unconverged_steps,
                      wire_describe(depot.client, episode.id)->unconverged_steps);
}
END_TEST

static const char *const worker_options[] = {"--workers 1", "--workers 2", "--workers 7"};

START_TEST(it_verifies_after_a_restart_on_any_number_of_lanes) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, worker_options[_i]);
    expect_verified(verify(), STEPS);
}
END_TEST

START_TEST(a_range_is_verified_alone) {
    // neither end is at a key-frame
    Moreau__V1__EpisodeVerify call = verify_call();
    call.has_first = call.has_last = call.has_lanes = 1;
    call.first = 33;
    call.last = 97;
    call.lanes = 1;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    expect_verified(reply->episode_verify, 97 - 33);
}
END_TEST

START_TEST(what_nobody_ended_is_verified_as_far_as_it_goes_and_says_so) {
    uint64_t world = wire_small_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, 3000);
    ck_assert(!verify()->sealed); // it is being recorded
    kill(depot.server->pid, SIGKILL);
    server_wait(depot.server, PATIENCE_MS);
    wire_close(depot.client);
    server_free(depot.server);
    depot.server = NULL;
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(result->verified && !result->sealed);
    ck_assert_uint_eq(result->proven_step, result->steps);
    Moreau__V1__EpisodeDelete delete = MOREAU__V1__EPISODE_DELETE__INIT;
    delete.episode = episode.id;
    wire_accept(depot.client, &delete);
}
END_TEST

START_TEST(steps_that_matter_are_described) {
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = episode.id;
    call.has_highlights = 1;
    call.highlights = 2;
    const Moreau__V1__EpisodeDescribeReply *reply =
        wire_accept(depot.client, &call)->episode_describe;
    ck_assert_uint_eq(reply->n_highlight_total, 5);
    ck_assert_uint_gt(reply->n_highlights, 0);
    double hardest = 0.0;
    for (size_t i = 0; i < reply->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *highlight = reply->highlights[i];
        ck_assert(highlight->first_step <= highlight->worst_step &&
                  highlight->worst_step <= highlight->last_step);
        bool is_open = highlight->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__UNCONVERGED;
        ck_assert((highlight->has_reason != 0) == is_open);
        ck_assert((highlight->has_body && highlight->body > 0) == is_open);
        bool is_impact = highlight->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__IMPACT;
        hardest = is_impact && highlight->value > hardest ? highlight->value : hardest;
    }
    ck_assert_double_eq(hardest, reply->episode->hardest_impact);
    call.highlights = 10001;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "highlights");
}
END_TEST

START_TEST(an_episode_without_steps_verifies) {
    uint64_t world = wire_small_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    episode = wire_record(depot.client, &start);
    wire_stop_recording(depot.client, world);
    expect_verified(verify(), 0);
}
END_TEST

START_TEST(an_episode_being_recorded_verifies_as_far_as_it_is_written) {
    uint64_t world = wire_small_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, 5000);
    uint64_t steps = wire_describe(depot.client, episode.id)->steps;
    ck_assert_uint_ge(verify()->steps, steps);
    wire_stop_recording(depot.client, world);
    expect_verified(verify(), 5000);
}
END_TEST

// 31 MB of frames through a queue of 1 MiB, under a file that is slower than the steps.
enum { WIDE_STEPS = 500 };

static const Moreau__V1__EpisodeInfo *record_wide(bool lossy) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 2 --log-queue-bytes-max 1M");
    uint64_t world = wire_wide_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_lossy = start.has_keyframe_steps = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    start.lossy = lossy;
    start.keyframe_steps = 50;
    episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, WIDE_STEPS);
    return wire_stop_recording(depot.client, world);
}

START_TEST(steps_wait_for_the_log_and_nothing_is_dropped) {
    const Moreau__V1__EpisodeInfo *info = record_wide(false);
    ck_assert_uint_eq(info->dropped_steps, 0);
    ck_assert_uint_gt(info->bytes, (uint64_t)WIDE_STEPS * WIRE_WIDE_FRAME_BYTES);
    expect_verified(verify(), WIDE_STEPS);
}
END_TEST

static void count_frames(const Moreau__V1__Reply *event, void *context) {
    *(uint64_t *)context += event->episode_frames->n_step;
}

START_TEST(a_lossy_recording_counts_what_it_dropped_and_the_rest_verifies) {
    uint64_t dropped = record_wide(true)->dropped_steps;
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(result->verified);
    ck_assert_uint_eq(result->dropped_steps, dropped);
    ck_assert_uint_eq(result->steps, WIDE_STEPS - dropped);
    // the steps before and behind a gap are there, so one frame more than steps in each part
    Moreau__V1__EpisodeReplay call = MOREAU__V1__EPISODE_REPLAY__INIT;
    call.episode = episode.id;
    call.has_speed = 1;
    call.speed = 0.0;
    uint64_t frames = 0;
    const Moreau__V1__Reply *reply = wire_stream(depot.client, &call, count_frames, &frames);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_le(frames, WIDE_STEPS + 1);
    ck_assert_uint_ge(frames, WIDE_STEPS + 1 - dropped);
    ck_assert(dropped > 0 || frames == WIDE_STEPS + 1);
    uint64_t backward = 0;
    call.has_backward = call.backward = 1;
    wire_expect(wire_stream(depot.client, &call, count_frames, &backward), CODE(OK), NULL);
    ck_assert_uint_eq(backward, frames);
}
END_TEST

// ---- progress, deadline

typedef struct Progress {
    uint64_t events, done;
} Progress;

static void see_progress(const Moreau__V1__Reply *event, void *context) {
    Progress *progress = context;
    ck_assert_int_eq(event->result_case, MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS);
    ck_assert_uint_gt(event->episode_progress->steps_done, progress->done);
    ck_assert_uint_le(event->episode_progress->steps_done, event->episode_progress->steps_total);
    progress->done = event->episode_progress->steps_done;
    progress->events++;
}

START_TEST(long_work_tells_its_progress_and_can_be_cancelled) {
    record(LONG_STEPS);
    Moreau__V1__EpisodeVerify call = verify_call();
    call.has_lanes = 1;
    call.lanes = 1;
    uint64_t id = wire_submit(depot.client, &call);
    // the first event comes after 100 ms; so many steps take several times that
    const Moreau__V1__Reply *event = wire_receive(depot.client);
    ck_assert_uint_eq(event->id, id);
    ck_assert(event->event);
    Progress progress = {0};
    see_progress(event, &progress);
    ck_assert_uint_eq(event->episode_progress->steps_total, LONG_STEPS);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    wire_submit(depot.client, &cancel);
    wire_expect(wire_await(depot.client, id, see_progress, &progress), CODE(CANCELLED), NULL);
    wire_ping(depot.client);
}
END_TEST

START_TEST(a_deadline_ends_it) {
    record(20000);
    Moreau__V1__EpisodeVerify call = verify_call();
    Moreau__V1__Request request = wire_request(&call);
    request.has_deadline_ms = 1;
    request.deadline_ms = 5; // far less than so many steps take
    uint64_t id = wire_submit_request(depot.client, &request);
    wire_expect(wire_await(depot.client, id, NULL, NULL), CODE(DEADLINE_EXCEEDED), "deadline_ms");
    wire_ping(depot.client);
}
END_TEST

// ---- what is damaged

typedef struct Damage {
    int kind, index;
    const char *name;
} Damage;

static const Damage damages[] = {
    {CHUNK_KEYFRAME, 0, "key-frame"}, {CHUNK_KEYFRAME, 3, "key-frame"},
    {CHUNK_INPUTS, 0, "inputs"},      {CHUNK_INPUTS, 4, "inputs"},
    {CHUNK_FRAMES, 0, "frames"},      {CHUNK_CONTACTS, 0, "contacts"},
};

START_TEST(a_flipped_byte_is_found_in_every_kind_of_chunk) {
    const Damage *damage = &damages[_i];
    wire_depot_stop(&depot);
    int64_t chunk = wire_depot_chunk(&depot, damage->kind, damage->index);
    wire_depot_flip(&depot, chunk, -20, false);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    // one byte, one difference: the rest of the file is as it was
    ck_assert_uint_eq(result->n_differences, 1);
    const Moreau__V1__EpisodeDifference *found = result->differences[0];
    ck_assert_uint_eq(found->chunk, (uint64_t)chunk);
    ck_assert_str_eq(found->chunk_kind, damage->name);
    ck_assert(found->damaged);
    ck_assert_uint_gt(strlen(found->message), 10);
    if (damage->kind != CHUNK_INPUTS && damage->index + damage->kind != CHUNK_KEYFRAME) {
        // everything can still be stepped: over the key-frame, from the one before
        ck_assert_uint_eq(result->steps, STEPS);
    } else {
        ck_assert_uint_lt(result->steps, STEPS);
    }
}
END_TEST

START_TEST(the_differences_do_not_depend_on_the_lanes) {
    wire_depot_stop(&depot);
    for (int i = 1; i < 5; i++) {
        wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_INPUTS, i), -1, true);
    }
    uint64_t steps[4] = {0};
    uint64_t compared = 0;
    for (int i = 0; i < 3; i++) {
        wire_depot_restart(&depot, worker_options[i]);
        const Moreau__V1__EpisodeVerifyReply *result = verify();
        ck_assert_uint_ge(result->n_differences, 4);
        for (size_t k = 0; k < 4; k++) {
            ck_assert(i == 0 || result->differences[k]->step == steps[k]);
            steps[k] = result->differences[k]->step;
            ck_assert(k == 0 || steps[k] >= steps[k - 1]);
        }
        ck_assert(i == 0 || result->steps == compared);
        compared = result->steps;
        wire_depot_stop(&depot);
    }
}
END_TEST

START_TEST(a_wrong_hash_with_a_right_checksum_names_its_step) {
    wire_depot_stop(&depot);
    // the last bytes of a chunk of inputs are the hash after its last step
    int64_t chunk = wire_depot_chunk(&depot, CHUNK_INPUTS, 0);
    char sql[96];
    snprintf(sql, sizeof(sql), "SELECT last_step FROM chunk WHERE id = %lld", (long long)chunk);
    uint64_t step = (uint64_t)wire_depot_number(&depot, sql);
    wire_depot_flip(&depot, chunk, -1, true);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    const Moreau__V1__EpisodeDifference *found = result->differences[0];
    ck_assert_uint_eq(found->step, step);
    ck_assert(!found->damaged);
    ck_assert_uint_eq(found->expected_hash ^ found->found_hash, UINT64_C(1) << 56);
}
END_TEST

START_TEST(a_wrong_number_in_a_frame_with_a_right_checksum_names_body_and_quantity) {
    wire_depot_stop(&depot);
    // the last number of the last frame: the last body's angular velocity about z
    wire_depot_flip(&depot, wire_depot_chunk(&depot, CHUNK_FRAMES, 0), -8, true);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    ck_assert_uint_eq(result->n_differences, 1);
    const Moreau__V1__EpisodeDifference *found = result->differences[0];
    ck_assert_uint_eq(found->body, 5);
    ck_assert_str_eq(found->quantity, "velocity.wz");
    ck_assert(found->expected != found->found);
    ck_assert(!found->damaged);
    ck_assert_uint_eq(result->steps, STEPS);
}
END_TEST

START_TEST(a_chunk_that_is_gone_is_found) {
    wire_depot_stop(&depot);
    char sql[96];
    snprintf(sql, sizeof(sql), "DELETE FROM chunk WHERE id = %lld",
             (long long)wire_depot_chunk(&depot, CHUNK_INPUTS, 2));
    wire_depot_sql(&depot, sql);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    ck_assert_uint_ge(result->n_differences, 1);
    ck_assert_uint_lt(result->steps, STEPS);
}
END_TEST

static const Damage losses[] = {{CHUNK_FRAMES, 3, "frames"},
                                {CHUNK_FRAMES, -1, "frames"},
                                {CHUNK_CONTACTS, 3, "contacts"},
                                {CHUNK_CONTACTS, -1, "contacts"}};

START_TEST(a_row_of_frames_or_contacts_that_is_gone_is_missed_by_its_first_step) {
    const Damage *loss = &losses[_i];
    char sql[128];
    wire_depot_stop(&depot);
    snprintf(sql, sizeof(sql), "SELECT count(*) FROM chunk WHERE kind = %d", loss->kind);
    int index = loss->index < 0 ? (int)wire_depot_number(&depot, sql) - 1 : loss->index;
    int64_t chunk = wire_depot_chunk(&depot, loss->kind, index);
    snprintf(sql, sizeof(sql), "SELECT first_step FROM chunk WHERE id = %lld", (long long)chunk);
    uint64_t step = (uint64_t)wire_depot_number(&depot, sql);
    snprintf(sql, sizeof(sql), "DELETE FROM chunk WHERE id = %lld", (long long)chunk);
    wire_depot_sql(&depot, sql);
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    ck_assert_uint_ge(result->n_differences, 1);
    const Moreau__V1__EpisodeDifference *found = result->differences[0];
    ck_assert_uint_eq(found->step, step);
    ck_assert_str_eq(found->chunk_kind, loss->name);
    ck_assert(found->damaged);
    ck_assert(!found->has_chunk);
    ck_assert_uint_eq(result->steps, STEPS);
}
END_TEST

START_TEST(an_episode_of_another_dynamics_version_is_not_called_a_lie) {
    wire_depot_stop(&depot);
    wire_depot_age(&depot, 4711);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeVerify call = verify_call();
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &call, CODE(FAILED_PRECONDITION), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "4711"));
    ck_assert_ptr_nonnull(strstr(reply->status->message, "1"));
}
END_TEST

START_TEST(a_row_that_claims_another_dynamics_version_is_a_difference) {
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "UPDATE recording SET dynamics_version = 4711");
    wire_depot_restart(&depot, "--workers 2");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    ck_assert_str_eq(result->differences[0]->quantity, "recording.dynamics_version");
    ck_assert_uint_eq(result->steps, STEPS);
}
END_TEST

START_TEST(a_damaged_size_is_damage_and_no_lack_of_memory) {
    wire_depot_stop(&depot);
    wire_depot_sql(&depot, "UPDATE recording SET body_count = 100000000");
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = episode.id;
    wire_refuse(depot.client, &read, CODE(DATA_LOSS), "episode");
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = episode.id;
    describe.has_names = describe.names = 1;
    wire_refuse(depot.client, &describe, CODE(DATA_LOSS), "episode");
    const Moreau__V1__EpisodeVerifyReply *result = verify();
    ck_assert(!result->verified);
    ck_assert_str_eq(result->differences[0]->quantity, "recording.body_count");
}
END_TEST

// ---- what is refused

START_TEST(bad_arguments_are_refused_by_name) {
    Moreau__V1__EpisodeVerify call = verify_call();
    call.episode = NULL;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "episode");
    call.episode = (char *)"nobody";
    wire_refuse(depot.client, &call, CODE(NOT_FOUND), "episode");
    call = verify_call();
    call.has_lanes = 1;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "lanes");
    call = verify_call();
    call.has_first = call.has_last = 1;
    call.first = 2;
    call.last = 1;
    wire_refuse(depot.client, &call, CODE(INVALID_ARGUMENT), "last");
    call.last = STEPS + 1;
    wire_refuse(depot.client, &call, CODE(OUT_OF_RANGE), "last");
    call.has_last = 0;
    call.first = STEPS + 1;
    wire_refuse(depot.client, &call, CODE(OUT_OF_RANGE), "first");
}
END_TEST

static TCase *case_true(void) {
    TCase *tcase = tcase_create("true");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, what_was_recorded_verifies);
    tcase_add_loop_test(tcase, it_verifies_after_a_restart_on_any_number_of_lanes, 0, 3);
    tcase_add_test(tcase, a_range_is_verified_alone);
    tcase_add_test(tcase, what_nobody_ended_is_verified_as_far_as_it_goes_and_says_so);
    tcase_add_test(tcase, steps_that_matter_are_described);
    tcase_add_test(tcase, an_episode_without_steps_verifies);
    tcase_add_test(tcase, an_episode_being_recorded_verifies_as_far_as_it_is_written);
    tcase_add_test(tcase, steps_wait_for_the_log_and_nothing_is_dropped);
    tcase_add_test(tcase, a_lossy_recording_counts_what_it_dropped_and_the_rest_verifies);
    tcase_add_test(tcase, long_work_tells_its_progress_and_can_be_cancelled);
    tcase_add_test(tcase, a_deadline_ends_it);
    tcase_add_test(tcase, bad_arguments_are_refused_by_name);
    return tcase;
}

static TCase *case_changed(void) {
    TCase *tcase = tcase_create("changed");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_loop_test(tcase, a_flipped_byte_is_found_in_every_kind_of_chunk, 0,
                        sizeof(damages) / sizeof(damages[0]));
    tcase_add_test(tcase, the_differences_do_not_depend_on_the_lanes);
    tcase_add_test(tcase, a_wrong_hash_with_a_right_checksum_names_its_step);
    tcase_add_test(tcase, a_wrong_number_in_a_frame_with_a_right_checksum_names_body_and_quantity);
    tcase_add_loop_test(tcase, a_row_of_frames_or_contacts_that_is_gone_is_missed_by_its_first_step,
                        0, (int)(sizeof(losses) / sizeof(losses[0])));
    tcase_add_test(tcase, a_chunk_that_is_gone_is_found);
    tcase_add_test(tcase, an_episode_of_another_dynamics_version_is_not_called_a_lie);
    tcase_add_test(tcase, a_row_that_claims_another_dynamics_version_is_a_difference);
    tcase_add_test(tcase, a_damaged_size_is_damage_and_no_lack_of_memory);
    return tcase;
}

SUITE_MAIN("system/verify", case_true, case_changed)
