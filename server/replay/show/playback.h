// SPDX-License-Identifier: MIT
// The states and contacts of a stored episode, one frame at a time: the stored frame where there is
// one at exactly that step, else a player steps to it. Reading forwards is cheap; going back costs
// at most the steps since a key-frame, and about twice as much as forwards where it is said in
// advance (backward.h).
//
// Belongs to one thread at a time; long work stops at `until_ns` or when `context` says so, and
// goes on with the next call.
#pragma once

#include "log/reader/reader.h"
#include "replay/show/stepped_frame.h"

typedef struct Playback Playback;

typedef struct PlaybackDef {
    Log *log;
    const EpisodeRow *episode; // borrowed for the playback's life
    WorldLimits limits;
    FrameWants wants;       // reports are stored nowhere, so that with them all is stepped
    bool again;             // step even where frames are stored
    bool backward;          // each step that is asked for is before the last one, in strides …
    uint64_t stride, first; // … down to `first`
} PlaybackDef;

Status playback_open(Playback **playback, const PlaybackDef *def, Error *error);
void playback_close(Playback *playback); // Nullable

// The first step at or after `step` that was not lost: a lossy recording has gaps. UINT64_MAX:
// none.
uint64_t playback_skip_gap(const Playback *playback, uint64_t step);

// The last step at or before `step` that was not lost.
uint64_t playback_skip_gap_back(const Playback *playback, uint64_t step);

// The frame is borrowed until the next call. With STATUS_OK and *found false it was stopped
// half-way: call again with the same step. DATA_LOSS when what is stored is damaged, or is not what
// stepping gives; FAILED_PRECONDITION when it must be stepped and is of another dynamics version.
Status playback_get(Playback *playback, uint64_t step, Arena *scratch, uint64_t until_ns,
                    const Context *context, EpisodeFrame *frame, bool *found, Error *error);

size_t playback_bytes(const Playback *playback); // memory held
