// SPDX-License-Identifier: MIT
// What the server's memory grows by per world, empty or stepped, and per idle connection.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WORLDS = 4000, CONNECTIONS = 1000 };
enum { STEPS = 3 }; // after the second one a world has all the memory that it needs

static double resident_bytes(const Process *process) {
    char path[64];
    uint64_t pages = 0;
    snprintf(path, sizeof(path), "/proc/%d/statm", (int)process->pid);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%*u %" SCNu64, &pages) != 1) {
        bench_fail("the server's memory cannot be read");
    }
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

// One by one: a batch of them all would take memory of its own, and leave it behind.
static void step_world(const Process *server, Probe *probe, size_t bodies) {
    uint64_t world = probe_world(server->local, bodies);
    ProbeFrame frame = probe_step_frame(2, world, false);
    const uint8_t *body;
    for (int i = 0; i < STEPS; i++) {
        probe_exchange(probe, &frame, &body);
    }
    free(frame.bytes);
}

static void bench_worlds(const BenchRun *run, size_t bodies, double bytes_max) {
    Process server = process_start_server(NULL);
    Probe probe = probe_open(server.local, 1);
    step_world(&server, &probe, bodies); // what the first one needs beside itself
    double before = resident_bytes(&server);
    for (int i = 0; i < WORLDS; i++) {
        step_world(&server, &probe, bodies);
    }
    BenchRow row = {.value = (resident_bytes(&server) - before) / WORLDS,
                    .unit = "bytes",
                    .aim_kind = AIM_VALUE_MAX,
                    .aim = bytes_max};
    snprintf(row.figure, sizeof(row.figure), "a world of %zu bodies", bodies);
    bench_add(run, &row);
    probe_close(&probe);
    process_stop(&server);
}

static void bench_connections(const BenchRun *run) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    Process server = process_start_server(NULL);
    Probe *probes = bench_memory(CONNECTIONS, sizeof(*probes));
    Probe first = probe_open(server.local, 1);
    double before = resident_bytes(&server);
    for (int i = 0; i < CONNECTIONS; i++) {
        probes[i] = probe_open(server.local, 1);
    }
    BenchRow row = {.figure = "an idle connection",
                    .value = (resident_bytes(&server) - before) / CONNECTIONS,
                    .unit = "bytes"};
    bench_add(run, &row);
    for (int i = 0; i < CONNECTIONS; i++) {
        probe_close(&probes[i]);
    }
    probe_close(&first);
    free(probes);
    process_stop(&server);
}

void bench_memory_use(const BenchRun *run) {
    bench_worlds(run, 0, 2000.0);
    bench_worlds(run, 1, 3300.0); // half of what they once took, as of ten
    bench_worlds(run, 10, 8800.0);
    bench_connections(run);
}
