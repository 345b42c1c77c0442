// SPDX-License-Identifier: MIT
// The next step, tried with other solvers and parameters on worlds made of the one that is to take
// it, which stays as it is.
#include "base/history.h"
#include "os/clock.h"
#include "step/snapshot/snapshot.h"
#include "web/prove_parts.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { HISTORY_MAX = 4096 };
enum { TEXT_BYTES = 32768 }; // of all solvers' parameters, of which there are about fifty

typedef struct Again {
    World *world; // of the newest trial; NULL: none
    Stepper *stepper;
    StepRun run;
    ProveHeld held; // in an arena of its own
    bool is_held, has_arenas;
    Arena memory, scratch;
    double parameter[SOLVER_PARAMETER_MAX];
    IterationHistory history;
    double value[HISTORY_MAX];
    double numbers[PROVE_OWN_COUNT];
    char text[TEXT_BYTES];
} Again;

static Again again;

static_assert(PROVE_OWN_COUNT == 1 + SOLVER_PARAMETER_MAX, "a solver and its parameters");

// ---- solvers

static size_t add_text(size_t used, const char *text, char end) {
    int count = snprintf(again.text + used, TEXT_BYTES - used, "%s%c", text, end);
    used += count > 0 ? (size_t)count : 0;
    return used < TEXT_BYTES ? used : TEXT_BYTES - 1;
}

static size_t add_number(size_t used, double value, char end) {
    char text[32];
    snprintf(text, sizeof(text), "%.17g", value);
    return add_text(used, text, end);
}

const char *prove_solvers(void) {
    size_t used = 0;
    for (unsigned kind = 0; kind < SOLVER_COUNT; kind++) {
        const Solver *solver = solver_get((SolverKind)kind);
        used = add_text(used, solver->name, '\t');
        used = add_text(used, solver->meaning, '\n');
        for (uint32_t i = 0; i < solver->parameter_count; i++) {
            const ParameterRow *row = &solver->parameters[i];
            used = add_text(used, "", '\t');
            used = add_text(used, row->name, '\t');
            used = add_number(used, (double)row->kind, '\t');
            used = add_text(used, row->unit, '\t');
            used = add_number(used, row->minimum, '\t');
            used = add_number(used, row->maximum, '\t');
            used = add_number(used, row->default_value, '\t');
            used = add_text(used, row->meaning, '\t');
            for (int k = 0; row->choices != NULL && row->choices[k] != NULL; k++) {
                used = add_text(used, row->choices[k], ',');
            }
            used = add_text(used, "", '\n');
        }
    }
    again.text[used] = '\0';
    return again.text;
}

// ---- the step that is held

static void end_trial(void) {
    if (again.world != NULL) {
        world_destroy(again.world);
        stepper_destroy(again.stepper);
        again.world = NULL;
        prove_state()->shown = (ProveShown){0};
    }
    if (!again.has_arenas) {
        arena_init(&again.memory, prove_limits.bytes_max);
        arena_init(&again.scratch, prove_limits.bytes_max);
        again.has_arenas = true;
    }
}

// Of a single world.
static ProveNext hold_next(Prover *prover) {
    const ProveNext next = prove_ready();
    if (next != PROVE_STEP) {
        return next;
    }
    ProveHeld *held = &again.held;
    if (snapshot_write(prover->world, &again.memory, &held->snapshot, &held->snapshot_bytes,
                       &prover->error) != STATUS_OK) {
        return (ProveNext)prove_fail();
    }
    held->order = prover->order;
    held->own = step_solver(&prover->world->settings);
    held->expected = entry_hash(&prover->entry, prover->hash_at);
    return PROVE_STEP;
}

ProveNext prove_hold(uint32_t substep) {
    end_trial();
    again.is_held = false;
    arena_reset(&again.memory);
    const ProveNext next = prove_is_group() ? prove_group_hold(substep, &again.memory, &again.held)
                                            : hold_next(prove_state());
    again.is_held = next == PROVE_STEP;
    return next;
}

const double *prove_own(void) {
    const SolverSettings *own = &again.held.own;
    again.numbers[0] = (double)own->kind;
    memcpy(again.numbers + 1, own->parameter, sizeof(own->parameter));
    return again.numbers;
}

double *prove_parameters(void) {
    return again.parameter;
}

// ---- trials

// Through the one door, as anybody sets a solver.
static Status set_solver(SolverKind kind, Error *error) {
    const uint32_t count = solver_get(kind)->parameter_count;
    Input input = {.kind = INPUT_SET};
    input.set.settings = (SettingsChange){.given = CHANGE_SOLVER | CHANGE_PARAMETERS,
                                          .value.solver = kind,
                                          .parameter_solver = kind,
                                          .parameter_given = ((uint32_t)1 << count) - 1};
    memcpy(input.set.settings.value.parameter, again.parameter, sizeof(again.parameter));
    return apply_change(again.world, again.stepper, &input, &again.scratch, NULL, NULL, error);
}

static bool is_own(SolverKind kind) {
    bool is_same = kind == again.held.own.kind;
    for (int i = 0; i < SOLVER_PARAMETER_MAX; i++) {
        is_same = is_same && again.parameter[i] == again.held.own.parameter[i];
    }
    return is_same;
}

static Status make_world(Error *error) {
    Stepper *stepper = stepper_create(prove_limits.bytes_max);
    if (stepper == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "memory ended");
    }
    Status status = snapshot_read(again.held.snapshot, again.held.snapshot_bytes, &prove_limits,
                                  &again.world, error);
    if (status != STATUS_OK) {
        stepper_destroy(stepper);
        again.world = NULL;
        return status;
    }
    again.stepper = stepper;
    return STATUS_OK;
}

ProveNext prove_try(uint32_t kind) {
    Prover *prover = prove_state();
    Error *error = &prover->error;
    *error = (Error){0};
    end_trial();
    arena_reset(&again.scratch);
    arena_reset(&prover->scratch); // of contacts that were looked at
    if (!again.is_held || kind >= SOLVER_COUNT) {
        error_set(error, STATUS_FAILED_PRECONDITION, NULL, "there is no step to try");
        return PROVE_FAILED;
    }
    Status status = make_world(error);
    if (status == STATUS_OK && !is_own((SolverKind)kind)) {
        status = set_solver((SolverKind)kind, error);
    }
    if (status == STATUS_OK) {
        status = apply_begin(again.world, &again.held.order, &again.scratch, &again.run, error);
    }
    if (status != STATUS_OK) {
        return PROVE_FAILED;
    }
    history_init(&again.history, again.value, HISTORY_MAX);
    again.run.input.context.history = &again.history;
    again.run.steps_left = 1;
    status =
        apply_step(again.world, again.stepper, &again.run, &again.scratch, clock_now_ns, error);
    prover->shown = (ProveShown){.world = again.world,
                                 .stepper = again.stepper,
                                 .report = &again.run.tally.last,
                                 .step = prover->step + (status == STATUS_OK)};
    return status != STATUS_OK                                 ? PROVE_FAULT
           : snapshot_hash(again.world) == again.held.expected ? PROVE_SAME
                                                               : PROVE_STEP;
}

const double *prove_history(void) {
    again.numbers[0] = (double)again.history.count;
    again.numbers[1] = (double)again.history.stride;
    again.numbers[2] = (double)(uintptr_t)again.value;
    return again.numbers;
}
