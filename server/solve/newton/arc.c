// SPDX-License-Identifier: MIT
// The whole curve. For large kappa the smoothed laws have one solution, so the curve that begins
// there cannot come back: through all its folds it ends at kappa = 0, or its impulses grow without
// bound. It is followed in impulses and log kappa together (pseudo-arclength; Allgower, Georg,
// "Numerical Continuation Methods"): a step along the tangent, then Newton steps of least length
// back to the curve.
//
// Which way is onward is read off the matrix: along the curve the sign of its determinant times
// that of d log kappa stays what it was at the start (the degree), so no kink and no jump makes it
// turn around unnoticed.
//
// Contacts that change from sticking to sliding, or open, bend the curve within a share kappa / g
// of its length, as sharply as that: it must be followed closely, or it is lost at the first bend.
//
// Impulses that hold each other and move nothing are hardly determined where kappa is small. A
// little compliance with its rest at an anchor decides; the anchor follows before it can be seen.
#include "solve/newton/parts.h"

#include "base/assert.h"

#include <string.h>

#define KAPPA_START 1.0
#define KAPPA_MAX   1e7
#define KAPPA_MIN   1e-15
// how close to the curve, as a share of kappa; 0.3 is enough for one contact in two problems, and
// solves one of ten that this solves
#define CLOSE 3e-4
// compliance, and what it may add to a law as a share of kappa before the anchor follows
#define COMPLIANCE 1e-10
#define DRIFT_MAX  0.1
// length of a step, in the metric below
#define STEP_FIRST 2.0
#define STEP_MIN   1e-7
#define STEP_FAIL  0.35
enum { START_STEPS = 20, CORRECT_STEPS = 14, HALVES_MAX = 7 };
// the share of what a whole step would gain that a share of it must
#define GAIN_MIN 1e-4
// largest change of log kappa that one correction may ask for
#define JUMP_MAX 3.0
// Impulses that hold each other and slide are soft: what is left of a law asks for so long a step
// along them that its own curvature is more than what it mends, and no shorter step along the curve
// helps. A correction that must be cut to less than a quarter is damped, by the first of these and
// then by so much more or less, and given up beyond the last. Where the curve goes on in longer
// steps than STEP_DAMPED, a shorter one is the cheaper cure. Others than these are mended as well
// without, and some curves are found again only so: one turn damps, the next one does not.
#define STEP_DAMPED   0.1
#define SHARE_POOR    0.25
#define DAMPING_FIRST 1e-7
#define DAMPING_RISE  30.0
#define DAMPING_FALL  0.1
#define DAMPING_MAX   1e-2
// weights of other curves are in 1 -+ this
#define SPREAD 0.4

typedef struct Arc {
    NewtonWork *work;
    uint32_t end; // factorisations
    double kappa; // of the iterate
    double base_kappa;
    double onward; // d log kappa of the tangent
    double step;
    double damping; // of a correction, beside the compliance
    bool has_weights, is_damped;
    NewtonCurve *curve;
} Arc;

// ---- kappa

// About exp(x), with the same slope at 0: any such function makes a parameter of log kappa.
static double grow(double x) {
    double root = x >= 0.0 ? 1.0 + 0.125 * x : 1.0 / (1.0 - 0.125 * x);
    root *= root;
    root *= root;
    return root * root;
}

static NewtonSmoothing smoothing_at(const Arc *arc, double kappa) {
    return (NewtonSmoothing){.kappa = kappa,
                             .eta = COMPLIANCE,
                             .center = arc->work->anchor,
                             .weight = arc->has_weights ? arc->work->weight : NULL,
                             .close = CLOSE};
}

// ---- the metric: changes of impulses as shares of what they are, or of kappa

static double unit_of(const Arc *arc, const NewtonConstraint *c) {
    const double *base = arc->work->base + c->first;
    double square = 0.0;
    for (uint32_t r = 0; r < c->rows; r++) {
        square += base[r] * base[r];
    }
    return arc->base_kappa * arc->work->island->v_scale / c->w + sqrt(square);
}

static double product(const Arc *arc, const double *a, const double *b) {
    const NewtonIsland *n = arc->work->island;
    double sum = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (c->w == 0.0) {
            continue;
        }
        double unit = unit_of(arc, c), of = 0.0;
        // of a contact the normal impulse counts as the friction that it allows
        double first = c->rows == 3 ? c->mu * c->mu : 1.0;
        for (uint32_t r = 0; r < c->rows; r++) {
            of += (r == 0 ? first : 1.0) * a[c->first + r] * b[c->first + r];
        }
        sum += of / (unit * unit);
    }
    return sum / (double)n->impulse_count;
}

// ---- a step

