// SPDX-License-Identifier: MIT
// Bounds over real sockets: who left is told and gone from every call, nothing bad is taken for
// bounds, and a recording of a world that loses bodies replays and verifies without a word of it.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { FALLING = 12 };

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// Each count is of numbers in the corner; lower and upper are borrowed.
typedef struct Corners {
    double lower[4], upper[4];
    size_t lower_count, upper_count;
    Moreau__V1__Bounds bounds;
    Moreau__V1__WorldSettings settings;
} Corners;

static Moreau__V1__WorldSet set_call(uint64_t world, Corners *corners) {
    moreau__v1__bounds__init(&corners->bounds);
    corners->bounds.lower = corners->lower;
    corners->bounds.upper = corners->upper;
    corners->bounds.n_lower = corners->lower_count;
    corners->bounds.n_upper = corners->upper_count;
    moreau__v1__world_settings__init(&corners->settings);
    corners->settings.bounds = &corners->bounds;
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.settings = &corners->settings;
    return set;
}

static void set_bounds(uint64_t world, double half_width) {
    Corners corners = {.lower = {-half_width, -half_width, -1.0},
                       .upper = {half_width, half_width, 9.0},
                       .lower_count = 3,
                       .upper_count = 3};
    Moreau__V1__WorldSet set = set_call(world, &corners);
    wire_accept(depot.client, &set);
}

// A tower that falls over, of which some land outside of the bounds.
static uint64_t make_world(double half_width) {
    uint64_t world = wire_world(depot.client, FALLING, 3, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    set_bounds(world, half_width);
    return world;
}

static const Moreau__V1__WorldGetReply *get(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1;
    call.world = world;
    return wire_accept(depot.client, &call)->world_get;
}

START_TEST(who_left_is_told_and_gone) {
    uint64_t worlds[2] = {make_world(0.3), make_world(1000.0)};
    Moreau__V1__WorldStep step = wire_step_call(worlds, 400);
    step.n_worlds = 2;
    step.has_poses = step.poses = 1;
    const Moreau__V1__WorldStepReply *stepped = wire_accept(depot.client, &step)->world_step;
    ck_assert_uint_eq(stepped->n_removed, 2);
    uint64_t removed = stepped->removed[0];
    ck_assert_uint_gt(removed, 2);
    ck_assert_uint_lt(removed, FALLING);
    ck_assert_uint_eq(stepped->removed[1], 0);
    ck_assert_uint_eq(stepped->body_count[0], FALLING + 1 - removed);
    ck_assert_uint_eq(stepped->body_count[1], FALLING + 1);
    ck_assert_uint_eq(stepped->n_pose, 7 * (stepped->body_count[0] + stepped->body_count[1]));

    const Moreau__V1__WorldGetReply *got = get(worlds[0]);
    ck_assert_uint_eq(got->total, FALLING + 1 - removed);
    ck_assert_uint_eq(got->removed, removed);
    ck_assert_uint_eq(got->n_ids, got->total);
    ck_assert_uint_eq(got->settings->bounds->n_upper, 3);
    ck_assert_double_eq(got->settings->bounds->upper[0], 0.3);
    for (size_t i = 1; i < got->n_ids; i++) {
        ck_assert_uint_lt(got->ids[i - 1], got->ids[i]);
        ck_assert_double_le(got->pose[7 * i] * got->pose[7 * i], 0.09);
    }
    ck_assert_uint_eq(get(worlds[1])->removed, 0);

    // nobody else leaves: nothing is said of it
    step.worlds = worlds + 1;
    step.n_worlds = 1;
    ck_assert_uint_eq(wire_accept(depot.client, &step)->world_step->n_removed, 0);
}
END_TEST

static uint64_t find_gone(uint64_t world) {
    const Moreau__V1__WorldGetReply *got = get(world);
    for (size_t i = 0; i < got->n_ids; i++) {
        if (got->ids[i] != i + 1) {
            return i + 1;
        }
    }
    ck_abort_msg("none is gone");
    return 0;
}

START_TEST(the_id_of_who_left_is_refused_and_never_given_again) {
    uint64_t world = make_world(0.3);
    wire_step(depot.client, world, 400);
    uint64_t gone = find_gone(world), hash = wire_hash(depot.client, world);
    double numbers[7] = {0.0, 0.0, 3.0, 1.0, 0.0, 0.0, 0.0};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    set.n_ids = 1;
    set.ids = &gone;
    set.n_pose = 7;
    set.pose = numbers;
    const Moreau__V1__Reply *reply = wire_refuse(depot.client, &set, CODE(NOT_FOUND), "ids[0]");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "left the world's bounds"));
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.n_wrench_body = 1;
    step.wrench_body = &gone;
    step.n_wrench = 6;
    step.wrench = numbers;
    wire_fail(depot.client, &step, CODE(NOT_FOUND), "wrench_body[0]");
    ck_assert_uint_eq(wire_hash(depot.client, world), hash);

    uint64_t shape = 2;
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1;
    bodies.world = world;
    bodies.n_pose = 7;
    bodies.pose = numbers;
    bodies.n_shape = 1;
    bodies.shape = &shape;
    const Moreau__V1__WorldAddReply *added = wire_accept(depot.client, &bodies)->world_add;
    ck_assert_uint_eq(added->ids[0], FALLING + 2);
}
END_TEST

