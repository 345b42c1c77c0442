// SPDX-License-Identifier: MIT
// The sections of a snapshot, in the order they are written, as a table of fields. A new number
// that a world's future depends on is a new row; a new kind of thing in a world, a new section.
#pragma once

#include "step/snapshot/fields.h"

enum { SNAPSHOT_GEOMETRIES = 19 }; // which names them

extern const SnapshotSection snapshot_sections[];
extern const size_t snapshot_section_count;
