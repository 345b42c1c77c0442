// SPDX-License-Identifier: MIT
#include "solve/block.h"

#include "solve/certificate_relation.h"
#include "support/problem_build.h"
#include "support/problem_file.h"
#include "support/campaign.h"
#include "support/suite.h"

#include <string.h>

#define PI 3.14159265358979323846

static MdpBlock block_of(const double a[9], double mu) {
    return (MdpBlock){a[0], a[1], a[2], a[4], a[5], a[8], mu};
}

static double norm3(const double x[3]) {
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static void multiply(const MdpBlock *a, const double x[3], double product[3]) {
    product[0] = a->nn * x[0] + a->nt * x[1] + a->no * x[2];
    product[1] = a->nt * x[0] + a->tt * x[1] + a->to * x[2];
    product[2] = a->no * x[0] + a->to * x[1] + a->oo * x[2];
}

static double energy(const MdpBlock *a, const double b[3], const double x[3]) {
    double product[3];
    multiply(a, x, product);
    double sum = 0.0;
    for (int k = 0; k < 3; k++) {
        sum += x[k] * (0.5 * product[k] - b[k]);
    }
    return sum;
}

static void assert_close(const double x[3], const double expected[3], double tolerance,
                         const char *what) {
    double away = 0.0;
    for (int k = 0; k < 3; k++) {
        away = relation_max(away, fabs(x[k] - expected[k]));
    }
    ck_assert_msg(away <= tolerance, "%s: (%.15g, %.15g, %.15g) is not (%.15g, %.15g, %.15g)", what,
                  x[0], x[1], x[2], expected[0], expected[1], expected[2]);
}

// ---- reference cases

static void numbers_of(const json_t *object, const char *key, double *numbers, size_t count) {
    ck_assert_uint_eq(problem_file_numbers(json_object_get(object, key), numbers, count), count);
}

static double number_of(const json_t *object, const char *key) {
    return json_number_value(json_object_get(object, key));
}

// The velocity that an answer leaves and its energy, beside a reference's.
static void check_outcome(const MdpBlock *block, const double b[3], const double x[3],
                          const json_t *reference, double tolerance, const char *name) {
    double v[3], wanted[3];
    numbers_of(reference, "v", wanted, 3);
    multiply(block, x, v);
    double size = norm3(v) + norm3(b);
    for (int k = 0; k < 3; k++) {
        v[k] -= b[k];
    }
    // both are as near as x is, times what they are made of
    assert_close(v, wanted, tolerance * size, name);
    double away = fabs(energy(block, b, x) - number_of(reference, "objective"));
    ck_assert_msg(away <= tolerance * size * norm3(x), "%s: energy is %g away", name, away);
}

// the sliding solutions among `solutions` (pairs of kind and x) are exactly what the block finds
static void check_coulomb_list(const MdpBlock *block, const double b[3], const json_t *solutions,
                               double tolerance, const char *name) {
    double found[4][3];
    int count = mdp_block_coulomb_all(block, b, found), listed = 0;
    for (size_t i = 0; i < json_array_size(solutions); i++) {
        const json_t *pair = json_array_get(solutions, i);
        double x[3];
        if (strcmp(json_string_value(json_array_get(pair, 0)), "slide") != 0) {
            continue;
        }
        problem_file_numbers(json_array_get(pair, 1), x, 3);
        double nearest = HUGE_VAL;
        for (int j = 0; j < count; j++) {
            const double away[3] = {x[0] - found[j][0], x[1] - found[j][1], x[2] - found[j][2]};
            nearest = norm3(away) < nearest ? norm3(away) : nearest;
        }
        ck_assert_msg(nearest <= tolerance * norm3(x), "%s: Coulomb slide %zu is %g away", name, i,
                      nearest);
        listed++;
    }
    ck_assert_msg(count == listed, "%s: %d Coulomb slides, not %d", name, count, listed);
}

START_TEST(table_1_of_the_paper_comes_out_in_both_frames) {
    json_t *root = problem_file_reference("mdp");
    const char *name;
    json_t *table;
    json_object_foreach(json_object_get(root, "table1"), name, table) {
        double a[9], b[3], x[3], found[4][3];
        numbers_of(table, "A", a, 9);
        numbers_of(table, "b", b, 3);
        MdpBlock block = block_of(a, number_of(table, "mu"));
        int count = mdp_block_coulomb_all(&block, b, found), coulomb = 0;
        const json_t *solutions = json_object_get(table, "solutions");
        for (size_t i = 0; i < json_array_size(solutions); i++) {
            const json_t *solution = json_array_get(solutions, i);
            double expected[3], nearest = HUGE_VAL;
            numbers_of(solution, "x", expected, 3);
            double tolerance = number_of(table, "tol_rel") * norm3(expected);
            if (strcmp(json_string_value(json_object_get(solution, "kind")), "maxdiss") == 0) {
                ck_assert_int_eq(mdp_block_dissipation(&block, b, x), MDP_SLIDE);
                assert_close(x, expected, tolerance, name);
                check_outcome(&block, b, x, solution, number_of(table, "tol_rel"), name);
                ck_assert_double_eq_tol(atan2(x[2], x[1]), number_of(table, "alpha_star"),
                                        number_of(table, "tol_rel"));
                continue;
            }
            int which = 0;
            for (int j = 0; j < count; j++) {
                const double away[3] = {expected[0] - found[j][0], expected[1] - found[j][1],
                                        expected[2] - found[j][2]};
                which = norm3(away) < nearest ? j : which;
                nearest = norm3(away) < nearest ? norm3(away) : nearest;
            }
            ck_assert_double_le(nearest, tolerance);
            check_outcome(&block, b, found[which], solution, number_of(table, "tol_rel"), name);
            coulomb++;
        }
        ck_assert_int_eq(count, coulomb);
        // Coulomb's choice is the third: the least energy
        ck_assert_int_eq(mdp_block_coulomb(&block, b, x), MDP_SLIDE);
        for (int j = 0; j < count; j++) {
            ck_assert_double_le(energy(&block, b, x), energy(&block, b, found[j]));
        }
    }
    json_decref(root);
}
END_TEST

static MdpBranch branch_of(const char *word) {
    if (strcmp(word, "separating") == 0) {
        return MDP_OPEN;
    }
    if (strcmp(word, "stick") == 0) {
        return MDP_STICK;
    }
    return strncmp(word, "grazing", 7) == 0 ? MDP_GRAZING : MDP_SLIDE;
}

START_TEST(every_single_contact_takes_its_branch) {
    json_t *root = problem_file_reference("mdp");
    const json_t *cases = json_object_get(root, "single_contact");
    ck_assert_uint_gt(json_array_size(cases), 10);
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        const char *name = json_string_value(json_object_get(item, "name"));
        double a[9], b[3], expected[3], x[3];
        numbers_of(item, "A", a, 9);
        numbers_of(item, "b", b, 3);
        numbers_of(item, "x", expected, 3);
        MdpBlock block = block_of(a, number_of(item, "mu"));
        double tolerance = number_of(item, "tol_rel");
        MdpBranch branch = mdp_block_dissipation(&block, b, x);
        ck_assert_msg(branch == branch_of(json_string_value(json_object_get(item, "case"))),
                      "%s: branch %d", name, branch);
        assert_close(x, expected, tolerance * norm3(expected), name);
        check_outcome(&block, b, x, item, tolerance, name);
        if (b[0] > 0.0) {
            check_coulomb_list(&block, b, json_object_get(item, "coulomb"), tolerance, name);
        } else {
            // the choice rule: zero, whatever else would do
            ck_assert_int_eq(mdp_block_coulomb(&block, b, x), MDP_OPEN);
            ck_assert_double_eq(norm3(x), 0.0);
        }
    }
    json_decref(root);
}
END_TEST

