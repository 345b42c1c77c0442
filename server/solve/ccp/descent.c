// SPDX-License-Identifier: MIT
#include "solve/ccp/descent.h"

#include "base/assert.h"
#include "solve/ccp/cone.h"

#include <string.h>

// L grows by this where it is too small for a step, and shrinks by that after each.
#define LIPSCHITZ_GROWS   2.0
#define LIPSCHITZ_SHRINKS 0.9
// it ends where nothing changes by more than this share of V
#define CHANGE_MIN 1e-15
// N x is made anew after so many spectral steps, as it gathers rounding.
enum { FRESH = 50 };
// bounds of spectral steps, N being of size 1
#define STEP_MIN 1e-10
#define STEP_MAX 1e10
// the short spectral step is taken where it is no more than so much of the long one, at first, and
// what that changes by
#define RATIO_FIRST  0.5
#define RATIO_CHANGE 0.5
// what the cost is to fall by, of what its slope promises
#define SLOPE_SHARE 1e-4
// of a product with N, per constraint
#define OPERATIONS (2.0 * CCP_OPERATIONS_LOOK)

Status ccp_descent_init(CcpDescent *d, CcpIsland *island, bool is_accelerated, Arena *arena,
                        Error *error) {
    ASSERT(island->island.constraint_count > 0);
    const NewtonIsland *n = &island->island;
    *d = (CcpDescent){.of = island,
                      .is_accelerated = is_accelerated,
                      .scale = arena_take_array(arena, n->constraint_count, sizeof(double)),
                      .v = arena_take_array(arena, n->velocity_count, sizeof(double))};
    double **impulse[] = {&d->p, &d->x, &d->n_x, &d->y, &d->n_y, &d->next, &d->n_next, &d->gamma};
    bool is_taken = d->scale != NULL && d->v != NULL;
    for (size_t k = 0; k < sizeof(impulse) / sizeof(impulse[0]); k++) {
        *impulse[k] = arena_take_zeroed(arena, n->impulse_count, sizeof(double));
        is_taken = is_taken && *impulse[k] != NULL;
    }
    if (!is_taken) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for a descent.");
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        d->scale[i] = sqrt(n->constraint[i].w);
    }
    return STATUS_OK;
}

// ---- sums

static double dot(const double *a, const double *b, size_t count) {
    double sum = 0.0;
    for (size_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// ---- N

// product := N x, scaled; where `x` is NULL, the gradient at 0.
static void multiply(CcpDescent *d, const double *x, double *product) {
    const NewtonIsland *n = &d->of->island;
    memset(d->v, 0, n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->constraint_count && x != NULL; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        if (d->of->kind[i] != CCP_IDLE) {
            for (uint32_t r = 0; r < c->rows; r++) {
                d->gamma[c->first + r] = x[c->first + r] / d->scale[i];
            }
            newton_momentum(n, c, d->gamma + c->first, d->v);
        }
        ccp_island_spend(d->of, 0.5 * OPERATIONS);
    }
    for (uint32_t i = 0; i < n->tree_count; i++) {
        mass_solve_tree(n->mass, n->tree[i], d->v + n->velocity[i]);
    }
    ccp_island_spend(d->of, CCP_OPERATIONS_VELOCITY * (double)n->velocity_count);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *of = product + c->first;
        if (d->of->kind[i] == CCP_IDLE) {
            continue;
        }
        newton_product(n, c, x == NULL ? n->v_free : d->v, of);
        for (uint32_t r = 0; r < c->rows; r++) {
            of[r] += x == NULL ? c->offset[r] : c->compliance * d->gamma[c->first + r];
            // of a contact without friction the normal counts alone
            bool counts = r == 0 || d->of->kind[i] == CCP_CONE;
            of[r] = counts ? of[r] / d->scale[i] : 0.0;
        }
        ccp_island_spend(d->of, 0.5 * OPERATIONS);
    }
}

// next := Proj(y - step g), g the gradient at y
static void project(CcpDescent *d, const double *y, const double *n_y, double step) {
    const NewtonIsland *n = &d->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *next = d->next + c->first;
        for (uint32_t r = 0; r < c->rows; r++) {
            size_t k = c->first + r;
            d->next[k] = y[k] - step * (n_y[k] + d->p[k]);
        }
        if (d->of->kind[i] == CCP_CONE) {
            ccp_cone_project(c->mu, next);
        } else if (d->of->kind[i] == CCP_LINE) {
            next[0] =
                relation_max(relation_min(next[0], d->scale[i] * c->high), d->scale[i] * c->low);
        }
    }
    ccp_island_spend(d->of, CCP_OPERATIONS_LOOK * (double)n->constraint_count);
}

