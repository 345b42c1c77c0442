// SPDX-License-Identifier: MIT
#include "solve/newton_work.h"

#include <string.h>

// A law is met when its size is no more than this share of kappa: what is left, less smoothing
// shows anyway.
#define CLOSE 0.3
// shares of a step that are tried, each half of the one before
enum { HALVES_MAX = 12 };
// the share of what a whole step would gain that a share of it must
#define GAIN_MIN 1e-4
// what is counted for a constraint when its law is looked at, or linearised into the system
#define OPERATIONS_PER_LOOK 200.0
#define OPERATIONS_PER_STEP 1000.0

// sum of squares and largest of the sizes of all laws
typedef struct Merit {
    double square, largest;
} Merit;

static void velocity_at(const NewtonIsland *n, const NewtonConstraint *c, const double *v,
                        double u[NEWTON_ROWS_MAX]) {
    newton_product(n, c, v, u);
    for (uint32_t r = 0; r < c->rows; r++) {
        u[r] += c->offset[r];
    }
}

// of impulses that velocities are made for
static Merit measure(NewtonWork *work, const NewtonSmoothing *smoothing, const double *impulse,
                     double *v) {
    const NewtonIsland *n = work->island;
    Merit merit = {0};
    newton_velocities(n, impulse, v);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (c->w == 0.0) {
            continue;
        }
        double u[NEWTON_ROWS_MAX];
        velocity_at(n, c, v, u);
        double size = newton_law_size(n, c, smoothing, impulse + c->first, u);
        merit.square += size * size;
        merit.largest = relation_max(merit.largest, size);
        newton_spend(work, OPERATIONS_PER_LOOK);
    }
    return merit;
}

// (M + J^T H J) d_v = -J^T phi
static bool find_velocity_step(NewtonWork *work, const NewtonSmoothing *smoothing) {
    const NewtonIsland *n = work->island;
    newton_begin_matrix(n, &work->ldlt);
    memset(work->d_v, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (c->w == 0.0) {
            continue;
        }
        double u[NEWTON_ROWS_MAX], push[NEWTON_ROWS_MAX];
        velocity_at(n, c, work->v, u);
        NewtonLaw *law = &work->law[i];
        *law = newton_law(n, c, smoothing, work->impulse + c->first, u);
        newton_add_matrix(n, &work->ldlt, c, law->h);
        for (uint32_t r = 0; r < c->rows; r++) {
            push[r] = -law->phi[r];
        }
        newton_momentum(n, c, push, work->d_v);
        newton_spend(work, OPERATIONS_PER_STEP);
    }
    newton_note(work);
    work->factorisations++;
    LdltOutcome outcome = ldlt_factor(&work->ldlt, work->context->stop);
    work->is_stopped = work->is_stopped || outcome == LDLT_STOPPED;
    newton_spend(work, newton_cost_of_factor(work));
    if (outcome != LDLT_FINITE) {
        return false;
    }
    ldlt_solve(&work->ldlt, work->d_v);
    return true;
}

// d_impulse = -(phi + H J d_v); false: something is not finite
static bool find_step(NewtonWork *work, const NewtonSmoothing *smoothing) {
    const NewtonIsland *n = work->island;
    if (!find_velocity_step(work, smoothing)) {
        return false;
    }
    memset(work->d_impulse, 0, n->impulse_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const NewtonLaw *law = &work->law[i];
        if (c->w == 0.0) {
            continue;
        }
        double du[NEWTON_ROWS_MAX];
        newton_product(n, c, work->d_v, du);
        for (uint32_t r = 0; r < c->rows; r++) {
            double sum = law->phi[r];
            for (uint32_t q = 0; q < c->rows; q++) {
                sum += law->h[r * c->rows + q] * du[q];
            }
            work->d_impulse[c->first + r] = -sum;
        }
    }
    return numbers_are_finite(work->d_impulse, n->impulse_count);
}

// The iterate becomes the first on the way that has less than `bound`, a sum of squares. False,
// with the iterate as it was: none of them has.
static bool walk(NewtonWork *work, const NewtonSmoothing *smoothing, double bound, Merit *merit) {
    const NewtonIsland *n = work->island;
    double share = 1.0;
    for (int half = 0; half < HALVES_MAX && !work->is_stopped; half++, share *= 0.5) {
        for (size_t k = 0; k < n->impulse_count; k++) {
            work->trial_impulse[k] = work->impulse[k] + share * work->d_impulse[k];
        }
        *merit = measure(work, smoothing, work->trial_impulse, work->trial_v);
        if (merit->square < (1.0 - GAIN_MIN * share) * bound) {
            memcpy(work->impulse, work->trial_impulse, n->impulse_count * sizeof(double));
            memcpy(work->v, work->trial_v, n->velocity_count * sizeof(double));
            return true;
        }
    }
    return false;
}

int newton_settle(NewtonWork *work, const NewtonSmoothing *smoothing, int step_max) {
    Merit merit = measure(work, smoothing, work->impulse, work->v);
    double before = 0.0;
    for (int step = 0;; step++) {
        if (merit.largest <= CLOSE * smoothing->kappa) {
            return step;
        }
        if (step == step_max || newton_is_over(work) || !find_step(work, smoothing)) {
            return NEWTON_FAILED;
        }
        // a step may lose what the one before has gained: kinks are passed that way
        double bound = merit.square > before ? merit.square : before;
        before = merit.square;
        if (!walk(work, smoothing, bound, &merit)) {
            return NEWTON_FAILED;
        }
    }
}
