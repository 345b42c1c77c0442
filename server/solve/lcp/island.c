// SPDX-License-Identifier: MIT
#include "solve/lcp/island.h"

#include "base/assert.h"
#include "solve/lcp/parameters.h"

#include <string.h>

// of V: what is driven together faster joins
#define VIOLATION 1e-10
// of the tolerance: what passes as the answer of a complementarity problem; of the scale of b at
// most, and at least, for rounding
#define ENOUGH       1e-2
#define ENOUGH_MOST  1e-9
#define ENOUGH_LEAST 1e-12
// of the scale of b: an answer so near tells which contacts belong to the problem
#define TELLING 1e-6
// cosine between a contact's plane and the one it came with, or the bodies have passed each other
#define SAME_SIDE 0.7
// of what it was two passes before: a change that stays above goes round
#define SHRINKS 0.5
// of the tolerance: by how much of V velocities may differ between two passes that agree
#define SETTLED 1e-2

// The island's part of every list.
typedef struct Island {
    uint32_t tree_count, contact_count, row_count;
    const uint32_t *tree, *contact, *row;
    double scale;
    bool has_basis;    // the impulses tell of one
    bool keeps_planes; // only gaps are taken anew
    double change[2];  // by the pass before, and the one before that [m/s]
    // scratch
    uint32_t *active; // [contact_count]
    GeometryContact *moved;
} Island;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the complementarity problem.");
}

static Status refuse_rows(const LcpSolve *solve, const LcpPart *part, uint64_t rows) {
    return error_set(solve->error, STATUS_RESOURCE_EXHAUSTED, "parameters.lcp.max_rows",
                     "An island whose %u contacts and %u rows are to be solved at once makes a "
                     "complementarity problem of %llu rows, and max_rows of solver lcp is %g: "
                     "raise it (the time grows with the third power), take fewer directions, or "
                     "another solver.",
                     part->contact_count, part->row_count, (unsigned long long)rows,
                     solve->parameter[LCP_MAX_ROWS]);
}

// ---- from impulses to velocities, of the island alone

static void make_velocities(LcpSolve *solve, const Island *island) {
    const ContactProblem *problem = &solve->problem;
    for (uint32_t i = 0; i < island->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[island->tree[i]];
        memset(solve->v + tree->first, 0, tree->width * sizeof(double));
    }
    for (uint32_t i = 0; i < island->contact_count; i++) {
        uint32_t contact = island->contact[i];
        if (solve->is_active[contact] != 0) {
            problem_contact_momentum(problem, contact, solve->impulse + 3 * (size_t)contact,
                                     solve->v);
        }
    }
    for (uint32_t i = 0; i < island->row_count; i++) {
        problem_row_momentum(problem, island->row[i], solve->row_impulse[island->row[i]], solve->v);
    }
    for (uint32_t i = 0; i < island->tree_count; i++) {
        const ProblemTree *tree = &problem->tree[island->tree[i]];
        mass_solve_tree(solve->mass, island->tree[i], solve->v + tree->first);
        for (uint32_t k = tree->first; k < tree->first + tree->width; k++) {
            solve->v[k] += problem->v_free[k];
        }
    }
}

// Makes those contacts active that velocities would bring closer than they may; whether any.
static bool add_violated(LcpSolve *solve, const Island *island, const double *v) {
    bool is_any = false;
    for (uint32_t i = 0; i < island->contact_count; i++) {
        uint32_t contact = island->contact[i];
        double u[3];
        if (solve->is_active[contact] != 0) {
            continue;
        }
        problem_contact_velocity(&solve->problem, contact, v, u);
        if (u[0] + solve->contact[contact].bias < -VIOLATION * island->scale) {
            solve->is_active[contact] = 1;
            is_any = true;
        }
    }
    return is_any;
}

// ---- one complementarity problem

static uint32_t list_active(const LcpSolve *solve, const Island *island) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < island->contact_count; i++) {
        if (solve->is_active[island->contact[i]] != 0) {
            island->active[count++] = island->contact[i];
        }
    }
    return count;
}

