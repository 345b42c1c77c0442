// SPDX-License-Identifier: MIT
#include "solve/newton/parts.h"

#include "base/assert.h"

#include <string.h>

// shares of a step that are tried, each half of the one before
enum { HALVES_MAX = 12 };
// the share of what a whole step would gain that a share of it must
#define GAIN_MIN 1e-4
// what is counted for a constraint when its law is looked at, or linearised into the system
#define OPERATIONS_PER_LOOK 200.0
#define OPERATIONS_PER_STEP 1000.0
// asked about, and not counted, as a factorisation's are the most
#define OPERATIONS_PER_PRODUCT 100.0

static void velocity_at(const NewtonIsland *n, const NewtonConstraint *c, const double *v,
                        double u[NEWTON_ROWS_MAX]) {
    newton_product(n, c, v, u);
    for (uint32_t r = 0; r < c->rows; r++) {
        u[r] += c->offset[r];
    }
}

NewtonMerit newton_measure(NewtonWork *work, const NewtonSmoothing *smoothing,
                           const double *impulse, double *v) {
    ASSERT(!(smoothing->kappa < 0.0));
    ASSERT(v != work->d_v);
    const NewtonIsland *n = work->island;
    NewtonMerit merit = {0};
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

bool newton_factorise(NewtonWork *work, const NewtonSmoothing *smoothing) {
    ASSERT(!work->is_too_dear);
    const NewtonIsland *n = work->island;
    newton_begin_matrix(n, &work->ldlt);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (c->w == 0.0) {
            continue;
        }
        double u[NEWTON_ROWS_MAX];
        velocity_at(n, c, work->v, u);
        work->law[i] = newton_law(n, c, smoothing, work->impulse + c->first, u);
        newton_add_matrix(n, &work->ldlt, c, work->law[i].h);
        newton_spend(work, OPERATIONS_PER_STEP);
        if (work->is_stopped) {
            return false;
        }
    }
    newton_note(work);
    work->factorisations++;
    LdltOutcome outcome = ldlt_factor(&work->ldlt, n->asker->stop);
    work->is_stopped = work->is_stopped || outcome == LDLT_STOPPED;
    newton_spend(work, newton_cost_of_factor(work));
    return outcome == LDLT_FINITE;
}

// (M + J^T H J) d_v = -J^T phi, then d = -(phi + H J d_v)
bool newton_direction(NewtonWork *work, bool of_kappa, double *d) {
    ASSERT(d != work->d_v);
    const NewtonIsland *n = work->island;
    memset(work->d_v, 0, n->velocity_count * sizeof(double));
    memset(d, 0, n->impulse_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        const double *phi = of_kappa ? work->law[i].fall : work->law[i].phi;
        for (uint32_t r = 0; r < c->rows && c->w > 0.0; r++) {
            d[c->first + r] = -phi[r];
        }
        newton_momentum(n, c, d + c->first, work->d_v);
        asker_spend(n->asker, OPERATIONS_PER_PRODUCT);
    }
    ldlt_solve(&work->ldlt, work->d_v);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double du[NEWTON_ROWS_MAX];
        newton_product(n, c, work->d_v, du);
        for (uint32_t r = 0; r < c->rows && c->w > 0.0; r++) {
            double sum = -d[c->first + r];
            for (uint32_t q = 0; q < c->rows; q++) {
                sum += work->law[i].h[r * c->rows + q] * du[q];
            }
            d[c->first + r] = -sum;
        }
        asker_spend(n->asker, OPERATIONS_PER_PRODUCT);
    }
    return numbers_are_finite(d, n->impulse_count);
}

// The iterate becomes the first on the way that has less than `bound`, a sum of squares. False,
// with the iterate as it was: none of them has.
static bool walk(NewtonWork *work, const NewtonSmoothing *smoothing, double bound,
                 NewtonMerit *merit) {
    const NewtonIsland *n = work->island;
    double share = 1.0;
    for (int half = 0; half < HALVES_MAX && !work->is_stopped; half++, share *= 0.5) {
        for (size_t k = 0; k < n->impulse_count; k++) {
            work->trial_impulse[k] = work->impulse[k] + share * work->d_impulse[k];
        }
        *merit = newton_measure(work, smoothing, work->trial_impulse, work->trial_v);
        if (merit->square < (1.0 - GAIN_MIN * share) * bound) {
            memcpy(work->impulse, work->trial_impulse, n->impulse_count * sizeof(double));
            memcpy(work->v, work->trial_v, n->velocity_count * sizeof(double));
            return true;
        }
    }
    return false;
}

int newton_settle(NewtonWork *work, const NewtonSmoothing *smoothing, int step_max) {
    ASSERT(step_max > 0);
    NewtonMerit merit = newton_measure(work, smoothing, work->impulse, work->v);
    double before = 0.0;
    for (int step = 0;; step++) {
        if (merit.largest <= smoothing->close * smoothing->kappa) {
            return step;
        }
        if (step == step_max || newton_is_over(work) || !newton_factorise(work, smoothing) ||
            !newton_direction(work, false, work->d_impulse)) {
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
