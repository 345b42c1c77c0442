// SPDX-License-Identifier: MIT
// Lemke's algorithm and its ladder on problems without contacts, against all bases tried one after
// the other.
#include "solve/lcp/basis.h"
#include "solve/lcp/ladder.h"

#include "support/problem_build.h"
#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { ROWS_MAX = 8 };

typedef struct Problem {
    uint32_t n;
    double matrix[ROWS_MAX * ROWS_MAX], b[ROWS_MAX];
    uint8_t is_wide[ROWS_MAX];
    LcpShare share[ROWS_MAX];
    LcpSystem system;
    Arena arena;
    LcpCount count;
    double z[ROWS_MAX], w[ROWS_MAX];
    uint8_t basis[ROWS_MAX];
    LcpClimb climb;
} Problem;

static void problem_init(Problem *p, uint32_t n) {
    *p = (Problem){.n = n};
    p->system = (LcpSystem){
        .count = n, .matrix = p->matrix, .b = p->b, .is_wide = p->is_wide, .share = p->share};
    for (uint32_t i = 0; i < n; i++) {
        p->share[i] = (LcpShare){i, i + 1, {1.0, 0.0}};
    }
    arena_init(&p->arena, 1 << 20);
}

static void problem_climb(Problem *p) {
    const LcpClimbOptions options = {.pivot_max = 10000, .enough = 1e-10};
    ck_assert_int_eq(
        lcp_climb(&p->system, &options, &p->arena, &p->count, p->z, p->basis, &p->climb),
        STATUS_OK);
}

// Whether any of the 2^n bases gives an answer.
static bool has_answer(Problem *p) {
    for (uint32_t bits = 0; bits < 1u << p->n; bits++) {
        uint8_t basis[ROWS_MAX];
        double z[ROWS_MAX], w[ROWS_MAX];
        for (uint32_t i = 0; i < p->n; i++) {
            basis[i] = bits >> i & 1 ? LCP_IN : LCP_OUT;
        }
        ck_assert_int_eq(lcp_solve_basis(&p->system, basis, &p->arena, &p->count, z), STATUS_OK);
        if (lcp_residual(&p->system, z, w, &p->count) < 1e-10) {
            return true;
        }
    }
    return false;
}

static void scale(Problem *p) {
    double largest = 0.0;
    for (uint32_t i = 0; i < p->n; i++) {
        largest = fabs(p->b[i]) > largest ? fabs(p->b[i]) : largest;
    }
    for (uint32_t i = 0; largest > 0.0 && i < p->n; i++) {
        p->b[i] /= largest;
    }
}

// Symmetric part positive definite: one answer, always.
START_TEST(a_definite_problem_is_solved_by_lemke) {
    uint64_t state = 7;
    for (int i = 0; i < 3000; i++) {
        Problem p;
        problem_init(&p, 1 + (uint32_t)i % ROWS_MAX);
        problem_build_random_mass(&state, p.n, 0.05, p.matrix);
        for (uint32_t r = 0; r < p.n; r++) {
            for (uint32_t c = 0; c < r; c++) { // and skew
                double skew = problem_build_random(&state);
                p.matrix[r * p.n + c] += skew;
                p.matrix[c * p.n + r] -= skew;
            }
            p.b[r] = i % 3 == 0 ? floor(2.0 * problem_build_random(&state))
                                : problem_build_random(&state);
        }
        scale(&p);
        problem_climb(&p);
        ck_assert_int_eq(p.climb.rung, LCP_RUNG_LEMKE);
        ck_assert_double_le(lcp_residual(&p.system, p.z, p.w, &p.count), 1e-12);
        arena_deinit(&p.arena);
    }
}
END_TEST

static void lemke(Problem *p, bool is_careful, uint8_t *basis, LemkeEnd *end) {
    double cover[ROWS_MAX];
    const LemkeOptions options = {
        .cover = cover, .tie = 1e-12, .is_careful = is_careful, .pivot_max = 1000};
    for (uint32_t i = 0; i < p->n; i++) {
        cover[i] = 1.0;
    }
    ck_assert_int_eq(lemke_run(&p->system, &options, &p->arena, &p->count, p->z, basis, end),
                     STATUS_OK);
}

