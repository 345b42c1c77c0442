// SPDX-License-Identifier: MIT
// libmoreau with a real server: what was seen while an episode was recorded is what comes back, and
// a snapshot that went through a file's worth of bytes goes on with the same bits.
#include "support/server_process.h"
#include "support/suite.h"

#include "moreau.h"

#include <string.h>

enum { BODIES = 4, STEPS = 60, STRIDE = 7, CHANGED_AT = 25 };

static ServerProcess *server;
static MoreauClient *client;
static uint64_t world;
static uint64_t ids[BODIES];

#define ASSERT_OK(call) ck_assert_msg((call) == MOREAU_OK, "%s", moreau_error(client)->message)

// A floor, and three boxes that fall onto it and each other.
static void make_world(void) {
    MoreauWorldDef def = moreau_world_def_default();
    ASSERT_OK(moreau_world_create(client, &def, &world));
    const uint32_t kinds[] = {MOREAU_PLANE, MOREAU_BOX};
    const double sizes[] = {0, 0, 0, 0.1, 0.1, 0.1};
    const MoreauShapes shapes = {.count = 2, .primitive_total = 2, .kind = kinds, .size = sizes};
    uint64_t shape[2];
    ASSERT_OK(moreau_world_add_shapes(client, world, &shapes, shape));
    double pose[7 * BODIES] = {0, 0, 0, 1, 0, 0, 0};
    uint64_t of_body[BODIES] = {shape[0]};
    uint32_t body_kind[BODIES] = {MOREAU_STATIC};
    for (size_t i = 1; i < BODIES; i++) {
        const double each[] = {0.03 * (double)i, 0.0, 0.3 * (double)i, 1, 0.1 * (double)i, 0, 0};
        memcpy(pose + 7 * i, each, sizeof(each));
        of_body[i] = shape[1];
    }
    const MoreauBodies bodies = {
        .count = BODIES, .pose = pose, .kind = body_kind, .shape = of_body};
    ASSERT_OK(moreau_world_add_bodies(client, world, &bodies, ids));
}

static void start(void) {
    server = server_start("--workers 2 --db @/episodes.db");
    MoreauError error;
    ck_assert_msg(moreau_connect(server->address[0], NULL, &client, &error) == MOREAU_OK, "%s",
                  error.message);
    make_world();
}

static void stop(void) {
    moreau_disconnect(client);
    server_stop(server);
}

static void step(uint64_t steps) {
    MoreauStep order = moreau_step_default();
    order.worlds = &world;
    order.world_count = 1;
    order.steps = steps;
    MoreauReply *reply;
    MoreauStepResult result;
    ASSERT_OK(moreau_world_step(client, &order, &reply, &result));
    moreau_reply_free(reply);
}

static uint64_t hash(void) {
    uint64_t value;
    ASSERT_OK(moreau_world_hash(client, 1, &world, &value, NULL));
    return value;
}

// ---- rays

// The ground of the scene has no end: what goes down meets it, or a body over it; what goes up,
// from above all, nothing.
START_TEST(rays_are_cast_by_the_library) {
    const double origin[6] = {50.0, 50.0, 3.0, 50.0, 50.0, 3.0};
    const double way[6] = {0.0, 0.0, -12.0, 0.0, 0.0, 12.0};
    const MoreauRays rays = {.count = 2, .origin = origin, .way = way};
    const uint64_t before = hash();
    MoreauReply *reply;
    MoreauRayHits hits;
    ASSERT_OK(moreau_world_ray_cast(client, world, &rays, &reply, &hits));
    ck_assert_uint_eq(hits.count, 2);
    ck_assert_uint_ne(hits.body[0], 0);
    ck_assert_double_eq_tol(hits.fraction[0], 0.25, 1e-12);
    ck_assert_double_eq_tol(hits.normal[2], 1.0, 1e-12);
    ck_assert_uint_eq(hits.body[1], 0);
    ck_assert_double_eq(hits.point[5], 15.0);
    moreau_reply_free(reply);
    ck_assert_uint_eq(hash(), before);
    const uint64_t gone = UINT64_C(0xdeadbeef00000001);
    ck_assert_int_eq(moreau_world_ray_cast(client, gone, &rays, &reply, &hits), MOREAU_NOT_FOUND);
}
END_TEST

