// SPDX-License-Identifier: MIT
// Joints held by rows: the reference's three rods, the same mechanisms by coordinates, what a row's
// Jacobian is the derivative of, chains that do not come apart, loops, what is redundant, and what
// breaks.
#include "step/step.h"

#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

#define GRAVITY 9.81

static void set_solver(Lab *lab, SolverKind kind) {
    const SolverSettings solver = solver_default(kind);
    step_set_solver(&lab->world->settings, &solver);
}

// ---- building

// A joint whose numbers are filled in before it is added.
typedef struct Build {
    uint32_t kind, axes, as_rows;
    uint64_t a, b, joint_a, joint_b; // ids; 0: the world, or none
    double frame_a[7], frame_b[7];
    double low[6], high[6], stiffness[6], rest[6], damping[6], friction[6];
    double drive_stiffness[6], drive_damping[6], effort_max[6], target[6], effort[6];
    double ratio, length, break_force, break_torque;
} Build;

static Pose pose_at(Vec3 position, Quat orientation) {
    return (Pose){position, orientation};
}

// `parent` -1: the world. Frames from the bodies' origins.
static Build begin(const Lab *lab, JointKind kind, int parent, uint32_t child, Pose frame_a,
                   Pose frame_b) {
    Build build = {.kind = kind,
                   .as_rows = 1,
                   .b = lab->world->body_id[child],
                   .a = parent < 0 ? 0 : lab->world->body_id[parent],
                   .ratio = 1.0,
                   .length = 1.0,
                   .break_force = HUGE_VAL,
                   .break_torque = HUGE_VAL};
    pose_store(build.frame_a, frame_a);
    pose_store(build.frame_b, frame_b);
    for (int k = 0; k < 6; k++) {
        build.low[k] = -HUGE_VAL;
        build.high[k] = build.effort_max[k] = HUGE_VAL;
    }
    return build;
}

static uint32_t add(Lab *lab, const Build *build) {
    const uint8_t axes = build->kind == JOINT_GENERIC ? (uint8_t)build->axes
                                                      : joint_kind_axes((JointKind)build->kind);
    const JointColumns columns = {.count = 1,
                                  .axis_count = joint_axis_count(axes),
                                  .position_count = joint_position_count(axes),
                                  .kind = &build->kind,
                                  .axes = &build->axes,
                                  .as_rows = &build->as_rows,
                                  .body_a = &build->a,
                                  .body_b = &build->b,
                                  .joint_a = &build->joint_a,
                                  .joint_b = &build->joint_b,
                                  .frame_a = build->frame_a,
                                  .frame_b = build->frame_b,
                                  .low = build->low,
                                  .high = build->high,
                                  .stiffness = build->stiffness,
                                  .rest = build->rest,
                                  .damping = build->damping,
                                  .friction = build->friction,
                                  .drive_stiffness = build->drive_stiffness,
                                  .drive_damping = build->drive_damping,
                                  .effort_max = build->effort_max,
                                  .target = build->target,
                                  .effort = build->effort,
                                  .ratio = &build->ratio,
                                  .length = &build->length,
                                  .break_force = &build->break_force,
                                  .break_torque = &build->break_torque};
    lab_joints(lab, &columns);
    return (uint32_t)lab->world->joint_count - 1;
}

static uint32_t add_body(Lab *lab, Pose pose, const double velocity[6], double mass, Vec3 moments) {
    const double inertia[6] = {moments.x, moments.y, moments.z, 0.0, 0.0, 0.0};
    return lab_body(lab, 0, BODY_DYNAMIC, pose, velocity, mass, inertia);
}

// How far apart the origins of a joint's frames are.
static double gap_of(const Lab *lab, uint32_t joint) {
    const Joint *of = &lab->world->joint[joint];
    return vec3_norm(vec3_sub(world_joint_frame(lab->world, of, 1).position,
                              world_joint_frame(lab->world, of, 0).position));
}

static double largest_gap(const Lab *lab) {
    double largest = 0.0;
    for (uint32_t i = 0; i < lab->world->joint_count; i++) {
        largest = fmax(largest, gap_of(lab, i));
    }
    return largest;
}

// ---- the reference's three rods (ccp.json, A3)

static const struct {
    double h, error, gap;
} rods[] = {
    {0.004, 0.011134015084434434, 0.0004384236369521365},
    {0.001, 0.0028266037789728997, 2.7482219795187383e-05},
    {0.0005, 0.0014169867691476378, 6.871606683575282e-06},
};

// Rods of 0.5 m end to end along x, on balls, the first of which are coordinates; gravity along -y.
static Lab make_chain(uint32_t count, uint32_t coordinate_count, double h) {
    Lab lab = lab_create(0.0, h);
    lab.world->settings.gravity = vec3(0.0, -GRAVITY, 0.0);
    const double length = 0.5, moment = length * length / 12.0;
    const Quat upright = quat_identity();
    for (uint32_t i = 0; i < count; i++) {
        const Vec3 at = vec3((i + 0.5) * length, 0.0, 0.0);
        add_body(&lab, pose_at(at, upright), NULL, 1.0, vec3(1e-3 * moment, moment, moment));
        const Vec3 end = vec3(0.5 * length, 0.0, 0.0), begins = vec3(-0.5 * length, 0.0, 0.0);
        Build build =
            begin(&lab, JOINT_BALL, (int)i - 1, i,
                  pose_at(i == 0 ? vec3(0.0, 0.0, 0.0) : end, upright), pose_at(begins, upright));
        build.as_rows = i >= coordinate_count;
        add(&lab, &build);
    }
    return lab;
}

