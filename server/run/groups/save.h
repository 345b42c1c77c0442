// SPDX-License-Identifier: MIT
// A group as bytes: what it is, what its worlds are between two calls, and what is still to be told
// of the calls before. A group made of them, on any server of the same dynamics version, goes on
// with the same bits.
//
//   save  = "MOREAUGR", dynamics version, format (u32 each), worlds per range, calls so far,
//           is recorded (u64 each), recording (a uid), worlds (never 0: base/hash.h), calls of the
//           recording (u64 each), code (code.h), key-frames of its ranges
//           (keyframe.h), numbers of doubtful steps, opinions, checksum (u64: base/hash, with
//           seed 0, over all bytes before it)
//   code, key-frame = length (u64), bytes, padded to 8
//   doubtful = number of worlds, or 0 where nobody asks (u64), of each the steps of its episode so
//              far whose certificates are bad (u64) …
//   opinions = calls that were opened, steps that were lost, number of opinions that are due (u64
//              each), opinion …: call, world, substep, seed, episode, step (u64 each), gap, e_ds,
//              residual (f64 each)
//
// Head and end are as those of a world's snapshot (step/snapshot/snapshot.h), so both are kept,
// read and uploaded alike.
#pragma once

#include "log/format/chunk.h"
#include "run/groups/code.h"
#include "run/groups/keyframe.h"
#include "run/groups/opinions.h"

enum { GROUP_SAVE_FORMAT = 1 };

typedef struct GroupSaveBytes {
    const uint8_t *bytes;
    size_t count;
} GroupSaveBytes;

// All of it is borrowed.
typedef struct GroupSave {
    uint32_t range_worlds;
    uint64_t calls;
    bool is_recorded;
    uint8_t recording[UID_BYTES]; // of its first episode
    uint64_t recorded_calls;
    GroupSaveBytes code;
    size_t range_count;
    const GroupSaveBytes *range; // key-frames
    const Group *group;          // whose doubtful steps are written
    OpinionsState opinions;
} GroupSave;

// Writes all but the checksum; a sink without bytes counts them.
void group_save_write(const GroupSave *save, Sink *sink);

// Judges head and checksum, as snapshot_check does.
bool group_save_is_one(const uint8_t *bytes, size_t count);
Status group_save_check(const uint8_t *bytes, size_t count, uint64_t checksum, Error *error);

// What such bytes say.
typedef struct GroupSaved {
    uint32_t range_worlds, range_count;
    uint64_t calls;
    bool is_recorded;
    uint8_t recording[UID_BYTES];
    uint64_t worlds;
    uint64_t recorded_calls;
    GroupCode code;
    const GroupSaveBytes *range; // [range_count]
    const uint8_t *doubtful;     // [worlds] u64, unaligned. NULL: nobody asks
    OpinionsState opinions;
} GroupSaved;

// Borrows of the bytes, which may come from anywhere, and of the arena. INVALID_ARGUMENT: they are
// of no group; FAILED_PRECONDITION: of another version; DATA_LOSS: damaged.
Status group_save_open(const uint8_t *bytes, size_t count, Arena *arena, GroupSaved *saved,
                       Error *error);

// The template, the caller's.
Status group_save_template(const GroupSaved *saved, const WorldLimits *limits, World **world,
                           Error *error);

// The worlds of a range, one behind the other: begin, then next for each, which has been made.
Status group_save_begin_range(const GroupSaved *saved, uint32_t range, GroupKeyframe *keyframe,
                              Error *error);
Status group_save_restore_next(const GroupSaved *saved, Group *group, uint32_t world,
                               GroupKeyframe *keyframe, Arena *scratch, Error *error);
