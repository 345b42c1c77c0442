// SPDX-License-Identifier: MIT
// The family solve: a contact problem without a world, and the problem of a world's last step.
#include "wire/convert.h"
#include "wire/problem/codec.h"
#include "api/request.h"
#include "os/clock.h"
#include "world/range.h"

#include <assert.h>
#include <stdio.h>

static Status out_of_memory(Error *error) {
    return error_set(
        error, STATUS_RESOURCE_EXHAUSTED, "problem",
        "The problem needs more memory than one request may take, which is some frames "
        "(option --frame-bytes-max).");
}

enum { HISTORY_MAX = 16384 };

typedef struct SolvePlan {
    ContactProblem problem;
    SolverSettings settings;
} SolvePlan;

Status command_solve_judge(Request *request, Error *error) {
    const Moreau__V1__Solve *message = request->message->solve;
    SolvePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    SolverKind kind = SOLVER_MDP;
    if (message->solver != NULL && !solver_find(message->solver, &kind)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "solver",
                         "No solver is called %.64s (Describe lists them).", message->solver);
    }
    if (message->problem == NULL) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "problem", "Solve needs a problem.");
    }
    if (message->has_effort && (unsigned)message->effort >= EFFORT_COUNT) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "effort",
                         "The value %u is none of the choices: EXACT 0, BALANCED 1, FAST 2.",
                         (unsigned)message->effort);
    }
    plan->settings = solver_solve_default(kind);
    plan->settings.effort = (Effort){.kind = (uint8_t)message->effort};
    request->plan = plan;
    return convert_parameters(message->parameters, &plan->settings, error);
}

static_assert((int)LCP_RUNG_COUNT == (int)MOREAU__V1__RUNG__KIND__UNSOLVED_RESIDUAL + 1 &&
                  (int)LCP_RUNG_DIAGONAL == (int)MOREAU__V1__RUNG__KIND__DIAGONAL &&
                  (int)LCP_RUNG_UNSOLVED_RAY == (int)MOREAU__V1__RUNG__KIND__UNSOLVED_RAY,
              "rungs have the numbers of the wire");

static_assert((int)END_REASON_COUNT == (int)MOREAU__V1__CERTIFICATE__REASON__WORK_TIMEOUT + 1 &&
                  (int)END_CONVERGED == (int)MOREAU__V1__CERTIFICATE__REASON__CONVERGED &&
                  (int)END_BUDGET == (int)MOREAU__V1__CERTIFICATE__REASON__BUDGET_ENDED &&
                  (int)END_DIVERGED == (int)MOREAU__V1__CERTIFICATE__REASON__DIVERGED &&
                  (int)END_TIME == (int)MOREAU__V1__CERTIFICATE__REASON__TIME_LIMIT &&
                  (int)END_TIMEOUT == (int)MOREAU__V1__CERTIFICATE__REASON__WORK_TIMEOUT,
              "reasons have the numbers of the wire");

// `open` is the room for it.
static void fill_islands(const Certificate *c, Moreau__V1__OpenIsland *open,
                         Moreau__V1__Certificate *m) {
    m->has_islands = m->has_islands_open = m->has_reason = 1;
    m->islands = c->islands;
    m->islands_open = c->islands_open;
    m->reason = (Moreau__V1__Certificate__Reason)c->worst_open.reason;
    if (c->worst_open.tree < 0) {
        return;
    }
    moreau__v1__open_island__init(open);
    open->has_tree = open->has_contact = open->has_contacts = open->has_residual = 1;
    open->tree = (uint32_t)c->worst_open.tree;
    open->contact = c->worst_open.contact;
    open->contacts = c->worst_open.contacts;
    open->residual = c->worst_open.residual;
    m->worst_open = open;
}

