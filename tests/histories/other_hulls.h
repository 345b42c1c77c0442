// SPDX-License-Identifier: MIT
// Hulls seen otherwise: turned, mirrored or of another size they are other geometries, with other
// names and other bits.
#pragma once

#include "simulate/dice.h"
#include "world/world.h"

// Every geometry of a world becomes that of its points by a map; faces begin with any corner by the
// dice, or, where there are none, with the same edge. false: one of those is none that a hull may
// be, and all stay as they are.
bool other_hulls(World *world, Mat3 map, Dice *dice);
