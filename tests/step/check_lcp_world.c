// SPDX-License-Identifier: MIT
// lcp on the whole step: the contacts come from collision detection, and its passes ask for them
// again where the bodies come to.
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

static Lab make_lab(double gravity, double time_step) {
    Lab lab = lab_create(gravity, time_step);
    SolverSettings solver = solver_default(SOLVER_LCP);
    step_set_solver(&lab.world->settings, &solver);
    return lab;
}

static Pose at(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

static uint32_t add_ball(Lab *lab, double radius, Vec3 place, Vec3 velocity, Id material) {
    const double all[6] = {velocity.x, velocity.y, velocity.z, 0.0, 0.0, 0.0};
    return lab_body(lab, lab_shape(lab, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0), material),
                    BODY_DYNAMIC, at(place.x, place.y, place.z), all, 1.0, NULL);
}

static uint32_t add_box(Lab *lab, Vec3 half, Pose pose, const double *velocity, Id material) {
    return lab_body(lab, lab_shape(lab, PRIMITIVE_BOX, half, material), BODY_DYNAMIC, pose,
                    velocity, 1.0, NULL);
}

// The lowest corner of a box above the plane z = 0.
static double clearance(const Lab *lab, uint32_t body, Vec3 half) {
    double least = HUGE_VAL;
    for (int corner = 0; corner < 8; corner++) {
        Vec3 local = vec3(corner & 1 ? half.x : -half.x, corner & 2 ? half.y : -half.y,
                          corner & 4 ? half.z : -half.z);
        double z = lab_position(lab, body).z + quat_rotate(lab_orientation(lab, body), local).z;
        least = z < least ? z : least;
    }
    return least;
}

static void assert_converged(const Lab *lab, int step) {
    const Certificate *certificate = &lab->report.certificate;
    ck_assert_msg(certificate->converged, "step %d: e_own %g", step,
                  certificate->entry[CERTIFICATE_OWN]);
}

// ---- the scenes of the paper

// The stepper of solve/lcp/check_cases.c turns by angles, the world by Cayley's rotation: the
// angles of a step differ by (h w)^3/12, some 1e-6 at 8.6 rad/s, and all of the fall by 1e-4.
START_TEST(the_rod_of_the_paper_comes_to_rest_where_it_should) {
    Lab lab = make_lab(9.81, 0.0025);
    Id steel = lab_material(&lab, 0.6, 0.0);
    lab_ground(&lab, steel);
    uint32_t kinds[2] = {PRIMITIVE_SPHERE, PRIMITIVE_SPHERE}, primitives[1] = {2};
    const double sizes[6] = {0.05, 0.0, 0.0, 0.05, 0.0, 0.0};
    const double poses[14] = {0.25, 0, 0, 1, 0, 0, 0, -0.25, 0, 0, 1, 0, 0, 0};
    const uint64_t materials[2] = {steel, steel};
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 2,
                                  .primitives_of_shape = primitives,
                                  .kind = kinds,
                                  .size = sizes,
                                  .pose = poses,
                                  .material = materials};
    const double spin[6] = {0.0, 0.0, 0.0, 0.0, -4.0, 0.0};
    const double inertia[6] = {0.002, 0.002, 0.002, 0.0, 0.0, 0.0};
    Id shape;
    Error error = {0};
    ck_assert_int_eq(world_add_shapes(lab.world, &columns, &shape, &error), STATUS_OK);
    Pose tilted = at(0.0, 0.0, 1.0); // 30 degrees
    tilted.orientation = (Quat){0.9659258262890683, 0.0, -0.25881904510252074, 0.0};
    uint32_t rod = lab_body(&lab, shape, BODY_DYNAMIC, tilted, spin, 1.0, inertia);
    int contact_step = 0;
    for (int step = 1; step <= 400; step++) {
        double before = lab_spin(&lab, rod).y;
        lab_step(&lab, 1);
        assert_converged(&lab, step);
        contact_step = contact_step == 0 && lab_spin(&lab, rod).y != before ? step : contact_step;
    }
    ck_assert_int_eq(contact_step, 154); // ends at 0.385 s
    Vec3 rest = lab_position(&lab, rod);
    ck_assert_double_eq_tol(rest.x, -0.230786328474322, 2e-4);
    ck_assert_double_eq_tol(rest.z, 0.05, 1e-9);
    ck_assert_double_le(vec3_norm(lab_velocity(&lab, rod)), 1e-9);
    lab_destroy(&lab);
}
END_TEST

