// SPDX-License-Identifier: MIT
#include "solve/newton.h"

#include "base/assert.h"
#include "solve/newton_work.h"

#include <string.h>

// Impulses that leave no more than this are a start; others are no better than none.
#define WARM_MAX 1e-2
// Near a solution the curve is looked for again, from so many times the residual.
#define NEAR       1e-4
#define KAPPA_NEAR 10.0
#define KAPPA_COLD 1.0
// Factorisations of one turn of each way. A good start takes 3 to 20, a cold curve 5 to 60, unless
// it folds.
enum { FOLLOW_WARM = 25, FOLLOW_COLD = 80, FOLLOW_NEAR = 40, APPROACH = 150 };

// ---- in and out

static double *impulse_of(const NewtonConstraint *c, double *contact_impulse, double *row_impulse) {
    return c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
}

// Impulses to start from; zeros where they are not numbers.
static void load(const NewtonIsland *n, double *contact_impulse, double *row_impulse,
                 double *impulse) {
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        memcpy(impulse + c->first, impulse_of(c, contact_impulse, row_impulse),
               c->rows * sizeof(double));
    }
    if (!numbers_are_finite(impulse, n->impulse_count)) {
        memset(impulse, 0, n->impulse_count * sizeof(double));
    }
}

static void end(const NewtonWork *work, double *contact_impulse, double *row_impulse) {
    const NewtonIsland *n = work->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        memcpy(impulse_of(c, contact_impulse, row_impulse), work->best_impulse + c->first,
               c->rows * sizeof(double));
    }
}

// ---- the order of the ways

static void return_to(NewtonWork *work, const double *impulse) {
    memcpy(work->impulse, impulse, work->island->impulse_count * sizeof(double));
}

// The curve, from where it began, then from nothing.
static void start(NewtonWork *work) {
    if (work->best <= WARM_MAX) {
        double kappa = KAPPA_NEAR * work->best;
        newton_follow(work, kappa < KAPPA_COLD ? kappa : KAPPA_COLD, FOLLOW_WARM);
    }
    if (!newton_is_over(work)) {
        memset(work->impulse, 0, work->island->impulse_count * sizeof(double));
        newton_consider(work, work->impulse);
        newton_follow(work, KAPPA_COLD, FOLLOW_COLD);
    }
}

// One turn around a center, then, near a solution, along the curve. False: nothing has moved.
static bool take_turn(NewtonWork *work) {
    uint32_t factorisations = work->factorisations;
    newton_approach(work, APPROACH);
    memcpy(work->resting, work->center, work->island->impulse_count * sizeof(double));
    if (!newton_is_over(work) && work->best <= NEAR) {
        double before = work->best;
        return_to(work, work->best_impulse);
        newton_follow(work, KAPPA_NEAR * before, FOLLOW_NEAR);
        if (work->best < before) {
            memcpy(work->resting, work->best_impulse, work->island->impulse_count * sizeof(double));
        }
    }
    return_to(work, work->resting);
    return work->factorisations > factorisations;
}

static void solve(NewtonWork *work) {
    if (newton_is_over(work)) {
        return;
    }
    start(work);
    return_to(work, work->center);
    bool goes_on = true;
    while (goes_on && !newton_is_over(work)) {
        goes_on = take_turn(work);
    }
}

static Status stopped(uint32_t factorisations, Error *error) {
    return error_set(error, STATUS_ABORTED, "", "The solve was given up after %u factorisations.",
                     factorisations);
}

static Status improve(const NewtonTask *task, const NewtonIsland *island, const double *impulse,
                      const Context *context, Arena *arena, double *contact_impulse,
                      double *row_impulse, NewtonResult *result, Error *error) {
    NewtonWork work;
    Status status =
        newton_work_init(&work, island, task->operations_max / task->least, context, arena, error);
    result->is_too_dear = work.is_too_dear;
    if (status != STATUS_OK || work.is_too_dear) {
        return status;
    }
    work.operations_max = task->operations_max;
    work.enough = task->enough;
    work.tolerance = task->tolerance;
    work.factorisations_max = task->factorisations_max;
    work.iterations = task->iterations;
    return_to(&work, impulse);
    newton_consider(&work, impulse);
    solve(&work);
    newton_note(&work);
    *result = (NewtonResult){.residual = work.best,
                             .factorisations = work.factorisations,
                             .operations = work.operations,
                             .is_spent = newton_is_spent(&work)};
    end(&work, contact_impulse, row_impulse);
    return work.is_stopped ? stopped(work.factorisations, error) : STATUS_OK;
}

Status newton_solve(const NewtonTask *task, const Context *context, Arena *arena,
                    double *contact_impulse, double *row_impulse, NewtonResult *result,
                    Error *error) {
    ASSERT(task->tolerance > 0.0);
    ASSERT(task->least >= 1.0);
    *result = (NewtonResult){0};
    NewtonIsland island;
    Status status = newton_island_init(&island, task->problem, task->mass, task->islands,
                                       task->island, task->law, task->v_scale, arena, error);
    if (status != STATUS_OK || island.constraint_count == 0) {
        return status;
    }
    double *impulse = arena_take_array(arena, island.impulse_count, sizeof(double));
    double *v = arena_take_array(arena, island.velocity_count, sizeof(double));
    if (impulse == NULL || v == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for Newton's method.");
    }
    load(&island, contact_impulse, row_impulse, impulse);
    newton_velocities(&island, impulse, v);
    result->residual = newton_residual(&island, impulse, v);
    result->is_too_dear = task->operations_max <= 0.0;
    // the impulses are numbers: what is not is the problem's
    bool is_hopeless = result->residual != result->residual;
    if (result->residual <= task->enough || is_hopeless || result->is_too_dear) {
        return STATUS_OK;
    }
    return improve(task, &island, impulse, context, arena, contact_impulse, row_impulse, result,
                   error);
}