// ---- episodes

// What was seen, step by step; and how much of it has come back.
typedef struct Seen {
    double pose[STEPS + 1][7 * BODIES], velocity[STEPS + 1][6 * BODIES];
    size_t frames;
    bool again;
    size_t stop_after; // 0: never
} Seen;

static void record(Seen *seen, MoreauContent content) {
    MoreauRecord def = moreau_record_default();
    def.world = world;
    def.name = "boxes";
    def.content = content;
    ASSERT_OK(moreau_record_start(client, &def, NULL));
    for (size_t i = 0; i <= STEPS; i++) {
        if (i > 0) {
            step(1);
        }
        ASSERT_OK(moreau_world_read(client, world, 0, BODIES, seen->pose[i], seen->velocity[i]));
        if (i == CHANGED_AT) {
            const double kick[] = {0.5, 0, 2, 0, 3, 0};
            ASSERT_OK(moreau_world_set(client, world, NULL, 1, &ids[2], NULL, kick));
        }
    }
    MoreauReply *reply;
    MoreauEpisode info;
    ASSERT_OK(moreau_record_stop(client, world, NULL, &reply, &info));
    ck_assert_uint_eq(info.steps, STEPS);
    ck_assert_uint_eq(info.bodies, BODIES);
    ck_assert_int_eq(info.state, MOREAU_EPISODE_COMPLETE);
    moreau_reply_free(reply);
}

static bool compare_frame(void *context, const MoreauFrame *frame) {
    Seen *seen = context;
    ck_assert_uint_eq(frame->step, STRIDE * seen->frames);
    ck_assert_uint_eq(frame->body_count, BODIES);
    ck_assert_mem_eq(frame->ids, ids, sizeof(ids));
    ck_assert_int_eq(frame->stored, !seen->again);
    ck_assert_mem_eq(frame->pose, seen->pose[frame->step], sizeof(seen->pose[0]));
    ck_assert_mem_eq(frame->velocity, seen->velocity[frame->step], sizeof(seen->velocity[0]));
    return ++seen->frames != seen->stop_after;
}

// 0: from the disk; 1: stepped again although it is there; 2: stepped again, as only inputs are
START_TEST(a_replay_shows_to_the_bit_what_was_seen) {
    static Seen seen;
    record(&seen, _i == 2 ? MOREAU_CONTENT_INPUTS : MOREAU_CONTENT_FRAMES);
    MoreauFrameQuery query = moreau_frame_query_default();
    query.episode = "boxes";
    query.stride = STRIDE;
    query.again = _i == 1;
    seen.again = _i > 0;
    uint64_t frames = 0;
    ASSERT_OK(
        moreau_episode_replay(client, &query, MOREAU_ALL, 0.0, compare_frame, &seen, &frames));
    ck_assert_uint_eq(seen.frames, 1 + STEPS / STRIDE);
    ck_assert_uint_eq(frames, seen.frames);

    // and so does a read of a range
    MoreauReply *reply;
    MoreauFrames range;
    seen.frames = 2;
    query.first = 2 * STRIDE;
    ASSERT_OK(moreau_episode_read(client, &query, 3, &reply, &range));
    ck_assert_uint_eq(range.count, 3);
    MoreauFrame frame;
    while (moreau_next_frame(&range, &frame)) {
        compare_frame(&seen, &frame);
    }
    moreau_reply_free(reply);
}
END_TEST

START_TEST(a_replay_ends_when_its_reader_has_enough) {
    static Seen seen;
    record(&seen, MOREAU_CONTENT_FRAMES);
    MoreauFrameQuery query = moreau_frame_query_default();
    query.episode = "boxes";
    query.stride = STRIDE;
    seen.stop_after = 1;
    // so slow that it would take a day
    ck_assert_int_eq(
        moreau_episode_replay(client, &query, MOREAU_ALL, 1e-6, compare_frame, &seen, NULL),
        MOREAU_CANCELLED);
    ck_assert_uint_eq(seen.frames, 1);
    step(1); // the connection and the world are as before
}
END_TEST

// Steps a world from another connection, so that it is watched while it runs.
typedef struct Watcher {
    MoreauClient *other;
    uint64_t step;
    double pose[7 * BODIES];
} Watcher;