START_TEST(the_balls_of_the_paper_meet_in_time_and_do_not_overlap) {
    Lab lab = make_lab(9.81, 0.005);
    Id wood = lab_material(&lab, 0.4, 0.0);
    lab_ground(&lab, wood);
    uint32_t ball[4];
    ball[0] = add_ball(&lab, 0.1, vec3(0.0, 0.0, 1.0), vec3(1.5, 0.1, 0.0), wood);
    for (int i = 1; i < 4; i++) {
        ball[i] = add_ball(&lab, 0.1, vec3(0.8 + 0.2 * i + 1e-5 * (i - 1), 0.0, 0.1),
                           vec3(0.0, 0.0, 0.0), wood);
    }
    double deepest = 0.0;
    for (int step = 1; step <= 200; step++) {
        lab_step(&lab, 1);
        assert_converged(&lab, step);
        if (step == 116) { // 0.58 s: it rolls
            ck_assert_double_eq_tol(lab_velocity(&lab, ball[0]).x, 1.0714285714285714, 1e-9);
            ck_assert_double_eq_tol(lab_spin(&lab, ball[0]).y, 10.714285714285714, 1e-8);
        }
        bool is_struck = vec3_norm(lab_velocity(&lab, ball[3])) > 1e-9;
        ck_assert_int_eq(is_struck, step >= 117); // ends at 0.585 s
        for (int i = 0; i < 4; i++) {
            deepest = fmin(deepest, lab_position(&lab, ball[i]).z - 0.1);
            for (int k = 0; k < i; k++) {
                Vec3 away = vec3_sub(lab_position(&lab, ball[i]), lab_position(&lab, ball[k]));
                deepest = fmin(deepest, vec3_norm(away) - 0.2);
            }
        }
    }
    ck_assert_double_ge(deepest, -1e-10);
    // friction lifts the thrown ball and the first of the row
    ck_assert_double_gt(lab_position(&lab, ball[0]).x, 0.85);
    lab_destroy(&lab);
}
END_TEST

// ---- gaps at the end of the step

START_TEST(a_tumbling_box_never_dips_into_the_ground) {
    const Vec3 half = vec3(0.1, 0.2, 0.3);
    const double velocity[6] = {1.0, 0.3, -2.0, 4.0 + _i, -6.0, 2.0};
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    Pose pose = at(0.0, 0.0, 0.5);
    pose.orientation = quat_normalize((Quat){0.9, 0.3, -0.2, 0.1 * _i});
    uint32_t box = add_box(&lab, half, pose, velocity, material);
    double deepest = 0.0;
    for (int step = 0; step < 720; step++) {
        lab_step(&lab, 1);
        assert_converged(&lab, step);
        deepest = fmin(deepest, clearance(&lab, box, half));
    }
    // what counts as touching (contacts.c): 1e-4 g h^2
    ck_assert_double_ge(deepest, -2e-8);
    ck_assert_double_le(vec3_norm(lab_velocity(&lab, box)), 1e-6);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_stack_of_boxes_stands_still) {
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    uint32_t box[5];
    for (int i = 0; i < 5; i++) {
        box[i] = add_box(&lab, vec3(0.1, 0.1, 0.1), at(0.0, 0.0, 0.1 + 0.2 * i), NULL, material);
    }
    for (int step = 0; step < 240; step++) {
        lab_step(&lab, 1);
        assert_converged(&lab, step);
    }
    for (int i = 0; i < 5; i++) {
        Vec3 away = vec3_sub(lab_position(&lab, box[i]), vec3(0.0, 0.0, 0.1 + 0.2 * i));
        ck_assert_double_le(vec3_norm(away), 1e-7);
    }
    lab_destroy(&lab);
}
END_TEST

