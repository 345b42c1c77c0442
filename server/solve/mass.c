// SPDX-License-Identifier: MIT
#include "solve/mass.h"

#include "base/assert.h"
#include "solve/dense.h"

Status mass_init(ProblemMass *mass, const ContactProblem *problem, Arena *arena, Error *error) {
    size_t number_count = 0;
    uint32_t width_max = 1;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        number_count += tree->is_free ? 0 : (size_t)tree->width * tree->width;
        width_max = tree->width > width_max ? tree->width : width_max;
    }
    size_t *first = arena_take_array(arena, problem->tree_count, sizeof(*first));
    double *factor = arena_take_array(arena, number_count, sizeof(*factor));
    if (first == NULL || factor == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the mass matrix.");
    }
    size_t used = 0;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        first[i] = used;
        if (!tree->is_free) {
            bool definite =
                dense_factor(tree->width, problem->number + tree->mass, 0.0, factor + used);
            ASSERT(definite);
            used += (size_t)tree->width * tree->width;
        }
    }
    *mass = (ProblemMass){problem, first, factor, width_max};
    return STATUS_OK;
}

void mass_solve_tree(const ProblemMass *mass, uint32_t tree, double *numbers) {
    const ProblemTree *t = &mass->problem->tree[tree];
    if (!t->is_free) {
        dense_solve(t->width, mass->factor + mass->factor_first[tree], numbers);
        return;
    }
    const FreeMass *of = &mass->problem->free[tree];
    vec3_store(numbers, vec3_scale(of->inverse_mass, vec3_load(numbers)));
    vec3_store(numbers + 3, sym3_mul_vec(of->inverse_inertia, vec3_load(numbers + 3)));
}

void mass_multiply_tree(const ProblemMass *mass, uint32_t tree, const double *v, double *p) {
    const ProblemTree *t = &mass->problem->tree[tree];
    if (t->is_free) {
        const FreeMass *of = &mass->problem->free[tree];
        vec3_store(p, vec3_scale(of->mass, vec3_load(v)));
        vec3_store(p + 3, sym3_mul_vec(of->inertia, vec3_load(v + 3)));
        return;
    }
    const double *matrix = mass->problem->number + t->mass;
    for (size_t i = 0; i < t->width; i++) {
        double sum = 0.0;
        for (size_t j = 0; j < t->width; j++) {
            sum += matrix[i * t->width + j] * v[j];
        }
        p[i] = sum;
    }
}

void mass_solve(const ProblemMass *mass, double *numbers) {
    for (uint32_t i = 0; i < mass->problem->tree_count; i++) {
        mass_solve_tree(mass, i, numbers + mass->problem->tree[i].first);
    }
}

// F^T (E/m - R I^-1 R) F of one free body, R = skew(arm)
static void add_free_block(const FreeMass *of, const ProblemContact *contact, Vec3 arm,
                           double block[9]) {
    const Vec3 frame[3] = {contact->normal, contact->tangent[0], contact->tangent[1]};
    Vec3 turn[3], response[3];
    for (size_t k = 0; k < 3; k++) {
        turn[k] = vec3_cross(arm, frame[k]);
        response[k] = sym3_mul_vec(of->inverse_inertia, turn[k]);
    }
    for (size_t k = 0; k < 3; k++) {
        block[4 * k] += of->inverse_mass;
        for (size_t l = 0; l <= k; l++) {
            double value = vec3_dot(turn[k], response[l]);
            block[3 * k + l] += value;
            if (l < k) {
                block[3 * l + k] += value;
            }
        }
    }
}

// J M^-1 J^T of one dense tree
static void add_dense_block(const ProblemMass *mass, uint32_t tree, const double *jacobian,
                            double *scratch, double block[9]) {
    size_t width = mass->problem->tree[tree].width;
    for (size_t k = 0; k < 3; k++) {
        double *response = scratch + k * width;
        for (size_t i = 0; i < width; i++) {
            response[i] = jacobian[k * width + i];
        }
        mass_solve_tree(mass, tree, response);
    }
    for (size_t k = 0; k < 3; k++) {
        for (size_t l = 0; l <= k; l++) {
            double value = 0.0;
            for (size_t i = 0; i < width; i++) {
                value += jacobian[k * width + i] * scratch[l * width + i];
            }
            block[3 * k + l] += value;
            if (l < k) {
                block[3 * l + k] += value;
            }
        }
    }
}

void mass_contact_block(const ProblemMass *mass, uint32_t contact, double *scratch,
                        double block[9]) {
    const ContactProblem *problem = mass->problem;
    const ProblemContact *c = &problem->contact[contact];
    for (int k = 0; k < 9; k++) {
        block[k] = 0.0;
    }
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (side->tree == PROBLEM_NO_TREE) {
            continue;
        }
        if (problem->tree[side->tree].is_free) {
            add_free_block(&problem->free[side->tree], c, side->arm, block);
        } else {
            add_dense_block(mass, side->tree, problem->number + side->jacobian, scratch, block);
        }
    }
}

double mass_row_weight(const ProblemMass *mass, uint32_t row, double *scratch) {
    const ContactProblem *problem = mass->problem;
    const ProblemRow *r = &problem->row[row];
    double weight = 0.0;
    for (uint32_t b = 0; b < r->block_count; b++) {
        const RowBlock *block = &problem->row_block[r->block_first + b];
        const double *jacobian = problem->number + block->jacobian;
        uint32_t width = problem->tree[block->tree].width;
        for (uint32_t k = 0; k < width; k++) {
            scratch[k] = jacobian[k];
        }
        mass_solve_tree(mass, block->tree, scratch);
        for (uint32_t k = 0; k < width; k++) {
            weight += jacobian[k] * scratch[k];
        }
    }
    return weight;
}
