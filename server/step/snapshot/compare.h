// SPDX-License-Identifier: MIT
// Where two snapshots differ first, in words: for reports about recordings that do not repeat.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct SnapshotDifference {
    uint64_t body;     // id of the body that differs; 0: it is no body
    char quantity[32]; // "position.x" (of the centre of mass), "mass", "impulse.z", "time_step" …
    double expected, found; // 0 where the quantity is no number
} SnapshotDifference;

// False: they are the same bytes. Any bytes may come in; `found` is a snapshot_write of this server
// if anything is to make sense.
bool snapshot_compare(const uint8_t *expected, size_t expected_count, const uint8_t *found,
                      size_t found_count, SnapshotDifference *difference);
