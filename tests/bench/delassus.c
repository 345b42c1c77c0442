// SPDX-License-Identifier: MIT
#include "bench/delassus.h"

#include "bench/bench.h"
#include "solve/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6 // of what the certificate calls converged, which nobody reads here

static const double axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static ProblemMass make_mass(const ContactProblem *problem, Arena *scratch) {
    ProblemMass mass;
    if (mass_init(&mass, problem, NULL, scratch, NULL) != STATUS_OK) {
        bench_fail("memory ended");
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(&mass, i);
    }
    return mass;
}

static bool touches(const ProblemContact *contact, uint32_t tree) {
    return tree != PROBLEM_NO_TREE &&
           (contact->side[0].tree == tree || contact->side[1].tree == tree);
}

// Column by column of a contact's J^T, spread over the two trees it touches; `dv` is left at zero.
static void fill_block(const ProblemMass *mass, uint32_t row, uint32_t column, double *dv,
                       double number[9]) {
    const ContactProblem *problem = mass->problem;
    const ContactSide *side = problem->contact[column].side;
    for (int k = 0; k < 3; k++) {
        problem_contact_momentum(problem, column, axes[k], dv);
        for (int s = 0; s < 2; s++) {
            if (side[s].tree != PROBLEM_NO_TREE) {
                mass_solve_tree(mass, side[s].tree, dv + problem_first(problem, side[s].tree));
            }
        }
        double u[3];
        problem_contact_product(problem, row, dv, u);
        for (int j = 0; j < 3; j++) {
            number[3 * j + k] = u[j];
        }
        for (int s = 0; s < 2; s++) {
            if (side[s].tree != PROBLEM_NO_TREE) {
                memset(dv + problem_first(problem, side[s].tree), 0,
                       problem->tree[side[s].tree].width * sizeof(*dv));
            }
        }
    }
}

// In order; without `block` it only counts. Every pair is looked at, which a bench can afford.
static uint64_t walk_blocks(const ProblemMass *mass, double *dv, ContactPeerBlock *block) {
    const ContactProblem *problem = mass->problem;
    uint64_t count = 0;
    for (uint32_t row = 0; row < problem->contact_count; row++) {
        const ContactSide *side = problem->contact[row].side;
        for (uint32_t column = 0; column < problem->contact_count; column++) {
            const ProblemContact *other = &problem->contact[column];
            if (!touches(other, side[0].tree) && !touches(other, side[1].tree)) {
                continue;
            }
            if (block != NULL) {
                block[count] = (ContactPeerBlock){.row = row, .column = column};
                fill_block(mass, row, column, dv, block[count].number);
            }
            count++;
        }
    }
    return count;
}

// Entries of M, tree by tree; without `entry` it only counts.
static uint64_t walk_mass(const ProblemMass *mass, double *matrix, ContactPeerEntry *entry) {
    const ContactProblem *problem = mass->problem;
    uint64_t count = 0;
    for (uint32_t tree = 0; tree < problem->tree_count; tree++) {
        size_t width = problem->tree[tree].width, first = problem_first(problem, tree);
        mass_tree_matrix(mass, tree, matrix);
        for (size_t k = 0; k < width * width; k++) {
            if (matrix[k] != 0.0 && entry != NULL) {
                entry[count] = (ContactPeerEntry){first + k / width, first + k % width, matrix[k]};
            }
            count += matrix[k] != 0.0;
        }
    }
    return count;
}

// What a contact makes of one unit velocity.
static uint64_t walk_column(const ContactProblem *problem, uint32_t contact, size_t column,
                            double *unit, ContactPeerEntry *entry) {
    double u[3];
    uint64_t count = 0;
    unit[column] = 1.0;
    problem_contact_product(problem, contact, unit, u);
    unit[column] = 0.0;
    for (uint64_t r = 0; r < 3; r++) {
        if (u[r] != 0.0 && entry != NULL) {
            entry[count] = (ContactPeerEntry){3 * (uint64_t)contact + r, column, u[r]};
        }
        count += u[r] != 0.0;
    }
    return count;
}

