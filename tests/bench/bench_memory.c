// SPDX-License-Identifier: MIT
// What the server's memory grows by per empty world and per idle connection.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { WORLDS = 10000, CONNECTIONS = 1000 };

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

static void add_row(const BenchRun *run, const char *figure, double bytes) {
    BenchRow row = {.value = bytes, .unit = "bytes"};
    snprintf(row.figure, sizeof(row.figure), "%s", figure);
    bench_add(run, &row);
}

static void bench_worlds(const BenchRun *run) {
    Process server = process_start_server(NULL);
    probe_world(server.local, 0); // what the first one needs beside itself
    double before = resident_bytes(&server);
    for (int i = 0; i < WORLDS; i++) {
        probe_world(server.local, 0);
    }
    add_row(run, "an empty world", (resident_bytes(&server) - before) / WORLDS);
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
    add_row(run, "an idle connection", (resident_bytes(&server) - before) / CONNECTIONS);
    for (int i = 0; i < CONNECTIONS; i++) {
        probe_close(&probes[i]);
    }
    probe_close(&first);
    free(probes);
    process_stop(&server);
}

void bench_memory_use(const BenchRun *run) {
    bench_worlds(run);
    bench_connections(run);
}