// The tableau of so few rows is made anew before every pivot. Where nothing ties there is one way
// to go: the basis is the same, and so is the count of pivots, which has only those of the way. A
// variable is a sum of 8 terms that the pivots, of 1e-3 at least here, may enlarge.
START_TEST(a_careful_run_goes_the_same_way) {
    uint64_t state = 19;
    for (int i = 0; i < 3000; i++) {
        Problem p;
        uint8_t plain_basis[ROWS_MAX], basis[ROWS_MAX];
        double plain_z[ROWS_MAX];
        LemkeEnd plain_end, end;
        problem_init(&p, 1 + (uint32_t)i % ROWS_MAX);
        problem_build_random_mass(&state, p.n, 0.05, p.matrix);
        for (uint32_t r = 0; r < p.n; r++) {
            p.b[r] = problem_build_random(&state);
        }
        scale(&p);
        lemke(&p, false, plain_basis, &plain_end);
        uint64_t pivots = p.count.pivots;
        memcpy(plain_z, p.z, sizeof(plain_z));
        lemke(&p, true, basis, &end);
        ck_assert_int_eq(plain_end, LEMKE_SOLVED);
        ck_assert_int_eq(end, LEMKE_SOLVED);
        ck_assert_uint_eq(p.count.pivots, 2 * pivots);
        ck_assert_mem_eq(basis, plain_basis, p.n);
        for (uint32_t r = 0; r < p.n; r++) {
            ck_assert_double_le(fabs(p.z[r] - plain_z[r]), 1e-10 * (1.0 + fabs(p.z[r])));
        }
        arena_deinit(&p.arena);
    }
}
END_TEST

// Small whole numbers, half of them zero: ties in every pivot, and many without an answer. Lemke
// need not find those of matrices like these; what it gives is one, and where it gives none it says
// so. Of matrices whose entries are not negative and whose diagonal is positive it finds one
// always.
START_TEST(whole_numbers_with_many_ties_are_solved_or_said_to_be_not) {
    uint64_t state = 11;
    int solved = 0, without = 0;
    for (int i = 0; i < 3000; i++) {
        Problem p;
        bool is_easy = i % 2 == 0;
        problem_init(&p, 2 + (uint32_t)i % 5);
        for (uint32_t k = 0; k < p.n * p.n; k++) {
            double entry = floor(2.5 * problem_build_random(&state));
            p.matrix[k] = is_easy ? fabs(entry) : entry;
        }
        for (uint32_t r = 0; r < p.n; r++) {
            p.matrix[r * p.n + r] = is_easy ? 1.0 + p.matrix[r * p.n + r] : p.matrix[r * p.n + r];
            p.b[r] = floor(1.5 * problem_build_random(&state));
        }
        scale(&p);
        problem_climb(&p);
        bool is_solved = p.climb.rung < LCP_RUNG_UNSOLVED_RAY;
        ck_assert(is_solved == (lcp_residual(&p.system, p.z, p.w, &p.count) <= 1e-10));
        ck_assert(is_solved || !is_easy);
        solved += is_solved;
        if (!is_solved && !has_answer(&p)) {
            without++;
        }
        arena_deinit(&p.arena);
    }
    ck_assert_int_gt(solved, 1700);
    ck_assert_int_gt(without, 100);
}
END_TEST

START_TEST(a_ray_is_named) {
    Problem p;
    problem_init(&p, 2);
    p.b[0] = -1.0; // w = -1, whatever z
    p.b[1] = 0.5;
    problem_climb(&p);
    ck_assert_int_eq(p.climb.rung, LCP_RUNG_UNSOLVED_RAY);
    ck_assert_double_eq(p.climb.residual, 1.0);
    arena_deinit(&p.arena);
}
END_TEST

// z_0 and z_1 say the same: z_0 + z_1 = 1.
START_TEST(what_depends_on_each_other_shares_evenly) {
    static const double matrix[9] = {1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 2.0};
    static const uint8_t basis[3] = {LCP_IN, LCP_IN, LCP_IN};
    Problem p;
    problem_init(&p, 3);
    memcpy(p.matrix, matrix, sizeof(matrix));
    p.b[0] = p.b[1] = p.b[2] = -1.0;
    ck_assert_int_eq(lcp_solve_basis(&p.system, basis, &p.arena, &p.count, p.z), STATUS_OK);
    for (int i = 0; i < 3; i++) {
        ck_assert_double_eq_tol(p.z[i], 0.5, 1e-15);
    }
    ck_assert_double_le(lcp_residual(&p.system, p.z, p.w, &p.count), 1e-15);
    arena_deinit(&p.arena);
}
END_TEST

