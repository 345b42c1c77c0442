// SPDX-License-Identifier: MIT
#include "support/harness.h"

#include "base/assert.h"
#include "base/hash.h"
#include "support/campaign.h"

#include <check.h>
#include <fnmatch.h>
#include <string.h>

// Enough for all but a few, which the list of misses names; no test waits for more.
#define ITERATIONS 3000.0
#define PIVOTS     5000.0

// ---- solvers

static void append(char *name, const char *word) {
    size_t used = strlen(name);
    snprintf(name + used, HARNESS_NAME_BYTES - used, " %s", word);
}

// The choice of number `number`, as digits: one for each parameter that is a choice, the last
// parameter's the fastest. False: there is no such number.
static bool make_variant(SolverKind kind, uint32_t number, HarnessVariant *variant) {
    const Solver *solver = solver_get(kind);
    *variant = (HarnessVariant){.settings = solver_solve_default(kind)};
    double *parameter = variant->settings.parameter;
    double most = kind == SOLVER_LCP ? PIVOTS : ITERATIONS;
    if (parameter[SOLVER_MAX_ITERATIONS] > most) {
        parameter[SOLVER_MAX_ITERATIONS] = most;
    }
    for (uint32_t i = solver->parameter_count; i-- > 0;) {
        const ParameterRow *row = &solver->parameters[i];
        if (row->kind == PARAMETER_CHOICE) {
            uint32_t choices = (uint32_t)row->maximum + 1;
            parameter[i] = number % choices;
            number /= choices;
        } else if (strcmp(row->name, "stiffness_default") == 0) {
            parameter[i] = row->default_value; // many of the files are of worlds without one
        }
    }
    snprintf(variant->name, sizeof(variant->name), "%s", solver->name);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const ParameterRow *row = &solver->parameters[i];
        if (row->kind == PARAMETER_CHOICE) {
            append(variant->name, row->choices[(uint32_t)parameter[i]]);
        }
    }
    return number == 0;
}

uint32_t harness_variants(HarnessVariant *variant) {
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < SOLVER_COUNT; kind++) {
        HarnessVariant next;
        for (uint32_t i = 0; make_variant((SolverKind)kind, i, &next); i++) {
            ASSERT(count < HARNESS_VARIANTS_MAX);
            variant[count++] = next;
        }
    }
    return count;
}

bool harness_is_spared(const HarnessProblem *problem, const HarnessVariant *variant) {
    return problem->size != HARNESS_SMALL && campaign_count(1) == 1 &&
           fnmatch("compliant * printed", variant->name, 0) == 0 &&
           strcmp(variant->name, "compliant predictive off printed") != 0;
}

// ---- a solve

void harness_run_init(HarnessRun *run, size_t bytes_max) {
    *run = (HarnessRun){0};
    arena_init(&run->arena, bytes_max);
}

void harness_run_deinit(HarnessRun *run) {
    arena_deinit(&run->arena);
}

Status harness_run(HarnessRun *run, const HarnessVariant *variant, const ContactProblem *problem,
                   const Context *context) {
    uint64_t before = harness_problem_hash(problem);
    arena_reset(&run->arena);
    memset(&run->result, 0, sizeof(run->result));
    error_clear(&run->error);
    run->status =
        solver_solve(&variant->settings, problem, context, &run->arena, &run->result, &run->error);
    ck_assert_msg(harness_problem_hash(problem) == before, "%s has changed the problem",
                  variant->name);
    return run->status;
}

// Both may be NULL: what a solver does not declare.
static bool is_same_array(const void *a, const void *b, size_t count, size_t size) {
    return a == b || (a != NULL && b != NULL && memcmp(a, b, count * size) == 0);
}

static bool is_same_certificate(const Certificate *a, const Certificate *b) {
    return is_same_array(a->entry, b->entry, CERTIFICATE_ENTRY_COUNT, sizeof(double)) &&
           is_same_array(a->velocity, b->velocity, CERTIFICATE_ENTRY_COUNT, sizeof(double)) &&
           is_same_array(&a->scale, &b->scale, 1, sizeof(double)) &&
           is_same_array(&a->penetration, &b->penetration, 1, sizeof(double)) &&
           a->worst_contact == b->worst_contact && a->worst_tree == b->worst_tree &&
           a->converged == b->converged && a->islands == b->islands &&
           a->islands_open == b->islands_open;
}

bool harness_is_same(const ContactProblem *problem, const SolveResult *a, const SolveResult *b) {
    const Answer *x = &a->answer, *y = &b->answer;
    size_t velocities = problem->velocity_count, contacts = problem->contact_count;
    return is_same_array(x->v, y->v, velocities, sizeof(double)) &&
           is_same_array(x->momentum, y->momentum, velocities, sizeof(double)) &&
           is_same_array(x->contact_impulse, y->contact_impulse, 3 * contacts, sizeof(double)) &&
           is_same_array(x->row_impulse, y->row_impulse, problem->row_count, sizeof(double)) &&
           is_same_array(x->contact, y->contact, contacts, sizeof(ContactRelation)) &&
           is_same_array(x->row, y->row, problem->row_count, sizeof(RowRelation)) &&
           is_same_array(a->residual, b->residual, contacts, sizeof(double)) &&
           a->iterations == b->iterations && a->passes == b->passes && a->rung == b->rung &&
           is_same_certificate(&a->certificate, &b->certificate);
}

// ---- what a problem says

static void add(Hash *hash, const void *bytes, size_t count, size_t size) {
    if (bytes != NULL && count > 0) {
        hash_add(hash, bytes, count * size);
    }
}

// Padding counts as well: nobody has anything to write there either.
uint64_t harness_problem_hash(const ContactProblem *p) {
    Hash hash;
    hash_init(&hash, 0);
    add(&hash, p, 1, sizeof(*p));
    add(&hash, p->tree, p->tree_count, sizeof(*p->tree));
    add(&hash, p->free, p->tree_count, sizeof(*p->free));
    add(&hash, p->link, p->link_count, sizeof(*p->link));
    add(&hash, p->v_free, p->velocity_count, sizeof(double));
    add(&hash, p->contact, p->contact_count, sizeof(*p->contact));
    add(&hash, p->law, p->contact_count, sizeof(*p->law));
    add(&hash, p->row, p->row_count, sizeof(*p->row));
    add(&hash, p->row_block, p->row_block_count, sizeof(*p->row_block));
    add(&hash, p->number, p->number_count, sizeof(double));
    add(&hash, p->warm_contact, p->contact_count, 3 * sizeof(double));
    add(&hash, p->warm_row, p->row_count, sizeof(double));
    return hash_value(&hash);
}
