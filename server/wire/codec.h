// SPDX-License-Identifier: MIT
// Messages in and out of bytes: protobuf-c over an arena, so that a message can never take more
// memory than the arena allows and is never freed piece by piece; and the checks that hold for
// every message alike (finite numbers, UTF-8, known enum values), done once by reflection.
#pragma once

#include "base/arena.h"
#include "base/status.h"

#include <protobuf-c/protobuf-c.h>

enum { CODEC_TEXT_BYTES_MAX = 255, CODEC_ABOUT_BYTES_MAX = 4096 };

// NULL: malformed, or the arena ended (*exhausted says which). The message lives in the arena.
ProtobufCMessage *codec_unpack(const ProtobufCMessageDescriptor *descriptor, Arena *arena,
                               const uint8_t *bytes, size_t count, bool *exhausted);

// Judges every field of a message, recursively. Names the field as poses[17] or
// scene.bodies[3].position[0].
Status codec_check(const ProtobufCMessage *message, Error *error);
