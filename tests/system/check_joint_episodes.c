// SPDX-License-Identifier: MIT
// A humanoid that is pushed about while it is recorded: what its joints were stands in the file to
// the bit, is what stepping again gives, from every key-frame and behind a restart, and
// verification finds it where it was changed.
#include "cli/json_read.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, PIECE = 20, PIECES = STEPS / PIECE, STRIDE = 5 };

static Moreau__V1__Scene *load_scene(const char *name) {
    char path[512];
    JsonText json;
    JsonError error = {0};
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/joints/%s.json", name);
    ck_assert_msg(json_text_load(&json, path, &error), "%s", error.message);
    Moreau__V1__Scene *scene = (Moreau__V1__Scene *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__scene__descriptor, &error);
    ck_assert_msg(scene != NULL, "%s", error.message);
    json_text_free(&json);
    return scene;
}

// The numbers of all joints behind a piece, as the step's reply had them.
typedef struct Columns {
    size_t joints, axes, positions;
    double *position, *velocity;
    double effort; // of the joint that is pushed
} Columns;

static Columns seen[PIECES + 1];
static WireDepot depot;
static WireEpisode episode;
static uint64_t pushed; // the first joint with one axis, and where its number stands
static size_t pushed_axis;

static double *copy_of(const double *numbers, size_t count) {
    double *copy = malloc(count * sizeof(double));
    memcpy(copy, numbers, count * sizeof(double));
    return copy;
}

static void find_pushed(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1, call.world = world;
    call.has_joints = call.joints = 1;
    const Moreau__V1__WorldGetReply *got = wire_accept(depot.client, &call)->world_get;
    pushed_axis = 0;
    for (size_t i = 0; i < got->n_joints; i++) {
        const int count = __builtin_popcount(got->joint_axes[i]);
        if (count == 1) {
            pushed = got->joints[i];
            return;
        }
        pushed_axis += (size_t)count;
    }
    ck_abort_msg("no joint has one axis");
}

static void step_piece(uint64_t *world, int piece) {
    double effort = 3.0 * piece - 7.0;
    Moreau__V1__WorldStep step = wire_step_call(world, PIECE);
    step.n_joints = 1, step.joints = &pushed;
    step.n_joint_effort = 1, step.joint_effort = &effort;
    step.has_joint_positions = step.joint_positions = 1;
    step.has_joint_velocities = step.joint_velocities = 1;
    const Moreau__V1__WorldStepReply *reply = wire_accept(depot.client, &step)->world_step;
    ck_assert_uint_eq(reply->n_failures, 0);
    seen[piece] = (Columns){.joints = reply->joint_count[0],
                            .axes = reply->n_joint_velocity,
                            .positions = reply->n_joint_position,
                            .position = copy_of(reply->joint_position, reply->n_joint_position),
                            .velocity = copy_of(reply->joint_velocity, reply->n_joint_velocity),
                            .effort = effort};
}

static void set_up(void) {
    wire_depot_open(&depot, "--workers 2");
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = load_scene("humanoid_stairs");
    uint64_t world = wire_accept(depot.client, &create)->world_create->world;
    moreau__v1__scene__free_unpacked(create.scene, NULL);
    find_pushed(world);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = 1, start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    start.has_stride = 1, start.stride = STRIDE;
    start.has_keyframe_steps = 1, start.keyframe_steps = PIECE;
    episode = wire_record(depot.client, &start);
    for (int piece = 1; piece <= PIECES; piece++) {
        step_piece(&world, piece);
    }
    ck_assert_uint_eq(wire_stop_recording(depot.client, world)->steps, STEPS);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
}

static void tear_down(void) {
    for (int piece = 1; piece <= PIECES; piece++) {
        free(seen[piece].position);
        free(seen[piece].velocity);
    }
    wire_depot_close(&depot);
}

// Frames of every piece from step 0 on.
static void expect_frames(const Moreau__V1__EpisodeFrames *frames, bool stored) {
    const size_t axes = seen[1].axes, positions = seen[1].positions;
    ck_assert_uint_eq(frames->n_step, PIECES + 1);
    ck_assert_uint_eq(frames->n_joint_count, PIECES + 1);
    ck_assert_uint_eq(frames->n_joints, seen[1].joints); // listed once
    ck_assert_uint_eq(frames->joints_count[1], 0);
    ck_assert_uint_eq(frames->n_joint_velocity, axes * (PIECES + 1));
    ck_assert_uint_eq(frames->n_joint_effort, axes * (PIECES + 1));
    for (size_t i = 1; i <= PIECES; i++) {
        ck_assert_uint_eq(frames->joint_axis_count[i], axes);
        ck_assert_uint_eq(frames->joint_position_count[i], positions);
        ck_assert_int_eq(frames->stored[i] != 0, stored);
        ck_assert_mem_eq(frames->joint_position + positions * i, seen[i].position,
                         positions * sizeof(double));
        ck_assert_mem_eq(frames->joint_velocity + axes * i, seen[i].velocity,
                         axes * sizeof(double));
        ck_assert_double_eq(frames->joint_effort[axes * i + pushed_axis], seen[i].effort);
    }
}