// Two contacts, of two directions of friction each, hold one force between them: half each,
// whatever directions it is made of. Contact k has directions at 45 k and 45 (k + 1) degrees.
START_TEST(friction_is_shared_as_vectors_are) {
    static const uint8_t basis[4] = {LCP_IN, LCP_IN, LCP_IN, LCP_IN};
    const double c = sqrt(0.5), direction[3][2] = {{1.0, 0.0}, {c, c}, {0.0, 1.0}};
    const double force[2] = {0.5, 0.8}; // between the second and the third direction
    Problem p;
    problem_init(&p, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const double *own = direction[i / 2 + i % 2];
        p.share[i] = (LcpShare){i / 2 * 2, i / 2 * 2 + 2, {own[0], own[1]}};
        p.b[i] = -own[0] * force[0] - own[1] * force[1];
        for (uint32_t k = 0; k < 4; k++) {
            const double *other = direction[k / 2 + k % 2];
            p.matrix[(size_t)4 * i + k] = own[0] * other[0] + own[1] * other[1];
        }
    }
    ck_assert_int_eq(lcp_solve_basis(&p.system, basis, &p.arena, &p.count, p.z), STATUS_OK);
    for (uint32_t k = 0; k < 2; k++) {
        const double *d = direction[k], *e = direction[k + 1], *z = p.z + (size_t)2 * k;
        for (int axis = 0; axis < 2; axis++) {
            ck_assert_double_eq_tol(z[0] * d[axis] + z[1] * e[axis], 0.5 * force[axis], 1e-14);
        }
    }
    arena_deinit(&p.arena);
}
END_TEST

// A contact of four directions with a basis of two between which its friction does not lie: where
// it sticks the two next to it take their place, where it slides none do.
START_TEST(friction_that_sticks_lies_between_its_directions) {
    enum { NORMAL = 4, MULTIPLIER = 5 };
    for (int slides = 0; slides < 2; slides++) {
        Problem p;
        problem_init(&p, 6);
        for (uint32_t j = 0; j < 4; j++) {
            p.share[j] = (LcpShare){0, 4, {j % 2 == 0 ? 1.0 - j : 0.0, j % 2 == 1 ? 2.0 - j : 0.0}};
        }
        p.share[MULTIPLIER] = (LcpShare){MULTIPLIER, MULTIPLIER, {0.0, 0.0}};
        p.basis[0] = p.basis[1] = p.basis[NORMAL] = LCP_IN;
        p.basis[MULTIPLIER] = slides == 1 ? LCP_IN : LCP_OUT;
        p.z[0] = -0.25;
        p.z[1] = 0.5;
        p.z[NORMAL] = 2.0;
        lcp_turn_friction(&p.system, p.basis, &p.count, p.z);
        ck_assert_double_eq(p.z[0], slides == 1 ? -0.25 : 0.0);
        ck_assert_double_eq(p.z[1], 0.5);
        ck_assert_double_eq(p.z[2], slides == 1 ? 0.0 : 0.25);
        ck_assert_int_eq(p.basis[0], slides == 1 ? LCP_IN : LCP_OUT);
        ck_assert_int_eq(p.basis[1], LCP_IN);
        ck_assert_int_eq(p.basis[2], slides == 1 ? LCP_OUT : LCP_IN);
        ck_assert_double_eq(p.z[NORMAL], 2.0);
        arena_deinit(&p.arena);
    }
}
END_TEST

// What is left of terms of a million is their rounding, of terms of 1 it is not.
START_TEST(what_rounding_leaves_of_large_terms_is_an_answer) {
    for (int is_large = 0; is_large < 2; is_large++) {
        const double size = is_large == 1 ? 1e6 : 1.0;
        Problem p;
        problem_init(&p, 1);
        p.matrix[0] = 1.0;
        p.b[0] = -size;
        p.z[0] = size + 1e-9;
        ck_assert_double_ge(lcp_residual(&p.system, p.z, p.w, &p.count), 5e-10);
        ck_assert(lcp_is_answer(&p.system, p.z, p.w, 1e-10, &p.count) == (is_large == 1));
        arena_deinit(&p.arena);
    }
}
END_TEST

