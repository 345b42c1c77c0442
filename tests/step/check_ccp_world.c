// SPDX-License-Identifier: MIT
// The world cases of ccp (tests/reference/ccp.json) on the whole step: scenes, numbers and
// tolerances are the file's. Margins bring every pair in, planes are those of now. And what the
// step adds: bounded recovery, warm starts, one solver after the other in one world.
#include "solve/ccp/ccp.h"
#include "solve/solver.h"
#include "step/step.h"

#include "support/heap.h"
#include "support/lab.h"
#include "support/reference.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Lab make_lab(double time_step, Vec3 gravity) {
    Lab lab = lab_create(9.81, time_step);
    WorldSettings settings = lab.world->settings;
    SolverSettings solver = solver_default(SOLVER_CCP);
    step_set_solver(&settings, &solver);
    settings.gravity = gravity;
    settings.margin = 10.0;
    settings.contact_plane = CONTACT_PLANE_START;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "tolerance", 1e-12);
    return lab;
}

static void assert_case(const char *id, const char *words, double value) {
    json_t *root = reference_open("ccp.json"), *cases = reference_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        if (strcmp(json_string_value(reference_get(one, "id")), id) != 0 ||
            strstr(params, words) == NULL) {
            continue;
        }
        const char *kind = json_string_value(reference_get(one, "tol_kind"));
        double wanted = json_number_value(reference_get(one, "value"));
        double tolerance = json_number_value(reference_get(one, "tol"));
        tolerance *= strcmp(kind, "relative") == 0 ? fabs(wanted) : 1.0;
        ck_assert_msg(fabs(value - wanted) <= tolerance, "%s, %s: %.17g, wanted %.17g", id, words,
                      value, wanted);
        json_decref(root);
        return;
    }
    ck_abort_msg("no case %s with %s", id, words);
}

// ---- A1: a ball that slides is thrown

typedef struct Slide {
    double mu, h, v0, time; // until after the highest gap
    const char *words;
} Slide;

static const Slide slides[] = {
    {0.2, 0.01, 10.0, 0.3, "mu=0.2 h=0.01 v0=10;"},
    {0.2, 0.0001, 10.0, 0.2, "mu=0.2 h=0.0001 v0=10;"},
    {0.5, 0.001, 10.0, 0.3, "mu=0.5 h=0.001 v0=10;"},
    {0.2, 0.001, 1.0, 0.03, "mu=0.2 h=0.001 v0=1;"},
    {0.2, 0.001, 40.0, 0.8, "mu=0.2 h=0.001 v0=40;"},
};

START_TEST(a1_a_ball_that_slides_where_it_touches_is_thrown) {
    const Slide *slide = &slides[_i];
    Lab lab = make_lab(slide->h, vec3(0.0, 0.0, -9.81));
    Id material = lab_material(&lab, slide->mu, 0.0);
    lab_ground(&lab, material);
    const double velocity[6] = {slide->v0, 0.0, 0.0, 0.0, 0.0, 0.0};
    uint32_t ball = lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material), BODY_DYNAMIC,
        (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()}, velocity, 1.0,
        NULL);
    lab_step(&lab, 1);
    assert_case("A1.pop.vn1", slide->words, lab_velocity(&lab, ball).z);
    // of the lowest point; it turns about y alone
    assert_case("A1.pop.slip1", slide->words,
                lab_velocity(&lab, ball).x - 0.1 * lab_spin(&lab, ball).y);
    double highest = 0.0;
    int steps = (int)(slide->time / slide->h);
    for (int i = 0; i < steps; i++) {
        highest = fmax(highest, lab_position(&lab, ball).z - 0.1);
        lab_step(&lab, 1);
    }
    assert_case("A1.pop.hmax", slide->words, highest);
    lab_destroy(&lab);
}
END_TEST

// ---- A2: a box on a slope

typedef struct Slope {
    double degrees, mu, h;
    const char *words;
} Slope;

static const Slope slopes[] = {
    {20.0, 0.5, 0.01, "slope 20 deg mu=0.5 h=0.01;"},
    {30.0, 0.3, 0.001, "slope 30 deg mu=0.3 h=0.001;"},
    {45.0, 0.9, 0.01, "slope 45 deg mu=0.9 h=0.01;"},
};

