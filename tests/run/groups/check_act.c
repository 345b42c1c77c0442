// SPDX-License-Identifier: MIT
// What an action does to a group's world is what the inputs that it amounts to do to any world: the
// same bits, whoever sleeps, and whatever is driven twice.
#include "run/worlds/door.h"
#include "run/groups/act.h"
#include "run/groups/group_lab.h"
#include "step/snapshot/snapshot.h"
#include "world/sleep.h"

#include <math.h>

enum { CUBES = 3, STEPS = 120 };

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static Id find_body(const World *world, uint32_t body) {
    return world->body_id[body];
}

static void let_sleep(Lab *lab, double sleep_speed) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = sleep_speed;
    settings.sleep_time = 0.1;
    settings.margin = 0.001;
    world_set_settings(lab->world, &settings);
}

// Three cubes on the ground, the last joined to both others by hinges of rows: it is the second
// body of either. Behind them a mover, which a pendulum of coordinates hangs on.
static World *yard(double sleep_speed) {
    Lab lab = lab_create(9.81, 0.004);
    let_sleep(&lab, sleep_speed);
    lab_ground(&lab, 0);
    const Id cube = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), 0);
    for (int i = 0; i < CUBES; i++) {
        lab_body(&lab, cube, BODY_DYNAMIC, at(0.2 * i, 0.0, 0.05), NULL, 1.0, NULL);
    }
    lab_body(&lab, 0, BODY_KINEMATIC, at(0.0, 3.0, 3.0), NULL, 0.0, NULL);
    lab_body(&lab, cube, BODY_DYNAMIC, at(0.0, 3.0, 2.5), NULL, 1.0, NULL);
    const World *world = lab.world;
    const Id first = find_body(world, 1), last = find_body(world, CUBES);
    const double half = 0.70710678118654757; // z of the frames is y of the world
    const double frame_a[21] = {0.4,   0, 0, half, -half, 0, 0,    0.2,   0, 0, half,
                                -half, 0, 0, 0,    0,     0, half, -half, 0, 0};
    const double frame_b[21] = {0,     0, 0, half, -half, 0,   0,    0,     0, 0, half,
                                -half, 0, 0, 0,    0,     0.5, half, -half, 0, 0};
    const JointColumns joints = {
        .count = 3,
        .axis_count = 3,
        .position_count = 3,
        .kind = (const uint32_t[]){JOINT_HINGE, JOINT_HINGE, JOINT_HINGE},
        .body_a = (const uint64_t[]){first, find_body(world, 2), find_body(world, CUBES + 1)},
        .body_b = (const uint64_t[]){last, last, find_body(world, CUBES + 2)},
        .frame_a = frame_a,
        .frame_b = frame_b,
        .as_rows = (const uint32_t[]){1, 1, 0},
        .name = (const char *const[]){"far", "near", "swing"}};
    lab_joints(&lab, &joints);
    return take_world(&lab);
}

// The action in force, in the arena.
static GroupAct read_act(const GroupLab *lab, Arena *memory) {
    GroupAct act;
    Error error = {0};
    ck_assert_int_eq(group_act_open(&act, lab->group, memory, &error), STATUS_OK);
    group_act_read(&act, lab->group, &lab->group->world[0]);
    return act;
}

// The world as the inputs make it of the one before.
static uint64_t hash_at_door(const GroupLab *lab, GroupAct act, const uint8_t *before,
                             size_t bytes) {
    Arena memory, scratch;
    arena_init(&memory, (size_t)1 << 26);
    arena_init(&scratch, (size_t)1 << 26);
    Door door;
    Error error = {0};
    ck_assert_int_eq(door_init(&door, &lab->group->template->limits, &error), STATUS_OK);
    const Input restore = {.kind = INPUT_RESTORE,
                           .restore = {.snapshot = before, .snapshot_bytes = bytes}};
    ck_assert_int_eq(door_change(&door, &restore, &memory, NULL, NULL, &error), STATUS_OK);
    for (size_t i = 0; i < act.set_count; i++) {
        ck_assert_msg(door_change(&door, &act.set[i], &memory, NULL, NULL, &error) == STATUS_OK,
                      "%s: %s", error.field, error.message);
    }
    const Input order = {.kind = INPUT_STEP, .step = act.step};
    StepRun run = {.steps_left = 0};
    ck_assert_int_eq(door_step_begin(&door, &order, &memory, &run, &error), STATUS_OK);
    while (run.steps_left > 0) {
        ck_assert_int_eq(door_step(&door, &run, &scratch, UINT64_MAX, NULL, &error), STATUS_OK);
    }
    const uint64_t hash = snapshot_hash(door.world);
    door_deinit(&door);
    arena_deinit(&scratch);
    arena_deinit(&memory);
    return hash;
}

