// SPDX-License-Identifier: MIT
// Frames of an episode that must be stepped, for who goes backward. From a place before them a
// player steps on to the one that is asked for, and the frames on the last part of its way are
// kept; those are handed out from the last to the first, and then the part before is stepped:
//
//   key-frame ──── mark ──── mark ──── mark ──[frames ◄── asked]
//                             └───────────[frames ◄──]      from the mark, next time
//
// On its way to the first of these frames it leaves marks (player_mark), half as many as there is
// room for: so steps are taken about twice where there is room for a mark per block of frames, and
// once where one block reaches back to the key-frame. Episodes of groups have no marks: their
// blocks begin at a key-frame, or at step 0.
//
// What it holds is bounded: about `bytes` of frames and four times as much of marks, and one of
// each at least.
//
// Belongs to one thread at a time, as the player does.
#pragma once

#include "replay/show/stepped_frame.h"

enum { BACKWARD_BYTES_DEFAULT = 1 << 25 };

typedef struct Backward Backward;

typedef struct BackwardDef {
    uint64_t first, stride; // nothing before `first` is asked for; steps from frame to frame
    FrameWants wants;
    size_t bytes;
    size_t bytes_max; // of the machine: a frame that needs more is refused
} BackwardDef;

// NULL when memory ends.
Backward *backward_create(const BackwardDef *def);
void backward_destroy(Backward *backward); // Nullable
size_t backward_bytes(const Backward *backward);

// The frame behind a step: earlier ones, in strides, are what is asked for next. Borrowed until the
// next call. `from`: the earliest step from which it can be stepped to, 0 or the end of a gap. With
// STATUS_OK and *frame NULL it was stopped half-way: call again with the same step. DATA_LOSS when
// what is stored is not what stepping gives.
Status backward_get(Backward *backward, Player *player, LogReader *reader, uint64_t step,
                    uint64_t from, Arena *scratch, uint64_t until_ns, const Context *context,
                    const EpisodeFrame **frame, Error *error);
