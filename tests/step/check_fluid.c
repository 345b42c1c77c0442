// SPDX-License-Identifier: MIT
// A fluid that fills the world, against closed forms. Of a body alone a step is the solution for
// the density and implicit Euler for the viscosity, so both are met to rounding at any step.
#include "step/snapshot/snapshot.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define PI        3.14159265358979323846
#define TIME_STEP 0.01
#define DENSITY   900.0
#define VISCOSITY 3.0
#define SPEED     5.0
enum { STEPS = 50 };

static const Quat askew = {.w = 0.5, .x = 0.1, .y = -0.7, .z = 0.5};
static const Vec3 half = {0.1, 0.2, 0.35};

static void fill(World *world, double density, double viscosity) {
    WorldSettings settings = world->settings;
    settings.fluid_density = density;
    settings.fluid_viscosity = viscosity;
    world_set_settings(world, &settings);
}

// A box that moves along, or turns about, one of its own axes.
static Lab moving_box(int axis, bool turns) {
    Lab lab = lab_create(0.0, TIME_STEP);
    const Quat turn = quat_normalize(askew);
    const Vec3 along = quat_rotate(turn, vec3(axis == 0, axis == 1, axis == 2));
    double velocity[6] = {0};
    vec3_store(velocity + (turns ? 3 : 0), vec3_scale(SPEED, along));
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC,
             (Pose){.orientation = turn}, velocity, 0.0, NULL);
    return lab;
}

static double edge(int axis) {
    return 2.0 * vec3_get(half, axis % 3);
}

static double mean_edge(void) {
    return (edge(0) + edge(1) + edge(2)) / 3.0;
}

static double moment(const World *world, int axis) {
    return vec3_get(
        vec3(world->mass[0].inertia.xx, world->mass[0].inertia.yy, world->mass[0].inertia.zz),
        axis);
}

START_TEST(a_box_slows_down_as_its_faces_say) {
    const int axis = _i % 3;
    const bool turns = _i >= 3;
    Lab lab = moving_box(axis, turns);
    fill(lab.world, DENSITY, 0.0);
    lab_step(&lab, STEPS);
    const double j = edge(axis + 1), k = edge(axis + 2);
    const double drag =
        turns ? DENSITY * edge(axis) * (pow(j, 4) + pow(k, 4)) / 64.0 : 0.5 * DENSITY * j * k;
    const double inertia = turns ? moment(lab.world, axis) : lab.world->mass[0].mass;
    const double wanted = SPEED / (1.0 + drag * SPEED * STEPS * TIME_STEP / inertia);
    const double is = vec3_norm(turns ? lab_spin(&lab, 0) : lab_velocity(&lab, 0));
    ck_assert_double_lt(wanted, 0.9 * SPEED);
    ck_assert_double_eq_tol(is, wanted, 1e-11 * wanted); // some roundings a step
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_is_viscous_holds_as_a_ball_is_held) {
    const bool turns = _i >= 3;
    Lab lab = moving_box(_i % 3, turns);
    fill(lab.world, 0.0, VISCOSITY);
    lab_step(&lab, STEPS);
    const double d = mean_edge();
    const double drag = turns ? PI * d * d * d * VISCOSITY : 3.0 * PI * d * VISCOSITY;
    const double inertia = turns ? moment(lab.world, _i % 3) : lab.world->mass[0].mass;
    const double wanted = SPEED / pow(1.0 + TIME_STEP * drag / inertia, STEPS);
    const double is = vec3_norm(turns ? lab_spin(&lab, 0) : lab_velocity(&lab, 0));
    ck_assert_double_lt(wanted, 0.99 * SPEED);
    ck_assert_double_eq_tol(is, wanted, 1e-11 * wanted);
    lab_destroy(&lab);
}
END_TEST

// c v^2/(1 + h c v/m) = m g: where drag and weight are in balance.
START_TEST(what_falls_comes_to_its_last_speed) {
    Lab lab = lab_create(9.81, TIME_STEP);
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC,
             (Pose){.orientation = quat_identity()}, NULL, 0.0, NULL);
    fill(lab.world, DENSITY, 0.0);
    lab_step(&lab, 2000);
    const double m = lab.world->mass[0].mass, c = 0.5 * DENSITY * edge(0) * edge(1);
    const double of_step = 9.81 * TIME_STEP * c;
    const double wanted = (of_step + sqrt(of_step * of_step + 4.0 * c * m * 9.81)) / (2.0 * c);
    ck_assert_double_eq_tol(lab_velocity(&lab, 0).z, -wanted, 1e-11);
    lab_destroy(&lab);
}
END_TEST