static Lab make_rods(uint32_t count, double h) {
    return make_chain(count, 0, h);
}

START_TEST(three_rods_fall_as_the_reference_says) {
    static const double exact[3][2] = {{0.07002882054687441, -0.23999159212941956},
                                       {0.2185228673822054, -0.7173504277097865},
                                       {0.4467750518818304, -1.1548772753516037}};
    Lab lab = make_rods(3, rods[_i].h);
    set_solver(&lab, SOLVER_CCP);
    lab.world->settings.rotation = ROTATION_EXPLICIT;
    lab_set(&lab, "tolerance", 1e-12);
    double gap = 0.0, error = 0.0;
    for (int i = 0; i < (int)(0.5 / rods[_i].h + 0.5); i++) {
        lab_step(&lab, 1);
        gap = fmax(gap, largest_gap(&lab));
    }
    for (uint32_t i = 0; i < 3; i++) {
        const Vec3 at = lab_position(&lab, i);
        error = fmax(error, hypot(at.x - exact[i][0], at.y - exact[i][1]));
    }
    ck_assert_double_eq_tol(error, rods[_i].error, 1e-4 * rods[_i].error);
    ck_assert_double_eq_tol(gap, rods[_i].gap, 1e-4 * rods[_i].gap);
    lab_destroy(&lab);
}
END_TEST

// ---- rows and their derivatives

static uint64_t seed = 1;

static double random_in(double low, double high) {
    return lab_random(&seed, low, high);
}

static Quat random_turn(void) {
    return quat_normalize(
        (Quat){random_in(-1, 1), random_in(-1, 1), random_in(-1, 1), random_in(-1, 1)});
}

// Two bodies that spin, and a joint between them that leaves `axes` free, in frames that are turned
// and at some position of the axes, with limits there.
static Lab make_pair(uint8_t axes, double h) {
    Lab lab = lab_create(0.0, h);
    for (uint32_t i = 0; i < 2; i++) {
        double velocity[6];
        for (int k = 0; k < 6; k++) {
            velocity[k] = random_in(-1, 1);
        }
        const Vec3 at = vec3(random_in(-1, 1), random_in(-1, 1), random_in(-1, 1));
        add_body(&lab, pose_at(at, random_turn()), velocity, 1.0, vec3(1, 1, 1));
    }
    const Pose a = {vec3(random_in(-1, 1), 0.3, 0.2), random_turn()};
    double position[7] = {0.3, -0.4, 0.5, 0.7, -0.6, 0.2, 0.1};
    if ((axes & JOINT_TURNS) == JOINT_TURNS) {
        double *q = position + joint_axis_count(axes & JOINT_MOVES);
        const Quat turn = random_turn();
        q[0] = turn.w, q[1] = turn.x, q[2] = turn.y, q[3] = turn.z;
    }
    const Pose b = pose_load(lab.world->pose + 7),
               frame = pose_compose(pose_compose(pose_load(lab.world->pose), a),
                                    joint_transform(axes, position));
    const Quat back = {b.orientation.w, -b.orientation.x, -b.orientation.y, -b.orientation.z};
    Build build = begin(&lab, axes == 0 ? JOINT_FIXED : JOINT_GENERIC, 0, 1, a,
                        pose_at(quat_rotate(back, vec3_sub(frame.position, b.position)),
                                quat_mul(back, frame.orientation)));
    build.axes = axes;
    add(&lab, &build);
    // of three turns limits are of the rotation vector
    if ((axes & JOINT_TURNS) == JOINT_TURNS) {
        double *q = position + joint_axis_count(axes & JOINT_MOVES);
        vec3_store(q, joint_rotation_vector((Quat){q[0], q[1], q[2], q[3]}));
    }
    for (uint32_t k = 0; k < joint_axis_count(axes); k++) {
        lab.world->joint_axis[k].low = lab.world->joint_axis[k].high = position[k];
    }
    return lab;
}

// What a row's Jacobian makes of the velocities without any row.
static double free_rate(const Stepper *stepper, uint32_t row) {
    double rate = 0.0;
    for (uint32_t k = 0; k < stepper->row[row].block_count; k++) {
        const RowBlock *block = &stepper->row_block[stepper->row[row].block_first + k];
        for (uint32_t n = 0; n < 6; n++) {
            rate +=
                stepper->number[block->jacobian + n] * stepper->problem.v_free[6 * block->tree + n];
        }
    }
    return rate;
}

// The bodies have gone with the joint: they go where they would without it.
static void let_go(Lab *lab, double h) {
    for (uint32_t i = 0; i < 2; i++) {
        const size_t at = 6 * (size_t)i;
        double *packed = lab->world->pose + 7 * (size_t)i;
        Pose pose = pose_load(packed);
        const double *v = lab->stepper->v + at, *wanted = lab->stepper->problem.v_free + at;
        pose.position = vec3_add_scaled(pose.position, -h, vec3_load(v));
        pose.position = vec3_add_scaled(pose.position, h, vec3_load(wanted));
        pose.orientation = quat_turn(pose.orientation, vec3_load(v + 3), -h);
        pose.orientation = quat_turn(pose.orientation, vec3_load(wanted + 3), h);
        pose_store(packed, pose);
        memcpy(lab->world->velocity + at, wanted, 6 * sizeof(double));
    }
    world_follow_bodies(lab->world);
    lab->world->settings.margin = 10.0; // limits may have gone apart
    lab->world->bodies_moved = true;
}

