// SPDX-License-Identifier: MIT
// WorldStep and its reply by hand: by far the commonest messages, of which protobuf-c would make
// structs, and measure them three times, for more than the step of a small world costs. What is
// read and what is written is to the byte what protobuf-c reads and writes.
#pragma once

#include "api/batch.h"

// A request that is a WorldStep as encoders write it, every field at most once and in order, and
// every number finite: as protobuf-c would unpack it, in the arena. NULL, with the arena as it was:
// anything else, for protobuf-c to judge.
Moreau__V1__Request *step_codec_unpack(Arena *arena, const uint8_t *bytes, size_t count);

// The least room for step_codec_pack.
size_t step_codec_bytes_max(const Batch *batch, Moreau__V1__Status *const *failures,
                            size_t failure_count);

// Writes a WorldStepReply; returns where it ended. Which columns it has is the batch's `wants_*`.
uint8_t *step_codec_pack(const Batch *batch, Moreau__V1__Status *const *failures,
                         size_t failure_count, uint8_t *at);
