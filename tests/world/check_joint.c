// SPDX-License-Identifier: MIT
// Joints: their numbers from poses and back, and what may be added to a world.
#include "world/world.h"

#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const WorldLimits limits = {.body_count_max = 10000, .bytes_max = (size_t)1 << 28};

static uint64_t seed = 88172645463325252;

static double random_in(double low, double high) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return low + (high - low) * ((double)(seed >> 11) * 0x1p-53);
}

// `count` dynamic bodies, one beside the other, and a kinematic and a static one behind them.
static World *make_world(uint32_t count) {
    World *world = world_create(&limits);
    for (uint32_t i = 0; i < count + 2; i++) {
        const double pose[7] = {(double)i, 0, 0, 1, 0, 0, 0}, mass[1] = {1};
        const double inertia[6] = {1, 1, 1, 0, 0, 0}, center[3] = {0, 0.25, 0};
        const uint32_t kind[1] = {i < count    ? BODY_DYNAMIC
                                  : i == count ? BODY_KINEMATIC
                                               : BODY_STATIC};
        BodyColumns one = {.count = 1, .pose = pose, .kind = kind};
        if (i < count) {
            one.mass = mass;
            one.inertia = inertia;
            one.center_of_mass = center;
        }
        Id id;
        ck_assert_int_eq(world_add_bodies(world, &one, &id, NULL), STATUS_OK);
    }
    return world;
}

// ---- numbers

static Quat random_turn(void) {
    return quat_normalize(
        (Quat){random_in(-1, 1), random_in(-1, 1), random_in(-1, 1), random_in(-1, 1)});
}

// Every set of axes: numbers make a pose, and the pose gives the numbers back. Angles keep off half
// a turn, where they jump; the second of two off a quarter, where the first is not defined.
START_TEST(a_pose_gives_back_the_numbers_that_made_it) {
    const uint8_t axes = (uint8_t)_i;
    const uint32_t moves = joint_axis_count(axes & JOINT_MOVES);
    const uint32_t count = joint_position_count(axes);
    for (int round = 0; round < 100; round++) {
        double position[JOINT_POSITION_MAX], measured[JOINT_POSITION_MAX];
        for (uint32_t i = 0; i < count; i++) {
            position[i] = random_in(-3.1, 3.1);
        }
        if ((axes & JOINT_TURNS) == JOINT_TURNS) {
            const Quat q = random_turn();
            const double s = q.w < 0 ? -1 : 1;
            position[moves] = s * q.w;
            position[moves + 1] = s * q.x;
            position[moves + 2] = s * q.y;
            position[moves + 3] = s * q.z;
        }
        Pose pose = joint_transform(axes, position);
        ck_assert_double_eq_tol(quat_norm(pose.orientation), 1.0, 1e-15);
        joint_measure_position(axes, pose, measured);
        for (uint32_t i = 0; i < count; i++) {
            ck_assert_double_eq_tol(measured[i], position[i], 1e-14);
        }
    }
}
END_TEST

// Rates are the derivatives of the numbers: two poses a short time apart, which the motion joins,
// differ by rate times time to second order.
START_TEST(rates_are_the_derivatives_of_the_numbers) {
    const uint8_t axes = (uint8_t)_i;
    const uint32_t count = joint_axis_count(axes);
    const double time = 1e-5;
    if ((axes & JOINT_TURNS) == JOINT_TURNS) {
        return; // quaternions: below
    }
    for (int round = 0; round < 50; round++) {
        double position[JOINT_POSITION_MAX], later[JOINT_POSITION_MAX], rate[6], measured[6];
        for (uint32_t i = 0; i < count; i++) {
            position[i] = random_in(-1.5, 1.5);
            rate[i] = random_in(-2, 2);
            later[i] = position[i] + time * rate[i];
        }
        const Pose p0 = joint_transform(axes, position), p1 = joint_transform(axes, later);
        const Vec3 velocity = vec3_scale(1 / time, vec3_sub(p1.position, p0.position));
        const Quat turn = quat_mul(p1.orientation, (Quat){p0.orientation.w, -p0.orientation.x,
                                                          -p0.orientation.y, -p0.orientation.z});
        const Vec3 spin = vec3_scale(2 / time, vec3(turn.x, turn.y, turn.z));
        joint_measure_velocity(axes, p0, velocity, spin, measured);
        for (uint32_t i = 0; i < count; i++) {
            // 4 rad^2/s^2 of curvature over 1e-5 s, and rounding of 1e-16/1e-5
            ck_assert_double_eq_tol(measured[i], rate[i], 1e-4);
        }
    }
}
END_TEST

START_TEST(three_turns_have_the_spin_in_the_second_frame) {
    const Quat q = random_turn();
    const Vec3 spin = vec3(1, 2, 3);
    double rate[3];
    joint_measure_velocity(JOINT_TURNS, (Pose){.orientation = q}, vec3(9, 9, 9), spin, rate);
    const Vec3 back = quat_rotate(q, vec3_load(rate));
    ck_assert_double_eq_tol(vec3_norm(vec3_sub(back, spin)), 0.0, 1e-14);
}
END_TEST

