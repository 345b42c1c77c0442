// SPDX-License-Identifier: MIT
// Any bytes as a problem file: refused with a sentence, or read; and what was read, written and
// read again is the same problem.
#include "cli/problem.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

// NULL: refused, with its place and what is wrong.
static Moreau__V1__ContactProblem *read_text(const char *text, size_t count) {
    JsonText json;
    JsonError error = {0};
    if (!json_text_parse(&json, "file", text, count, &error)) {
        ASSERT(strncmp(error.message, "file:", 5) == 0);
        return NULL;
    }
    Moreau__V1__ContactProblem *problem = problem_read(&json, &error);
    ASSERT(problem != NULL || strncmp(error.message, "file:", 5) == 0);
    json_text_free(&json);
    return problem;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Moreau__V1__ContactProblem *problem = read_text((const char *)bytes, count);
    if (problem == NULL) {
        return 0;
    }
    json_t *written = problem_write(problem, "fuzzed");
    ASSERT(written != NULL);
    char *text = json_dumps(written, 0);
    ASSERT(text != NULL);
    Moreau__V1__ContactProblem *again = read_text(text, strlen(text));
    ASSERT(again != NULL);
    json_t *rewritten = problem_write(again, "fuzzed");
    ASSERT(rewritten != NULL && json_equal(written, rewritten));

    json_decref(rewritten);
    moreau__v1__contact_problem__free_unpacked(again, NULL);
    free(text);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
    return 0;
}
