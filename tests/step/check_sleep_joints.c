// SPDX-License-Identifier: MIT
// What joints hold asleep: a tree, or bodies joined by rows, sleeps and wakes as one, stays to the
// bit, costs nothing, wakes by what concerns it and by nothing else, and leaves the bounds as one.
#include "step/joints/wrenches.h"
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIME_STEP 0.004
enum { LINKS = 4, ASLEEP = 2 * LINKS, SETTLE_STEPS = 1500 };

static void let_sleep(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.2;
    settings.margin = 0.001;
    world_set_settings(lab->world, &settings);
}

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static uint32_t add_ball(Lab *lab, double x, double y, double z) {
    const Id ball = lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.05, 0, 0), 0);
    return lab_body(lab, ball, BODY_DYNAMIC, at(x, y, z), NULL, 1.0, NULL);
}

static uint32_t add_cube(Lab *lab, double x, double y, double z) {
    const Id cube = lab_shape(lab, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), 0);
    return lab_body(lab, cube, BODY_DYNAMIC, at(x, y, z), NULL, 1.0, NULL);
}

// A hinge about y between two bodies, its frames where b's `arm` above its centre is; a -1: world.
static uint32_t hinge(Lab *lab, int a, uint32_t b, double arm, bool as_rows, double damping) {
    const World *world = lab->world;
    const double *q = world->pose + 7 * (size_t)b;
    const double root = sqrt(0.5); // z of the frames is y of the world
    double frame_a[7] = {q[0], q[1], q[2] + arm, root, -root, 0, 0};
    const double frame_b[7] = {0, 0, arm, root, -root, 0, 0};
    for (int k = 0; a >= 0 && k < 3; k++) {
        frame_a[k] -= world->pose[7 * (size_t)a + (size_t)k];
    }
    const JointColumns columns = {.count = 1,
                                  .axis_count = 1,
                                  .position_count = 1,
                                  .kind = (const uint32_t[]){JOINT_HINGE},
                                  .body_a = (const uint64_t[]){a < 0 ? 0 : world->body_id[a]},
                                  .body_b = &world->body_id[b],
                                  .frame_a = frame_a,
                                  .frame_b = frame_b,
                                  .as_rows = (const uint32_t[]){as_rows},
                                  .damping = &damping,
                                  .drive_stiffness = (const double[]){20.0},
                                  .drive_damping = (const double[]){2.0},
                                  .effort_max = (const double[]){50.0}};
    lab_joints(lab, &columns);
    return (uint32_t)lab->world->joint_count - 1;
}

// A yard with what hangs from the world by hinges, of coordinates or of rows, and what lies on the
// ground beside it joined likewise, all of it asleep.
typedef struct Yard {
    Lab lab;
    uint32_t hanging, lying; // first bodies, of LINKS each
    uint32_t joint;          // the first of the hanging
} Yard;

static Lab make_ground(void) {
    Lab lab = lab_create(9.81, TIME_STEP);
    let_sleep(&lab);
    lab_ground(&lab, 0);
    return lab;
}

static Yard make_yard(bool as_rows) {
    Yard yard = {.lab = make_ground()};
    Lab *lab = &yard.lab;
    yard.hanging = lab->world->body_count;
    for (int i = 0; i < LINKS; i++) {
        add_ball(lab, 0.0, 0.0, 2.0 - 0.3 * i);
    }
    yard.lying = lab->world->body_count;
    for (int i = 0; i < LINKS; i++) {
        add_cube(lab, 3.0 + 0.2 * i, 0.0, 0.05);
    }
    for (uint32_t i = 0; i < LINKS; i++) {
        hinge(lab, i == 0 ? -1 : (int)(yard.hanging + i - 1), yard.hanging + i, 0.15, as_rows, 0.5);
    }
    for (uint32_t i = 1; i < LINKS; i++) {
        hinge(lab, (int)(yard.lying + i - 1), yard.lying + i, 0.0, as_rows, 0.5);
    }
    return yard;
}

