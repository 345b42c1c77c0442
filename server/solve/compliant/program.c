// SPDX-License-Identifier: MIT
#include "solve/compliant/program.h"

#include "base/assert.h"
#include "base/power.h"
#include "solve/compliant/program_parts.h"

#include <string.h>

// how much of the way to a bound a step may go
#define STEP_SHARE 0.98
// where steps are short because much is still to be sorted out, not because digits end
#define MARK_GAP 1e-6
// after so many steps that came not half as near it has stalled
enum { PATIENCE = 8, PATIENCE_EARLY = 30 };
// the path's part that the gap is to be of what the program weighs least
#define GAP_SHARE 1e-3
// what it weighs at least, beside impulses that stop what comes
#define LEAST_SHARE 1e-6
// a step that is nearly whole
#define FULL_STEP 0.9
// what a step is at least, of which something is to be kept
#define WHOLE_ENOUGH 0.3
// how much of the gap a step is to leave, so that all bounds come near together, at least, and
// after a step that was shorter than this
#define CENTRE     0.02
#define SHORT_STEP 0.3
#define RECENTRE   0.5
// A factor of so many numbers takes a gigabyte.
#define FACTOR_NUMBERS_MAX ((size_t)1 << 26)

static bool take(CompliantProgram *p, Arena *arena) {
    const NewtonIsland *n = p->island;
    size_t width = n->mass->width_max;
    p->part = arena_take_zeroed(arena, n->constraint_count, sizeof(*p->part));
    p->best = arena_take_zeroed(arena, n->constraint_count, sizeof(*p->best));
    p->best_v = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->best_y = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->v = arena_take_array(arena, n->velocity_count, sizeof(double));
    p->y = arena_take_zeroed(arena, n->velocity_count, sizeof(double));
    p->rest = arena_take_zeroed(arena, n->velocity_count, 2 * sizeof(double));
    p->work = arena_take_zeroed(arena, n->velocity_count, 5 * sizeof(double));
    p->kept = arena_take_zeroed(arena, n->velocity_count, 2 * sizeof(double));
    p->piece = arena_take_zeroed(arena, 8 * width * width, sizeof(double));
    return p->part != NULL && p->best != NULL && p->best_v != NULL && p->best_y != NULL &&
           p->v != NULL && p->y != NULL && p->rest != NULL && p->work != NULL && p->kept != NULL &&
           p->piece != NULL;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the friction program.");
}

// What decides is of size 1, per mass, where nothing is weighed against friction. Before the
// velocities' adjoint is a velocity, too, whatever the unit of mass: a factor of both compares
// them. Of powers of two from 1/16 to 16 a quarter ends nearest on the problems of
// tests/solve/check_harness.c.
static double weight_of(const CompliantProgram *p) {
    double most = 0.0;
    bool is_weighed = false;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const NewtonConstraint *c = &p->island->constraint[i];
        const CompliantLaw *law = c->rows == 3 ? p->contact_law : p->row_law;
        PartKind kind = program_part_kind(c, law + c->index);
        is_weighed = is_weighed || kind == PART_CONTACT || kind == PART_BOUNDED;
        most = c->w > most ? c->w : most;
    }
    const double mass = 0.25 * power_inverse(most);
    return is_weighed ? mass : mass * most * most / (p->zeta * p->tangent * p->tangent);
}

// What stands, before steps that doubles can no longer make.
static void keep(CompliantProgram *p) {
    size_t bytes = p->island->velocity_count * sizeof(double);
    memcpy(p->best, p->part, p->island->constraint_count * sizeof(*p->part));
    memcpy(p->best_v, p->v, bytes);
    memcpy(p->best_y, p->y, bytes);
}

static void restore(CompliantProgram *p) {
    size_t bytes = p->island->velocity_count * sizeof(double);
    memcpy(p->part, p->best, p->island->constraint_count * sizeof(*p->part));
    memcpy(p->v, p->best_v, bytes);
    memcpy(p->y, p->best_y, bytes);
}

static void begin(CompliantProgram *p) {
    p->weight = weight_of(p);
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const NewtonConstraint *c = &p->island->constraint[i];
        const CompliantLaw *law = c->rows == 3 ? p->contact_law : p->row_law;
        p->part[i] = program_part(p, c, law + c->index);
        program_begin_part(p, i);
        PartKind kind = p->part[i].kind;
        bool has_two =
            kind == PART_BOUNDED && isfinite(p->part[i].low) && isfinite(p->part[i].high);
        p->bound_count += kind == PART_CONTACT || kind == PART_LIMIT || has_two ? 2
                          : kind == PART_BOUNDED                                ? 1
                                                                                : 0;
    }
    memcpy(p->v, p->island->v_free, p->island->velocity_count * sizeof(double));
    p->best_gap = p->mark = HUGE_VAL;
    p->first_gap = p->bound_count > 0 ? program_gap(p, 0.0) : 0.0;
    keep(p);
}

