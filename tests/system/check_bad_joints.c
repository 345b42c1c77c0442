// SPDX-License-Identifier: MIT
// Joints that cannot be, over real sockets, as a table: each is refused with the name of the field
// that is wrong and words that say why, and the world is what it was, by its hash.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name)  MOREAU__V1__STATUS__CODE__##name
#define JOINT(name) MOREAU__V1__JOINT__KIND__##name

static ServerProcess *server;
static WireClient *client;
static uint64_t world;

enum { GROUND = 1, ARM = 2, HAND = 3, BALL = 4, WALL = 5, NOBODY = 77 };

static void add_bodies(size_t count, const Moreau__V1__Body__Kind *kinds) {
    double *pose = calloc(count, 7 * sizeof(double)), *mass = malloc(count * sizeof(double)),
           *inertia = calloc(count, 6 * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        pose[7 * i] = (double)i;
        pose[7 * i + 3] = mass[i] = inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    Moreau__V1__WorldAddBodies bodies = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    bodies.has_world = 1, bodies.world = world;
    bodies.n_pose = 7 * count, bodies.pose = pose;
    bodies.n_mass = count, bodies.mass = mass;
    bodies.n_inertia = 6 * count, bodies.inertia = inertia;
    bodies.n_kind = kinds == NULL ? 0 : count;
    bodies.kind = (Moreau__V1__Body__Kind *)kinds;
    wire_accept(client, &bodies);
    free(pose);
    free(mass);
    free(inertia);
}

static Moreau__V1__WorldAddJoints one_joint(Moreau__V1__Joint__Kind *kind, uint64_t *a,
                                            uint64_t *b) {
    Moreau__V1__WorldAddJoints joints = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    joints.has_world = 1, joints.world = world;
    joints.n_kind = 1, joints.kind = kind;
    joints.n_body_a = 1, joints.body_a = a;
    joints.n_body_b = 1, joints.body_b = b;
    return joints;
}

// A hand on an arm on the ground, a ball that is free, and a wall.
static void start(void) {
    static const Moreau__V1__Body__Kind kinds[] = {
        MOREAU__V1__BODY__KIND__STATIC, MOREAU__V1__BODY__KIND__DYNAMIC,
        MOREAU__V1__BODY__KIND__DYNAMIC, MOREAU__V1__BODY__KIND__DYNAMIC,
        MOREAU__V1__BODY__KIND__STATIC};
    server = server_start("--workers 1");
    client = wire_open(server->address[0]);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    world = wire_accept(client, &create)->world_create->world;
    add_bodies(sizeof(kinds) / sizeof(kinds[0]), kinds);
    for (uint64_t b = ARM; b <= HAND; b++) {
        Moreau__V1__Joint__Kind kind = JOINT(HINGE);
        uint64_t a = b - 1;
        char *name = (char *)(b == ARM ? "shoulder" : "wrist");
        Moreau__V1__WorldAddJoints joint = one_joint(&kind, &a, &b);
        joint.n_names = 1, joint.names = &name;
        wire_accept(client, &joint);
    }
}

static void stop(void) {
    wire_close(client);
    server_stop(server);
}

// The call is refused, and nothing has changed.
static void expect_refused(const char *what, const void *call, Moreau__V1__Status__Code code,
                           const char *field, const char *words) {
    const uint64_t hash = wire_hash(client, world);
    const Moreau__V1__Status *status = wire_call(client, call)->status;
    ck_assert_msg(status->code == code && strcmp(status->field, field) == 0 &&
                      strstr(status->message, words) != NULL,
                  "%s: %d, %s: %s", what, (int)status->code, status->field, status->message);
    ck_assert_uint_eq(wire_hash(client, world), hash);
}

// ---- joints that are added

// A column of doubles with one number, beside those of a hinge from the hand to the ball.
#define IN(name)                                                                                   \
    offsetof(Moreau__V1__WorldAddJoints, n_##name), offsetof(Moreau__V1__WorldAddJoints, name)

typedef struct BadNumber {
    const char *what;
    size_t count, numbers; // where the column is
    double value;
    const char *field, *words;
    Moreau__V1__Joint__Kind kind;
} BadNumber;

static const BadNumber numbers[] = {
    {"a negative armature", IN(armature), -1.0, "armature[0]", "-1", JOINT(HINGE)},
    {"a spring of 1e300", IN(stiffness), 1e300, "stiffness[0]", "1e+18", JOINT(HINGE)},
    {"a damper of 1e300", IN(damping), 1e300, "damping[0]", "1e+18", JOINT(HINGE)},
    {"a gain of 1e300", IN(drive_stiffness), 1e300, "drive_stiffness[0]", "1e+18", JOINT(HINGE)},
    {"a rate gain of 1e300", IN(drive_damping), 1e300, "drive_damping[0]", "1e+18", JOINT(HINGE)},
    {"a negative gain", IN(drive_stiffness), -1.0, "drive_stiffness[0]", "-1", JOINT(HINGE)},
    {"a negative friction", IN(friction), -1.0, "friction[0]", "-1", JOINT(HINGE)},
    {"a negative effort", IN(effort_max), -1.0, "effort_max[0]", "-1", JOINT(HINGE)},
    {"a motor that pulls back", IN(stall_effort), -1.0, "stall_effort[0]", "-1", JOINT(HINGE)},
    {"a speed of no motor", IN(no_load_speed), 1.0, "no_load_speed[0]", "stall", JOINT(HINGE)},
    {"a lag before the command", IN(lag_time), -1.0, "lag_time[0]", "-1", JOINT(HINGE)},
    {"half a step's delay", IN(delay_steps), 0.5, "delay_steps[0]", "whole", JOINT(HINGE)},
    {"a delay of a day", IN(delay_steps), 1e9, "delay_steps[0]", "1000", JOINT(HINGE)},
    {"a limit of NaN", IN(low), NAN, "low[0]", "finite", JOINT(HINGE)},
    {"a target of NaN", IN(target), NAN, "target[0]", "finite", JOINT(HINGE)},
    {"an effort beyond all motors", IN(effort), 1e300, "effort[0]", "1e+300", JOINT(HINGE)},
    {"a position of infinity", IN(position), INFINITY, "position[0]", "finite", JOINT(HINGE)},
    {"a length of zero", IN(length), 0.0, "length[0]", "0", JOINT(DISTANCE)},
    {"a force that breaks of zero", IN(break_force), 0.0, "break_force[0]", "0", JOINT(DISTANCE)},
};

START_TEST(numbers_are_named) {
    const BadNumber *bad = &numbers[_i];
    Moreau__V1__Joint__Kind kind = bad->kind;
    uint64_t a = HAND, b = BALL;
    double value = bad->value;
    Moreau__V1__WorldAddJoints joint = one_joint(&kind, &a, &b);
    *(size_t *)(void *)((char *)&joint + bad->count) = 1;
    *(double **)(void *)((char *)&joint + bad->numbers) = &value;
    expect_refused(bad->what, &joint, CODE(INVALID_ARGUMENT), bad->field, bad->words);
}
END_TEST

static const struct {
    const char *what;
    Moreau__V1__Joint__Kind kind;
    uint64_t a, b;
    protobuf_c_boolean as_rows;
    Moreau__V1__Status__Code code;
    const char *field, *words;
} pairs[] = {
    {"an unknown child", JOINT(HINGE), HAND, NOBODY, 0, CODE(NOT_FOUND), "body_b[0]", "77"},
    {"an unknown parent", JOINT(HINGE), NOBODY, BALL, 0, CODE(NOT_FOUND), "body_a[0]", "77"},
    {"no child", JOINT(HINGE), HAND, 0, 0, CODE(INVALID_ARGUMENT), "body_b[0]", "body b"},
    {"a body to itself", JOINT(HINGE), BALL, BALL, 0, CODE(INVALID_ARGUMENT), "body_b[0]", "one"},
    {"static to static", JOINT(HINGE), GROUND, WALL, 1, CODE(INVALID_ARGUMENT), "body_b[0]",
     "dynamic"},
    {"a static child", JOINT(HINGE), BALL, WALL, 0, CODE(INVALID_ARGUMENT), "body_b[0]", "dynamic"},
    {"a child of two", JOINT(HINGE), BALL, HAND, 0, CODE(INVALID_ARGUMENT), "body_b[0]", "loop"},
    {"a loop", JOINT(HINGE), HAND, ARM, 0, CODE(INVALID_ARGUMENT), "body_b[0]", "loop"},
    {"a gear of bodies", JOINT(GEAR), HAND, BALL, 1, CODE(INVALID_ARGUMENT), "body_a[0]",
     "couples"},
    {"a gear of nothing", JOINT(GEAR), 0, 0, 1, CODE(NOT_FOUND), "joint_a[0]", "joint"},
    {"a tendon of bodies", JOINT(TENDON), HAND, BALL, 1, CODE(INVALID_ARGUMENT), "body_a[0]",
     "couples joints"},
    {"an unknown kind", (Moreau__V1__Joint__Kind)10, HAND, BALL, 0, CODE(INVALID_ARGUMENT),
     "kind[0]", "enum"},
};

START_TEST(pairs_are_named) {
    Moreau__V1__Joint__Kind kind = pairs[_i].kind;
    uint64_t a = pairs[_i].a, b = pairs[_i].b;
    protobuf_c_boolean as_rows = pairs[_i].as_rows;
    Moreau__V1__WorldAddJoints joint = one_joint(&kind, &a, &b);
    joint.n_as_rows = 1, joint.as_rows = &as_rows;
    expect_refused(pairs[_i].what, &joint, pairs[_i].code, pairs[_i].field, pairs[_i].words);
}
END_TEST

START_TEST(frames_limits_and_columns_are_named) {
    Moreau__V1__Joint__Kind kind = JOINT(HINGE);
    uint64_t a = HAND, b = BALL;
    double low = 1.0, high = -1.0, frame[7] = {0}, two[2] = {0, 0};
    Moreau__V1__WorldAddJoints joint = one_joint(&kind, &a, &b);
    joint.n_low = joint.n_high = 1, joint.low = &low, joint.high = &high;
    expect_refused("low above high", &joint, CODE(INVALID_ARGUMENT), "low[0]", "upper");
    joint = one_joint(&kind, &a, &b);
    joint.n_frame_a = 7, joint.frame_a = frame;
    expect_refused("axes of no length", &joint, CODE(INVALID_ARGUMENT), "frame_a[3]", "zero");
    joint = one_joint(&kind, &a, &b);
    joint.n_armature = 2, joint.armature = two;
    expect_refused("two numbers of one axis", &joint, CODE(INVALID_ARGUMENT), "armature",
                   "one per free axis");
}
END_TEST

// ---- what is too large

// Chains are limited in their depth, whatever their joints; trees in their velocities.
START_TEST(what_is_too_large_names_its_limit) {
    enum { DEEP = 2049, WIDE = 683 }; // 683 free joints have 4,098 velocities
    static Moreau__V1__Joint__Kind kind[DEEP];
    static uint64_t a[DEEP], b[DEEP];
    add_bodies(DEEP, NULL);
    for (size_t i = 0; i < DEEP; i++) {
        kind[i] = JOINT(FIXED);
        a[i] = i == 0 ? GROUND : WALL + i;
        b[i] = WALL + 1 + i;
    }
    Moreau__V1__WorldAddJoints joints = one_joint(kind, a, b);
    joints.n_kind = joints.n_body_a = joints.n_body_b = DEEP;
    expect_refused("too deep", &joints, CODE(RESOURCE_EXHAUSTED), "body_b[2048]", "TREE_DEPTH_MAX");
    for (size_t i = 0; i < WIDE; i++) {
        kind[i] = JOINT(FREE);
        a[i] = BALL;
        b[i] = WALL + 1 + i;
    }
    joints.n_kind = joints.n_body_a = joints.n_body_b = WIDE;
    const uint64_t hash = wire_hash(client, world);
    const Moreau__V1__Status *status = wire_call(client, &joints)->status;
    ck_assert_int_eq(status->code, CODE(RESOURCE_EXHAUSTED));
    ck_assert_ptr_nonnull(strstr(status->message, "TREE_WIDTH_MAX"));
    ck_assert_int_eq(strncmp(status->field, "body_b", 6), 0);
    ck_assert_uint_eq(wire_hash(client, world), hash);
}
END_TEST

// ---- what is set and removed

static Moreau__V1__WorldSet set_call(void) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1, set.world = world;
    return set;
}

START_TEST(a_body_that_hangs_is_refused_with_the_column_that_sets_it) {
    uint64_t id = HAND;
    double pose[7] = {5, 0, 0, 1, 0, 0, 0}, velocity[6] = {1, 0, 0, 0, 0, 0};
    Moreau__V1__WorldSet set = set_call();
    set.n_ids = 1, set.ids = &id;
    set.n_pose = 7, set.pose = pose;
    expect_refused("a pose", &set, CODE(INVALID_ARGUMENT), "ids[0]", "joint_position");
    expect_refused("whose", &set, CODE(INVALID_ARGUMENT), "ids[0]", "joint 2 (wrist)");
    set.n_pose = 0;
    set.n_velocity = 6, set.velocity = velocity;
    expect_refused("a velocity", &set, CODE(INVALID_ARGUMENT), "ids[0]", "joint_velocity");
    id = BALL;
    wire_accept(client, &set);
}
END_TEST

START_TEST(what_joints_are_set_to_is_named) {
    uint64_t id = 1;
    double nan = NAN, huge = 1e300;
    Moreau__V1__WorldSet set = set_call();
    set.n_joints = 1, set.joints = &id;
    set.n_joint_target = 1, set.joint_target = &nan;
    expect_refused("a target", &set, CODE(INVALID_ARGUMENT), "joint_target[0]", "finite");
    set.joint_target = &huge;
    expect_refused("a far target", &set, CODE(INVALID_ARGUMENT), "joint_target[0]", "1e+300");
    set.n_joint_target = 0;
    set.n_joint_effort = 1, set.joint_effort = &huge;
    expect_refused("an effort", &set, CODE(INVALID_ARGUMENT), "joint_effort[0]", "1e+300");
    // numbers of joints that are not named, on axes and as positions
    double one = 1.0;
    Moreau__V1__WorldSet nameless = set_call();
    nameless.n_joint_position = 1, nameless.joint_position = &one;
    expect_refused("a position of no joint", &nameless, CODE(INVALID_ARGUMENT), "joints", "Name");
    nameless.n_joint_position = 0;
    nameless.n_joint_velocity = 1, nameless.joint_velocity = &one;
    expect_refused("a rate of no joint", &nameless, CODE(INVALID_ARGUMENT), "joints", "Name");
    id = NOBODY;
    huge = 1.0;
    expect_refused("an unknown joint", &set, CODE(NOT_FOUND), "joints[0]", "77");
    id = 1;
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    step.n_joints = 1, step.joints = &id;
    step.n_joint_target = 1, step.joint_target = &nan;
    expect_refused("a step's target", &step, CODE(INVALID_ARGUMENT), "joint_target[0]", "finite");
    huge = 1e300;
    step.joint_target = &huge;
    expect_refused("a step's far target", &step, CODE(INVALID_ARGUMENT), "joint_target[0]",
                   "1e+300");
}
END_TEST

START_TEST(what_a_joint_holds_stays) {
    uint64_t body = ARM, joint = NOBODY;
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    remove.has_world = 1, remove.world = world;
    remove.n_bodies = 1, remove.bodies = &body;
    expect_refused("a body that is held", &remove, CODE(FAILED_PRECONDITION), "bodies[0]",
                   "Joint 1 holds");
    remove.n_bodies = 0;
    remove.n_joints = 1, remove.joints = &joint;
    expect_refused("an unknown joint", &remove, CODE(NOT_FOUND), "joints[0]", "77");
}
END_TEST

// In a scene the axis is a vector, which has a direction.
START_TEST(an_axis_of_no_length_is_named) {
    Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT;
    Moreau__V1__SceneJoint joint = MOREAU__V1__SCENE_JOINT__INIT;
    Moreau__V1__SceneBody *bodies[] = {&body};
    Moreau__V1__SceneJoint *joints[] = {&joint};
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    double inertia[6] = {1, 1, 1, 0, 0, 0}, axis[3] = {0, 0, 0};
    body.name = (char *)"bob";
    body.has_mass = 1, body.mass = 1.0;
    body.n_inertia = 6, body.inertia = inertia;
    joint.body_b = (char *)"bob";
    joint.n_axis = 3, joint.axis = axis;
    scene.n_bodies = 1, scene.bodies = bodies;
    scene.n_joints = 1, scene.joints = joints;
    create.scene = &scene;
    expect_refused("a zero axis", &create, CODE(INVALID_ARGUMENT), "scene.joints[0].axis",
                   "somewhere");
}
END_TEST

static TCase *case_bad(void) {
    TCase *tcase = tcase_create("bad");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    tcase_add_loop_test(tcase, numbers_are_named, 0, sizeof(numbers) / sizeof(numbers[0]));
    tcase_add_loop_test(tcase, pairs_are_named, 0, sizeof(pairs) / sizeof(pairs[0]));
    tcase_add_test(tcase, frames_limits_and_columns_are_named);
    tcase_add_test(tcase, what_is_too_large_names_its_limit);
    tcase_add_test(tcase, a_body_that_hangs_is_refused_with_the_column_that_sets_it);
    tcase_add_test(tcase, what_joints_are_set_to_is_named);
    tcase_add_test(tcase, what_a_joint_holds_stays);
    tcase_add_test(tcase, an_axis_of_no_length_is_named);
    return tcase;
}

SUITE_MAIN("system/bad_joints", case_bad)
