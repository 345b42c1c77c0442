// SPDX-License-Identifier: MIT
// A client that does nothing wrong, on a thread of its own: it steps its own world, one step a
// call, or pings, with a pause between calls, and times each. What happens to it while others
// misbehave is what others notice.
#pragma once

#include "support/wire_client.h"

typedef struct Witness Witness;

// `address` is served; `helper` makes its world.
Witness *witness_start(const char *address, WireClient *helper);

// It pings, which is what the loop thread answers by itself.
Witness *witness_start_pinging(const char *address);

typedef struct WitnessTimes {
    size_t count;
    double p50_ms, p99_ms, longest_ms;
} WitnessTimes;

// Calls that begin from now on are timed, until witness_end, which waits for the one under way.
void witness_begin(Witness *witness);
WitnessTimes witness_end(Witness *witness);

// Waits for its last call. A call that failed, or was not what was asked for, fails the test.
void witness_stop(Witness *witness);
