// SPDX-License-Identifier: MIT
// The body of an inputs chunk: what passed a world's door, in order, and the hash of the world's
// state after each change and after each step.
//
//   entry = step before it (u64), flags (u32), number of hashes (u32), length of the input (u64),
//           input (a multiple of 8 bytes), hashes (u64 each)
//
// An input that changes the world has one hash. An order of steps has one per step taken; equal
// orders in a row are one entry. With ENTRY_FAULTED the step after those taken failed and left the
// world faulted: one hash more, of the faulted world.
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ENTRY_FAULTED = 1 };
enum { ENTRY_HEAD_BYTES = 24 };

typedef struct Entry {
    uint64_t step; // before it
    uint32_t flags;
    uint32_t hash_count;
    const uint8_t *input; // borrowed
    size_t input_bytes;
    const uint8_t *hashes; // borrowed, hash_count little-endian u64: entry_hash
} Entry;

uint64_t entry_hash(const Entry *entry, uint32_t index);

// Reads the entry at `*at` and moves on. false with *error untouched: the body ended there.
// false with DATA_LOSS in *error (whose status must be OK before): any other bytes.
bool entry_next(const uint8_t *body, size_t body_bytes, size_t *at, Entry *entry, Error *error);
