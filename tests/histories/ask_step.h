// SPDX-License-Identifier: MIT
// What is asked of a step: of the problem that it made and the answer to it, while it is under way,
// and of its book of energy once it is done.
#pragma once

#include "histories/play.h"

typedef struct AskStep {
    StepWitness witness; // first, so that it is found from that
    Play *play;
    const World *world;
    double time_step;
    double scale;    // of its energies before the step, and of what it solved [J]
    double rounding; // by how much its book may be wrong beyond a share of them [J]
} AskStep;

// Before a step of the world. Its witness asks tests/support/harness_judge of every problem that is
// not too large for it.
AskStep ask_step_begin(Play *play, const World *world, double time_step);

// After it. Nothing is unexplained; and what is calm stays so: nobody is faster than all energy
// that was ever put in could make him, unless what gains as it is told to has been about.
bool ask_step_end(const AskStep *ask, const StepReport *report);
