// SPDX-License-Identifier: MIT
#include "solve/mass.h"

#include "base/assert.h"
#include "solve/dense/dense.h"
#include "solve/dense/columns.h"

#include <math.h>
#include <string.h>

#define SIMD_COUNT 4
#include "solve/mass_simd.h"

static const MassLink *links_of(const ProblemMass *mass, uint32_t tree) {
    return mass->link + mass->problem->tree[tree].mass;
}

void mass_dense_solve(const ProblemMass *mass, uint32_t tree, double *numbers) {
    VALIDATE(tree < mass->problem->tree_count);
    VALIDATE(!problem_is_free(mass->problem, tree));
    const ProblemTree *t = &mass->problem->tree[tree];
    const double *factor = mass->factor[tree];
    if (t->link_count > 0) {
        mass_links_solve(mass->problem, tree, links_of(mass, tree), factor, numbers);
    } else {
        dense_solve(t->width, factor, numbers);
    }
}

void mass_dense_multiply(const ProblemMass *mass, uint32_t tree, const double *v, double *p) {
    VALIDATE(tree < mass->problem->tree_count);
    VALIDATE(!problem_is_free(mass->problem, tree));
    const ProblemTree *t = &mass->problem->tree[tree];
    if (t->link_count > 0) {
        mass_links_multiply(mass->problem, tree, links_of(mass, tree), mass->factor[tree], v, p);
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

void mass_tree_matrix(const ProblemMass *mass, uint32_t tree, double *matrix) {
    ASSERT(tree < mass->problem->tree_count);
    const ProblemTree *t = &mass->problem->tree[tree];
    if (t->link_count > 0) {
        mass_links_matrix(mass->problem, tree, links_of(mass, tree), mass->factor[tree], matrix);
        return;
    }
    if (!problem_is_free(mass->problem, tree)) {
        memcpy(matrix, mass->problem->number + t->mass,
               (size_t)t->width * t->width * sizeof(double));
        return;
    }
    const FreeMass *of = &mass->problem->free[tree];
    const Sym3 *i = &of->inertia;
    const double number[36] = {
        of->mass, 0.0, 0.0,      0.0,   0.0,   0.0,   0.0, of->mass, 0.0, 0.0,   0.0,   0.0,
        0.0,      0.0, of->mass, 0.0,   0.0,   0.0,   0.0, 0.0,      0.0, i->xx, i->xy, i->xz,
        0.0,      0.0, 0.0,      i->xy, i->yy, i->yz, 0.0, 0.0,      0.0, i->xz, i->yz, i->zz};
    memcpy(matrix, number, sizeof(number));
}

void mass_solve(const ProblemMass *mass, double *numbers) {
    ASSERT(mass->problem->tree_count == 0 || numbers != NULL);
    for (uint32_t i = 0; i < mass->problem->tree_count; i++) {
        mass_solve_tree(mass, i, numbers + problem_first(mass->problem, i));
    }
}

static void add_free_block(const FreeMass *of, const ProblemContact *contact, Vec3 arm,
                           MassBlock *block) {
    MassLanes lanes = {{block->nn, block->tt, block->oo, 0.0},
                       {block->nt, block->no, block->to, 0.0}};
    add_free_side(of, frame_of(contact), arm, &lanes);
    *block = block_of(lanes);
}

static void respond(const ProblemMass *mass, uint32_t tree, const double *jacobian,
                    double *response) {
    const ProblemTree *t = &mass->problem->tree[tree];
    if (t->link_count == 0) {
        DenseColumn column[3];
        for (size_t k = 0; k < 3; k++) {
            column[k].from = jacobian + k * t->width;
            column[k].to = response + k * t->width;
        }
        dense_solve_columns(t->width, mass->factor[tree], column, 3);
        return;
    }
    memcpy(response, jacobian, 3 * (size_t)t->width * sizeof(double));
    for (size_t k = 0; k < 3; k++) {
        mass_solve_tree(mass, tree, response + k * t->width);
    }
}

// J M^-1 J^T of one dense tree
static void add_dense_block(const ProblemMass *mass, uint32_t tree, const double *jacobian,
                            double *response, MassBlock *block) {
    size_t width = mass->problem->tree[tree].width;
    const double *n = jacobian, *t = n + width, *o = t + width;
    const double *of_n = response, *of_t = of_n + width, *of_o = of_t + width;
    respond(mass, tree, jacobian, response);
    block->nn += dense_product(n, of_n, width);
    block->nt += dense_product(t, of_n, width);
    block->no += dense_product(o, of_n, width);
    block->tt += dense_product(t, of_t, width);
    block->to += dense_product(o, of_t, width);
    block->oo += dense_product(o, of_o, width);
}

static bool has_response(const ContactProblem *problem, const ContactSide *side) {
    return side->tree != PROBLEM_NO_TREE && !problem_is_free(problem, side->tree);
}

const double *mass_response(const ProblemMass *mass, uint32_t contact, int side) {
    ASSERT(contact < mass->problem->contact_count);
    ASSERT(side == 0 || side == 1);
    const ContactProblem *problem = mass->problem;
    const ContactSide *sides = problem->contact[contact].side;
    const bool is_behind = side == 1 && has_response(problem, &sides[0]);
    ASSERT(has_response(problem, &sides[side]));
    return mass->response + mass->response_first[contact] +
           (is_behind ? 3 * (size_t)problem->tree[sides[0].tree].width : 0);
}

static MassBlock make_block(const ProblemMass *mass, uint32_t contact) {
    const ContactProblem *problem = mass->problem;
    const ProblemContact *c = &problem->contact[contact];
    double *response = problem->all_free ? NULL : mass->response + mass->response_first[contact];
    MassBlock block = {0};
    for (int s = 0; s < 2; s++) {
        const ContactSide *side = &c->side[s];
        if (has_response(problem, side)) {
            add_dense_block(mass, side->tree, problem->number + side->jacobian, response, &block);
            response += 3 * (size_t)problem->tree[side->tree].width;
        } else if (side->tree != PROBLEM_NO_TREE) {
            add_free_block(&problem->free[side->tree], c, side->arm, &block);
        }
    }
    return block;
}

// ---- factors

enum { TREES = 8 }; // of a block of work

typedef struct Factors {
    const ContactProblem *problem;
    const size_t *first; // per tree: where its factor is made
    double *number;
    const double **of_tree; // Nullable: where each is to be found
    MassLink *link;
    bool *is_definite; // per block: all of its trees
} Factors;

// The problem's own factor, where its pivots are certainly positive. Nullable.
static const double *given_factor(const ContactProblem *problem, const ProblemTree *tree) {
    if (problem->factor == NULL || !tree->is_factored) {
        return NULL;
    }
    const double *factor = problem->factor + tree->mass;
    for (size_t i = 0; i < tree->width; i++) {
        const double inverse = factor[i * tree->width + i];
        if (!(inverse > 0.0 && inverse < HUGE_VAL)) {
            return NULL;
        }
    }
    return factor;
}

static bool factor_tree(const Factors *factors, uint32_t i) {
    const ProblemTree *tree = &factors->problem->tree[i];
    double *number = factors->number + factors->first[i];
    const double *given = given_factor(factors->problem, tree);
    if (factors->of_tree != NULL) {
        factors->of_tree[i] = given == NULL ? number : given;
    }
    if (given != NULL) {
        return true;
    }
    if (tree->link_count > 0) {
        return mass_links_factor(factors->problem, i, 0.0, factors->link + tree->mass, number);
    }
    return tree->is_free ||
           dense_factor(tree->width, factors->problem->number + tree->mass, 0.0, number);
}

static void factor_trees(void *work, uint32_t block) {
    const Factors *factors = work;
    uint32_t count = factors->problem->tree_count;
    factors->is_definite[block] = true;
    for (uint32_t i = block * TREES; i < count && i < (block + 1) * TREES; i++) {
        factors->is_definite[block] = factor_tree(factors, i) && factors->is_definite[block];
    }
}

// where each factor begins; returns how many numbers there are
static size_t lay_out(const ContactProblem *problem, size_t *first, uint32_t *width_max) {
    size_t used = 0;
    for (uint32_t i = 0; i < problem->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[i];
        first[i] = used;
        used += tree->is_free          ? 0
                : tree->link_count > 0 ? mass_links_numbers(problem, i)
                                       : (size_t)tree->width * tree->width;
        *width_max = tree->width > *width_max ? tree->width : *width_max;
    }
    return used;
}

// Where the responses of each contact begin; returns how many numbers there are.
static size_t lay_out_responses(const ContactProblem *problem, size_t *first) {
    size_t used = 0;
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        first[i] = used;
        for (int s = 0; s < 2; s++) {
            const ContactSide *side = &problem->contact[i].side[s];
            used += has_response(problem, side) ? 3 * (size_t)problem->tree[side->tree].width : 0;
        }
    }
    return used;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the mass matrix.");
}

// Room for the factors, where `first` says. false: the arena ends.
static bool open_factors(const ContactProblem *problem, size_t numbers, const size_t *first,
                         Arena *arena, Factors *factors) {
    const uint32_t blocks = tasks_blocks(problem->tree_count, TREES);
    *factors = (Factors){.problem = problem,
                         .first = first,
                         .number = arena_take_array(arena, numbers, sizeof(double)),
                         .link = arena_take_array(arena, problem->link_count, sizeof(MassLink)),
                         .is_definite = arena_take_array(arena, blocks, sizeof(bool))};
    return factors->number != NULL && factors->link != NULL && factors->is_definite != NULL;
}

uint32_t mass_find_indefinite(const ContactProblem *problem, Arena *arena) {
    ASSERT(problem->tree != NULL || problem->tree_count == 0);
    const ArenaMark mark = arena_mark(arena);
    size_t *first = arena_take_array(arena, problem->tree_count, sizeof(*first));
    uint32_t width_max = 0, tree = problem->tree_count;
    Factors factors;
    if (first != NULL &&
        open_factors(problem, lay_out(problem, first, &width_max), first, arena, &factors)) {
        tree = 0;
        while (tree < problem->tree_count && factor_tree(&factors, tree)) {
            tree++;
        }
    }
    arena_reset_to(arena, mark);
    return tree;
}

static Status factor_all(ProblemMass *mass, Factors *factors, const Tasks *tasks, Error *error) {
    const uint32_t blocks = tasks_blocks(factors->problem->tree_count, TREES);
    tasks_run(tasks, factor_trees, factors, blocks);
    for (uint32_t block = 0; block < blocks; block++) {
        if (!factors->is_definite[block]) {
            return error_set(error, STATUS_FAILED_PRECONDITION, NULL,
                             "The mass of one of the trees from %u on is not positive definite.",
                             block * TREES);
        }
    }
    mass->factor = factors->of_tree;
    mass->link = factors->link;
    return STATUS_OK;
}

Status mass_init(ProblemMass *mass, const ContactProblem *problem, const Tasks *tasks, Arena *arena,
                 Error *error) {
    ASSERT(problem->tree_count == 0 || problem->tree != NULL);
    *mass =
        (ProblemMass){.problem = problem,
                      .width_max = problem->tree_count > 0 ? 6 : 1,
                      .block = arena_take_array(arena, problem->contact_count, sizeof(MassBlock)),
                      .row_weight = arena_take_array(arena, problem->row_count, sizeof(double))};
    if (mass->block == NULL || mass->row_weight == NULL) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        mass->row_weight[i] = -1.0;
    }
    if (problem->all_free) {
        return STATUS_OK;
    }
    size_t *first = arena_take_array(arena, problem->tree_count, sizeof(*first));
    const double **of_tree = arena_take_array(arena, problem->tree_count, sizeof(*of_tree));
    mass->response_first = arena_take_array(arena, problem->contact_count, sizeof(*first));
    if (first == NULL || of_tree == NULL || mass->response_first == NULL) {
        return no_memory(error);
    }
    mass->response = arena_take_array(arena, lay_out_responses(problem, mass->response_first),
                                      sizeof(*mass->response));
    Factors factors;
    const bool has_room =
        open_factors(problem, lay_out(problem, first, &mass->width_max), first, arena, &factors);
    factors.of_tree = of_tree;
    return has_room && mass->response != NULL ? factor_all(mass, &factors, tasks, error)
                                              : no_memory(error);
}

void mass_add_contacts(const ProblemMass *mass, const uint32_t *contact, uint32_t count) {
    ASSERT(count == 0 || contact != NULL);
    if (!mass->problem->all_free) {
        for (uint32_t i = 0; i < count; i++) {
            mass->block[contact[i]] = make_block(mass, contact[i]);
        }
        return;
    }
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2")) {
        mass_add_free_avx2(mass, contact, count);
        return;
    }
#endif
    add_free_contacts(mass, contact, count);
}
