// SPDX-License-Identifier: MIT
// A world as message Scene. Read back (scene.h) it makes a world of the same definition and state,
// but for what WorldScene in the proto lists.
#pragma once

#include "base/arena.h"
#include "moreau.pb-c.h"
#include "world/world.h"

// In the arena, NULL when it ends; texts are borrowed from the world.
Moreau__V1__Scene *scene_out(const World *world, const char *name, Arena *arena);
