// SPDX-License-Identifier: MIT
// A client that does nothing wrong, on a thread of its own: it steps its own world, one step a
// call, with a pause between calls, and times each. What happens to it while others misbehave is
// what others notice.
#pragma once

#include "support/wire_client.h"

typedef struct Witness Witness;

// `address` is served; `helper` makes its world.
Witness *witness_start(const char *address, WireClient *helper);

// Calls that begin from now on are quiet; then, disturbed. Those before both are not timed.
void witness_begin_quiet(Witness *witness);
void witness_begin_disturbance(Witness *witness);

typedef struct WitnessTimes {
    size_t count;
    double p50_ms, p99_ms, longest_ms;
} WitnessTimes;

// Waits for its last call. A call that failed, or was not what was asked for, fails the test.
void witness_stop(Witness *witness, WitnessTimes *quiet, WitnessTimes *disturbed);
