// SPDX-License-Identifier: MIT
// The geometries of a world on their way into the log: held until their bytes are in the file, and
// copied by nobody before.
#pragma once

#include "log/log.h"
#include "world/world.h"

// Which geometries of its world a recording has named. Zero: none.
typedef struct WornNames {
    uint8_t (*name)[SHA256_BYTES]; // owned
    size_t count, capacity;
} WornNames;

void worn_names_deinit(WornNames *names);

// A chunk of those of the world that were not named yet, and from now on are; *buffer NULL: there
// are none. false: memory ended.
bool worn_take(Log *log, const World *world, WornNames *names, LogBuffer **buffer);

// Of the geometries, as if none of them were in the file yet.
uint64_t worn_bytes(const LogWorn *worn);
