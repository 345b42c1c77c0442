// SPDX-License-Identifier: MIT
// A fast body hits one end of what joints hold together, by coordinates or by rows, and the other
// end, which it does not come near, is thrown at a thin wall.
#include "support/shot_row.h"
#include "support/suite.h"

#include <math.h>

enum { WAYS = 2 * SHOT_ROW_TURNS }; // by coordinates, by rows

static Pose inverse(Pose pose) {
    const Quat q = pose.orientation, back = {q.w, -q.x, -q.y, -q.z};
    return (Pose){vec3_neg(quat_rotate(back, pose.position)), back};
}

// At a place of the row's axes; a -1: the world.
static void join(ShotRowLab *of, JointKind kind, int a, uint32_t b, Vec3 at, bool as_rows) {
    const World *world = of->lab.world;
    const Pose frame = shot_row_placed(of, at);
    const uint32_t kinds = kind, rows = as_rows;
    const uint64_t body_a = a < 0 ? 0 : world->body_id[a], body_b = world->body_id[b];
    double frame_a[7], frame_b[7];
    pose_store(frame_a, a < 0
                            ? frame
                            : pose_compose(inverse(pose_load(world->pose + 7 * (size_t)a)), frame));
    pose_store(frame_b, pose_compose(inverse(pose_load(world->pose + 7 * (size_t)b)), frame));
    const uint8_t axes = joint_kind_axes(kind);
    lab_joints(&of->lab, &(JointColumns){.count = 1,
                                         .axis_count = joint_axis_count(axes),
                                         .position_count = joint_position_count(axes),
                                         .kind = &kinds,
                                         .as_rows = &rows,
                                         .body_a = &body_a,
                                         .body_b = &body_b,
                                         .frame_a = frame_a,
                                         .frame_b = frame_b});
}

// A row with gaps, as a train.
static ShotRowLab make_train(int way, double room) {
    ShotRow row = shot_row_default();
    row.between = 0.06;
    row.room = room;
    row.turn = way / 2;
    ShotRowLab of = shot_row_create(&row);
    lab_set(&of.lab, "budget", 3e7); // rows take more than contacts
    for (uint32_t i = 1; i < row.count; i++) {
        const Vec3 at = vec3((2.0 * row.half + row.between) * (i - 0.5), 0.0, 0.0);
        join(&of, JOINT_FIXED, (int)(of.first + i - 1), of.first + i, at, way % 2 == 1);
    }
    shot_row_shoot(&of);
    return of;
}

START_TEST(a_train_leaves_as_one) {
    ShotRowLab of = make_train(_i, 0.0);
    lab_step(&of.lab, 3);
    shot_row_check_speed(&of, shot_row_speed_after(&of.row, 0.0));
    const double had = of.row.shot_mass * of.row.speed;
    ck_assert_double_le(
        vec3_norm(vec3_sub(shot_row_momentum(&of), shot_row_turned(&of, vec3(had, 0.0, 0.0)))),
        1e-12 * had);
    lab_destroy(&of.lab);
}
END_TEST

START_TEST(a_train_stays_before_a_thin_wall) {
    ShotRowLab of = make_train(_i, 0.05);
    for (int i = 0; i < 5; i++) {
        lab_step(&of.lab, 1);
        // by rows a joint gives by as much as it is solved to, 1e-4 of 20 m/s h
        shot_row_check_order(&of, 1e-4);
    }
    shot_row_check_speed(&of, 0.0);
    lab_destroy(&of.lab);
}
END_TEST

// ---- a lever

#define ARM      0.4 // of what is hit
#define LONG_ARM 0.8 // of what is thrown, the other way

// The row is one body, which hangs, with its other end, on a hinge across the way of the shot.
static ShotRowLab make_lever(int way, uint32_t *thrown) {
    ShotRow row = shot_row_default();
    row.count = 1;
    row.room = 0.0;
    row.gap = 0.001;
    row.turn = way / 2;
    ShotRowLab of = shot_row_create(&row);
    *thrown = shot_row_add(&of, vec3(0.0, -ARM - LONG_ARM, 0.0));
    const Vec3 pivot = vec3(0.0, -ARM, 0.0);
    join(&of, JOINT_HINGE, -1, of.first, pivot, way % 2 == 1);
    join(&of, JOINT_FIXED, (int)of.first, *thrown, pivot, way % 2 == 1);
    shot_row_shoot(&of);
    return of;
}

// Angular momentum about the hinge: M v a = (M a^2 + m a^2 + m b^2 + 2 I) w, I = m s^2/6 of a cube.
START_TEST(a_lever_throws_by_its_arms) {
    uint32_t thrown;
    ShotRowLab of = make_lever(_i, &thrown);
    const ShotRow *row = &of.row;
    const double m = row->mass, side = 2.0 * row->half;
    const double moment =
        (row->shot_mass + m) * ARM * ARM + m * LONG_ARM * LONG_ARM + 2.0 * m * side * side / 6.0;
    // it comes up to it in the first step, and turns it in the second
    lab_step(&of.lab, 1);
    const double rate = vec3_norm(lab_spin(&of.lab, thrown));
    const double kept = shot_row_speed(&of, of.shot);
    ck_assert_double_eq_tol(rate * moment + row->shot_mass * ARM * (kept - rate * ARM),
                            row->shot_mass * row->speed * ARM, 1e-3);
    lab_destroy(&of.lab);
}
END_TEST

// Behind what is thrown: half of its way of a step.
START_TEST(a_lever_throws_nobody_through_a_thin_wall) {
    uint32_t thrown;
    ShotRowLab of = make_lever(_i, &thrown);
    const Id shape = lab_shape(&of.lab, PRIMITIVE_BOX, vec3(0.002, 0.3, 0.3), 0);
    const double wall = -of.row.half - 0.07;
    lab_body(&of.lab, shape, BODY_STATIC, shot_row_placed(&of, vec3(wall, -ARM - LONG_ARM, 0.0)),
             NULL, 0.0, NULL);
    for (int i = 0; i < 6; i++) {
        lab_step(&of.lab, 1);
        ck_assert_double_gt(shot_row_place(&of, thrown), wall);
    }
    ck_assert_double_lt(shot_row_place(&of, thrown), 0.0); // it was thrown there
    lab_destroy(&of.lab);
}
END_TEST

static TCase *case_joined(void) {
    TCase *tcase = tcase_create("joined");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_loop_test(tcase, a_train_leaves_as_one, 0, WAYS);
    tcase_add_loop_test(tcase, a_train_stays_before_a_thin_wall, 0, WAYS);
    tcase_add_loop_test(tcase, a_lever_throws_by_its_arms, 0, WAYS);
    tcase_add_loop_test(tcase, a_lever_throws_nobody_through_a_thin_wall, 0, WAYS);
    return tcase;
}

SUITE_MAIN("step/pushes/joined", case_joined)
