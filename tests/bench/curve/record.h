// SPDX-License-Identifier: MIT
// The contact problems of consecutive steps of a scene, each with the impulses that its step
// started from, so that every way of solving can be asked the same.
#pragma once

#include "bench/scene.h"
#include "solve/problem.h"

typedef struct Recording {
    ContactProblem *problem; // [count] in the arena
    uint32_t count;
    double contacts;   // of a problem, mean
    double outside_ns; // CPU time of a step without its solve, median
    Arena arena;       // owned
} Recording;

// Steps the scene as it is set; keeps the problems of `count` steps from step `first` on (0: the
// first of all) that have contacts.
Recording record_scene(Scene *scene, uint32_t first, uint32_t count);
void record_free(Recording *recording);
