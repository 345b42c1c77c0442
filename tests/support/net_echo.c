// SPDX-License-Identifier: MIT
#include "support/net_echo.h"

#include "base/assert.h"
#include "net/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_STATS = 1, COMMAND_STOP_READING, COMMAND_IDENTITY, COMMAND_STOP };

enum { SCATTERED = 8 };

typedef struct Peer {
    Connection *connection;
    EchoServer *server;
    Strand strand[SCATTERED];
    uint32_t frame_count;
    uint32_t use_count; // its open connection and its jobs
} Peer;

typedef struct Echo {
    Job job; // first
    Peer *peer;
    size_t count;
    void *kept;           // of a long frame: owned; NULL: it was copied
    const uint8_t *frame; // with its header
    uint8_t bytes[];      // of a short one
} Echo;

static void send_echo(const Echo *echo) {
    const EchoServer *server = echo->peer->server;
    for (uint32_t i = 0; i < server->def.repeat; i++) {
        connection_send(echo->peer->connection, echo->frame, echo->count);
    }
}

static JobOutcome work_echo(Job *job, Lane *lane) {
    Echo *echo = (Echo *)job;
    EchoServer *server = echo->peer->server;
    (void)lane;
    uv_mutex_lock(&server->gate);
    uv_mutex_unlock(&server->gate);
    send_echo(echo);
    atomic_fetch_sub(&server->under_way, 1);
    connection_request_end(echo->peer->connection, 1);
    job->urgent = echo->kept != NULL; // its connection waits for it
    return JOB_DONE;
}

static void leave_peer(Peer *peer) {
    if (--peer->use_count == 0) {
        free(peer);
    }
}

static void done_echo(Job *job) {
    Echo *echo = (Echo *)job;
    if (echo->kept != NULL) {
        free(echo->kept);
        connection_go_on(echo->peer->connection);
    }
    connection_release(echo->peer->connection);
    leave_peer(echo->peer);
    free(echo);
}

static void on_opened(void *context, Connection *connection) {
    EchoServer *server = context;
    Peer *peer = calloc(1, sizeof(*peer));
    peer->connection = connection;
    peer->server = server;
    peer->use_count = 1;
    for (size_t i = 0; i < SCATTERED; i++) {
        strand_init(&peer->strand[i]);
    }
    connection_set_data(connection, peer);
    atomic_fetch_add(&server->opened_count, 1);
}

// A long frame waits for its job where it stands, any other is copied.
static Echo *make_echo(Peer *peer, const uint8_t *body, size_t body_bytes) {
    bool keeps = peer->server->pool != NULL && body_bytes > CONNECTION_SHORT_BYTES;
    size_t count = FRAME_HEADER_BYTES + body_bytes;
    Echo *echo = calloc(1, sizeof(*echo) + (keeps ? 0 : count));
    echo->peer = peer;
    echo->count = count;
    if (keeps) {
        echo->kept = connection_keep_frame(peer->connection);
        echo->frame = body - FRAME_HEADER_BYTES;
    } else {
        frame_header(echo->bytes, body_bytes);
        memcpy(echo->bytes + FRAME_HEADER_BYTES, body, body_bytes);
        echo->frame = echo->bytes;
    }
    return echo;
}

static void on_frame(void *context, Connection *connection, uint64_t received_ns,
                     const uint8_t *body, size_t body_bytes) {
    (void)received_ns;
    EchoServer *server = context;
    Peer *peer = connection_data(connection);
    Echo *echo = make_echo(peer, body, body_bytes);
    atomic_fetch_add(&server->frame_count, 1);
    if (server->pool == NULL) {
        send_echo(echo);
        free(echo);
    } else {
        uint32_t under_way = atomic_fetch_add(&server->under_way, 1) + 1;
        if (under_way > server->under_way_max) {
            server->under_way_max = under_way;
        }
        connection_retain(connection);
        peer->use_count++;
        connection_request_begin(connection);
        echo->job.work = work_echo;
        echo->job.done = done_echo;
        const uint32_t strand = server->def.scatters ? peer->frame_count++ % SCATTERED : 0;
        pool_submit(server->pool, &peer->strand[strand], 0, &echo->job);
    }
    if (server->def.closes_on_frame) {
        connection_close(connection);
    }
}

static void on_malformed(void *context, Connection *connection, const char *why) {
    EchoServer *server = context;
    uint8_t frame[256];
    size_t bytes = strlen(why);
    frame_header(frame, bytes);
    memcpy(frame + FRAME_HEADER_BYTES, why, bytes);
    connection_send(connection, frame, FRAME_HEADER_BYTES + bytes);
    atomic_fetch_add(&server->malformed_count, 1);
}

static void on_closed(void *context, Connection *connection) {
    EchoServer *server = context;
    leave_peer(connection_data(connection));
    atomic_fetch_add(&server->closed_count, 1);
}

static void on_net_closed(void *context) {
    EchoServer *server = context;
    server->net_closed_count++;
}

static void on_command(uv_async_t *async) {
    EchoServer *server = async->data;
    int asked = atomic_exchange(&server->asked, 0);
    server->stats = net_stats(server->net);
    server->unsent_bytes = net_unsent_bytes(server->net);
    if (asked == COMMAND_STOP_READING) {
        net_stop_reading(server->net);
    } else if (asked == COMMAND_IDENTITY) {
        net_set_identity(server->net, server->identity);
    } else if (asked == COMMAND_STOP) {
        listener_close(server->tcp);
        listener_close(server->local);
        net_close(server->net, on_net_closed, server);
        if (server->pool != NULL) {
            pool_close(server->pool, NULL, NULL);
        }
        uv_close((uv_handle_t *)async, NULL);
    }
    uv_sem_post(&server->answered);
}

