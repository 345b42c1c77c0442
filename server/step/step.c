// SPDX-License-Identifier: MIT
#include "step/step.h"

#include "base/assert.h"
#include "base/defect.h"
#include "solve/problem_valid.h"
#include "step/fluid.h"
#include "step/joints/commands.h"
#include "step/joints/project.h"
#include "step/joints/rows.h"
#include "step/joints/tendons.h"
#include "step/joints/wrenches.h"
#include "step/stages.h"
#include "world/sleep.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert((int)SETTINGS_PARAMETER_MAX == (int)SOLVER_PARAMETER_MAX,
              "a world carries what a solver takes");

Stepper *stepper_create(size_t bytes_max) {
    ASSERT(bytes_max > 0);
    Stepper *stepper = calloc(1, sizeof(*stepper));
    if (stepper == NULL) {
        return NULL;
    }
    stepper->bytes_max = bytes_max;
    stepper->broad = broad_create();
    if (stepper->broad == NULL) {
        free(stepper);
        return NULL;
    }
    return stepper;
}

void stepper_destroy(Stepper *stepper) {
    if (stepper == NULL) {
        return;
    }
    broad_destroy(stepper->broad);
    free(stepper->memory);
    free(stepper->contact);
    free(stepper->problem_contact);
    free(stepper->law);
    free(stepper->meeting);
    free(stepper->warm);
    free(stepper->impulse);
    free(stepper->judged);
    free(stepper->number);
    free(stepper->row);
    free(stepper->row_block);
    free(stepper->row_key);
    free(stepper->row_impulse);
    free(stepper->old_id);
    free(stepper->motion);
    if (stepper->joints != NULL) {
        free(stepper->joints->act);
        free(stepper->joints->kept);
        free(stepper->joints->broken);
        free(stepper->joints);
    }
    joint_project_destroy(stepper->projector);
    free(stepper);
}

static size_t joints_bytes(const StepJoints *joints) {
    return joints == NULL
               ? 0
               : sizeof(*joints) + joints->act_capacity * sizeof(StepAct) +
                     joints->kept_capacity * sizeof(double) + joints->broken_capacity * sizeof(Id);
}

size_t stepper_bytes(const Stepper *stepper) {
    const size_t parts = stepper->broad == NULL ? 0 : broad_bytes(stepper->broad);
    const size_t projector = stepper->projector == NULL ? 0 : stepper_bytes(stepper->projector);
    return sizeof(*stepper) + parts + projector + stepper->memory_capacity +
           stepper->contact_capacity * sizeof(StepContact) +
           stepper->problem_capacity * sizeof(ProblemContact) +
           stepper->law_capacity * sizeof(ContactLaw) +
           stepper->meeting_capacity * sizeof(StepMeeting) +
           (stepper->warm_capacity + stepper->impulse_capacity + stepper->judged_capacity +
            stepper->number_capacity + stepper->row_impulse_capacity + stepper->motion_capacity) *
               sizeof(double) +
           stepper->row_capacity * sizeof(ProblemRow) +
           stepper->row_block_capacity * sizeof(RowBlock) +
           stepper->row_key_capacity * sizeof(StepRow) + stepper->old_id_capacity * sizeof(Id) +
           joints_bytes(stepper->joints);
}

void stepper_forget_wrenches(Stepper *stepper) {
    stepper->has_wrenches = false;
}

void stepper_keep_motion(Stepper *stepper) {
    stepper->keeps_motion = true;
}

bool stepper_motion_before(const Stepper *stepper, const World *world, uint32_t body,
                           double velocity[6], Quat *orientation) {
    ASSERT(body < world->body_count);
    // bodies that left stood among the others during the step
    uint32_t then = body;
    while (stepper->has_old_ids && then < stepper->motion_count &&
           stepper->old_id[then] != world->body_id[body]) {
        then++;
    }
    if (!stepper->has_last || then >= stepper->motion_count) {
        return false;
    }
    const double *motion = stepper->motion + STEPPER_MOTION * (size_t)then;
    memcpy(velocity, motion, 6 * sizeof(double));
    *orientation = (Quat){motion[6], motion[7], motion[8], motion[9]};
    return true;
}

