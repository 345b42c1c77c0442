// SPDX-License-Identifier: MIT
// The mass matrix of a contact problem, ready to be applied both ways: M p and M^-1 p per tree, the
// blocks A_ii = J_i M^-1 J_i^T of single contacts, w_j = G_j M^-1 G_j^T of single rows. Dense
// blocks are factored once (solve/dense, in the arena), where whoever built the problem has not
// done it; trees of links likewise, link by link (mass_links.h); free bodies carry their inverse
// already. The blocks A_ii, and of dense trees M^-1 J^T, are made once, as solver and certificate
// both need them; so are weights w_j.
#pragma once

#include "base/arena.h"
#include "base/tasks.h"
#include "solve/mass_links.h"

// A symmetric block A_ii of a contact: normal, tangent, tangent.
typedef struct MassBlock {
    double nn, nt, no, tt, to, oo;
} MassBlock;

typedef struct ProblemMass {
    const ContactProblem *problem; // borrowed
    const double **factor;         // per tree: of its dense block (solve/dense), which may be the
        // problem's; of links as mass_links.h has it; of free trees nothing
    const MassLink *link; // [link_count] of all trees of links
    uint32_t width_max;
    MassBlock *block;   // [contact_count] A_ii
    double *row_weight; // [row_count] w_j; below 0: of a row that nobody has asked for
    // M^-1 J^T of the sides that are not free bodies: width numbers for each row of their Jacobian
    double *response;
    size_t *response_first; // per contact: of its first such side; NULL: all are free
} ProblemMass;

// All but the blocks A_ii. Status RESOURCE_EXHAUSTED when the arena ends; FAILED_PRECONDITION where
// the mass of a tree is not positive definite, which problem_check would have refused, but a step
// only finds out here: of bodies whose masses differ by more than rounding bears. `tasks` is
// Nullable.
Status mass_init(ProblemMass *mass, const ContactProblem *problem, const Tasks *tasks, Arena *arena,
                 Error *error);

// The first tree whose mass is not positive definite; tree_count: none, or the arena ends.
uint32_t mass_find_indefinite(const ContactProblem *problem, Arena *arena);

// The blocks A_ii of some contacts, with their responses. Before all are made, `mass` is good for
// those that are.
void mass_add_contacts(const ProblemMass *mass, const uint32_t *contact, uint32_t count);

static inline void mass_add_contact(const ProblemMass *mass, uint32_t contact) {
    mass_add_contacts(mass, &contact, 1);
}

// The same where all trees are free, for machines with AVX2 only.
void mass_add_free_avx2(const ProblemMass *mass, const uint32_t *contact, uint32_t count);

// M^-1 J^T of a side that is no free body, once the contact's block is made; as the Jacobian is.
const double *mass_response(const ProblemMass *mass, uint32_t contact, int side);

// Of a tree that is not free: p := M^-1 p in place, and p := M v.
void mass_dense_solve(const ProblemMass *mass, uint32_t tree, double *numbers);
void mass_dense_multiply(const ProblemMass *mass, uint32_t tree, const double *v, double *p);

// The mass block of a tree, width x width, row by row.
void mass_tree_matrix(const ProblemMass *mass, uint32_t tree, double *matrix);

// in place, for one tree: p := M^-1 p (`numbers` are its width numbers)
static inline void mass_solve_tree(const ProblemMass *mass, uint32_t tree, double *numbers) {
    if (!problem_is_free(mass->problem, tree)) {
        mass_dense_solve(mass, tree, numbers);
        return;
    }
    const FreeMass *of = &mass->problem->free[tree];
    vec3_store(numbers, vec3_scale(of->inverse_mass, vec3_load(numbers)));
    vec3_store(numbers + 3, sym3_mul_vec(of->inverse_inertia, vec3_load(numbers + 3)));
}

// in place, all trees
void mass_solve(const ProblemMass *mass, double *numbers);

// A_ii = J_i M^-1 J_i^T
static inline const MassBlock *mass_contact_block(const ProblemMass *mass, uint32_t contact) {
    return &mass->block[contact];
}

// w_i, the mean of the diagonal
static inline double mass_block_weight(const MassBlock *block) {
    return (block->nn + block->tt + block->oo) / 3.0;
}

// w_j, made when it is asked for first, by whoever works at the row's island; `scratch` holds
// width_max numbers
double mass_row_weight(const ProblemMass *mass, uint32_t row, double *scratch);

// The same from the responses that whoever packs a row has: the sum of what each block comes to.
void mass_keep_row_weight(const ProblemMass *mass, uint32_t row, double weight);

// Of one block of a row: M^-1 G^T, as many numbers as the tree is wide.
typedef struct MassResponse {
    const double *number; // NULL: the tree is not dense, and nobody has asked for it yet
    double square;        // G M^-1 G^T, as w_j has it
} MassResponse;

// Those of some rows' blocks of dense trees, several at a time, at their places of all that the
// problem has. false: the arena ends.
bool mass_respond_rows(const ProblemMass *mass, const uint32_t *row, uint32_t count,
                       MassResponse *of_block, Arena *arena);