static bool see_and_step(void *context, const MoreauFrame *frame) {
    Watcher *watcher = context;
    if (frame->step < watcher->step) {
        return true; // it is on its way
    }
    ck_assert_uint_eq(frame->step, watcher->step);
    ck_assert_uint_eq(frame->body_count, BODIES);
    ck_assert_mem_eq(frame->ids, ids, sizeof(ids));
    ck_assert_ptr_null(frame->velocity);
    if (frame->step > 0) {
        ck_assert_mem_eq(frame->pose, watcher->pose, sizeof(watcher->pose));
    }
    if (++watcher->step > STEPS) {
        return false;
    }
    MoreauStep order = moreau_step_default();
    order.worlds = &world;
    order.world_count = 1;
    MoreauReply *reply;
    MoreauStepResult result;
    ASSERT_OK(moreau_world_step(watcher->other, &order, &reply, &result));
    moreau_reply_free(reply);
    ASSERT_OK(moreau_world_read(watcher->other, world, 0, BODIES, watcher->pose, NULL));
    return true;
}

START_TEST(a_world_is_watched_while_it_runs) {
    Watcher watcher = {0};
    MoreauError error;
    ck_assert_int_eq(moreau_connect(server->address[0], NULL, &watcher.other, &error), MOREAU_OK);
    MoreauWatch watch = moreau_watch_default(world);
    watch.frames_per_second = 0.0;
    ck_assert_int_eq(moreau_world_watch(client, &watch, see_and_step, &watcher), MOREAU_CANCELLED);
    ck_assert_uint_eq(watcher.step, STEPS + 1);
    moreau_disconnect(watcher.other);
    watch.world = 12345;
    ck_assert_int_eq(moreau_world_watch(client, &watch, see_and_step, &watcher), MOREAU_NOT_FOUND);
    step(1); // the connection is as before
}
END_TEST

START_TEST(an_episode_is_verified_found_and_deleted) {
    static Seen seen;
    record(&seen, MOREAU_CONTENT_CONTACTS);
    MoreauVerify verify = moreau_verify_default();
    verify.episode = "boxes";
    MoreauReply *reply;
    MoreauVerification result;
    ASSERT_OK(moreau_episode_verify(client, &verify, NULL, NULL, &reply, &result));
    ck_assert(result.verified && result.difference_count == 0);
    ck_assert_uint_eq(result.steps, STEPS);
    moreau_reply_free(reply);

    MoreauEpisodeFilter filter = moreau_episode_filter_default();
    filter.name = "BOX";
    size_t count;
    MoreauEpisode info;
    ASSERT_OK(moreau_episode_list(client, &filter, &reply, &count, NULL));
    ck_assert_uint_eq(count, 1);
    ck_assert(moreau_reply_episode(reply, 0, &info));
    ASSERT_OK(moreau_episode_pin(client, info.episode, true));
    ck_assert_int_eq(moreau_episode_delete(client, info.episode), MOREAU_FAILED_PRECONDITION);
    ASSERT_OK(moreau_episode_pin(client, info.episode, false));
    ASSERT_OK(moreau_episode_delete(client, info.episode));
    moreau_reply_free(reply);
    ck_assert_int_eq(moreau_episode_describe(client, "boxes", &reply, &info), MOREAU_NOT_FOUND);
    moreau_reply_free(reply);
}
END_TEST

// Frames from the last to the first: `next` is the one that comes.
static bool see_backward(void *context, const MoreauFrame *frame) {
    uint64_t *next = context;
    ck_assert_uint_eq(frame->step, *next);
    *next -= 1;
    return true;
}

START_TEST(a_replay_goes_backward) {
    static Seen seen;
    record(&seen, MOREAU_CONTENT_INPUTS);
    MoreauFrameQuery query = moreau_frame_query_default();
    query.episode = "boxes";
    query.backward = true;
    uint64_t next = STEPS, frames;
    ASSERT_OK(moreau_episode_replay(client, &query, MOREAU_ALL, 0.0, see_backward, &next, &frames));
    ck_assert_uint_eq(frames, STEPS + 1);
}
END_TEST