START_TEST(a2_a_box_on_a_slope_hovers_as_it_slides) {
    const Slope *slope = &slopes[_i];
    double angle = slope->degrees * M_PI / 180.0;
    Lab lab = make_lab(slope->h, vec3(9.81 * sin(angle), 0.0, -9.81 * cos(angle)));
    Id material = lab_material(&lab, slope->mu, 0.0);
    lab_ground(&lab, material);
    uint32_t box = lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.5, 0.5, 0.25), material), BODY_DYNAMIC,
        (Pose){.position = vec3(0.0, 0.0, 0.25), .orientation = quat_identity()}, NULL, 2.0, NULL);
    lab_step(&lab, (int)(1.0 / slope->h + 0.5));
    assert_case("A2.v", slope->words, lab_velocity(&lab, box).x);
    assert_case("A2.x", slope->words, lab_position(&lab, box).x);
    assert_case("A2.gap", slope->words, lab_position(&lab, box).z - 0.25);
    lab_destroy(&lab);
}
END_TEST

// ---- A7: with our reach nothing is thrown

START_TEST(a7_a_ball_that_lands_is_not_thrown) {
    Lab lab = make_lab(0.001, vec3(0.0, 0.0, -9.81));
    WorldSettings settings = lab.world->settings;
    settings.margin = 0.0; // what is left of the reach is what the bodies do
    world_set_settings(lab.world, &settings);
    Id material = lab_material(&lab, 0.2, 0.0);
    lab_ground(&lab, material);
    const double velocity[6] = {10.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    uint32_t ball = lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material), BODY_DYNAMIC,
        (Pose){.position = vec3(0.0, 0.0, 0.15), .orientation = quat_identity()}, velocity, 1.0,
        NULL);
    double highest = 0.0;
    bool has_touched = false;
    for (int i = 0; i < 600; i++) {
        double falling = lab_velocity(&lab, ball).z - 9.81 * 0.001;
        lab_step(&lab, 1);
        has_touched = has_touched || lab_velocity(&lab, ball).z > falling + 1e-9;
        highest = has_touched ? fmax(highest, lab_position(&lab, ball).z - 0.1) : highest;
    }
    assert_case("A7.landing",
                "h=0.001; g=9.81; ccp relaxed, symplectic Euler; T=.6; lever arm the "
                "ball's own lowest point; the contact enters when phi <= 1.0",
                highest);
    lab_destroy(&lab);
}
END_TEST

// ---- what substeps tell

// Two balls: one slides where it touches and is thrown at once, and does not touch again; the other
// lands at the end of the step, and slides as well, but slower.
static Lab throw_and_land(double time_step) {
    Lab lab = make_lab(time_step, vec3(0.0, 0.0, -9.81));
    const Id material = lab_material(&lab, 0.2, 0.0),
             ball = lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material);
    lab_ground(&lab, material);
    const double sliding[6] = {10.0, 0.0, 0.0, 0.0, 0.0, 0.0},
                 landing[6] = {3.0, 0.0, -1.0, 0.0, 0.0, 0.0};
    const Quat upright = quat_identity();
    lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0.0, 0.0, 0.1), upright}, sliding, 1.0, NULL);
    lab_body(&lab, ball, BODY_DYNAMIC, (Pose){vec3(0.0, 5.0, 0.1035), upright}, landing, 1.0, NULL);
    return lab;
}

