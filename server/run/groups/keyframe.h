// SPDX-License-Identifier: MIT
// A key-frame of a group: what the worlds of one range are between two calls, with all that the
// future of their rows depends on, so that they go on from there without what came before.
//
//   key-frame = version (2), call (the last on the range; 0: none), episodes that its worlds have
//               finished so far, number of worlds, world …                       (u64 each)
//   world     = is running (1: an episode goes on), seed, episode, length (u64 each), when that
//               episode began [s], number of actions (u64), action applied last …, number of
//               what is felt (u64), what channels feel of the last step … (f64 each: of
//               observation, extra, bounds), number of sensors' numbers (u64), these … (f64 each:
//               of observation, extra; sensor.h), snapshot. Version 1 had no sensors.
//   snapshot  = words of it (u64), runs (u64), run …: first word, words (u32 each), word …
//
// A snapshot (step/snapshot/snapshot.h) is told by its words of eight bytes that are not the
// template's in the same place: its definition, which all worlds share, is not said again.
#pragma once

#include "base/bytes.h"
#include "run/groups/group.h"

typedef struct GroupKeyframe {
    uint64_t version;
    uint64_t call;     // the last on the range; 0: none
    uint64_t finished; // episodes of its worlds, so far
    size_t count;      // worlds
    Source rest;       // of the next world on
} GroupKeyframe;

typedef struct GroupKeyframeWorld {
    bool is_running;
    uint64_t seed, episode, length;
    double begun; // [s]
    size_t action_count, felt_count, sensor_count;
    const uint8_t *actions, *felt, *sensors; // doubles
    uint64_t words;                          // of the snapshot
    uint64_t run_count;
    Source runs;
} GroupKeyframeWorld;

enum { GROUP_KEYFRAME_HEAD_BYTES = 32 };

void group_keyframe_begin(const GroupKeyframe *keyframe, Sink *sink);

// At most so many bytes, of a world whose snapshot has `snapshot_bytes`.
size_t group_keyframe_world_bytes(const Group *group, size_t snapshot_bytes);
void group_keyframe_add(const Group *group, uint32_t i, const uint8_t *snapshot,
                        size_t snapshot_bytes, Sink *sink);

// What group_keyframe_add wrote of one world alone, to be read with group_keyframe_next.
GroupKeyframe group_keyframe_of_one(const uint8_t *bytes, size_t count);

// Borrows of the bytes, whatever they are. DATA_LOSS goes on from "it …".
Status group_keyframe_open(const uint8_t *bytes, size_t count, GroupKeyframe *keyframe,
                           Error *error);
Status group_keyframe_next(GroupKeyframe *keyframe, GroupKeyframeWorld *world, Error *error);

// The snapshot, in the arena.
Status group_keyframe_snapshot(const Group *group, const GroupKeyframeWorld *world, Arena *arena,
                               uint8_t **bytes, size_t *count, Error *error);

// World i of the group is what the key-frame says.
Status group_keyframe_restore(Group *group, uint32_t i, const GroupKeyframeWorld *world,
                              Arena *scratch, Error *error);
