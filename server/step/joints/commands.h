// SPDX-License-Identifier: MIT
// The commands that act in a step: those of the world, later and slower where an axis has a delay
// or a lag (world/world_commands.h).
#pragma once

#include "step/state/state.h"

// Before anything of the step asks for them. false: memory ends.
bool commands_begin(StepState *state);

// Once the step has happened: what is under way is a step further.
void commands_commit(StepState *state);

// Whether the commands of a joint are another step after step, without anybody giving new ones.
bool commands_are_under_way(const StepState *state, const Joint *joint);
