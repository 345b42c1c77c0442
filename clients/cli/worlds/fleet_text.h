// SPDX-License-Identifier: MIT
// A fleet as `moreau top --fleet` prints it: a line a server, those that are lost first.
#pragma once

#include "cli/worlds/fleet.h"

// At most `lines` lines. `refusal`: why the file could not be read again; "": it could.
void fleet_text_print(const Fleet *fleet, const char *refusal, size_t lines);

// {"fleet", "servers", "lost", "steps_per_s"}; a new reference.
json_t *fleet_text_write(const Fleet *fleet, const char *path);
