// SPDX-License-Identifier: MIT
// What is shown of a step that a player has taken.
#pragma once

#include "log/format/frames.h"
#include "replay/player/player.h"

// Beside bodies and joints. Both are of the step that led to a frame, so it must have been taken.
typedef struct FrameWants {
    bool contacts, reports;
} FrameWants;

static inline bool frame_wants_step(FrameWants wants) {
    return wants.contacts || wants.reports;
}

// The frame behind the player's last step. Some of its arrays are the world's and good until that
// steps, others the arena's.
Status stepped_frame(Player *player, FrameWants wants, Arena *arena, EpisodeFrame *frame,
                     Error *error);