static Moreau__V1__EpisodeRead read_call(bool again) {
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = episode.id;
    read.has_stride = 1, read.stride = PIECE;
    read.has_joints = read.joints = 1;
    read.has_again = 1, read.again = again;
    return read;
}

START_TEST(frames_have_joints_as_stepping_again_does) {
    for (int again = 0; again < 2; again++) {
        const Moreau__V1__EpisodeRead read = read_call(again == 1);
        expect_frames(wire_accept(depot.client, &read)->episode_read->frames, again == 0);
    }
    Moreau__V1__EpisodeRead read = read_call(false);
    read.has_single = read.single = 1;
    const Moreau__V1__EpisodeFrames *frames =
        wire_accept(depot.client, &read)->episode_read->frames;
    ck_assert_uint_eq(frames->n_joint_position, 0);
    ck_assert_float_eq(frames->joint_position_single[seen[1].positions],
                       (float)seen[1].position[0]);
    read.joints = 0;
    ck_assert_uint_eq(wire_accept(depot.client, &read)->episode_read->frames->n_joint_count, 0);
}
END_TEST

// Events are as long as they come: the numbers of all of them one behind the other.
typedef struct Shown {
    size_t frames, numbers;
} Shown;

static void look_at(const Moreau__V1__Reply *event, void *context) {
    const Moreau__V1__EpisodeFrames *frames = event->episode_frames;
    Shown *shown = context;
    const size_t axes = seen[1].axes;
    for (size_t i = 0; i < frames->n_step; i++, shown->frames++) {
        const uint64_t piece = frames->step[i] / PIECE;
        if (piece > 0) {
            ck_assert_mem_eq(frames->joint_velocity + axes * i, seen[piece].velocity,
                             axes * sizeof(double));
            shown->numbers += axes;
        }
    }
}

START_TEST(a_replay_shows_joints) {
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    replay.episode = episode.id;
    replay.has_stride = 1, replay.stride = PIECE;
    replay.has_speed = 1, replay.speed = 0.0;
    replay.has_joints = replay.joints = 1;
    Shown shown = {0};
    wire_stream(depot.client, &replay, look_at, &shown);
    ck_assert_uint_eq(shown.frames, PIECES + 1);
    ck_assert_uint_eq(shown.numbers, PIECES * seen[1].axes);
}
END_TEST

static const Moreau__V1__EpisodeVerifyReply *verify_from(uint64_t first) {
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = episode.id;
    verify.has_first = 1, verify.first = first;
    return wire_stream(depot.client, &verify, NULL, NULL)->episode_verify;
}

START_TEST(it_verifies_from_every_keyframe) {
    for (uint64_t first = 0; first < STEPS; first += PIECE) {
        const Moreau__V1__EpisodeVerifyReply *reply = verify_from(first);
        ck_assert(reply->verified);
        ck_assert_uint_eq(reply->steps, STEPS - first);
    }
}
END_TEST

// The last number of the last frame is the effort of the last axis.
START_TEST(a_number_of_a_joint_that_was_changed_is_named) {
    enum { KIND_FRAMES = 3 };
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, wire_depot_chunk(&depot, KIND_FRAMES, 0), -1, true);
    wire_depot_restart(&depot, "--workers 1");
    const Moreau__V1__EpisodeVerifyReply *reply = verify_from(0);
    ck_assert(!reply->verified);
    bool is_named = false;
    for (size_t i = 0; i < reply->n_differences; i++) {
        const Moreau__V1__EpisodeDifference *one = reply->differences[i];
        is_named = is_named || (one->quantity != NULL && strncmp(one->quantity, "joint ", 6) == 0 &&
                                strstr(one->quantity, " effort") != NULL && !one->damaged);
    }
    ck_assert_msg(is_named, "%zu differences, the first: %s", reply->n_differences,
                  reply->differences[0]->message);
}
END_TEST

static TCase *case_humanoid(void) {
    TCase *tcase = tcase_create("humanoid");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, frames_have_joints_as_stepping_again_does);
    tcase_add_test(tcase, a_replay_shows_joints);
    tcase_add_test(tcase, it_verifies_from_every_keyframe);
    tcase_add_test(tcase, a_number_of_a_joint_that_was_changed_is_named);
    return tcase;
}

SUITE_MAIN("system/joint_episodes", case_humanoid)