START_TEST(a_rotation_vector_is_axis_times_angle) {
    const Quat q = {cos(0.6), 0, -sin(0.6), 0}, minus = {-cos(0.6), 0, sin(0.6), 0};
    ck_assert_double_eq_tol(joint_rotation_vector(q).y, -1.2, 1e-15);
    ck_assert_double_eq_tol(joint_rotation_vector(minus).y, -1.2, 1e-15);
    ck_assert_double_eq(joint_rotation_vector(quat_identity()).x, 0.0);
    ck_assert_double_eq_tol(joint_rotation_vector((Quat){1, 1e-12, 0, 0}).x, 2e-12, 1e-27);
}
END_TEST

// ---- adding

// A hinge between 1 and 2, whose frames are half-way; columns that tests change.
static const uint32_t hinge[1] = {JOINT_HINGE}, one[1] = {1};
static const uint64_t first[1] = {1}, second[1] = {2};

static JointColumns make_hinge(void) {
    return (JointColumns){.count = 1,
                          .axis_count = 1,
                          .position_count = 1,
                          .kind = hinge,
                          .body_a = first,
                          .body_b = second};
}

START_TEST(a_hinge_begins_as_its_bodies_stand_and_move) {
    World *world = make_world(2);
    // body 2 is turned by 0.3 about z and spins at 2 rad/s
    const double pose[7] = {1, 0, 0, cos(0.15), 0, 0, sin(0.15)};
    const double velocity[6] = {0, 0, 0, 0, 0, 2};
    const BodyUpdate update = {.count = 1, .id = second, .pose = pose, .velocity = velocity};
    ck_assert_int_eq(world_update_bodies(world, &update, NULL), STATUS_OK);
    JointColumns columns = make_hinge();
    const double frame_a[7] = {0.5, 0, 0, 1, 0, 0, 0}, frame_b[7] = {-0.5, 0, 0, 2, 0, 0, 0};
    columns.frame_a = frame_a;
    columns.frame_b = frame_b;
    columns.name = (const char *const[]){"elbow"};
    columns.as_rows = one;
    Id id;
    ck_assert_int_eq(world_add_joints(world, &columns, &id, NULL), STATUS_OK);
    uint32_t index;
    ck_assert_uint_eq(id, 1);
    ck_assert(world_find_joint(world, id, &index));
    ck_assert(!world_find_joint(world, 2, &index));
    ck_assert(!world_find_joint(world, 0, &index));
    ck_assert_str_eq(world->joint[0].name, "elbow");
    ck_assert_double_eq_tol(world->joint_position[0], 0.3, 1e-15);
    ck_assert_double_eq_tol(world->joint_velocity[0], 2.0, 1e-15);
    // frames came from the origins and are kept from the centres of mass
    ck_assert_double_eq(world->joint[0].frame[0].position.y, -0.25);
    ck_assert_double_eq(world->joint[0].frame[1].orientation.w, 1.0);
    world_destroy(world);
}
END_TEST

START_TEST(angles_of_rows_count_turns) {
    World *world = make_world(2);
    JointColumns columns = make_hinge();
    columns.as_rows = one;
    Id id;
    ck_assert_int_eq(world_add_joints(world, &columns, &id, NULL), STATUS_OK);
    for (int i = 1; i <= 100; i++) {
        const double angle = 0.5 * i;
        const double pose[7] = {1, 0, 0, cos(0.5 * angle), 0, 0, sin(0.5 * angle)};
        const BodyUpdate update = {.count = 1, .id = second, .pose = pose};
        ck_assert_int_eq(world_update_bodies(world, &update, NULL), STATUS_OK);
        world_follow_bodies(world);
        ck_assert_double_eq_tol(world->joint_position[0], angle, 1e-13);
    }
    world_destroy(world);
}
END_TEST

// ---- what is refused

typedef struct Bad {
    const char *field;
    const char *says;
    Status status;
    JointColumns columns; // what differs from the hinge between 1 and 2
} Bad;

#define D(...)                                                                                     \
    (const double[]) {                                                                             \
        __VA_ARGS__                                                                                \
    }
#define U(...)                                                                                     \
    (const uint32_t[]) {                                                                           \
        __VA_ARGS__                                                                                \
    }
#define I(...)                                                                                     \
    (const uint64_t[]) {                                                                           \
        __VA_ARGS__                                                                                \
    }
#define BAD STATUS_INVALID_ARGUMENT

