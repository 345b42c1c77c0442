// SPDX-License-Identifier: MIT
#include "solve/opinion.h"

#include "base/assert.h"
#include "solve/island.h"
#include "solve/mdp/mdp.h"

#include <math.h>
#include <string.h>

// Sweeps of an island that Newton's method is too dear for: a bound on the work, which a group's
// calls may have to wait for.
#define ITERATIONS_MAX 2000.0

// ---- keeping

// Arrays, one behind the other; without memory it only counts.
typedef struct Shelf {
    unsigned char *memory; // NULL: counts
    size_t used;
} Shelf;

static size_t reserve(Shelf *shelf, size_t count, size_t size) {
    enum { ALIGNMENT = 16 };
    const size_t at = shelf->used;
    shelf->used += (count * size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
    return at;
}

static void *put(Shelf *shelf, const void *from, size_t count, size_t size) {
    const size_t at = reserve(shelf, count, size);
    const bool is_counted = shelf->memory == NULL || from == NULL || count == 0;
    return is_counted ? NULL : memcpy(shelf->memory + at, from, count * size);
}

// What of the problem does not depend on the answer.
static ContactProblem put_problem(Shelf *shelf, const ContactProblem *problem) {
    ContactProblem kept = *problem;
    kept.factor = NULL;
    const size_t trees = problem->tree_count, contacts = problem->contact_count;
    kept.tree = put(shelf, problem->tree, trees, sizeof(*problem->tree));
    kept.free =
        put(shelf, problem->free, problem->free == NULL ? 0 : trees, sizeof(*problem->free));
    kept.link = put(shelf, problem->link, problem->link == NULL ? 0 : problem->link_count,
                    sizeof(*problem->link));
    kept.v_free = put(shelf, problem->v_free, problem->velocity_count, sizeof(double));
    kept.law = put(shelf, problem->law, contacts, sizeof(*problem->law));
    kept.row_block =
        put(shelf, problem->row_block, problem->row_block_count, sizeof(*problem->row_block));
    kept.number = put(shelf, problem->number, problem->number_count, sizeof(double));
    kept.contact = put(shelf, problem->contact, contacts, sizeof(*problem->contact));
    kept.row = put(shelf, problem->row, problem->row_count, sizeof(*problem->row));
    return kept;
}

size_t opinion_bytes(const ContactProblem *problem) {
    Shelf shelf = {0};
    put_problem(&shelf, problem);
    reserve(&shelf, problem->velocity_count, sizeof(double));
    reserve(&shelf, 3 * (size_t)problem->contact_count, sizeof(double));
    reserve(&shelf, problem->row_count, sizeof(double));
    return shelf.used;
}

// What a soft contact asked for, as the bias of one that is rigid.
static void soften_contacts(ProblemContact *contact, uint32_t count, const Answer *answer) {
    for (uint32_t i = 0; answer->contact != NULL && i < count; i++) {
        const ContactRelation *relation = &answer->contact[i];
        contact[i].bias = relation->bias;
        if (relation->normal_compliance > 0.0) {
            contact[i].bias += relation->normal_compliance * answer->contact_impulse[3 * (size_t)i];
            contact[i].bias -= relation->shift;
        }
    }
}

static void soften_rows(ProblemRow *row, uint32_t count, const Answer *answer) {
    ASSERT(count == 0 || (answer->row != NULL && answer->row_impulse != NULL));
    for (uint32_t i = 0; i < count; i++) {
        const RowRelation *relation = &answer->row[i];
        const double own = row[i].has_compliance ? row[i].compliance : 0.0;
        row[i].bias = relation->bias + (relation->compliance - own) * answer->row_impulse[i];
    }
}

void opinion_keep(OpinionCase *kept, const ContactProblem *problem, const SolveResult *result,
                  void *memory) {
    ASSERT((uintptr_t)memory % 16 == 0);
    ASSERT(!problem->all_free || problem->velocity_count == 6 * (size_t)problem->tree_count);
    ASSERT(result->answer.v != NULL || problem->velocity_count == 0);
    ASSERT(memory != NULL);
    const Answer *answer = &result->answer;
    Shelf shelf = {.memory = memory};
    *kept = (OpinionCase){.problem = put_problem(&shelf, problem),
                          .e_ds = result->certificate.entry[CERTIFICATE_DS],
                          .converged = result->certificate.converged};
    const size_t contacts = problem->contact_count;
    kept->v = put(&shelf, answer->v, problem->velocity_count, sizeof(double));
    kept->problem.warm_contact = put(&shelf, answer->contact_impulse, 3 * contacts, sizeof(double));
    kept->problem.warm_row = put(&shelf, answer->row_impulse, problem->row_count, sizeof(double));
    soften_contacts((ProblemContact *)kept->problem.contact, problem->contact_count, answer);
    soften_rows((ProblemRow *)kept->problem.row, problem->row_count, answer);
    ASSERT(shelf.used == opinion_bytes(problem));
}

// ---- judging

typedef struct Comparison {
    const ContactProblem *problem;
    const Answer *exact;
    Islands islands;
    double *apart; // [velocity_count] v - v'
} Comparison;

// NaN stays.
static double larger(double a, double b) {
    return a > b ? a : b;
}

static double gap_of_island(const Comparison *of, uint32_t island) {
    ASSERT(island < of->islands.count);
    const ContactProblem *problem = of->problem;
    const IslandRange range = islands_range(&of->islands, island, island + 1);
    double scale = certificate_scale_contacts(problem, &of->islands, of->exact, range.contact_begin,
                                              range.contact_end, certificate_scale_least(problem));
    scale = certificate_scale_rows(problem, &of->islands, of->exact, range.row_begin, range.row_end,
                                   scale);
    double most = 0.0;
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        double u[3];
        problem_contact_product(problem, of->islands.contact[i], of->apart, u);
        most = larger(sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]), most);
    }
    for (uint32_t i = range.row_begin; i < range.row_end; i++) {
        most = larger(fabs(problem_row_product(problem, of->islands.row[i], of->apart)), most);
    }
    return most / scale;
}