// The largest |next - y| / step, as a velocity.
static double change_of(const CcpDescent *d, const double *y, double step) {
    const NewtonIsland *n = &d->of->island;
    double most = 0.0;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t r = 0; r < c->rows; r++) {
            size_t k = c->first + r;
            most = relation_max(most, d->scale[i] * fabs(d->next[k] - y[k]) / step);
        }
    }
    return most;
}

// ---- begin and end

void ccp_descent_begin(CcpDescent *d) {
    ASSERT(d->of->island.contact_count <= d->of->island.constraint_count);
    const NewtonIsland *n = &d->of->island;
    size_t bytes = n->impulse_count * sizeof(double);
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        for (uint32_t r = 0; r < c->rows; r++) {
            size_t k = c->first + r;
            d->x[k] = d->scale[i] * d->of->gamma[k];
            // of what L is first measured along
            d->next[k] = d->of->kind[i] == CCP_IDLE ? 0.0 : 1.0;
        }
    }
    multiply(d, NULL, d->p);
    multiply(d, d->next, d->n_next);
    double lipschitz =
        sqrt(dot(d->n_next, d->n_next, n->impulse_count) / dot(d->next, d->next, n->impulse_count));
    multiply(d, d->x, d->n_x);
    memcpy(d->y, d->x, bytes);
    memcpy(d->n_y, d->n_x, bytes);
    d->theta = 1.0;
    d->step = lipschitz > 0.0 ? 1.0 / lipschitz : 1.0;
    double cost = 0.5 * dot(d->x, d->n_x, n->impulse_count) + dot(d->x, d->p, n->impulse_count);
    for (int k = 0; k < CCP_DESCENT_MEMORY; k++) {
        d->cost[k] = cost;
    }
    d->ratio = RATIO_FIRST;
    for (int k = 0; k < CCP_DESCENT_SHORT; k++) {
        d->short_step[k] = STEP_MAX;
    }
}

static void take_next(CcpDescent *d) {
    double *x = d->x, *n_x = d->n_x;
    d->x = d->next;
    d->n_x = d->n_next;
    d->next = x;
    d->n_next = n_x;
}

static void store(CcpDescent *d) {
    const NewtonIsland *n = &d->of->island;
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        const NewtonConstraint *c = &n->constraint[i];
        double *gamma = d->of->gamma + c->first;
        for (uint32_t r = 0; r < c->rows && d->of->kind[i] != CCP_IDLE; r++) {
            gamma[r] = d->x[c->first + r] / d->scale[i];
        }
        // their shape again, which a division rounds
        if (d->of->kind[i] == CCP_CONE) {
            ccp_cone_project(c->mu, gamma);
        } else if (d->of->kind[i] == CCP_LINE) {
            gamma[0] = relation_max(relation_min(gamma[0], c->high), c->low);
        }
    }
}

// ---- accelerated

static double accelerate(CcpDescent *d) {
    const NewtonIsland *n = &d->of->island;
    size_t count = n->impulse_count;
    for (;;) {
        project(d, d->y, d->n_y, d->step);
        multiply(d, d->next, d->n_next);
        double curve = 0.0, square = 0.0;
        for (size_t k = 0; k < count; k++) {
            double dx = d->next[k] - d->y[k];
            curve += dx * (d->n_next[k] - d->n_y[k]);
            square += dx * dx;
        }
        if (!(curve * d->step > square) || d->of->asker.is_stopped) {
            break;
        }
        d->step /= LIPSCHITZ_GROWS;
    }
    double change = change_of(d, d->y, d->step), theta = d->theta, slope = 0.0;
    double after = 0.5 * (-theta * theta + theta * sqrt(theta * theta + 4.0));
    double beta = theta * (1.0 - theta) / (theta * theta + after);
    for (size_t k = 0; k < count; k++) {
        slope += (d->n_y[k] + d->p[k]) * (d->next[k] - d->x[k]);
    }
    if (slope > 0.0) {
        beta = 0.0;
        after = 1.0;
    }
    for (size_t k = 0; k < count; k++) {
        d->y[k] = d->next[k] + beta * (d->next[k] - d->x[k]);
        d->n_y[k] = d->n_next[k] + beta * (d->n_next[k] - d->n_x[k]);
    }
    d->theta = after;
    d->step /= LIPSCHITZ_SHRINKS;
    take_next(d);
    return change;
}

