// SPDX-License-Identifier: MIT
// What the things of a world are called in its scene, where every name is one thing's: their own
// names, but of things of one name all but the first get another, and so does a nameless thing
// that must be named, or whose place, #2, is the name of something.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum { SCENE_GEOMETRY_NAME_BYTES = 32 };

// Geometries have none in a world: by number, from 1 on.
static inline void scene_geometry_name(size_t number, char name[SCENE_GEOMETRY_NAME_BYTES]) {
    snprintf(name, SCENE_GEOMETRY_NAME_BYTES, "geometry-%zu", number);
}

// Names of `count` things, NULL or "" of nameless ones, become those of the scene, NULL of nameless
// ones. Generated names are "what-3". `needs` (Nullable): who must be named. false: the arena ends.
bool scene_names_make(const char **names, size_t count, const bool *needs, const char *what,
                      Arena *arena);

// How another thing of the scene refers to one: by its name, or by its place. NULL: the arena ends.
char *scene_names_refer(const char *name, size_t index, Arena *arena);
