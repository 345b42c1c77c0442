// SPDX-License-Identifier: MIT
// Whether two scenes say the same, every field of every message of them.
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

// What doubles may differ by: those that are velocities, and all others.
typedef struct SceneSlack {
    double place, velocity;
} SceneSlack;

// The first field that differs is written to `where`, as "bodies.position 0.5 0.75 [2] [4]": the
// numbers of it, and their indices from within.
bool scene_is_same(const ProtobufCMessage *a, const ProtobufCMessage *b, const SceneSlack *slack,
                   char *where, size_t where_bytes);
