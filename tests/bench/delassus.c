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
    double *wide = arena_take_array(scratch, mass.width_max, 3 * sizeof(*wide));
    if (wide == NULL) {
        bench_fail("memory ended");
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(&mass, i, wide);
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
}

Certificate delassus_judge(const ContactProblem *problem, const double *impulse, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    const Context alone = {0};
    SolveResult result = {0};
    Judge judge;
    bool is_done = judge_begin(&judge, problem, RELATION_CONE, TOLERANCE, false, &alone, scratch,
                               &result, NULL) == STATUS_OK &&
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