// d_impulse, Newton's step for this kappa, and `fall` from the iterate. Damped: all laws are as
// compliant as that, with their rest where they are what they were at the iterate.
static bool linearise(Arc *arc, double damping) {
    NewtonWork *work = arc->work;
    NewtonSmoothing smoothing = smoothing_at(arc, arc->kappa);
    if (damping > 0.0) {
        double share = COMPLIANCE / (COMPLIANCE + damping);
        for (size_t k = 0; k < work->island->impulse_count; k++) {
            work->kept[k] = work->impulse[k] - share * (work->impulse[k] - work->anchor[k]);
        }
        smoothing.eta = COMPLIANCE + damping;
        smoothing.center = work->kept;
    }
    return newton_factorise(work, &smoothing) && newton_direction(work, false, work->d_impulse) &&
           newton_direction(work, true, work->fall);
}

static bool is_over(const Arc *arc) {
    return newton_is_over(arc->work) || arc->work->factorisations >= arc->end;
}

static NewtonMerit measure(const Arc *arc, double kappa, const double *impulse, double *v) {
    const NewtonSmoothing smoothing = smoothing_at(arc, kappa);
    NewtonMerit merit = newton_measure(arc->work, &smoothing, impulse, v);
    merit.square /= kappa * kappa;
    merit.largest /= kappa;
    return merit;
}

// The iterate moves along d_impulse and `jump` of log kappa, by the first share that gains.
// Which one; 0: none does, and it stays.
static double walk(Arc *arc, double jump, double bound, NewtonMerit *merit) {
    NewtonWork *work = arc->work;
    const NewtonIsland *n = work->island;
    double share = 1.0;
    for (int half = 0; half < HALVES_MAX && !work->is_stopped; half++, share *= 0.5) {
        for (size_t k = 0; k < n->impulse_count; k++) {
            work->trial_impulse[k] = work->impulse[k] + share * work->d_impulse[k];
        }
        double kappa = arc->kappa * grow(share * jump);
        *merit = measure(arc, kappa, work->trial_impulse, work->trial_v);
        if (merit->square < (1.0 - GAIN_MIN * share) * bound) {
            memcpy(work->impulse, work->trial_impulse, n->impulse_count * sizeof(double));
            memcpy(work->v, work->trial_v, n->velocity_count * sizeof(double));
            arc->kappa = kappa;
            return share;
        }
    }
    return 0.0;
}

// After a correction that went by so much of itself. False: it is to be given up.
static bool adapt(Arc *arc, double share) {
    if (!arc->is_damped || !(arc->step < STEP_DAMPED)) {
        return share > 0.0;
    }
    if (share < SHARE_POOR) {
        arc->damping = arc->damping > 0.0 ? DAMPING_RISE * arc->damping : DAMPING_FIRST;
    } else if (share == 1.0) {
        double less = DAMPING_FALL * arc->damping;
        arc->damping = less < DAMPING_FIRST ? 0.0 : less;
    }
    return arc->damping <= DAMPING_MAX;
}

// Back to the curve, by steps of least length. How many, or NEWTON_FAILED.
static int correct(Arc *arc) {
    NewtonWork *work = arc->work;
    NewtonMerit merit = measure(arc, arc->kappa, work->impulse, work->v);
    double before = 0.0;
    arc->damping = 0.0;
    for (int step = 0;; step++) {
        if (merit.largest <= CLOSE) {
            return step;
        }
        if (step == CORRECT_STEPS || is_over(arc) || !linearise(arc, arc->damping)) {
            return NEWTON_FAILED;
        }
        double jump = -product(arc, work->d_impulse, work->fall) /
                      (product(arc, work->fall, work->fall) + 1.0);
        if (!(fabs(jump) < JUMP_MAX)) {
            return NEWTON_FAILED;
        }
        for (size_t k = 0; k < work->island->impulse_count; k++) {
            work->d_impulse[k] += jump * work->fall[k];
        }
        double bound = merit.square > before ? merit.square : before;
        before = merit.square;
        if (!adapt(arc, walk(arc, jump, bound, &merit))) {
            return NEWTON_FAILED;
        }
    }
}

// The anchor comes to the iterate where what it adds begins to be seen.
static void follow_anchor(Arc *arc) {
    NewtonWork *work = arc->work;
    const NewtonIsland *n = work->island;
    double drift = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t r = 0; r < c->rows; r++) {
            double away = fabs(work->impulse[c->first + r] - work->anchor[c->first + r]);
            drift = relation_max(drift, c->w * away);
        }
    }
    if (COMPLIANCE * drift > DRIFT_MAX * arc->kappa * n->v_scale) {
        memcpy(work->anchor, work->impulse, n->impulse_count * sizeof(double));
    }
}