// A row's gap changes in a short step by what its Jacobian makes of the velocities, for every set
// of free axes. Errors are of second order in the step, and of first in the gaps that it begins
// with, as turns are taken at none.
START_TEST(gaps_change_as_their_rows_say) {
    const double h = 1e-6;
    const uint8_t axes = (uint8_t)_i;
    seed = 7 + (uint64_t)_i;
    Lab lab = make_pair(axes, h);
    double before[24], change[24];
    uint32_t parts[24];
    lab_step(&lab, 1);
    const Stepper *stepper = lab.stepper;
    const uint32_t count = stepper->row_count, free_count = joint_axis_count(axes);
    ck_assert_uint_eq(count, 6 - free_count + 2 * free_count);
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = stepper->row_key[i].part;
        before[i] = stepper->row[i].gap;
        ck_assert_double_eq_tol(before[i], 0.0, 1e-14);
        change[i] = h * free_rate(stepper, i);
    }
    let_go(&lab, h);
    lab_step(&lab, 1);
    ck_assert_uint_eq(stepper->row_count, count);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_uint_eq(stepper->row_key[i].part, parts[i]);
        // h^2 of curvature at some rad/s, and rounding
        ck_assert_double_eq_tol(stepper->row[i].gap - before[i], change[i], 30.0 * h * h + 1e-14);
    }
    lab_destroy(&lab);
}
END_TEST

// ---- rows and coordinates

// What acts along the hinge of a pendulum, or the axes of another joint.
static void act_nothing(Build *build) {
    (void)build;
}
static void act_spring(Build *build) {
    build->stiffness[0] = 20.0, build->rest[0] = -0.5, build->damping[0] = 0.3;
}
static void act_drive(Build *build) {
    build->drive_stiffness[0] = 1e5, build->drive_damping[0] = 1e3, build->target[0] = 0.4;
}
static void act_weak_drive(Build *build) {
    build->drive_stiffness[0] = 1e3, build->drive_damping[0] = 1e1, build->target[0] = 1.2;
    build->effort_max[0] = 3.0;
}
static void act_friction(Build *build) {
    build->friction[0] = 1.5;
}
static void act_limit(Build *build) {
    build->low[0] = -0.4;
}
static void act_effort(Build *build) {
    build->effort[0] = 2.0;
}

static void (*const acts[])(Build *build) = {act_nothing,  act_spring, act_drive, act_weak_drive,
                                             act_friction, act_limit,  act_effort};
enum { ACTS = sizeof(acts) / sizeof(acts[0]) };

// A rod of 1 m on a hinge at its end, and perhaps a second one on a hinge at the end of that.
static double swing(SolverKind solver, uint32_t links, uint32_t as_rows, int act, double h) {
    Lab lab = lab_create(GRAVITY, h);
    set_solver(&lab, solver);
    lab_set(&lab, "tolerance", 1e-11);
    const double moment = 1.0 / 12.0;
    const Quat y = quat_normalize((Quat){1.0, -1.0, 0.0, 0.0}); // z to y
    for (uint32_t i = 0; i < links; i++) {
        add_body(&lab, pose_at(vec3(0.5 + i, 0.0, 0.0), quat_identity()), NULL, 1.0,
                 vec3(0.01, moment, moment));
        Build build =
            begin(&lab, JOINT_HINGE, (int)i - 1, i, pose_at(vec3(i == 0 ? 0.0 : 0.5, 0.0, 0.0), y),
                  pose_at(vec3(-0.5, 0.0, 0.0), y));
        build.as_rows = as_rows;
        if (i == 0) {
            acts[act](&build);
        }
        add(&lab, &build);
    }
    lab_step(&lab, (int)(0.5 / h + 0.5));
    const double *position = lab.world->joint_position;
    const double angle = position[0] + (links > 1 ? 0.1 * position[1] : 0.0);
    lab_destroy(&lab);
    return angle;
}

// Two solvers that are exact, and the three others, whose rows are soft or taken in sweeps: with
// rows as hard as their defaults make them, the difference from coordinates is of first order.
START_TEST(rows_come_to_coordinates_as_steps_get_small) {
    static const SolverKind solvers[] = {SOLVER_MDP, SOLVER_LCP, SOLVER_CCP, SOLVER_SAP,
                                         SOLVER_COMPLIANT};
    const SolverKind solver = solvers[_i / ACTS];
    const int act = _i % ACTS;
    double difference[2];
    for (int k = 0; k < 2; k++) {
        const double h = k == 0 ? 0.002 : 0.0005;
        difference[k] = fabs(swing(solver, 2, 1, act, h) - swing(solver, 2, 0, act, h));
    }
    ck_assert_msg(difference[0] < 0.05, "%s, act %d: %g", solver_get(solver)->name, act,
                  difference[0]);
    // a quarter of the step leaves a quarter, or, where both are rounding of the solver, nothing
    ck_assert_msg(difference[1] < 0.35 * difference[0] || difference[1] < 1e-4,
                  "%s, act %d: %g and %g", solver_get(solver)->name, act, difference[0],
                  difference[1]);
}
END_TEST