static void must_all_sleep(Yard *yard) {
    lab_step(&yard->lab, SETTLE_STEPS);
    ck_assert_uint_eq(yard->lab.report.asleep_count, ASLEEP);
}

static bool sleeps(const Yard *yard, uint32_t first) {
    uint32_t asleep = 0;
    for (uint32_t i = 0; i < LINKS; i++) {
        asleep += sleep_is_asleep(yard->lab.world, first + i);
    }
    ck_assert_msg(asleep == 0 || asleep == LINKS, "%u of %d sleep", asleep, LINKS);
    return asleep > 0;
}

static void set_target(Yard *yard, double target) {
    const Id id = yard->lab.world->joint[yard->joint].id;
    const JointUpdate update = {.count = 1, .id = &id, .axis_count = 1, .target = &target};
    ck_assert_int_eq(world_update_joints(yard->lab.world, &update, NULL), STATUS_OK);
}

// ---- asleep

// Not even numbers that are made anew of the joints, as of another tree that is set, change a bit;
// no tree, contact or row is left in the problem, and the energy book balances all the way.
START_TEST(who_sleeps_stays_to_the_bit_and_costs_nothing) {
    Yard yard = make_yard(_i);
    World *world = yard.lab.world;
    set_target(&yard, 0.5);
    for (int i = 0; i < SETTLE_STEPS; i++) {
        const double before = yard.lab.report.energy.after;
        lab_step(&yard.lab, 1);
        // what the solver leaves open, beside joules of weight
        ck_assert_double_le(fabs(yard.lab.report.energy.unexplained), 1e-6);
        if (i > 0) { // what is left of motion when they fall asleep is booked, to a rounding
            ck_assert_double_eq_tol(yard.lab.report.energy.before, before, 1e-12);
        }
    }
    ck_assert_uint_eq(yard.lab.report.asleep_count, ASLEEP);
    ck_assert_uint_eq(yard.lab.report.contact_count, 0);
    ck_assert_uint_eq(yard.lab.report.row_count, 0);
    ck_assert_uint_eq(yard.lab.stepper->problem.tree_count, 0);
    const size_t bodies = world->body_count;
    double before[(2 * LINKS + 1) * 13], numbers[2][2 * LINKS];
    memcpy(before, world->pose, 7 * bodies * sizeof(double));
    memcpy(before + 7 * bodies, world->velocity, 6 * bodies * sizeof(double));
    memcpy(numbers[0], world->joint_position, world->joint_position_count * sizeof(double));
    memcpy(numbers[1], world->joint_velocity, world->joint_axis_count * sizeof(double));
    const StepEnergy energy = yard.lab.report.energy;
    lab_step(&yard.lab, 100);
    world_place_trees(world);
    world_follow_bodies(world);
    ck_assert_mem_eq(before, world->pose, 7 * bodies * sizeof(double));
    ck_assert_mem_eq(before + 7 * bodies, world->velocity, 6 * bodies * sizeof(double));
    ck_assert_mem_eq(numbers[0], world->joint_position,
                     world->joint_position_count * sizeof(double));
    ck_assert_mem_eq(numbers[1], world->joint_velocity, world->joint_axis_count * sizeof(double));
    for (size_t i = 0; i < world->joint_axis_count; i++) {
        ck_assert_double_eq(world->joint_velocity[i], 0.0);
    }
    ck_assert_double_eq(yard.lab.report.energy.after, energy.after);
    ck_assert_double_eq(yard.lab.report.energy.before, yard.lab.report.energy.after);
    lab_destroy(&yard.lab);
}
END_TEST

// What their rows bore is there when they wake: the chain hangs on as if nothing had been.
START_TEST(rows_of_sleepers_are_remembered) {
    Yard yard = make_yard(true);
    must_all_sleep(&yard);
    ck_assert_uint_gt(yard.lab.world->joint_memory_count, ASLEEP);
    for (size_t i = 1; i < yard.lab.world->joint_memory_count; i++) {
        const JointMemory *a = &yard.lab.world->joint_memory[i - 1], *b = a + 1;
        ck_assert(a->joint < b->joint || (a->joint == b->joint && a->part < b->part));
    }
    // beside it one that stays awake, whose joint stands before and behind theirs
    set_target(&yard, 0.3);
    const size_t before = yard.lab.world->joint_memory_count;
    lab_step(&yard.lab, 1);
    ck_assert(!sleeps(&yard, yard.hanging));
    ck_assert(sleeps(&yard, yard.lying));
    ck_assert_uint_ge(yard.lab.world->joint_memory_count, before);
    lab_destroy(&yard.lab);
}
END_TEST

