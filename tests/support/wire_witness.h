// SPDX-License-Identifier: MIT
// A client that does nothing wrong, on a thread of its own: it steps its own world, one step a
// call, or pings, with a pause between calls, and times each. What happens to it while others
// misbehave is what others notice.
#pragma once

#include "support/wire_client.h"

#include <sys/types.h>

typedef struct Witness Witness;

// `address` is served; `helper` makes its world.
Witness *witness_start(const char *address, WireClient *helper);

// It pings, which is what the loop thread of `server`, its first one, answers by itself. Its times
// are without those in which that thread, or its own, waited for a core: what others do with the
// machine is no doing of the server.
Witness *witness_start_pinging(const char *address, pid_t server);

typedef struct WitnessTimes {
    size_t count;
    double p50_ms, p99_ms, longest_ms;
} WitnessTimes;

// Calls that begin from now on are timed, until witness_end, which waits for the one under way.
void witness_begin(Witness *witness);
WitnessTimes witness_end(Witness *witness);

// Waits for its last call. A call that failed, or was not what was asked for, fails the test.
void witness_stop(Witness *witness);
