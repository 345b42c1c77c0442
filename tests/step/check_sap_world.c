// SPDX-License-Identifier: MIT
// The world cases of sap (tests/reference/sap.json) on the whole step: scenes, numbers and
// tolerances are the file's. Margins bring every pair in, planes are those of now.
#include "solve/sap.h"
#include "step/step.h"

#include "support/lab.h"
#include "support/reference.h"
#include "support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static Lab make_lab(double time_step, Integrator integrator) {
    Lab lab = lab_create(9.81, time_step);
    WorldSettings settings = lab.world->settings;
    SolverSettings solver = solver_default(SOLVER_SAP);
    step_set_solver(&settings, &solver);
    settings.margin = 0.2;
    settings.recovery_speed = 1e9;
    settings.integrator = (uint8_t)integrator;
    settings.contact_plane = CONTACT_PLANE_START;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "tolerance", 1e-12);
    return lab;
}

// One surface stands for the pair: the ground's is rigid.
static Id compliant(Lab *lab, double stiffness, double dissipation_time, double friction) {
    Material material = material_default();
    material.stiffness = stiffness;
    material.dissipation_time = dissipation_time;
    material.friction = friction;
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_materials(lab->world, &material, 1, &id, &error) == STATUS_OK, "%s",
                  error.message);
    return id;
}

// A solid ball of 1 kg and 0.1 m, so high above the ground z <= 0.
static uint32_t drop_ball(Lab *lab, Id material, double gap) {
    Material ground = material_default();
    ground.friction = 0.5;
    Id rigid = lab_material(lab, ground.friction, 0.0);
    lab_ground(lab, rigid);
    const double still[6] = {0.0};
    return lab_body(lab, lab_shape(lab, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0), material),
                    BODY_DYNAMIC,
                    (Pose){.position = vec3(0.0, 0.0, 0.1 + gap), .orientation = quat_identity()},
                    still, 1.0, NULL);
}

static double gap_of(const Lab *lab, uint32_t ball) {
    return lab_position(lab, ball).z - 0.1;
}

static void assert_case(const char *id, const char *words, double value) {
    json_t *root = reference_open("sap.json"), *cases = reference_get(root, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        json_t *one = json_array_get(cases, i);
        const char *params = json_string_value(reference_get(one, "params"));
        size_t length = strlen(params), end = strlen(words);
        if (strcmp(json_string_value(reference_get(one, "id")), id) != 0 || length < end ||
            strcmp(params + length - end, words) != 0) {
            continue;
        }
        ck_assert_str_eq(json_string_value(reference_get(one, "tol_kind")), "absolute");
        double wanted = json_number_value(reference_get(one, "value"));
        double tolerance = json_number_value(reference_get(one, "tol"));
        ck_assert_msg(fabs(value - wanted) <= tolerance, "%s, %s: %.17g, wanted %.17g", id, words,
                      value, wanted);
        json_decref(root);
        return;
    }
    ck_abort_msg("no case %s with %s", id, words);
}

START_TEST(b2_a_dropped_ball_sinks_as_deep_as_its_spring_says) {
    static const double steps[] = {0.002, 0.0005, 0.00025};
    double h = steps[_i], deepest = 0.0;
    Lab lab = make_lab(h, INTEGRATOR_SYMPLECTIC);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    int count = (int)(0.6 / h + 0.5);
    for (int i = 0; i < count; i++) {
        lab_step(&lab, 1);
        deepest = fmin(deepest, gap_of(&lab, ball));
    }
    char words[32];
    snprintf(words, sizeof(words), "T=.6 dt=%g", h);
    assert_case("B2.sap.zmin", words, deepest);
    lab_destroy(&lab);
}
END_TEST

// The law looks ahead by h and the time of dissipation: a contact that came in with h alone would
// come too late, and sink 4.36 mm deep instead of 3.07.
START_TEST(b2_contacts_come_in_as_early_as_the_law_looks) {
    double deepest = 0.0;
    Lab lab = make_lab(0.002, INTEGRATOR_SYMPLECTIC);
    WorldSettings settings = lab.world->settings;
    settings.margin = 0.0;
    world_set_settings(lab.world, &settings);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    for (int i = 0; i < 300; i++) {
        lab_step(&lab, 1);
        deepest = fmin(deepest, gap_of(&lab, ball));
    }
    assert_case("B2.sap.zmin", "T=.6 dt=0.002", deepest);
    lab_destroy(&lab);
}
END_TEST

START_TEST(b2_it_comes_to_rest_where_the_spring_bears_it) {
    Lab lab = make_lab(1e-3, INTEGRATOR_SYMPLECTIC);
    lab_set(&lab, "beta", 0.0);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e4, 0.01, 0.0), 0.05);
    lab_step(&lab, 2000);
    assert_case("B2.steady", "dt=1e-3, T=2", -gap_of(&lab, ball));
    lab_destroy(&lab);
}
END_TEST

// The cases give w, with an arm of the ball's radius. Our contact point lies in the middle between
// the ball and the ground, half the gap away, and w with it: beta makes up for that. The explicit
// bounce, which takes what one step finds, is 12 % lower without.
static void step_with_given_weight(Lab *lab, uint32_t ball) {
    double arm = (0.1 + 0.5 * gap_of(lab, ball)) / 0.1, tangential = 1.0 + 2.5 * arm * arm;
    double own = sqrt(1.0 + 2.0 * tangential * tangential);
    lab_set(lab, "beta", sqrt(sqrt(25.5) / own));
    lab_step(lab, 1);
}