// What joints carry is told of what was solved: of those asleep zeros, beside a chain of 4 kg that
// is awake and hangs by its first joint.
START_TEST(joints_asleep_carry_nothing_that_is_told) {
    Yard yard = make_yard(_i);
    must_all_sleep(&yard);
    double wrench[6 * (ASLEEP - 1)];
    for (int round = 0; round < 2; round++) {
        lab_step(&yard.lab, 1);
        ck_assert_int_eq(
            joint_wrenches(yard.lab.stepper, yard.lab.world, &yard.lab.scratch, wrench, NULL),
            STATUS_OK);
        for (size_t i = round == 0 ? 0 : LINKS; i < ASLEEP - 1; i++) {
            ck_assert_double_eq(vec3_norm(vec3_load(wrench + 6 * i)), 0.0);
        }
        set_target(&yard, 1e-6);
    }
    ck_assert_double_eq_tol(wrench[2], LINKS * 9.81, 1e-3); // pushed by next to nothing
    lab_destroy(&yard.lab);
}
END_TEST

// Asleep or half asleep, and woken: a world read from a snapshot goes on as the one it is of.
START_TEST(a_snapshot_of_sleepers_goes_on_to_the_bit) {
    Yard yard = make_yard(_i);
    must_all_sleep(&yard);
    Yard copy = yard;
    copy.lab = lab_create(9.81, TIME_STEP);
    world_destroy(copy.lab.world);
    copy.lab.world = lab_copy(&yard.lab);
    for (int i = 0; i < 200; i++) {
        if (i == 20) {
            set_target(&yard, 0.5);
            set_target(&copy, 0.5);
        }
        lab_step(&yard.lab, 1);
        lab_step(&copy.lab, 1);
        ck_assert_msg(snapshot_hash(yard.lab.world) == snapshot_hash(copy.lab.world), "step %d", i);
    }
    ck_assert_double_gt(fabs(yard.lab.world->joint_position[0]), 0.01);
    lab_destroy(&yard.lab);
    lab_destroy(&copy.lab);
}
END_TEST

// A tree whose root is not its first body, on one that is free: the island goes by its first body,
// as a snapshot of it must have it.
START_TEST(an_island_is_called_by_its_first_body) {
    Lab lab = make_ground();
    const uint32_t child = add_cube(&lab, 0.0, 0.0, 0.05), root = add_cube(&lab, 0.2, 0.0, 0.05);
    const uint32_t above = add_cube(&lab, 0.2, 0.0, 0.15);
    hinge(&lab, (int)root, child, 0.0, false, 0.5);
    lab_step(&lab, SETTLE_STEPS / 3);
    ck_assert_uint_eq(sleep_count(lab.world), 3);
    ck_assert_uint_eq(lab.world->sleep->island[above], child);
    ck_assert_uint_eq(lab.world->sleep->island[root], child);
    const uint64_t hash = snapshot_hash(lab.world);
    lab_restore(&lab);
    ck_assert_uint_eq(snapshot_hash(lab.world), hash);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_snapshot_of_half_a_tree_asleep_is_damaged) {
    Yard yard = make_yard(false);
    must_all_sleep(&yard);
    WorldSleep *sleep = yard.lab.world->sleep;
    sleep->island[yard.hanging + LINKS - 1] = SLEEP_AWAKE;
    uint8_t *bytes;
    size_t count;
    World *read = NULL;
    Error error = {0};
    const WorldLimits limits = yard.lab.world->limits;
    ck_assert_int_eq(snapshot_write(yard.lab.world, &yard.lab.scratch, &bytes, &count, &error),
                     STATUS_OK);
    ck_assert_int_eq(snapshot_read(bytes, count, &limits, &read, &error), STATUS_DATA_LOSS);
    lab_destroy(&yard.lab);
}
END_TEST

