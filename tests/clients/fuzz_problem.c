// SPDX-License-Identifier: MIT
// Any bytes as a problem file: refused with a sentence, or read; and what was read, written and
// read again is the same problem.
#include "cli/problems/problem.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// NULL: refused, with its place and what is wrong.
static Moreau__V1__ContactProblem *read_text(const char *text, size_t count,
                                             ProblemSolver *solver) {
    JsonText json;
    JsonError error = {0};
    *solver = (ProblemSolver){0};
    if (!json_text_parse(&json, "file", text, count, &error)) {
        ASSERT(strncmp(error.message, "file:", 5) == 0);
        return NULL;
    }
    Moreau__V1__ContactProblem *problem = problem_read(&json, solver, &error);
    ASSERT(problem != NULL || strncmp(error.message, "file:", 5) == 0);
    json_text_free(&json);
    return problem;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    ProblemSolver solver;
    Moreau__V1__ContactProblem *problem = read_text((const char *)bytes, count, &solver);
    if (problem == NULL) {
        problem_solver_free(&solver);
        return 0;
    }
    json_t *written = problem_write(problem, "fuzzed", solver.name, solver.parameters);
    ASSERT(written != NULL);
    char *text = json_dumps(written, 0);
    ASSERT(text != NULL);
    ProblemSolver solver_again;
    Moreau__V1__ContactProblem *again = read_text(text, strlen(text), &solver_again);
    ASSERT(again != NULL);
    json_t *rewritten = problem_write(again, "fuzzed", solver_again.name, solver_again.parameters);
    ASSERT(rewritten != NULL && json_equal(written, rewritten));

    json_decref(rewritten);
    moreau__v1__contact_problem__free_unpacked(again, NULL);
    problem_solver_free(&solver_again);
    problem_solver_free(&solver);
    free(text);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
    return 0;
}
