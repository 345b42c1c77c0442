// SPDX-License-Identifier: MIT
// Joints over the wire: added as columns, read, set, driven from step to step in many worlds at
// once, and refused by the names of what is wrong.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <math.h>
#include <string.h>

static ServerProcess *server;
static WireClient *client;

static void open_server(void) {
    server = server_start("--workers 2");
    client = wire_open(server->address[0]);
}

static void close_server(void) {
    wire_close(client);
    server_stop(server);
}

// A world without gravity and with two bodies of 1 kg m^2; the first turns on a hinge, the second
// on a ball at the first.
static uint64_t make_world(void) {
    Moreau__V1__WorldSettings settings = MOREAU__V1__WORLD_SETTINGS__INIT;
    double gravity[3] = {0, 0, 0};
    settings.n_gravity = 3, settings.gravity = gravity;
    settings.has_time_step = 1, settings.time_step = 0.01;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.settings = &settings;
    const uint64_t world = wire_accept(client, &create)->world_create->world;
    double pose[14] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, mass[2] = {1, 1},
           inertia[12] = {1, 1, 1, 0, 0, 0, 1, 1, 1, 0, 0, 0};
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_pose = 14, bodies.pose = pose;
    bodies.n_mass = 2, bodies.mass = mass;
    bodies.n_inertia = 12, bodies.inertia = inertia;
    wire_accept(client, &bodies);
    Moreau__V1__Joint__Kind kinds[2] = {MOREAU__V1__JOINT__KIND__HINGE,
                                        MOREAU__V1__JOINT__KIND__BALL};
    uint64_t a[2] = {0, 1}, b[2] = {1, 2};
    double frame_a[14] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0}, stiffness[4] = {0},
           low[4] = {-1e18, -1, -1, -1};
    char *names[2] = {"hinge", "ball"};
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    joints.has_world = 1, joints.world = world;
    joints.n_kind = 2, joints.kind = kinds;
    joints.n_body_a = joints.n_body_b = 2, joints.body_a = a, joints.body_b = b;
    joints.n_frame_a = 14, joints.frame_a = frame_a;
    joints.n_drive_stiffness = 4, joints.drive_stiffness = stiffness;
    joints.n_low = 4, joints.low = low;
    joints.n_names = 2, joints.names = names;
    const Moreau__V1__WorldAddReply *added = wire_accept(client, &joints)->world_add;
    ck_assert_uint_eq(added->n_ids, 2);
    ck_assert_uint_eq(added->ids[1], 2);
    return world;
}

static const Moreau__V1__WorldGetReply *get(uint64_t world) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1, call.world = world;
    call.has_joints = call.joints = 1;
    call.has_definition = call.definition = 1;
    return wire_accept(client, &call)->world_get;
}

START_TEST(joints_are_read_as_they_were_added) {
    open_server();
    const Moreau__V1__WorldGetReply *got = get(make_world());
    ck_assert_uint_eq(got->n_joints, 2);
    ck_assert_uint_eq(got->joint_axes[1], 7 << 3);
    ck_assert_uint_eq(got->n_joint_position, 5);
    ck_assert_uint_eq(got->n_joint_velocity, 4);
    ck_assert_double_eq(got->joint_position[1], 1.0);
    const Moreau__V1__WorldAddJoints *made = got->joint_definition;
    ck_assert_uint_eq(made->n_kind, 2);
    ck_assert_int_eq(made->kind[1], MOREAU__V1__JOINT__KIND__BALL);
    ck_assert_uint_eq(made->body_a[1], 1);
    ck_assert_double_eq(made->low[0], -1e18);
    ck_assert_double_eq(made->low[3], -1.0);
    ck_assert_double_eq(made->high[0], 1e18);
    ck_assert_double_eq(made->frame_a[7], 1.0);
    ck_assert_str_eq(made->names[1], "ball");
    close_server();
}
END_TEST