// The tangent at the iterate, with Newton's step left in d_impulse.
static bool find_tangent(Arc *arc) {
    NewtonWork *work = arc->work;
    size_t count = work->island->impulse_count;
    memcpy(work->base, work->impulse, count * sizeof(double));
    arc->base_kappa = arc->kappa;
    newton_velocities(work->island, work->impulse, work->v);
    if (!linearise(arc, 0.0)) {
        return false;
    }
    double size = sqrt(product(arc, work->fall, work->fall) + 1.0), before = arc->onward;
    arc->onward = -(double)ldlt_sign(&work->ldlt) / size;
    arc->curve->folds += before * arc->onward < 0.0;
    for (size_t k = 0; k < count; k++) {
        work->tangent[k] = arc->onward * work->fall[k];
        work->base[k] += work->d_impulse[k];
    }
    return true;
}

// Impulses that fall with kappa fall with its square, as those do that are alone.
static double run_of(double onward, double jump) {
    double factor = grow(jump);
    return jump < 0.0 ? 0.5 * (factor * factor - 1.0) / onward : jump / onward;
}

// From the base along the tangent, shorter and shorter until the curve is found. False: it is lost.
static bool step_on(Arc *arc) {
    NewtonWork *work = arc->work;
    while (!is_over(arc) && arc->step >= STEP_MIN) {
        double jump = arc->step * arc->onward, run = run_of(arc->onward, jump);
        for (size_t k = 0; k < work->island->impulse_count; k++) {
            work->impulse[k] = work->base[k] + run * work->tangent[k];
        }
        arc->kappa = arc->base_kappa * grow(jump);
        int steps = correct(arc);
        if (steps != NEWTON_FAILED) {
            arc->step *= steps <= 1 ? 2.0 : steps <= 3 ? 1.3 : steps <= 5 ? 0.8 : 0.5;
            return true;
        }
        arc->step *= STEP_FAIL;
    }
    return false;
}

// ---- the curve

// Factors from 1 - SPREAD to 1 + SPREAD, of a counter through a mixer (splitmix64).
static void spread_weights(NewtonWork *work, uint32_t turn) {
    for (uint32_t i = 0; i < work->island->constraint_count; i++) {
        uint64_t x = (((uint64_t)turn << 32) + i + 1) * 0x9e3779b97f4a7c15u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        x ^= x >> 31;
        work->weight[i] = 1.0 + SPREAD * (2.0 * ((double)(x >> 11) * 0x1p-53) - 1.0);
    }
}

// The curve's point at the smallest power of ten from KAPPA_START on where it is found.
static bool find_start(Arc *arc) {
    NewtonWork *work = arc->work;
    size_t bytes = work->island->impulse_count * sizeof(double);
    memset(work->anchor, 0, bytes);
    for (arc->kappa = KAPPA_START; arc->kappa < KAPPA_MAX && !is_over(arc); arc->kappa *= 10.0) {
        const NewtonSmoothing smoothing = smoothing_at(arc, arc->kappa);
        memset(work->impulse, 0, bytes);
        if (newton_settle(work, &smoothing, START_STEPS) != NEWTON_FAILED) {
            return true;
        }
    }
    return false;
}

static NewtonCurveEnd end_of(const Arc *arc, bool goes_on) {
    if (arc->work->best <= arc->work->enough) {
        return NEWTON_CURVE_SOLVED;
    }
    if (is_over(arc)) {
        return NEWTON_CURVE_SPENT;
    }
    if (!goes_on) {
        return NEWTON_CURVE_LOST;
    }
    return arc->kappa > KAPPA_MIN ? NEWTON_CURVE_OFF : NEWTON_CURVE_DONE;
}

void newton_arc(NewtonWork *work, uint32_t turn, uint32_t factorisations_max) {
    uint32_t begun = work->factorisations;
    Arc arc = {.work = work,
               .end = begun + factorisations_max,
               .step = STEP_FIRST,
               .is_damped = turn % 2 == 0,
               .has_weights = turn > 1,
               .curve = &work->curve[work->curve_count++]};
    ASSERT(work->curve_count <= NEWTON_CURVES);
    if (arc.has_weights) {
        spread_weights(work, turn / 2);
    }
    bool goes_on = find_start(&arc);
    while (goes_on && !is_over(&arc) && arc.kappa > KAPPA_MIN && arc.kappa < KAPPA_MAX) {
        newton_consider(work, work->impulse);
        follow_anchor(&arc);
        goes_on = !newton_is_over(work) && find_tangent(&arc) && step_on(&arc);
    }
    if (goes_on) {
        newton_consider(work, work->impulse);
    }
    arc.curve->end = end_of(&arc, goes_on);
    arc.curve->kappa = arc.base_kappa;
    arc.curve->factorisations = work->factorisations - begun;
    arc.curve->residual = work->best;
}