void stepper_limit(Stepper *stepper, size_t more_bytes) {
    ASSERT(stepper->broad != NULL);
    size_t bytes = stepper_bytes(stepper), broad = broad_bytes(stepper->broad);
    stepper->bytes_max = bytes < SIZE_MAX - more_bytes ? bytes + more_bytes : SIZE_MAX;
    broad_limit(stepper->broad, stepper->bytes_max - (bytes - broad));
}

void stepper_reset(Stepper *stepper) {
    ASSERT(stepper->broad != NULL);
    broad_reset(stepper->broad);
    stepper->has_last = stepper->has_old_ids = stepper->has_places = false;
}

static_assert((int)WORLD_EXACT == (int)EFFORT_EXACT &&
                  (int)WORLD_BALANCED == (int)EFFORT_BALANCED &&
                  (int)WORLD_FAST == (int)EFFORT_FAST &&
                  (int)WORLD_EFFORT_COUNT == (int)EFFORT_COUNT,
              "efforts of worlds are those of solvers");

static void load_solver(const WorldSettings *settings, SolverSettings *solver) {
    ASSERT(settings->solver < SOLVER_COUNT);
    solver->kind = (SolverKind)settings->solver;
    solver->effort = (Effort){.kind = settings->effort};
    memcpy(solver->parameter, settings->parameter, sizeof(solver->parameter));
}

SolverSettings step_solver(const WorldSettings *settings) {
    SolverSettings solver;
    load_solver(settings, &solver);
    return solver;
}

void step_set_solver(WorldSettings *settings, const SolverSettings *solver) {
    ASSERT(solver->kind < SOLVER_COUNT);
    settings->solver = (uint32_t)solver->kind;
    memcpy(settings->parameter, solver->parameter, sizeof(settings->parameter));
}

// The problem is the one that was solved last, where the solver took the contacts anew.
static void keep_problem(const Stepper *stepper, const SolveResult *result) {
    size_t contacts = stepper->contact_count;
    if (result->contact != NULL && contacts > 0) {
        memcpy(stepper->problem_contact, result->contact, contacts * sizeof(ProblemContact));
        memcpy(stepper->warm, result->warm_contact, 3 * contacts * sizeof(double));
    }
    if (result->contact != NULL && stepper->row_count > 0) {
        memcpy(stepper->row_impulse + stepper->row_count, result->warm_row,
               stepper->row_count * sizeof(double));
    }
}

// What was borrowed, was in vain, and what launched, whichever of the step's solves it was.
static void add_solve(StepSolves *all, const SolveResult *result) {
    all->owed += result->owed;
    all->is_in_vain = all->is_in_vain || result->is_in_vain;
    if (result->launch.contact >= 0 && result->launch.speed > all->launch.speed) {
        all->launch.speed = result->launch.speed;
        all->launch.contact = result->launch.contact;
    }
    all->launch.height = fmax(all->launch.height, result->launch.height);
}

static Status solve(StepState *state) {
    Stepper *stepper = state->stepper;
    StepReport *report = state->report;
    // the clock costs as much as a quarter of a small step: it times what may take long
    ClockProc *clock = solver_has_work(&stepper->problem) ? state->clock : NULL;
    uint64_t begun_ns = clock == NULL ? 0 : clock();
    const GeometryAsk geometry = geometry_of(state);
    Context context = state->input->context;
    context.geometry = &geometry;
    stepper->problem.factor = state->mass_factor;
    VALIDATE_WHOLE(problem_is_valid, &stepper->problem);
    Status status = solver_solve(&stepper->solver, &stepper->problem, &context, state->scratch,
                                 &state->result, state->error);
    stepper->problem.factor = NULL; // which ends with the step
    if (status != STATUS_OK) {
        return status == STATUS_FAILED_PRECONDITION ? fault_mass(state) : status;
    }
    report->solver_ns = clock == NULL ? 0 : clock() - begun_ns;
    report->iterations = state->result.iterations;
    report->softened_count = state->result.softened;
    report->has_borrowed = state->result.owed > 0;
    report->certificate = state->result.certificate;
    add_solve(&state->solves, &state->result);
    keep_problem(stepper, &state->result);
    if (state->input->witness != NULL && state->substep + 1 == state->substep_count) {
        state->input->witness->see(state->input->witness, &stepper->problem, &state->result);
    }
    return STATUS_OK;
}