// One step of the group, which is one at the door.
static void step_both(GroupLab *lab, const double *action) {
    World *world = lab->group->world[0].world;
    Arena memory;
    uint8_t *before;
    size_t bytes;
    arena_init(&memory, (size_t)1 << 26);
    ck_assert_int_eq(snapshot_write(world, &memory, &before, &bytes, NULL), STATUS_OK);
    group_lab_step(lab, action);
    ck_assert(lab->call.row[0].ended == 0 && !lab->call.row[0].has_failed);
    const GroupAct act = read_act(lab, &memory); // no push is among them
    ck_assert_uint_eq(hash_at_door(lab, act, before, bytes), snapshot_hash(world));
    arena_deinit(&memory);
}

static GroupLab drive_world(const ChannelDef *action, size_t count, World *template) {
    static const ChannelDef what = {.kind = CHANNEL_TIME, .scale = 1.0};
    GroupDef def = group_def(1);
    def.action.count = count;
    def.action.channel = action;
    def.observation.count = 1;
    def.observation.channel = &what;
    GroupLab lab = group_lab_create(&def, template);
    group_lab_reset(&lab);
    return lab;
}

static GroupLab drive_yard(const ChannelDef *action, size_t count, double sleep_speed) {
    return drive_world(action, count, yard(sleep_speed));
}

// Of sleepers, too, whom each one wakes.
START_TEST(a_push_by_chance_is_a_wrench_of_the_step) {
    static const ChannelDef action = {.kind = CHANNEL_BODY_FORCE, .body = "#2", .scale = 1.0};
    static const ChannelDef what = {.kind = CHANNEL_TIME, .scale = 1.0};
    const PushDef push = {.body = "#3",
                          .probability = 0.02,
                          .steps = 3,
                          .axes = PUSH_AXES_ALL,
                          .force_high = 30.0,
                          .torque_high = 1.0};
    GroupDef def = group_def(1);
    def.action.count = def.observation.count = 1;
    def.action.channel = &action, def.observation.channel = &what;
    def.push = &push, def.push_count = 1;
    GroupLab lab = group_lab_create(&def, yard(_i == 0 ? 0.0 : 0.05));
    group_lab_reset(&lab);
    int pushed = 0, slept = 0;
    for (int i = 0; i < 3 * STEPS; i++) {
        World *world = lab.group->world[0].world;
        Arena memory;
        uint8_t *before;
        size_t bytes;
        arena_init(&memory, (size_t)1 << 26);
        ck_assert_int_eq(snapshot_write(world, &memory, &before, &bytes, NULL), STATUS_OK);
        const GroupAct act = read_act(&lab, &memory);
        ck_assert_uint_eq(act.step.wrench_count, 2);
        pushed += act.step.wrench[6] != 0.0;
        slept += world->sleep != NULL && world->sleep->asleep_count > 0;
        group_lab_step(&lab, (const double[]){0.0, 0.0, 0.0});
        ck_assert_uint_eq(hash_at_door(&lab, act, before, bytes), snapshot_hash(world));
        arena_deinit(&memory);
    }
    ck_assert_int_gt(pushed, 5);
    ck_assert(pushed < 3 * STEPS && (slept > 0) == (_i > 0));
    group_lab_destroy(&lab);
}
END_TEST

// Both hinges drive the last cube, whose number then stands twice among those that are roused.
START_TEST(a_body_of_two_driven_joints_is_roused_once) {
    const ChannelDef action[2] = {of_joint(CHANNEL_JOINT_EFFORT, "far"),
                                  of_joint(CHANNEL_JOINT_EFFORT, "near")};
    GroupLab lab = drive_yard(action, 2, _i == 0 ? 0.0 : 0.05);
    for (int i = 0; i < STEPS; i++) {
        step_both(&lab, (const double[]){0.1 * sin(i), -0.05 * (i % 3)});
    }
    group_lab_destroy(&lab);
}
END_TEST

