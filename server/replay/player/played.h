// SPDX-License-Identifier: MIT
// What a player did last, one thing at a time, for whoever does the same elsewhere: changes, which
// come first, or one step of the world, or nothing. Borrowed until the player does the next thing.
#pragma once

#include "run/worlds/input.h"
#include "step/step.h"

typedef struct Played {
    size_t change_count;
    const Input *change;      // [change_count] none of them is a step
    const StepOrder *step;    // NULL: none was taken, or it failed as it did when it was recorded
    double time_step;         // [s] that it took
    const StepReport *report; // of it
    bool ends_step; // a step of the episode has ended with it: a group's may be of several
} Played;
