// SPDX-License-Identifier: MIT
#include "solve/problem.h"

#include "base/assert.h"

double problem_gap_bias(double time_step, double gap, double overlap) {
    VALIDATE(!(time_step <= 0.0));
    double rate = gap / time_step;
    return rate < 0.0 ? overlap * rate : rate;
}

double problem_contact_bias(double time_step, double gap, double overlap, double restitution,
                            double approach) {
    VALIDATE(!(overlap < 0.0));
    return problem_bounce_bias(problem_gap_bias(time_step, gap, overlap), time_step, gap,
                               restitution, approach);
}

void problem_dense_product(const ContactProblem *problem, const ContactSide *side, const double *v,
                           double u[3]) {
    VALIDATE(side->tree < problem->tree_count);
    VALIDATE(!problem_is_free(problem, side->tree));
    const ProblemTree *tree = &problem->tree[side->tree];
    const double *jacobian = problem->number + side->jacobian;
    for (uint32_t k = 0; k < tree->width; k++) {
        double rate = v[tree->first + k];
        u[0] += jacobian[k] * rate;
        u[1] += jacobian[tree->width + k] * rate;
        u[2] += jacobian[2 * (size_t)tree->width + k] * rate;
    }
}

void problem_dense_momentum(const ContactProblem *problem, const ContactSide *side,
                            const double gamma[3], double *p) {
    VALIDATE(side->tree < problem->tree_count);
    VALIDATE(!problem_is_free(problem, side->tree));
    const ProblemTree *tree = &problem->tree[side->tree];
    const double *jacobian = problem->number + side->jacobian;
    double *at = p + tree->first;
    for (uint32_t k = 0; k < tree->width; k++) {
        at[k] += jacobian[k] * gamma[0] + jacobian[tree->width + k] * gamma[1] +
                 jacobian[2 * (size_t)tree->width + k] * gamma[2];
    }
}

double problem_row_product(const ContactProblem *problem, uint32_t row, const double *v) {
    VALIDATE(row < problem->row_count);
    const ProblemRow *r = &problem->row[row];
    double sum = 0.0;
    for (uint32_t b = 0; b < r->block_count; b++) {
        const RowBlock *block = &problem->row_block[r->block_first + b];
        const ProblemTree *tree = &problem->tree[block->tree];
        const double *jacobian = problem->number + block->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            sum += jacobian[k] * v[tree->first + k];
        }
    }
    VALIDATE(r->block_first + r->block_count <= problem->row_block_count);
    return sum;
}

void problem_row_momentum(const ContactProblem *problem, uint32_t row, double r, double *p) {
    VALIDATE(row < problem->row_count);
    const ProblemRow *of = &problem->row[row];
    for (uint32_t b = 0; b < of->block_count; b++) {
        const RowBlock *block = &problem->row_block[of->block_first + b];
        const ProblemTree *tree = &problem->tree[block->tree];
        const double *jacobian = problem->number + block->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            p[tree->first + k] += jacobian[k] * r;
        }
    }
}
