// SPDX-License-Identifier: MIT
// A server for tests of the network: a loop on a thread of its own, lanes, and handlers that echo
// every frame, through a lane or straight from the loop. A test may hold the lanes, so that
// requests stay under way.
#pragma once

#include "net/connection.h"
#include "net/listener.h"
#include "run/lanes/lane.h"

typedef struct EchoDef {
    uint32_t lane_count; // 0: the loop answers
    uint32_t repeat;     // so many copies of each frame come back; 0 means 1
    bool
        scatters; // a connection's frames go to several lanes at once, so that echoes change places
    bool closes_on_frame; // closes the connection inside the handler, after the lane was given its
                          // work
    NetDef net; // limits; zeros mean: frame 1 MiB, 1024 connections, 64 requests, 64 MiB, 30 s
} EchoDef;

typedef struct EchoServer {
    EchoDef def;
    uv_loop_t loop;
    uv_thread_t thread;
    uv_async_t command;
    Net *net;
    Budget scratch;
    Pool *pool;
    Report report;
    Listener *tcp, *local;
    char tcp_address[128];
    char local_address[128]; // unix:…, in a directory of its own
    char directory[64];
    uv_mutex_t gate;  // lanes pass through it: a test that holds it holds them
    atomic_int asked; // what `command` shall do
    uv_sem_t answered;
    NetStats stats;
    TlsIdentity *identity; // the next, for `command`
    size_t unsent_bytes;
    _Atomic uint32_t opened_count, closed_count, malformed_count, frame_count;
    _Atomic uint32_t under_way, under_way_max;
    uint32_t net_closed_count;
} EchoServer;

// Starts everything and waits until it listens.
void net_echo_start(EchoServer *server, const EchoDef *def);

// Closes everything and asserts that no handle and no connection is left.
void net_echo_stop(EchoServer *server);

// The counters, read on the loop thread.
NetStats net_echo_stats(EchoServer *server);
size_t net_echo_unsent_bytes(EchoServer *server);

// Under TLS (EchoDef.net.tls.identity): who connects from now on sees this one.
void net_echo_set_identity(EchoServer *server, TlsIdentity *identity);

// Calls net_stop_reading on the loop thread.
void net_echo_stop_reading(EchoServer *server);

// Waits, at most 20 s, until *counter is `value`; false when it is not.
bool net_echo_wait(const _Atomic uint32_t *counter, uint32_t value);
