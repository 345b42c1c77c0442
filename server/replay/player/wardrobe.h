// SPDX-License-Identifier: MIT
// What an episode's recording wears: its geometries on the shelf, held for as long as somebody
// steps it again, so that key-frames and inputs, which name them, find them there. Those that are
// there already, as of a world that is still alive, are not read.
#pragma once

#include "log/reader/reader.h"
#include "world/world.h"

typedef struct Wardrobe {
    const Geometry **geometry; // owned, and each held
    size_t count, capacity;
    bool has_place;
    ChunkPlace place; // the last chunk of names that was looked at
    Error lacks;      // the first that is missing or damaged; status OK: none
} Wardrobe;

void wardrobe_empty(Wardrobe *wardrobe);

// Takes in what the recording has named since. What is missing or damaged is noted alone: it may
// never be asked for.
Status wardrobe_fill(Wardrobe *wardrobe, LogReader *reader, const EpisodeRow *episode,
                     const WorldLimits *limits, Error *error);

// What names something may have been refused because that is lacking: then `refusal` says so.
void wardrobe_explain(const Wardrobe *wardrobe, Error *refusal);