static void name_worst(const Stepper *stepper, const World *world, StepReport *report) {
    ASSERT(report->certificate.worst_contact < (int64_t)stepper->contact_count);
    int64_t worst = report->certificate.worst_contact;
    if (worst >= 0) {
        const StepContact *contact = &stepper->contact[worst];
        report->worst_body[0] = stepper_body_id(stepper, world, contact->a);
        report->worst_body[1] = stepper_body_id(stepper, world, contact->b);
    }
}

static void tell_launch(const Stepper *stepper, const World *world, const Launch *launch,
                        StepReport *report) {
    ASSERT(launch->contact < (int64_t)stepper->contact_count);
    report->launch.speed = launch->speed;
    report->launch.height = launch->height;
    if (launch->contact >= 0) {
        const StepContact *of = &stepper->contact[launch->contact];
        report->launch.body[0] = stepper_body_id(stepper, world, of->a);
        report->launch.body[1] = stepper_body_id(stepper, world, of->b);
    }
}

// A body that moves, of the island that is furthest from being solved.
static Id open_body(const Stepper *stepper, const World *world, const OpenIsland *open) {
    ASSERT(open->contact < (int64_t)stepper->contact_count);
    ASSERT(open->contact >= 0 ||
           (open->tree >= 0 && (uint32_t)open->tree < stepper->problem.tree_count));
    const uint32_t *tree_of_body = stepper->tree_of_body;
    if (open->contact >= 0) {
        const StepContact *contact = &stepper->contact[open->contact];
        bool moves = tree_of_body[contact->a] != PROBLEM_NO_TREE;
        return stepper_body_id(stepper, world, moves ? contact->a : contact->b);
    }
    uint32_t body = 0;
    while (tree_of_body[body] != (uint32_t)open->tree) {
        body++;
    }
    return stepper_body_id(stepper, world, body);
}

static void name_open(const Stepper *stepper, const World *world, StepReport *report) {
    const Certificate *certificate = &report->certificate;
    const OpenIsland *open = &certificate->worst_open;
    report->open = (StepOpen){.islands = certificate->islands};
    if (open->tree >= 0) {
        report->open = (StepOpen){.islands = certificate->islands,
                                  .islands_open = certificate->islands_open,
                                  .body = open_body(stepper, world, open),
                                  .contacts = open->contacts,
                                  .reason = (uint32_t)open->reason,
                                  .residual = open->residual};
    }
}

// Where the bodies would go, and what is in their way. What they touch wakes, and may touch others.
static Status meet(StepState *state) {
    Status status = rest_begin(state);
    ArenaMark mark = arena_mark(state->scratch);
    bool is_woken = true;
    for (int round = 0; status == STATUS_OK && is_woken; round++) {
        arena_reset_to(state->scratch, mark);
        status = state->has_woken ? rest_recall(state) : STATUS_OK;
        state->stepper->contact_count = 0;
        status = STATUS_THEN(status, free_motion_run(state));
        status = STATUS_THEN(status, contacts_run(state));
        is_woken =
            status == STATUS_OK && state->asleep_count > 0 && rest_wake_touched(state, round);
    }
    return status;
}

// A part of the step; of worlds without joints some have nothing to do.
typedef struct Stage {
    Status (*run)(StepState *state);
    bool is_of_joints;
} Stage;

typedef struct Commit {
    void (*run)(StepState *state);
    bool is_of_joints;
} Commit;

// What bodies feel in the step, or in the substep that is at work: wrenches behind those that were
// given, which is the input then.
typedef struct Pushed {
    StepInput joined, dragged;
} Pushed;

static Status push(StepState *state, const StepInput *given, Pushed *pushed) {
    state->input = given;
    if (state->world->joint_count > 0) {
        if (!tendons_pull(state) || !joint_rows_push(state, &pushed->joined)) {
            return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while pushing with joints: raise "
                             "--memory-bytes-max.");
        }
        state->input = &pushed->joined;
    }
    state->given_count = state->input->wrench_count;
    if (!fluid_push(state, &pushed->dragged)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while a fluid dragged at bodies: raise "
                         "--memory-bytes-max.");
    }
    state->input = &pushed->dragged;
    return STATUS_OK;
}

// The law of a step, once it is known what is in the way: the contact problem, what happens there,
// the new state and the energy book.
static Status apply_law(StepState *state) {
    Status status = assemble_run(state);
    status = STATUS_THEN(status, solve(state));
    return STATUS_THEN(status, integrate_run(state));
}

