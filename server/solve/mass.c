// SPDX-License-Identifier: MIT
#include "solve/mass.h"

#include "base/assert.h"
#include "solve/dense.h"

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

static bool is_isotropic(const Sym3 *m) {
    return m->xx == m->yy && m->xx == m->zz && m->xy == 0.0 && m->xz == 0.0 && m->yz == 0.0;
}

// F^T (E/m + j (|arm|^2 E - arm arm^T)) F: what the product below comes to when I^-1 = j E
static void add_round_block(const FreeMass *of, const ProblemContact *contact, Vec3 arm,
                            double block[9]) {
    double j = of->inverse_inertia.xx;
    double n = vec3_dot(contact->normal, arm);
    double t = vec3_dot(contact->tangent[0], arm), o = vec3_dot(contact->tangent[1], arm);
    double nt = j * n * t, no = j * n * o, to = j * t * o;
    block[0] += of->inverse_mass + j * (t * t + o * o);
    block[4] += of->inverse_mass + j * (n * n + o * o);
    block[8] += of->inverse_mass + j * (n * n + t * t);
    block[1] -= nt;
    block[3] -= nt;
    block[2] -= no;
    block[6] -= no;
    block[5] -= to;
    block[7] -= to;
}

// F^T (E/m - R I^-1 R) F of one free body, R = skew(arm)
static void add_free_block(const FreeMass *of, const ProblemContact *contact, Vec3 arm,
                           double block[9]) {
    if (is_isotropic(&of->inverse_inertia)) {
        add_round_block(of, contact, arm, block);
        return;
    }
    Vec3 turn[3] = {vec3_cross(arm, contact->normal), vec3_cross(arm, contact->tangent[0]),
                    vec3_cross(arm, contact->tangent[1])};
    Vec3 n = sym3_mul_vec(of->inverse_inertia, turn[0]);
    Vec3 t = sym3_mul_vec(of->inverse_inertia, turn[1]);
    double nt = vec3_dot(n, turn[1]), no = vec3_dot(n, turn[2]), to = vec3_dot(t, turn[2]);
    Vec3 o = sym3_mul_vec(of->inverse_inertia, turn[2]);
    block[0] += of->inverse_mass + vec3_dot(n, turn[0]);
    block[4] += of->inverse_mass + vec3_dot(t, turn[1]);
    block[8] += of->inverse_mass + vec3_dot(o, turn[2]);
    block[1] += nt;
    block[3] += nt;
    block[2] += no;
    block[6] += no;
    block[5] += to;
    block[7] += to;
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

static void make_block(const ProblemMass *mass, uint32_t contact, double *scratch,
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
    double *block = arena_take_array(arena, problem->contact_count, 9 * sizeof(*block));
    double *scratch = arena_take_array(arena, width_max, 3 * sizeof(*scratch));
    if (first == NULL || factor == NULL || block == NULL || scratch == NULL) {
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
    *mass = (ProblemMass){problem, first, factor, width_max, block};
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        make_block(mass, i, scratch, block + 9 * (size_t)i);
    }
    return STATUS_OK;
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