// Each box weighs ten times the one below: impulses a million times what the lowest contacts are
// asked for, whose rounding no pivot mends. It takes fewer pivots than there are rows, 10 for each
// of four corners of seven boxes, and none where the step before was the same.
START_TEST(a_ladder_of_masses_stands_still) {
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    Id box = lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), material);
    uint32_t boxes[7];
    double mass = 1.0;
    for (int i = 0; i < 7; i++) {
        boxes[i] = lab_body(&lab, box, BODY_DYNAMIC, at(0.0, 0.0, 0.1 + 0.2 * i), NULL, mass, NULL);
        mass *= 10.0;
    }
    for (int step = 1; step <= 60; step++) {
        lab_step(&lab, 1);
        assert_converged(&lab, step);
        ck_assert_uint_le(lab.report.iterations, step == 1 ? 280 : 0);
    }
    for (int i = 0; i < 7; i++) {
        ck_assert_double_le(
            vec3_norm(vec3_sub(lab_position(&lab, boxes[i]), vec3(0.0, 0.0, 0.1 + 0.2 * i))), 1e-9);
    }
    lab_destroy(&lab);
}
END_TEST

START_TEST(balls_bounce_with_their_restitution) {
    Lab lab = make_lab(0.0, 0.001);
    Id rubber = lab_material(&lab, 0.3, 0.5);
    lab_ground(&lab, rubber);
    uint32_t ball = add_ball(&lab, 0.1, vec3(0.0, 0.0, 0.2), vec3(0.0, 0.0, -2.0), rubber);
    lab_step(&lab, 100);
    ck_assert_double_eq_tol(lab_velocity(&lab, ball).z, 1.0, 1e-9);
    lab_destroy(&lab);
}
END_TEST

// Two balls that fly at each other by ten diameters in a step, and touch beside their middle: where
// they would be without each other they are past each other and do not overlap, which is no answer.
START_TEST(balls_that_fly_at_each_other_do_not_pass_untouched) {
    Lab lab = make_lab(0.0, 0.01);
    Id material = lab_material(&lab, 0.3, 0.0);
    uint32_t left = add_ball(&lab, 0.1, vec3(-0.7, 0.0, 0.0), vec3(100.0, 0.0, 0.0), material);
    uint32_t right =
        add_ball(&lab, 0.1, vec3(0.7, 0.01 * _i, 0.0), vec3(-100.0, 0.0, 0.0), material);
    lab_step(&lab, 1);
    // of the closing speed is left what is not along the plane, and turns with it: less than cos 20
    ck_assert_double_le(lab_velocity(&lab, left).x, 94.0);
    lab_step(&lab, 2);
    Vec3 away = vec3_sub(lab_position(&lab, right), lab_position(&lab, left));
    ck_assert_double_ge(vec3_norm(away), 0.2 - 1e-9);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_moving_floor_carries_what_lies_on_it) {
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    const double drive[6] = {1.0, 0.0, 0.2, 0.0, 0.0, 0.0};
    lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(5.0, 5.0, 0.1), material), BODY_KINEMATIC,
             at(0.0, 0.0, -0.1), drive, 0.0, NULL);
    uint32_t box = add_box(&lab, vec3(0.1, 0.1, 0.1), at(0.0, 0.0, 0.1), NULL, material);
    for (int step = 0; step < 240; step++) {
        lab_step(&lab, 1);
        assert_converged(&lab, step);
    }
    Vec3 v = lab_velocity(&lab, box);
    ck_assert_double_eq_tol(v.x, 1.0, 1e-7);
    ck_assert_double_eq_tol(v.z, 0.2, 1e-7);
    // the floor has risen by 0.2 m, and the box lies on it
    ck_assert_double_eq_tol(lab_position(&lab, box).z, 0.3, 1e-7);
    lab_destroy(&lab);
}
END_TEST

// A cube on a slope, by the octagon's first direction along it: it sticks below the friction's
// angle and slides with g (sin - mu cos) above.
START_TEST(a_cube_sticks_and_slides_by_the_angle_of_friction) {
    const double mu = 0.5, slope = _i == 0 ? 0.45 : 0.55; // tangents
    const double c = 1.0 / sqrt(1.0 + slope * slope), s = slope * c;
    Lab lab = make_lab(0.0, 0.005);
    lab.world->settings.gravity = vec3(9.81 * s, 0.0, -9.81 * c);
    Id material = lab_material(&lab, mu, 0.0);
    lab_ground(&lab, material);
    uint32_t cube = add_box(&lab, vec3(0.1, 0.1, 0.1), at(0.0, 0.0, 0.1), NULL, material);
    lab_step(&lab, 200);
    double wanted = _i == 0 ? 0.0 : 9.81 * (s - mu * c);
    ck_assert_double_eq_tol(lab_velocity(&lab, cube).x, wanted, 1e-7);
    ck_assert_double_eq_tol(lab_velocity(&lab, cube).z, 0.0, 1e-7);
    lab_destroy(&lab);
}
END_TEST

