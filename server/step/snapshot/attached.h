// SPDX-License-Identifier: MIT
// The geometries that a whole snapshot brings with it, behind its sections.
#pragma once

#include "base/bytes.h"
#include "world/world.h"

enum { SNAPSHOT_ATTACHED = 1000, SNAPSHOT_SECTION_HEAD_BYTES = 16 };

// Steps over sections, whatever is in them, to the first of this kind. false: there is none, or
// what is there is no sections, which whoever reads them will say.
bool snapshot_find_section(Source *source, uint32_t wanted);

size_t snapshot_attached_bytes(const World *world); // 0: it has none
void snapshot_attach(Sink *sink, const World *world);

// Those of a snapshot that is being read, for as long as it takes.
typedef struct Attached {
    const Geometry **geometry; // owned, and each held
    size_t count;
} Attached;

// Puts those of a snapshot, whose sections `source` stands before, on the shelf, and takes them off
// the end of `source`. Without any it is well, too.
Status snapshot_detach(Source *source, GeometryShelf *shelf, Attached *attached, Error *error);
void snapshot_drop_attached(Attached *attached);
