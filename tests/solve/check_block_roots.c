// SPDX-License-Identifier: MIT
#include "solve/block_roots.h"

#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/suite.h"

#define PI 3.14159265358979323846

static double value_at(const MdpTrigonometric *g, double c, double s) {
    return g->k0 + g->c1 * c + g->s1 * s + g->c2 * (c * c - s * s) + g->s2 * 2.0 * c * s;
}

// sign changes on a fine circle: a slow and obvious count of the roots that are not double
static int count_sign_changes(const MdpTrigonometric *g) {
    enum { STEPS = 20000 };
    int count = 0;
    bool was_positive = value_at(g, 1.0, 0.0) > 0.0;
    for (int i = 1; i <= STEPS; i++) {
        double angle = 2.0 * PI * i / STEPS;
        bool is_positive = value_at(g, cos(angle), sin(angle)) > 0.0;
        count += is_positive != was_positive;
        was_positive = is_positive;
    }
    return count;
}

START_TEST(roots_are_roots_and_none_is_missing) {
    uint64_t state = 100u + (uint64_t)_i;
    double number[5];
    for (int k = 0; k < 5; k++) {
        number[k] = problem_build_random(&state);
    }
    MdpTrigonometric g = {number[0], number[1], number[2], number[3], number[4]};
    MdpDirection root[MDP_ROOT_MAX];
    int count = mdp_roots_find(&g, root);
    ck_assert_int_eq(count, count_sign_changes(&g));
    for (int i = 0; i < count; i++) {
        // coefficients of size 1, Newton to rounding
        ck_assert_double_eq_tol(root[i].c * root[i].c + root[i].s * root[i].s, 1.0, 1e-15);
        ck_assert_double_eq_tol(value_at(&g, root[i].c, root[i].s), 0.0, 1e-13);
    }
}
END_TEST

START_TEST(a_degenerate_quartic_still_gives_its_two_roots) {
    // spheres: k0 = C2 = S2 = 0; cos(al) 3 + sin(al) 4 = 0
    MdpTrigonometric g = {0.0, 3.0, 4.0, 0.0, 0.0};
    MdpDirection root[MDP_ROOT_MAX];
    ck_assert_int_eq(mdp_roots_find(&g, root), 2);
    for (int i = 0; i < 2; i++) {
        ck_assert_double_eq_tol(fabs(root[i].c), 0.8, 1e-15);
        ck_assert_double_eq_tol(3.0 * root[i].c + 4.0 * root[i].s, 0.0, 1e-15);
    }
}
END_TEST

// The paper's form: c0 + c1 cos(al + phi1) + c2 cos(2 al + phi2)
static MdpTrigonometric of_constants(const json_t *constants) {
    double number[5];
    static const char *const names[5] = {"c0", "c1", "phi1", "c2", "phi2"};
    for (int k = 0; k < 5; k++) {
        number[k] = json_number_value(json_object_get(constants, names[k]));
    }
    return (MdpTrigonometric){.k0 = number[0],
                              .c1 = number[1] * cos(number[2]),
                              .s1 = -number[1] * sin(number[2]),
                              .c2 = number[3] * cos(number[4]),
                              .s2 = -number[3] * sin(number[4])};
}

static MdpTrigonometric of_coefficients(const json_t *coefficients) {
    double number[5];
    static const char *const names[5] = {"k0", "C1", "S1", "C2", "S2"};
    for (int k = 0; k < 5; k++) {
        number[k] = json_number_value(json_object_get(coefficients, names[k]));
    }
    return (MdpTrigonometric){number[0], number[1], number[2], number[3], number[4]};
}

START_TEST(both_forms_of_table_1_have_the_root_of_the_paper) {
    json_t *root = problem_file_reference("mdp"), *table;
    const char *name;
    json_object_foreach(json_object_get(root, "table1"), name, table) {
        const MdpTrigonometric forms[2] = {
            of_constants(json_object_get(table, "paper_constants")),
            of_coefficients(json_object_get(table, "cartesian_coeffs"))};
        double angle = json_number_value(json_object_get(table, "alpha_star")),
               tolerance = json_number_value(json_object_get(table, "tol_rel"));
        for (int form = 0; form < 2; form++) {
            MdpDirection found[MDP_ROOT_MAX];
            int count = mdp_roots_find(&forms[form], found);
            double nearest = HUGE_VAL;
            for (int i = 0; i < count; i++) {
                nearest = fmin(nearest,
                               fmax(fabs(found[i].c - cos(angle)), fabs(found[i].s - sin(angle))));
            }
            ck_assert_msg(nearest <= tolerance, "%s: form %d is %g away", name, form, nearest);
        }
    }
    json_decref(root);
}
END_TEST

START_TEST(nothing_is_found_where_nothing_is_asked) {
    const MdpTrigonometric none = {0}, constant = {.k0 = 1.0}, broken = {.k0 = NAN, .c1 = 1.0},
                           infinite = {.c1 = HUGE_VAL};
    MdpDirection root[MDP_ROOT_MAX];
    ck_assert_int_eq(mdp_roots_find(&none, root), 0);
    ck_assert_int_eq(mdp_roots_find(&constant, root), 0);
    ck_assert_int_eq(mdp_roots_find(&broken, root), 0);
    ck_assert_int_eq(mdp_roots_find(&infinite, root), 0);
}
END_TEST

static TCase *case_roots(void) {
    TCase *tcase = tcase_create("roots");
    tcase_add_loop_test(tcase, roots_are_roots_and_none_is_missing, 0, 60);
    tcase_add_test(tcase, a_degenerate_quartic_still_gives_its_two_roots);
    tcase_add_test(tcase, both_forms_of_table_1_have_the_root_of_the_paper);
    tcase_add_test(tcase, nothing_is_found_where_nothing_is_asked);
    return tcase;
}

SUITE_MAIN("solve/mdp_roots", case_roots)