// Who launched fastest is who did so in any of the substeps, with what that was.
START_TEST(a_step_tells_of_its_fastest_launch) {
    enum { SUBSTEPS = 4 };
    const double h = 0.001;
    Lab whole = throw_and_land(SUBSTEPS * h), small = throw_and_land(h);
    lab_divide(&whole, SUBSTEPS);
    lab_step(&whole, 1);
    StepLaunch fastest = {0};
    Id last = 0;
    for (int i = 0; i < SUBSTEPS; i++) {
        lab_step(&small, 1);
        const StepLaunch *launch = &small.report.launch;
        const double height = fmax(fastest.height, launch->height);
        last = launch->body[1];
        fastest = launch->speed > fastest.speed ? *launch : fastest;
        fastest.height = height;
    }
    ck_assert_uint_eq(last, small.world->body_id[2]);
    ck_assert_uint_eq(whole.report.launch.body[0], whole.world->body_id[0]);
    ck_assert_uint_eq(whole.report.launch.body[1], whole.world->body_id[1]);
    // the same problems, solved to 1e-12
    ck_assert_double_eq_tol(whole.report.launch.speed, fastest.speed, 1e-9);
    ck_assert_double_eq_tol(whole.report.launch.height, fastest.height, 1e-9);
    lab_destroy(&whole);
    lab_destroy(&small);
}
END_TEST

// ---- warm starts

// A heap at rest: each step starts where the last ended, and needs next to nothing.
START_TEST(a_step_starts_from_the_impulses_of_the_last) {
    uint32_t sum[2] = {0, 0};
    for (int warm = 0; warm < 2; warm++) {
        Lab lab = heap_create(7, 8);
        SolverSettings solver = solver_default(SOLVER_CCP);
        step_set_solver(&lab.world->settings, &solver);
        lab_set(&lab, "warm_start", warm);
        lab_step(&lab, 400);
        for (int i = 0; i < 50; i++) {
            lab_step(&lab, 1);
            ck_assert(lab.report.certificate.converged);
            sum[warm] += lab.report.iterations;
        }
        lab_destroy(&lab);
    }
    ck_assert_msg(2 * sum[1] < sum[0], "%u iterations warm, %u cold", sum[1], sum[0]);
}
END_TEST

// ---- overlaps in a box that is closed

// A ball of 0.1 m between a ground and a lid that are 0.19 m apart: each wants it to leave, and
// both get some of it. It comes to rest half way, and nothing is thrown.
START_TEST(a_ball_that_two_walls_push_stays_between_them) {
    Lab lab = make_lab(0.01, vec3(0.0, 0.0, -9.81));
    lab_set(&lab, "tolerance", 1e-6);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    Id lid = lab_shape(&lab, PRIMITIVE_BOX, vec3(1.0, 1.0, 0.1), material);
    lab_body(&lab, lid, BODY_STATIC,
             (Pose){.position = vec3(0.0, 0.0, 0.29), .orientation = quat_identity()}, NULL, 0.0,
             NULL);
    uint32_t ball = lab_body(
        &lab, lab_shape(&lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material), BODY_DYNAMIC,
        (Pose){.position = vec3(0.0, 0.0, 0.097), .orientation = quat_identity()}, NULL, 1.0, NULL);
    // 3 mm deep in the ground, 7 mm in the lid, which ask for 0.3 m/s and 0.7 m/s. Of the 1 m/s
    // that is too much each loses a share of w, that of a point half way into its overlap.
    lab_step(&lab, 1);
    ck_assert(lab.report.certificate.converged);
    ck_assert_uint_eq(lab.report.softened_count, 2);
    double below = 3.0 + 5.0 * 0.985 * 0.985, above = 3.0 + 5.0 * 0.965 * 0.965;
    ck_assert_double_eq_tol(lab_velocity(&lab, ball).z, 0.3 - below / (below + above), 1e-5);
    lab_step(&lab, 20);
    ck_assert(lab.report.certificate.converged);
    ck_assert_double_eq_tol(lab_position(&lab, ball).z, 0.095, 1e-5);
    ck_assert_double_le(fabs(lab_velocity(&lab, ball).z), 1e-5);
    lab_destroy(&lab);
}
END_TEST

// ---- A3: three rods, joined by rows

enum { RODS = 3 };

static const struct {
    double h;
    const char *words;
} chains[] = {{0.004, "h=0.004"}, {0.001, "h=0.001"}, {0.0005, "h=0.0005"}};