// The problem that a world keeps of its last step is the one whose answer it took: solved again as
// it is, without geometry, it gives the impulses to the last bit.
START_TEST(the_problem_of_the_last_step_gives_its_impulses_again) {
    const double velocity[6] = {1.0, 0.3, -2.0, 4.0, -6.0, 2.0};
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    Pose pose = at(0.0, 0.0, 0.31);
    pose.orientation = quat_normalize((Quat){0.9, 0.3, -0.2, 0.1});
    add_box(&lab, vec3(0.1, 0.2, 0.3), pose, velocity, material);
    int compared = 0;
    for (int step = 0; step < 120; step++) {
        lab_step(&lab, 1);
        const Stepper *stepper = lab.stepper;
        if (stepper->contact_count == 0) {
            continue;
        }
        SolveResult result;
        Error error;
        Arena arena;
        arena_init(&arena, 1 << 24);
        ck_assert_int_eq(solver_solve(&stepper->solver, &stepper->problem, &(Context){0}, &arena,
                                      &result, &error),
                         STATUS_OK);
        ck_assert(result.certificate.converged);
        ck_assert_int_eq(memcmp(result.answer.v, stepper->v, 6 * sizeof(double)), 0);
        ck_assert_int_eq(memcmp(result.answer.contact_impulse, stepper->impulse,
                                3 * stepper->contact_count * sizeof(double)),
                         0);
        compared++;
        arena_deinit(&arena);
    }
    ck_assert_int_gt(compared, 50);
    lab_destroy(&lab);
}
END_TEST

START_TEST(a_step_with_too_many_rows_is_refused_by_name_and_has_not_happened) {
    Lab lab = make_lab(9.81, 1.0 / 240.0);
    Id material = lab_material(&lab, 0.5, 0.0);
    lab_ground(&lab, material);
    add_box(&lab, vec3(0.1, 0.1, 0.1), at(0.0, 0.0, 0.1), NULL, material);
    lab_set(&lab, "max_rows", 39); // four corners of 10
    StepInput input = {.time_step = 1.0 / 240.0};
    StepReport report;
    Error error = {0};
    ck_assert_int_eq(
        stepper_run(lab.stepper, lab.world, &input, &lab.scratch, NULL, &report, &error),
        STATUS_RESOURCE_EXHAUSTED);
    ck_assert_str_eq(error.field, "parameters.lcp.max_rows");
    ck_assert_uint_eq(lab.world->step, 0);
    lab_set(&lab, "max_rows", 40);
    lab_step(&lab, 1);
    assert_converged(&lab, 1);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_paper(void) {
    TCase *tcase = tcase_create("paper");
    tcase_add_test(tcase, the_rod_of_the_paper_comes_to_rest_where_it_should);
    tcase_add_test(tcase, the_balls_of_the_paper_meet_in_time_and_do_not_overlap);
    return tcase;
}

static TCase *case_gaps(void) {
    TCase *tcase = tcase_create("gaps");
    tcase_add_loop_test(tcase, a_tumbling_box_never_dips_into_the_ground, 0, 6);
    tcase_add_test(tcase, a_stack_of_boxes_stands_still);
    tcase_add_test(tcase, a_ladder_of_masses_stands_still);
    tcase_add_test(tcase, balls_bounce_with_their_restitution);
    tcase_add_loop_test(tcase, balls_that_fly_at_each_other_do_not_pass_untouched, 0, 15);
    tcase_add_test(tcase, a_moving_floor_carries_what_lies_on_it);
    tcase_add_loop_test(tcase, a_cube_sticks_and_slides_by_the_angle_of_friction, 0, 2);
    tcase_add_test(tcase, a_step_with_too_many_rows_is_refused_by_name_and_has_not_happened);
    tcase_add_test(tcase, the_problem_of_the_last_step_gives_its_impulses_again);
    return tcase;
}

SUITE_MAIN("step/lcp_world", case_paper, case_gaps)