static MdpBlock rod_block(double theta, double mu) {
    double c = cos(theta), s = sin(theta);
    return (MdpBlock){1.0 + 3.0 * c * c, -3.0 * s * c, 0.0, 1.0 + 3.0 * s * s, 0.0, 4.0, mu};
}

START_TEST(the_grazing_rod_jumps_at_its_critical_friction) {
    json_t *root = problem_file_reference("mdp");
    const json_t *cases = json_object_get(json_object_get(root, "painleve_impact"), "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        double expected[3], x[3], theta = number_of(item, "theta0");
        const double b[3] = {0.0, 1.0, 0.0};
        numbers_of(item, "Lambda_nto", expected, 3);
        MdpBlock block = rod_block(theta, number_of(item, "mu"));
        mdp_block_dissipation(&block, b, x);
        assert_close(x, expected, 1e-12, "grazing rod");
    }
    json_decref(root);
}
END_TEST

// Where the grazing rod begins to react, between a friction at which it does not and one at which
// it does.
static double critical_friction(double theta) {
    const double b[3] = {0.0, 1.0, 0.0};
    double low = 1.0, high = 10.0;
    for (int i = 0; i < 60; i++) {
        double x[3], middle = 0.5 * (low + high);
        MdpBlock block = rod_block(theta, middle);
        mdp_block_dissipation(&block, b, x);
        if (norm3(x) > 0.0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    return high;
}

START_TEST(the_least_critical_friction_is_that_of_the_paper) {
    json_t *root = problem_file_reference("mdp");
    const json_t *impact = json_object_get(root, "painleve_impact");
    const json_t *cases = json_object_get(impact, "cases");
    double tolerance = number_of(impact, "tol_rel"), theta = number_of(impact, "theta_min"),
           least = number_of(impact, "mu_star_min");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        double wanted = number_of(item, "mu_star");
        ck_assert_double_eq_tol(critical_friction(number_of(item, "theta0")), wanted,
                                tolerance * wanted);
    }
    ck_assert_double_eq_tol(critical_friction(theta), least, tolerance * least);
    for (int i = 1; i <= 10; i++) {
        ck_assert_double_gt(critical_friction(theta - 0.01 * i), least);
        ck_assert_double_gt(critical_friction(theta + 0.01 * i), least);
    }
    json_decref(root);
}
END_TEST

START_TEST(the_falling_rod_follows_its_closed_form) {
    json_t *root = problem_file_reference("mdp");
    const json_t *cases = json_object_get(json_object_get(root, "painleve_one_step"), "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        const json_t *item = json_array_get(cases, i);
        double expected[3], b[3], x[3];
        numbers_of(item, "x", expected, 3);
        numbers_of(item, "b", b, 3);
        MdpBlock block = rod_block(number_of(item, "theta0"), number_of(item, "mu"));
        mdp_block_dissipation(&block, b, x);
        assert_close(x, expected, 1e-9 * norm3(expected), "maximum dissipation");
        const json_t *first = json_array_get(json_object_get(item, "coulomb"), 0);
        problem_file_numbers(json_array_get(first, 1), expected, 3);
        MdpBranch branch = mdp_block_coulomb(&block, b, x);
        assert_close(x, expected, 1e-9 * norm3(expected), "Coulomb");
        const char *word = json_string_value(json_array_get(first, 0));
        ck_assert_int_eq(branch, branch_of(word));
        check_coulomb_list(&block, b, json_object_get(item, "coulomb"), 1e-9, word);
    }
    json_decref(root);
}
END_TEST

// ---- random blocks

// blocks of condition up to a few thousand, b mostly compressing, mu from 0.01 to 30
static MdpBlock random_block(uint64_t *state, double b[3]) {
    double a[9];
    double least = 0.3 * fabs(problem_build_random(state)) + 1e-3;
    problem_build_random_mass(state, 3, least, a);
    for (int k = 0; k < 3; k++) {
        b[k] = problem_build_random(state);
    }
    b[0] = fabs(b[0]) + (problem_build_random(state) < -0.9 ? -1.0 : 0.0);
    double mu = exp(4.0 * problem_build_random(state) - 0.6);
    return block_of(a, mu);
}

// residual of a relation at a block's answer, as a share of |b|
static double residual_of(const MdpBlock *block, const double b[3], const double x[3],
                          RelationKind relation) {
    ContactState state = {.block = {block->nn, block->nt, block->no, block->nt, block->tt,
                                    block->to, block->no, block->to, block->oo},
                          .w = (block->nn + block->tt + block->oo) / 3.0,
                          .c = (block->nn + block->tt + block->oo) / 3.0,
                          .mu = block->mu,
                          .gamma = {x[0], x[1], x[2]}};
    multiply(block, x, state.u);
    for (int k = 0; k < 3; k++) {
        state.u[k] -= b[k];
    }
    const Answer answer = {.relation = relation};
    const ContactRelation rigid = {.s = 1.0};
    return relation_residual(&answer, &rigid, &state, 0.01) / norm3(b);
}

// the least energy on the boundary of the sliding region, by a scan of directions and golden
// sections
static double scan_energy(const MdpBlock *block, const double b[3], double angle) {
    double c = cos(angle), s = sin(angle);
    double f = block->nn + block->mu * (block->nt * c + block->no * s);
    if (!(f > 0.0)) {
        return HUGE_VAL;
    }
    double n = b[0] / f;
    const double x[3] = {n, block->mu * n * c, block->mu * n * s};
    return energy(block, b, x);
}

static double brute_force_energy(const MdpBlock *block, const double b[3]) {
    enum { STEPS = 2000 };
    const double golden = 0.6180339887498949;
    double least = HUGE_VAL, at = 0.0, width = 2.0 * PI / STEPS;
    for (int i = 0; i < STEPS; i++) {
        double value = scan_energy(block, b, width * i);
        if (value < least) {
            least = value;
            at = width * i;
        }
    }
    double low = at - width, high = at + width;
    for (int i = 0; i < 60; i++) {
        double left = high - golden * (high - low), right = low + golden * (high - low);
        if (scan_energy(block, b, left) < scan_energy(block, b, right)) {
            high = right;
        } else {
            low = left;
        }
    }
    double value = scan_energy(block, b, 0.5 * (low + high));
    return value < least ? value : least;
}

START_TEST(no_feasible_slide_has_less_energy_than_maximum_dissipation) {
    uint64_t state = 1000u + (uint64_t)_i;
    int slides = 0;
    for (int i = 0, campaign = campaign_count(100); i < campaign; i++) {
        double b[3], x[3];
        MdpBlock block = random_block(&state, b);
        if (mdp_block_dissipation(&block, b, x) != MDP_SLIDE) {
            continue;
        }
        double value = energy(&block, b, x), brute = brute_force_energy(&block, b);
        // the scan ends within 1e-9 of the least in the angle, so to rounding in the energy, except
        // where the conic runs off
        ck_assert_msg(value <= brute + 1e-12 * (1.0 + fabs(brute)), "energy %.17g above %.17g",
                      value, brute);
        ck_assert_msg(value >= brute - 1e-3 * (1.0 + fabs(brute)), "energy %.17g far below %.17g",
                      value, brute);
        slides++;
    }
    ck_assert_int_gt(slides, campaign_count(20) / 2);
}
END_TEST

START_TEST(random_blocks_meet_the_relation_of_maximum_dissipation) {
    uint64_t state = 2000u + (uint64_t)_i;
    for (int i = 0, campaign = campaign_count(2000); i < campaign; i++) {
        double b[3], x[3];
        MdpBlock block = random_block(&state, b);
        mdp_block_dissipation(&block, b, x);
        double residual = residual_of(&block, b, x, RELATION_DISSIPATION);
        // certified to 1e-12 in scaled terms, times a condition of a few thousand
        ck_assert_msg(residual <= 1e-10, "block %d: %g", i, residual);
        // no pulling: the cone is kept
        double slip = sqrt(x[1] * x[1] + x[2] * x[2]) - block.mu * x[0];
        ck_assert_double_le(slip, 1e-15 * norm3(x));
    }
}
END_TEST

START_TEST(a_nearly_grazing_contact_meets_its_law) {
    // the conic is a hyperbola and b_n next to nothing: the solution lies far out, where an angle
    // has no digits
    uint64_t state = 5000u + (uint64_t)_i;
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        double b[3], x[3];
        MdpBlock block = random_block(&state, b);
        double rho = sqrt(block.nt * block.nt + block.no * block.no);
        block.mu = (2.0 + problem_build_random(&state)) * block.nn / rho;
        b[0] = exp(-22.0 + 12.0 * problem_build_random(&state)); // 2e-15 to 5e-5
        mdp_block_dissipation(&block, b, x);
        double residual = residual_of(&block, b, x, RELATION_DISSIPATION);
        ck_assert_msg(residual <= 1e-10, "block %d, dissipation: %g", i, residual);
        mdp_block_coulomb(&block, b, x);
        residual = residual_of(&block, b, x, RELATION_CONE);
        ck_assert_msg(residual <= 1e-10, "block %d, Coulomb: %g", i, residual);
    }
}
END_TEST