// In the world: dynamic 1 to 3, kinematic 4, static 5.
static const Bad bads[] = {
    {"kind[0]", "No such joint", BAD, {.kind = U(JOINT_KIND_COUNT)}},
    {"body_b[0]", "No body", STATUS_NOT_FOUND, {.body_b = I(77)}},
    {"body_a[0]", "No body", STATUS_NOT_FOUND, {.body_a = I(6)}},
    {"body_b[0]", "are one", BAD, {.body_b = I(1)}},
    {"body_b[0]", "Nothing moves", BAD, {.body_a = I(4), .body_b = I(5)}},
    {"body_b[0]", "Nothing moves", BAD, {.body_a = I(0), .body_b = I(5), .as_rows = U(1)}},
    {"body_b[0]", "swap a and b", BAD, {.body_a = I(1), .body_b = I(5)}},
    {"body_b[0]", "needs a body b", BAD, {.body_b = I(0)}},
    {"axes[0]", "1 to 63", BAD, {.kind = U(JOINT_GENERIC)}},
    {"axes[0]", "1 to 63", BAD, {.kind = U(JOINT_GENERIC), .axes = U(64)}},
    {"axes[0]", "GENERIC", BAD, {.axes = U(1)}},
    {"as_rows[0]", "0 or 1", BAD, {.as_rows = U(2)}},
    {"collides[0]", "0 or 1", BAD, {.collides = U(2)}},
    {"frame_a[1]", "not a number", BAD, {.frame_a = D(0, NAN, 0, 1, 0, 0, 0)}},
    {"frame_b[3]", "must not be zero", BAD, {.frame_b = D(0, 0, 0, 0, 0, 0, 0)}},
    {"low[0]", "above", BAD, {.low = D(1), .high = D(0.5)}},
    {"low[0]", "not a number", BAD, {.low = D(NAN)}},
    {"high[0]", "infinite", BAD, {.high = D(-HUGE_VAL)}},
    {"stiffness[0]", "1e+300", BAD, {.stiffness = D(1e300)}},
    {"stiffness[0]", "out of range", BAD, {.stiffness = D(-1)}},
    {"rest[0]", "not a number", BAD, {.rest = D(NAN)}},
    {"damping[0]", "1e+300", BAD, {.damping = D(1e300)}},
    {"friction[0]", "out of range", BAD, {.friction = D(-1e-9)}},
    {"armature[0]", "out of range", BAD, {.armature = D(-1e-9)}},
    {"armature[0]", "as_rows", BAD, {.armature = D(1), .as_rows = U(1)}},
    {"drive_stiffness[0]", "1e+300", BAD, {.drive_stiffness = D(1e300)}},
    {"drive_damping[0]", "1e+300", BAD, {.drive_damping = D(1e300)}},
    {"effort_max[0]", "out of range", BAD, {.effort_max = D(-1)}},
    {"stall_effort[0]", "out of range", BAD, {.stall_effort = D(-1)}},
    {"stall_effort[0]", "as_rows", BAD, {.stall_effort = D(1), .as_rows = U(1)}},
    {"no_load_speed[0]", "give its stall_effort", BAD, {.no_load_speed = D(1)}},
    {"no_load_speed[0]", "1e-09", BAD, {.stall_effort = D(1), .no_load_speed = D(1e-10)}},
    {"no_load_speed[0]", "infinite", BAD, {.stall_effort = D(1), .no_load_speed = D(HUGE_VAL)}},
    {"lag_time[0]", "out of range", BAD, {.lag_time = D(-1e-3)}},
    {"lag_time[0]", "not a number", BAD, {.lag_time = D(NAN)}},
    {"delay_steps[0]", "whole", BAD, {.delay_steps = D(1.5)}},
    {"delay_steps[0]", "<= 1000", BAD, {.delay_steps = D(1001)}},
    {"delay_steps[0]", "not a number", BAD, {.delay_steps = D(NAN)}},
    {"position[0]", "not a number", BAD, {.position = D(NAN)}},
    {"velocity[0]", "not a number", BAD, {.velocity = D(NAN)}},
    {"position[0]",
     "must not be zero",
     BAD,
     {.kind = U(JOINT_BALL), .position = D(0, 0, 0, 0), .axis_count = 3, .position_count = 4}},
    {"target[0]", "not a number", BAD, {.target = D(NAN)}},
    {"target_velocity[0]", "not a number", BAD, {.target_velocity = D(NAN)}},
    {"effort[0]", "1e+300", BAD, {.effort = D(1e300)}},
    {"ratio[0]", "not a number", BAD, {.ratio = D(NAN)}},
    {"length[0]",
     "out of range",
     BAD,
     {.kind = U(JOINT_DISTANCE), .length = D(0), .axis_count = SIZE_MAX}},
    {"break_force[0]", "Only joints of rows", BAD, {.break_force = D(1)}},
    {"break_torque[0]", "out of range", BAD, {.break_torque = D(0), .as_rows = U(1)}},
    {"joint_a[0]", "Only a gear", BAD, {.joint_a = I(1)}},
    {"joint_a[0]",
     "No joint",
     STATUS_NOT_FOUND,
     {.kind = U(JOINT_GEAR), .body_a = I(0), .body_b = I(0), .axis_count = SIZE_MAX}},
    {"body_a[0]", "couples joints", BAD, {.kind = U(JOINT_GEAR), .axis_count = SIZE_MAX}},
    {"kind[0]", "more axes", BAD, {.kind = U(JOINT_BALL)}},
    {"kind", "0 axes", BAD, {.kind = U(JOINT_FIXED)}},
};

#define TAKE(member)                                                                               \
    columns.member = bad->columns.member != NULL ? bad->columns.member : columns.member