static void fill_certificate(const SolveResult *result, uint64_t time_ns,
                             Moreau__V1__Certificate *m) {
    const Certificate *c = &result->certificate;
    m->has_e_mom = m->has_e_pen = m->has_e_comp = m->has_e_cone = m->has_e_mdp = m->has_e_ds =
        m->has_e_own = m->has_e_row = 1;
    m->e_mom = c->entry[CERTIFICATE_MOM];
    m->e_pen = c->entry[CERTIFICATE_PEN];
    m->e_comp = c->entry[CERTIFICATE_COMP];
    m->e_cone = c->entry[CERTIFICATE_CONE];
    m->e_mdp = c->entry[CERTIFICATE_MDP];
    m->e_ds = c->entry[CERTIFICATE_DS];
    m->e_own = c->entry[CERTIFICATE_OWN];
    m->e_row = c->entry[CERTIFICATE_ROW];
    m->has_pen_velocity = m->has_comp_velocity = m->has_mdp_velocity = m->has_ds_velocity = 1;
    m->has_own_velocity = m->has_row_velocity = m->has_scale = m->has_tolerance =
        m->has_penetration = 1;
    m->pen_velocity = c->velocity[CERTIFICATE_PEN];
    m->comp_velocity = c->velocity[CERTIFICATE_COMP];
    m->mdp_velocity = c->velocity[CERTIFICATE_MDP];
    m->ds_velocity = c->velocity[CERTIFICATE_DS];
    m->own_velocity = c->velocity[CERTIFICATE_OWN];
    m->row_velocity = c->velocity[CERTIFICATE_ROW];
    m->scale = c->scale;
    m->tolerance = c->tolerance;
    m->penetration = c->penetration;
    m->has_iterations = m->has_converged = m->has_time = m->has_worst_contact = 1;
    m->iterations = result->iterations;
    m->converged = c->converged;
    m->time = (double)time_ns * 1e-9;
    m->worst_contact = c->worst_contact;
    m->has_passes = result->passes > 0;
    m->has_rung = m->has_passes && result->answer.relation == RELATION_POLYHEDRAL;
    m->rung = (Moreau__V1__Rung__Kind)result->rung;
    m->passes = result->passes;
    m->has_launch = m->has_gliding = m->has_launch_contact = result->launch.contact >= 0;
    m->launch = result->launch.speed;
    m->gliding = result->launch.height;
    m->launch_contact = result->launch.contact;
    m->has_softened = result->softened > 0;
    m->softened = result->softened;
    m->has_idle = result->idle > 0;
    m->idle = result->idle;
    m->has_cost_gap = result->has_cost_gap;
    m->cost_gap = result->cost_gap;
}

// Numbers that are not finite are refused in every message, so they do not go out either.
static Status check_answer(const SolvePlan *plan, const SolveResult *result, Error *error) {
    const ContactProblem *problem = &plan->problem;
    const Answer *answer = &result->answer;
    const Certificate *certificate = &result->certificate;
    if (numbers_are_finite(answer->v, problem->velocity_count) &&
        numbers_are_finite(answer->contact_impulse, 3 * (size_t)problem->contact_count) &&
        numbers_are_finite(answer->row_impulse, problem->row_count) &&
        numbers_are_finite(certificate->entry, CERTIFICATE_ENTRY_COUNT) &&
        numbers_are_finite(certificate->velocity, CERTIFICATE_ENTRY_COUNT) &&
        isfinite(certificate->scale) && isfinite(certificate->penetration) &&
        isfinite(result->cost_gap)) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_FAILED_PRECONDITION, "problem",
                     "The solver ended in numbers that are not finite: the problem's magnitudes "
                     "are too far apart.");
}

// NULL when memory ends.
static IterationHistory *begin_history(Arena *arena) {
    IterationHistory *history = arena_take(arena, sizeof(*history));
    double *value = arena_take_array(arena, HISTORY_MAX, sizeof(double));
    if (history == NULL || value == NULL) {
        return NULL;
    }
    history_init(history, value, HISTORY_MAX);
    return history;
}