// What is in the way, and the law; both again where that threw somebody farther than anybody had
// looked.
static Status meet_and_apply(StepState *state) {
    StepJoints *joints = state->world->joint_count > 0 ? state->stepper->joints : NULL;
    const uint32_t acts = joints == NULL ? 0 : joints->act_count;
    // what was taken before it is there after it: a reset to the very begin would move it
    Status status = arena_take(state->scratch, 1) != NULL
                        ? STATUS_OK
                        : error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                                    "Memory ended as a step began: raise --memory-bytes-max.");
    const ArenaMark mark = arena_mark(state->scratch);
    bool is_thrown = false;
    do {
        if (is_thrown) {
            arena_reset_to(state->scratch, mark);
        }
        if (joints != NULL) {
            joints->act_count = acts; // those of rows are made anew
        }
        thrown_begin(state);
        status = STATUS_THEN(status, meet(state));
        status = STATUS_THEN(status, apply_law(state));
        status = STATUS_THEN(status, thrown_find(state, state->world->pose, &is_thrown));
    } while (status == STATUS_OK && is_thrown);
    return status;
}

// The same in substeps, each from where the one before has taken the world; the last one's new
// state is not the world's yet.
static Status apply_law_in_substeps(StepState *state, const StepInput *given, Pushed *pushed) {
    StepReport *whole = state->report;
    StepInput input = *given;
    input.time_step = state->step_time / state->substep_count;
    state->touch /= state->substep_count;
    state->recovery_count = 0;
    const ArenaMark mark = arena_mark(state->scratch);
    Status status = STATUS_OK;
    if (state->stepper->joints != NULL) {
        state->stepper->joints->act_count = 0; // those of the whole step moved nothing
    }
    for (uint32_t i = 0; status == STATUS_OK && i < state->substep_count; i++) {
        StepReport report = {0};
        arena_reset_to(state->scratch, mark);
        state->substep = i;
        state->report = &report;
        status = push(state, &input, pushed);
        status = STATUS_THEN(status, substep_begin(state));
        status = STATUS_THEN(status, apply_law(state));
        if (status == STATUS_OK) {
            substep_report(whole, &report, i);
            joint_rows_carry(state);
        }
        status = STATUS_THEN_IF(status, i + 1 < state->substep_count, substep_commit(state));
    }
    state->report = whole;
    return STATUS_THEN(status, substeps_judge(state));
}

// The order of a step. Until the last of these nothing of the world has changed, and the first that
// fails ends it.
static const Stage stages[] = {
    {meet_and_apply, false},        // where bodies would go, what happens there, the new state
    {fault_check_report, false},    // whether it can be told
    {joint_rows_find_broken, true}, // what leaves the world
    {bounds_find, false},           //
    {rest_find, false},             // what falls asleep
    {joint_wrenches_reserve, true}, // room for what joints will be asked about
    {fault_check_joints, true},     // whether the new state can be told
    {integrate_commit, false},      // it is the world's
};

// What follows from the new state, and cannot fail.
static const Commit commits[] = {
    {commands_commit, true}, {joint_wrenches_keep, true}, {joint_project, true},
    {rest_commit, false},    {patience_commit, false},    {joint_rows_remove_broken, true},
    {bounds_remove, false},
};

enum { STAGES_OF_LAW = 1 };

// Unrolled, so that the calls are no calls through a table: of a small step that is a thirtieth.
static inline Status run_stages(StepState *state, size_t first) {
    const bool has_joints = state->world->joint_count > 0;
#pragma GCC unroll 16
    for (size_t i = first; i < sizeof(stages) / sizeof(stages[0]); i++) {
        const Status status =
            stages[i].is_of_joints && !has_joints ? STATUS_OK : stages[i].run(state);
        if (status != STATUS_OK) {
            return status;
        }
    }
#pragma GCC unroll 16
    for (size_t i = 0; i < sizeof(commits) / sizeof(commits[0]); i++) {
        if (has_joints || !commits[i].is_of_joints) {
            commits[i].run(state);
        }
    }
    return STATUS_OK;
}

// Memory of what joints carry, where any may break. false: it ends.
static bool open_carried(StepState *state) {
    const size_t joints = state->world->joint_count;
    state->carried = arena_take_zeroed(state->scratch, joints, 6 * sizeof(double));
    return state->carried != NULL;
}

