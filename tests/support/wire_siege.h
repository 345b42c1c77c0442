// SPDX-License-Identifier: MIT
// A server under abuse, and what is demanded of it: a client that behaves (support/wire_witness.h)
// has no call fail or take over a second, or more where others keep the machine busy; and when the
// abusers are gone, descriptors, connections, worlds, the memory counted for them and the memory of
// the process are what they were.
//
// The abuse is carried out once before anything is measured, as the first time buffers grow to what
// they stay at; then twice beside the witness (support/campaign.h), again where a call took longer
// than it may, which is a fault when it does so every time.
#pragma once

#include "support/server_process.h"
#include "support/wire_client.h"

#include <check.h>

// A call of the witness may take so long: the project's promise. The sanitizers take their own
// share of the time.
#ifdef MOREAU_VALIDATE
enum { SIEGE_CALL_MS_MAX = 5000 };
#else
enum { SIEGE_CALL_MS_MAX = 1000 };
#endif

typedef struct Siege {
    ServerProcess *server;
    const char *address, *pages; // of the protocol; of --http
    WireClient *client;          // for what an abuse needs and leaves behind; behaves
    uint64_t world;              // of the server, a wide one (support/wire_episode.h)
    char episode[64];            // a stored one of that world, with frames; "": none yet
} Siege;

typedef struct SiegeRow {
    const char *name;
    const char *options;           // of the server, beside the common ones; Nullable
    void (*prepare)(Siege *siege); // Nullable; once, before everything
    void (*abuse)(Siege *siege);   // ends with its sockets closed
    uint64_t peak_bytes;           // the process may take so much more meanwhile; 0: any
} SiegeRow;

// A test for each row, which must outlive it.
TCase *siege_case(const SiegeRow *rows, int count);

// For SiegeRow.prepare: records an episode of so many steps, frames and all.
void siege_record(Siege *siege, uint64_t steps);