// ---- spectral

static double highest_cost(const CcpDescent *d) {
    double highest = d->cost[0];
    for (int k = 1; k < CCP_DESCENT_MEMORY; k++) {
        highest = relation_max(highest, d->cost[k]);
    }
    return highest;
}

// Barzilai and Borwein's two steps, each the inverse of a mean of N's eigenvalues along d: the long
// one, d.d / d.Nd, and the short one, d.Nd / Nd.Nd. Where they are far apart, d has parts of very
// different eigenvalues, and the shortest of the newest short ones takes the largest out; so that
// neither has it all its way, how far that is changes with each choice (Frassoldati, Zanni and
// Zanghirati). In turns, as they used to be, towers of heavy bodies on light ones took 400 times
// as many iterations.
static void choose_step(CcpDescent *d, double curve, double square, double square_of_product) {
    double next = 1.0;
    if (curve > 0.0) {
        double long_step = square / curve, short_step = curve / square_of_product;
        memmove(d->short_step + 1, d->short_step, (CCP_DESCENT_SHORT - 1) * sizeof(double));
        d->short_step[0] = short_step;
        bool is_short = short_step <= d->ratio * long_step;
        next = is_short ? short_step : long_step;
        for (int k = 1; k < CCP_DESCENT_SHORT && is_short; k++) {
            next = relation_min(next, d->short_step[k]);
        }
        d->ratio *= is_short ? RATIO_CHANGE : 1.0 / RATIO_CHANGE;
    }
    d->step = relation_min(relation_max(next, STEP_MIN), STEP_MAX);
}

static double spectral(CcpDescent *d) {
    const NewtonIsland *n = &d->of->island;
    size_t count = n->impulse_count;
    if (d->of->iterations % FRESH == FRESH - 1) {
        multiply(d, d->x, d->n_x);
    }
    project(d, d->x, d->n_x, d->step);
    double change = change_of(d, d->x, d->step);
    // y is the direction
    double slope = 0.0;
    for (size_t k = 0; k < count; k++) {
        d->y[k] = d->next[k] - d->x[k];
        slope += (d->n_x[k] + d->p[k]) * d->y[k];
    }
    multiply(d, d->y, d->n_y);
    double curve = dot(d->y, d->n_y, count), square = dot(d->y, d->y, count);
    double cost = 0.5 * dot(d->x, d->n_x, count) + dot(d->x, d->p, count);
    // as steep as a projection is at least, of which rounding may leave nothing, or the other sign
    slope = relation_min(slope, -square / d->step);
    // the cost along y is known: the whole way, or to its least where that is too much
    double lambda = 1.0;
    if (cost + slope + 0.5 * curve > highest_cost(d) + SLOPE_SHARE * slope && curve > 0.0) {
        lambda = relation_min(1.0, -slope / curve);
    }
    for (size_t k = 0; k < count; k++) {
        d->x[k] += lambda * d->y[k];
        d->n_x[k] += lambda * d->n_y[k];
    }
    memmove(d->cost + 1, d->cost, (CCP_DESCENT_MEMORY - 1) * sizeof(double));
    d->cost[0] = cost + lambda * (slope + 0.5 * lambda * curve);
    choose_step(d, curve, square, dot(d->n_y, d->n_y, count));
    return change;
}

CcpOutcome ccp_descent_step(CcpDescent *d, double *change) {
    ASSERT(change != NULL);
    CcpIsland *s = d->of;
    *change = d->is_accelerated ? accelerate(d) : spectral(d);
    s->iterations++;
    if (s->asker.is_stopped) {
        return CCP_STOPPED;
    }
    if (!(*change == *change)) {
        return CCP_NOT_FINITE;
    }
    store(d);
    ccp_island_spend(s, CCP_OPERATIONS_LOOK * (double)s->island.constraint_count);
    return *change <= CHANGE_MIN * s->island.v_scale ? CCP_STALLED : CCP_GOES_ON;
}