START_TEST(bad_input_names_its_field_and_changes_nothing) {
    const Bad *bad = &bads[_i];
    World *world = make_world(3);
    JointColumns columns = make_hinge();
    TAKE(kind), TAKE(body_a), TAKE(body_b), TAKE(axes), TAKE(frame_a), TAKE(frame_b);
    TAKE(as_rows), TAKE(collides), TAKE(joint_a), TAKE(joint_b), TAKE(ratio), TAKE(length);
    TAKE(break_force), TAKE(break_torque), TAKE(low), TAKE(high), TAKE(stiffness), TAKE(rest);
    TAKE(damping), TAKE(friction), TAKE(armature), TAKE(drive_stiffness), TAKE(drive_damping);
    TAKE(effort_max), TAKE(position), TAKE(velocity);
    TAKE(stall_effort), TAKE(no_load_speed), TAKE(lag_time), TAKE(delay_steps);
    TAKE(target), TAKE(target_velocity), TAKE(effort);
    if (bad->columns.axis_count != 0) { // SIZE_MAX: none
        columns.axis_count = bad->columns.axis_count + 1 == 0 ? 0 : bad->columns.axis_count;
        columns.position_count = bad->columns.position_count;
    }
    Error error = {0};
    Id id = 0;
    const size_t bytes = world_bytes(world);
    ck_assert_int_eq(world_add_joints(world, &columns, &id, &error), bad->status);
    ck_assert_uint_eq(world_bytes(world), bytes);
    ck_assert_str_eq(error.field, bad->field);
    ck_assert_msg(strstr(error.message, bad->says) != NULL, "%s", error.message);
    ck_assert_uint_eq(world->joint_count, 0);
    ck_assert_uint_eq(world->joint_axis_count, 0);
    ck_assert_uint_eq(world->joint_id_next, 1);
    world_destroy(world);
}
END_TEST

static Status add(World *world, JointKind kind, Id a, Id b, uint32_t as_rows, Error *error) {
    const uint32_t kinds[1] = {kind}, rows[1] = {as_rows};
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(joint_kind_axes(kind)),
                                  .position_count = joint_position_count(joint_kind_axes(kind)),
                                  .kind = kinds,
                                  .body_a = &a,
                                  .body_b = &b,
                                  .as_rows = rows};
    Id id;
    return world_add_joints(world, &columns, &id, error);
}

START_TEST(a_loop_of_coordinates_is_refused_and_closed_by_rows) {
    World *world = make_world(3);
    Error error = {0};
    ck_assert_int_eq(add(world, JOINT_HINGE, 1, 2, 0, &error), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 2, 3, 0, &error), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 3, 1, 0, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "body_b[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "closes a loop"));
    ck_assert_int_eq(add(world, JOINT_HINGE, 1, 3, 0, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "joint 2 already"));
    ck_assert_uint_eq(world->joint_count, 2);
    ck_assert_int_eq(add(world, JOINT_HINGE, 3, 1, 1, &error), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, &error), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_uint_eq(world_joint_of_child(world, 1), 0);
    ck_assert_uint_eq(world_joint_of_child(world, 0), 3);
    world_destroy(world);
}
END_TEST

// A ring in one call, and a body that hangs below it and is looked at first.
START_TEST(a_ring_is_refused_from_wherever_it_is_entered) {
    World *world = make_world(4);
    const uint32_t kinds[4] = {0};
    const JointColumns columns = {.count = 4,
                                  .axis_count = 4,
                                  .position_count = 4,
                                  .kind = kinds,
                                  .body_a = I(1, 1, 2, 3),
                                  .body_b = I(4, 2, 3, 1)};
    Error error = {0};
    Id ids[4];
    ck_assert_int_eq(world_add_joints(world, &columns, ids, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "closes a loop"));
    ck_assert_uint_eq(world->joint_count, 0);
    world_destroy(world);
}
END_TEST

// A chain of `count` bodies that hangs on body `top`; 0: on the world.
static Status add_chain_below(World *world, Id top, JointKind kind, uint32_t count, Error *error) {
    uint32_t *kinds = calloc(count, sizeof(*kinds));
    uint64_t *a = calloc(count, sizeof(*a)), *b = calloc(count, sizeof(*b));
    Id *ids = calloc(count, sizeof(*ids));
    for (uint32_t i = 0; i < count; i++) {
        kinds[i] = kind;
        a[i] = top + i;
        b[i] = top + i + 1;
    }
    const uint8_t axes = joint_kind_axes(kind);
    const JointColumns columns = {.count = count,
                                  .axis_count = (size_t)count * joint_axis_count(axes),
                                  .position_count = (size_t)count * joint_position_count(axes),
                                  .kind = kinds,
                                  .body_a = a,
                                  .body_b = b};
    const Status status = world_add_joints(world, &columns, ids, error);
    free(kinds);
    free(a);
    free(b);
    free(ids);
    return status;
}

static Status add_chain(World *world, JointKind kind, uint32_t count, Error *error) {
    return add_chain_below(world, 0, kind, count, error);
}

