// SPDX-License-Identifier: MIT
// Whether two scenes say the same, every field of every message of them.
#pragma once

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>

// Doubles may differ by `slack`; the first field that differs is written to `where`, as
// "bodies.position 0.5 0.75 [2] [4]": the numbers of it, and their indices from within.
bool scene_is_same(const ProtobufCMessage *a, const ProtobufCMessage *b, double slack, char *where,
                   size_t where_bytes);
