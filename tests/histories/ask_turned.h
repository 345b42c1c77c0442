// SPDX-License-Identifier: MIT
// Nobody's place to look from is better than another's: a step of the world from a cold start,
// solved to the end, and one of it as somebody else sees it (seen.h), have the same contacts, and
// the same velocities where the first world has only one answer. What lies within rounding of being
// otherwise is found by moving everything by some roundings; it is left out, and counted.
#pragma once

#include "histories/play.h"

// How that somebody sees it follows from the seed; false: he sees something else.
bool ask_turned(Play *play, const World *world, uint32_t seed);
