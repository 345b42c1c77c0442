// SPDX-License-Identifier: MIT
// What a part's step is, once those of v and y are known, and what it adds to their system.
#include "base/assert.h"
#include "solve/compliant/program_parts.h"

#include <string.h>

// a part looked at, about
#define OPERATIONS_LINEARISE 6000.0

// Of a symmetric positive matrix of `count` rows, which may span many orders of magnitude; a number
// that has become rounding is taken for that of its diagonal.
static void invert(const double *m, uint32_t count, double *inverse) {
    VALIDATE(count == 1 || count == 3);
    VALIDATE(m != inverse);
    double l[9] = {0.0}, x[9] = {0.0};
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = m[3 * i + k];
            for (uint32_t q = 0; q < k; q++) {
                sum -= l[3 * i + q] * l[3 * k + q];
            }
            double least = LDLT_PIVOT_MIN * m[4 * (size_t)i];
            l[3 * i + k] = i == k ? sqrt(sum > least ? sum : least) : sum / l[4 * (size_t)k];
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k <= i; k++) {
            double sum = i == k ? 1.0 : 0.0;
            for (uint32_t q = k; q < i; q++) {
                sum -= l[3 * i + q] * x[3 * q + k];
            }
            x[3 * i + k] = sum / l[4 * (size_t)i];
        }
    }
    memset(inverse, 0, 9 * sizeof(double));
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < count; k++) {
            for (uint32_t q = i > k ? i : k; q < count; q++) {
                inverse[3 * i + k] += x[3 * q + i] * x[3 * q + k];
            }
        }
    }
}

// to := B m B^T
static void turn_out(const double *basis, const double *m, double *to) {
    double half[9] = {0.0};
    memset(to, 0, 9 * sizeof(double));
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                half[3 * i + k] += basis[3 * i + q] * m[3 * q + k];
            }
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                to[3 * i + k] += half[3 * i + q] * basis[3 * k + q];
            }
        }
    }
}

// m += B^T diag B
static void turn_in(const double *basis, const double *diagonal, double *m) {
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) {
            for (int q = 0; q < 3; q++) {
                m[3 * i + k] += basis[3 * q + i] * diagonal[q] * basis[3 * q + k];
            }
        }
    }
}

// With K = own + Theta, D = R and Omega, of H = K + D Omega D: H^-1, S = (Omega^-1 + D K^-1 D)^-1,
// which is what Omega - Omega D H^-1 D Omega is without its roundings, and K^-1 D S.
static void make_blocks(ProgramPart *part) {
    ASSERT(part->count == 1 || part->count == 3);
    // friction of what has none does not move
    uint32_t moving = part->count == 3 && part->mu == 0.0 ? 1 : part->count;
    const double *basis = part->scaling.basis;
    double m[9], of[9], of_k[9], sum[9] = {0.0}, s[9], soft[3] = {0.0};
    memcpy(m, part->scaling.theta, sizeof(m));
    turn_in(basis, part->own, m);
    invert(m, moving, of);
    turn_out(basis, of, of_k);
    for (uint32_t i = 0; i < part->count; i++) {
        soft[i] = part->r[i] * part->r[i] * part->omega[i];
        for (uint32_t q = 0; q < part->count; q++) {
            sum[3 * i + q] = part->r[i] * of_k[3 * i + q] * part->r[q];
        }
        sum[4 * (size_t)i] += 1.0 / part->omega[i];
    }
    turn_in(basis, soft, m);
    invert(m, moving, part->inside);
    turn_out(basis, part->inside, part->inverse);
    invert(sum, part->count, s);
    memset(part->local, 0, sizeof(part->local));
    for (uint32_t i = 0; i < part->count; i++) {
        for (uint32_t q = 0; q < part->count; q++) {
            double beside = 0.0;
            for (uint32_t r = 0; r < part->count; r++) {
                beside += of_k[3 * i + r] * part->r[r] * s[3 * r + q];
            }
            part->local[3 * i + q] = beside;
            part->local[9 + 3 * i + q] = part->inverse[3 * i + q];
            part->local[18 + 3 * i + q] = -s[3 * i + q];
            part->local[27 + 3 * q + i] = beside;
        }
    }
}

