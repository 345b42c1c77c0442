// SPDX-License-Identifier: MIT
// Worlds compared member by member, without the tables that snapshots, hashes and copies are made
// by: what one of those forgets, all that follow from it forget alike.
#pragma once

#include "world/world.h"

// NULL: what the future of both depends on is the same, to the bit; else the name of what is not.
const char *members_differ(const World *a, const World *b);

// Whether bodies, their shapes and their joints have the same places and masses, to the bit. Worlds
// of the same scene may differ in the last one.
bool members_are_placed_alike(const World *a, const World *b);

// NULL: bodies and joints are the same; whatever they are called, and whatever came before.
const char *members_move_apart(const World *a, const World *b);