// ---- waking

typedef void Wake(Yard *yard);

static void by_target(Yard *yard) {
    set_target(yard, 0.4);
}

static void by_effort(Yard *yard) {
    const Id id = yard->lab.world->joint[yard->joint].id;
    const double effort = 3.0;
    const JointUpdate update = {.count = 1, .id = &id, .axis_count = 1, .effort = &effort};
    ck_assert_int_eq(world_update_joints(yard->lab.world, &update, NULL), STATUS_OK);
}

static void by_number(Yard *yard) {
    const Id id = yard->lab.world->joint[yard->joint].id;
    const double rest = 0.4, stiffness = 30.0;
    JointUpdate update = {.count = 1, .id = &id, .axis_count = 1};
    update.number[JOINT_REST] = &rest;
    update.number[JOINT_STIFFNESS] = &stiffness;
    ck_assert_int_eq(world_update_joints(yard->lab.world, &update, NULL), STATUS_OK);
}

static void by_mass(Yard *yard) {
    const Id id = yard->lab.world->body_id[yard->hanging + 1];
    const double mass = 2.0;
    const BodyUpdate update = {.count = 1, .id = &id, .mass = &mass};
    ck_assert_int_eq(world_update_bodies(yard->lab.world, &update, NULL), STATUS_OK);
}

static void by_wrench(Yard *yard) {
    const double wrench[6] = {5.0, 0, 0, 0, 0, 0};
    lab_step_pushed(&yard->lab, yard->hanging + 2, wrench);
}

static void by_hit(Yard *yard) {
    const uint32_t ball = add_ball(&yard->lab, 0.2, 0.0, 1.4);
    yard->lab.world->velocity[6 * (size_t)ball] = -3.0;
    lab_step(&yard->lab, 30);
    ck_assert_double_gt(yard->lab.world->velocity[6 * (size_t)ball], -3.0);
}

static void by_another_joint(Yard *yard) {
    const uint32_t ball = add_ball(&yard->lab, 0.3, 0.0, 0.8);
    hinge(&yard->lab, (int)(yard->hanging + LINKS - 1), ball, 0.0, true, 0.0);
}

static void by_removed_joint(Yard *yard) {
    world_remove_joints(yard->lab.world, (const uint32_t[]){LINKS - 1}, 1);
}

static Wake *const wakes[] = {by_target, by_effort, by_number,        by_mass,
                              by_wrench, by_hit,    by_another_joint, by_removed_joint};
enum { WAKES = sizeof(wakes) / sizeof(wakes[0]) };

START_TEST(what_concerns_one_wakes_all_of_it_and_nobody_else) {
    Yard yard = make_yard(_i % 2);
    must_all_sleep(&yard);
    wakes[_i / 2](&yard);
    lab_step(&yard.lab, 1);
    ck_assert(!sleep_is_asleep(yard.lab.world, yard.hanging + LINKS - 1));
    if (wakes[_i / 2] != by_removed_joint) {
        ck_assert(!sleeps(&yard, yard.hanging));
    }
    ck_assert(sleeps(&yard, yard.lying));
    lab_destroy(&yard.lab);
}
END_TEST

// A policy that says the same again and again.
START_TEST(what_is_as_it_was_wakes_nobody) {
    Yard yard = make_yard(_i);
    must_all_sleep(&yard);
    set_target(&yard, 0.0);
    ck_assert(sleeps(&yard, yard.hanging));
    world_set_settings(yard.lab.world, &yard.lab.world->settings);
    lab_step(&yard.lab, 1);
    ck_assert(sleeps(&yard, yard.hanging));
    lab_destroy(&yard.lab);
}
END_TEST