START_TEST(depth_and_width_of_a_tree_are_limited_by_name) {
    World *world = make_world(TREE_DEPTH_MAX + 1);
    Error error = {0};
    ck_assert_int_eq(add_chain(world, JOINT_HINGE, TREE_DEPTH_MAX + 1, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(error.field, "body_b[2048]");
    ck_assert_ptr_nonnull(strstr(error.message, "TREE_DEPTH_MAX"));
    ck_assert_int_eq(add_chain(world, JOINT_BALL, 1366, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "TREE_WIDTH_MAX"));
    ck_assert_uint_eq(world->joint_count, 0);
    ck_assert_int_eq(add_chain(world, JOINT_BALL, 1365, &error), STATUS_OK); // 4095
    world_destroy(world);
}
END_TEST

// A root that nothing holds has six velocities of its own: 1,363 ball joints below it make 4,095 in
// all, one more body too many.
START_TEST(a_free_root_counts_in_the_width_of_its_tree) {
    enum { BALLS = (TREE_WIDTH_MAX - 6) / 3 };
    World *world = make_world(BALLS + 3);
    Error error = {0};
    ck_assert_int_eq(add_chain_below(world, 1, JOINT_BALL, BALLS + 1, &error),
                     STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "TREE_WIDTH_MAX"));
    ck_assert_uint_eq(world->joint_count, 0);
    ck_assert_int_eq(add_chain_below(world, 1, JOINT_BALL, BALLS, &error), STATUS_OK);
    world_destroy(world);
}
END_TEST

START_TEST(a_gear_couples_two_joints_with_one_axis) {
    World *world = make_world(3);
    const JointColumns columns = {.count = 3,
                                  .axis_count = 2,
                                  .position_count = 2,
                                  .kind = U(JOINT_HINGE, JOINT_SLIDER, JOINT_GEAR),
                                  .body_a = I(0, 0, 0),
                                  .body_b = I(1, 2, 0),
                                  .joint_a = I(0, 0, 1),
                                  .joint_b = I(0, 0, 2),
                                  .ratio = D(1, 1, -2.5)};
    Id ids[3];
    ck_assert_int_eq(world_add_joints(world, &columns, ids, NULL), STATUS_OK);
    ck_assert_uint_eq(world->joint[2].partner[0], 0);
    ck_assert_uint_eq(world->joint[2].partner[1], 1);
    ck_assert(world->joint[2].is_rows);
    ck_assert_double_eq(world->joint[2].ratio, -2.5);
    world_destroy(world);
}
END_TEST

typedef struct BadTendon {
    const char *field, *says;
    Status status;
    uint32_t count, coupled_axes[2];
    uint64_t coupled[2];
    double coefficients[2];
    size_t coupling_count;
    uint64_t body;
} BadTendon;

// Joints: 1 a hinge, 2 a ball, 3 a gear of the first and 4, a slider; 5 is a tendon. 6 couples.
static const BadTendon bad_tendons[] = {
    {"coupled[1]", "No joint", STATUS_NOT_FOUND, 2, {0, 0}, {1, 7}, {1, 1}, 2, 0},
    {"coupled[0]", "comes after", STATUS_NOT_FOUND, 1, {0, 0}, {6, 0}, {1, 1}, 1, 0},
    {"coupled[0]", "no gears", BAD, 2, {0, 0}, {4, 1}, {1, 1}, 2, 0},
    {"coupled[1]", "no tendons", BAD, 2, {0, 0}, {1, 5}, {1, 1}, 2, 0},
    {"coupled_axes[1]", "counted from 0", BAD, 2, {0, 1}, {1, 1}, {1, 1}, 2, 0},
    {"coupled_axes[0]", "three turns", BAD, 1, {2, 0}, {2, 0}, {1, 1}, 1, 0},
    {"coefficients[1]", "not a number", BAD, 2, {0, 0}, {1, 3}, {1, NAN}, 2, 0},
    {"coefficients[0]", "1e+06", BAD, 2, {0, 0}, {1, 3}, {-2e6, 1}, 2, 0},
    {"coupled_count[0]", "at least", BAD, 0, {0, 0}, {0, 0}, {1, 1}, 0, 0},
    {"coupled_count[0]", "more axes", BAD, 2, {0, 0}, {1, 3}, {1, 1}, 1, 0},
    {"coupled_count", "couple 1 axes", BAD, 1, {0, 0}, {1, 3}, {1, 1}, 2, 0},
    {"body_b[0]", "couples joints (coupled)", BAD, 1, {0, 0}, {1, 0}, {1, 1}, 1, 1},
};

START_TEST(what_a_tendon_couples_is_judged) {
    const BadTendon *bad = &bad_tendons[_i];
    World *world = make_world(3);
    const uint32_t single = 1, kind = JOINT_TENDON;
    const uint64_t hinged = 1, body = 1;
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_BALL, 0, 2, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_SLIDER, 0, 3, 0, NULL), STATUS_OK);
    const JointColumns others = {.count = 2,
                                 .axis_count = 1,
                                 .position_count = 1,
                                 .coupling_count = 1,
                                 .kind = U(JOINT_GEAR, JOINT_TENDON),
                                 .joint_a = I(1, 0),
                                 .joint_b = I(3, 0),
                                 .coupled_count = U(0, 1),
                                 .coupled = &hinged};
    Id ids[2];
    ck_assert_int_eq(world_add_joints(world, &others, ids, NULL), STATUS_OK);
    const size_t bytes = world_bytes(world);
    JointColumns columns = {.count = 1,
                            .axis_count = 1,
                            .position_count = 1,
                            .coupling_count = bad->coupling_count,
                            .kind = &kind,
                            .body_b = &bad->body,
                            .coupled_count = &bad->count,
                            .coupled = bad->coupled,
                            .coupled_axes = bad->coupled_axes,
                            .coefficients = bad->coefficients};
    Error error = {0};
    ck_assert_int_eq(world_add_joints(world, &columns, ids, &error), bad->status);
    ck_assert_str_eq(error.field, bad->field);
    ck_assert_msg(strstr(error.message, bad->says) != NULL, "%s", error.message);
    // nor does a hinge couple anything, nor a gear a tendon
    columns = (JointColumns){.count = 1,
                             .axis_count = 1,
                             .position_count = 1,
                             .coupling_count = 1,
                             .kind = U(JOINT_HINGE),
                             .body_b = &body,
                             .as_rows = &single,
                             .coupled_count = &single,
                             .coupled = &hinged};
    ck_assert_int_eq(world_add_joints(world, &columns, ids, &error), BAD);
    ck_assert_str_eq(error.field, "coupled_count[0]");
    columns = (JointColumns){.count = 1, .kind = U(JOINT_GEAR), .joint_a = I(1), .joint_b = I(5)};
    ck_assert_int_eq(world_add_joints(world, &columns, ids, &error), BAD);
    ck_assert_str_eq(error.field, "joint_b[0]");
    ck_assert_uint_eq(world_bytes(world), bytes);
    ck_assert_uint_eq(world->coupling_count, 1);
    world_destroy(world);
}
END_TEST

