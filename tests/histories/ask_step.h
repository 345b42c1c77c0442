// SPDX-License-Identifier: MIT
// What is asked of a step: of the problem that it made and the answer to it, while it is under way,
// and of its book of energy once it is done.
#pragma once

#include "histories/play.h"

typedef struct AskStep {
    StepWitness witness; // first, so that it is found from that
    Play *play;
} AskStep;

// Asks tests/support/harness_judge of every problem that is not too large for it.
AskStep ask_step_judge(Play *play);

// What a world has of energy beside gravity, and by what it can come: call it before and after a
// step. [J]
double ask_step_scale(const World *world, double time_step);

// What is integrated explicitly may run away: dampers that are too strong, and what spins.
bool ask_step_may_gain(const World *world);

// `before` is ask_step_scale of before the step. Nothing is unexplained; and what is calm stays so:
// nobody is faster than all energy that was ever put in could make him.
bool ask_step_energy(Play *play, const World *world, const StepReport *report, double time_step,
                     double before);
