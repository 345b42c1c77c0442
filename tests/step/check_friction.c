// SPDX-License-Identifier: MIT
// The two laws of friction that solver mdp has, on the incline.
#include "step/step.h"

#include "solve/mdp/mdp.h"
#include "support/lab.h"
#include "support/suite.h"

#include <math.h>

#define FRICTION 0.5

// A cube of side 0.2 m lies on a slope of this tangent, which falls towards +x; its sides along the
// slope.
static Lab lay_cube(double tangent, uint32_t *cube) {
    Lab lab = lab_create(9.81, 1.0 / 240.0);
    double cosine = 1.0 / sqrt(1.0 + tangent * tangent), sine = tangent * cosine;
    // half the angle, about +y
    double half_cosine = sqrt(0.5 + 0.5 * cosine);
    Quat tilt = {half_cosine, 0.0, 0.5 * sine / half_cosine, 0.0};
    Id wood = lab_material(&lab, FRICTION, 0.0);
    Id board = lab_shape(&lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), wood);
    lab_body(&lab, board, BODY_STATIC, (Pose){.orientation = tilt}, NULL, 0.0, NULL);
    Vec3 up = vec3(0.1 * sine, 0.0, 0.1 * cosine);
    *cube = lab_body(&lab, lab_shape(&lab, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1), wood), BODY_DYNAMIC,
                     (Pose){.position = up, .orientation = tilt}, NULL, 1.0, NULL);
    return lab;
}

static double slid_in_a_second(Lab *lab, uint32_t cube) {
    Vec3 start = lab_position(lab, cube);
    lab_step(lab, 240);
    return vec3_norm(vec3_sub(lab_position(lab, cube), start));
}

// Coulomb: it stays up to its angle, and beyond it falls with g (sin - mu cos).
START_TEST(by_default_a_cube_stays_up_to_its_friction_angle) {
    uint32_t cube;
    Lab lab = lay_cube(0.999 * FRICTION, &cube);
    // the solver's tolerance, 1e-6 of g h, in every step
    ck_assert_double_lt(slid_in_a_second(&lab, cube), 1e-6);
    lab_destroy(&lab);

    double tangent = 1.02 * FRICTION, cosine = 1.0 / sqrt(1.0 + tangent * tangent);
    lab = lay_cube(tangent, &cube);
    double acceleration = 9.81 * cosine * (tangent - FRICTION);
    // symplectic Euler: h^2 n (n + 1)/2; the weight rests on its contacts to 1e-6
    double wanted = acceleration * 241.0 / 480.0;
    ck_assert_double_eq_tol(slid_in_a_second(&lab, cube), wanted, 1e-4 * wanted);
    lab_destroy(&lab);
}
END_TEST

// The paper's law lets slip lie in the plane of maximum compression: one parameter away.
START_TEST(under_the_papers_law_a_cube_slides_before_its_friction_angle) {
    uint32_t cube;
    Lab lab = lay_cube(0.99 * FRICTION, &cube);
    lab_set(&lab, "friction", MDP_MAXIMUM_DISSIPATION);
    ck_assert_double_gt(slid_in_a_second(&lab, cube), 1e-2);
    lab_destroy(&lab);
    lab = lay_cube(0.97 * FRICTION, &cube);
    lab_set(&lab, "friction", MDP_MAXIMUM_DISSIPATION);
    ck_assert_double_lt(slid_in_a_second(&lab, cube), 1e-6);
    lab_destroy(&lab);
}
END_TEST

static TCase *case_incline(void) {
    TCase *tcase = tcase_create("incline");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_test(tcase, by_default_a_cube_stays_up_to_its_friction_angle);
    tcase_add_test(tcase, under_the_papers_law_a_cube_slides_before_its_friction_angle);
    return tcase;
}

SUITE_MAIN("step/friction", case_incline)