// ---- changing

START_TEST(numbers_of_joints_are_set_and_place_their_bodies) {
    World *world = make_world(3);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_BALL, 1, 2, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_SLIDER, 0, 3, 1, NULL), STATUS_OK);
    const double turn = 0.7;
    // the hinge by its angle; the ball by a quaternion of length 2
    JointUpdate update = {.count = 2,
                          .id = I(1, 2),
                          .axis_count = 4,
                          .position_count = 5,
                          .position = D(turn, 2, 0, 0, 0),
                          .velocity = D(2, 0, 0, 0),
                          .target = D(1, 2, 3, 4)};
    ck_assert_int_eq(world_update_joints(world, &update, NULL), STATUS_OK);
    ck_assert_double_eq_tol(world->pose[6], sin(0.5 * turn), 1e-15);
    ck_assert_double_eq_tol(world->pose[7 + 6], sin(0.5 * turn), 1e-15); // carried along
    ck_assert_double_eq(world->velocity[6 + 5], 2);
    ck_assert_double_eq(world->joint_position[1], 1);
    ck_assert_double_eq(world->joint_target[3], 4);
    // a target of rows, whose position is that of its body
    update = (JointUpdate){.count = 1, .id = I(3), .axis_count = 1, .effort = D(5)};
    ck_assert_int_eq(world_update_joints(world, &update, NULL), STATUS_OK);
    ck_assert_double_eq(world->joint_effort[4], 5);
    world_destroy(world);
}
END_TEST

typedef struct BadUpdate {
    const char *field, *says;
    Status status;
    JointUpdate update;
} BadUpdate;

// Joints: 1 a hinge, 2 a ball, 3 a slider of rows.
static const BadUpdate bad_updates[] = {
    {"joints[1]", "No joint", STATUS_NOT_FOUND, {.count = 2, .id = I(1, 9)}},
    {"joints[0]",
     "by rows",
     BAD,
     {.count = 1, .id = I(3), .position_count = 1, .axis_count = 1, .position = D(0)}},
    {"joint_position[1]",
     "zero",
     BAD,
     {.count = 2, .id = I(1, 2), .position_count = 5, .position = D(0, 0, 0, 0, 0)}},
    {"joint_position",
     "5 numbers",
     BAD,
     {.count = 2, .id = I(1, 2), .position_count = 4, .position = D(0, 1, 0, 0)}},
    {"joint_target[0]",
     "not a number",
     BAD,
     {.count = 1, .id = I(1), .axis_count = 1, .target = D(NAN)}},
    {"joint_effort[0]",
     "1e+300",
     BAD,
     {.count = 1, .id = I(1), .axis_count = 1, .effort = D(1e300)}},
    {"joint_target_velocity[0]",
     "infinite",
     BAD,
     {.count = 1, .id = I(1), .axis_count = 1, .target_velocity = D(HUGE_VAL)}},
    {"joint_velocity[2]",
     "not a number",
     BAD,
     {.count = 1, .id = I(2), .axis_count = 3, .velocity = D(0, 0, NAN)}},
    {"joints", "3 free axes", BAD, {.count = 1, .id = I(2), .axis_count = 2, .velocity = D(0, 0)}},
};

