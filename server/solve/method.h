// SPDX-License-Identifier: MIT
// What a solver is: a pure function of problem and parameters that keeps no state, takes no world,
// reads no clock; and its row, which says what else there is to know of it.
//
// Parameters are numbers, one per row of the solver's table; the table is what checks, Describe and
// --help use. Choices are their index, booleans 0 or 1, counts whole numbers.
#pragma once

#include "base/arena.h"
#include "base/context.h"
#include "solve/certificate.h"
#include "solve/effort.h"
#include "solve/launch.h"
#include "solve/problem.h"
#include "solve/rung.h"

enum { SOLVER_PARAMETER_MAX = 24 };

typedef enum ParameterKind {
    PARAMETER_NUMBER,
    PARAMETER_COUNT,
    PARAMETER_EVEN, // a count that two divides
    PARAMETER_BOOL,
    PARAMETER_CHOICE
} ParameterKind;

typedef struct ParameterRow {
    const char *name; // as on the wire and on the command line
    ParameterKind kind;
    const char *unit;
    double minimum, maximum;    // inclusive
    double default_value;       // in a world
    double solve_default;       // in the call Solve
    const char *const *choices; // PARAMETER_CHOICE: NULL-terminated names; else NULL
    const char *meaning;
} ParameterRow;

// What only some solvers need or offer stands last, as members of Solver; nobody else asks a solver
// by name.
#define SOLVER_MAP(X)                                                                              \
    X(MDP, mdp,                                                                                    \
      "maximum dissipation principle, Gauss-Seidel over contacts (Preclik, Eibl, Ruede)",          \
      .ease = mdp_ease)                                                                            \
    X(LCP, lcp,                                                                                    \
      "polyhedral friction cone and gaps at the end of the step, Lemke (Stewart, Trinkle)",        \
      .time = NULL)                                                                                \
    X(CCP, ccp,                                                                                    \
      "cone complementarity, convex, by an interior-point method (Negrut, Serban, Tasora)",        \
      .time = NULL)                                                                                \
    X(SAP, sap, "compliant contact and regularised friction, convex (Castro, Permenter, Han)",     \
      .time = sap_time)                                                                            \
    X(COMPLIANT, compliant,                                                                        \
      "springs and dampers, integrated implicitly, with Coulomb friction (Drumwright)",            \
      .time = compliant_time, .wants_gdot = compliant_wants_gdot, .takes_tangents = true)

#define X(upper, ...) SOLVER_##upper,
typedef enum SolverKind { SOLVER_MAP(X) SOLVER_COUNT } SolverKind;
#undef X

// A solver and its parameters: what a world carries.
typedef struct SolverSettings {
    SolverKind kind;
    Effort effort;
    double parameter[SOLVER_PARAMETER_MAX]; // unused ones are 0
} SolverSettings;

// The parameters that every solver has, in the same places.
enum { SOLVER_TOLERANCE = 0, SOLVER_MAX_ITERATIONS = 1 };

typedef struct SolveResult {
    Answer answer;           // arrays borrowed from the arena given to solver_solve
    Certificate certificate; // of that answer
    double *residual;        // [contact_count] own residual of each contact over V, as its arrays
    uint32_t iterations;     // of the island that took most
    uint32_t passes;         // linearisations of the contacts, or, of ccp's exact friction, convex
                             // problems; 0: of a solver that knows none
    LcpRung rung;            // that lcp's hardest island needed
    Launch launch;           // of a convex model
    uint32_t softened;       // of ccp: contacts and rows whose targets were softened
    uint32_t idle;           // contacts and rows that can move nothing, and were left out
    bool has_cost_gap;       // of sap alone
    double cost_gap;         // [J] its cost is no further than this from the least
    bool is_in_vain;         // most of its effort went into what stayed open
    uint32_t owed; // [steps] what rests took beyond its share of a balanced effort; 0: nothing
    // Where the solver asked for geometry, else NULL: the problem that it solved last, as far as it
    // is not the one it was given. Solved without geometry it has the same answer.
    const ProblemContact *contact; // frames and biases of the answer are theirs
    const double *warm_contact, *warm_row;
} SolveResult;

typedef Status SolverProc(const ContactProblem *problem, const SolverSettings *settings,
                          const Context *context, Arena *arena, SolveResult *result, Error *error);

// What this solver makes of a gap or an overlap alone, as a contact's bias (notation.md): the step,
// which assembles the problem, bounds it and adds the bounce.
typedef double SolverBiasProc(const double *parameter, double time_step, double gap);

// The time over which this solver's law looks ahead of the step: that of dissipation, B/K.
typedef double SolverTimeProc(const double *parameter, double stiffness, double dissipation_time,
                              double damping);

typedef struct Solver {
    const char *name;
    const char *meaning;
    const ParameterRow *parameters;
    uint32_t parameter_count;
    SolverProc *solve;
    SolverBiasProc *bias;
    SolverTimeProc *time; // NULL: it looks no further than the step, as the rigid ones
    // leaves only so much effort as a solve may take every time. NULL: it never takes more
    void (*ease)(double *parameter);
    // whether it reads what a step knows of Jacobians that change. NULL: no
    bool (*wants_gdot)(const double *parameter);
    bool takes_tangents; // of laws that are not linear
} Solver;

// False: nothing touches and nothing is joined, and every solver's answer is known.
static inline bool solver_has_work(const ContactProblem *problem) {
    return problem->contact_count > 0 || problem->row_count > 0;
}