// A four-bar linkage in a plane: three bodies on four hinges, the first ones by coordinates, the
// others by rows, that begins to turn at 1 rad/s.
static Lab make_linkage(SolverKind solver, int coordinate_count) {
    Lab lab = lab_create(GRAVITY, 0.001);
    set_solver(&lab, solver);
    const Quat y = quat_normalize((Quat){1.0, -1.0, 0.0, 0.0});
    const Vec3 at[3] = {{0.0, 0.0, 0.5}, {0.5, 0.0, 1.0}, {1.0, 0.0, 0.5}};
    for (uint32_t i = 0; i < 3; i++) {
        add_body(&lab, pose_at(at[i], quat_identity()), NULL, 1.0, vec3(0.1, 0.1, 0.1));
    }
    const struct {
        int a;
        uint32_t b;
        Vec3 at_a, at_b;
    } hinges[4] = {{-1, 0, {0, 0, 0}, {0, 0, -0.5}},
                   {0, 1, {0, 0, 0.5}, {-0.5, 0, 0}},
                   {1, 2, {0.5, 0, 0}, {0, 0, 0.5}},
                   {-1, 2, {1, 0, 0}, {0, 0, -0.5}}};
    for (int i = 0; i < 4; i++) {
        Build build = begin(&lab, JOINT_HINGE, hinges[i].a, hinges[i].b, pose_at(hinges[i].at_a, y),
                            pose_at(hinges[i].at_b, y));
        build.as_rows = i >= coordinate_count;
        add(&lab, &build);
    }
    const JointUpdate kick = {.count = 1,
                              .id = (const uint64_t[]){1},
                              .axis_count = 1,
                              .velocity = (const double[]){1.0}};
    if (coordinate_count > 0) {
        ck_assert_int_eq(world_update_joints(lab.world, &kick, NULL), STATUS_OK);
    }
    return lab;
}

// The crank's angle of the linkage, all but one of its hinges by coordinates, or all by rows, half
// a second after the same push.
static double crank(SolverKind solver, bool as_rows, double h) {
    Lab tree = make_linkage(solver, 3), rows = make_linkage(solver, 0);
    Lab *lab = as_rows ? &rows : &tree;
    memcpy(rows.world->velocity, tree.world->velocity, (size_t)3 * 6 * sizeof(double));
    lab->world->settings.time_step = h;
    lab_set(lab, "tolerance", 1e-11);
    lab_step(lab, (int)(0.5 / h + 0.5));
    const double angle = lab->world->joint_position[0];
    lab_destroy(&tree);
    lab_destroy(&rows);
    return angle;
}

// A pendulum, and the linkage: as the double pendulum does above, with half the step half as far.
START_TEST(a_pendulum_and_a_linkage_come_to_coordinates) {
    static const SolverKind solvers[] = {SOLVER_MDP, SOLVER_LCP, SOLVER_CCP, SOLVER_SAP,
                                         SOLVER_COMPLIANT};
    const SolverKind solver = solvers[_i / 2];
    double difference[2];
    for (int k = 0; k < 2; k++) {
        const double h = k == 0 ? 0.004 : 0.001;
        difference[k] = fabs(_i % 2 == 0 ? swing(solver, 1, 1, 0, h) - swing(solver, 1, 0, 0, h)
                                         : crank(solver, true, h) - crank(solver, false, h));
    }
    ck_assert_msg(difference[0] < 0.05, "%s: %g", solver_get(solver)->name, difference[0]);
    ck_assert_msg(difference[1] < 0.35 * difference[0] || difference[1] < 1e-4, "%s: %g and %g",
                  solver_get(solver)->name, difference[0], difference[1]);
}
END_TEST

// ---- chains

// The largest gap of the first 10 s, and of the last 10 of 60.
START_TEST(a_chain_of_twenty_does_not_come_apart) {
    static const SolverKind solvers[] = {SOLVER_MDP, SOLVER_CCP};
    Lab lab = make_rods(20, 0.005);
    set_solver(&lab, solvers[_i]);
    double first = 0.0, last = 0.0;
    for (int step = 0; step < 12000; step++) {
        lab_step(&lab, 1);
        const double gap = largest_gap(&lab);
        if (step < 2000) {
            first = fmax(first, gap);
        } else if (step >= 10000) {
            last = fmax(last, gap);
        }
    }
    ck_assert_double_le(last, first);
    lab_destroy(&lab);
}
END_TEST

START_TEST(the_gap_of_a_chain_is_of_second_order) {
    double gap[2];
    for (int k = 0; k < 2; k++) {
        const double h = k == 0 ? 0.002 : 0.001;
        Lab lab = make_rods(20, h);
        set_solver(&lab, SOLVER_CCP);
        gap[k] = 0.0;
        for (int i = 0; i < (int)(0.5 / h + 0.5); i++) {
            lab_step(&lab, 1);
            gap[k] = fmax(gap[k], largest_gap(&lab));
        }
        lab_destroy(&lab);
    }
    ck_assert_double_eq_tol(gap[0] / gap[1], 4.0, 0.4); // h^2, and a tenth of what is behind it
}
END_TEST