// All has been at rest for a while, and what is driven with another number is not any more, on
// either side of its joint.
START_TEST(a_joint_rouses_both_of_its_bodies) {
    const ChannelDef action = of_joint(CHANNEL_JOINT_EFFORT, "far");
    GroupLab lab = drive_yard(&action, 1, 0.05);
    for (int i = 0; i < STEPS; i++) {
        step_both(&lab, (const double[]){i % 10 == 9 ? 1e-6 * i : 0.0});
    }
    group_lab_destroy(&lab);
}
END_TEST

// The mover goes on where it is told, with what hangs on it, also while the cubes sleep; a zero of
// its velocity has no sign.
START_TEST(a_mover_moves_as_a_set_moves_it) {
    ChannelDef action[2] = {{.kind = CHANNEL_BODY_SPIN, .scale = -1.0},
                            {.kind = CHANNEL_BODY_VELOCITY, .scale = 1.0, .offset = -0.0}};
    World *world = yard(0.05);
    action[0].body_id = action[1].body_id = find_body(world, CUBES + 1);
    world_destroy(world);
    GroupLab lab = drive_yard(action, 2, _i == 0 ? 0.0 : 0.05);
    for (int i = 0; i < STEPS; i++) {
        const double pace = i / 30 % 2 == 0 ? -0.0 : 0.2;
        step_both(&lab, (const double[]){0.0, pace, -0.0, pace, -0.0, -0.0});
    }
    group_lab_destroy(&lab);
}
END_TEST

// A cube on a platform, both at rest for long: the group is made of a world asleep. The platform
// goes off, and the cube with it, as soon as friction has brought it to that speed; and they stop.
// All the while it is what the sets make of it.
START_TEST(what_sleeps_on_a_mover_is_carried) {
    enum { FAST = 100, STILL = 100 };
    const double pace = 0.3; // reached in pace / (mu g) = 0.06 s, 15 steps
    Lab yard = lab_create(9.81, 0.004);
    let_sleep(&yard, 0.05);
    const Id rough = lab_material(&yard, 0.5, 0.0);
    const Id slab = lab_shape(&yard, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.05), rough);
    const Id cube = lab_shape(&yard, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), rough);
    const uint32_t base = lab_body(&yard, slab, BODY_KINEMATIC, at(0, 0, 0), NULL, 0.0, NULL);
    const uint32_t rider = lab_body(&yard, cube, BODY_DYNAMIC, at(0, 0, 0.1), NULL, 1.0, NULL);
    lab_step(&yard, 100);
    ck_assert(sleep_is_asleep(yard.world, rider));
    const ChannelDef action = {
        .kind = CHANNEL_BODY_VELOCITY, .body_id = yard.world->body_id[base], .scale = 1.0};
    GroupLab lab = drive_world(&action, 1, take_world(&yard));
    const World *world = lab.group->world[0].world;
    ck_assert(sleep_is_asleep(world, rider));
    for (int i = 0; i < FAST; i++) {
        step_both(&lab, (const double[3]){pace});
    }
    // what the solver leaves of a relative velocity: its tolerance, 1e-6 of what it solves for
    ck_assert_double_eq_tol(world->velocity[6 * (size_t)rider], pace, 1e-5);
    for (int i = 0; i < STILL; i++) {
        step_both(&lab, (const double[3]){0.0});
    }
    ck_assert_double_eq_tol(world->velocity[6 * (size_t)rider], 0.0, 1e-5);
    group_lab_reset(&lab); // where it was, and asleep
    ck_assert_uint_eq(snapshot_hash(lab.group->world[0].world), lab.group->template_hash);
    ck_assert(sleep_is_asleep(world, rider));
    group_lab_destroy(&lab);
}
END_TEST

