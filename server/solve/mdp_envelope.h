// SPDX-License-Identifier: MIT
// Symmetric positive definite matrices of 6 x 6 blocks, one row of blocks per free body, of which
// only the envelope is kept: in row i the blocks from column first[i], the lowest that is not zero,
// to the diagonal. A Cholesky factor has the same envelope, so it takes the place of the matrix. A
// stack whose bodies were added one on the other has two blocks per row, and its factor costs
// little more than a sweep of its contacts.
//
// Plain sums in one fixed order: the bits are the same everywhere.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MDP_BLOCK_SIDE = 6, MDP_BLOCK_SIZE = 36 };

typedef struct MdpEnvelope {
    uint32_t count;        // rows of blocks
    const uint32_t *first; // [count] borrowed; first[i] <= i
    const uint32_t *begin; // [count] borrowed; where block (i, first[i]) stands, in blocks
    double *number;        // borrowed; every block row by row
} MdpEnvelope;

// Block (i, j), first[i] <= j <= i.
static inline double *mdp_envelope_block(const MdpEnvelope *envelope, uint32_t i, uint32_t j) {
    size_t at = envelope->begin[i] + (j - envelope->first[i]);
    return envelope->number + MDP_BLOCK_SIZE * at;
}

// In place: the lower Cholesky factor. Of diagonal blocks only the lower triangle is read. false,
// with the factor unfinished, when the matrix is not positive definite (NaN is not).
bool mdp_envelope_factor(const MdpEnvelope *envelope);

// In place: x := (L L^T)^-1 x, 6 numbers per row of blocks.
void mdp_envelope_solve(const MdpEnvelope *factor, double *x);