START_TEST(random_blocks_meet_exact_coulomb_with_an_odd_number_of_answers) {
    uint64_t state = 3000u + (uint64_t)_i;
    for (int i = 0, campaign = campaign_count(1000); i < campaign; i++) {
        double b[3], x[3], all[4][3];
        MdpBlock block = random_block(&state, b);
        MdpBranch branch = mdp_block_coulomb(&block, b, x);
        double residual = residual_of(&block, b, x, RELATION_CONE);
        ck_assert_msg(residual <= 1e-10, "block %d: %g", i, residual);
        if (b[0] > 0.0) {
            int count = mdp_block_coulomb_all(&block, b, all) + (branch == MDP_STICK ? 1 : 0);
            ck_assert_msg(count == 1 || count == 3, "block %d: %d answers", i, count);
            for (int k = 0; k < count - (branch == MDP_STICK ? 1 : 0); k++) {
                ck_assert_double_le(residual_of(&block, b, all[k], RELATION_CONE), 1e-10);
            }
        }
    }
}
END_TEST

START_TEST(a_plan_that_goes_on_finds_what_a_fresh_start_finds) {
    uint64_t state = 4000u + (uint64_t)_i;
    for (int i = 0, campaign = campaign_count(500); i < campaign; i++) {
        double b[3], fresh[3], warm[3];
        MdpBlock block = random_block(&state, b);
        MdpPlan plan;
        mdp_block_plan(&block, &plan);
        for (int law = 0; law < 2; law++) {
            for (int k = 0; k < 3; k++) {
                warm[k] = problem_build_random(&state);
                fresh[k] = 0.0;
            }
            mdp_plan_solve(&plan, law == 1, b, warm);
            mdp_plan_solve(&plan, law == 1, b, fresh);
            // both certified to 1e-12, times the condition of the block
            assert_close(warm, fresh, 1e-8 * (1e-3 + norm3(fresh)), "warm start");
        }
    }
}
END_TEST

