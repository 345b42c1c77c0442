// SPDX-License-Identifier: MIT
#include "solve/sap_polish.h"

#include <string.h>

// A solve leaves a share of its equation that may be more than that of R in w: so often what it
// left is solved again.
enum { REFINEMENTS = 2 };

enum { NUMBERS = NEWTON_ROWS_MAX * NEWTON_ROWS_MAX };

static double compliance(const SapLaw *law, uint32_t r) {
    return r == 0 ? law->normal : law->tangent;
}

// The law in the metric S.
static SapLaw scale_law(const SapIsland *s, uint32_t i) {
    double w = s->island.constraint[i].w;
    const SapLaw *law = s->law[i];
    return sap_law_with(law, law->normal + w, law->tangent + w);
}

// ---- 3 x 3

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

// N and T N of a constraint; T N is symmetric but for rounding, and made so.
static void linearise(const SapIsland *s, uint32_t i, double *n, double *tn) {
    uint32_t rows = s->island.constraint[i].rows;
    double w = s->island.constraint[i].w, gamma[NEWTON_ROWS_MAX], t[NUMBERS], m[NUMBERS];
    SapLaw scaled = scale_law(s, i);
    sap_law_slope(&scaled, s->y + s->island.constraint[i].first, gamma, t);
    if (rows == 1) {
        n[0] = 1.0 / (1.0 - w * t[0]);
        tn[0] = t[0] * n[0];
        return;
    }
    for (size_t k = 0; k < 9; k++) {
        m[k] = (k % 4 == 0 ? 1.0 : 0.0) - w * t[k];
    }
    invert3(m, n);
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

// product := m x
static void multiply(const double *m, const double *x, uint32_t rows, double *product) {
    for (uint32_t r = 0; r < rows; r++) {
        product[r] = 0.0;
        for (uint32_t q = 0; q < rows; q++) {
            product[r] += m[r * rows + q] * x[q];
        }
    }
}

// ---- a step

static LdltOutcome factor(SapIsland *s) {
    const NewtonIsland *island = &s->island;
    newton_begin_matrix(island, &s->ldlt);
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        if (s->law[i] != NULL) {
            double n[NUMBERS], tn[NUMBERS];
            linearise(s, i, n, tn);
            newton_add_matrix(island, &s->ldlt, &island->constraint[i], tn);
            sap_island_spend(s, SAP_OPERATIONS_STEP);
        }
    }
    return sap_island_factor(s);
}

// e, with v made of gamma
static void make_rest(SapIsland *s, double *e) {
    const NewtonIsland *island = &s->island;
    newton_velocities(island, s->gamma, s->v);
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const SapLaw *law = s->law[i];
        if (law == NULL) {
            continue;
        }
        double *rest = e + c->first;
        const double *x = s->y + c->first, *gamma = s->gamma + c->first;
        newton_product(island, c, s->v, rest);
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliance(law, r);
            rest[r] += of * gamma[r] - law->target[r] - (of + c->w) * (gamma[r] - x[r]);
        }
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
}

// e + J d_v of a constraint
static void make_moved(const SapIsland *s, const NewtonConstraint *c, const double *e,
                       double *moved) {
    newton_product(&s->island, c, s->d_v, moved);
    for (uint32_t r = 0; r < c->rows; r++) {
        moved[r] += e[c->first + r];
    }
}

// What the newest d_v leaves of its equation: work := -A d_v - J^T T N (e + J d_v)
static void make_remainder(SapIsland *s, const double *e) {
    const NewtonIsland *island = &s->island;
    sap_island_multiply(island, s->d_v, s->work);
    for (size_t k = 0; k < island->velocity_count; k++) {
        s->work[k] = -s->work[k];
    }
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        double n[NUMBERS], tn[NUMBERS], moved[NEWTON_ROWS_MAX], push[NEWTON_ROWS_MAX];
        linearise(s, i, n, tn);
        make_moved(s, c, e, moved);
        multiply(tn, moved, c->rows, push);
        for (uint32_t r = 0; r < c->rows; r++) {
            push[r] = -push[r];
        }
        newton_momentum(island, c, push, s->work);
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
}

static void find_velocities(SapIsland *s, const double *e) {
    size_t count = s->island.velocity_count;
    memset(s->d_v, 0, count * sizeof(double));
    for (int k = 0; k <= REFINEMENTS; k++) {
        make_remainder(s, e);
        ldlt_solve(&s->ldlt, s->work);
        for (size_t q = 0; q < count; q++) {
            s->d_v[q] += s->work[q];
        }
    }
}

// x += d_x, and its gamma
static void correct(SapIsland *s, const double *e) {
    const NewtonIsland *island = &s->island;
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        if (s->law[i] == NULL) {
            continue;
        }
        double n[NUMBERS], tn[NUMBERS], moved[NEWTON_ROWS_MAX], change[NEWTON_ROWS_MAX];
        double *x = s->y + c->first;
        linearise(s, i, n, tn);
        make_moved(s, c, e, moved);
        multiply(n, moved, c->rows, change);
        SapLaw scaled = scale_law(s, i);
        for (uint32_t r = 0; r < c->rows; r++) {
            x[r] -= change[r] / compliance(&scaled, r);
        }
        sap_law_impulse(&scaled, x, s->gamma + c->first);
        sap_island_spend(s, SAP_OPERATIONS_LOOK);
    }
}

void sap_polish_begin(SapIsland *s) {
    const NewtonIsland *island = &s->island;
    for (uint32_t i = 0; i < island->constraint_count; i++) {
        const NewtonConstraint *c = &island->constraint[i];
        const SapLaw *law = s->law[i];
        if (law == NULL) {
            continue;
        }
        double *y = s->y + c->first;
        const double *gamma = s->gamma + c->first;
        for (uint32_t r = 0; r < c->rows; r++) {
            double of = compliance(law, r);
            y[r] = gamma[r] - of * (gamma[r] - y[r]) / (of + c->w);
        }
    }
}

SapOutcome sap_polish_step(SapIsland *s) {
    double *e = s->d_u;
    LdltOutcome outcome = factor(s);
    if (s->is_stopped) {
        return SAP_STOPPED;
    }
    if (outcome != LDLT_FINITE) {
        return SAP_NOT_FINITE;
    }
    make_rest(s, e);
    find_velocities(s, e);
    if (!numbers_are_finite(s->d_v, s->island.velocity_count)) {
        return SAP_NOT_FINITE;
    }
    correct(s, e);
    s->iterations++;
    return SAP_MET;
}
