// SPDX-License-Identifier: MIT
// Chains of hinges, of benches of trees.
#pragma once

#include "bench/scene.h"

#define RODS_LENGTH 2.0 // [m], of all of them

// Rods end to end, from the origin down, at an angle off it.
void rods_add(Scene *scene, uint32_t count, double angle, bool as_rows);
