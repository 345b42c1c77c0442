// SPDX-License-Identifier: MIT
// Whether a world is as its headers say, between two inputs or steps: all of it, or its trees or
// its sleepers alone. What is wrong is a bug of ours, whoever asked for it. Numbers
// are to be finite; that floats hold those of the state is for the step to see to (step/fault.c).
#pragma once

#include "base/defect.h"
#include "world/world.h"

bool world_is_valid(const World *world, Defect *defect);

// The trees are those of the joints there are, with room for every body and joint.
bool world_trees_are_valid(const World *world, Defect *defect);

// Who sleeps does so with its whole island, at rest, and bears what is kept for it.
bool world_sleep_is_valid(const World *world, Defect *defect);
