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

static uint64_t add_rope(uint64_t world, char *name) {
    Moreau__V1__Joint__Kind kind = MOREAU__V1__JOINT__KIND__DISTANCE;
    uint64_t b = 2;
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    joints.has_world = 1, joints.world = world;
    joints.n_kind = joints.n_body_b = joints.n_names = 1;
    joints.kind = &kind, joints.body_b = &b, joints.names = &name;
    return wire_accept(client, &joints)->world_add->ids[0];
}

// What a group sees of the joint that its channel names.
static const Moreau__V1__GroupColumns *see_joint(uint64_t world, char *name) {
    Moreau__V1__GroupChannel channel = MOREAU__V1__GROUP_CHANNEL__INIT, *one = &channel;
    channel.joint = name;
    Moreau__V1__GroupCreate create = MOREAU__V1__GROUP_CREATE__INIT;
    create.has_world = 1, create.world = world;
    create.n_action = create.n_observation = 1;
    create.action = create.observation = &one;
    return wire_accept(client, &create)->group_create->observation;
}

START_TEST(joints_of_one_world_may_share_a_name) {
    open_server();
    const uint64_t world = make_world(), rope = add_rope(world, (char *)"ball");
    ck_assert_uint_eq(rope, 3);
    const Moreau__V1__WorldAddJoints *made = get(world)->joint_definition;
    ck_assert_uint_eq(made->n_names, 3);
    ck_assert_str_eq(made->names[1], "ball");
    ck_assert_str_eq(made->names[2], "ball");
    const Moreau__V1__GroupColumns *seen = see_joint(world, (char *)"ball");
    ck_assert_uint_eq(seen->n_name, 3); // of the first, not of the rope
    Moreau__V1__WorldScene call = MOREAU__V1__WORLD_SCENE__INIT;
    call.has_world = 1, call.world = world;
    Moreau__V1__Scene *scene = wire_accept(client, &call)->world_scene->scene;
    ck_assert_str_eq(scene->joints[1]->name, "ball");
    ck_assert_str_eq(scene->joints[2]->name, "joint-2");
    memcpy(scene->joints[2]->name, "ball", 5); // in a scene they may not
    Moreau__V1__WorldCreate again = MOREAU__V1__WORLD_CREATE__INIT;
    again.scene = scene;
    wire_refuse(client, &again, MOREAU__V1__STATUS__CODE__ALREADY_EXISTS, "scene.joints[2].name");
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

static Moreau__V1__WorldStep all_columns(uint64_t *worlds, uint64_t steps) {
    Moreau__V1__WorldStep step = wire_step_call(worlds, steps);
    step.has_joint_positions = step.joint_positions = 1;
    step.has_joint_velocities = step.joint_velocities = 1;
    step.has_joint_wrenches = step.joint_wrenches = 1;
    step.has_broken_joints = step.broken_joints = 1;
    return step;
}

// Eight worlds with efforts of their own, and what each comes to, in one reply as in eight.
START_TEST(a_batch_brings_the_columns_of_its_worlds) {
    enum { WORLDS = 8, JOINTS = 2, POSITIONS = 5, AXES = 4 };
    open_server();
    uint64_t worlds[WORLDS], joints[WORLDS];
    double effort[WORLDS];
    uint32_t counts[WORLDS];
    for (size_t i = 0; i < WORLDS; i++) {
        worlds[i] = make_world();
        joints[i] = 1, counts[i] = 1, effort[i] = (double)i - 3.0;
    }
    Moreau__V1__WorldStep step = all_columns(worlds, 20);
    step.n_worlds = WORLDS;
    step.n_joint_count = WORLDS, step.joint_count = counts;
    step.n_joints = WORLDS, step.joints = joints;
    step.n_joint_effort = WORLDS, step.joint_effort = effort;
    const Moreau__V1__WorldStepReply *reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->n_failures, 0);
    ck_assert_uint_eq(reply->n_joint_count, WORLDS);
    ck_assert_uint_eq(reply->n_joint_position, (size_t)WORLDS * POSITIONS);
    ck_assert_uint_eq(reply->n_joint_velocity, (size_t)WORLDS * AXES);
    ck_assert_uint_eq(reply->n_joint_wrench, (size_t)WORLDS * JOINTS * 6);
    ck_assert_uint_eq(reply->n_broken, 0);
    for (size_t i = 0; i < WORLDS; i++) {
        const Moreau__V1__WorldGetReply *got = get(worlds[i]);
        ck_assert_uint_eq(reply->joint_count[i], JOINTS);
        ck_assert_uint_eq(reply->joint_axis_count[i], AXES);
        ck_assert_uint_eq(reply->joint_position_count[i], POSITIONS);
        ck_assert_mem_eq(reply->joint_position + POSITIONS * i, got->joint_position,
                         POSITIONS * sizeof(double));
        ck_assert_mem_eq(reply->joint_velocity + AXES * i, got->joint_velocity,
                         AXES * sizeof(double));
        // the hinge turns about z by its effort alone
        ck_assert_double_eq_tol(reply->joint_wrench[6 * (JOINTS * i) + 5], effort[i], 1e-9);
    }
    step.has_single = step.single = 1;
    step.n_joint_count = step.n_joints = step.n_joint_effort = 0;
    reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->n_joint_position_single, (size_t)WORLDS * POSITIONS);
    ck_assert_uint_eq(reply->n_joint_position, 0);
    ck_assert_float_eq(reply->joint_velocity_single[AXES],
                       (float)get(worlds[1])->joint_velocity[0]);
    close_server();
}
END_TEST

