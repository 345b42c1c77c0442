// SPDX-License-Identifier: MIT
// Episodes for tests over the wire: a server with a file of its own that outlives it, worlds being
// recorded, replies with events, and a hand in the file for what no client can do.
#pragma once

#include "support/server_process.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

enum { WIRE_EPISODE_ID_BYTES = 33 };

typedef struct WireEpisode {
    char id[WIRE_EPISODE_ID_BYTES];
} WireEpisode;

// A folder of its own with the file in it. `options` come behind --db.
typedef struct WireDepot {
    char folder[SERVER_FOLDER_BYTES];
    ServerProcess *server; // NULL: stopped
    WireClient *client;
} WireDepot;

void wire_depot_open(WireDepot *depot, const char *options);
void wire_depot_stop(WireDepot *depot); // the server; the file stays
void wire_depot_restart(WireDepot *depot, const char *options);
void wire_depot_close(WireDepot *depot);

// A start call with everything at its default.
Moreau__V1__EpisodeStart wire_start_call(uint64_t world);
WireEpisode wire_record(WireClient *client, const Moreau__V1__EpisodeStart *call);
const Moreau__V1__EpisodeInfo *wire_stop_recording(WireClient *client, uint64_t world);
const Moreau__V1__EpisodeInfo *wire_describe(WireClient *client, const char *episode);

// A world that is quick to step and slow to write down: hundreds of bodies that never move.
enum { WIRE_WIDE_FIXED = 600, WIRE_WIDE_FRAME_BYTES = 104 * WIRE_WIDE_FIXED };
uint64_t wire_wide_world(WireClient *client);

// The reply that ends a call with events; `seen` (Nullable) is shown each event before.
typedef void WireSeen(const Moreau__V1__Reply *event, void *context);
Moreau__V1__Reply *wire_await(WireClient *client, uint64_t id, WireSeen *seen, void *context);
Moreau__V1__Reply *wire_stream(WireClient *client, const void *call, WireSeen *seen, void *context);

// Verifies an episode, which must be what happened, over so many steps.
void wire_expect_verified(WireClient *client, const char *episode, uint64_t steps);

// ---- with the server stopped

// Any statements; a failure fails the test.
void wire_depot_sql(const WireDepot *depot, const char *sql);
int64_t wire_depot_number(const WireDepot *depot,
                          const char *sql); // the first column of the first row

// What the file says of a recording: a hash of everything that passed the world's door, in order,
// each with the hash of the state after it. `count` of these; it does not matter how they are cut
// into entries and chunks.
uint64_t wire_depot_history(const WireDepot *depot, int64_t recording, uint64_t *count);

// The row id of the index-th chunk of a kind (log/format/chunk.h); fails the test when there is
// none.
int64_t wire_depot_chunk(const WireDepot *depot, int kind, int index);

// Changes one byte of a chunk, counted from its end when negative. `seal`: with a checksum that
// agrees, as a liar would.
void wire_depot_flip(const WireDepot *depot, int64_t chunk, long at, bool seal);

// The first recording is one of a server of another dynamics version.
void wire_depot_age(const WireDepot *depot, uint64_t dynamics_version);