Status compliant_program_init(CompliantProgram *p, const NewtonIsland *island,
                              const CompliantLaw *contact_law, const CompliantLaw *row_law,
                              double zeta, double tangent, const Stop *stop, Arena *arena,
                              Error *error) {
    ASSERT(island->constraint_count > 0);
    ASSERT(contact_law != NULL || island->contact_count == 0);
    *p = (CompliantProgram){.island = island,
                            .contact_law = contact_law,
                            .row_law = row_law,
                            .zeta = zeta,
                            .tangent = tangent,
                            .taken = 1.0,
                            // what made the island has not asked for a while
                            .asker = {.stop = stop, .operations = ASKER_OPERATIONS}};
    uint32_t *width = arena_take_array(arena, island->tree_count, sizeof(uint32_t));
    if (width == NULL || !take(p, arena)) {
        return no_memory(error);
    }
    for (uint32_t i = 0; i < island->tree_count; i++) {
        width[i] = 2 * island->graph.width[i];
    }
    p->graph = island->graph;
    p->graph.width = width;
    const LdltLimits limits = {FACTOR_NUMBERS_MAX, HUGE_VAL, &p->asker};
    Status status = ldlt_plan(&p->graph, limits, arena, &p->plan, error);
    status = STATUS_THEN(status, ldlt_init(&p->ldlt, &p->plan, false, arena, error));
    if (status == STATUS_OK) {
        begin(p);
    }
    return status;
}

// The objective's part that is weighed least.
static double weigh(const CompliantProgram *p) {
    double sum = 0.0, least = 0.0;
    for (uint32_t i = 0; i < p->island->constraint_count; i++) {
        const ProgramPart *part = &p->part[i];
        double size = part->kind == PART_NONE ? 0.0 : program_size(p, i);
        least += part->own[0] * size * size;
        for (uint32_t r = 0; r < part->count; r++) {
            sum += part->own[r] * part->gamma[r] * part->gamma[r];
        }
    }
    return relation_max(sum, LEAST_SHARE * least) / (p->bound_count > 0 ? p->bound_count : 1);
}

// One step; how much of it was taken, negative where numbers are not finite.
static double step(CompliantProgram *p) {
    double gap = p->bound_count > 0 ? program_gap(p, 0.0) : 0.0;
    program_linearise(p, 0.0);
    if (program_factor(p) != LDLT_FINITE) {
        return -1.0;
    }
    double alpha = program_find_step(p);
    if (p->bound_count > 0) {
        double share = program_gap(p, alpha) / gap;
        share = relation_min(relation_max(share, 0.0), 1.0);
        share = relation_max(share * share * share, p->taken < SHORT_STEP ? RECENTRE : CENTRE);
        program_linearise(p, share * gap);
        alpha = STEP_SHARE * program_find_step(p);
    }
    if (!numbers_are_finite(p->rest, 2 * p->island->velocity_count)) {
        return -1.0;
    }
    program_walk(p, alpha);
    p->taken = alpha;
    return alpha;
}

static ProgramOutcome advance(CompliantProgram *p, double tolerance, uint32_t iterations_max) {
    while (p->iterations < iterations_max) {
        double alpha = step(p);
        p->iterations++;
        if (p->asker.is_stopped) {
            return PROGRAM_STOPPED;
        }
        if (alpha < 0.0) {
            return PROGRAM_NOT_FINITE;
        }
        p->gap = p->bound_count > 0 ? program_gap(p, 0.0) : 0.0;
        if (p->gap <= GAP_SHARE * tolerance * weigh(p) && alpha > FULL_STEP) {
            return PROGRAM_MET;
        }
        if (alpha >= WHOLE_ENOUGH && p->gap < p->best_gap) {
            keep(p);
            p->best_gap = p->gap;
            p->marked_at = p->iterations;
        }
        if (p->gap <= 0.9 * p->mark) {
            p->mark = p->gap;
            p->marked_at = p->iterations;
        }
        bool is_early = p->gap > MARK_GAP * p->first_gap;
        if (p->iterations >= p->marked_at + (is_early ? PATIENCE_EARLY : PATIENCE)) {
            return PROGRAM_STALLED;
        }
    }
    return PROGRAM_SPENT;
}

ProgramOutcome compliant_program_minimise(CompliantProgram *p, double tolerance,
                                          uint32_t iterations_max) {
    ASSERT(!(tolerance <= 0.0));
    ProgramOutcome outcome = advance(p, tolerance, iterations_max);
    if (outcome == PROGRAM_STALLED || outcome == PROGRAM_NOT_FINITE) {
        outcome = isfinite(p->best_gap) ? PROGRAM_STALLED : outcome;
        restore(p);
    }
    return outcome;
}
