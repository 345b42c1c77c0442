// SPDX-License-Identifier: MIT
// Units are nobody's law: a world whose metres, kilograms and seconds are others, by powers of two,
// with every number and setting that has a dimension, takes the same steps to the last bit. What in
// the dynamics is an absolute constant all the same stands in a table (units.c), with its reason.
#pragma once

#include "histories/play.h"

// Some steps of the world and of the same in other units, which follow from the seed; false: they
// differ.
bool ask_units(Play *play, const World *world, uint32_t seed);