// Under two solvers, that take back all of a gap in a step, and a fifth of it.
START_TEST(projection_brings_a_chain_together) {
    static const SolverKind solvers[] = {SOLVER_MDP, SOLVER_CCP};
    Lab lab = make_rods(20, 0.004);
    set_solver(&lab, solvers[_i]);
    lab.world->settings.joint_projection = true;
    for (int i = 0; i < 500; i++) {
        lab_step(&lab, 1);
        ck_assert_double_le(largest_gap(&lab), 1e-9);
    }
    lab_destroy(&lab);
}
END_TEST

// Free bodies and those of a tree alike, in substeps, and where joints are brought together.
START_TEST(a_chain_takes_no_more_memory_the_longer_it_falls) {
    Lab lab = make_chain(10, _i % 2 == 0 ? 0 : 4, 0.004);
    lab.world->settings.joint_projection = _i / 2 % 2 != 0;
    lab.world->settings.substeps = _i / 4 == 0 ? 1 : 3;
    lab_step(&lab, 3);
    const size_t bytes = stepper_bytes(lab.stepper);
    lab_step(&lab, 50);
    ck_assert_uint_eq(stepper_bytes(lab.stepper), bytes);
    ck_assert_uint_gt(lab.report.row_count, 0);
    lab_destroy(&lab);
}
END_TEST

// A loop of one tree, whose coordinates are what is moved; a hinge that must not twist, too.
START_TEST(projection_closes_the_loop_of_a_tree) {
    Lab lab = make_linkage(SOLVER_MDP, 3);
    lab.world->settings.joint_projection = true;
    for (int i = 0; i < 500; i++) {
        lab_step(&lab, 1);
        ck_assert_double_le(largest_gap(&lab), 1e-9);
    }
    ck_assert_double_gt(fabs(lab.world->joint_position[0]), 0.3);
    lab_destroy(&lab);
}
END_TEST

// Nine balls have 27 velocities, more than a tree has as a matrix; what hangs on it is of rows.
START_TEST(projection_takes_a_wide_tree) {
    Lab lab = make_chain(10, 9, 0.004);
    lab.world->settings.joint_projection = true;
    for (int i = 0; i < 250; i++) {
        lab_step(&lab, 1);
        ck_assert_double_le(largest_gap(&lab), 1e-9);
    }
    ck_assert_double_lt(lab_position(&lab, 9).y, -1.0);
    lab_destroy(&lab);
}
END_TEST

// ---- other kinds

START_TEST(a_distance_keeps_its_length_and_takes_nothing_else) {
    Lab lab = lab_create(GRAVITY, 0.001);
    set_solver(&lab, SOLVER_CCP);
    const uint32_t body =
        add_body(&lab, pose_at(vec3(2.0, 0.0, 0.0), quat_identity()), NULL, 1.0, vec3(1, 1, 1));
    Build build = begin(&lab, JOINT_DISTANCE, -1, body, pose_at(vec3(0, 0, 0), quat_identity()),
                        pose_at(vec3(0, 0, 0), quat_identity()));
    build.length = 2.0;
    add(&lab, &build);
    for (int i = 0; i < 1000; i++) {
        lab_step(&lab, 1);
        // h^2 v^2/(2 l) of the chord of a step at 6 m/s
        ck_assert_double_eq_tol(vec3_norm(lab_position(&lab, body)), 2.0, 2e-5);
    }
    ck_assert_double_eq(vec3_norm(lab_spin(&lab, body)), 0.0);
    lab_destroy(&lab);
}
END_TEST

// Two ends at one place, but for roundings of one kind or another: the one is pushed off along the
// x axis of the other's frame, wherever that is and however it lies, and not along the roundings.
START_TEST(ends_at_one_place_part_along_the_frame) {
    static const double roundings[6][3] = {{0.0, 0.0, 0.0},    {4e-16, 0.0, 0.0},
                                           {-4e-16, 0.0, 0.0}, {0.0, 2e-15, -4e-16},
                                           {0.0, -2e-15, 0.0}, {4e-16, 1e-15, 4e-15}};
    const double m[2] = {2.0, 3.0}, inertia = 0.1, speed = 0.5;
    const Quat turn = quat_normalize((Quat){0.3, -0.5, 0.7, 0.4});
    const Pose frame = pose_at(vec3(0.2, -0.4, 0.3), quat_normalize((Quat){0.6, 0.1, -0.2, 0.7}));
    const Pose at = pose_at(vec3(1.1, -2.3, 0.7), turn), end = pose_compose(at, frame);
    const Vec3 x = quat_rotate(end.orientation, vec3(1.0, 0.0, 0.0));
    Lab lab = lab_create(0.0, 0.01);
    lab.world->settings.recovery_speed = speed;
    const uint32_t a = add_body(&lab, at, NULL, m[0], vec3(inertia, inertia, inertia));
    const Pose there = pose_at(vec3_add(end.position, vec3_load(roundings[_i])), quat_identity());
    const uint32_t b = add_body(&lab, there, NULL, m[1], vec3(1.0, 1.0, 1.0));
    Build build = begin(&lab, JOINT_DISTANCE, (int)a, b, frame,
                        pose_at(vec3(0.0, 0.0, 0.0), quat_identity()));
    build.length = 0.3;
    add(&lab, &build);
    lab_step(&lab, 1);
    // one impulse along x, with the arm that the frame has on its own body
    const Vec3 arm = vec3_sub(end.position, at.position), lever = vec3_cross(arm, x);
    const double impulse = speed / (1.0 / m[0] + 1.0 / m[1] + vec3_dot(lever, lever) / inertia);
    const Vec3 off[3] = {vec3_add_scaled(lab_velocity(&lab, a), impulse / m[0], x),
                         vec3_add_scaled(lab_velocity(&lab, b), -impulse / m[1], x),
                         vec3_add_scaled(lab_spin(&lab, a), impulse / inertia, lever)};
    for (int i = 0; i < 3; i++) {
        ck_assert_double_le(vec3_norm(off[i]),
                            1e-12); // roundings of a m/s, and the spin's own turn
    }
    lab_destroy(&lab);
}
END_TEST

