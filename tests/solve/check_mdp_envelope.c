// SPDX-License-Identifier: MIT
#include "solve/mdp_envelope.h"

#include "solve/dense.h"
#include "support/problem_build.h"
#include "support/suite.h"

enum { ROWS = 7, WIDTH = ROWS * MDP_BLOCK_SIDE };

// Rows of blocks from first[i] on, as three bodies that stand on each other, two that stand on the
// first, and one that touches nothing.
static const uint32_t first[ROWS] = {0, 0, 1, 0, 0, 5, 4};

typedef struct Sample {
    MdpEnvelope envelope;
    uint32_t begin[ROWS];
    double number[ROWS * ROWS * MDP_BLOCK_SIZE];
    double dense[WIDTH * WIDTH]; // the same matrix
} Sample;

// random below the diagonal and larger in sum on it: positive definite
static void fill(Sample *sample, uint64_t seed) {
    *sample = (Sample){.envelope = {.count = ROWS, .first = first}};
    sample->envelope.begin = sample->begin;
    sample->envelope.number = sample->number;
    for (uint32_t i = 1; i < ROWS; i++) {
        sample->begin[i] = sample->begin[i - 1] + (i - 1 - first[i - 1]) + 1;
    }
    for (uint32_t i = 0; i < WIDTH; i++) {
        for (uint32_t j = MDP_BLOCK_SIDE * first[i / MDP_BLOCK_SIDE]; j <= i; j++) {
            double value = i == j ? WIDTH : problem_build_random(&seed);
            sample->dense[WIDTH * i + j] = sample->dense[WIDTH * j + i] = value;
            double *block =
                mdp_envelope_block(&sample->envelope, i / MDP_BLOCK_SIDE, j / MDP_BLOCK_SIDE);
            block[MDP_BLOCK_SIDE * (i % MDP_BLOCK_SIDE) + j % MDP_BLOCK_SIDE] = value;
        }
    }
}

START_TEST(solve_undoes_multiplication) {
    Sample sample;
    uint64_t seed = 5u + (uint64_t)_i;
    double x[WIDTH], product[WIDTH] = {0.0};
    fill(&sample, seed);
    for (uint32_t i = 0; i < WIDTH; i++) {
        x[i] = problem_build_random(&seed);
    }
    for (uint32_t i = 0; i < WIDTH; i++) {
        for (uint32_t j = 0; j < WIDTH; j++) {
            product[i] += sample.dense[WIDTH * i + j] * x[j];
        }
    }
    ck_assert(mdp_envelope_factor(&sample.envelope));
    mdp_envelope_solve(&sample.envelope, product);
    for (uint32_t i = 0; i < WIDTH; i++) {
        // the condition number is below 10, as rows sum up to less than twice their diagonal
        ck_assert_double_eq_tol(product[i], x[i], 1e-14);
    }
}
END_TEST

START_TEST(the_factor_is_the_dense_one) {
    Sample sample;
    double factor[WIDTH * WIDTH];
    fill(&sample, 3);
    ck_assert(dense_factor(WIDTH, sample.dense, 0.0, factor));
    ck_assert(mdp_envelope_factor(&sample.envelope));
    for (uint32_t i = 0; i < WIDTH; i++) {
        for (uint32_t j = MDP_BLOCK_SIDE * first[i / MDP_BLOCK_SIDE]; j <= i; j++) {
            const double *block =
                mdp_envelope_block(&sample.envelope, i / MDP_BLOCK_SIDE, j / MDP_BLOCK_SIDE);
            double value = block[MDP_BLOCK_SIDE * (i % MDP_BLOCK_SIDE) + j % MDP_BLOCK_SIDE];
            ck_assert_double_eq_tol(value, factor[WIDTH * i + j], 1e-13);
        }
    }
}
END_TEST

START_TEST(factor_refuses_what_is_not_positive_definite) {
    const double broken[3] = {-1.0, 0.0, NAN};
    Sample sample;
    fill(&sample, 7);
    // the last diagonal number of a row of blocks
    mdp_envelope_block(&sample.envelope, 3, 3)[MDP_BLOCK_SIZE - 1] = broken[_i];
    ck_assert(!mdp_envelope_factor(&sample.envelope));
}
END_TEST

static TCase *case_envelope(void) {
    TCase *tcase = tcase_create("envelope");
    tcase_add_loop_test(tcase, solve_undoes_multiplication, 0, 8);
    tcase_add_test(tcase, the_factor_is_the_dense_one);
    tcase_add_loop_test(tcase, factor_refuses_what_is_not_positive_definite, 0, 3);
    return tcase;
}

SUITE_MAIN("solve/mdp_envelope", case_envelope)