// What was met in place of targets that contradict each other; false: memory ends.
static bool fill_biases(const SolvePlan *plan, const SolveResult *result, Arena *arena,
                        Moreau__V1__SolveReply *message) {
    const ContactProblem *problem = &plan->problem;
    if (result->softened == 0) {
        return true;
    }
    message->contact_bias = arena_take_array(arena, problem->contact_count, sizeof(double));
    message->row_bias = arena_take_array(arena, problem->row_count, sizeof(double));
    if (message->contact_bias == NULL || message->row_bias == NULL) {
        return false;
    }
    message->n_contact_bias = problem->contact_count;
    message->n_row_bias = problem->row_count;
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        message->contact_bias[i] = certificate_bias(problem, &result->answer, i);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        message->row_bias[i] = result->answer.row[i].bias;
    }
    return true;
}

static void fill_answer(const SolvePlan *plan, const SolveResult *result,
                        const IterationHistory *history, Moreau__V1__SolveReply *message) {
    message->n_v = plan->problem.velocity_count;
    message->v = result->answer.v;
    message->n_contacts = 3 * (size_t)plan->problem.contact_count;
    message->contacts = result->answer.contact_impulse;
    message->n_rows = plan->problem.row_count;
    message->rows = result->answer.row_impulse;
    if (history != NULL) {
        message->n_history = history->count;
        message->history = history->value;
        message->has_history_stride = 1;
        message->history_stride = history->stride;
    }
}

Status command_solve(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    SolvePlan *plan = request->plan;
    Moreau__V1__SolveReply *message = arena_take(&request->arena, sizeof(*message));
    Moreau__V1__Certificate *certificate = arena_take(&request->arena, sizeof(*certificate));
    Moreau__V1__OpenIsland *open = arena_take(&request->arena, sizeof(*open));
    if (message == NULL || certificate == NULL || open == NULL) {
        return out_of_memory(error);
    }
    if (!request->is_resumed) {
        Status status = problem_codec_read(request->message->solve->problem, &request->arena,
                                           &plan->problem, error);
        status = STATUS_THEN(status, range_check(RANGE_TIME_STEP, plan->problem.time_step,
                                                 "problem.time_step", -1, error));
        if (status != STATUS_OK) {
            return status;
        }
    }
    lane_end_turn(lane); // a solve may take long
    WorkWatch watch;
    request_watch_solve(request, lane, clock_now_ns(), &watch);
    Context context = watch.context;
    if (request->message->solve->history &&
        (context.history = begin_history(&request->arena)) == NULL) {
        return out_of_memory(error);
    }
    SolveResult result;
    uint64_t begun_ns = clock_now_ns();
    Status status =
        solver_solve(&plan->settings, &plan->problem, &context, &lane->scratch, &result, error);
    if (watch.is_put_aside) {
        request->outcome = JOB_LONG;
        return STATUS_OK;
    }
    if (status == STATUS_ABORTED && request_watch_verdict(&watch, error) != STATUS_OK) {
        status = error->status; // cancelled
    }
    status = STATUS_THEN(status, check_answer(plan, &result, error));
    if (status != STATUS_OK) {
        return status;
    }
    moreau__v1__solve_reply__init(message);
    moreau__v1__certificate__init(certificate);
    fill_certificate(&result, clock_now_ns() - begun_ns, certificate);
    fill_islands(&result.certificate, open, certificate);
    fill_answer(plan, &result, context.history, message);
    if (!fill_biases(plan, &result, &request->arena, message)) {
        return out_of_memory(error);
    }
    message->certificate = certificate;
    reply->result_case = MOREAU__V1__REPLY__RESULT_SOLVE;
    reply->solve = message;
    return STATUS_OK;
}

Status command_problem(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Stepper *stepper = request->world->door.stepper;
    if (!stepper->has_last) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                         "No step has been taken since the world's bodies were made or moved, or "
                         "since one was given up or failed: the problem is the last step's.");
    }
    Moreau__V1__ProblemReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__problem_reply__init(message);
    message->problem = problem_codec_write(&stepper->problem, &request->arena);
    message->solver = (char *)solver_get(stepper->solver.kind)->name;
    message->parameters = convert_parameters_out(&stepper->solver, &request->arena);
    if (message->problem == NULL || message->parameters == NULL) {
        return out_of_memory(error);
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_PROBLEM;
    reply->problem = message;
    return STATUS_OK;
}