// A wheel that is driven turns another one twice as fast the other way round; by rows, and by
// coordinates.
START_TEST(a_gear_keeps_its_ratio) {
    Lab lab = lab_create(0.0, 0.001);
    set_solver(&lab, SOLVER_CCP);
    lab_set(&lab, "tolerance", 1e-12);
    Build build;
    for (uint32_t i = 0; i < 2; i++) {
        add_body(&lab, pose_at(vec3(3.0 * i, 0.0, 0.0), quat_identity()), NULL, 1.0, vec3(1, 1, 1));
        build = begin(&lab, JOINT_HINGE, -1, i, pose_at(vec3(3.0 * i, 0, 0), quat_identity()),
                      pose_at(vec3(0, 0, 0), quat_identity()));
        build.as_rows = (uint32_t)_i;
        build.effort[0] = i == 0 ? 5.0 : 0.0;
        add(&lab, &build);
    }
    build = (Build){.kind = JOINT_GEAR,
                    .joint_a = 1,
                    .joint_b = 2,
                    .ratio = -2.0,
                    .length = 1.0,
                    .break_force = HUGE_VAL,
                    .break_torque = HUGE_VAL};
    build.frame_a[3] = build.frame_b[3] = 1.0;
    add(&lab, &build);
    lab_step(&lab, 2000);
    // 5 N m on an inertia of 1 + 2^2: 1 rad/s^2
    // a step turns a body by 2 atan(h w/2), so that bodies of rows lag by (h w)^3/12 a step, which
    // the gear takes back
    ck_assert_double_eq_tol(lab.world->joint_velocity[0], 2.0, 2e-5);
    ck_assert_double_eq_tol(lab.world->joint_velocity[1], -4.0, 4e-5);
    ck_assert_double_eq_tol(lab.world->joint_position[1], -2.0 * lab.world->joint_position[0],
                            1e-6);
    lab_destroy(&lab);
}
END_TEST

// Two wheels that turn alike at 1e9 rad/s, of 1e29 and 1e30 kg m^2, are to turn against each other:
// that takes (1/1e29 + 1/1e30)^-1 . 2e9 = 1.8e38 N m s, which a float holds; of 1e30 both it takes
// 1e39, which none does. The fault is of the second wheel's body.
START_TEST(a_gear_of_more_than_a_float_is_a_fault) {
    Lab lab = lab_create(0.0, 0.001);
    Error error = {0};
    set_solver(&lab, SOLVER_MDP);
    const double spin[6] = {0.0, 0.0, 0.0, 0.0, 0.0, 1e9};
    const double moment[2] = {_i == 0 ? 1e29 : 1e30, 1e30};
    for (uint32_t i = 0; i < 2; i++) {
        const Pose at = pose_at(vec3(3.0 * i, 0.0, 0.0), quat_identity());
        add_body(&lab, at, spin, 1.0, vec3(moment[i], moment[i], moment[i]));
        const Build hinge =
            begin(&lab, JOINT_HINGE, -1, i, at, pose_at(vec3(0, 0, 0), quat_identity()));
        add(&lab, &hinge);
    }
    Build gear = begin(&lab, JOINT_GEAR, -1, 0, pose_at(vec3(0, 0, 0), quat_identity()),
                       pose_at(vec3(0, 0, 0), quat_identity()));
    gear.b = 0;
    gear.joint_a = 1;
    gear.joint_b = 2;
    gear.ratio = -1.0;
    add(&lab, &gear);
    const StepInput input = {.time_step = 0.001};
    const Status status =
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error);
    ck_assert_msg(status == (_i == 0 ? STATUS_OK : STATUS_FAILED_PRECONDITION), "%s",
                  error.message);
    if (_i == 1) {
        ck_assert_str_eq(lab.stepper->fault.quantity, "joint impulse");
        ck_assert_uint_eq(lab.stepper->fault.body, lab.world->body_id[1]);
    }
    lab_destroy(&lab);
}
END_TEST