// Where u and J y are: residuals of the part, with the barrier's share `at` of the gap.
static void linearise_cone(ProgramPart *part, const double *u, const double *jy, double at) {
    VALIDATE(part->kind == PART_CONTACT || part->kind == PART_LIMIT);
    const double *inverse = part->scaling.inverse;
    double b[3] = {0.0};
    compliant_cone_scale(part->mu, part->gamma, part->z, &part->scaling);
    part->p_rest = u[0] - part->target[0] + part->r[0] * part->gamma[0] - part->p;
    double omega = part->eta / part->p;
    part->eta_to = at / part->p - part->eta - omega * part->p_rest;
    part->c[0] = part->r[0] * omega;
    part->omega[0] = omega;
    part->to[0] = at * inverse[0] - part->z[0];
    part->rho[0] = part->own[0] * part->gamma[0] - part->r[0] * part->eta + jy[0] -
                   at * inverse[0] - part->r[0] * part->eta_to;
    for (uint32_t r = 1; r < part->count; r++) {
        b[r] = u[r] - part->target[r] + part->r[r] * part->gamma[r];
        part->c[r] = part->weight * part->r[r];
        part->omega[r] = part->weight;
        part->to[r] = at * inverse[r] - part->z[r];
        part->rho[r] = part->own[r] * part->gamma[r] + part->weight * part->r[r] * b[r] + jy[r] -
                       at * inverse[r];
    }
    make_blocks(part);
}

static void linearise_bounded(ProgramPart *part, const double *u, const double *jy, double at) {
    VALIDATE(part->count == 1);
    double below = part->gamma[0] - part->low, above = part->high - part->gamma[0];
    bool has_low = isfinite(part->low), has_high = isfinite(part->high);
    double of_low = has_low ? part->z[0] / below : 0.0,
           of_high = has_high ? part->z_high / above : 0.0;
    double b = u[0] - part->target[0] + part->r[0] * part->gamma[0];
    double push = (has_low ? at / below : 0.0) - (has_high ? at / above : 0.0);
    part->c[0] = part->weight * part->r[0];
    part->omega[0] = part->weight;
    part->scaling = (CompliantScaling){.theta = {of_low + of_high}, .basis = {1.0}};
    make_blocks(part);
    part->rho[0] = part->own[0] * part->gamma[0] + part->weight * part->r[0] * b + jy[0] - push;
    part->of_low = of_low;
    part->of_high = of_high;
    part->to[0] = has_low ? at / below - part->z[0] : 0.0;
    part->to[1] = has_high ? at / above - part->z_high : 0.0;
}

// Springs: R r = target - G v, and R q = G y, where q stands in z.
static void linearise_bilateral(ProgramPart *part, const double *u, const double *jy) {
    VALIDATE(part->count == 1);
    part->p_rest = part->r[0] * part->gamma[0] + u[0] - part->target[0];
    part->b_rest = jy[0] - part->r[0] * part->z[0];
    memset(part->local, 0, sizeof(part->local));
    part->local[0] = part->local[27] = 1.0 / part->r[0];
}

void program_linearise(CompliantProgram *p, double at) {
    ASSERT(!(at < 0.0));
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        ProgramPart *part = &p->part[i];
        double u[3], jy[3];
        if (part->kind == PART_NONE || part->kind == PART_FIXED) {
            continue;
        }
        program_product(p, i, p->v, u);
        program_product(p, i, p->y, jy);
        if (part->kind == PART_BILATERAL) {
            linearise_bilateral(part, u, jy);
        } else if (part->kind == PART_BOUNDED) {
            linearise_bounded(part, u, jy, at);
        } else {
            linearise_cone(part, u, jy, at);
        }
        asker_spend(&p->asker, OPERATIONS_LINEARISE);
    }
}