// A world in motion, half of which sleeps, is a group's template: what moves goes on moving.
START_TEST(a_world_half_asleep_makes_a_group) {
    Lab yard = lab_create(9.81, 0.004);
    let_sleep(&yard, 0.05);
    lab_ground(&yard, 0);
    const Id cube = lab_shape(&yard, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), 0);
    const Id ball = lab_shape(&yard, PRIMITIVE_SPHERE, vec3(0.05, 0, 0), 0);
    const uint32_t sleeper = lab_body(&yard, cube, BODY_DYNAMIC, at(0, 0, 0.05), NULL, 1.0, NULL);
    const double rolling[6] = {-1.0, 0, 0, 0, -20.0, 0};
    // it comes in at step 100 and meets the cube a quarter of a second later
    const uint32_t roller =
        lab_body(&yard, ball, BODY_DYNAMIC, at(0.75, 0, 0.05), rolling, 1.0, NULL);
    lab_step(&yard, 100);
    ck_assert(sleep_is_asleep(yard.world, sleeper) && !sleep_is_asleep(yard.world, roller));
    const ChannelDef action = {
        .kind = CHANNEL_BODY_FORCE, .body_id = yard.world->body_id[roller], .scale = 1.0};
    GroupLab lab = drive_world(&action, 1, take_world(&yard));
    const World *world = lab.group->world[0].world;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 100; i++) {
            ck_assert(i > 0 || sleep_is_asleep(world, sleeper));
            step_both(&lab, (const double[3]){0.0, i % 2 == 0 ? 0.1 : -0.1, 0.0});
        }
        ck_assert(world->pose[7 * (size_t)sleeper] < -0.01); // it was hit
        group_lab_reset(&lab);
    }
    group_lab_destroy(&lab);
}
END_TEST

// A cube asleep on the ground is a template for worlds of other gravity, friction and mass: each
// begins awake, as it would after any such change, in every episode, and goes where its own says.
START_TEST(worlds_of_a_template_asleep_differ) {
    enum { WORLDS = 2, ROUNDS = 3, FALL = 50 };
    Lab yard = lab_create(9.81, 0.004);
    let_sleep(&yard, 0.05);
    lab_ground(&yard, 0);
    const Id shape = lab_shape(&yard, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), 0);
    const uint32_t cube = lab_body(&yard, shape, BODY_DYNAMIC, at(0, 0, 0.05), NULL, 1.0, NULL);
    lab_step(&yard, 100);
    ck_assert(sleep_is_asleep(yard.world, cube));
    const double gravity[3 * WORLDS] = {0.0, 0.0, -9.81, 0.0, 0.0, 2.0};
    const GroupParameterDef own = {
        .kind = GROUP_PARAMETER_GRAVITY, .count = 3 * WORLDS, .values = gravity};
    const ChannelDef action = {
        .kind = CHANNEL_BODY_FORCE, .body_id = yard.world->body_id[cube], .scale = 1.0};
    const ChannelDef what = {
        .kind = CHANNEL_BODY_VELOCITY, .body_id = yard.world->body_id[cube], .scale = 1.0};
    GroupDef def = group_def(WORLDS);
    def.action.count = def.observation.count = def.parameter_count = 1;
    def.action.channel = &action;
    def.observation.channel = &what;
    def.parameter = &own;
    GroupLab lab = group_lab_create(&def, take_world(&yard));
    for (int round = 0; round < ROUNDS; round++) {
        group_lab_reset(&lab);
        for (int i = 0; i < FALL; i++) {
            group_lab_step(&lab, (const double[3 * WORLDS]){0.0});
        }
        ck_assert_double_eq_tol(seen(&lab, 0)[2], 0.0, 1e-6);
        // sums of fifty equal parts of up to 0.4 m/s, once friction's tolerance has let go
        ck_assert_double_eq_tol(seen(&lab, 1)[2], 2.0 * FALL * 0.004, 1e-6);
    }
    group_lab_destroy(&lab);
}
END_TEST

static TCase *case_door(void) {
    TCase *tcase = tcase_create("door");
    tcase_add_loop_test(tcase, a_push_by_chance_is_a_wrench_of_the_step, 0, 2);
    tcase_add_loop_test(tcase, a_body_of_two_driven_joints_is_roused_once, 0, 2);
    tcase_add_test(tcase, a_joint_rouses_both_of_its_bodies);
    tcase_add_loop_test(tcase, a_mover_moves_as_a_set_moves_it, 0, 2);
    tcase_add_test(tcase, what_sleeps_on_a_mover_is_carried);
    tcase_add_test(tcase, a_world_half_asleep_makes_a_group);
    tcase_add_test(tcase, worlds_of_a_template_asleep_differ);
    return tcase;
}

SUITE_MAIN("run/group_act", case_door)