// What is added by calls that the step was sent behind of is in its reply.
START_TEST(joints_of_calls_on_their_way_are_counted) {
    enum { MORE = 300 };
    server = server_start("--workers 2 --frame-bytes-max 16384");
    client = wire_open(server->address[0]);
    uint64_t worlds[2] = {make_world(), make_world()}, a[MORE], b[MORE];
    Moreau__V1__Joint__Kind kinds[MORE];
    protobuf_c_boolean as_rows[MORE];
    for (int i = 0; i < MORE; i++) {
        a[i] = 1, b[i] = 2, kinds[i] = MOREAU__V1__JOINT__KIND__BALL, as_rows[i] = 1;
    }
    Moreau__V1__WorldAddJoints add = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    add.has_world = 1, add.world = worlds[0];
    add.n_kind = add.n_body_a = add.n_body_b = add.n_as_rows = MORE;
    add.kind = kinds, add.body_a = a, add.body_b = b, add.as_rows = as_rows;
    Moreau__V1__WorldStep step = all_columns(worlds, 1);
    step.n_worlds = 2;
    wire_submit(client, &add);
    wire_submit(client, &step);
    wire_expect(wire_receive(client), MOREAU__V1__STATUS__CODE__OK, NULL);
    // 4 positions, 3 rates and 6 numbers of a wrench each are 31 kB
    wire_expect(wire_receive(client), MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, NULL);
    ck_assert_uint_eq(wire_step_count(client, worlds[0]), 0);
    step.has_joint_wrenches = step.joint_wrenches = step.joint_positions = 0;
    const Moreau__V1__WorldStepReply *reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->joint_count[0], MORE + 2);
    ck_assert_uint_eq(reply->joint_count[1], 2);
    close_server();
}
END_TEST

static void submit_get(uint64_t world, Moreau__V1__WorldGet *call) {
    *call = (Moreau__V1__WorldGet)MOREAU__V1__WORLD_GET__INIT;
    call->has_world = 1, call->world = world;
    call->has_joints = call->joints = 1;
    call->has_joint_wrenches = call->joint_wrenches = 1;
}

START_TEST(wrenches_are_of_the_last_step_alone) {
    open_server();
    uint64_t world = make_world(), joint = 1;
    Moreau__V1__WorldGet call;
    submit_get(world, &call);
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, "joint_wrenches");
    double effort = 2.5;
    Moreau__V1__WorldStep step = all_columns(&world, 3);
    step.n_joints = 1, step.joints = &joint;
    step.n_joint_effort = 1, step.joint_effort = &effort;
    double wrench[12];
    const Moreau__V1__WorldStepReply *stepped = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(stepped->n_joint_wrench, 12);
    memcpy(wrench, stepped->joint_wrench, sizeof(wrench));
    const Moreau__V1__WorldGetReply *got = wire_accept(client, &call)->world_get;
    ck_assert_uint_eq(got->n_joint_wrench, 12);
    ck_assert_mem_eq(got->joint_wrench, wrench, sizeof(wrench));
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    set.n_joints = 1, set.joints = &joint;
    set.n_joint_effort = 1, set.joint_effort = &effort;
    wire_accept(client, &set);
    wire_refuse(client, &call, MOREAU__V1__STATUS__CODE__FAILED_PRECONDITION, "joint_wrenches");
    close_server();
}
END_TEST

