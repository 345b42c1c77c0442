// SPDX-License-Identifier: MIT
// Many small worlds stepped by one call, over a Unix socket: how many steps per second, what a step
// costs the server, and what both sides spend on it beyond its physics. The physics is as many
// worlds in process, stepped in turn, so that it misses the caches as often.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"
#include "bench/scene.h"

#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { WARM_CALLS = 5 };

typedef struct BatchKind {
    size_t worlds, bodies; // bodies: of each world
    bool reports;          // certificates in the reply
} BatchKind;

// One step of one of the worlds in process.
static double measure_physics(const BatchKind *batch) {
    Scene *scenes = bench_memory(batch->worlds, sizeof(*scenes));
    for (size_t i = 0; i < batch->worlds; i++) {
        scenes[i] = scene_fall((uint32_t)batch->bodies);
        scene_step(&scenes[i]);
    }
    size_t rounds = 1 + 400000 / (batch->worlds * batch->bodies);
    double begun = bench_cpu_ns();
    for (size_t k = 0; k < rounds; k++) {
        for (size_t i = 0; i < batch->worlds; i++) {
            scene_step(&scenes[i]);
        }
    }
    double spent = bench_cpu_ns() - begun;
    for (size_t i = 0; i < batch->worlds; i++) {
        scene_destroy(&scenes[i]);
    }
    free(scenes);
    return spent / (double)(rounds * batch->worlds);
}

// What a step took [ns].
typedef struct BatchCost {
    double elapsed, server, client;
} BatchCost;

static BatchCost measure_calls(const BenchRun *run, const Process *server, const BatchKind *batch) {
    uint64_t *worlds = bench_memory(batch->worlds, sizeof(*worlds));
    for (size_t i = 0; i < batch->worlds; i++) {
        worlds[i] = probe_world(server->local, batch->bodies);
    }
    Probe probe = probe_open(server->local, 1);
    ProbeFrame frame = probe_batch_frame(batch->worlds, worlds, batch->reports);
    const uint8_t *body;
    for (int i = 0; i < WARM_CALLS; i++) {
        probe_exchange(&probe, &frame, &body);
    }
    double server_ns = process_cpu_ns(server), client_ns = bench_cpu_ns();
    uint64_t begun_ns = clock_now_ns(), now_ns;
    uint64_t end_ns = begun_ns + (uint64_t)(run->seconds * 1e9);
    double steps = 0.0;
    do {
        probe_exchange(&probe, &frame, &body);
        steps += (double)batch->worlds;
        now_ns = clock_now_ns();
    } while (now_ns < end_ns);
    BatchCost cost = {.elapsed = (double)(now_ns - begun_ns) / steps,
                      .server = (process_cpu_ns(server) - server_ns) / steps,
                      .client = (bench_cpu_ns() - client_ns) / steps};
    probe_close(&probe);
    free(frame.bytes);
    free(worlds);
    return cost;
}

static void name_row(BenchRow *row, const BatchKind *batch, const char *what) {
    snprintf(row->figure, sizeof(row->figure), "%zu x %zu%s%s", batch->worlds, batch->bodies,
             batch->reports ? "" : " bare", what);
}

static void measure(const BenchRun *run, const BatchKind *batch) {
    double physics = measure_physics(batch);
    Process server = process_start_server(NULL);
    BatchCost cost = measure_calls(run, &server, batch);
    process_stop(&server);

    BenchRow row = {.value = 1e9 / cost.elapsed,
                    .unit = "steps/s",
                    .peer = "in process",
                    .peer_value = 1e9 / physics};
    name_row(&row, batch, "");
    bench_add(run, &row);
    row = (BenchRow){
        .value = cost.server * 1e-3, .unit = "us", .peer = "physics", .peer_value = physics * 1e-3};
    name_row(&row, batch, " CPU/step");
    bench_add(run, &row);
    row = (BenchRow){.value = (cost.server + cost.client - physics) * 1e-3, .unit = "us"};
    row.aim_kind = batch->bodies == 1 && !batch->reports ? AIM_VALUE_MAX : AIM_NONE;
    row.aim = 0.2;
    name_row(&row, batch, " transport");
    bench_add(run, &row);
}

void bench_batch(const BenchRun *run) {
    static const BatchKind batches[] = {
        {1024, 1, false}, {1024, 1, true}, {64, 10, false}, {1024, 10, false}};
    for (size_t i = 0; i < sizeof(batches) / sizeof(batches[0]); i++) {
        measure(run, &batches[i]);
    }
}