START_TEST(bad_numbers_of_joints_name_their_field_and_change_nothing) {
    const BadUpdate *bad = &bad_updates[_i];
    World *world = make_world(3);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_BALL, 1, 2, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_SLIDER, 0, 3, 1, NULL), STATUS_OK);
    double before[8];
    memcpy(before, world->joint_position, 6 * sizeof(double));
    Error error = {0};
    ck_assert_int_eq(world_update_joints(world, &bad->update, &error), bad->status);
    ck_assert_str_eq(error.field, bad->field);
    ck_assert_msg(strstr(error.message, bad->says) != NULL, "%s", error.message);
    ck_assert_mem_eq(before, world->joint_position, 6 * sizeof(double));
    ck_assert_double_eq(world->joint_velocity[0], 0);
    world_destroy(world);
}
END_TEST

START_TEST(a_body_that_hangs_by_a_joint_is_set_by_that_joint) {
    World *world = make_world(3);
    JointColumns columns = make_hinge();
    columns.name = (const char *const[]){"elbow"};
    Id id;
    ck_assert_int_eq(world_add_joints(world, &columns, &id, NULL), STATUS_OK);
    const double pose[7] = {5, 0, 0, 1, 0, 0, 0}, velocity[6] = {1};
    BodyUpdate update = {.count = 1, .id = I(2), .pose = pose};
    Error error = {0};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(error.field, "ids[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "elbow"));
    ck_assert_ptr_nonnull(strstr(error.message, "joint_position"));
    update = (BodyUpdate){.count = 1, .id = I(2), .velocity = velocity};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "joint_velocity"));
    // the root floats: it is set as a free body is, and takes the other along
    update = (BodyUpdate){.count = 1, .id = I(1), .pose = pose};
    ck_assert_int_eq(world_update_bodies(world, &update, &error), STATUS_OK);
    ck_assert_double_eq(world->pose[7], world->pose[0]); // the frames are in the same place
    world_destroy(world);
}
END_TEST

// ---- removing

START_TEST(joints_go_with_their_bodies_and_gears_with_their_joints) {
    World *world = make_world(4);
    const JointColumns columns = {
        .count = 6,
        .axis_count = 7,
        .position_count = 8,
        .kind = U(JOINT_HINGE, JOINT_BALL, JOINT_HINGE, JOINT_GEAR, JOINT_UNIVERSAL, JOINT_GEAR),
        .body_a = I(0, 1, 0, 0, 0, 0),
        .body_b = I(1, 2, 3, 0, 4, 0),
        .as_rows = U(1, 1, 1, 0, 1, 0),
        .joint_a = I(0, 0, 0, 1, 0, 1),
        .joint_b = I(0, 0, 0, 3, 0, 3),
        .stiffness = D(1, 2, 3, 4, 5, 6, 7)};
    Id ids[6];
    ck_assert_int_eq(world_add_joints(world, &columns, ids, NULL), STATUS_OK);
    world_remove_joints(world, U(3), 1);
    ck_assert_uint_eq(world->joint_count, 5);
    // body 2 takes the ball with it; what is behind moves down
    world_remove_bodies(world, U(1), 1);
    ck_assert_uint_eq(world->joint_count, 4);
    ck_assert_uint_eq(world->joint_axis_count, 4);
    ck_assert_uint_eq(world->joint_position_count, 4);
    ck_assert_double_eq(world->joint_axis[1].stiffness, 5);
    ck_assert_double_eq(world->joint_axis[3].stiffness, 7);
    ck_assert_uint_eq(world->joint[2].id, 5);
    ck_assert_uint_eq(world->joint[2].body[1], 2);
    ck_assert_uint_eq(world->joint[2].axis_first, 2);
    ck_assert_uint_eq(world->joint[3].partner[1], 1);
    uint32_t index;
    ck_assert(world_find_joint(world, 6, &index));
    ck_assert_uint_eq(index, 3);
    world_remove_bodies(world, U(0), 1); // the first hinge, and its gear
    ck_assert_uint_eq(world->joint_count, 2);
    ck_assert(!world_find_joint(world, 6, &index));
    ck_assert(world_find_joint(world, 5, &index));
    ck_assert_uint_eq(index, 1);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 3, 1, NULL), STATUS_OK);
    ck_assert_uint_eq(world->joint[2].id, 7); // never given again
    world_destroy(world);
}
END_TEST

// Trees that have no joint any more, or never had one, have room for the bodies that come.
START_TEST(bodies_come_and_go_once_all_joints_are_gone) {
    World *world = make_world(3);
    if (_i == 0) {
        ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, NULL), STATUS_OK);
        world_remove_joints(world, U(0), 1);
    } else {
        ck_assert_int_ne(add(world, JOINT_HINGE, 1, 77, 0, NULL), STATUS_OK);
    }
    double pose[7 * 40] = {0}, mass[40], inertia[6 * 40] = {0};
    Id id[40];
    for (size_t i = 0; i < 40; i++) {
        pose[7 * i + 3] = mass[i] = inertia[6 * i] = inertia[6 * i + 1] = inertia[6 * i + 2] = 1.0;
    }
    const BodyColumns more = {.count = 40, .pose = pose, .mass = mass, .inertia = inertia};
    ck_assert_int_eq(world_add_bodies(world, &more, id, NULL), STATUS_OK);
    world_remove_bodies(world, U(0, 7), 2);
    ck_assert_uint_eq(world->body_count, 43);
    world_destroy(world);
}
END_TEST

