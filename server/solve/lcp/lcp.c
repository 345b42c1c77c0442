// SPDX-License-Identifier: MIT
// Stewart and Trinkle, "An implicit time-stepping scheme for rigid body dynamics with inelastic
// collisions and Coulomb friction" (1996): island after island, each exactly (island.h), then
// velocities anew from all impulses, which the certificate judges.
#include "solve/lcp/lcp.h"

#include "base/assert.h"
#include "solve/judge.h"
#include "solve/lcp/island.h"

// Position-level: the whole gap, and the whole overlap.
double lcp_bias(const double *parameter, double time_step, double gap) {
    VALIDATE(!(time_step <= 0.0));
    (void)parameter;
    return problem_gap_bias(time_step, gap, 1.0);
}

// What one solve carries from part to part.
typedef struct Work {
    const ContactProblem *problem;
    Judge judge;
    LcpSolve solve;
    Arena *arena;
    SolveResult *result;
    Error *error;
} Work;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the answer.");
}

// The second half of the directions is the first one's negative to the last bit.
static Direction *make_directions(uint32_t count, Arena *arena) {
    Direction *direction = arena_take_array(arena, count, sizeof(*direction));
    const Direction turn = direction_turn(count);
    Direction d = direction_first();
    for (uint32_t j = 0; direction != NULL && j < count / 2; j++) {
        direction[j] = d;
        direction[j + count / 2] = (Direction){-d.c, -d.s};
        d = direction_next(d, turn);
    }
    return direction;
}

static bool take_arrays(Work *work) {
    const ContactProblem *problem = work->problem;
    Arena *arena = work->arena;
    LcpSolve *solve = &work->solve;
    size_t contacts = problem->contact_count, velocities = problem->velocity_count;
    solve->contact = arena_take_array(arena, contacts, sizeof(ProblemContact));
    solve->floor = arena_take_array(arena, contacts, sizeof(double));
    solve->bias = arena_take_array(arena, contacts, sizeof(double));
    solve->warm = arena_take_zeroed(arena, contacts, 3 * sizeof(double));
    solve->row_warm = arena_take_zeroed(arena, problem->row_count, sizeof(double));
    solve->is_active = arena_take_zeroed(arena, contacts, 1);
    solve->is_lost = arena_take_zeroed(arena, contacts, 1);
    solve->v = arena_take_zeroed(arena, velocities, sizeof(double));
    solve->v_before = arena_take_zeroed(arena, velocities, sizeof(double));
    solve->direction = make_directions((uint32_t)solve->parameter[LCP_DIRECTIONS], arena);
    return solve->contact != NULL && solve->floor != NULL && solve->bias != NULL &&
           solve->warm != NULL && solve->row_warm != NULL && solve->is_active != NULL &&
           solve->is_lost != NULL && solve->v != NULL && solve->v_before != NULL &&
           solve->direction != NULL;
}

// A problem of the solver's own, whose contacts it may change.
static Status copy_problem(Work *work) {
    const ContactProblem *problem = work->problem;
    LcpSolve *solve = &work->solve;
    if (!take_arrays(work)) {
        return no_memory(work->error);
    }
    solve->problem = *problem;
    solve->problem.contact = solve->contact;
    solve->given = problem->contact;
    for (size_t i = 0; i < problem->contact_count; i++) {
        solve->contact[i] = problem->contact[i];
        solve->floor[i] = problem->contact[i].gap - problem->time_step * problem->contact[i].bias;
        solve->bias[i] = problem->contact[i].bias;
    }
    return STATUS_OK;
}

// Where the solver moves contacts, their biases are not those that the problem came with.
static Status declare_contacts(Work *work) {
    Answer *answer = &work->result->answer;
    uint32_t count = work->problem->contact_count;
    if (work->solve.geometry == NULL) {
        return STATUS_OK;
    }
    answer->contact = arena_take_zeroed(work->arena, count, sizeof(ContactRelation));
    if (answer->contact == NULL) {
        return no_memory(work->error);
    }
    for (uint32_t i = 0; i < count; i++) {
        answer->contact[i].bias = work->problem->contact[i].bias;
    }
    return STATUS_OK;
}

