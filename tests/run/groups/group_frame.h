// SPDX-License-Identifier: MIT
// The key-frame of a group in a lab, as a recording has it, and its way into another.
#pragma once

#include "run/groups/group_lab.h"
#include "run/groups/keyframe.h"
#include "step/snapshot/snapshot.h"

#include <stdlib.h>

typedef struct Frame {
    uint8_t *bytes; // owned
    size_t count;
} Frame;

static inline Frame take_frame(const Group *group) {
    Arena arena;
    Error error;
    size_t room = GROUP_KEYFRAME_HEAD_BYTES;
    arena_init(&arena, (size_t)1 << 24);
    Frame frame = {.bytes = malloc(1 << 20)};
    ck_assert_ptr_nonnull(frame.bytes);
    Sink sink = {.bytes = frame.bytes};
    const GroupKeyframe head = {.call = 70, .finished = 9, .count = group->count};
    group_keyframe_begin(&head, &sink);
    for (uint32_t i = 0; i < group->count; i++) {
        uint8_t *bytes;
        size_t count;
        ck_assert_int_eq(
            snapshot_write_named(group->world[i].world, &arena, &bytes, &count, &error), STATUS_OK);
        room += group_keyframe_world_bytes(group, count);
        group_keyframe_add(group, i, bytes, count, &sink);
    }
    arena_deinit(&arena);
    frame.count = sink.count;
    ck_assert_uint_le(frame.count, room);
    return frame;
}

static inline Status put_frame(GroupLab *lab, const uint8_t *bytes, size_t count, Error *error) {
    GroupKeyframe keyframe;
    Status status = group_keyframe_open(bytes, count, &keyframe, error);
    for (uint32_t i = 0; status == STATUS_OK && i < lab->group->count && i < keyframe.count; i++) {
        GroupKeyframeWorld world;
        status = group_keyframe_next(&keyframe, &world, error);
        if (status == STATUS_OK) {
            status = group_keyframe_restore(lab->group, i, &world, &lab->scratch, error);
        }
    }
    return status;
}
