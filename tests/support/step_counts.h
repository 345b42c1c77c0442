// SPDX-License-Identifier: MIT
// How many things a stepper has of its last step. They follow from what the step began with, not
// from the steps before it: two that have taken the same step count alike, however long each has
// stepped. A count that nobody begins anew makes arrays grow for as long as there are steps.
#pragma once

#include "step/step.h"

typedef struct StepCount {
    const char *of; // NULL: all are alike
    size_t one, other;
} StepCount;

// The first of which the two do not have the same, behind the same step. Nothing differs where one
// of them shows no step.
StepCount step_counts_differ(const World *world, const Stepper *one, const Stepper *other);
