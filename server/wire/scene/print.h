// SPDX-License-Identifier: MIT
// A world as message Scene in JSON, for SQL, web pages and people: however it was made, with every
// number that a scene may name. Read back, it makes a world of the same bodies (but for the
// impulses that the solver remembers).
#pragma once

#include "base/bytes.h"
#include "world/world.h"

// Writes, or with a sink that only counts counts, the settings, the materials and the bodies from
// index `first` on. The same bytes for the same world.
void scene_print(const World *world, uint32_t first, Sink *sink);
