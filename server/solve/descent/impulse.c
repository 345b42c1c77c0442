// SPDX-License-Identifier: MIT
#include "solve/descent/impulse.h"

#include "base/assert.h"

#include <string.h>

// after so many steps without coming half as near it has stalled
enum { PATIENCE = 10 };
// Where R is less of w than this a solve leaves more of its equation than R is of w, and what it
// left is solved again.
#define STIFF_SHARE 1e-5
enum { REFINEMENTS = 2 };

static double compliance(const SapLaw *law, uint32_t r) {
    return r == 0 ? law->normal : law->tangent;
}

Status sap_impulse_init(SapImpulse *p, SapIsland *island, Arena *arena, Error *error) {
    ASSERT(island->island.constraint_count > 0);
    size_t constraints = island->island.constraint_count, impulses = island->island.impulse_count;
    *p = (SapImpulse){.island = island,
                      .scaled = arena_take_array(arena, constraints, sizeof(SapLaw)),
                      .x = arena_take_array(arena, impulses, sizeof(double)),
                      .nearest.x = arena_take_array(arena, impulses, sizeof(double)),
                      .e = arena_take_array(arena, impulses, sizeof(double)),
                      .inverse = arena_take_array(arena, constraints, SAP_BLOCK * sizeof(double)),
                      .slope = arena_take_array(arena, constraints, SAP_BLOCK * sizeof(double))};
    if (p->scaled == NULL || p->x == NULL || p->nearest.x == NULL || p->e == NULL ||
        p->inverse == NULL || p->slope == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for Newton's method.");
    }
    memset(p->x, 0, impulses * sizeof(double));
    memset(p->e, 0, impulses * sizeof(double));
    for (size_t i = 0; i < constraints; i++) {
        const SapLaw *law = island->law[i];
        if (law == NULL) {
            continue;
        }
        double w = island->island.constraint[i].w;
        p->scaled[i] = sap_law_with(law, law->normal + w, law->tangent + w);
        bool is_stiff = law->normal < STIFF_SHARE * w ||
                        (law->kind != SAP_LAW_ROW && law->tangent < STIFF_SHARE * w);
        p->refinements = is_stiff ? REFINEMENTS : p->refinements;
    }
    return STATUS_OK;
}

// ---- the linear system

// The inverse of a 3 x 3 matrix, by its cofactors.
static void invert3(const double *m, double *inverse) {
    for (size_t r = 0; r < 3; r++) {
        for (size_t q = 0; q < 3; q++) {
            size_t r1 = (r + 1) % 3, r2 = (r + 2) % 3, q1 = (q + 1) % 3, q2 = (q + 2) % 3;
            inverse[q * 3 + r] = m[r1 * 3 + q1] * m[r2 * 3 + q2] - m[r1 * 3 + q2] * m[r2 * 3 + q1];
        }
    }
    double determinant = m[0] * inverse[0] + m[1] * inverse[3] + m[2] * inverse[6];
    for (size_t k = 0; k < 9; k++) {
        inverse[k] /= determinant;
    }
}

// T N, symmetric but for rounding, and made so.
static void multiply_symmetric(const double *t, const double *n, double *tn) {
    for (size_t r = 0; r < 3; r++) {
        for (size_t q = 0; q < 3; q++) {
            tn[r * 3 + q] = t[r * 3] * n[q] + t[r * 3 + 1] * n[3 + q] + t[r * 3 + 2] * n[6 + q];
        }
    }
    for (size_t r = 0; r < 3; r++) {
        for (size_t q = 0; q < r; q++) {
            tn[r * 3 + q] = tn[q * 3 + r] = 0.5 * (tn[r * 3 + q] + tn[q * 3 + r]);
        }
    }
}

// N and T N of a constraint
static void linearise(SapImpulse *p, uint32_t i) {
    const NewtonConstraint *c = &p->island->island.constraint[i];
    double gamma[NEWTON_ROWS_MAX], t[SAP_BLOCK], m[SAP_BLOCK];
    double *n = p->inverse + (size_t)SAP_BLOCK * i, *tn = p->slope + (size_t)SAP_BLOCK * i;
    sap_law_slope(&p->scaled[i], p->x + c->first, gamma, t);
    if (c->rows == 1) {
        n[0] = 1.0 / (1.0 - c->w * t[0]);
        tn[0] = t[0] * n[0];
        return;
    }
    for (size_t k = 0; k < 9; k++) {
        m[k] = (k % 4 == 0 ? 1.0 : 0.0) - c->w * t[k];
    }
    invert3(m, n);
    multiply_symmetric(t, n, tn);
}

static LdltOutcome factor(SapImpulse *p) {
    SapIsland *s = p->island;
    const NewtonIsland *island = &s->island;
    newton_begin_matrix(island, &s->ldlt);
    for (uint32_t i = 0; i < island->constraint_count && !s->is_stopped; i++) {
        if (s->law[i] != NULL) {
            newton_add_matrix(island, &s->ldlt, &island->constraint[i],
                              p->slope + (size_t)SAP_BLOCK * i);
            sap_island_spend(s, SAP_OPERATIONS_STEP);
        }
    }
    return sap_island_factor(s);
}

// ---- where x is

