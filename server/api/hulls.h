// SPDX-License-Identifier: MIT
// Hulls that came as points, built before the door sees them: what passes it is in its built form,
// so that nothing that replays it builds one. On a lane, as it may take a tenth of a second.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "run/worlds/input.h"

// Of any input: nothing is done to those that have no points. Blames hulls[i].
Status hulls_build(Input *input, Arena *arena, Error *error);
