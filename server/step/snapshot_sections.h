// SPDX-License-Identifier: MIT
// The sections of a snapshot, in the order they are written, and the byte streams they are written
// to and read from. A new kind of thing in a world is a new row.
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "world/world.h"

typedef struct SnapshotSection {
    uint32_t kind, version;
    bool is_definition; // changes only when the world is defined anew, not by a step
    void (*write)(Sink *sink, const World *world);
    // Fills a fresh world; judges every number. Sections are read in order.
    Status (*read)(Source *source, World *world, Error *error);
} SnapshotSection;

extern const SnapshotSection snapshot_sections[];
extern const size_t snapshot_section_count;
