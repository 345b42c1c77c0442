// SPDX-License-Identifier: MIT
// What TLS costs: a server that speaks it beside one that does not, asked the same over TCP by the
// same client in turns, so that both see the same machine.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"

#include "os/clock.h"
#include "moreau.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BLOCK = 200, LARGE_BLOCK = 4, SAMPLES_MAX = 1 << 18, SIDES = 2, PATH_BYTES = 64 };

// Of one server.
typedef struct Side {
    const Process *server;
    MoreauClient *client;
    ProbeFrame request;
    double *cpu; // of a call, for each block [ns]
    size_t block_count;
    double *samples; // what was waited for each call [ns]
    size_t count;
} Side;

static MoreauClient *come(const Process *server, const char *ca) {
    MoreauOptions options = moreau_options_default();
    MoreauClient *client;
    MoreauError error;
    options.tls_ca = ca;
    if (moreau_connect(server->tcp, &options, &client, &error) != MOREAU_OK) {
        bench_fail("%s", error.message);
    }
    return client;
}

static void call(Side *side) {
    MoreauReply *reply;
    if (moreau_call(side->client, side->request.bytes + PROBE_HEADER_BYTES,
                    side->request.count - PROBE_HEADER_BYTES, &reply) != MOREAU_OK) {
        bench_fail("%s", moreau_error(side->client)->message);
    }
    moreau_reply_free(reply);
}

static void run_block(Side *side, int calls, bool keeps) {
    const double cpu_ns = process_cpu_ns(side->server);
    for (int i = 0; i < calls; i++) {
        const uint64_t begun_ns = clock_now_ns();
        call(side);
        if (keeps && side->count < SAMPLES_MAX) {
            side->samples[side->count++] = (double)(clock_now_ns() - begun_ns);
        }
    }
    if (keeps && side->block_count < SAMPLES_MAX) {
        side->cpu[side->block_count++] = (process_cpu_ns(side->server) - cpu_ns) / calls;
    }
}

// TLS, then without.
static void measure(const BenchRun *run, Side sides[SIDES], int block) {
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
    for (int turn = 0; turn < 2 || clock_now_ns() < end_ns; turn++) {
        for (int i = 0; i < SIDES; i++) {
            run_block(&sides[i], block, turn > 0); // the first turn warms up
        }
    }
}

static void begin(Side *side, ProbeFrame request) {
    free(side->request.bytes);
    side->request = request;
    side->block_count = side->count = 0;
}

static BenchRow row_of(const char *what, double value, double peer) {
    BenchRow row = {
        .unit = "us", .value = value * 1e-3, .peer = "plain", .peer_value = peer * 1e-3};
    snprintf(row.figure, sizeof(row.figure), "%s", what);
    return row;
}

static void add_rows(const BenchRun *run, Side sides[SIDES], const char *what, bool is_small) {
    char name[80];
    double cpu[SIDES], waits[SIDES];
    for (int i = 0; i < SIDES; i++) {
        // what others on the machine do to a block hits both sides: the middle of all blocks
        cpu[i] = bench_percentile(sides[i].cpu, sides[i].block_count, 0.5);
        waits[i] = bench_percentile(sides[i].samples, sides[i].count, 0.5);
    }
    snprintf(name, sizeof(name), "%s, server CPU", what);
    BenchRow row = row_of(name, cpu[0], cpu[1]);
    row.aim_kind = is_small ? AIM_NONE : AIM_RATIO_MAX;
    row.aim = 1.15;
    bench_add(run, &row);
    snprintf(name, sizeof(name), "%s, p50", what);
    row = row_of(name, waits[0], waits[1]);
    bench_add(run, &row);
    if (is_small) {
        snprintf(name, sizeof(name), "%s, server CPU of TLS alone", what);
        row = (BenchRow){
            .unit = "us", .value = (cpu[0] - cpu[1]) * 1e-3, .aim_kind = AIM_VALUE_MAX, .aim = 5.0};
        memcpy(row.figure, name, sizeof(row.figure));
        bench_add(run, &row);
    }
}

static void measure_small(const BenchRun *run, Side sides[SIDES]) {
    for (int i = 0; i < SIDES; i++) {
        begin(&sides[i], probe_step_frame(1, probe_world(sides[i].server->local, 1), true));
    }
    measure(run, sides, SMALL_BLOCK);
    add_rows(run, sides, "a step of one body", true);
}

static void measure_batch(const BenchRun *run, Side sides[SIDES], size_t bodies) {
    enum { WORLDS = 1024 };
    char what[80];
    uint64_t *worlds = bench_memory(WORLDS, sizeof(*worlds));
    for (int i = 0; i < SIDES; i++) {
        for (size_t k = 0; k < WORLDS; k++) {
            worlds[k] = probe_world(sides[i].server->local, bodies);
        }
        begin(&sides[i], probe_batch_frame(WORLDS, worlds, true));
    }
    measure(run, sides, LARGE_BLOCK);
    snprintf(what, sizeof(what), "1024 x %zu", bodies);
    add_rows(run, sides, what, false);
    free(worlds);
}

