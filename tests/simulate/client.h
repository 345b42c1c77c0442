// SPDX-License-Identifier: MIT
// A client that does what its dice say: makes worlds, sends bunches of pipelined calls, cancels
// some, loses its connection at any byte and comes back, records episodes, and judges every answer:
// one for each request, in the order of each world, and with the state that the reference has.
#pragma once

#include "simulate/history.h"
#include "simulate/model.h"
#include "simulate/watch.h"

// What the clients of one life share. Whoever has the turn may write.
typedef struct Crowd {
    const char *address; // path of the server's socket
    History *history;
    size_t life;
    uint64_t seed;
    uint64_t requests_max; // the server's
    bool is_stopping;      // from now on the server may close connections
    uint64_t shared_world; // id; 0: not made
    Model shared_model;
    Sights sights;       // what there is to watch
    bool is_watched_out; // watchers shall end
} Crowd;

typedef struct ClientDef {
    Crowd *crowd;
    size_t number;
} ClientDef;

// A ScheduleTask; context: ClientDef.
void client_main(void *def);

// Makes the world that all clients of the crowd step. Before they begin.
bool client_make_shared(Crowd *crowd);

// When all sessions of the crowd must be over: its shared world is alone. false: the server is
// gone.
bool client_check_alone(Crowd *crowd);

// When nobody steps the shared world any more: its reference comes to where it is. false: the
// server is gone.
bool client_follow_shared(Crowd *crowd);