// Laid end to end along x, each held at its left end, the first by the world.
static void make_chain(Lab *lab) {
    const double arm = 0.25, across = 1.0 / 12.0 * 0.25,
                 inertia[6] = {1e-3 * across, across, across};
    const uint32_t kind = JOINT_BALL, as_rows = 1;
    for (uint32_t i = 0; i < RODS; i++) {
        const Pose pose = {.position = vec3(0.25 + 0.5 * (double)i, 0.0, 0.0),
                           .orientation = quat_identity()};
        const double at_rest[6] = {0.0};
        uint32_t rod = lab_body(lab, 0, BODY_DYNAMIC, pose, at_rest, 1.0, inertia);
        const Id a = i == 0 ? 0 : lab->world->body_id[rod - 1], b = lab->world->body_id[rod];
        const double frame_a[7] = {i == 0 ? 0.0 : arm, 0.0, 0.0, 1.0}, frame_b[7] = {-arm, 0, 0, 1};
        const JointColumns columns = {.count = 1,
                                      .axis_count = 3,
                                      .position_count = 4,
                                      .kind = &kind,
                                      .as_rows = &as_rows,
                                      .body_a = &a,
                                      .body_b = &b,
                                      .frame_a = frame_a,
                                      .frame_b = frame_b};
        lab_joints(lab, &columns);
    }
}

static Vec3 end_of(const Lab *lab, uint32_t rod, double x) {
    return vec3_add(lab_position(lab, rod),
                    quat_rotate(lab_orientation(lab, rod), vec3(x, 0.0, 0.0)));
}

static double chain_gap(const Lab *lab) {
    double most = 0.0;
    for (uint32_t i = 0; i < RODS; i++) {
        Vec3 holder = i == 0 ? vec3(0.0, 0.0, 0.0) : end_of(lab, i - 1, 0.25);
        most = fmax(most, vec3_norm(vec3_sub(end_of(lab, i, -0.25), holder)));
    }
    return most;
}

// Of the centres, from where the rods of the exact equations are.
static double chain_error(const Lab *lab) {
    json_t *root = reference_open("ccp.json"), *cases = reference_get(root, "cases"), *exact = NULL;
    double most = 0.0;
    for (size_t i = 0; exact == NULL; i++) {
        json_t *one = json_array_get(cases, i);
        bool is_it = strcmp(json_string_value(reference_get(one, "id")), "A3.exact") == 0;
        exact = is_it ? reference_get(one, "value") : NULL;
    }
    for (uint32_t i = 0; i < RODS; i++) {
        const json_t *place = json_array_get(exact, i);
        Vec3 is = lab_position(lab, i);
        double x = json_number_value(json_array_get(place, 0)),
               y = json_number_value(json_array_get(place, 1));
        most = fmax(most, hypot(is.x - x, is.y - y));
    }
    json_decref(root);
    return most;
}

START_TEST(a3_a_chain_of_rows_falls_as_the_scheme_has_it) {
    Lab lab = make_lab(chains[_i].h, vec3(0.0, -9.81, 0.0));
    double most = 0.0;
    make_chain(&lab);
    for (int i = 0, steps = (int)(0.5 / chains[_i].h + 0.5); i < steps; i++) {
        lab_step(&lab, 1);
        most = fmax(most, chain_gap(&lab));
    }
    assert_case("A3.scheme", chains[_i].words, chain_error(&lab));
    assert_case("A3.gap", chains[_i].words, most);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_world(void) {
    TCase *tcase = tcase_create("world");
    tcase_add_loop_test(tcase, a1_a_ball_that_slides_where_it_touches_is_thrown, 0,
                        sizeof(slides) / sizeof(slides[0]));
    tcase_add_loop_test(tcase, a2_a_box_on_a_slope_hovers_as_it_slides, 0,
                        sizeof(slopes) / sizeof(slopes[0]));
    tcase_add_loop_test(tcase, a3_a_chain_of_rows_falls_as_the_scheme_has_it, 0,
                        (int)(sizeof(chains) / sizeof(chains[0])));
    tcase_add_test(tcase, a7_a_ball_that_lands_is_not_thrown);
    tcase_add_test(tcase, a_ball_that_two_walls_push_stays_between_them);
    tcase_add_test(tcase, a_step_tells_of_its_fastest_launch);
    tcase_add_test(tcase, a_step_starts_from_the_impulses_of_the_last);
    return tcase;
}

SUITE_MAIN("step/ccp_world", case_world)
