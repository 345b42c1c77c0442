// SPDX-License-Identifier: MIT
// States of worlds of the reference that were kept, as snapshots: by numbers from 1 on, until the
// process ends. What snapshots on the server must be, and what worlds begin with that are made of
// them, or of scenes.
#pragma once

#include "base/arena.h"
#include "moreau.pb-c.h"
#include "world/world.h"

typedef struct State {
    uint8_t *bytes; // as SnapshotRead must give them
    size_t count;
    uint64_t step, hash;
} State;

// The world as it is, whose state hash this is. Its number.
uint64_t state_keep(const World *world, uint64_t hash, Arena *scratch);

// The same of bytes that a server gave.
uint64_t state_keep_bytes(const uint8_t *bytes, size_t count, Arena *scratch);
const State *state_get(uint64_t number);

// The scene of a world, as packed bytes in the arena; its name is always the same.
ProtobufCBinaryData state_scene(const World *world, Arena *arena);

// A scene with another name, packed likewise.
ProtobufCBinaryData state_scene_renamed(const Moreau__V1__Scene *scene, Arena *arena);

// Whether a scene can say where everything is: a step may bring a body farther than it may put one.
bool state_can_be_said(const World *world);

// The world that WorldCreate makes of a scene, kept. Wherever it begins as the world does that the
// scene was taken of, to the bit, it takes the same steps as that world would if it forgot what no
// scene says; fails where it does not. Its number.
uint64_t state_of_scene(const Moreau__V1__Scene *scene, uint64_t of, Arena *scratch);
