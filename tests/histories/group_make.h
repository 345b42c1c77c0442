// SPDX-License-Identifier: MIT
// Groups made by chance of a world that is there: what is acted on and seen, bounds, starts, each
// world's own numbers, limits, the ways to begin again; and what their worlds are called for.
#pragma once

#include "base/arena.h"
#include "run/groups/group.h"
#include "simulate/dice.h"

// Of what the template has; lives in the arena. It may be refused all the same.
GroupDef group_make_def(Dice *dice, const World *template, Arena *arena);

// A call on some worlds: only its orders. `actions`, in the call's precision, are legal mostly.
GroupCall group_make_call(Dice *dice, Group *group, Arena *arena);