START_TEST(a_wrench_ends_with_its_body) {
    uint64_t world = make_world(1.0), body = FALLING + 1;
    double push[6] = {300.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    Moreau__V1__WorldStep step = wire_step_call(&world, 200);
    step.n_wrench_body = 1;
    step.wrench_body = &body;
    step.n_wrench = 6;
    step.wrench = push;
    const Moreau__V1__WorldStepReply *stepped = wire_accept(depot.client, &step)->world_step;
    ck_assert_uint_eq(stepped->n_failures, 0);
    ck_assert_uint_eq(stepped->steps_done[0], 200);
    ck_assert_uint_ge(stepped->removed[0], 1);
    wire_fail(depot.client, &step, CODE(NOT_FOUND), "wrench_body[0]");
}
END_TEST

START_TEST(bounds_can_be_taken_away) {
    uint64_t world = make_world(1e-3);
    Corners none = {0};
    Moreau__V1__WorldSet set = set_call(world, &none);
    wire_accept(depot.client, &set);
    ck_assert_ptr_null(get(world)->settings->bounds);
    wire_step(depot.client, world, 10);
    ck_assert_uint_eq(get(world)->total, FALLING + 1);
    set_bounds(world, 1e-3);
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT; // says nothing of them
    settings.has_margin = 1;
    set.settings = &settings;
    wire_accept(depot.client, &set);
    wire_step(depot.client, world, 1);
    ck_assert_uint_eq(get(world)->total, 1); // the ground
}
END_TEST

typedef struct BadCase {
    Corners corners;
    const char *field;
} BadCase;

static const BadCase bad_cases[] = {
    {{.lower = {0}, .lower_count = 3}, "settings.bounds"},
    {{.upper = {1, 1, 1}, .upper_count = 3}, "settings.bounds"},
    {{.upper = {1, 1}, .lower_count = 2, .upper_count = 2}, "settings.bounds"},
    {{.upper = {1, 1, 1, 1}, .lower_count = 4, .upper_count = 4}, "settings.bounds"},
    {{.upper = {1, 0, 1}, .lower_count = 3, .upper_count = 3}, "settings.bounds.upper[1]"},
    {{.upper = {1, 1, -1}, .lower_count = 3, .upper_count = 3}, "settings.bounds.upper[2]"},
    {{.upper = {1e300, 1, 1}, .lower_count = 3, .upper_count = 3}, "settings.bounds.upper[0]"},
    {{.lower = {-2e9}, .upper = {1, 1, 1}, .lower_count = 3, .upper_count = 3},
     "settings.bounds.lower[0]"},
};

START_TEST(bounds_that_are_none_are_refused_by_name) {
    uint64_t world = make_world(2.0), hash = wire_hash(depot.client, world);
    Corners corners = bad_cases[_i].corners;
    Moreau__V1__WorldSet set = set_call(world, &corners);
    wire_refuse(depot.client, &set, CODE(INVALID_ARGUMENT), bad_cases[_i].field);
    ck_assert_uint_eq(wire_hash(depot.client, world), hash);
    char field[64];
    snprintf(field, sizeof(field), "scene.%s", bad_cases[_i].field);
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    scene.settings = &corners.settings;
    wire_refuse(depot.client, &create, CODE(INVALID_ARGUMENT), field);
}
END_TEST

static WireEpisode record(uint64_t world, Moreau__V1__Episode__Content content) {
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = start.has_stride = start.has_keyframe_steps = 1;
    start.content = content;
    start.stride = 7;
    start.keyframe_steps = 40;
    WireEpisode episode = wire_record(depot.client, &start);
    wire_step(depot.client, world, 150);
    uint64_t body = 2;
    double wrench[6] = {40.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    Moreau__V1__WorldStep step = wire_step_call(&world, 250); // it leaves under the wrench
    step.n_wrench_body = 1;
    step.wrench_body = &body;
    step.n_wrench = 6;
    step.wrench = wrench;
    wire_accept(depot.client, &step);
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, 400);
    return episode;
}

START_TEST(what_was_recorded_verifies_though_bodies_left) {
    uint64_t world = make_world(0.3);
    WireEpisode episode = record(world, (Moreau__V1__Episode__Content)_i);
    ck_assert_uint_gt(get(world)->removed, 2);
    wire_expect_verified(depot.client, episode.id, 400);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 7");
    wire_expect_verified(depot.client, episode.id, 400);
}
END_TEST

typedef struct Seen {
    uint64_t frames, lists, fewest;
} Seen;

// Every frame is of as many bodies as the ids that it lists, or the frame before it did.
static void look(const Moreau__V1__Reply *event, void *context) {
    Seen *seen = context;
    const Moreau__V1__EpisodeFrames *frames = event->episode_frames;
    uint64_t bodies = 0, listed = 0;
    for (size_t i = 0; i < frames->n_step; i++) {
        seen->frames++;
        seen->lists += frames->ids_count[i] > 0;
        bodies += frames->body_count[i];
        listed += frames->ids_count[i];
        ck_assert(frames->ids_count[i] == 0 || frames->ids_count[i] == frames->body_count[i]);
        seen->fewest = frames->body_count[i] < seen->fewest ? frames->body_count[i] : seen->fewest;
    }
    ck_assert_uint_eq(frames->n_ids, listed);
    ck_assert_uint_eq(frames->n_pose, 7 * bodies);
}

START_TEST(a_replay_shows_those_that_were_there) {
    uint64_t world = make_world(0.3);
    WireEpisode episode = record(world, MOREAU__V1__EPISODE__CONTENT__FRAMES);
    uint64_t left = get(world)->total;
    for (int again = 0; again < 2; again++) { // stored frames, and stepped ones
        Seen seen = {.fewest = UINT64_MAX};
        Moreau__V1__EpisodeReplay call = MOREAU__V1__EPISODE_REPLAY__INIT;
        call.episode = episode.id;
        call.has_speed = call.has_stride = call.has_again = 1;
        call.stride = 7;
        call.speed = 0.0;
        call.again = again == 1;
        wire_stream(depot.client, &call, look, &seen);
        ck_assert_uint_eq(seen.frames, 400 / 7 + 1);
        ck_assert_uint_gt(seen.lists, 2);
        ck_assert_uint_eq(seen.fewest, left);
    }
}
END_TEST

static TCase *case_bounds(void) {
    TCase *tcase = tcase_create("bounds");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, who_left_is_told_and_gone);
    tcase_add_test(tcase, the_id_of_who_left_is_refused_and_never_given_again);
    tcase_add_test(tcase, a_wrench_ends_with_its_body);
    tcase_add_test(tcase, bounds_can_be_taken_away);
    tcase_add_loop_test(tcase, bounds_that_are_none_are_refused_by_name, 0,
                        sizeof(bad_cases) / sizeof(bad_cases[0]));
    tcase_add_loop_test(tcase, what_was_recorded_verifies_though_bodies_left,
                        MOREAU__V1__EPISODE__CONTENT__INPUTS,
                        MOREAU__V1__EPISODE__CONTENT__CONTACTS + 1);
    tcase_add_test(tcase, a_replay_shows_those_that_were_there);
    return tcase;
}

SUITE_MAIN("system/bounds", case_bounds)
