// SPDX-License-Identifier: MIT
#include "solve/newton/newton.h"

#include "base/assert.h"
#include "solve/newton/parts.h"

#include <string.h>

// Impulses that leave no more than this are a start; others are no better than none.
#define WARM_MAX 1e-2
// Near a solution the curve is looked for again, from so many times the residual.
#define NEAR       1e-4
#define KAPPA_NEAR 10.0
#define KAPPA_COLD 1.0
// Factorisations of one turn of each way. A good start takes 3 to 20, a cold curve 5 to 60, unless
// it folds.
enum { FOLLOW_WARM = 25, FOLLOW_COLD = 80, FOLLOW_NEAR = 40 };
enum { APPROACH_FIRST = 30, APPROACH = 150 };
// The whole curve may have three quarters of what is left, another one only near a solution; and
// each no less than this.
enum { ARC_MIN = 200 };
// Sweeps to start with: as many as cost so many factorisations, within bounds.
enum { SWEEPS_MIN = 50, SWEEPS_MAX = 1000, SWEEPS_FACTORISATIONS = 40 };
#define OPERATIONS_PER_BLOCK 300.0

// ---- in and out

static double *impulse_of(const NewtonConstraint *c, double *contact_impulse, double *row_impulse) {
    return c->rows == 3 ? contact_impulse + 3 * (size_t)c->index : row_impulse + c->index;
}

// Impulses to start from, on their cones and within their bounds; zeros where they are not numbers.
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
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        newton_project(&n->constraint[i], impulse + n->constraint[i].first);
    }
}

// What is not a number would be an open contact to some ways and end others.
static bool is_finite(const NewtonIsland *n) {
    bool is = numbers_are_finite(n->v_free, n->velocity_count);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        is = is && numbers_are_finite(c->offset, c->rows) && isfinite(c->mu) && isfinite(c->w);
    }
    return is;
}

static void end(const NewtonIsland *n, const double *impulse, double *contact_impulse,
                double *row_impulse) {
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        memcpy(impulse_of(c, contact_impulse, row_impulse), impulse + c->first,
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

// One turn around a center, then, near a solution, along the curve.
static void take_turn(NewtonWork *work, uint32_t factorisations_max) {
    if (!(work->best <= WARM_MAX)) {
        return; // from so far away it only wanders
    }
    newton_approach(work, factorisations_max);
    if (!newton_is_over(work) && work->best <= NEAR) {
        return_to(work, work->best_impulse);
        newton_follow(work, KAPPA_NEAR * work->best, FOLLOW_NEAR);
    }
}

// Impulses in [-1, 1) V / w, brought to their cones: a counter through a mixer (splitmix64).
static void scatter(NewtonWork *work, uint32_t turn) {
    const NewtonIsland *n = work->island;
    memset(work->impulse, 0, n->impulse_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count && turn > 0; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t r = 0; r < c->rows && c->w > 0.0; r++) {
            uint64_t x = (((uint64_t)turn << 32) + c->first + r + 1) * 0x9e3779b97f4a7c15u;
            x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
            x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
            x ^= x >> 31;
            double share = 2.0 * ((double)(x >> 11) * 0x1p-53) - 1.0;
            work->impulse[c->first + r] = turn * share * n->v_scale / c->w;
        }
        newton_project(c, work->impulse + c->first);
    }
}

// Sweeps, and what is near where they end. The curve leads to one solution, these to others.
static void start_elsewhere(NewtonWork *work, uint32_t turn) {
    double sweeps = SWEEPS_FACTORISATIONS * newton_cost_of_factor(work) /
                    (OPERATIONS_PER_BLOCK * work->island->constraint_count);
    sweeps = sweeps < SWEEPS_MIN ? SWEEPS_MIN : sweeps < SWEEPS_MAX ? sweeps : SWEEPS_MAX;
    scatter(work, turn);
    newton_sweep(work, (int)sweeps);
    double residual = newton_consider(work, work->impulse);
    if (newton_is_over(work) || !(residual <= WARM_MAX)) {
        return;
    }
    newton_follow(work, KAPPA_NEAR * residual, FOLLOW_WARM);
    return_to(work, work->center);
    if (!newton_is_over(work)) {
        newton_approach(work, APPROACH_FIRST);
    }
}

static void solve(NewtonWork *work) {
    if (newton_is_over(work)) {
        return;
    }
    start(work);
    return_to(work, work->center);
    if (!newton_is_over(work)) {
        take_turn(work, APPROACH_FIRST);
    }
    // each starts its sweeps elsewhere
    for (uint32_t turn = 0; turn < NEWTON_CURVES && !newton_is_over(work); turn++) {
        start_elsewhere(work, turn);
        if (newton_is_over(work)) {
            return;
        }
        uint32_t most = (work->factorisations_max - work->factorisations) / 4 * 3;
        // the first curve is the one that ought to end at a solution, followed in either manner
        bool is_worth_it = most > ARC_MIN && (turn < 2 || work->best <= NEAR);
        newton_arc(work, turn, is_worth_it ? most : ARC_MIN);
        if (!newton_is_over(work)) {
            return_to(work, work->best_impulse);
            take_turn(work, APPROACH);
        }
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
                             .is_spent = newton_is_spent(&work),
                             .curve_count = work.curve_count};
    memcpy(result->curve, work.curve, sizeof(work.curve));
    end(island, work.best_impulse, contact_impulse, row_impulse);
    return work.is_stopped ? stopped(work.factorisations, error) : STATUS_OK;
}

// Before anything is laid out: what goes with a factorisation is known.
static bool is_too_dear(const NewtonTask *task) {
    const Islands *islands = task->islands;
    uint32_t i = task->island, count = islands->contact_first[i + 1] - islands->contact_first[i] +
                                       islands->row_first[i + 1] - islands->row_first[i];
    return count > 0 && newton_cost_of_constraints(count) > task->operations_max / task->least;
}

Status newton_solve(const NewtonTask *task, const Context *context, Arena *arena,
                    double *contact_impulse, double *row_impulse, NewtonResult *result,
                    Error *error) {
    ASSERT(task->island < task->islands->count);
    ASSERT(task->enough >= task->tolerance);
    ASSERT(task->law == RELATION_CONE || task->law == RELATION_DISSIPATION);
    ASSERT(task->tolerance > 0.0);
    ASSERT(task->least >= 1.0);
    *result = (NewtonResult){.residual = HUGE_VAL, .is_too_dear = is_too_dear(task)};
    if (result->is_too_dear) {
        return STATUS_OK;
    }
    NewtonIsland island;
    Status status =
        newton_island_init(&island, task->problem, task->mass, task->islands, task->island,
                           task->law, task->v_scale, task->asker, arena, error);
    if (status != STATUS_OK || island.constraint_count == 0) {
        return status;
    }
    double *impulse = arena_take_array(arena, island.impulse_count, sizeof(double));
    double *v = arena_take_array(arena, island.velocity_count, sizeof(double));
    if (impulse == NULL || v == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for Newton's method.");
    }
    if (!is_finite(&island)) {
        result->residual = NAN;
        return STATUS_OK;
    }
    load(&island, contact_impulse, row_impulse, impulse);
    newton_velocities(&island, impulse, v);
    result->residual = newton_residual(&island, impulse, v);
    if (result->residual <= task->enough) {
        end(&island, impulse, contact_impulse, row_impulse);
        return STATUS_OK;
    }
    // the impulses are numbers: what is not is the problem's
    if (result->residual != result->residual) {
        return STATUS_OK;
    }
    return improve(task, &island, impulse, context, arena, contact_impulse, row_impulse, result,
                   error);
}
