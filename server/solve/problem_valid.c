// SPDX-License-Identifier: MIT
#include "solve/problem_valid.h"

#include <math.h>

// unit vectors and right angles of a contact frame; NaN passes: numbers that have left the doubles
// are a fault's, which the step finds
#define FRAME_TOLERANCE 1e-6

static bool is_off(double value, double wanted) {
    return fabs(value - wanted) > FRAME_TOLERANCE;
}

static bool is_stored(const ContactProblem *problem, size_t offset, size_t count) {
    return offset <= problem->number_count && count <= problem->number_count - offset;
}

// ---- trees

// Of L D L^T beside the matrix that it is said to be; a stale one is off by as much as masses move.
#define FACTOR_TOLERANCE 1e-8

// What a factor's row i and an earlier one, or itself, come to.
static double factor_product(const double *factor, uint32_t width, uint32_t i, uint32_t j) {
    const double *a = factor + (size_t)i * width, *b = factor + (size_t)j * width;
    double sum = 0.0;
    for (uint32_t k = 0; k <= j; k++) {
        sum += (k == i ? 1.0 : a[k]) * (k == j ? 1.0 : b[k]) / factor[(size_t)k * width + k];
    }
    return sum;
}

static bool factor_is_valid(const ContactProblem *problem, const ProblemTree *tree) {
    const double *factor = problem->factor + tree->mass, *m = problem->number + tree->mass;
    const uint32_t width = tree->width;
    for (uint32_t i = 0; i < width; i++) {
        for (uint32_t j = 0; j <= i; j++) {
            const double size = sqrt(m[(size_t)i * width + i] * m[(size_t)j * width + j]);
            const double off = fabs(factor_product(factor, width, i, j) - m[(size_t)i * width + j]);
            if (off > FACTOR_TOLERANCE * size) {
                return false;
            }
        }
    }
    return true;
}

static bool links_are_valid(const ContactProblem *problem, uint32_t t, Defect *defect) {
    const ProblemTree *tree = &problem->tree[t];
    uint32_t width = 0;
    if (tree->mass > problem->link_count || tree->link_count > problem->link_count - tree->mass) {
        return defect_set(defect, "tree", t, "its links do not exist");
    }
    for (uint32_t i = 0; i < tree->link_count; i++) {
        const ProblemLink *link = &problem->link[tree->mass + i];
        if (link->parent != PROBLEM_NO_LINK && link->parent >= i) {
            return defect_set(defect, "link", tree->mass + i, "it stands before its parent");
        }
        if (link->first != width || link->count > PROBLEM_LINK_VELOCITIES) {
            return defect_set(defect, "link", tree->mass + i, "its velocities are not its own");
        }
        if (!is_stored(problem, link->motion, 6 * (size_t)link->count) ||
            !is_stored(problem, link->added, (size_t)link->count * link->count)) {
            return defect_set(defect, "link", tree->mass + i, "its numbers are not stored");
        }
        width += link->count;
    }
    return width == tree->width ||
           defect_set(defect, "tree", t, "it has more or fewer velocities than its links");
}

static bool tree_is_valid(const ContactProblem *problem, uint32_t t, uint32_t first,
                          Defect *defect) {
    const ProblemTree *tree = &problem->tree[t];
    if (tree->first != first || tree->width > problem->velocity_count - first) {
        return defect_set(defect, "tree", t, "its velocities do not follow the last one's");
    }
    if (tree->is_free) {
        return (tree->width == 6 && problem->free[t].mass > 0.0) ||
               defect_set(defect, "tree", t, "it is free, and not six wide or without a mass");
    }
    if (problem->all_free) {
        return defect_set(defect, "tree", t, "it is not free, where all are said to be");
    }
    if (tree->link_count > 0) {
        return links_are_valid(problem, t, defect);
    }
    if (!is_stored(problem, tree->mass, (size_t)tree->width * tree->width)) {
        return defect_set(defect, "tree", t, "its mass is not stored");
    }
    return problem->factor == NULL || !tree->is_factored || factor_is_valid(problem, tree) ||
           defect_set(defect, "tree", t, "its factor is not its mass's");
}

static bool trees_are_valid(const ContactProblem *problem, Defect *defect) {
    uint32_t first = 0;
    for (uint32_t t = 0; t < problem->tree_count; t++) {
        if (!tree_is_valid(problem, t, first, defect)) {
            return false;
        }
        first += problem->tree[t].width;
    }
    return first == problem->velocity_count ||
           defect_set(defect, "tree", problem->tree_count, "there are velocities of no tree");
}

// ---- contacts

static bool frame_is_valid(const ProblemContact *contact) {
    const Vec3 n = contact->normal, *t = contact->tangent;
    return !is_off(vec3_dot(n, n), 1.0) && !is_off(vec3_dot(t[0], t[0]), 1.0) &&
           !is_off(vec3_dot(t[1], t[1]), 1.0) && !is_off(vec3_dot(n, t[0]), 0.0) &&
           !is_off(vec3_dot(n, t[1]), 0.0) && !is_off(vec3_dot(t[0], t[1]), 0.0);
}

static bool contact_is_valid(const ContactProblem *problem, uint32_t i, Defect *defect) {
    const ProblemContact *contact = &problem->contact[i];
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &contact->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (side->tree >= problem->tree_count) {
            return defect_set(defect, "contact", i, "a side is of a tree that does not exist");
        }
        const ProblemTree *tree = &problem->tree[side->tree];
        if (!tree->is_free && !is_stored(problem, side->jacobian, 3 * (size_t)tree->width)) {
            return defect_set(defect, "contact", i, "its Jacobian is not stored");
        }
    }
    if (!(contact->mu >= 0.0)) {
        return defect_set(defect, "contact", i, "its friction is negative");
    }
    return frame_is_valid(contact) ||
           defect_set(defect, "contact", i, "its frame is not of unit vectors at right angles");
}

// ---- rows

static bool row_is_valid(const ContactProblem *problem, uint32_t i, uint32_t block_first,
                         Defect *defect) {
    const ProblemRow *row = &problem->row[i];
    if (row->block_first != block_first ||
        row->block_count > problem->row_block_count - row->block_first) {
        return defect_set(defect, "row", i, "its blocks do not follow the last one's");
    }
    for (uint32_t b = row->block_first; b < row->block_first + row->block_count; b++) {
        const RowBlock *block = &problem->row_block[b];
        if (block->tree >= problem->tree_count) {
            return defect_set(defect, "row", i, "a block is of a tree that does not exist");
        }
        if (!is_stored(problem, block->jacobian, problem->tree[block->tree].width)) {
            return defect_set(defect, "row", i, "a block is not stored");
        }
    }
    return (row->low <= 0.0 && row->high >= 0.0) ||
           defect_set(defect, "row", i, "its bounds do not hold zero");
}

bool problem_is_valid(const ContactProblem *problem, Defect *defect) {
    if (!(problem->time_step > 0.0)) {
        return defect_set(defect, "problem", 0, "its time step is not positive");
    }
    bool is_valid = trees_are_valid(problem, defect);
    for (uint32_t i = 0; is_valid && i < problem->contact_count; i++) {
        is_valid = contact_is_valid(problem, i, defect);
    }
    uint32_t blocks = 0;
    for (uint32_t i = 0; is_valid && i < problem->row_count; i++) {
        is_valid = row_is_valid(problem, i, blocks, defect);
        blocks += problem->row[i].block_count;
    }
    return is_valid;
}
