// SPDX-License-Identifier: MIT
// What steps take of memory: no more the longer a world is stepped. There is no tolerance in it:
// what a step takes follows from what it begins with, and not from how many were before it.
#pragma once

#include "histories/play.h"

// A stepper that has stepped for long has counted of its last step what another one has that did
// not. false: it has not, which is a finding.
bool ask_counts(Play *play, const World *world, const Stepper *stepper, const Stepper *other);

// The same steps of a copy of the world, some at a time, over and over by one stepper, as the seed
// says: from the second time on nobody takes any more. Nothing is asked of a world that is not
// small.
bool ask_memory(Play *play, const World *world, uint32_t seed);