// So that three rows are redundant. Gaps are some h^2 of acceleration, and springs of sap and
// compliant.
START_TEST(a_loop_with_redundant_rows_goes_round) {
    static const SolverKind solvers[] = {SOLVER_MDP, SOLVER_CCP, SOLVER_SAP, SOLVER_COMPLIANT,
                                         SOLVER_LCP};
    Lab lab = make_linkage(solvers[_i % 5], _i < 5 ? 1 : 3);
    double gap = 0.0, turned = 0.0;
    for (int i = 0; i < 1000; i++) {
        lab_step(&lab, 1);
        gap = fmax(gap, largest_gap(&lab));
        turned = fmax(turned, fabs(lab.world->joint_position[0]));
    }
    ck_assert_double_gt(turned, 0.8);
    ck_assert_msg(gap < 0.01, "%s: %g", solver_get(solvers[_i % 5])->name, gap);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_joint_that_stands_twice_is_one) {
    Vec3 at[2];
    for (int twice = 0; twice < 2; twice++) {
        Lab lab = make_rods(3, 0.002);
        set_solver(&lab, SOLVER_CCP);
        lab_set(&lab, "tolerance", 1e-12);
        for (int i = 0; twice && i < 3; i++) {
            const Build build = begin(&lab, JOINT_BALL, i - 1, (uint32_t)i,
                                      pose_at(vec3(i == 0 ? 0.0 : 0.25, 0, 0), quat_identity()),
                                      pose_at(vec3(-0.25, 0, 0), quat_identity()));
            add(&lab, &build);
        }
        lab_step(&lab, 250);
        at[twice] = lab_position(&lab, 2);
        lab_destroy(&lab);
    }
    ck_assert_double_eq_tol(vec3_norm(vec3_sub(at[0], at[1])), 0.0, 1e-7);
}
END_TEST

// A weight of 9.81 N and a torque of 4.905 N m on a joint that leaves nothing free.
START_TEST(a_joint_breaks_where_it_bears_too_much) {
    static const struct {
        double force, torque;
        bool holds;
    } limits[] = {{9.9, HUGE_VAL, true},
                  {9.7, HUGE_VAL, false},
                  {HUGE_VAL, 5.0, true},
                  {HUGE_VAL, 4.8, false}};
    Lab lab = lab_create(GRAVITY, 0.01);
    set_solver(&lab, SOLVER_CCP);
    const uint32_t body =
        add_body(&lab, pose_at(vec3(0.5, 0, 0), quat_identity()), NULL, 1.0, vec3(0.1, 0.1, 0.1));
    Build build = begin(&lab, JOINT_FIXED, -1, body, pose_at(vec3(0, 0, 0), quat_identity()),
                        pose_at(vec3(-0.5, 0, 0), quat_identity()));
    build.break_force = limits[_i].force;
    build.break_torque = limits[_i].torque;
    add(&lab, &build);
    lab_step(&lab, 100);
    ck_assert_uint_eq(lab.world->joint_count, limits[_i].holds);
    const double fallen = -lab_position(&lab, body).z;
    if (limits[_i].holds) {
        ck_assert_double_le(fallen, 1e-6);
    } else { // from the step on after it broke
        ck_assert_double_eq_tol(fallen, 0.5 * GRAVITY * 0.99 * 1.0, 1e-9);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_moves_by_itself_takes_others_along) {
    Lab lab = lab_create(0.0, 0.01);
    set_solver(&lab, SOLVER_CCP);
    const double velocity[6] = {0, 0, 0, 0, 0, 2.0};
    const uint32_t driver = lab_body(&lab, 0, BODY_KINEMATIC,
                                     pose_at(vec3(0, 0, 0), quat_identity()), velocity, 0.0, NULL);
    const uint32_t body =
        add_body(&lab, pose_at(vec3(1, 0, 0), quat_identity()), NULL, 1.0, vec3(1, 1, 1));
    const Build build =
        begin(&lab, JOINT_FIXED, (int)driver, body, pose_at(vec3(1, 0, 0), quat_identity()),
              pose_at(vec3(0, 0, 0), quat_identity()));
    add(&lab, &build);
    lab_step(&lab, 100);
    ck_assert_double_eq_tol(lab_spin(&lab, body).z, 2.0, 1e-3);
    ck_assert_double_le(gap_of(&lab, 0), 2.0 * 0.5 * 0.01 * 0.01 * 4.0); // h^2 w^2 r/2, twice
    lab_destroy(&lab);
}
END_TEST

// Two bodies 1e30 m apart, of which a torque spins the first: its velocities, the other's and their
// poses are such as floats hold. How fast the other goes by is measured by the joint, which leaves
// all free and so has no row: v = w x r = 1e9 rad/s 1e30 m.
START_TEST(a_rate_that_no_float_holds_has_not_happened) {
    Lab lab = lab_create(0.0, 1.0);
    const Vec3 moments = vec3(1.0, 1.0, 1.0);
    const uint32_t near =
        add_body(&lab, pose_at(vec3(0.0, 0.0, 0.0), quat_identity()), NULL, 1.0, moments);
    const uint32_t far =
        add_body(&lab, pose_at(vec3(2.0, 0.0, 0.0), quat_identity()), NULL, 1.0, moments);
    const Build build =
        begin(&lab, JOINT_FREE, (int)near, far, pose_at(vec3(0.0, 0.0, 0.0), quat_identity()),
              pose_at(vec3(0.0, 0.0, 0.0), quat_identity()));
    add(&lab, &build);
    lab.world->pose[7 * (size_t)far] = 1e30;
    const uint64_t before = snapshot_hash(lab.world);
    const double wrench[6] = {0.0, 0.0, 0.0, 0.0, 0.0, _i == 0 ? 1e9 : 1e8};
    const StepInput input = {
        .time_step = 1.0, .wrench_count = 1, .wrench_body = &near, .wrench = wrench};
    Error error = {0};
    const Status status =
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &lab.report, &error);
    if (_i == 0) {
        ck_assert_int_eq(status, STATUS_FAILED_PRECONDITION);
        ck_assert(lab.world->faulted);
        lab.world->faulted = false;
        ck_assert_uint_eq(snapshot_hash(lab.world), before);
        ck_assert_str_eq(lab.stepper->fault.quantity, "position or rate of a joint of rows");
        ck_assert_uint_eq(lab.stepper->fault.body, lab.world->body_id[far]);
    } else { // 1e38 m/s: a float holds it; the first has turned by half a turn, but for 1e-8
        ck_assert_int_eq(status, STATUS_OK);
        ck_assert_double_eq_tol(fabs(lab.world->joint_velocity[1]), 1e38, 1e30);
    }
    lab_destroy(&lab);
}
END_TEST

