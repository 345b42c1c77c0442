// SPDX-License-Identifier: MIT
// The solver harness: what every contact solver is tried on, and how. It goes through the table of
// solvers, and of each through every choice of every parameter that is a choice, so that a new
// solver, and a new method of an old one, is tested by being in the table. Problems are made here,
// from a seed, or are the files of tests/problems: a file is tested by being there.
//
//   check_harness*.c        what is asserted of all of them
//   harness_problem.c       the problems
//   harness_judge.h         how an answer is judged, beside the certificate
//   harness_permute.h       the same problem in another order
#pragma once

#include "solve/solver.h"
#include "support/problem_build.h"
#include "support/problem_file.h"

// ---- solvers

enum { HARNESS_VARIANTS_MAX = 64, HARNESS_NAME_BYTES = 128 };

// A solver with one choice of everything that can be chosen.
typedef struct HarnessVariant {
    SolverSettings settings;       // of the call Solve, but for the choices and less iterations
    char name[HARNESS_NAME_BYTES]; // as "mdp coulomb newton"
} HarnessVariant;

// All of them, in the order of the tables; returns how many.
uint32_t harness_variants(HarnessVariant *variant);

// ---- problems

// How dear a problem is: dear ones are tried where a test says so.
typedef enum HarnessSize { HARNESS_SMALL, HARNESS_DEAR, HARNESS_HARD } HarnessSize;

typedef struct HarnessProblem {
    char name[HARNESS_NAME_BYTES]; // as "random bodies 3", or a file's, as "hard/heap-125-a"
    HarnessSize size;
    bool is_unique;                // under every law there is one velocity that solves it
    const ContactProblem *problem; // borrowed until it is closed
    // what holds it
    ProblemBuild build;
    ProblemFile file;
    bool is_file;
} HarnessProblem;

// How many there are, at this scale of campaigns.
uint32_t harness_problem_count(void);
void harness_problem_open(uint32_t index, HarnessProblem *problem);
void harness_problem_close(HarnessProblem *problem);

// Whether a change does without this problem for this variant, as `long` campaigns do not: one that
// is not small shows of the printed program what it shows of it under one choice of the others.
bool harness_is_spared(const HarnessProblem *problem, const HarnessVariant *variant);

// ---- a solve

typedef struct HarnessRun {
    Arena arena; // owned
    SolveResult result;
    Status status;
    Error error;
} HarnessRun;

// In an arena of its own of at most so many bytes.
void harness_run_init(HarnessRun *run, size_t bytes_max);
void harness_run_deinit(HarnessRun *run);

// What it had found before is gone. Fails the test when the problem's bytes are changed.
Status harness_run(HarnessRun *run, const HarnessVariant *variant, const ContactProblem *problem,
                   const Context *context);

// Whether two answers are the same to the last bit: velocities, impulses, relations, iterations,
// residuals and certificate.
bool harness_is_same(const ContactProblem *problem, const SolveResult *a, const SolveResult *b);

// A hash of all that a problem says.
uint64_t harness_problem_hash(const ContactProblem *problem);