START_TEST(spheres_have_the_same_closed_form_under_both_laws) {
    const MdpBlock block = {1.0, 0.0, 0.0, 3.5, 0.0, 3.5, 0.3};
    const double b[3] = {0.5, 2.0, -1.0};
    double x[3], y[3];
    ck_assert_int_eq(mdp_block_dissipation(&block, b, x), MDP_SLIDE);
    ck_assert_int_eq(mdp_block_coulomb(&block, b, y), MDP_SLIDE);
    const double expected[3] = {0.5, 0.15 * 2.0 / sqrt(5.0), -0.15 / sqrt(5.0)};
    assert_close(x, expected, 1e-16, "maximum dissipation");
    assert_close(y, expected, 1e-16, "Coulomb");
}
END_TEST

START_TEST(not_a_number_is_answered_not_looped_over) {
    const MdpBlock block = {1.0, 0.2, 0.1, 2.0, 0.3, 3.0, 0.5};
    for (int k = 0; k < 3; k++) {
        double b[3] = {0.5, 2.0, -1.0}, x[3];
        b[k] = NAN;
        mdp_block_dissipation(&block, b, x);
        ck_assert(!isfinite(norm3(x)));
        mdp_block_coulomb(&block, b, x);
        ck_assert(!isfinite(norm3(x)));
    }
}
END_TEST

