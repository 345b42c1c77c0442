// SPDX-License-Identifier: MIT
// The primitives of a scene: the messages of the oneof in ScenePrimitive are matched by name with
// the rows of world/primitive.h, and their fields with the names of the sizes there. A test holds
// both against each other.
#pragma once

#include "base/arena.h"
#include "base/status.h"
#include "moreau.pb-c.h"
#include "world/primitive.h"

// The message that says what kind the primitive is. NULL: none does, and `kind` is untouched.
const ProtobufCMessage *scene_primitive_of(const Moreau__V1__ScenePrimitive *primitive,
                                           PrimitiveKind *kind);

// The sizes of such a message; those that are not given are 0, but lists must be whole. Blames
// `path`.box.half_extents and the like.
Status scene_primitive_read(const ProtobufCMessage *of, PrimitiveKind kind, const char *path,
                            double size[3], Error *error);

// What size `part` is called in a scene: box.half_extents[1].
void scene_primitive_name(PrimitiveKind kind, size_t part, char *name, size_t room);

// Says in the message what kind and how large. false: the arena ended.
bool scene_primitive_put(PrimitiveKind kind, const double size[3], Arena *arena,
                         Moreau__V1__ScenePrimitive *primitive);