// The weakest springs and drives that there are: nobody has a number for one over them, and nothing
// moves otherwise for them. By rows, and by coordinates with a bounded effort, which is a row, too.
START_TEST(a_pull_that_is_next_to_nothing_is_none) {
    static const double weakest[] = {0.0, 5e-324, 1e-303, 1e-250};
    double first[6];
    for (size_t i = 0; i < sizeof(weakest) / sizeof(weakest[0]); i++) {
        Lab lab = lab_create(GRAVITY, 0.001);
        const Pose at = pose_at(vec3(0.0, 0.0, 0.0), quat_identity());
        const double velocity[6] = {1.0, 2.0, 3.0, 0.5, 0.25, 0.125};
        add_body(&lab, at, velocity, 1.0, vec3(1.0, 1.0, 1.0));
        Build build = begin(&lab, JOINT_SLIDER, -1, 0, at, at);
        build.as_rows = _i == 0;
        build.stiffness[0] = build.damping[0] = _i == 0 ? weakest[i] : 0.0;
        build.drive_stiffness[0] = build.drive_damping[0] = weakest[i];
        build.effort_max[0] = 1.0;
        build.rest[0] = 1.0;
        add(&lab, &build);
        lab_step(&lab, 10);
        ck_assert_uint_eq(lab.stepper->problem.row_count, _i == 0 ? 5 : 0);
        if (i == 0) {
            memcpy(first, lab.world->velocity, sizeof(first));
        }
        ck_assert_mem_eq(first, lab.world->velocity, sizeof(first));
        lab_destroy(&lab);
    }
}
END_TEST

START_TEST(a_snapshot_goes_on_to_the_bit) {
    Lab lab = make_rods(5, 0.004);
    lab_step(&lab, 50);
    ck_assert_uint_gt(lab.world->joint_memory_count, 0);
    Lab copy = lab_create(GRAVITY, 0.004);
    world_destroy(copy.world);
    copy.world = lab_copy(&lab);
    lab_step(&lab, 50);
    lab_step(&copy, 50);
    ck_assert_uint_eq(snapshot_hash(lab.world), snapshot_hash(copy.world));
    lab_destroy(&lab);
    lab_destroy(&copy);
}
END_TEST

static TCase *case_rows(void) {
    TCase *tcase = tcase_create("joint rows");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, three_rods_fall_as_the_reference_says, 0, 3);
    tcase_add_loop_test(tcase, gaps_change_as_their_rows_say, 0, 64);
    tcase_add_loop_test(tcase, rows_come_to_coordinates_as_steps_get_small, 0, 5 * ACTS);
    tcase_add_loop_test(tcase, a_pendulum_and_a_linkage_come_to_coordinates, 0, 10);
    tcase_add_loop_test(tcase, a_chain_of_twenty_does_not_come_apart, 0, 2);
    tcase_add_test(tcase, the_gap_of_a_chain_is_of_second_order);
    tcase_add_loop_test(tcase, projection_brings_a_chain_together, 0, 2);
    tcase_add_loop_test(tcase, a_chain_takes_no_more_memory_the_longer_it_falls, 0, 8);
    tcase_add_test(tcase, projection_closes_the_loop_of_a_tree);
    tcase_add_test(tcase, projection_takes_a_wide_tree);
    tcase_add_test(tcase, a_distance_keeps_its_length_and_takes_nothing_else);
    tcase_add_loop_test(tcase, ends_at_one_place_part_along_the_frame, 0, 6);
    tcase_add_loop_test(tcase, a_gear_keeps_its_ratio, 0, 2);
    tcase_add_loop_test(tcase, a_gear_of_more_than_a_float_is_a_fault, 0, 2);
    tcase_add_loop_test(tcase, a_loop_with_redundant_rows_goes_round, 0, 10);
    tcase_add_test(tcase, a_joint_that_stands_twice_is_one);
    tcase_add_loop_test(tcase, a_joint_breaks_where_it_bears_too_much, 0, 4);
    tcase_add_test(tcase, what_moves_by_itself_takes_others_along);
    tcase_add_loop_test(tcase, a_rate_that_no_float_holds_has_not_happened, 0, 2);
    tcase_add_loop_test(tcase, a_pull_that_is_next_to_nothing_is_none, 0, 2);
    tcase_add_test(tcase, a_snapshot_goes_on_to_the_bit);
    return tcase;
}

SUITE_MAIN("step/joint_rows", case_rows)
