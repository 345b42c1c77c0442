// SPDX-License-Identifier: MIT
// With rows g of the joint's locked axes as G, and M what the step made of the masses of their
// trees,
//
//     w = a - b^T C^-1 b,    a = g M^-1 g^T,  b = G M^-1 g^T,  C = G M^-1 G^T
#include "step/rows/rows.h"

#include "base/assert.h"
#include "solve/dense/dense.h"

#include <string.h>

enum { LOCKED_MAX = 6 };

// Below so small a part of what it was, a pivot is rounding: the row says what others have said.
#define REDUNDANT 1e-10

// The block of a row for a tree; NULL: it has none.
static const double *block_of(const Stepper *stepper, const ProblemRow *row, uint32_t tree) {
    for (uint32_t i = row->block_first; i < row->block_first + row->block_count; i++) {
        if (stepper->row_block[i].tree == tree) {
            return stepper->number + stepper->row_block[i].jacobian;
        }
    }
    return NULL;
}

static double dot(const double *a, const double *b, uint32_t count) {
    double sum = 0.0;
    for (uint32_t k = 0; k < count; k++) {
        sum += a[k] * b[k];
    }
    return sum;
}

// M^-1 of a block, in memory that is free until the tree lands.
static const double *move_tree(const StepState *state, uint32_t tree, const double *block,
                               double kicked[6]) {
    ASSERT(tree < state->tree_count);
    if (tree < state->free_count) {
        const FreeMass *mass = &state->free[tree];
        vec3_store(kicked, vec3_scale(mass->inverse_mass, vec3_load(block)));
        vec3_store(kicked + 3, sym3_mul_vec(mass->inverse_inertia, vec3_load(block + 3)));
        return kicked;
    }
    StepTree *of = stage_tree(state, state->body_of_tree[tree]);
    TreeFlight *flight = &of->flight;
    const size_t width = flight->view.tree->width;
    memcpy(flight->change, block, width * sizeof(double));
    if (flight->factor == NULL) {
        tree_solve(&flight->view, &flight->work, flight->change);
    } else {
        dense_solve(width, flight->factor, flight->change);
    }
    return flight->change;
}

// What a unit impulse of row `by` changes the rates of rows `first` to `first + count` by, and, in
// `own`, its own.
static void kick(const StepState *state, uint32_t by, uint32_t first, uint32_t count, double *rates,
                 double *own) {
    ASSERT(by < state->stepper->row_count);
    const Stepper *stepper = state->stepper;
    const ProblemRow *row = &stepper->row[by];
    memset(rates, 0, count * sizeof(double));
    *own = 0.0;
    for (uint32_t i = row->block_first; i < row->block_first + row->block_count; i++) {
        const uint32_t tree = stepper->row_block[i].tree, width = state->tree[tree].width;
        const double *block = stepper->number + stepper->row_block[i].jacobian;
        double buffer[6];
        const double *kicked = move_tree(state, tree, block, buffer);
        *own += dot(block, kicked, width);
        for (uint32_t k = 0; k < count; k++) {
            const double *other = block_of(stepper, &stepper->row[first + k], tree);
            rates[k] += other == NULL ? 0.0 : dot(other, kicked, width);
        }
    }
}

double row_mobility(const StepState *state, uint32_t row, uint32_t first, uint32_t count) {
    ASSERT(row < state->stepper->row_count);
    ASSERT(first + count <= row);
    ASSERT(count <= LOCKED_MAX);
    ASSERT(first + count <= row);
    double rates[LOCKED_MAX], own, unused[LOCKED_MAX], held[LOCKED_MAX][LOCKED_MAX];
    double pivot[LOCKED_MAX], left[LOCKED_MAX];
    kick(state, row, first, count, rates, &own);
    // L D L^T of C, a row at a time, and b along with it
    for (uint32_t i = 0; i < count; i++) {
        kick(state, first + i, first, count, unused, &pivot[i]);
        const double whole = pivot[i];
        left[i] = rates[i];
        for (uint32_t j = 0; j < i; j++) {
            held[i][j] = unused[j];
            for (uint32_t k = 0; k < j; k++) {
                held[i][j] -= held[i][k] * held[j][k] * pivot[k];
            }
            held[i][j] = pivot[j] == 0.0 ? 0.0 : held[i][j] / pivot[j];
            pivot[i] -= held[i][j] * held[i][j] * pivot[j];
            left[i] -= held[i][j] * left[j];
        }
        pivot[i] = pivot[i] <= REDUNDANT * whole ? 0.0 : pivot[i];
        own -= pivot[i] == 0.0 ? 0.0 : left[i] * left[i] / pivot[i];
    }
    return own;
}
