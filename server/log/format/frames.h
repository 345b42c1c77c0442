// SPDX-License-Identifier: MIT
// The bodies of frame and contact chunks: plain columns, which anybody can read with a few lines.
//
//   frames   = number of bodies n (u64), number of frames (u64), joint positions p (u64), joint
//              velocities q (u64), body ids (u64 n), of version 5 [number of joints j (u64), joint
//              ids (u64 j), free axes of each (u64 j: a sum of 2^axis)],
//              frame …: step (u64), the world's own step (u64), time [s] (f64), poses of the
//              bodies' origins (f64 7 n: x y z, quaternion w x y z), velocities (f64 6 n: of the
//              centre of mass, angular; world axes), joint positions (f64 p), joint velocities
//              (f64 q), of version 5 [joint targets, target velocities, efforts (f64 q each)]
//   contacts = number of lists (u64),
//              list …: step (u64), number of contacts c (u64), body a (u64 c), body b (u64 c), of
//              version 9 [part of a (u32 c), part of b (u32 c)], feature (u64 c), point (f64 3 c),
//              frame (f64 9 c: normal from a to b, tangents), gap (f64 c), impulse (f64 3 c: on b
//              along the frame), velocity (f64 3 c: of b against a after the step),
//              friction (f64 c)
//
// Frames of worlds with joints are of version 5, all others of version 4, with p = q = 0. What is
// said of a joint is as in the protocol; numbers stand joint by joint, in the order of the ids.
// Contacts of older versions have their parts in the upper half of the feature, 16 bits each.
//
// Steps rise from frame to frame and from list to list; a chunk of frames holds one at least.
// Columns of a chunk are aligned to 8 bytes, but are read through the functions here: the machine
// may be big-endian, and the bytes anybody's.
#pragma once

#include "base/arena.h"
#include "base/bytes.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

// The joints of a frame, and how many numbers they have; count 0: none, or it is not known.
typedef struct FrameJoints {
    size_t count, position_count, axis_count;
    const uint64_t *ids, *axes; // [count]; borrowed
} FrameJoints;

typedef struct FrameChunk {
    uint32_t version;
    size_t body_count, frame_count;
    size_t joint_count;
    size_t joint_position_count, joint_velocity_count; // per frame
    const uint8_t *ids;                                // borrowed
    const uint8_t *joints;                             // borrowed: ids, then axes
    const uint8_t *frames;                             // borrowed, frame_count of frame_bytes
    size_t frame_bytes;
} FrameChunk;

typedef struct StateFrame {
    uint64_t step, world_step;
    double time;
    double *pose;     // 7 per body
    double *velocity; // 6 per body
    double *joint_position, *joint_velocity;
    double *joint_target, *joint_target_velocity, *joint_effort; // NULL: older than version 5
} StateFrame;

// A body of a chunk of that version (chunk_version). DATA_LOSS when it is no frames.
Status frame_chunk_open(const uint8_t *body, size_t body_bytes, uint32_t version, FrameChunk *chunk,
                        Error *error);
void frame_chunk_ids(const FrameChunk *chunk, uint64_t *ids);
// Of a chunk that says; in memory of the arena. RESOURCE_EXHAUSTED when it ends.
Status frame_chunk_joints(const FrameChunk *chunk, Arena *arena, FrameJoints *joints, Error *error);
// The numbers of one frame, in memory of the arena. RESOURCE_EXHAUSTED when it ends.
Status frame_chunk_read(const FrameChunk *chunk, size_t index, Arena *arena, StateFrame *frame,
                        Error *error);
uint64_t frame_chunk_step(const FrameChunk *chunk, size_t index);

// Where the number of frames stands in the body, for the writer that learns it last.
enum { FRAME_COUNT_OFFSET = 8, CONTACT_LIST_COUNT_OFFSET = 0 };
void frame_chunk_begin(Sink *sink, size_t body_count, const uint64_t *ids,
                       const FrameJoints *joints);
void frame_chunk_add(Sink *sink, size_t body_count, const FrameJoints *joints,
                     const StateFrame *frame);
static inline size_t frame_chunk_head_bytes(size_t body_count, const FrameJoints *joints) {
    return 32 + 8 * body_count + (joints->count == 0 ? 0 : 8 + 16 * joints->count);
}
static inline size_t frame_chunk_frame_bytes(size_t body_count, const FrameJoints *joints) {
    return 24 + 104 * body_count + 8 * (joints->position_count + 4 * joints->axis_count);
}

typedef struct ContactList {
    uint64_t step;
    size_t count;
    uint64_t *body_a, *body_b, *feature;
    uint32_t *part_a, *part_b; // which primitives of their shapes
    double *point, *frame, *gap, *impulse, *velocity, *friction;
} ContactList;

// What an episode shows of one step, read from the disk or stepped again.
typedef struct EpisodeFrame {
    StateFrame frame;
    size_t body_count;
    const uint64_t *ids;
    FrameJoints joints;
    ContactList contacts;            // count 0: none, or not wanted
    const struct StepReport *report; // of the step that led to it; NULL: none did, or not wanted
    bool is_stored;
} EpisodeFrame;

enum { CONTACT_BYTES = 8 * 24 }; // of this version

void contact_chunk_begin(Sink *sink);
void contact_chunk_add(Sink *sink, const ContactList *list);

// Reads the list at `*at` (0: the first) and moves on; its arrays are the arena's. false with
// *error untouched: there was none left. false with a status in *error: damaged, or memory ended.
bool contact_chunk_next(const uint8_t *body, size_t body_bytes, uint32_t version, size_t *at,
                        Arena *arena, ContactList *list, Error *error);