// N = B^T B with fewer rows in B than unknowns: of the answers of N z = -b, b = -N z_0, the
// smallest is the part of z_0 in the rows of B, which Gram and Schmidt find.
START_TEST(of_many_answers_the_smallest_is_found) {
    static const uint8_t basis[ROWS_MAX] = {LCP_IN, LCP_IN, LCP_IN, LCP_IN,
                                            LCP_IN, LCP_IN, LCP_IN, LCP_IN};
    uint64_t state = 23;
    for (int i = 0; i < 1000; i++) {
        const uint32_t n = 2 + (uint32_t)i % (ROWS_MAX - 1), rank = 1 + (uint32_t)i % (n - 1);
        double rows[ROWS_MAX][ROWS_MAX], given[ROWS_MAX], wanted[ROWS_MAX] = {0.0};
        Problem p;
        problem_init(&p, n);
        for (uint32_t k = 0; k < n; k++) {
            given[k] = problem_build_random(&state);
        }
        for (uint32_t r = 0; r < rank; r++) {
            for (uint32_t k = 0; k < n; k++) {
                rows[r][k] = problem_build_random(&state);
            }
        }
        for (uint32_t k = 0; k < n * n; k++) {
            for (uint32_t r = 0; r < rank; r++) {
                p.matrix[k] += rows[r][k / n] * rows[r][k % n];
            }
        }
        for (uint32_t k = 0; k < n * n; k++) {
            p.b[k / n] -= p.matrix[k] * given[k % n];
        }
        double shortest = 1.0; // row left beside those before it
        for (uint32_t r = 0; r < rank; r++) {
            for (int round = 0; round < 2; round++) {
                for (uint32_t q = 0; q < r; q++) {
                    const double along = lcp_dot(rows[r], rows[q], n);
                    for (uint32_t k = 0; k < n; k++) {
                        rows[r][k] -= along * rows[q][k];
                    }
                }
            }
            const double length = sqrt(lcp_dot(rows[r], rows[r], n));
            shortest = fmin(shortest, length);
            for (uint32_t k = 0; k < n; k++) {
                rows[r][k] /= length;
            }
            const double along = lcp_dot(rows[r], given, n);
            for (uint32_t k = 0; k < n; k++) {
                wanted[k] += along * rows[r][k];
            }
        }
        ck_assert_int_eq(lcp_solve_basis(&p.system, basis, &p.arena, &p.count, p.z), STATUS_OK);
        // N has the square of the shortest row among its eigenvalues, U U^T its square again
        const double size = shortest * shortest, tolerance = 1e-13 / (size * size);
        for (uint32_t k = 0; k < n && tolerance < 1e-6; k++) {
            ck_assert_double_eq_tol(p.z[k], wanted[k], tolerance);
        }
        arena_deinit(&p.arena);
    }
}
END_TEST

START_TEST(a_residual_hides_nothing) {
    static const double bad[] = {NAN, HUGE_VAL, -HUGE_VAL};
    Problem p;
    problem_init(&p, 2);
    p.matrix[0] = p.matrix[3] = 1.0;
    p.b[0] = p.b[1] = -1.0;
    p.z[0] = bad[_i];
    p.z[1] = 1.0;
    ck_assert(!(lcp_residual(&p.system, p.z, p.w, &p.count) < 1e300));
    arena_deinit(&p.arena);
}
END_TEST

static TCase *case_lemke(void) {
    TCase *tcase = tcase_create("lemke");
    tcase_add_test(tcase, a_definite_problem_is_solved_by_lemke);
    tcase_add_test(tcase, a_careful_run_goes_the_same_way);
    tcase_add_test(tcase, whole_numbers_with_many_ties_are_solved_or_said_to_be_not);
    tcase_add_test(tcase, a_ray_is_named);
    tcase_add_test(tcase, what_depends_on_each_other_shares_evenly);
    tcase_add_test(tcase, friction_is_shared_as_vectors_are);
    tcase_add_test(tcase, friction_that_sticks_lies_between_its_directions);
    tcase_add_test(tcase, what_rounding_leaves_of_large_terms_is_an_answer);
    tcase_add_test(tcase, of_many_answers_the_smallest_is_found);
    tcase_add_loop_test(tcase, a_residual_hides_nothing, 0, 3);
    return tcase;
}

SUITE_MAIN("solve/lcp_lemke", case_lemke)
