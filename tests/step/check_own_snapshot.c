// SPDX-License-Identifier: MIT
// Every world's own snapshot is taken back, and the world of it is that world: the same hash, and
// the same step. Each case makes a world that is odd in one way.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"
#include "world/sleep.h"

#include <math.h>
#include <string.h>

#define TIME_STEP 0.004

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

// All of it sleeps at the end of each step, however fast it is.
static void let_all_sleep(Lab *lab) {
    WorldSettings settings = lab->world->settings;
    settings.sleep_speed = 1e3;
    settings.sleep_time = 0.0;
    world_set_settings(lab->world, &settings);
}

static uint32_t add_cube(Lab *lab, BodyKind kind, double z) {
    const Id cube = lab_shape(lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), 0);
    return lab_body(lab, cube, kind, at(0, 0, z), NULL, 0.0, NULL);
}

static void join(Lab *lab, JointKind kind, uint32_t a, uint32_t b, double up, uint32_t as_rows) {
    const uint32_t axes = joint_axis_count(joint_kind_axes(kind));
    const double frame[7] = {0, 0, up, 1, 0, 0, 0};
    const JointColumns columns = {.count = 1,
                                  .axis_count = axes,
                                  .position_count = joint_position_count(joint_kind_axes(kind)),
                                  .kind = (const uint32_t[]){kind},
                                  .body_a = (const uint64_t[]){a == UINT32_MAX ? 0 : a + 1},
                                  .body_b = (const uint64_t[]){b + 1},
                                  .frame_a = frame,
                                  .as_rows = &as_rows};
    lab_joints(lab, &columns);
}

static void set_velocity(Lab *lab, uint32_t body, double x) {
    const double velocity[6] = {x, 0, 0, 0, 0, 0};
    const Id id = body + 1;
    const BodyUpdate update = {.count = 1, .id = &id, .velocity = velocity};
    ck_assert_int_eq(world_update_bodies(lab->world, &update, NULL), STATUS_OK);
}

// ---- the cases

// What touches a sleeper wakes it, and both are asleep when the step ends.
static void wake_and_sleep_in_one_step(Lab *lab) {
    lab_ground(lab, 0);
    let_all_sleep(lab);
    const uint32_t lower = add_cube(lab, BODY_DYNAMIC, 0.1);
    lab_step(lab, 3);
    ck_assert(sleep_is_asleep(lab->world, lower));
    add_cube(lab, BODY_DYNAMIC, 0.3);
    lab_step(lab, 1);
    ck_assert_uint_eq(lab->report.asleep_count, 2);
}

// A tree that falls asleep in a step whose end brings its rows together.
static void sleep_and_project_in_one_step(Lab *lab) {
    const uint32_t a = add_cube(lab, BODY_DYNAMIC, 1.0), b = add_cube(lab, BODY_DYNAMIC, 1.5);
    let_all_sleep(lab);
    WorldSettings settings = lab->world->settings;
    settings.joint_projection = true;
    world_set_settings(lab->world, &settings);
    join(lab, JOINT_UNIVERSAL, a, b, 0.5, 0);
    join(lab, JOINT_BALL, UINT32_MAX, b, 1.6, 1); // 0.1 m off
    lab_step(lab, 1);
    ck_assert_uint_eq(lab->report.asleep_count, 2);
}

// What carries a sleeper is given a velocity, of which its tree has a share at once.
static void move_the_base_of_a_sleeper(Lab *lab) {
    const uint32_t base = add_cube(lab, BODY_KINEMATIC, 1.0),
                   bob = add_cube(lab, BODY_DYNAMIC, 0.5);
    let_all_sleep(lab);
    join(lab, JOINT_HINGE, base, bob, -0.5, 0);
    lab_step(lab, 3);
    ck_assert(sleep_is_asleep(lab->world, bob));
    set_velocity(lab, base, 0.5);
}

// A zero with a sign is no velocity.
static void rest_with_a_signed_zero(Lab *lab) {
    const uint32_t base = add_cube(lab, BODY_KINEMATIC, 1.0),
                   bob = add_cube(lab, BODY_DYNAMIC, 0.5);
    let_all_sleep(lab);
    join(lab, JOINT_HINGE, base, bob, -0.5, 0);
    set_velocity(lab, base, -0.0);
    lab_step(lab, 3);
    ck_assert(sleep_is_asleep(lab->world, bob));
}

// The inertia goes with the mass, beyond what could be given.
static void change_a_mass(Lab *lab, double mass) {
    const uint32_t body = add_cube(lab, BODY_DYNAMIC, 1.0);
    const Id id = body + 1;
    const BodyUpdate update = {.count = 1, .id = &id, .mass = &mass};
    ck_assert_int_eq(world_update_bodies(lab->world, &update, NULL), STATUS_OK);
}