// What passes: the certificate measures against V what the problem measures against the scale of b,
// which is far larger where rows begin at the end of their range.
static double enough_of(const LcpSolve *solve, const LcpMatrix *matrix, double v_scale) {
    double weight = 0.0;
    for (uint32_t i = 0; i < matrix->line_count; i++) {
        weight = fmax(weight, matrix->line[i].weight);
    }
    double enough =
        ENOUGH * solve->parameter[LCP_TOLERANCE] * v_scale / (sqrt(weight) * matrix->scale);
    return fmax(ENOUGH_LEAST, fmin(ENOUGH_MOST, enough));
}

static Status solve_part(LcpSolve *solve, Island *island, const LcpPart *part, LcpClimb *climb,
                         bool *is_within) {
    LcpMatrix matrix;
    Status status = lcp_matrix_make(part, solve->arena, &solve->count, &matrix);
    if (status != STATUS_OK) {
        return status;
    }
    double *z = arena_take_array(solve->arena, matrix.system.count, sizeof(double));
    uint8_t *basis = arena_take_array(solve->arena, matrix.system.count, 1);
    if (z == NULL || basis == NULL) {
        return STATUS_RESOURCE_EXHAUSTED;
    }
    if (island->has_basis) {
        lcp_matrix_guess(&matrix, solve->impulse, solve->row_impulse, solve->v, basis);
    }
    const LcpClimbOptions options = {.has_basis = island->has_basis,
                                     .pivot_max = (uint64_t)solve->parameter[LCP_MAX_ITERATIONS],
                                     .history = solve->history,
                                     .enough = enough_of(solve, &matrix, island->scale)};
    status = lcp_climb(&matrix.system, &options, solve->arena, &solve->count, z, basis, climb);
    if (status == STATUS_OK) {
        lcp_matrix_impulses(&matrix, z, solve->impulse, solve->row_impulse);
        *is_within = lcp_matrix_is_within(&matrix);
        island->has_basis = true;
    }
    return status;
}

static Status solve_once(LcpSolve *solve, Island *island, LcpClimb *climb) {
    LcpPart part = {.problem = &solve->problem,
                    .mass = solve->mass,
                    .direction_count = (uint32_t)solve->parameter[LCP_DIRECTIONS],
                    .direction = solve->direction,
                    .contact_count = list_active(solve, island),
                    .row_count = island->row_count,
                    .contact = island->active,
                    .row = island->row,
                    .v_scale = island->scale};
    uint64_t rows = lcp_matrix_rows(&part);
    if (rows > (uint64_t)solve->parameter[LCP_MAX_ROWS]) {
        return refuse_rows(solve, &part, rows);
    }
    ArenaMark mark = arena_mark(solve->arena);
    bool is_within = true;
    Status status = solve_part(solve, island, &part, climb, &is_within);
    arena_reset_to(solve->arena, mark);
    if (status == STATUS_OK && !is_within) {
        part.keeps_far = true;
        status = solve_part(solve, island, &part, climb, &is_within);
        arena_reset_to(solve->arena, mark);
    }
    if (status == STATUS_RESOURCE_EXHAUSTED) {
        return no_memory(solve->error);
    }
    if (status == STATUS_ABORTED) {
        return error_set(solve->error, STATUS_ABORTED, "",
                         "The solve was given up after %llu pivots.",
                         (unsigned long long)solve->count.pivots);
    }
    make_velocities(solve, island);
    return status;
}

// Until nothing is driven together that is not in the problem.
static Status solve_active(LcpSolve *solve, Island *island, bool *is_solved) {
    for (;;) {
        LcpClimb climb = {.rung = LCP_RUNG_NONE};
        Status status = solve_once(solve, island, &climb);
        if (status != STATUS_OK) {
            return status;
        }
        // an answer that falls a little short still tells what is driven together
        bool is_answer = climb.rung < LCP_RUNG_UNSOLVED_RAY;
        *is_solved = is_answer || climb.residual <= TELLING;
        bool goes_on = *is_solved && add_violated(solve, island, solve->v);
        if (is_answer || !goes_on) {
            solve->rung = climb.rung > solve->rung ? climb.rung : solve->rung;
        }
        if (!goes_on) {
            return STATUS_OK;
        }
    }
}

