// SPDX-License-Identifier: MIT
#include "solve/mdp_envelope.h"

#include "solve/dense.h"

enum { SIDE = MDP_BLOCK_SIDE, SIZE = MDP_BLOCK_SIZE };

// c -= a b^T
static void subtract_product(double *restrict c, const double *a, const double *b) {
    double turned[SIZE]; // b^T, so that the inner loop goes along rows
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t k = 0; k < SIDE; k++) {
            turned[SIDE * k + i] = b[SIDE * i + k];
        }
    }
    for (size_t i = 0; i < SIDE; i++) {
        for (size_t k = 0; k < SIDE; k++) {
            double factor = a[SIDE * i + k];
            for (size_t j = 0; j < SIDE; j++) {
                c[SIDE * i + j] -= factor * turned[SIDE * k + j];
            }
        }
    }
}

// c := c L^-T, L the factor of a diagonal block
static void divide(double *restrict c, const double *restrict l) {
    for (size_t j = 0; j < SIDE; j++) {
        double inverse = 1.0 / l[SIDE * j + j];
        for (size_t i = 0; i < SIDE; i++) {
            double sum = c[SIDE * i + j];
            for (size_t k = 0; k < j; k++) {
                sum -= c[SIDE * i + k] * l[SIDE * j + k];
            }
            c[SIDE * i + j] = sum * inverse;
        }
    }
}

bool mdp_envelope_factor(const MdpEnvelope *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        for (uint32_t j = e->first[i]; j <= i; j++) {
            double *block = mdp_envelope_block(e, i, j);
            uint32_t from = e->first[i] > e->first[j] ? e->first[i] : e->first[j];
            for (uint32_t k = from; k < j; k++) {
                subtract_product(block, mdp_envelope_block(e, i, k), mdp_envelope_block(e, j, k));
            }
            if (j < i) {
                divide(block, mdp_envelope_block(e, j, j));
            } else if (!dense_factor(SIDE, block, 0.0, block)) {
                return false;
            }
        }
    }
    return true;
}

void mdp_envelope_solve(const MdpEnvelope *e, double *x) {
    // L y = x
    for (uint32_t i = 0; i < e->count; i++) {
        double *to = x + SIDE * (size_t)i;
        for (uint32_t j = e->first[i]; j < i; j++) {
            const double *block = mdp_envelope_block(e, i, j), *from = x + SIDE * (size_t)j;
            for (size_t p = 0; p < SIDE; p++) {
                for (size_t q = 0; q < SIDE; q++) {
                    to[p] -= block[SIDE * p + q] * from[q];
                }
            }
        }
        const double *l = mdp_envelope_block(e, i, i);
        for (size_t p = 0; p < SIDE; p++) {
            for (size_t q = 0; q < p; q++) {
                to[p] -= l[SIDE * p + q] * to[q];
            }
            to[p] /= l[SIDE * p + p];
        }
    }
    // L^T x = y
    for (uint32_t i = e->count; i-- > 0;) {
        double *from = x + SIDE * (size_t)i;
        const double *l = mdp_envelope_block(e, i, i);
        for (size_t p = SIDE; p-- > 0;) {
            for (size_t q = p + 1; q < SIDE; q++) {
                from[p] -= l[SIDE * q + p] * from[q];
            }
            from[p] /= l[SIDE * p + p];
        }
        for (uint32_t j = e->first[i]; j < i; j++) {
            const double *block = mdp_envelope_block(e, i, j);
            double *to = x + SIDE * (size_t)j;
            for (size_t p = 0; p < SIDE; p++) {
                for (size_t q = 0; q < SIDE; q++) {
                    to[q] -= block[SIDE * p + q] * from[p];
                }
            }
        }
    }
}
