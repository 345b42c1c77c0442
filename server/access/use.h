// SPDX-License-Identifier: MIT
// What a token may have at once, and has. Its name, which an error says, stays where it is.
#pragma once

#include "base/status.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define USE_NO_LIMIT UINT64_MAX

typedef struct UseLimits {
    uint64_t worlds, bytes, requests; // USE_NO_LIMIT: as many as the server has
    uint64_t log_bytes, episodes;     // that a namespace has in the file
    uint64_t weight;                  // turns on the lanes that it has for each of another's
    uint64_t lanes;                   // that work for it at once; what is beyond waits
} UseLimits;

#define USE_LIMITS_NONE                                                                            \
    ((UseLimits){USE_NO_LIMIT, USE_NO_LIMIT, USE_NO_LIMIT, USE_NO_LIMIT, USE_NO_LIMIT,             \
                 USE_NO_LIMIT, USE_NO_LIMIT})

typedef struct Use {
    const char *name;           // borrowed
    uint32_t number;            // from 1
    UseLimits limits;           // the loop's
    _Atomic uint64_t bytes_max; // limits.bytes, for lanes
    _Atomic uint64_t log_bytes_max, episodes_max;
    uint64_t worlds;                      // the loop's
    _Atomic uint64_t requests;            // under way
    _Atomic uint64_t bytes;               // of worlds, groups and snapshots
    uint64_t sessions;                    // the loop's
    _Atomic uint64_t refused;             // so often one of them was in the way
    _Atomic uint64_t log_bytes, episodes; // as last counted, and what it has recorded since
} Use;

enum { USE_WEIGHT_MAX = 100, USE_LANES_MAX = 255 };

// 1 where nothing is said.
static inline uint32_t use_weight(const Use *use) {
    return use->limits.weight == USE_NO_LIMIT ? 1 : (uint32_t)use->limits.weight;
}

// 0: any number.
static inline uint32_t use_lanes(const Use *use) {
    return use->limits.lanes == USE_NO_LIMIT ? 0 : (uint32_t)use->limits.lanes;
}

void use_set_limits(Use *use, const UseLimits *limits);

// Nullable, all of these: then there is no limit. RESOURCE_EXHAUSTED names the token and its word
// in the file. Loop thread.
Status use_check_worlds(Use *use, uint64_t more, Error *error);
Status use_check_requests(Use *use, Error *error);

// Any thread. What is under way when the limit is reached ends as it would without; growth that is
// known before (`more`) is refused before.
Status use_check_bytes(Use *use, uint64_t more, Error *error);
uint64_t use_bytes_left(const Use *use);
// What its namespace has in the file, as was just counted. Any thread.
void use_set_log(Use *use, uint64_t episodes, uint64_t bytes);
Status use_check_log(Use *use, Error *error); // Nullable: whether a recording may begin
bool use_limits_log(const Use *use);          // Nullable: somebody must count

// A recording that goes on has put this into the file, on top of what was counted. Not OK: with it,
// or before, its token reached a limit, and the recording ends. Any thread.
Status use_put_log(Use *use, uint64_t episodes, uint64_t bytes, Error *error);
// The limit that was reached. RESOURCE_EXHAUSTED.
Status use_fail_log(const Use *use, Error *error);

void use_count_request(Use *use, int change);
void use_count_bytes(Use *use, uint64_t before, uint64_t after);