// gamma of x, v of gamma, e, and what follows for the linear system
static void look(SapImpulse *p) {
    SapIsland *s = p->island;
    const NewtonIsland *island = &s->island;
    memset(s->push, 0, island->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        if (s->law[i] != NULL) {
            sap_law_impulse(&p->scaled[i], p->x + c->first, s->gamma + c->first);
            newton_momentum(island, c, s->gamma + c->first, s->push);
            sap_island_spend(s, SAP_OPERATIONS_LOOK);
        }
    }
    sap_island_follow(s);
    p->residual = 0.0;
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const SapLaw *law = s->law[i];
        if (law == NULL) {
            continue;
        }
        double *e = p->e + c->first;
        const double *x = p->x + c->first, *gamma = s->gamma + c->first;
        newton_product(island, c, s->v, e);
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliance(law, r);
            e[r] += of * gamma[r] - law->target[r] - (of + c->w) * (gamma[r] - x[r]);
            p->residual = relation_max(p->residual, fabs(e[r]));
        }
        linearise(p, i);
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
}

// To x of gamma as the natural map has it: e is 0 where gamma would stay.
static void start(SapImpulse *p, const double *gamma) {
    SapIsland *s = p->island;
    const NewtonIsland *island = &s->island;
    newton_velocities(island, gamma, s->v);
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const SapLaw *law = s->law[i];
        if (law == NULL) {
            continue;
        }
        double u[NEWTON_ROWS_MAX];
        newton_product(island, c, s->v, u);
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliance(law, r), now = gamma[c->first + r];
            p->x[c->first + r] = now - (u[r] - law->target[r] + of * now) / (of + c->w);
        }
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
    look(p);
}

static void forget(SapImpulse *p) {
    sap_nearest_forget(&p->nearest, p->island, p->x);
}

void sap_impulse_begin(SapImpulse *p) {
    ASSERT(p->island != NULL);
    ASSERT(p->x != p->nearest.x);
    SapIsland *s = p->island;
    size_t bytes = s->island.impulse_count * sizeof(double);
    start(p, s->gamma);
    double warm = p->residual;
    memcpy(p->nearest.x, p->x, bytes);
    memset(s->d_u, 0, bytes);
    if (!s->is_stopped) {
        start(p, s->d_u);
    }
    if (warm < p->residual) {
        memcpy(p->x, p->nearest.x, bytes);
    }
    forget(p);
}

void sap_impulse_take_over(SapImpulse *p) {
    ASSERT(p->island != NULL);
    const SapIsland *s = p->island;
    for (uint32_t i = 0; i < s->island.constraint_count; i++) {
        const NewtonConstraint *c = &s->island.constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliance(s->law[i], r), gamma = s->gamma[c->first + r];
            double share = of / (of + c->w);
            p->x[c->first + r] = gamma - share * (gamma - s->y[c->first + r]);
        }
    }
    forget(p);
}

// ---- a step

// d_v of the remainder at hand, which is the first
static void find_velocities(SapImpulse *p) {
    SapIsland *s = p->island;
    size_t count = s->island.velocity_count;
    memcpy(s->d_v, s->work, count * sizeof(double));
    sap_island_solve(s, s->d_v);
    for (uint32_t k = 0; k < p->refinements; k++) {
        sap_island_remainder(s, p->slope, p->e, false);
        sap_island_solve(s, s->work);
        for (size_t q = 0; q < count; q++) {
            s->d_v[q] += s->work[q];
        }
    }
}

// x += d_x
static void correct(SapImpulse *p) {
    SapIsland *s = p->island;
    double change[NEWTON_ROWS_MAX];
    for (uint32_t i = 0; i < s->island.constraint_count; i++) {
        const NewtonConstraint *c = &s->island.constraint[i];
        const bool moves = sap_island_change(s, i, p->inverse, p->e, change);
        for (uint32_t r = 0; moves && r < c->rows; r++) {
            p->x[c->first + r] -= change[r] / compliance(&p->scaled[i], r);
        }
    }
}

// ---- all of it

void sap_impulse_end(SapImpulse *p) {
    ASSERT(p->x != p->nearest.x);
    if (!(p->residual <= p->nearest.residual)) {
        memcpy(p->x, p->nearest.x, p->island->island.impulse_count * sizeof(double));
        look(p);
    }
}

SapOutcome sap_impulse_minimise(SapImpulse *p, double tolerance, double velocity,
                                uint32_t iterations_max) {
    ASSERT(!(tolerance <= 0.0));
    ASSERT(!(velocity < 0.0));
    SapIsland *s = p->island;
    for (;;) {
        if (s->is_stopped) {
            return SAP_STOPPED;
        }
        look(p);
        bool goes_on = sap_nearest_keep(&p->nearest, s, p->x, p->residual, PATIENCE);
        sap_island_remainder(s, p->slope, p->e, true);
        if (s->is_stopped) {
            return SAP_STOPPED;
        }
        if (p->residual <= velocity && sap_island_is_small(s, s->work, tolerance)) {
            return SAP_MET;
        }
        if (!goes_on || s->iterations >= iterations_max) {
            return goes_on ? SAP_SPENT : SAP_STALLED;
        }
        if (factor(p) != LDLT_FINITE) {
            return s->is_stopped ? SAP_STOPPED : SAP_NOT_FINITE;
        }
        find_velocities(p);
        correct(p);
        s->iterations++;
    }
}