// ---- passes

static void relinearise(LcpSolve *solve, uint32_t contact, const GeometryContact *moved,
                        bool keeps_planes) {
    ProblemContact *c = &solve->contact[contact];
    if (!moved->is_found || !(vec3_dot(moved->normal, solve->given[contact].normal) > SAME_SIDE)) {
        solve->is_lost[contact] = 1;
        return;
    }
    if (!keeps_planes) {
        c->normal = moved->normal;
        for (int s = 0; s < 2; s++) {
            c->tangent[s] = moved->tangent[s];
            c->side[s].arm = moved->arm[s];
        }
        memcpy(c->motion, moved->motion, sizeof(c->motion));
        mass_add_contact(solve->mass, contact);
    }
    double u[3];
    problem_contact_velocity(&solve->problem, contact, solve->v, u);
    c->bias = (moved->gap - solve->floor[contact]) / solve->problem.time_step - u[0];
}

// Takes all contacts to where v brings the trees.
static void move_contacts(LcpSolve *solve, const Island *island) {
    solve->geometry->move(solve->geometry->user, solve->v, island->contact, island->contact_count,
                          island->moved);
    for (uint32_t i = 0; i < island->contact_count; i++) {
        if (solve->is_lost[island->contact[i]] == 0) {
            relinearise(solve, island->contact[i], &island->moved[i], island->keeps_planes);
        }
    }
}

// NaN stays.
static double larger_change(double largest, double change) {
    return fabs(change) <= largest ? largest : fabs(change);
}

// By how much the velocities differ from those that the contacts were taken with, there where the
// bodies meet: spins are no speeds.
static double largest_change(const LcpSolve *solve, const Island *island) {
    double largest = 0.0, *change = solve->v_before;
    for (uint32_t i = 0; i < island->tree_count; i++) {
        const ProblemTree *tree = &solve->problem.tree[island->tree[i]];
        for (uint32_t k = tree->first; k < tree->first + tree->width; k++) {
            change[k] = solve->v[k] - change[k];
        }
    }
    for (uint32_t i = 0; i < island->contact_count; i++) {
        double u[3];
        problem_contact_product(&solve->problem, island->contact[i], change, u);
        for (int k = 0; k < 3; k++) {
            largest = larger_change(largest, u[k]);
        }
    }
    for (uint32_t i = 0; i < island->row_count; i++) {
        double u = problem_row_product(&solve->problem, island->row[i], change);
        largest = larger_change(largest, u);
    }
    return largest;
}

static void keep_velocities(LcpSolve *solve, const Island *island) {
    for (uint32_t i = 0; i < island->tree_count; i++) {
        const ProblemTree *tree = &solve->problem.tree[island->tree[i]];
        memcpy(solve->v_before + tree->first, solve->v + tree->first, tree->width * sizeof(double));
    }
}

// What passes that did not settle promise is what the gaps came to, along the planes that they were
// solved with.
static void declare_gaps(LcpSolve *solve, const Island *island) {
    solve->geometry->move(solve->geometry->user, solve->v, island->contact, island->contact_count,
                          island->moved);
    for (uint32_t i = 0; i < island->contact_count; i++) {
        uint32_t contact = island->contact[i];
        if (solve->is_lost[contact] == 0 && island->moved[i].is_found) {
            double u[3];
            problem_contact_velocity(&solve->problem, contact, solve->v, u);
            solve->bias[contact] =
                (island->moved[i].gap - solve->floor[contact]) / solve->problem.time_step - u[0];
        }
    }
}

