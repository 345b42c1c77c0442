// SPDX-License-Identifier: MIT
// Which bodies may touch in a step by what they and their motions are, and by nothing else: boxes
// along the world's axes find candidates, but whoever sees the world turned has others of these.
//
// All of it is true only of bodies whose boxes overlap, as no box is farther from another than what
// is in them; so the broad phase's candidates are all who may. A surface is here all that is in its
// own box.
#pragma once

#include "step/state/state.h"

// Whether two bodies, by their free motions, may come together in this step, before anybody is
// pushed: the balls around them do, along their ways, and parts of the two are no farther apart
// than both may come.
bool touch_may(const StepState *state, uint32_t a, uint32_t b);

// The same of two of which one is pushed, or both: each comes as far as by itself, or to anywhere
// in a ball that it may be pushed to.
bool touch_may_pushed(const StepState *state, uint32_t a, uint32_t b);
