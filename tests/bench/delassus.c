// SPDX-License-Identifier: MIT
#include "bench/delassus.h"

#include "bench/bench.h"
#include "solve/mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TOLERANCE 1e-6 // of what the certificate calls converged, which nobody reads here

static const double axes[3][3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

static ProblemMass make_mass(const ContactProblem *problem, Arena *scratch) {
    ProblemMass mass;
    if (mass_init(&mass, problem, scratch, NULL) != STATUS_OK) {
        bench_fail("memory ended");
    }
    mass_add_contacts(&mass, 0, problem->contact_count);
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

static void move(const ContactProblem *problem, const ProblemMass *mass, Answer *answer) {
    certificate_momentum_begin(problem, answer);
    certificate_momentum_add(problem, 0, problem->contact_count, answer);
    certificate_momentum_end(problem, answer);
    memcpy(answer->v, answer->momentum, problem->velocity_count * sizeof(*answer->v));
    mass_solve(mass, answer->v);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        answer->v[i] += problem->v_free[i];
    }
}

static void measure(const ContactProblem *problem, const ProblemMass *mass, const Answer *answer,
                    Arena *scratch, Certificate *certificate) {
    CertificateScale scale;
    if (certificate_scale_begin(problem, scratch, &scale, NULL) != STATUS_OK) {
        bench_fail("memory ended");
    }
    certificate_scale_add(problem, answer, 0, problem->contact_count, &scale);
    certificate_scale_end(problem, answer, &scale);
    if (certificate_measure(problem, mass, &scale, answer, TOLERANCE, scratch, NULL, certificate,
                            NULL) != STATUS_OK) {
        bench_fail("memory ended");
    }
}

Certificate delassus_judge(const ContactProblem *problem, const double *impulse, Arena *scratch) {
    ArenaMark mark = arena_mark(scratch);
    size_t contacts = problem->contact_count;
    ProblemMass mass = make_mass(problem, scratch);
    Answer answer = {.relation = RELATION_CONE,
                     .v = bench_memory(problem->velocity_count, sizeof(double)),
                     .momentum = bench_memory(problem->velocity_count, sizeof(double)),
                     .contact_impulse = bench_memory(3 * contacts, sizeof(double)),
                     .contact = bench_memory(contacts, sizeof(ContactRelation))};
    memcpy(answer.contact_impulse, impulse, 3 * contacts * sizeof(double));
    for (uint32_t i = 0; i < contacts; i++) {
        answer.contact[i] = (ContactRelation){.bias = problem->contact[i].bias, .s = 1.0};
    }
    Certificate certificate;
    move(problem, &mass, &answer);
    measure(problem, &mass, &answer, scratch, &certificate);
    free(answer.v);
    free(answer.momentum);
    free(answer.contact_impulse);
    free(answer.contact);
    arena_reset_to(scratch, mark);
    return certificate;
}