// Which axes a body has is a matter of names.
START_TEST(the_box_lies_as_the_inertia_does) {
    const Quat turn = quat_normalize(askew);
    const double velocity[6] = {3.0, -2.0, 1.0, 0.0, 0.0, 0.0};
    Lab lab[2];
    for (int i = 0; i < 2; i++) {
        lab[i] = lab_create(0.0, TIME_STEP);
        const Sym3 own = {0.4, 0.3, 0.2, 0.0, 0.0, 0.0};
        const Sym3 is = i == 0 ? own : sym3_rotate(quat_to_mat3(turn), own);
        const double inertia[6] = {is.xx, is.yy, is.zz, is.xy, is.xz, is.yz};
        lab_body(&lab[i], 0, BODY_DYNAMIC, (Pose){.orientation = i == 0 ? turn : quat_identity()},
                 velocity, 2.0, inertia);
        fill(lab[i].world, DENSITY, VISCOSITY);
        lab_step(&lab[i], 20);
    }
    const Vec3 apart = vec3_sub(lab_velocity(&lab[0], 0), lab_velocity(&lab[1], 0));
    ck_assert_double_lt(vec3_norm(apart), 1e-12 * vec3_norm(lab_velocity(&lab[0], 0)));
    ck_assert_double_lt(vec3_norm(lab_velocity(&lab[0], 0)), 3.0);
    lab_destroy(&lab[0]);
    lab_destroy(&lab[1]);
}
END_TEST

// Three boxes on hinges, in a step in which the fluid could turn each of them back a million times.
START_TEST(however_thick_it_is_nothing_is_turned_back) {
    enum { LINKS = 3 };
    Lab lab = lab_create(0.0, 0.1);
    const Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.2, 0.05, 0.05), 0);
    uint64_t body[LINKS];
    for (uint32_t i = 0; i < LINKS; i++) {
        const Pose at = {vec3(0.5 * i, 0.0, 0.0), quat_identity()};
        const uint32_t index = lab_body(&lab, box, BODY_DYNAMIC, at, NULL, 0.0, NULL);
        body[i] = lab.world->body_id[index];
    }
    const double frame_a[] = {0.25, 0, 0, 1, 0, 0, 0, 0.25, 0, 0, 1, 0, 0, 0},
                 frame_b[] = {-0.25, 0, 0, 1, 0, 0, 0, -0.25, 0, 0, 1, 0, 0, 0},
                 rate[] = {1e-3, -2e-3};
    const uint32_t kind[] = {JOINT_HINGE, JOINT_HINGE};
    lab_joints(&lab, &(const JointColumns){.count = 2,
                                           .axis_count = 2,
                                           .position_count = 2,
                                           .kind = kind,
                                           .body_a = body,
                                           .body_b = body + 1,
                                           .frame_a = frame_a,
                                           .frame_b = frame_b,
                                           .velocity = rate});
    fill(lab.world, 0.0, 1e9);
    ck_assert_double_gt(fabs(lab.world->joint_velocity[1]), 1e-3);
    lab_step(&lab, 1);
    // h c/m is 2e7 at least, of which 1e-10 is left; what turns is bent, by h (2e-3)^2 0.25 m/s
    for (uint32_t i = 0; i < 6 * LINKS; i++) {
        ck_assert_double_lt(fabs(lab.world->velocity[i]), 1e-6);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(what_rests_in_it_falls_asleep) {
    Lab lab = lab_create(9.81, TIME_STEP);
    lab_ground(&lab, 0);
    const Pose at = {vec3(0.0, 0.0, vec3_get(half, 2) + 0.01), quat_identity()};
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, half, 0), BODY_DYNAMIC, at, NULL, 0.0, NULL);
    WorldSettings settings = lab.world->settings;
    settings.sleep_speed = 0.05;
    settings.sleep_time = 0.2;
    world_set_settings(lab.world, &settings);
    fill(lab.world, DENSITY, VISCOSITY);
    lab_step(&lab, 200);
    ck_assert_uint_eq(lab.report.asleep_count, 1);
    lab_destroy(&lab);
}
END_TEST

START_TEST(it_is_of_snapshots_and_hashes) {
    Lab lab = moving_box(0, false);
    const uint64_t without = snapshot_hash(lab.world);
    fill(lab.world, DENSITY, VISCOSITY);
    ck_assert_uint_ne(snapshot_hash(lab.world), without);
    lab_step(&lab, 3);
    lab_restore(&lab);
    ck_assert_double_eq(lab.world->settings.fluid_density, DENSITY);
    ck_assert_double_eq(lab.world->settings.fluid_viscosity, VISCOSITY);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_fluid(void) {
    TCase *tcase = tcase_create("fluid");
    tcase_add_loop_test(tcase, a_box_slows_down_as_its_faces_say, 0, 6);
    tcase_add_loop_test(tcase, what_is_viscous_holds_as_a_ball_is_held, 0, 6);
    tcase_add_test(tcase, what_falls_comes_to_its_last_speed);
    tcase_add_test(tcase, the_box_lies_as_the_inertia_does);
    tcase_add_test(tcase, however_thick_it_is_nothing_is_turned_back);
    tcase_add_test(tcase, what_rests_in_it_falls_asleep);
    tcase_add_test(tcase, it_is_of_snapshots_and_hashes);
    return tcase;
}

SUITE_MAIN("step/fluid", case_fluid)
