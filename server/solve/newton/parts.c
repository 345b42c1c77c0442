// SPDX-License-Identifier: MIT
#include "solve/newton/parts.h"

#include "base/assert.h"

#include <string.h>

// A factor of so many numbers takes half a gigabyte, and its island is beyond what a step waits
// for.
#define FACTOR_NUMBERS_MAX ((size_t)1 << 25)
// the matrix is unsymmetric
#define LU_OF_LDLT 2.0
// a look at a constraint's residual, about
#define OPERATIONS_PER_LOOK 200.0
// what goes with a factorisation, for each constraint: its law into the matrix, and the looks at it
// of a line search
#define OPERATIONS_PER_CONSTRAINT 1500.0
// From what is enough to what is aimed at are two or three steps, or it is far.
enum { POLISH = 4 };

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for Newton's method.");
}

static bool take(NewtonWork *work, Arena *arena) {
    const NewtonIsland *n = work->island;
    size_t velocities = n->velocity_count, impulses = n->impulse_count, numbers = 0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t b = 0; b < c->block_count; b++) {
            numbers += (size_t)c->rows * n->block[c->block_first + b].width;
        }
    }
    double **velocity[] = {&work->v, &work->trial_v, &work->d_v};
    double **impulse[] = {&work->impulse,   &work->trial_impulse, &work->center, &work->kept,
                          &work->d_impulse, &work->best_impulse,  &work->fall,   &work->tangent,
                          &work->base,      &work->anchor};
    bool is_taken = true;
    for (size_t k = 0; k < sizeof(velocity) / sizeof(velocity[0]); k++) {
        *velocity[k] = arena_take_zeroed(arena, velocities, sizeof(double));
        is_taken = is_taken && *velocity[k] != NULL;
    }
    for (size_t k = 0; k < sizeof(impulse) / sizeof(impulse[0]); k++) {
        *impulse[k] = arena_take_zeroed(arena, impulses, sizeof(double));
        is_taken = is_taken && *impulse[k] != NULL;
    }
    work->weight = arena_take_array(arena, n->constraint_count, sizeof(double));
    work->law = arena_take_array(arena, n->constraint_count, sizeof(*work->law));
    work->sweep = arena_take_array(arena, n->contact_count, sizeof(*work->sweep));
    work->response = arena_take_array(arena, numbers, sizeof(double));
    return is_taken && work->weight != NULL && work->law != NULL && work->sweep != NULL &&
           work->response != NULL;
}

double newton_cost_of_factor(const NewtonWork *work) {
    return LU_OF_LDLT * work->plan.operations;
}

double newton_cost_of_constraints(uint32_t count) {
    return OPERATIONS_PER_CONSTRAINT * count;
}

Status newton_work_init(NewtonWork *work, const NewtonIsland *island, double operations_max,
                        const Context *context, Arena *arena, Error *error) {
    ASSERT(island->contact_count <= island->constraint_count);
    ASSERT(context != NULL);
    *work = (NewtonWork){
        .island = island, .best = HUGE_VAL, .operations_max = operations_max, .context = context};
    Error refusal;
    double left = operations_max - newton_cost_of_constraints(island->constraint_count);
    const LdltLimits limits = {FACTOR_NUMBERS_MAX, left / LU_OF_LDLT, island->asker};
    Status status = ldlt_plan(&island->graph, limits, arena, &work->plan, &refusal);
    // what is refused by its size is known to its last multiplication
    bool is_too_large = work->plan.diagonal_count + work->plan.lower_count > FACTOR_NUMBERS_MAX;
    work->is_too_dear = newton_cost_of_factor(work) > left || (is_too_large && isfinite(left));
    if (work->is_too_dear && status != STATUS_ABORTED) {
        return STATUS_OK;
    }
    if (status != STATUS_OK && error != NULL) {
        *error = refusal;
    }
    status = STATUS_THEN(status, ldlt_init(&work->ldlt, &work->plan, false, arena, error));
    status = STATUS_THEN_IF(status, !take(work, arena), no_memory(error));
    if (status == STATUS_OK) {
        newton_sweep_init(work);
    }
    return status;
}

void newton_note(const NewtonWork *work) {
    ASSERT(work->context != NULL);
    if (work->context->history != NULL && work->factorisations > 0) {
        history_note(work->context->history, (uint64_t)work->iterations + work->factorisations,
                     work->best);
    }
}

void newton_spend(NewtonWork *work, double operations) {
    ASSERT(!(operations < 0.0));
    work->operations += operations;
    work->is_stopped = asker_spend(work->island->asker, operations) || work->is_stopped;
}

bool newton_is_spent(const NewtonWork *work) {
    return work->operations + newton_cost_of_factor(work) > work->operations_max;
}

bool newton_is_over(const NewtonWork *work) {
    VALIDATE(!work->is_too_dear);
    bool is_enough = work->best <= work->enough;
    return work->is_stopped || work->best <= work->tolerance ||
           (is_enough && work->factorisations >= work->enough_at + POLISH) ||
           work->factorisations >= work->factorisations_max || newton_is_spent(work);
}

double newton_consider(NewtonWork *work, const double *impulse) {
    ASSERT(work->best_impulse != NULL);
    ASSERT(impulse != work->trial_impulse);
    const NewtonIsland *n = work->island;
    size_t bytes = n->impulse_count * sizeof(double);
    memcpy(work->trial_impulse, impulse, bytes);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        newton_project(&n->constraint[i], work->trial_impulse + n->constraint[i].first);
        newton_spend(work, OPERATIONS_PER_LOOK);
    }
    newton_velocities(n, work->trial_impulse, work->trial_v);
    double residual = newton_residual(n, work->trial_impulse, work->trial_v);
    if (residual < work->best) {
        if (residual <= work->enough && !(work->best <= work->enough)) {
            work->enough_at = work->factorisations;
        }
        work->best = residual;
        memcpy(work->best_impulse, work->trial_impulse, bytes);
    }
    return residual;
}