// Two worlds, whose hinges are pushed with different efforts: 2 kg m^2 about the hinge, and 1 kg at
// 1 m, which the ball takes along.
START_TEST(efforts_of_many_worlds_come_with_a_step) {
    open_server();
    uint64_t worlds[3] = {make_world(), make_world(), make_world()}, joints[2] = {1, 1};
    double effort[2] = {2.0, -4.0};
    uint32_t counts[3] = {1, 0, 1};
    Moreau__V1__WorldStep step = wire_step_call(worlds, 1);
    step.n_worlds = 3;
    step.n_joint_count = 3, step.joint_count = counts;
    step.n_joints = 2, step.joints = joints;
    step.n_joint_effort = 2, step.joint_effort = effort;
    ck_assert_uint_eq(wire_accept(client, &step)->world_step->n_failures, 0);
    // the ball leaves the second body's turn free: 1 kg m^2 of the first, 1 kg at 1 m
    ck_assert_double_eq_tol(get(worlds[0])->joint_velocity[0], 0.01 * 2.0 / 2.0, 1e-12);
    ck_assert_double_eq(get(worlds[1])->joint_velocity[0], 0.0);
    ck_assert_double_eq_tol(get(worlds[2])->joint_velocity[0], -0.01 * 4.0 / 2.0, 1e-12);
    ck_assert_double_eq(get(worlds[2])->joint_effort[0], -4.0); // it holds
    close_server();
}
END_TEST

// ---- what is wrong

START_TEST(a_step_with_wrong_joints_names_them) {
    open_server();
    uint64_t world = make_world(), joints[2] = {1, 9};
    double effort[2] = {1.0, 1e300}, three[3] = {1, 2, 3};
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.n_joints = 2, step.joints = joints;
    step.n_joint_effort = 3, step.joint_effort = three;
    wire_refuse(client, &step, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT, "joint_effort");
    step.n_joint_effort = 2, step.joint_effort = effort;
    wire_refuse(client, &step, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT, "joint_effort[1]");
    effort[1] = 1.0;
    const Moreau__V1__WorldStepReply *reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->n_failures, 1); // of the world: it has no joint 9
    ck_assert_int_eq(reply->failures[0]->code, MOREAU__V1__STATUS__CODE__NOT_FOUND);
    ck_assert_str_eq(reply->failures[0]->field, "joints[1]");
    ck_assert_uint_eq(reply->steps_done[0], 0);
    ck_assert_double_eq(get(world)->joint_effort[0], 0.0); // nothing changed
    close_server();
}
END_TEST

START_TEST(a_body_that_hangs_by_a_joint_is_refused_by_that_joint) {
    open_server();
    const uint64_t world = make_world();
    uint64_t id = 2;
    double pose[7] = {5, 0, 0, 1, 0, 0, 0}, position[1] = {0.5};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_ids = 1, set.ids = &id;
    set.n_pose = 7, set.pose = pose;
    wire_refuse(client, &set, MOREAU__V1__STATUS__CODE__INVALID_ARGUMENT, "ids[0]");
    set = (Moreau__V1__WorldSet)MOREAU__V1__WORLD_SET__INIT;
    id = 1;
    set.has_world = 1, set.world = world;
    set.n_joints = 1, set.joints = &id;
    set.n_joint_position = 1, set.joint_position = position;
    wire_accept(client, &set);
    ck_assert_double_eq_tol(get(world)->pose[7], cos(0.5), 1e-15); // it is carried along
    close_server();
}
END_TEST

static TCase *case_joints(void) {
    TCase *tcase = tcase_create("joints");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, joints_are_read_as_they_were_added);
    tcase_add_test(tcase, efforts_of_many_worlds_come_with_a_step);
    tcase_add_test(tcase, a_step_with_wrong_joints_names_them);
    tcase_add_test(tcase, a_body_that_hangs_by_a_joint_is_refused_by_that_joint);
    return tcase;
}

SUITE_MAIN("system/joints", case_joints)