// From where the step began, once its substeps have thrown somebody farther than anybody had
// looked.
static Status meet_again(StepState *state, const StepKept *kept, const StepInput *given,
                         Pushed *pushed) {
    substeps_undo(state, kept);
    *state->report = (StepReport){0};
    state->substep = 0;
    if (state->world->joint_count > 0) {
        state->stepper->joints->act_count = 0;
        memset(state->carried, 0, 6 * state->world->joint_count * sizeof(double));
    }
    thrown_begin(state);
    const Status status = push(state, given, pushed);
    return STATUS_THEN(status, meet(state));
}

// A step that is divided. Where it fails, the world is what it was.
static Status run_divided(StepState *state, const StepInput *given, Pushed *pushed) {
    thrown_begin(state);
    Status status = meet(state);
    StepKept *kept = status == STATUS_OK ? substeps_keep(state) : NULL;
    if (status != STATUS_OK || kept == NULL || !open_carried(state)) {
        return status != STATUS_OK
                   ? status
                   : error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                               "Memory ended while dividing the step: raise --memory-bytes-max.");
    }
    bool is_thrown = false;
    do {
        status = is_thrown ? meet_again(state, kept, given, pushed) : STATUS_OK;
        status = STATUS_THEN(status, apply_law_in_substeps(state, given, pushed));
        status = STATUS_THEN(status, thrown_find(state, substeps_kept_poses(kept), &is_thrown));
    } while (status == STATUS_OK && is_thrown);
    status = STATUS_THEN(status, run_stages(state, STAGES_OF_LAW));
    if (status == STATUS_OK) {
        substeps_tell(state);
        state->stepper->is_divided = true;
    } else {
        substeps_undo(state, kept);
    }
    return status;
}

// false: memory ends.
static bool open_joints(Stepper *stepper) {
    if (stepper->joints == NULL) {
        stepper->joints = calloc(1, sizeof(*stepper->joints));
    }
    if (stepper->joints != NULL) {
        stepper->joints->act_count = stepper->joints->broken_count = 0;
    }
    return stepper->joints != NULL;
}

Status stepper_run(Stepper *stepper, World *world, const StepInput *input, Arena *scratch,
                   ClockProc *clock, StepReport *report, Error *error) {
    ASSERT(input->time_step > 0.0);
    ArenaMark mark = arena_mark(scratch);
    if (world->bodies_moved) {
        stepper_reset(stepper);
        world->bodies_moved = false;
    }
    stepper->step_time = input->time_step;
    load_solver(&world->settings, &stepper->solver);
    const Solver *solver = solver_get(stepper->solver.kind);
    *report = (StepReport){0};
    StepState state = {.stepper = stepper,
                       .world = world,
                       .input = input,
                       .scratch = scratch,
                       .error = error,
                       .clock = clock,
                       .report = report,
                       .solver_row = solver,
                       .substep_count = world->settings.substeps,
                       .step_time = input->time_step,
                       .wants_gdot = solver->wants_gdot != NULL &&
                                     solver->wants_gdot(stepper->solver.parameter)};

    patience_begin(&state);
    // the stages write over it
    stepper->has_last = stepper->has_old_ids = stepper->has_wrenches = stepper->is_divided = false;
    Pushed pushed;
    Status status = world->joint_count == 0 || (open_joints(stepper) && commands_begin(&state))
                        ? STATUS_OK
                        : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                                    "Memory ended while commanding joints: raise "
                                    "--memory-bytes-max.");
    status = STATUS_THEN(status, push(&state, input, &pushed));
    if (status == STATUS_OK) {
        status =
            state.substep_count == 1 ? run_stages(&state, 0) : run_divided(&state, input, &pushed);
    }
    report->contact_count = stepper->contact_count;
    report->row_count = stepper->row_count;
    report->recovery_count = state.recovery_count;
    report->idle_count = state.idle_contact_count + stepper->idle_row_count;
    if (status == STATUS_OK) {
        report->removed_count = state.left_count;
        report->broken_count = state.broken_count;
        report->asleep_count = sleep_count(world);
        report->owed_steps = world->settings.effort == WORLD_BALANCED ? world->solver_wait : 0;
        name_worst(stepper, world, report);
        name_open(stepper, world, report);
        tell_launch(stepper, world, &state.solves.launch, report);
        stepper->has_last = true;
    } else if (status == STATUS_RESOURCE_EXHAUSTED) {
        stepper_reset(stepper);
    }
    thrown_end(&state);
    arena_reset_to(scratch, mark);
    return status;
}