// What a handshake takes of the server, of the client nothing is asked but that.
static void measure_handshakes(const BenchRun *run, Side sides[SIDES], const char *ca) {
    enum { HANDSHAKES = 200 }; // a machine has a thousand at once
    double cost[SIDES];
    for (int i = 0; i < SIDES; i++) {
        const double cpu_ns = process_cpu_ns(sides[i].server);
        for (int k = 0; k < HANDSHAKES; k++) {
            moreau_disconnect(come(sides[i].server, i == 0 ? ca : NULL));
        }
        cost[i] = (process_cpu_ns(sides[i].server) - cpu_ns) / HANDSHAKES;
    }
    BenchRow row = row_of("a connection with its greeting, server CPU", cost[0], cost[1]);
    bench_add(run, &row);
}

// ---- others, while somebody does nothing but shake hands

typedef struct Flood {
    const Process *server;
    const char *ca;
    pthread_t thread;
    atomic_bool ends;
    _Atomic uint64_t count;
} Flood;

static void *flood(void *argument) {
    Flood *all = argument;
    while (!atomic_load(&all->ends)) {
        moreau_disconnect(come(all->server, all->ca));
        atomic_fetch_add(&all->count, 1);
    }
    return NULL;
}

// In turns without and with it, so that both see the same machine.
static void measure_flood(const BenchRun *run, Side *side, const char *ca) {
    enum { TURNS = 6 };
    Side calm = *side, flooded = *side;
    double seconds = 0.0;
    uint64_t shaken = 0;
    calm.samples = bench_memory(SAMPLES_MAX, sizeof(double));
    calm.block_count = calm.count = flooded.block_count = flooded.count = 0;
    for (int turn = 0; turn < TURNS; turn++) {
        Flood all = {.server = side->server, .ca = ca};
        const bool floods = turn % 2 == 1;
        const uint64_t begun_ns = clock_now_ns();
        const uint64_t end_ns = begun_ns + (uint64_t)(run->seconds / TURNS * 1e9);
        if (floods && pthread_create(&all.thread, NULL, flood, &all) != 0) {
            bench_fail("no thread");
        }
        do {
            run_block(floods ? &flooded : &calm, SMALL_BLOCK, true);
        } while (clock_now_ns() < end_ns);
        if (floods) {
            atomic_store(&all.ends, true);
            pthread_join(all.thread, NULL);
            seconds += (double)(clock_now_ns() - begun_ns) * 1e-9;
            shaken += all.count;
        }
    }
    const double shares[] = {0.5, 0.99};
    for (int i = 0; i < 2; i++) {
        BenchRow row = {.unit = "us",
                        .value = bench_percentile(flooded.samples, flooded.count, shares[i]) * 1e-3,
                        .peer = "calm",
                        .peer_value = bench_percentile(calm.samples, calm.count, shares[i]) * 1e-3,
                        .aim_kind = i == 1 ? AIM_RATIO_MAX : AIM_NONE,
                        .aim = 1.5};
        snprintf(row.figure, sizeof(row.figure), "a step beside %.0f handshakes a second, %s",
                 (double)shaken / seconds, i == 0 ? "p50" : "p99");
        bench_add(run, &row);
    }
    free(calm.samples);
}

void bench_tls(const BenchRun *run) {
    char folder[PATH_BYTES], ca[PATH_BYTES + 16];
    Process servers[SIDES] = {process_start_secure(folder, sizeof(folder)),
                              process_start_server(NULL)};
    Side sides[SIDES] = {0};
    snprintf(ca, sizeof(ca), "%s/cert.pem", folder);
    for (int i = 0; i < SIDES; i++) {
        sides[i] = (Side){.server = &servers[i],
                          .client = come(&servers[i], i == 0 ? ca : NULL),
                          .cpu = bench_memory(SAMPLES_MAX, sizeof(double)),
                          .samples = bench_memory(SAMPLES_MAX, sizeof(double))};
    }
    measure_small(run, sides);
    measure_flood(run, &sides[0], ca);
    measure_batch(run, sides, 1);
    measure_batch(run, sides, 10);
    measure_handshakes(run, sides, ca);
    for (int i = 0; i < SIDES; i++) {
        moreau_disconnect(sides[i].client);
        free(sides[i].request.bytes);
        free(sides[i].cpu);
        free(sides[i].samples);
        process_stop(&servers[i]);
    }
    process_remove_folder(folder);
}