START_TEST(a_body_goes_with_the_joint_that_holds_it_or_stays) {
    World *world = make_world(3);
    ck_assert_int_eq(add(world, JOINT_HINGE, 0, 1, 0, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 1, 2, 0, NULL), STATUS_OK);
    Error error = {0};
    RemoveOrder order = {.body_count = 1, .body = I(2)};
    ck_assert_int_eq(world_remove(world, &order, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_str_eq(error.field, "bodies[0]");
    ck_assert_ptr_nonnull(strstr(error.message, "Joint 2"));
    order.joint_count = 2, order.joint = I(2, 7);
    ck_assert_int_eq(world_remove(world, &order, &error), STATUS_NOT_FOUND);
    ck_assert_str_eq(error.field, "joints[1]");
    ck_assert_uint_eq(world->joint_count, 2);
    order.joint_count = 1;
    ck_assert_int_eq(world_remove(world, &order, &error), STATUS_OK);
    ck_assert_uint_eq(world->joint_count, 1);
    ck_assert_uint_eq(world->body_count, 4);
    ck_assert_uint_eq(world->trees->tree[0].link_count, 1);
    world_destroy(world);
}
END_TEST

// As steps may leave them, a rounding of far away apart: whoever goes on with it has numbers that
// can be told, and an input that came there itself is refused.
START_TEST(what_rows_measure_beyond_floats_is_the_largest_float) {
    World *world = make_world(3);
    ck_assert_int_eq(add(world, JOINT_FREE, 1, 2, 1, NULL), STATUS_OK);
    ck_assert_int_eq(add(world, JOINT_HINGE, 2, 3, 1, NULL), STATUS_OK);
    world->pose[7 + 1] = 1e13;
    world->velocity[3] = 6e36;
    ck_assert_int_eq(world_check_numbers(world, NULL), STATUS_FAILED_PRECONDITION);
    world_remove_joints(world, U(1), 1);
    ck_assert_uint_eq(world->joint_axis_count, 6);
    ck_assert(numbers_fit_float(world->joint_velocity, 6));
    // 1e13 m along y times a spin about x: along z, against a
    ck_assert_double_eq(fabs(world->joint_velocity[2]), (double)FLT_MAX);
    ck_assert_double_eq(fabs(world->joint_velocity[3]), 6e36);
    ck_assert_int_eq(world_check_numbers(world, NULL), STATUS_FAILED_PRECONDITION);
    world_destroy(world);
}
END_TEST

static TCase *case_joint(void) {
    TCase *tcase = tcase_create("joint");
    tcase_add_loop_test(tcase, a_pose_gives_back_the_numbers_that_made_it, 0, 64);
    tcase_add_loop_test(tcase, rates_are_the_derivatives_of_the_numbers, 0, 64);
    tcase_add_test(tcase, three_turns_have_the_spin_in_the_second_frame);
    tcase_add_test(tcase, a_rotation_vector_is_axis_times_angle);
    tcase_add_test(tcase, a_hinge_begins_as_its_bodies_stand_and_move);
    tcase_add_test(tcase, angles_of_rows_count_turns);
    tcase_add_loop_test(tcase, bad_input_names_its_field_and_changes_nothing, 0,
                        sizeof(bads) / sizeof(bads[0]));
    tcase_add_test(tcase, a_loop_of_coordinates_is_refused_and_closed_by_rows);
    tcase_add_test(tcase, a_ring_is_refused_from_wherever_it_is_entered);
    tcase_add_test(tcase, depth_and_width_of_a_tree_are_limited_by_name);
    tcase_add_test(tcase, a_free_root_counts_in_the_width_of_its_tree);
    tcase_add_test(tcase, a_gear_couples_two_joints_with_one_axis);
    tcase_add_loop_test(tcase, what_a_tendon_couples_is_judged, 0,
                        (int)(sizeof(bad_tendons) / sizeof(bad_tendons[0])));
    tcase_add_test(tcase, numbers_of_joints_are_set_and_place_their_bodies);
    tcase_add_loop_test(tcase, bad_numbers_of_joints_name_their_field_and_change_nothing, 0,
                        sizeof(bad_updates) / sizeof(bad_updates[0]));
    tcase_add_test(tcase, a_body_that_hangs_by_a_joint_is_set_by_that_joint);
    tcase_add_loop_test(tcase, bodies_come_and_go_once_all_joints_are_gone, 0, 2);
    tcase_add_test(tcase, a_body_goes_with_the_joint_that_holds_it_or_stays);
    tcase_add_test(tcase, what_rows_measure_beyond_floats_is_the_largest_float);
    tcase_add_test(tcase, joints_go_with_their_bodies_and_gears_with_their_joints);
    return tcase;
}

SUITE_MAIN("world/joint", case_joint)
