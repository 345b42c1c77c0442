// SPDX-License-Identifier: MIT
// WorldRemove over sockets: between steps that are sent without waiting, while the world is
// recorded; what is gone is gone from every call, the others go on, and the recording verifies.
#include "support/suite.h"
#include "support/wire_episode.h"

#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { FALLING = 8 };

static WireDepot depot;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2");
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

// Bodies 1 (the ground) to 9, of shapes 1 to 3; joint 1 holds 8 to the world, 2 hangs 9 on it, 3 is
// of rows between 6 and 7.
static uint64_t make_world(void) {
    const uint64_t world =
        wire_world(depot.client, FALLING, 5, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__Joint__Kind kind[3] = {MOREAU__V1__JOINT__KIND__HINGE,
                                       MOREAU__V1__JOINT__KIND__HINGE,
                                       MOREAU__V1__JOINT__KIND__BALL};
    uint64_t a[3] = {0, 8, 6}, b[3] = {8, 9, 7};
    protobuf_c_boolean as_rows[3] = {0, 0, 1};
    double frame_a[21] = {0, 0, 3, 1, 0, 0, 0, 0.4, 0, 0, 1, 0, 0, 0, 0, 0, 0.3, 1, 0, 0, 0};
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    joints.has_world = 1, joints.world = world;
    joints.n_kind = 3, joints.kind = kind;
    joints.n_body_a = joints.n_body_b = 3, joints.body_a = a, joints.body_b = b;
    joints.n_as_rows = 3, joints.as_rows = as_rows;
    joints.n_frame_a = 21, joints.frame_a = frame_a;
    wire_accept(depot.client, &joints);
    return world;
}

// What to remove; the message borrows from here.
typedef struct Order {
    uint64_t bodies[4], joints[4], shapes[4];
    Moreau__V1__WorldRemove call;
} Order;

static void fill(Order *order, uint64_t world, size_t bodies, size_t joints, size_t shapes) {
    moreau__v1__world_remove__init(&order->call);
    order->call.has_world = 1, order->call.world = world;
    order->call.n_bodies = bodies, order->call.bodies = order->bodies;
    order->call.n_joints = joints, order->call.joints = order->joints;
    order->call.n_shapes = shapes, order->call.shapes = order->shapes;
}

static Moreau__V1__WorldGet get_call(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1, call.world = world;
    call.has_joints = call.joints = call.has_definition = call.definition = 1;
    return call;
}

static const Moreau__V1__Reply *expect_next(uint64_t id, Moreau__V1__Status__Code code) {
    const Moreau__V1__Reply *reply = wire_receive(depot.client);
    ck_assert_ptr_nonnull(reply);
    ck_assert_uint_eq(reply->id, id);
    wire_expect(reply, code, NULL);
    return reply;
}

START_TEST(what_is_removed_between_steps_is_gone_and_the_recording_verifies) {
    uint64_t world = make_world();
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    const WireEpisode episode = wire_record(depot.client, &start);
    Order body = {.bodies = {3}}, held = {.bodies = {8}},
          tree = {.bodies = {9, 8}, .joints = {2, 1}}, rows = {.joints = {3}};
    fill(&body, world, 1, 0, 0);
    fill(&held, world, 1, 0, 0);
    fill(&tree, world, 2, 2, 0);
    fill(&rows, world, 0, 1, 0);
    const Moreau__V1__WorldStep step = wire_step_call(&world, 20);
    const Moreau__V1__WorldGet get = get_call(world);
    // all at once, and the answers in the same order
    const void *const calls[] = {&step, &body.call, &step, &held.call, &tree.call,
                                 &step, &rows.call, &get,  &step};
    enum { CALLS = sizeof(calls) / sizeof(calls[0]) };
    uint64_t id[CALLS];
    for (int i = 0; i < CALLS; i++) {
        id[i] = wire_submit(depot.client, calls[i]);
    }
    for (int i = 0; i < CALLS; i++) {
        const bool is_refused = calls[i] == &held.call;
        const Moreau__V1__Reply *reply =
            expect_next(id[i], is_refused ? CODE(FAILED_PRECONDITION) : CODE(OK));
        if (calls[i] == &get) {
            const Moreau__V1__WorldGetReply *got = reply->world_get;
            ck_assert_uint_eq(got->step, 60);
            ck_assert_uint_eq(got->total, FALLING + 1 - 3);
            ck_assert_uint_eq(got->removed, 3);
            ck_assert_uint_eq(got->n_joints, 0);
            ck_assert_uint_eq(got->ids[2], 4); // 3 is gone
        }
        if (calls[i] == &step) {
            ck_assert_uint_eq(reply->world_step->n_failures, 0);
            ck_assert_uint_eq(reply->world_step->steps_done[0], 20);
        }
    }
    wire_stop_recording(depot.client, world);
    wire_expect_verified(depot.client, episode.id, 80);
}
END_TEST

// Shapes go when nobody has them any more, or with the last who has; an id that is gone is refused.
START_TEST(shapes_go_with_the_last_body_that_has_them) {
    uint64_t world = make_world();
    const Moreau__V1__WorldGet get = get_call(world);
    const Moreau__V1__WorldGetReply *got = wire_accept(depot.client, &get)->world_get;
    Order order = {.shapes = {3}};
    size_t count = 0;
    for (size_t i = 0; i < got->n_ids; i++) {
        if (got->shape[i] == 3 && got->ids[i] < 6) { // what no joint holds
            order.bodies[count++] = got->ids[i];
        }
    }
    ck_assert_uint_gt(count, 0);
    fill(&order, world, count, 0, 1);
    wire_refuse(depot.client, &order.call, CODE(FAILED_PRECONDITION), "shapes[0]");
    // with the others that have it, and their joints
    uint64_t all[FALLING];
    size_t all_count = 0;
    for (size_t i = 0; i < got->n_ids; i++) {
        if (got->shape[i] == 3) {
            all[all_count++] = got->ids[i];
        }
    }
    order.joints[0] = 1, order.joints[1] = 2, order.joints[2] = 3;
    fill(&order, world, count, 3, 1);
    order.call.n_bodies = all_count, order.call.bodies = all;
    wire_accept(depot.client, &order.call);
    wire_refuse(depot.client, &order.call, CODE(NOT_FOUND), "bodies[0]");
    double pose[7] = {0, 0, 5, 1, 0, 0, 0};
    uint64_t gone[1] = {3};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7, add.pose = pose;
    add.n_shape = 1, add.shape = gone;
    wire_refuse(depot.client, &add, CODE(NOT_FOUND), "shape[0]");
    wire_step(depot.client, world, 10);
}
END_TEST

static TCase *case_remove(void) {
    TCase *tcase = tcase_create("remove");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, what_is_removed_between_steps_is_gone_and_the_recording_verifies);
    tcase_add_test(tcase, shapes_go_with_the_last_body_that_has_them);
    return tcase;
}

SUITE_MAIN("system/remove", case_remove)
