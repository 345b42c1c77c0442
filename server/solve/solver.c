// SPDX-License-Identifier: MIT
#include "solve/solver.h"

#include "base/assert.h"
#include "solve/ccp/ccp.h"
#include "solve/compliant/compliant.h"
#include "solve/idle.h"
#include "solve/lcp/lcp.h"
#include "solve/mdp/mdp.h"
#include "solve/sap/sap.h"

#include <stdio.h>
#include <string.h>

static const Solver solver_table[SOLVER_COUNT] = {
#define X(upper, lower, text, ...)                                                                 \
    [SOLVER_##upper] = {#lower,        text,         lower##_parameters, upper##_PARAMETER_COUNT,  \
                        lower##_solve, lower##_bias, __VA_ARGS__},
    SOLVER_MAP(X)
#undef X
};

#define X(upper, ...)                                                                              \
    _Static_assert((int)upper##_PARAMETER_COUNT <= (int)SOLVER_PARAMETER_MAX,                      \
                   "settings hold every parameter");
SOLVER_MAP(X)
#undef X

const Solver *solver_get(SolverKind kind) {
    ASSERT((unsigned)kind < SOLVER_COUNT);
    return &solver_table[kind];
}

bool solver_find(const char *name, SolverKind *kind) {
    ASSERT(name != NULL);
    for (unsigned i = 0; i < SOLVER_COUNT; i++) {
        if (strcmp(name, solver_table[i].name) == 0) {
            *kind = (SolverKind)i;
            return true;
        }
    }
    return false;
}

SolverSettings solver_default(SolverKind kind) {
    const Solver *solver = solver_get(kind);
    SolverSettings settings = {.kind = kind};
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        settings.parameter[i] = solver->parameters[i].default_value;
    }
    return settings;
}

SolverSettings solver_solve_default(SolverKind kind) {
    const Solver *solver = solver_get(kind);
    SolverSettings settings = {.kind = kind};
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        settings.parameter[i] = solver->parameters[i].solve_default;
    }
    return settings;
}

enum { LIST_BYTES = 256 };

// appends to a list that is cut where it is full
static void append(char list[LIST_BYTES], const char *text) {
    size_t used = strlen(list);
    snprintf(list + used, LIST_BYTES - used, "%s%s", used == 0 ? "" : ", ", text);
}

static Status refuse_name(const Solver *solver, const char *name, Error *error) {
    char list[LIST_BYTES] = "";
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        append(list, solver->parameters[i].name);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, name, "%s has no parameter %.64s; it has %s.",
                     solver->name, name, list);
}

static Status refuse_choice(const ParameterRow *row, Error *error) {
    ASSERT(row->choices != NULL);
    char list[LIST_BYTES] = "";
    for (int i = 0; row->choices[i] != NULL; i++) {
        append(list, row->choices[i]);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, row->name, "%s must be one of %s.", row->name,
                     list);
}

static Status refuse_range(const ParameterRow *row, double value, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, row->name,
                     "%s must be %s between %g and %g%s%s, not %g.", row->name,
                     row->kind == PARAMETER_EVEN    ? "an even number"
                     : row->kind == PARAMETER_COUNT ? "a whole number"
                                                    : "a number",
                     row->minimum, row->maximum, row->unit[0] == '\0' ? "" : " ", row->unit, value);
}

// also refuses what is not a number
static bool is_allowed(const ParameterRow *row, double value) {
    bool is_whole = row->kind == PARAMETER_NUMBER || floor(value) == value;
    bool is_fit = row->kind != PARAMETER_EVEN || floor(0.5 * value) == 0.5 * value;
    return value >= row->minimum && value <= row->maximum && is_whole && is_fit;
}

void solver_ease(SolverSettings *settings) {
    const Solver *row = solver_get(settings->kind);
    if (row->ease != NULL) {
        row->ease(settings->parameter);
        ASSERT(settings->parameter[SOLVER_TOLERANCE] > 0.0);
    }
}

Status solver_set(SolverSettings *settings, const char *name, double value, Error *error) {
    ASSERT(name != NULL);
    const Solver *solver = solver_get(settings->kind);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const ParameterRow *row = &solver->parameters[i];
        if (strcmp(row->name, name) != 0) {
            continue;
        }
        if (is_allowed(row, value)) {
            settings->parameter[i] = value;
            return STATUS_OK;
        }
        if (row->kind == PARAMETER_CHOICE) {
            return refuse_choice(row, error);
        }
        if (row->kind == PARAMETER_BOOL) {
            return error_set(error, STATUS_INVALID_ARGUMENT, name, "%s must be 0 or 1, not %g.",
                             name, value);
        }
        return refuse_range(row, value, error);
    }
    return refuse_name(solver, name, error);
}

// What every solver answers, to the last bit, where nothing touches: no impulses, and M^-1 0 added
// to the free velocities.
static Status solve_nothing(const SolverSettings *settings, const ContactProblem *problem,
                            Arena *arena, SolveResult *result, Error *error) {
    ASSERT(!solver_has_work(problem));
    *result = (SolveResult){
        .answer = {.v = arena_take_array(arena, problem->velocity_count, sizeof(double)),
                   .momentum = arena_take_zeroed(arena, problem->velocity_count, sizeof(double))},
        .certificate = certificate_of_nothing(problem, settings->parameter[SOLVER_TOLERANCE])};
    if (result->answer.v == NULL || result->answer.momentum == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the answer.");
    }
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        result->answer.v[i] = 0.0 + problem->v_free[i]; // -0.0 becomes 0.0
    }
    result->launch = launch_of(problem, &result->answer);
    return STATUS_OK;
}

static Status solve_rest(const SolverSettings *settings, const ContactProblem *problem,
                         const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ContactProblem rest;
    uint32_t idle = 0;
    Status status = idle_leave_out(problem, solver_get(settings->kind)->time != NULL, arena, &rest,
                                   &idle, error);
    status = STATUS_THEN(
        status, solver_get(settings->kind)->solve(&rest, settings, context, arena, result, error));
    if (status == STATUS_OK) {
        result->idle = idle;
        result->launch = launch_of(&rest, &result->answer);
    }
    return status;
}

Status solver_solve(const SolverSettings *settings, const ContactProblem *problem,
                    const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(problem->time_step > 0.0);
    ASSERT(problem->tree_count <= problem->velocity_count);
    Status status = solver_has_work(problem)
                        ? solve_rest(settings, problem, context, arena, result, error)
                        : solve_nothing(settings, problem, arena, result, error);
    // where it is no parameter's limit, it is memory's
    if (status == STATUS_RESOURCE_EXHAUSTED && error != NULL && error->field[0] == '\0') {
        const Error what = *error;
        error_set(error, status, NULL, "%s Raise --memory-bytes-max, of which it has a part.",
                  what.message);
    }
    return status;
}
