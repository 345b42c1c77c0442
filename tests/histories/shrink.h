// SPDX-License-Identifier: MIT
// The shortest history that still finds the same: whole runs of deeds are left out while each that
// is left is made for the world as it stands, then deeds as they are, then columns, entries and
// digits.
#pragma once

#include "histories/trial.h"

// What is left of it, in the arena. false: it does not find it again.
bool shrink_recipe(const Recipe *recipe, const Finding *finding, Arena *arena, History *history);

bool shrink_history(History *history, const Finding *finding, Arena *arena);
