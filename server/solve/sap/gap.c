// SPDX-License-Identifier: MIT
#include "solve/sap/gap.h"

#include "base/assert.h"

#include <string.h>

// a contact or row looked at, about
#define OPERATIONS 200.0

// gamma - gamma(v)
static void make_rest(const SapLaw *law, const double *u, const double *gamma, double *rest) {
    double y[3], asked[3];
    sap_law_ask(law, u, y);
    sap_law_impulse(law, y, asked);
    for (uint32_t k = 0; k < sap_law_size(law); k++) {
        rest[k] = gamma[k] - asked[k];
    }
}

// g := J^T (gamma - gamma(v)); a law without compliance is of what moves nothing.
static Status make_gradient(Judge *judge, const SapLaw *contact_law, const SapLaw *row_law,
                            double *g) {
    const ContactProblem *problem = judge->problem;
    const Answer *answer = &judge->result->answer;
    Status status = STATUS_OK;
    for (uint32_t i = 0; i < problem->contact_count && status == STATUS_OK; i++) {
        double u[3], rest[3] = {0.0};
        if (contact_law[i].normal > 0.0) {
            problem_contact_product(problem, i, answer->v, u);
            make_rest(&contact_law[i], u, answer->contact_impulse + 3 * (size_t)i, rest);
            problem_contact_momentum(problem, i, rest, g);
        }
        status = judge_ask(judge, OPERATIONS);
    }
    for (uint32_t i = 0; i < problem->row_count && status == STATUS_OK; i++) {
        double rest[3] = {0.0};
        if (row_law[i].normal > 0.0) {
            double u = problem_row_product(problem, i, answer->v);
            make_rest(&row_law[i], &u, answer->row_impulse + i, rest);
            problem_row_momentum(problem, i, rest[0], g);
        }
        status = judge_ask(judge, OPERATIONS);
    }
    return status;
}

Status sap_gap(Judge *judge, const SapLaw *contact_law, const SapLaw *row_law, double *gap) {
    ASSERT(contact_law != NULL || judge->problem->contact_count == 0);
    ASSERT(row_law != NULL || judge->problem->row_count == 0);
    size_t count = judge->problem->velocity_count;
    ArenaMark mark = arena_mark(judge->arena);
    double *g = arena_take_zeroed(judge->arena, count, sizeof(double));
    double *solved = arena_take_array(judge->arena, count, sizeof(double));
    if (g == NULL || solved == NULL) {
        return error_set(judge->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the answer.");
    }
    Status status = make_gradient(judge, contact_law, row_law, g);
    if (status == STATUS_OK) {
        memcpy(solved, g, count * sizeof(double));
        mass_solve(&judge->mass, solved);
        double sum = 0.0;
        for (size_t k = 0; k < count; k++) {
            sum += g[k] * solved[k];
        }
        *gap = 0.5 * sum;
    }
    arena_reset_to(judge->arena, mark);
    return status;
}
