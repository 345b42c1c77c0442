// SPDX-License-Identifier: MIT
// A humanoid that is pushed about while it is recorded: what its joints were stands in the file to
// the bit, is what stepping again gives, from every key-frame and behind a restart, and
// verification finds it where it was changed.
#include "support/scene_file.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, PIECE = 20, PIECES = STEPS / PIECE, STRIDE = 5 };

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
    create.scene = scene_file_load("joints/humanoid_stairs");
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

// ---- what breaks

// A bob of 1 kg beside the point that a thread of 5 N holds it by: it begins to swing, and falls.
static uint64_t make_swing(void) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    const uint64_t world = wire_accept(depot.client, &create)->world_create->world;
    double pose[7] = {0, 1, 0, 1, 0, 0, 0}, mass = 1, inertia[6] = {0.1, 0.1, 0.1, 0, 0, 0};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_pose = 7, bodies.pose = pose;
    bodies.n_mass = 1, bodies.mass = &mass;
    bodies.n_inertia = 6, bodies.inertia = inertia;
    wire_accept(depot.client, &bodies);
    Moreau__V1__Joint__Kind kind = MOREAU__V1__JOINT__KIND__BALL;
    protobuf_c_boolean as_rows = 1;
    uint64_t b = 1;
    double frame_b[7] = {0, -1, 0, 1, 0, 0, 0}, break_force = 5.0;
    Moreau__V1__WorldAddJoints thread = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    thread.has_world = 1, thread.world = world;
    thread.n_kind = 1, thread.kind = &kind;
    thread.n_body_b = 1, thread.body_b = &b;
    thread.n_frame_b = 7, thread.frame_b = frame_b;
    thread.n_as_rows = 1, thread.as_rows = &as_rows;
    thread.n_break_force = 1, thread.break_force = &break_force;
    wire_accept(depot.client, &thread);
    return world;
}

START_TEST(what_breaks_is_a_highlight_and_gone_from_the_frames) {
    uint64_t world = make_swing();
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = 1, start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    const WireEpisode swing = wire_record(depot.client, &start);
    uint64_t broke_at = 0;
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    for (uint64_t i = 1; i <= STEPS; i++) {
        const Moreau__V1__StepReports *reports =
            wire_accept(depot.client, &step)->world_step->reports;
        broke_at = reports->n_broken_joints > 0 ? i : broke_at;
    }
    ck_assert_uint_gt(broke_at, 1);
    wire_stop_recording(depot.client, world);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 2");
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = (char *)swing.id;
    describe.has_highlights = 1, describe.highlights = 10;
    const Moreau__V1__EpisodeDescribeReply *said =
        wire_accept(depot.client, &describe)->episode_describe;
    const Moreau__V1__EpisodeHighlight *broken = NULL;
    for (size_t i = 0; i < said->n_highlights; i++) {
        const Moreau__V1__EpisodeHighlight *one = said->highlights[i];
        broken = one->kind == MOREAU__V1__EPISODE_HIGHLIGHT__KIND__BROKEN ? one : broken;
    }
    ck_assert_ptr_nonnull(broken);
    ck_assert_uint_eq(broken->worst_step, broke_at);
    ck_assert_uint_eq(broken->joint, 1);
    ck_assert_double_eq(broken->value, 1.0);
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = (char *)swing.id;
    read.has_joints = read.joints = 1;
    const Moreau__V1__EpisodeFrames *frames =
        wire_accept(depot.client, &read)->episode_read->frames;
    for (uint64_t i = 0; i <= STEPS; i++) {
        ck_assert_uint_eq(frames->joint_count[i], i < broke_at);
    }
    wire_expect_verified(depot.client, swing.id, STEPS);
}
END_TEST

// As many joints as before, but others: frames say whose numbers they are.
START_TEST(what_takes_the_place_of_what_broke_is_another) {
    enum { LATER = 60 };
    uint64_t world = make_swing(), b = 1, steps = 0;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.has_content = 1, start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    start.has_stride = 1, start.stride = LATER;
    const WireEpisode swing = wire_record(depot.client, &start);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    bool is_broken = false;
    for (; steps < LATER && !is_broken; steps++) {
        is_broken = wire_accept(depot.client, &step)->world_step->reports->n_broken_joints > 0;
    }
    ck_assert(is_broken && steps < LATER);
    Moreau__V1__Joint__Kind kind = MOREAU__V1__JOINT__KIND__DISTANCE;
    Moreau__V1__WorldAddJoints rod = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    rod.has_world = 1, rod.world = world;
    rod.n_kind = 1, rod.kind = &kind;
    rod.n_body_b = 1, rod.body_b = &b;
    wire_accept(depot.client, &rod);
    wire_step(depot.client, world, LATER - steps);
    wire_stop_recording(depot.client, world);
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = (char *)swing.id;
    read.has_stride = 1, read.stride = LATER;
    read.has_joints = read.joints = 1;
    const Moreau__V1__EpisodeFrames *frames =
        wire_accept(depot.client, &read)->episode_read->frames;
    ck_assert_uint_eq(frames->n_joints, 2);
    ck_assert(frames->stored[0] && frames->stored[1]);
    ck_assert_uint_eq(frames->joints[0], 1);
    ck_assert_uint_eq(frames->joints[1], 2);
    ck_assert_uint_eq(frames->joint_axes[0], 7 << 3);
    ck_assert_uint_eq(frames->joint_axes[1], 0);
    ck_assert_uint_eq(frames->n_joint_position, 4);
    wire_expect_verified(depot.client, swing.id, LATER);
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

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static TCase *case_swing(void) {
    TCase *tcase = tcase_create("swing");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, what_breaks_is_a_highlight_and_gone_from_the_frames);
    tcase_add_test(tcase, what_takes_the_place_of_what_broke_is_another);
    return tcase;
}

SUITE_MAIN("system/joint_episodes", case_humanoid, case_swing)