START_TEST(an_episode_is_compared) {
    static Seen seen;
    record(&seen, MOREAU_CONTENT_INPUTS);
    MoreauSettings variants[2] = {0};
    variants[1].given = MOREAU_TIME_STEP;
    variants[1].time_step = 1.0 / 480.0;
    MoreauCompare compare = moreau_compare_default();
    compare.episode = "boxes";
    compare.variants = variants;
    compare.variant_count = 2;
    compare.record = true;
    MoreauReply *reply;
    size_t count;
    MoreauRun run;
    ASSERT_OK(moreau_episode_compare(client, &compare, NULL, NULL, &reply, &count));
    ck_assert_uint_eq(count, 3);
    ck_assert(moreau_reply_run(reply, 0, &run));
    ck_assert_ptr_null(run.sample_distance);
    ck_assert(moreau_reply_run(reply, 1, &run));
    ck_assert(!run.differs && !run.is_apart && run.distance == 0.0);
    ck_assert_uint_eq(run.sample_count, STEPS + 1);
    ck_assert(moreau_reply_run(reply, 2, &run));
    ck_assert_uint_eq(run.steps, 2 * STEPS);
    ck_assert(run.differs && run.sample_distance[1] > 0.0);
    MoreauEpisode info;
    MoreauReply *described;
    ASSERT_OK(moreau_episode_describe(client, run.episode, &described, &info));
    ck_assert_uint_eq(info.steps, 2 * STEPS);
    moreau_reply_free(described);
    ck_assert(!moreau_reply_run(reply, 3, &run));
    moreau_reply_free(reply);
    compare.variant_count = 0;
    ck_assert_int_eq(moreau_episode_compare(client, &compare, NULL, NULL, &reply, NULL),
                     MOREAU_INVALID_ARGUMENT);
    moreau_reply_free(reply);
}
END_TEST

// The boxes fall onto the ground; of that nobody made a note.
START_TEST(touches_that_were_not_recorded_are_stepped_again) {
    static Seen seen;
    record(&seen, MOREAU_CONTENT_INPUTS);
    MoreauReply *reply;
    size_t got;
    uint64_t total;
    ck_assert_int_eq(moreau_episode_touches(client, "boxes", 0, 10, &reply, &got, &total),
                     MOREAU_FAILED_PRECONDITION);
    moreau_reply_free(reply);
    ASSERT_OK(
        moreau_episode_touches_again(client, "boxes", 0, 10, NULL, NULL, &reply, &got, &total));
    ck_assert_uint_ge(total, got);
    for (size_t i = 0; i < got; i++) {
        MoreauTouch touch;
        ck_assert(moreau_reply_touch(reply, i, &touch));
        ck_assert(touch.body < touch.other_body && touch.first_step >= 1);
        ck_assert(touch.last_step <= STEPS && touch.hardest_impulse > 0.0);
    }
    ck_assert_uint_gt(got, 0);
    moreau_reply_free(reply);
}
END_TEST

// ---- snapshots

START_TEST(a_snapshot_that_was_carried_away_goes_on_with_the_same_bits) {
    step(CHANGED_AT);
    MoreauSnapshot snapshot;
    ASSERT_OK(moreau_snapshot_take(client, world, &snapshot));
    ck_assert_uint_eq(snapshot.step, CHANGED_AT);
    ck_assert_uint_eq(snapshot.hash, hash());
    uint8_t *data = malloc(snapshot.bytes);
    ASSERT_OK(moreau_snapshot_download(client, snapshot.id, data, snapshot.bytes));
    ASSERT_OK(moreau_snapshot_drop(client, snapshot.id));
    step(STEPS);
    uint64_t expected = hash();

    uint64_t id;
    uint64_t restored_hash;
    ASSERT_OK(moreau_snapshot_upload(client, data, snapshot.bytes, &id));
    ASSERT_OK(moreau_snapshot_restore(client, world, id, &restored_hash, NULL));
    ck_assert_uint_eq(restored_hash, snapshot.hash);
    MoreauClone clone = moreau_clone_default();
    clone.snapshot = id;
    clone.count = 2;
    uint64_t clones[2];
    ASSERT_OK(moreau_snapshot_clone(client, &clone, clones));
    step(STEPS);
    ck_assert_uint_eq(hash(), expected);
    world = clones[1];
    step(STEPS);
    ck_assert_uint_eq(hash(), expected);

    // with one bit changed it is another state, or none
    data[snapshot.bytes / 2] ^= 1;
    MoreauStatus status = moreau_snapshot_upload(client, data, snapshot.bytes, &id);
    if (status == MOREAU_OK) {
        status = moreau_snapshot_restore(client, world, id, &restored_hash, NULL);
    }
    ck_assert(status != MOREAU_OK || restored_hash != snapshot.hash);
    free(data);
}
END_TEST