START_TEST(gravity_wakes_all_and_they_fall_up) {
    Yard yard = make_yard(_i);
    must_all_sleep(&yard);
    WorldSettings settings = yard.lab.world->settings;
    settings.gravity = vec3(0.0, 0.0, 2.0);
    world_set_settings(yard.lab.world, &settings);
    ck_assert_uint_eq(sleep_count(yard.lab.world), 0);
    lab_step(&yard.lab, 50);
    for (uint32_t i = 0; i < LINKS; i++) { // 0.2 s by 2 m/s^2
        ck_assert_double_eq_tol(lab_velocity(&yard.lab, yard.lying + i).z, 0.4, 1e-6);
    }
    lab_destroy(&yard.lab);
}
END_TEST

// What hangs on a kinematic body sleeps while that stands still, wakes when it is put elsewhere or
// moves, and does not fall asleep while it does.
START_TEST(a_base_that_moves_keeps_awake) {
    Lab lab = make_ground();
    const Id cube = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.05, 0.05, 0.05), 0);
    const uint32_t base = lab_body(&lab, cube, BODY_KINEMATIC, at(0, 0, 2), NULL, 0.0, NULL);
    const uint32_t bob = add_ball(&lab, 0.0, 0.0, 1.5);
    hinge(&lab, (int)base, bob, 0.3, _i % 2, 0.5);
    lab_step(&lab, SETTLE_STEPS);
    ck_assert(sleep_is_asleep(lab.world, bob));
    const double elsewhere[7] = {0.3, 0, 2, 1, 0, 0, 0}, slow[6] = {0.001, 0, 0, 0, 0, 0};
    const Id id = lab.world->body_id[base];
    const BodyUpdate update = {
        .count = 1, .id = &id, .pose = _i < 2 ? elsewhere : NULL, .velocity = _i < 2 ? NULL : slow};
    ck_assert_int_eq(world_update_bodies(lab.world, &update, NULL), STATUS_OK);
    lab_step(&lab, 1);
    ck_assert(!sleep_is_asleep(lab.world, bob));
    lab_step(&lab, SETTLE_STEPS);
    ck_assert_int_eq(sleep_is_asleep(lab.world, bob), _i < 2);
    lab_destroy(&lab);
}
END_TEST

// A joint that leaves all free has no rows as long as its limits are far: what it joins sleeps
// together all the same, so that no limit is met by one that sleeps.
START_TEST(a_joint_without_rows_keeps_awake) {
    Lab lab = make_ground();
    const uint32_t a = add_cube(&lab, 0.0, 0.0, 0.05), b = add_cube(&lab, 1.0, 0.0, 0.05);
    const double low[6] = {-9, -9, -9, -9, -9, -9};
    const JointColumns columns = {.count = 1,
                                  .axis_count = 6,
                                  .position_count = 7,
                                  .kind = (const uint32_t[]){JOINT_FREE},
                                  .body_a = &lab.world->body_id[a],
                                  .body_b = &lab.world->body_id[b],
                                  .as_rows = (const uint32_t[]){1},
                                  .low = low};
    lab_joints(&lab, &columns);
    const double wrench[6] = {0.01, 0, 0, 0, 0, 0}; // less than friction holds
    for (int i = 0; i < 200; i++) {
        lab_step_pushed(&lab, a, wrench);
    }
    ck_assert_uint_eq(sleep_count(lab.world), 0);
    lab_step(&lab, 200);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    lab_step_pushed(&lab, a, wrench);
    ck_assert_uint_eq(sleep_count(lab.world), 0);
    lab_destroy(&lab);
}
END_TEST

