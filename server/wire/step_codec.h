// SPDX-License-Identifier: MIT
// WorldStep and its reply by hand: by far the commonest messages, of which protobuf-c would make
// structs, and measure them three times, for more than the step of a small world costs. What is
// read and what is written is to the byte what protobuf-c reads and writes.
#pragma once

#include "moreau.pb-c.h"
#include "run/worlds/door.h"

// What one world contributes to the reply.
typedef struct StepResult {
    uint64_t step, hash;
    double time;
    uint64_t worst_body[2]; // ids
    uint32_t body_count;
    double *pose, *velocity; // copies, or the world's own memory where the reply has one world
    uint32_t joint_count, joint_axis_count, joint_position_count;
    double *joint_position, *joint_velocity; // likewise
    double *joint_wrench;                    // 6 per joint; NULL: zeros

    // large, and rarely needed whole: not cleared for every result, each is set where it is used
    Error error; // status OK: done
    StepRun run;
} StepResult;

// The results of all worlds, and which columns the reply has of them.
typedef struct StepResults {
    size_t count;
    StepResult *result; // [count]
    bool wants_hash, wants_pose, wants_velocity;
    bool wants_single;  // poses and velocities as floats
    bool wants_reports; // certificates
    bool wants_joint_position, wants_joint_velocity, wants_joint_wrench;
    bool wants_broken; // ids of joints that broke
} StepResults;

// What the lengths of columns depend on, of all worlds together.
typedef struct StepSizes {
    uint64_t bodies, joints, joint_axes, joint_positions;
} StepSizes;

static inline bool step_results_show_bodies(const StepResults *results) {
    return results->wants_pose || results->wants_velocity;
}

static inline bool step_results_show_joints(const StepResults *results) {
    return results->wants_joint_position || results->wants_joint_velocity ||
           results->wants_joint_wrench;
}

// A request that is a WorldStep as encoders write it, every field at most once and in order, and
// every number finite: as protobuf-c would unpack it, in the arena. NULL, with the arena as it was:
// anything else, for protobuf-c to judge.
Moreau__V1__Request *step_codec_unpack(Arena *arena, const uint8_t *bytes, size_t count);

// What the reply takes at most, of worlds with so much together and without failures: known before
// the steps, in which all of it only becomes less.
size_t step_codec_bytes_bound(const StepResults *results, const StepSizes *sizes);

// The least room for step_codec_pack.
size_t step_codec_bytes_max(const StepResults *results, Moreau__V1__Status *const *failures,
                            size_t failure_count);

// Writes a WorldStepReply; returns where it ended.
uint8_t *step_codec_pack(const StepResults *results, Moreau__V1__Status *const *failures,
                         size_t failure_count, uint8_t *at);

// Writes its StepReports alone, as such a field of another message, for which step_codec_bytes_max
// is more than room enough.
uint8_t *step_codec_pack_reports(const StepResults *results, uint32_t field, uint8_t *at);
