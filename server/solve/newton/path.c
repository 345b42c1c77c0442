// SPDX-License-Identifier: MIT
// Two ways of making the smoothing less. The first follows the curve of solutions as kappa goes to
// 0. Exact Coulomb friction is not monotone, and the curve may turn back: a fold, where this way
// ends (arc.c goes on). The second is the method of the proximal point: the law is made
// compliant, with its rest at a center, z / c + rho (g - center), which unfolds the curve; where it
// is solved, the center moves to the solution. What is compliant about it is gone when the center
// comes to rest. Where it wanders, sweeps of Gauss-Seidel bring it to another side of the kinks.
//
// Numbers below were chosen on the problems of tests/solve/newton/check_newton.c; most others
// within a factor of three do as well.
#include "solve/newton/parts.h"

#include "base/assert.h"

#include <string.h>

// A law is met when its size is no more than this share of kappa: what is left, less smoothing
// shows anyway.
#define CLOSE 0.3

// ---- along the curve

// damping of P' in the first way: it must not show beside mass ratios of 10^6
#define DAMPING 1e-10
// steps at one kappa; how kappa falls at first, and when not to fall is a fold
#define FACTOR_FIRST 0.1
#define FACTOR_FOLD  0.97
#define KAPPA_MIN    1e-14
#define KAPPA_MAX    1e6
enum { FOLLOW_STEPS = 12, FOLLOW_EASY = 2, FOLLOW_HARD = 5 };

// f^1.5 where it was easy, f^0.625 where it was hard
static double adapt(double factor, int steps) {
    double root = sqrt(factor);
    if (steps <= FOLLOW_EASY) {
        return factor * root;
    }
    return steps >= FOLLOW_HARD ? root * sqrt(sqrt(root)) : factor;
}

void newton_follow(NewtonWork *work, double kappa, uint32_t factorisations_max) {
    ASSERT(!(kappa < 0.0));
    size_t bytes = work->island->impulse_count * sizeof(double);
    uint32_t end = work->factorisations + factorisations_max;
    double factor = FACTOR_FIRST, reached = 0.0;
    memcpy(work->center, work->impulse, bytes);
    while (!newton_is_over(work) && work->factorisations < end) {
        const NewtonSmoothing smoothing = {.kappa = kappa, .eta = DAMPING, .close = CLOSE};
        int steps = newton_settle(work, &smoothing, FOLLOW_STEPS);
        if (steps != NEWTON_FAILED) {
            newton_consider(work, work->impulse);
            memcpy(work->center, work->impulse, bytes);
            reached = kappa;
            factor = adapt(factor, steps);
            kappa *= factor;
        } else {
            memcpy(work->impulse, work->center, bytes);
            factor = reached > 0.0 ? sqrt(factor) : factor;
            kappa = reached > 0.0 ? reached * factor : kappa / FACTOR_FIRST;
        }
        if (factor > FACTOR_FOLD || kappa < KAPPA_MIN || kappa > KAPPA_MAX) {
            return;
        }
    }
}

// ---- around a center

// kappa is the residual's, but falls no faster than this
#define KAPPA_FIRST 0.1
#define KAPPA_FALL  0.3
// rho: how it falls where steps are few or not many, how it rises after a failure
#define RHO_FIRST 1e-2
#define RHO_MIN   1e-10
#define RHO_FEW   0.5
#define RHO_SOME  0.7
#define RHO_RISE  4.0
enum { APPROACH_STEPS = 20, APPROACH_FEW = 3, APPROACH_SOME = 6 };
// failures one after the other: from the fourth on kappa is twice as large, after the ninth it ends
enum { FAILURES_RHO = 3, FAILURES_MAX = 8 };
// sweeps from center to center, and how much worse what they leave may be
enum { SWEEPS = 50 };
#define SWEEP_GROWTH 5.0

static double sweep_on(NewtonWork *work, double residual) {
    const NewtonIsland *n = work->island;
    size_t bytes = n->impulse_count * sizeof(double);
    memcpy(work->kept, work->impulse, bytes);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        newton_project(&n->constraint[i], work->impulse + n->constraint[i].first);
    }
    newton_sweep(work, SWEEPS);
    double swept = newton_consider(work, work->impulse);
    if (swept <= SWEEP_GROWTH * residual) {
        return swept;
    }
    memcpy(work->impulse, work->kept, bytes);
    return residual;
}

static double less_kappa(double kappa, double residual, int steps) {
    if (steps == 0) {
        return KAPPA_FALL * kappa; // nothing else will change
    }
    if (steps > APPROACH_SOME || kappa <= residual) {
        return kappa;
    }
    return KAPPA_FALL * kappa > residual ? KAPPA_FALL * kappa : residual;
}

static double less_rho(double rho, int steps) {
    if (steps > APPROACH_SOME || rho <= RHO_MIN) {
        return rho;
    }
    return rho * (steps <= APPROACH_FEW ? RHO_FEW : RHO_SOME);
}

void newton_approach(NewtonWork *work, uint32_t factorisations_max) {
    ASSERT(!work->is_too_dear);
    ASSERT(work->center != work->impulse);
    size_t bytes = work->island->impulse_count * sizeof(double);
    uint32_t end = work->factorisations + factorisations_max;
    memcpy(work->center, work->impulse, bytes);
    double kappa = KAPPA_FIRST * newton_consider(work, work->impulse), rho = RHO_FIRST;
    int failures = 0;
    while (!newton_is_over(work) && failures <= FAILURES_MAX && work->factorisations < end) {
        const NewtonSmoothing smoothing = {
            .kappa = kappa, .eta = rho, .center = work->center, .close = CLOSE};
        int steps = newton_settle(work, &smoothing, APPROACH_STEPS);
        if (steps == NEWTON_FAILED) {
            memcpy(work->impulse, work->center, bytes);
            rho *= RHO_RISE;
            failures++;
            kappa *= failures > FAILURES_RHO ? 2.0 : 1.0;
            continue;
        }
        double residual = newton_consider(work, work->impulse);
        if (!newton_is_over(work)) {
            residual = sweep_on(work, residual);
        }
        memcpy(work->center, work->impulse, bytes);
        failures = 0;
        kappa = less_kappa(kappa, residual, steps);
        rho = less_rho(rho, steps);
    }
}