// What joints fix to the world is dynamic, and has no velocity to lose: what lies on it stays
// awake, and a snapshot of it is sound.
START_TEST(on_what_is_fixed_nothing_falls_asleep) {
    Lab lab = make_ground();
    const uint32_t table = add_cube(&lab, 0.0, 0.0, 1.0);
    add_cube(&lab, 0.0, 0.0, 1.1);
    const uint32_t beside = add_cube(&lab, 3.0, 0.0, 0.05);
    const double frame[7] = {0.0, 0.0, 1.0, 1, 0, 0, 0};
    const JointColumns columns = {.count = 1,
                                  .kind = (const uint32_t[]){JOINT_FIXED},
                                  .body_b = &lab.world->body_id[table],
                                  .frame_a = frame};
    lab_joints(&lab, &columns);
    lab_step(&lab, SETTLE_STEPS / 3);
    ck_assert_uint_eq(sleep_count(lab.world), 1);
    ck_assert(sleep_is_asleep(lab.world, beside));
    lab_restore(&lab);
    lab_step(&lab, 1);
    ck_assert_uint_eq(sleep_count(lab.world), 1);
    lab_destroy(&lab);
}
END_TEST

// ---- bounds

static void set_bounds(Lab *lab, double lowest) {
    WorldSettings settings = lab->world->settings;
    settings.has_bounds = true;
    settings.bounds_lower = vec3(-9.0, -9.0, lowest);
    settings.bounds_upper = vec3(9.0, 9.0, 9.0);
    world_set_settings(lab->world, &settings);
}

// A chain that falls past an edge stays as long as its root is inside, and is gone with its joints
// in the step in which that leaves, and with a rope to somebody who stays and a gear.
START_TEST(a_tree_leaves_with_its_root) {
    Lab lab = lab_create(9.81, TIME_STEP);
    if (_i == 1) {
        let_sleep(&lab);
    }
    const uint32_t other = add_ball(&lab, 5.0, 0.0, 5.0);
    const Id stays = lab.world->body_id[other];
    for (int i = 0; i < LINKS; i++) {
        add_ball(&lab, 0.0, 0.0, 2.0 - 0.3 * i);
    }
    for (uint32_t i = 1; i < LINKS; i++) {
        hinge(&lab, (int)i, i + 1, 0.15, false, 0.0);
    }
    hinge(&lab, -1, other, 0.15, false, 0.0);
    const JointColumns rope = {.count = 2,
                               .kind = (const uint32_t[]){JOINT_DISTANCE, JOINT_GEAR},
                               .body_a = (const uint64_t[]){lab.world->body_id[other], 0},
                               .body_b = (const uint64_t[]){lab.world->body_id[LINKS], 0},
                               .joint_a = (const uint64_t[]){0, 1},
                               .joint_b = (const uint64_t[]){0, 2},
                               .length = (const double[]){100.0, 1.0}};
    lab_joints(&lab, &rope);
    world_remove_joints(lab.world, (const uint32_t[]){LINKS}, 1); // a rope that long would push
    set_bounds(&lab, 0.5);
    bool was_below = false;
    while (lab.world->body_count == LINKS + 1) {
        const double root = lab_position(&lab, 1).z;
        ck_assert_double_ge(root, 0.5);
        was_below = was_below || lab_position(&lab, LINKS).z < 0.5;
        lab_step(&lab, 1);
    }
    ck_assert(was_below);
    ck_assert_uint_eq(lab.world->body_count, 1);
    ck_assert_uint_eq(lab.report.removed_count, LINKS);
    ck_assert_uint_eq(lab.world->joint_count, 1); // of the other with the world
    ck_assert_uint_eq(lab.world->body_id[0], stays);
    lab_step(&lab, 10);
    lab_destroy(&lab);
}
END_TEST

// ---- gears

static void couple(Lab *lab, Id first, Id second) {
    const JointColumns gear = {.count = 1,
                               .kind = (const uint32_t[]){JOINT_GEAR},
                               .joint_a = &first,
                               .joint_b = &second,
                               .ratio = (const double[]){-1.0}};
    lab_joints(lab, &gear);
}

static void expect_angles(const Lab *lab, double first, double second) {
    // the last of them crept in a second by less than sleep_speed / arm = 0.1 rad/s: what is slower
    // than that before it sleeps, with a time constant of c / k = 2.5 / 20, is within 0.0125 rad
    ck_assert_double_eq_tol(lab->world->joint_position[0], first, 0.02);
    ck_assert_double_eq_tol(lab->world->joint_position[1], second, 0.02);
}

