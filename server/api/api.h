// SPDX-License-Identifier: MIT
// The protocol's side of the server: sessions, requests, replies. Frames come from net through the
// handlers given here, worlds live in run. Loop thread, but for what request.h says runs on lanes.
#pragma once

#include "access/access.h"
#include "os/report.h"
#include "os/trail.h"
#include "api/peer.h"
#include "log/log.h"
#include "run/groups/farm.h"
#include "run/worlds/host.h"
#include "run/lanes/lane.h"
#include "run/groups/snapshot_store.h"

typedef struct Api Api;

// One row of what Welcome and Describe list as limits.
typedef struct ApiLimit {
    const char *name;
    const char *unit;
    const char *meaning;
    uint64_t value;
} ApiLimit;

typedef struct ApiDef {
    uv_loop_t *loop;
    Pool *pool;
    Pool *background; // for what must not disturb: nice lanes
    Host *host;
    Farm *farm; // the host's guest
    SnapshotStore *snapshots;
    Log *log; // NULL: this server keeps no episodes
    const Report *report;
    Trail *audit;   // Nullable: who did what is not noted
    Access *access; // who is let in
    const char *version;
    const char *build; // compiler and machine
    bool is_golden;    // it computes the bits of its dynamics version: else it records nothing
    const PeerCalls *peers;
    uint64_t work_timeout_ns; // of one step or solve
    uint64_t session_grace_ms;
    size_t frame_bytes_max;
    size_t memory_bytes_max;
    uint32_t lanes;        // that step worlds
    uint32_t requests_max; // under way per connection
    uint32_t subscriptions_max;
    size_t kept_bytes_max;  // of replies, per session
    const ApiLimit *limits; // borrowed
    size_t limit_count;
} ApiDef;

Status api_create(Api **api, const ApiDef *def, Error *error);

// When no request is under way any more: from here on no session ends by itself, however long its
// client is gone, so that nothing is handed to the lanes or the host, which may then be closed. No
// frame may come afterwards; peers may still close.
void api_stop(Api *api);

// After api_stop, when every peer is closed. `closed` is called when the memory is free.
void api_close(Api *api, void (*closed)(void *context), void *context);

// Before the loop sleeps: who did what in its turn is written. true: look again in a while, as some
// of it waits for the disk, or what a lane has answered for the loop's next turn.
bool api_write_audit(Api *api);

// The tokens were read again.
void api_review(Api *api);

// What the owner of the sockets tells. Loop thread.
void api_peer_opened(Api *api, Peer peer);
// one whole frame, borrowed, that came at received_ns (clock_now_ns)
void api_peer_frame(Api *api, Peer peer, uint64_t received_ns, const uint8_t *body,
                    size_t body_bytes);
void api_peer_malformed(Api *api, Peer peer,
                        const char *why);   // the last chance to say why before the close
void api_peer_drained(Api *api, Peer peer); // what waited to be written is written
void api_peer_closed(Api *api, Peer peer);

// The frame, of at most `capacity` bytes, that tells a peer which is not served why; its bytes.
size_t api_write_refusal(const Api *api, const char *why, uint8_t *frame, size_t capacity);

// What PeerCalls.figures is called with.
void api_set_peers(Api *api, void *context);

// Where --http listens, which is borrowed: for whoever asks to watch in a browser.
void api_set_http(Api *api, const char *address);

// The path of the file of episodes, which is borrowed: for who reads it on the same machine.
void api_set_db(Api *api, const char *path);

// For PoolDef: writes the replies that a lane has gathered.
void api_lane_turn_ended(Lane *lane, void *context);
void api_lane_left(Lane *lane, void *context);

// The first thing of a drain: ends the requests that send events, which may go on for hours, and,
// from now on, the work of clients that are gone and will not be let in again.
void api_begin_drain(Api *api);

// Stops the work that is under way between two steps.
void api_cancel_all(Api *api);
uint64_t api_request_count(const Api *api); // under way

typedef struct ApiFigures {
    // since the start
    uint64_t answered[STATUS_COUNT]; // requests, by status
    uint64_t unconverged_steps, faulted_steps;
    uint64_t live_frames, live_skipped; // sent to subscribers, and left out
    // now
    uint64_t kept_bytes;   // replies kept for clients that may come back, of all sessions
    uint64_t player_bytes; // of host_bytes: what reading, replaying and verifying episodes hold
    uint64_t subscriptions;
} ApiFigures;

ApiFigures api_figures(const Api *api);