// The second body of `make_world` hangs on a fixed joint of rows, too, that bears 5 N.
static uint64_t hang_to_break(uint64_t world, double break_force) {
    Moreau__V1__Joint__Kind kind = MOREAU__V1__JOINT__KIND__FIXED;
    protobuf_c_boolean as_rows = 1;
    uint64_t b = 2;
    double frame_a[7] = {1, 0, 0, 1, 0, 0, 0}, frame_b[7] = {0, 0, 0, 1, 0, 0, 0};
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    joints.has_world = 1, joints.world = world;
    joints.n_kind = 1, joints.kind = &kind;
    joints.n_body_b = 1, joints.body_b = &b;
    joints.n_frame_a = 7, joints.frame_a = frame_a;
    joints.n_frame_b = 7, joints.frame_b = frame_b;
    joints.n_as_rows = 1, joints.as_rows = &as_rows;
    joints.n_break_force = 1, joints.break_force = &break_force;
    return wire_accept(client, &joints)->world_add->ids[0];
}

START_TEST(what_breaks_is_told_and_gone) {
    open_server();
    uint64_t worlds[2] = {make_world(), make_world()}, body = 2;
    const uint64_t weak = hang_to_break(worlds[1], 5.0);
    hang_to_break(worlds[0], 1e18);
    double push[6] = {0, 4.0, 0, 0, 0, 0};
    uint32_t wrenches[2] = {0, 1};
    Moreau__V1__WorldStep step = all_columns(worlds, 3);
    step.n_worlds = 2;
    step.n_wrench_count = 2, step.wrench_count = wrenches;
    step.n_wrench_body = 1, step.wrench_body = &body;
    step.n_wrench = 6, step.wrench = push;
    const Moreau__V1__WorldStepReply *reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->n_broken_count, 0);
    ck_assert_uint_eq(reply->reports->n_broken_joints, 0);
    ck_assert_uint_eq(reply->joint_count[1], 3);
    ck_assert_double_eq_tol(reply->joint_wrench[6 * 5 + 1], -4.0, 1e-6); // it holds against it
    push[1] = 6.0;
    reply = wire_accept(client, &step)->world_step;
    ck_assert_uint_eq(reply->n_broken_count, 2);
    ck_assert_uint_eq(reply->broken_count[0], 0);
    ck_assert_uint_eq(reply->broken_count[1], 1);
    ck_assert_uint_eq(reply->broken[0], weak);
    ck_assert_uint_eq(reply->reports->broken_joints[1], 1);
    ck_assert_uint_eq(reply->joint_count[0], 3);
    ck_assert_uint_eq(reply->joint_count[1], 2);
    ck_assert_uint_eq(reply->n_joint_wrench, 30); // of five joints
    const Moreau__V1__WorldGetReply *got = get(worlds[1]);
    ck_assert_uint_eq(got->n_joints, 2);
    ck_assert_uint_eq(got->joints_removed, 1);
    ck_assert_double_gt(got->velocity[7], 0.0);
    reply = wire_accept(client, &step)->world_step; // and is told once
    ck_assert_uint_eq(reply->n_broken_count, 0);
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
    tcase_add_test(tcase, joints_of_one_world_may_share_a_name);
    tcase_add_test(tcase, efforts_of_many_worlds_come_with_a_step);
    tcase_add_test(tcase, a_batch_brings_the_columns_of_its_worlds);
    tcase_add_test(tcase, joints_of_calls_on_their_way_are_counted);
    tcase_add_test(tcase, wrenches_are_of_the_last_step_alone);
    tcase_add_test(tcase, what_breaks_is_told_and_gone);
    tcase_add_test(tcase, a_step_with_wrong_joints_names_them);
    tcase_add_test(tcase, a_body_that_hangs_by_a_joint_is_refused_by_that_joint);
    return tcase;
}

SUITE_MAIN("system/joints", case_joints)
