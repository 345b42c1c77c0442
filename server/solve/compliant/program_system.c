// SPDX-License-Identifier: MIT
// The friction program's linear system: on the graph of trees, blocks of twice their width.
#include "solve/compliant/program_parts.h"

#include "base/assert.h"

#include <string.h>

// about: a part added to the matrix, and the masses of a tree
#define OPERATIONS_ADD  8000.0
#define OPERATIONS_MASS 1000.0

// `local` of 2 rows x 2 rows, of (v, y) against (v, y): J^T local J, into `piece`
static void expand(const NewtonBlock *a, const NewtonBlock *b, uint32_t rows, const double *local,
                   double *piece) {
    size_t wide = 2 * (size_t)b->width;
    for (uint32_t part = 0; part < 4; part++) {
        const double *m = local + 9 * (size_t)part;
        double *to = piece + (part / 2) * (size_t)a->width * wide + (part % 2) * (size_t)b->width;
        for (uint32_t i = 0; i < a->width; i++) {
            double left[3];
            for (uint32_t q = 0; q < rows; q++) {
                left[q] = 0.0;
                for (uint32_t r = 0; r < rows; r++) {
                    left[q] += a->jacobian[r * a->width + i] * m[3 * r + q];
                }
            }
            for (uint32_t k = 0; k < b->width; k++) {
                double sum = 0.0;
                for (uint32_t q = 0; q < rows; q++) {
                    sum += left[q] * b->jacobian[q * b->width + k];
                }
                to[i * wide + k] = sum;
            }
        }
    }
}

static void add_part(CompliantProgram *p, uint32_t index) {
    const NewtonIsland *n = p->island;
    const NewtonConstraint *c = &n->constraint[index];
    const NewtonBlock *block = n->block + c->block_first;
    const double *local = p->part[index].local;
    double *opposite = p->piece + 4 * (size_t)n->mass->width_max * n->mass->width_max;
    size_t edge = c->edge_first;
    for (uint32_t i = 0; i < c->block_count; i++) {
        expand(&block[i], &block[i], c->rows, local, p->piece);
        ldlt_add_vertex(&p->ldlt, block[i].tree, p->piece);
        for (uint32_t k = 0; k < i; k++) {
            expand(&block[i], &block[k], c->rows, local, p->piece);
            expand(&block[k], &block[i], c->rows, local, opposite);
            ldlt_add_edge(&p->ldlt, edge++, p->piece, opposite);
        }
    }
    asker_spend(&p->asker, OPERATIONS_ADD);
}

static void add_mass(CompliantProgram *p, uint32_t tree) {
    const NewtonIsland *n = p->island;
    size_t width = n->velocity[tree + 1] - n->velocity[tree], wide = 2 * width;
    mass_tree_matrix(n->mass, n->tree[tree], n->piece);
    memset(p->piece, 0, wide * wide * sizeof(double));
    for (size_t i = 0; i < width; i++) {
        for (size_t k = 0; k < width; k++) {
            double of = n->piece[i * width + k];
            p->piece[i * wide + k] = p->piece[(width + i) * wide + width + k] = of;
        }
    }
    ldlt_add_vertex(&p->ldlt, tree, p->piece);
    asker_spend(&p->asker, OPERATIONS_MASS);
}

LdltOutcome program_factor(CompliantProgram *p) {
    ASSERT(p->island->tree_count > 0);
    const NewtonIsland *n = p->island;
    ldlt_clear(&p->ldlt);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        add_mass(p, i);
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        PartKind kind = p->part[i].kind;
        if (kind != PART_NONE && kind != PART_FIXED) {
            add_part(p, i);
        }
    }
    bool is_begun = asker_affords(&p->asker, 2.0 * p->plan.operations);
    LdltOutcome outcome = is_begun ? ldlt_factor(&p->ldlt, p->asker.stop) : LDLT_STOPPED;
    p->asker.is_stopped = p->asker.is_stopped || outcome == LDLT_STOPPED;
    asker_spend(&p->asker, 2.0 * p->plan.operations);
    return outcome;
}

bool program_factor_masses(CompliantProgram *p) {
    const NewtonIsland *n = p->island;
    ldlt_clear(&p->ldlt);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        add_mass(p, i);
    }
    for (uint32_t i = 0; i < n->constraint_count; i++) {
        if (p->part[i].kind == PART_BILATERAL) {
            add_part(p, i);
        }
    }
    bool is_begun = asker_affords(&p->asker, 2.0 * p->plan.operations);
    p->asker.is_stopped = !is_begun || ldlt_factor(&p->ldlt, p->asker.stop) == LDLT_STOPPED;
    asker_spend(&p->asker, 2.0 * p->plan.operations);
    return !p->asker.is_stopped;
}

void program_solve_masses(CompliantProgram *p, double *x) {
    ASSERT(x != p->rest);
    const NewtonIsland *n = p->island;
    memset(p->rest, 0, 2 * n->velocity_count * sizeof(double));
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        memcpy(p->rest + 2 * from, x + from, width * sizeof(double));
    }
    ldlt_solve_asking(&p->ldlt, p->rest, &p->asker);
    for (uint32_t i = 0; i < n->tree_count; i++) {
        size_t from = n->velocity[i], width = n->velocity[i + 1] - from;
        memcpy(x + from, p->rest + 2 * from, width * sizeof(double));
    }
}