static Status compare(const OpinionCase *kept, const Answer *exact, Arena *scratch, double *gap,
                      Error *error) {
    Comparison of = {.problem = &kept->problem, .exact = exact};
    Status status = islands_find(of.problem, NULL, scratch, &of.islands, error);
    if (status != STATUS_OK) {
        return status;
    }
    of.apart = arena_take_array(scratch, of.problem->velocity_count, sizeof(double));
    if (of.apart == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while two answers were compared.");
    }
    for (uint32_t i = 0; i < of.problem->velocity_count; i++) {
        of.apart[i] = kept->v[i] - exact->v[i];
        if (!isfinite(of.apart[i])) {
            *gap = OPINION_NOT_FINITE;
            return STATUS_OK;
        }
    }
    *gap = 0.0;
    for (uint32_t i = 0; i < of.islands.count; i++) {
        *gap = larger(gap_of_island(&of, i), *gap);
    }
    return STATUS_OK;
}

static double to_finite(double value) {
    return isfinite(value) ? value : OPINION_NOT_FINITE;
}

Status opinion_give(const OpinionCase *kept, double tolerance, const Context *context,
                    Arena *scratch, Opinion *opinion, Error *error) {
    ASSERT(tolerance > 0.0);
    ASSERT(context != NULL);
    *opinion = (Opinion){0};
    if (!solver_has_work(&kept->problem)) {
        return STATUS_OK;
    }
    SolverSettings settings = solver_default(SOLVER_MDP);
    settings.parameter[MDP_TOLERANCE] = tolerance;
    settings.parameter[MDP_MAX_ITERATIONS] = ITERATIONS_MAX;
    ASSERT(settings.parameter[MDP_FRICTION] == (double)MDP_COULOMB);
    const ArenaMark mark = arena_mark(scratch);
    SolveResult result;
    double gap = 0.0;
    Status status = solver_solve(&settings, &kept->problem, context, scratch, &result, error);
    status = STATUS_THEN(status, compare(kept, &result.answer, scratch, &gap, error));
    if (status == STATUS_OK) {
        opinion->gap = to_finite(gap);
        opinion->residual = to_finite(result.certificate.entry[CERTIFICATE_OWN]);
    }
    arena_reset_to(scratch, mark);
    return status;
}