// The boxes on a thread that breaks and a hinge that turns by an effort, two worlds at once: what a
// step returns is what is read, and a frame has it, too.
START_TEST(joints_are_driven_and_read) {
    const uint64_t first = world;
    make_world();
    const uint64_t worlds[2] = {first, world}, hinge = 1;
    const uint32_t kinds[] = {MOREAU_HINGE, MOREAU_BALL}, as_rows[] = {0, 1}, share[] = {0, 1};
    const uint64_t of_b[] = {ids[1], ids[2]};
    const double break_force[] = {1e18, 1e-3}, effort = 0.5;
    for (int i = 0; i < 2; i++) {
        const MoreauJoints joints = {.count = 2,
                                     .axis_count = 4,
                                     .position_count = 5,
                                     .kind = kinds,
                                     .as_rows = as_rows,
                                     .body_b = of_b,
                                     .break_force = break_force};
        uint64_t added[2];
        ASSERT_OK(moreau_world_add_joints(client, worlds[i], &joints, added));
        ck_assert_uint_eq(added[0], hinge);
    }
    MoreauStep order = moreau_step_default();
    order.worlds = worlds, order.world_count = 2;
    order.joint_share = share;
    order.joints = &hinge, order.joint_count = 1;
    order.joint_effort = &effort, order.joint_axis_count = 1;
    order.joint_positions = order.joint_velocities = order.joint_wrenches = true;
    order.broken_joints = true;
    MoreauReply *reply, *got;
    MoreauStepResult result;
    MoreauJointNumbers numbers;
    ASSERT_OK(moreau_world_step(client, &order, &reply, &result));
    for (size_t i = 0; i < 2; i++) { // the threads broke in both
        ck_assert_uint_eq(result.broken_joints[i], 1);
        ck_assert_uint_eq(result.broken_count[i], 1);
        ck_assert_uint_eq(result.broken[i], 2);
        ck_assert_uint_eq(result.joint_count[i], 1);
        ASSERT_OK(moreau_world_get_joints(client, worlds[i], true, &got, &numbers));
        ck_assert_uint_eq(numbers.count, 1);
        ck_assert_uint_eq(numbers.removed, 1);
        ck_assert_double_eq(numbers.position[0], result.joint_position[i]);
        ck_assert_double_eq(numbers.velocity[0], result.joint_velocity[i]);
        ck_assert_double_eq(numbers.effort[0], i == 1 ? effort : 0.0);
        ck_assert_mem_eq(numbers.wrench, result.joint_wrench + 6 * i, 6 * sizeof(double));
        moreau_reply_free(got);
    }
    ck_assert(result.joint_velocity[1] > result.joint_velocity[0]);
    moreau_reply_free(reply);
}
END_TEST

static TCase *case_library(void) {
    TCase *tcase = tcase_create("libmoreau");
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_replay_shows_to_the_bit_what_was_seen, 0, 3);
    tcase_add_test(tcase, joints_are_driven_and_read);
    tcase_add_test(tcase, rays_are_cast_by_the_library);
    tcase_add_test(tcase, a_replay_ends_when_its_reader_has_enough);
    tcase_add_test(tcase, a_replay_goes_backward);
    tcase_add_test(tcase, an_episode_is_compared);
    tcase_add_test(tcase, touches_that_were_not_recorded_are_stepped_again);
    tcase_add_test(tcase, a_world_is_watched_while_it_runs);
    tcase_add_test(tcase, an_episode_is_verified_found_and_deleted);
    tcase_add_test(tcase, a_snapshot_that_was_carried_away_goes_on_with_the_same_bits);
    return tcase;
}

SUITE_MAIN("system/library", case_library)
