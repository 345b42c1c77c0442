// SPDX-License-Identifier: MIT
// One step of a one-body world, asked for and answered with its report, one at a time: how long the
// client waits, beside a bare echo of frames of the same lengths. Server and peers take turns in
// blocks, so that they see the same machine.
#include "bench/bench.h"
#include "bench/echo.h"
#include "bench/probe.h"

#include "os/clock.h"
#include "moreau.pb-c.h"

#include <stdio.h>
#include <stdlib.h>

enum { BLOCK = 500 }; // round trips before the next one's turn
enum { SAMPLES_MAX = 1 << 20 };
enum { CONTESTANTS = 3 }; // the server, then the two echoes

typedef struct Contestant {
    Probe probe;
    ProbeFrame request;
    double *samples; // [ns]
    size_t count;
} Contestant;

static Contestant enter(const char *address, int greets, ProbeFrame request) {
    return (Contestant){.probe = probe_open(address, greets),
                        .request = request,
                        .samples = bench_memory(SAMPLES_MAX, sizeof(double))};
}

static void leave(Contestant *contestant) {
    probe_close(&contestant->probe);
    free(contestant->request.bytes);
    free(contestant->samples);
}

static void run_block(Contestant *contestant, bool keeps) {
    const uint8_t *body;
    for (int i = 0; i < BLOCK; i++) {
        uint64_t begun_ns = clock_now_ns();
        probe_exchange(&contestant->probe, &contestant->request, &body);
        if (keeps && contestant->count < SAMPLES_MAX) {
            contestant->samples[contestant->count++] = (double)(clock_now_ns() - begun_ns);
        }
    }
}

// The certificate in a step's reply.
static void read_certificate(const uint8_t *body, size_t count, BenchRow *row) {
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, count, body);
    if (reply == NULL || reply->result_case != MOREAU__V1__REPLY__RESULT_WORLD_STEP ||
        reply->world_step->reports == NULL || reply->world_step->reports->worst->n_e_own != 1) {
        bench_fail("the server did not answer a step");
    }
    row->has_certificate = true;
    row->e_own = reply->world_step->reports->worst->e_own[0];
    row->e_ds = reply->world_step->reports->worst->e_ds[0];
    moreau__v1__reply__free_unpacked(reply, NULL);
}

static void add_rows(const BenchRun *run, const char *net, Contestant *all, BenchRow row) {
    static const double shares[] = {0.5, 0.99};
    static const char *const share_names[] = {"p50", "p99"};
    static const char *const peers[] = {"", "echo by worker", "echo by loop"};
    for (int i = 0; i < 2; i++) {
        for (int peer = 1; peer < CONTESTANTS; peer++) {
            snprintf(row.figure, sizeof(row.figure), "%s %s", net, share_names[i]);
            row.unit = "us";
            row.value = bench_percentile(all[0].samples, all[0].count, shares[i]) * 1e-3;
            row.peer = peers[peer];
            row.peer_value = bench_percentile(all[peer].samples, all[peer].count, shares[i]) * 1e-3;
            row.aim_kind = i == 0 && peer == 2 ? AIM_RATIO_MAX : AIM_NONE;
            row.aim = 1.1;
            bench_add(run, &row);
        }
    }
}

static void compare(const BenchRun *run, const char *net, const char *const *address,
                    uint64_t world) {
    Contestant all[CONTESTANTS];
    BenchRow row = {0};
    const uint8_t *body;
    all[0] = enter(address[0], 1, probe_step_frame(300, world, true));
    size_t reply_bytes = probe_exchange(&all[0].probe, &all[0].request, &body);
    read_certificate(body, reply_bytes, &row);
    for (int i = 1; i < CONTESTANTS; i++) {
        all[i] = enter(address[i], 0, probe_echo_frame(all[0].request.count, reply_bytes));
    }
    uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
    for (int turn = 0; turn == 0 || clock_now_ns() < end_ns; turn++) {
        for (int i = 0; i < CONTESTANTS; i++) {
            run_block(&all[i], turn > 0 || run->seconds < 0.1); // the first turn warms up
        }
    }
    add_rows(run, net, all, row);
    for (int i = 0; i < CONTESTANTS; i++) {
        leave(&all[i]);
    }
}

void bench_roundtrip(const BenchRun *run) {
    Process server = process_start_server(NULL);
    Process peers[] = {echo_start(ECHO_WORKER), echo_start(ECHO_LOOP)};
    uint64_t world = probe_world(server.tcp, 1);
    const char *const tcp[] = {server.tcp, peers[0].tcp, peers[1].tcp};
    const char *const local[] = {server.local, peers[0].local, peers[1].local};
    compare(run, "TCP", tcp, world);
    compare(run, "Unix", local, world);
    process_stop(&server);
    process_stop(&peers[0]);
    process_stop(&peers[1]);
}