// Two pendulums hang side by side from the world, each drawn to its own angle by a spring and by
// gravity. A gear that comes, or goes alone, with one of its joints, or with a body of one, wakes
// whom it holds, and they go where they are at rest with it, or without it. Of the two
//     (k + m g l) x = k target
// for small angles, so that each goes to 20 / (20 + 9.81 / 2) target = 0.803 target by itself,
// and with the gear, x2 = -x1, to half the difference of both.
START_TEST(a_gear_that_comes_or_goes_wakes_whom_it_holds) {
    const bool as_rows = _i % 2;
    Lab lab = make_ground();
    for (int i = 0; i < 2; i++) {
        const uint32_t bob = add_ball(&lab, 1.0 * i, 0.0, 1.5);
        hinge(&lab, -1, bob, 0.5, as_rows, 0.5);
    }
    const double far = 0.1, here = 20.0 / (20.0 + 9.81 / 2) * far;
    const Id hinges[2] = {lab.world->joint[0].id, lab.world->joint[1].id};
    const double targets[2] = {far, 0.0};
    const JointUpdate update = {.count = 2, .id = hinges, .axis_count = 2, .target = targets};
    ck_assert_int_eq(world_update_joints(lab.world, &update, NULL), STATUS_OK);
    lab_step(&lab, SETTLE_STEPS);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    expect_angles(&lab, here, 0.0);

    couple(&lab, hinges[0], hinges[1]);
    lab_step(&lab, SETTLE_STEPS);
    ck_assert_uint_eq(sleep_count(lab.world), 2);
    expect_angles(&lab, 0.5 * here, -0.5 * here);
    lab_restore(&lab);

    if (_i / 2 == 0) {
        world_remove_joints(lab.world, (const uint32_t[]){2}, 1);
        lab_step(&lab, SETTLE_STEPS);
        expect_angles(&lab, here, 0.0);
    } else if (_i / 2 == 1) {
        world_remove_joints(lab.world, (const uint32_t[]){1}, 1);
        ck_assert_uint_eq(lab.world->joint_count, 1);
        lab_step(&lab, SETTLE_STEPS);
        ck_assert_double_eq_tol(lab.world->joint_position[0], here, 0.02);
    } else {
        world_remove_bodies(lab.world, (const uint32_t[]){2}, 1);
        ck_assert_uint_eq(lab.world->joint_count, 1);
        lab_step(&lab, SETTLE_STEPS);
        ck_assert_double_eq_tol(lab.world->joint_position[0], here, 0.02);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_sleep_joints(void) {
    TCase *tcase = tcase_create("sleep_joints");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, who_sleeps_stays_to_the_bit_and_costs_nothing, 0, 2);
    tcase_add_test(tcase, rows_of_sleepers_are_remembered);
    tcase_add_loop_test(tcase, joints_asleep_carry_nothing_that_is_told, 0, 2);
    tcase_add_loop_test(tcase, a_snapshot_of_sleepers_goes_on_to_the_bit, 0, 2);
    tcase_add_test(tcase, an_island_is_called_by_its_first_body);
    tcase_add_test(tcase, a_snapshot_of_half_a_tree_asleep_is_damaged);
    tcase_add_loop_test(tcase, what_concerns_one_wakes_all_of_it_and_nobody_else, 0, 2 * WAKES);
    tcase_add_loop_test(tcase, what_is_as_it_was_wakes_nobody, 0, 2);
    tcase_add_loop_test(tcase, gravity_wakes_all_and_they_fall_up, 0, 2);
    tcase_add_loop_test(tcase, a_base_that_moves_keeps_awake, 0, 4);
    tcase_add_test(tcase, a_joint_without_rows_keeps_awake);
    tcase_add_test(tcase, on_what_is_fixed_nothing_falls_asleep);
    tcase_add_loop_test(tcase, a_tree_leaves_with_its_root, 0, 2);
    tcase_add_loop_test(tcase, a_gear_that_comes_or_goes_wakes_whom_it_holds, 0, 6);
    return tcase;
}

SUITE_MAIN("step/sleep_joints", case_sleep_joints)
