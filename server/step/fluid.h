// SPDX-License-Identifier: MIT
// A fluid that stands still and fills the world: what it does to bodies that move through it, each
// as the box of its mass and inertia.
#pragma once

#include "step/state/state.h"

// Wrenches of the fluid, behind those of the step's input: `input` is that input, with them. Where
// the world has no fluid, or nothing moves, it is that input itself. false: memory ends.
bool fluid_push(StepState *state, StepInput *input);
