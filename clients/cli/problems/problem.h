// SPDX-License-Identifier: MIT
// Contact problems as files (format "moreau-problem/1") and as packed columns (message
// ContactProblem), and back.
//
// The converter judges shapes and keys, because only it knows lines; numbers are judged by the
// server, whose answer names the key in the same way (contacts[3].mu), so that a line can be found
// for it too.
#pragma once

#include "cli/json/text.h"

#include "moreau.pb-c.h"

#include <stdint.h>

#define PROBLEM_FORMAT "moreau-problem/1"

// A key whose value is a number, or `width` numbers, and the column it lies in. One table each for
// contacts and rows serves both ways.
typedef struct ProblemKey {
    const char *name;
    size_t column;  // offset of the double * in ContactProblem
    size_t count;   // offset of its length
    size_t width;   // numbers per contact or row
    uint32_t given; // bit that says that the number is there; 0: the column alone
    bool is_nullable;
    bool writes_null; // is written as null where it is not given
} ProblemKey;

typedef struct ProblemKeys {
    const ProblemKey *key;
    size_t count;
} ProblemKeys;

ProblemKeys problem_contact_keys(void);
ProblemKeys problem_row_keys(void);

// Who solves it, where a file says so: a dump names what its world's step used.
typedef struct ProblemSolver {
    char *name;                               // owned; NULL: not said
    Moreau__V1__SolverParameters *parameters; // owned; of that solver; NULL: not said
} ProblemSolver;

// A new problem; freed with moreau__v1__contact_problem__free_unpacked(problem, NULL). NULL, with
// `error` filled, when it is refused. `solver` is to be freed in either case.
Moreau__V1__ContactProblem *problem_read(const JsonText *json, ProblemSolver *solver,
                                         JsonError *error);
void problem_solver_free(ProblemSolver *solver);

// A new reference; NULL when the columns do not fit each other. The solver's name and parameters
// are Nullable.
json_t *problem_write(const Moreau__V1__ContactProblem *problem, const char *about,
                      const char *solver, const Moreau__V1__SolverParameters *parameters);

// One answer object, as in "answers" of a problem file, with "report" instead of "residual", and
// "history" where the reply has one. A new
// reference; NULL when the reply does not fit the problem.
json_t *problem_write_answer(const Moreau__V1__ContactProblem *problem, const char *solver,
                             const Moreau__V1__SolverParameters *parameters,
                             const Moreau__V1__SolveReply *answer);