START_TEST(b2_a_near_rigid_ball_sinks_by_its_closed_form) {
    Lab lab = make_lab(1e-3, INTEGRATOR_SYMPLECTIC);
    // half of them by the material, half by the solver's default
    bool by_default = _i == 1;
    if (by_default) {
        lab_set(&lab, "stiffness_default", 1e12);
    }
    uint32_t ball = drop_ball(&lab, compliant(&lab, by_default ? HUGE_VAL : 1e12, 0.0, 0.5), 0.05);
    for (int i = 0; i < 2000; i++) {
        step_with_given_weight(&lab, ball);
    }
    assert_case("B2.near_rigid.ball", "T=2", -gap_of(&lab, ball));
    lab_destroy(&lab);
}
END_TEST

START_TEST(b2_impacts_bounce_by_the_integrator) {
    static const struct {
        Integrator integrator;
        const char *words;
    } cases[] = {{INTEGRATOR_EXPLICIT, "T=1, scheme explicit"},
                 {INTEGRATOR_SYMPLECTIC, "T=1, scheme symplectic"},
                 {INTEGRATOR_MIDPOINT, "T=1, scheme midpoint"}};
    Lab lab = make_lab(1e-3, cases[_i].integrator);
    uint32_t ball = drop_ball(&lab, compliant(&lab, 1e12, 0.0, 0.5), 0.05);
    double highest = -HUGE_VAL;
    bool touched = false;
    for (int i = 0; i < 1000; i++) {
        step_with_given_weight(&lab, ball);
        touched = touched || gap_of(&lab, ball) < 0.0;
        highest = touched ? fmax(highest, gap_of(&lab, ball)) : highest;
    }
    assert_case("B2.near_rigid.ball.scheme", cases[_i].words, highest);
    lab_destroy(&lab);
}
END_TEST

// A box that is not to turn slides at 5 m/s over the ground: convex friction carries it at
// mu h v above it, from where it goes on as fast as the slope of that fall; lagged friction leaves
// it where it was, but for what the near-rigid contact gives way.
START_TEST(a_sliding_box_glides_unless_friction_is_lagged) {
    double h = 0.005, mu = 0.5, speed = 5.0, g = 9.81;
    Lab lab = make_lab(h, INTEGRATOR_SYMPLECTIC);
    lab_set(&lab, "friction", _i);
    Id material = lab_material(&lab, mu, 0.0);
    lab_ground(&lab, material);
    const double velocity[6] = {speed, 0.0, 0.0, 0.0, 0.0, 0.0}, inertia[6] = {1e9, 1e9, 1e9};
    uint32_t box =
        lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), material), BODY_DYNAMIC,
                 (Pose){.position = vec3(0.0, 0.0, 0.1), .orientation = quat_identity()}, velocity,
                 1.0, inertia);
    double highest = 0.0, lowest = 0.0;
    for (int i = 0; i < 100; i++) {
        lab_step(&lab, 1);
        ck_assert(lab.report.certificate.converged);
        highest = fmax(highest, gap_of(&lab, box));
        lowest = fmin(lowest, gap_of(&lab, box));
    }
    double slip = lab_velocity(&lab, box).x, gap = gap_of(&lab, box);
    ck_assert_double_gt(slip, 1.0);
    if (_i == SAP_CONVEX) {
        // what the step began with is what the gap is of, and it falls by mu h (mu g h) a step
        ck_assert_double_eq_tol(gap, mu * h * slip, 2.0 * mu * h * mu * g * h);
        // and so the report has it, of the box and the ground; what friction creeps by is less
        ck_assert_double_eq_tol(lab.report.launch.speed, mu * slip, 1e-3 * mu * slip);
        // an inertia of 1e9 lets its corners differ by some 1e-11
        ck_assert_double_eq_tol(lab.report.launch.height, gap, 1e-9);
        ck_assert_uint_eq(lab.report.launch.body[1], lab.world->body_id[box]);
    } else {
        ck_assert_double_le(highest, 1e-12);
        ck_assert_double_eq(lab.report.launch.speed, 0.0);
        // four contacts, w = 1 + 0.1: beta^2 w / (4 pi^2) of a quarter of g h, over h
        ck_assert_double_ge(lowest, -0.03 * g * h * h);
        // and it has lost what friction takes, but for the first step
        ck_assert_double_eq_tol(slip, speed - 99 * mu * g * h, 1e-3 * speed);
    }
    lab_destroy(&lab);
}
END_TEST

static TCase *case_world(void) {
    TCase *tcase = tcase_create("world");
    tcase_add_loop_test(tcase, b2_a_dropped_ball_sinks_as_deep_as_its_spring_says, 0, 3);
    tcase_add_test(tcase, b2_contacts_come_in_as_early_as_the_law_looks);
    tcase_add_test(tcase, b2_it_comes_to_rest_where_the_spring_bears_it);
    tcase_add_loop_test(tcase, b2_a_near_rigid_ball_sinks_by_its_closed_form, 0, 2);
    tcase_add_loop_test(tcase, b2_impacts_bounce_by_the_integrator, 0, 3);
    tcase_add_loop_test(tcase, a_sliding_box_glides_unless_friction_is_lagged, 0, 2);
    return tcase;
}

SUITE_MAIN("step/sap_world", case_world)