static void ask(EchoServer *server, int what) {
    atomic_store(&server->asked, what);
    uv_async_send(&server->command);
    uv_sem_wait(&server->answered);
}

// ---- what the network has done elsewhere: libuv's own threads do it

typedef struct LongWork {
    uv_work_t request; // first
    void (*work)(void *argument);
    void (*done)(void *argument);
    void *argument;
} LongWork;

static void work_long(uv_work_t *request) {
    const LongWork *long_work = (const LongWork *)request;
    long_work->work(long_work->argument);
}

static void done_long(uv_work_t *request, int status) {
    LongWork *long_work = (LongWork *)request;
    ASSERT(status == 0);
    long_work->done(long_work->argument);
    free(long_work);
}

static bool run_long(void *context, void (*work)(void *argument), void (*done)(void *argument),
                     void *argument) {
    EchoServer *server = context;
    LongWork *long_work = calloc(1, sizeof(*long_work));
    *long_work = (LongWork){.work = work, .done = done, .argument = argument};
    return uv_queue_work(&server->loop, &long_work->request, work_long, done_long) == 0;
}

static void open_server(EchoServer *server) {
    Error error = {0};
    NetDef net = server->def.net;
    net.handlers = (NetHandlers){
        .opened = on_opened, .frame = on_frame, .malformed = on_malformed, .closed = on_closed};
    net.context = server;
    net.tls.run = run_long;
    net.tls.context = server;
    net.report = &server->report;
    bool opened =
        net_create(&server->net, &server->loop, &net, &error) == STATUS_OK &&
        listener_open(server->net, "127.0.0.1:0", &server->tcp, &error) == STATUS_OK &&
        listener_open(server->net, server->local_address, &server->local, &error) == STATUS_OK;
    if (opened && server->def.lane_count > 0) {
        server->scratch.max_bytes = 1 << 20;
        PoolDef pool = {.lane_count = server->def.lane_count, .scratch = &server->scratch};
        opened = pool_create(&server->pool, &server->loop, &pool, &error) == STATUS_OK;
    }
    if (!opened) {
        fprintf(stderr, "net_echo: %s\n", error.message);
    }
    ASSERT(opened);
    snprintf(server->tcp_address, sizeof(server->tcp_address), "%s", listener_address(server->tcp));
}

static void run_server(void *argument) {
    EchoServer *server = argument;
    ASSERT(uv_loop_init(&server->loop) == 0);
    server->command.data = server;
    uv_async_init(&server->loop, &server->command, on_command);
    open_server(server);
    uv_sem_post(&server->answered);
    uv_run(&server->loop, UV_RUN_DEFAULT);
    ASSERT(uv_loop_close(&server->loop) == 0); // no handle leaked
}

static void set_default(size_t *value, size_t otherwise) {
    *value = *value == 0 ? otherwise : *value;
}

void net_echo_start(EchoServer *server, const EchoDef *def) {
    *server = (EchoServer){.def = *def};
    NetDef *net = &server->def.net;
    set_default(&net->frame_bytes_max, 1 << 20);
    set_default(&net->unsent_bytes_max, 64 << 20);
    net->connections_max = net->connections_max == 0 ? 1024 : net->connections_max;
    net->requests_max = net->requests_max == 0 ? 64 : net->requests_max;
    net->write_timeout_ms = net->write_timeout_ms == 0 ? 30000 : net->write_timeout_ms;
    server->def.repeat = def->repeat == 0 ? 1 : def->repeat;
    report_open(&server->report, REPORT_ERROR, NULL, NULL);
    strcpy(server->directory, "/tmp/moreau-net-XXXXXX");
    ASSERT(mkdtemp(server->directory) != NULL);
    snprintf(server->local_address, sizeof(server->local_address), "unix:%s/s", server->directory);
    uv_mutex_init(&server->gate);
    uv_sem_init(&server->answered, 0);
    ASSERT(uv_thread_create(&server->thread, run_server, server) == 0);
    uv_sem_wait(&server->answered);
}

void net_echo_stop(EchoServer *server) {
    ask(server, COMMAND_STOP);
    uv_thread_join(&server->thread);
    ASSERT(server->net_closed_count == 1);
    ASSERT(server->opened_count == server->closed_count);
    ASSERT(rmdir(server->directory) == 0); // the socket file is gone
    uv_sem_destroy(&server->answered);
    uv_mutex_destroy(&server->gate);
}

NetStats net_echo_stats(EchoServer *server) {
    ask(server, COMMAND_STATS);
    return server->stats;
}

size_t net_echo_unsent_bytes(EchoServer *server) {
    ask(server, COMMAND_STATS);
    return server->unsent_bytes;
}

void net_echo_set_identity(EchoServer *server, TlsIdentity *identity) {
    server->identity = identity;
    ask(server, COMMAND_IDENTITY);
}

void net_echo_stop_reading(EchoServer *server) {
    ask(server, COMMAND_STOP_READING);
}

bool net_echo_wait(const _Atomic uint32_t *counter, uint32_t value) {
    for (int i = 0; i < 20000 && atomic_load(counter) != value; i++) {
        uv_sleep(1);
    }
    return atomic_load(counter) == value;
}