static TCase *case_reference(void) {
    TCase *tcase = tcase_create("reference");
    tcase_add_test(tcase, table_1_of_the_paper_comes_out_in_both_frames);
    tcase_add_test(tcase, every_single_contact_takes_its_branch);
    tcase_add_test(tcase, the_grazing_rod_jumps_at_its_critical_friction);
    tcase_add_test(tcase, the_least_critical_friction_is_that_of_the_paper);
    tcase_add_test(tcase, the_falling_rod_follows_its_closed_form);
    return tcase;
}

static TCase *case_random(void) {
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, no_feasible_slide_has_less_energy_than_maximum_dissipation, 0, 5);
    tcase_add_loop_test(tcase, random_blocks_meet_the_relation_of_maximum_dissipation, 0, 10);
    tcase_add_loop_test(tcase, a_nearly_grazing_contact_meets_its_law, 0, 5);
    tcase_add_loop_test(tcase, random_blocks_meet_exact_coulomb_with_an_odd_number_of_answers, 0,
                        10);
    tcase_add_loop_test(tcase, a_plan_that_goes_on_finds_what_a_fresh_start_finds, 0, 4);
    tcase_add_test(tcase, spheres_have_the_same_closed_form_under_both_laws);
    tcase_add_test(tcase, not_a_number_is_answered_not_looped_over);
    return tcase;
}

SUITE_MAIN("solve/mdp_block", case_reference, case_random)