// Whether two passes agree. Where they go round, as when one plane of two is taken in turns, planes
// are kept from then on: gaps are still met.
static bool is_agreed(const LcpSolve *solve, Island *island) {
    double change = largest_change(solve, island);
    island->keeps_planes =
        island->keeps_planes || !(change < SHRINKS * island->change[1] || change == 0.0);
    island->change[1] = island->change[0];
    island->change[0] = change;
    return change <= SETTLED * solve->parameter[LCP_TOLERANCE] * island->scale;
}

// What a pass starts from is all it knows of the ones before: solved alone with it, the problem of
// the last one gives the same bits.
static void begin_pass(LcpSolve *solve, Island *island) {
    island->has_basis = solve->is_warm;
    for (uint32_t i = 0; i < island->row_count; i++) {
        double *r = solve->row_impulse + island->row[i];
        *r = solve->is_warm ? *r : 0.0;
        solve->row_warm[island->row[i]] = *r;
    }
    for (uint32_t i = 0; i < island->contact_count; i++) {
        uint32_t contact = island->contact[i];
        double *impulse = solve->impulse + 3 * (size_t)contact;
        solve->is_active[contact] = solve->is_warm && impulse[0] > 0.0;
        if (solve->is_active[contact] == 0) {
            memset(impulse, 0, 3 * sizeof(double));
        }
        memcpy(solve->warm + 3 * (size_t)contact, impulse, 3 * sizeof(double));
    }
    make_velocities(solve, island); // of what there is to start from
    add_violated(solve, island, solve->problem.v_free);
}

static Status run_passes(LcpSolve *solve, Island *island) {
    uint32_t pass_max = solve->geometry == NULL ? 1 : (uint32_t)solve->parameter[LCP_PASSES];
    bool is_settled = pass_max == 1, is_solved = true; // planes that are asked for are met
    uint32_t pass = 0;
    do {
        if (pass > 0) {
            keep_velocities(solve, island);
            move_contacts(solve, island);
        }
        begin_pass(solve, island);
        Status status = solve_active(solve, island, &is_solved);
        if (status != STATUS_OK) {
            return status;
        }
        is_settled = is_settled || (pass > 0 && is_agreed(solve, island));
        pass++;
    } while (pass < pass_max && is_solved && !is_settled);
    solve->passes = pass > solve->passes ? pass : solve->passes;
    for (uint32_t i = 0; i < island->contact_count; i++) {
        solve->bias[island->contact[i]] = solve->contact[island->contact[i]].bias;
    }
    if (!is_settled) {
        declare_gaps(solve, island);
    }
    return STATUS_OK;
}

Status lcp_island_solve(LcpSolve *solve, const Islands *islands, uint32_t island, double scale) {
    ASSERT(island < islands->count);
    VALIDATE(!(scale < 0.0));
    const uint32_t *tree = islands->tree_first + island, *contact = islands->contact_first + island,
                   *row = islands->row_first + island;
    Island own = {.tree_count = tree[1] - tree[0],
                  .contact_count = contact[1] - contact[0],
                  .row_count = row[1] - row[0],
                  .tree = islands->tree + tree[0],
                  .contact = islands->contact + contact[0],
                  .row = islands->row + row[0],
                  .scale = scale,
                  .change = {HUGE_VAL, HUGE_VAL}};
    ArenaMark mark = arena_mark(solve->arena);
    own.active = arena_take_array(solve->arena, own.contact_count, sizeof(uint32_t));
    own.moved = arena_take_array(solve->arena, own.contact_count, sizeof(GeometryContact));
    Status status = STATUS_RESOURCE_EXHAUSTED;
    if (own.active != NULL && own.moved != NULL) {
        uint64_t before = solve->count.pivots;
        status = run_passes(solve, &own);
        uint64_t pivots = solve->count.pivots - before;
        solve->pivots = pivots > solve->pivots ? pivots : solve->pivots;
    } else {
        status = no_memory(solve->error);
    }
    arena_reset_to(solve->arena, mark);
    return status;
}