// Entries of J; `unit` is zero, and left so.
static uint64_t walk_jacobian(const ContactProblem *problem, double *unit,
                              ContactPeerEntry *entry) {
    uint64_t count = 0;
    for (uint32_t contact = 0; contact < problem->contact_count; contact++) {
        for (int s = 0; s < 2; s++) {
            uint32_t tree = problem->contact[contact].side[s].tree;
            size_t first = tree == PROBLEM_NO_TREE ? 0 : problem_first(problem, tree);
            size_t width = tree == PROBLEM_NO_TREE ? 0 : problem->tree[tree].width;
            for (size_t k = first; k < first + width; k++) {
                count +=
                    walk_column(problem, contact, k, unit, entry == NULL ? NULL : entry + count);
            }
        }
    }
    return count;
}

static void add_velocities(const ProblemMass *mass, double *zero, Delassus *delassus,
                           Arena *scratch) {
    const ContactProblem *problem = mass->problem;
    double *matrix =
        arena_take_array(scratch, (size_t)mass->width_max * mass->width_max, sizeof(*matrix));
    if (matrix == NULL) {
        bench_fail("memory ended");
    }
    delassus->velocity_count = problem->velocity_count;
    delassus->v_free = bench_memory(problem->velocity_count, sizeof(double));
    memcpy(delassus->v_free, problem->v_free, problem->velocity_count * sizeof(double));
    delassus->mass_count = walk_mass(mass, matrix, NULL);
    delassus->mass = bench_memory(delassus->mass_count, sizeof(*delassus->mass));
    walk_mass(mass, matrix, delassus->mass);
    delassus->jacobian_count = walk_jacobian(problem, zero, NULL);
    delassus->jacobian = bench_memory(delassus->jacobian_count, sizeof(*delassus->jacobian));
    walk_jacobian(problem, zero, delassus->jacobian);
}

Delassus delassus_make(const ContactProblem *problem, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    ProblemMass mass = make_mass(problem, scratch);
    double *dv = arena_take_zeroed(scratch, problem->velocity_count, sizeof(*dv));
    if (dv == NULL) {
        bench_fail("memory ended");
    }
    uint64_t count = walk_blocks(&mass, dv, NULL);
    Delassus delassus = {.mu = bench_memory(problem->contact_count, sizeof(double)),
                         .q = bench_memory(3 * (size_t)problem->contact_count, sizeof(double)),
                         .block = bench_memory(count, sizeof(ContactPeerBlock)),
                         .block_count = count};
    walk_blocks(&mass, dv, delassus.block);
    add_velocities(&mass, dv, &delassus, scratch);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        double *q = delassus.q + 3 * (size_t)i;
        problem_contact_velocity(problem, i, problem->v_free, q);
        q[0] += problem->contact[i].bias;
        delassus.mu[i] = problem->contact[i].mu;
    }
    arena_reset_to(scratch, mark);
    return delassus;
}

void delassus_free(Delassus *delassus) {
    free(delassus->mu);
    free(delassus->q);
    free(delassus->block);
    free(delassus->v_free);
    free(delassus->mass);
    free(delassus->jacobian);
}

// Of every contact what it is under the relaxation: its bias, and a cone that s leaves as it is.
static bool declare_relaxed(const ContactProblem *problem, SolveResult *result, Arena *scratch) {
    ContactRelation *relation =
        arena_take_zeroed(scratch, problem->contact_count, sizeof(*relation));
    for (uint32_t i = 0; relation != NULL && i < problem->contact_count; i++) {
        relation[i].bias = problem->contact[i].bias;
    }
    result->answer.contact = relation;
    return relation != NULL;
}

Certificate delassus_judge(const ContactProblem *problem, const double *impulse, bool is_relaxed,
                           Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const Context alone = {0};
    SolveResult result = {0};
    Judge judge;
    bool is_done = judge_begin(&judge, problem, RELATION_CONE, TOLERANCE, false, &alone, scratch,
                               &result, NULL) == STATUS_OK &&
                   (!is_relaxed || declare_relaxed(problem, &result, scratch)) &&
                   judge_survey(&judge, NULL, NULL) == STATUS_OK;
    if (is_done) {
        memcpy(result.answer.contact_impulse, impulse,
               3 * (size_t)problem->contact_count * sizeof(*impulse));
    }
    for (uint32_t i = 0; is_done && i < judge.islands.share_count; i += judge_pieces(&judge, i)) {
        const IslandShare *share = &judge.islands.share[i];
        if (share->is_piece) {
            is_done = judge_large(&judge, i) == STATUS_OK;
        } else {
            judge_islands(&judge, i, share->island_begin, share->island_end);
        }
    }
    if (!is_done || judge_end(&judge) != STATUS_OK) {
        bench_fail("memory ended");
    }
    arena_reset_to(scratch, mark);
    return result.certificate;
}