static void be_light(Lab *lab) {
    change_a_mass(lab, 1e-9);
}

static void be_heavy(Lab *lab) {
    change_a_mass(lab, 1e12);
}

// As light or as heavy as its shape makes it.
static void be_of_a_size(Lab *lab, double radius) {
    const Id ball = lab_shape(lab, PRIMITIVE_SPHERE, vec3(radius, 0, 0), 0);
    lab_body(lab, ball, BODY_DYNAMIC, at(0, 0, 0), NULL, 0.0, NULL);
}

static void be_small(Lab *lab) {
    be_of_a_size(lab, 1e-6);
}

static void be_large(Lab *lab) {
    be_of_a_size(lab, 5e4); // with 1e5 it had more than the 1e18 kg that a body may have
}

// Its shape is far from its origin, so that little is left of its inertia's last bits.
static void be_far_from_the_origin(Lab *lab) {
    const double pose[7] = {1e6, -3e5, 7e5, 0.9, 0.1, 0.3, 0.2};
    const ShapeColumns shape = {.shape_count = 1,
                                .primitive_count = 1,
                                .kind = (const uint32_t[]){PRIMITIVE_BOX},
                                .size = (const double[]){0.5, 0.001, 0.2},
                                .pose = pose};
    Id id;
    ck_assert_int_eq(world_add_shapes(lab->world, &shape, &id, NULL), STATUS_OK);
    lab_body(lab, id, BODY_DYNAMIC, at(0, 0, 0), NULL, 0.0, NULL);
}

// Needles in axes that are not their own: the smallest moment is less than the rounding of the two
// others, and what these two leave for the sum of all to be is rounding as well.
static void be_needles(Lab *lab) {
    const double ways = 200.0;
    for (double way = 0.0; way < ways; way++) {
        const double pose[7] = {0.1,           0.2, 0.3, cos(way), sin(1.7 * way), cos(2.3 * way),
                                sin(3.1 * way)};
        const ShapeColumns shape = {.shape_count = 1,
                                    .primitive_count = 1,
                                    .kind = (const uint32_t[]){PRIMITIVE_BOX},
                                    .size = (const double[]){1.0, 1e-8, 1e-8},
                                    .pose = pose};
        Id id;
        ck_assert_int_eq(world_add_shapes(lab->world, &shape, &id, NULL), STATUS_OK);
        lab_body(lab, id, BODY_DYNAMIC, at(3.0 * way, 0, 0), NULL, 0.0, NULL);
    }
}

typedef struct OddWorld {
    const char *name;
    void (*make)(Lab *lab);
} OddWorld;

static const OddWorld odd_worlds[] = {
    {"woken and asleep again", wake_and_sleep_in_one_step},
    {"asleep and projected", sleep_and_project_in_one_step},
    {"a base that moves", move_the_base_of_a_sleeper},
    {"a zero with a sign", rest_with_a_signed_zero},
    {"light", be_light},
    {"heavy", be_heavy},
    {"small", be_small},
    {"large", be_large},
    {"needles", be_needles},
    {"far from the origin", be_far_from_the_origin},
};
enum { ODD_WORLDS = sizeof(odd_worlds) / sizeof(odd_worlds[0]) };

START_TEST(its_own_snapshot_is_taken_back) {
    const OddWorld *odd = &odd_worlds[_i];
    Lab lab = lab_create(9.81, TIME_STEP);
    odd->make(&lab);
    for (int step = 0; step < 5; step++) {
        uint8_t *bytes;
        size_t count;
        World *back = NULL;
        Error error = {0};
        ck_assert_int_eq(snapshot_write(lab.world, &lab.scratch, &bytes, &count, &error),
                         STATUS_OK);
        ck_assert_msg(snapshot_read(bytes, count, &lab.world->limits, &back, &error) == STATUS_OK,
                      "%s, after %d steps: %s", odd->name, step, error.message);
        ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab.world));
        Lab other = lab_create(9.81, TIME_STEP);
        world_destroy(other.world);
        other.world = back;
        lab_step(&lab, 1);
        lab_step(&other, 1);
        ck_assert_uint_eq(snapshot_hash(back), snapshot_hash(lab.world));
        lab_destroy(&other);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_own_snapshot(void) {
    TCase *tcase = tcase_create("own_snapshot");
    tcase_add_loop_test(tcase, its_own_snapshot_is_taken_back, 0, ODD_WORLDS);
    return tcase;
}

SUITE_MAIN("step/own_snapshot", case_own_snapshot)
