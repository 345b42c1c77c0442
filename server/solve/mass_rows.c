// SPDX-License-Identifier: MIT
// Rows: M^-1 G^T and w = G M^-1 G^T. Those of dense trees are solved several at a time, as long as
// one after the other is of the same tree, which those of a robot's joints are.
#include "solve/mass.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "solve/dense/columns.h"

#include <string.h>

static bool is_dense(const ProblemTree *tree) {
    return !tree->is_free && tree->link_count == 0;
}

// ---- weights

static double make_weight(const ProblemMass *mass, uint32_t row, double *scratch) {
    const ContactProblem *problem = mass->problem;
    const ProblemRow *r = &problem->row[row];
    double weight = 0.0;
    for (uint32_t b = 0; b < r->block_count; b++) {
        const RowBlock *block = &problem->row_block[r->block_first + b];
        const double *jacobian = problem->number + block->jacobian;
        const ProblemTree *tree = &problem->tree[block->tree];
        memcpy(scratch, jacobian, tree->width * sizeof(double));
        if (is_dense(tree)) {
            weight += dense_square(tree->width, mass->factor[block->tree], scratch);
            continue;
        }
        mass_solve_tree(mass, block->tree, scratch);
        weight += dense_product(jacobian, scratch, tree->width);
    }
    return weight;
}

double mass_row_weight(const ProblemMass *mass, uint32_t row, double *scratch) {
    ASSERT(row < mass->problem->row_count);
    double *weight = &mass->row_weight[row];
    // written so that what is not a number is kept, too
    if (*weight < 0.0) {
        *weight = make_weight(mass, row, scratch);
    }
    return *weight;
}

void mass_keep_row_weight(const ProblemMass *mass, uint32_t row, double weight) {
    ASSERT(row < mass->problem->row_count);
    mass->row_weight[row] = weight;
}

// ---- responses

// Blocks of one dense tree that wait to be solved together.
typedef struct Batch {
    const ProblemMass *mass;
    uint32_t tree, count;
    DenseColumn column[DENSE_COLUMNS];
    MassResponse *of_column[DENSE_COLUMNS];
} Batch;

static void solve_batch(Batch *batch) {
    if (batch->count > 0) {
        dense_solve_columns(batch->mass->problem->tree[batch->tree].width,
                            batch->mass->factor[batch->tree], batch->column, batch->count);
    }
    for (uint32_t k = 0; k < batch->count; k++) {
        batch->of_column[k]->square = batch->column[k].square;
    }
    batch->count = 0;
}

static void add_to_batch(Batch *batch, const RowBlock *block, double *numbers,
                         MassResponse *response) {
    const double *jacobian = batch->mass->problem->number + block->jacobian;
    if (batch->tree != block->tree || batch->count == DENSE_COLUMNS) {
        solve_batch(batch);
    }
    response->number = numbers;
    batch->tree = block->tree;
    batch->column[batch->count] = (DenseColumn){.from = jacobian, .to = numbers};
    batch->of_column[batch->count++] = response;
}

bool mass_respond_rows(const ProblemMass *mass, const uint32_t *row, uint32_t count,
                       MassResponse *of_block, Arena *arena) {
    ASSERT(count == 0 || (row != NULL && of_block != NULL));
    const ContactProblem *problem = mass->problem;
    Batch batch = {.mass = mass};
    for (uint32_t i = 0; i < count; i++) {
        const ProblemRow *r = &problem->row[row[i]];
        for (uint32_t b = r->block_first; b < r->block_first + r->block_count; b++) {
            const RowBlock *block = &problem->row_block[b];
            const ProblemTree *tree = &problem->tree[block->tree];
            of_block[b].number = NULL;
            if (!is_dense(tree)) {
                continue;
            }
            double *numbers = arena_take_array(arena, tree->width, sizeof(double));
            if (numbers == NULL) {
                return false;
            }
            add_to_batch(&batch, block, numbers, &of_block[b]);
        }
    }
    solve_batch(&batch);
    return true;
}
