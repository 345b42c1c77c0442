// SPDX-License-Identifier: MIT
// What a definition says of the state that its recording begins with, against that state: of a
// group against its template. Reads no file: the server's and the page's proof are this.
#pragma once

#include "log/format/definition.h"
#include "world/world.h"

// `time_step` [s] is a step's. The first number of the definition that is not the state's, as
// recording.time_step; NULL: there is none.
const char *first_state_differs(const RecordingDef *def, const World *world, double time_step);
