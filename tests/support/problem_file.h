// SPDX-License-Identifier: MIT
// Contact problems from moreau-problem/1 files (problem.md), for tests. A file that is not as
// expected ends the test with a sentence; nothing here is meant for input from outside.
#pragma once

#include "base/arena.h"
#include "solve/problem.h"

#include <jansson.h>

typedef struct ProblemFile {
    json_t *root; // owned
    Arena arena;  // owned: the problem's arrays
    ContactProblem problem;
} ProblemFile;

// `name` as "one-ball", a file of tests/problems
void problem_file_open(ProblemFile *file, const char *name);
void problem_file_close(ProblemFile *file);

// A JSON document of tests/reference, as "mdp"; owned by the caller (json_decref).
json_t *problem_file_reference(const char *name);

// The answer of a model, or NULL: borrowed from the file. The model is matched as a whole word.
const json_t *problem_file_answer(const ProblemFile *file, const char *model);

// Reads the numbers of an array, nested to any depth, one after the other; returns how many.
size_t problem_file_numbers(const json_t *array, double *numbers, size_t capacity);