static Status prepare(Work *work, const Context *context) {
    LcpSolve *solve = &work->solve;
    const ContactProblem *problem = work->problem;
    bool is_warm = solve->parameter[LCP_WARM_START] != 0.0;
    Judge *judge = &work->judge;
    Status status = copy_problem(work);
    status = STATUS_THEN(status, judge_begin(judge, &solve->problem, RELATION_POLYHEDRAL,
                                             solve->parameter[LCP_TOLERANCE], is_warm, context,
                                             work->arena, work->result, work->error));
    if (status == STATUS_OK) {
        work->result->answer.directions = (uint32_t)solve->parameter[LCP_DIRECTIONS];
        status = declare_contacts(work);
    }
    status = STATUS_THEN(status, judge_survey(judge, NULL, NULL));
    solve->mass = &judge->mass;
    solve->impulse = work->result->answer.contact_impulse;
    solve->row_impulse = work->result->answer.row_impulse;
    solve->is_warm = is_warm && (problem->warm_contact != NULL || problem->warm_row != NULL);
    return status;
}

// What the island's contacts promise now, and its V with that.
static void declare_island(Work *work, uint32_t island) {
    const Judge *judge = &work->judge;
    const ContactProblem *problem = &work->solve.problem;
    const Answer *answer = &work->result->answer;
    const Islands *islands = &judge->islands;
    IslandRange range = islands_range(islands, island, island + 1);
    for (uint32_t i = range.contact_begin; i < range.contact_end; i++) {
        answer->contact[islands->contact[i]].bias = work->solve.bias[islands->contact[i]];
    }
    double most = certificate_scale_contacts(problem, islands, answer, range.contact_begin,
                                             range.contact_end, certificate_scale_least(problem));
    judge->scale.v_scale[island] =
        certificate_scale_rows(problem, islands, answer, range.row_begin, range.row_end, most);
}

// of an island that is not met after all; without unknowns there is nothing to go on with
static EndReason reason_of(LcpRung rung) {
    return rung == LCP_RUNG_UNSOLVED_RAY || rung == LCP_RUNG_UNSOLVED_RESIDUAL ||
                   rung == LCP_RUNG_NONE
               ? END_STALLED
               : END_ITERATIONS;
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    Work *work = solver;
    Judge *judge = &work->judge;
    const Islands *islands = &judge->islands;
    IslandRange range = islands_range(islands, island, island + 1);
    Status status = STATUS_OK;
    work->solve.count.is_stopped = false; // an island before may have been
    if (range.contact_begin < range.contact_end || range.row_begin < range.row_end) {
        LcpRung before = work->solve.rung;
        work->solve.rung = LCP_RUNG_NONE;
        status = lcp_island_solve(&work->solve, islands, island, judge->scale.v_scale[island]);
        judge->island[island].reason = reason_of(work->solve.rung);
        work->solve.rung = before > work->solve.rung ? before : work->solve.rung;
    }
    bool is_late = judge_is_late(judge, status);
    if (status != STATUS_OK && !is_late) {
        return status;
    }
    if (work->solve.geometry != NULL) {
        declare_island(work, island);
    }
    status = judge_island(judge, share, island);
    if (status == STATUS_OK && is_late && !judge->island[island].is_met) {
        // where it was may be worse than where it began
        judge_start_again(judge, island);
        status = judge_island(judge, share, island);
    }
    return status;
}

static void report(Work *work) {
    const LcpSolve *solve = &work->solve;
    SolveResult *result = work->result;
    result->iterations = solve->pivots < UINT32_MAX ? (uint32_t)solve->pivots : UINT32_MAX;
    result->passes = solve->passes;
    result->rung = solve->rung;
    if (solve->geometry != NULL) {
        result->contact = solve->contact;
        result->warm_contact = solve->warm;
        result->warm_row = solve->row_warm;
    }
}

Status lcp_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    Work work = {.problem = problem,
                 .solve = {.parameter = settings->parameter,
                           .geometry = context->geometry,
                           .history = context->history,
                           .arena = arena,
                           .error = error,
                           .count = {.stop = context->stop}},
                 .arena = arena,
                 .result = result,
                 .error = error};
    Status status = prepare(&work, context);
    if (status == STATUS_OK) {
        judge_limit(&work.judge, settings->parameter[LCP_BUDGET]);
        work.solve.count.stop = work.judge.context->stop;
        status = judge_each(&work.judge, solve_island, &work);
    }
    if (status == STATUS_OK) {
        status = judge_end(&work.judge);
        report(&work);
    }
    return status;
}
