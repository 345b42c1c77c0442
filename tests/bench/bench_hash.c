// SPDX-License-Identifier: MIT
// The hash beside memcpy of the same bytes: over 1 MiB, and over the state of a settled pile.
#include "bench/bench.h"
#include "bench/scene.h"

#include "base/hash.h"
#include "step/snapshot/snapshot.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 1 << 20 };
enum { SAMPLES = 400 };
enum { PILE_COUNT = 1000 };

// A result that the compiler must not drop.
static volatile uint64_t kept;

static double gigabytes_per_second(double *times, double bytes) {
    return bytes / bench_percentile(times, SAMPLES, 0.5);
}

// Hash and copy take turns, so that both see the same machine.
static void bench_bytes(const BenchRun *run) {
    uint8_t *bytes = bench_memory(BLOCK_BYTES, 1), *copy = bench_memory(BLOCK_BYTES, 1);
    for (size_t i = 0; i < BLOCK_BYTES; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    double hashing[SAMPLES], copying[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double begun = bench_cpu_ns();
        kept = hash_bytes(bytes, BLOCK_BYTES, 1);
        double middle = bench_cpu_ns();
        memcpy(copy, bytes, BLOCK_BYTES);
        copying[i] = bench_cpu_ns() - middle;
        hashing[i] = middle - begun;
        kept = copy[i];
    }
    BenchRow row = {.figure = "1 MiB",
                    .value = gigabytes_per_second(hashing, BLOCK_BYTES),
                    .unit = "GB/s",
                    .peer = "memcpy",
                    .peer_value = gigabytes_per_second(copying, BLOCK_BYTES),
                    .aim_kind = AIM_VALUE_MIN,
                    .aim = 8.0};
    bench_add(run, &row);
    free(bytes);
    free(copy);
}

// What is hashed anew every time: poses, velocities and the impulses to start from.
static size_t state_bytes(const World *world) {
    return world->body_count * (7 + 6) * sizeof(double) +
           world->memory_count * (2 * sizeof(uint32_t) + sizeof(uint64_t) + 3 * sizeof(double));
}

static void bench_world(const BenchRun *run) {
    Scene scene = scene_pile(PILE_COUNT);
    size_t count = state_bytes(scene.world);
    uint8_t *bytes = bench_memory(count, 1), *copy = bench_memory(count, 1);
    memset(bytes, 1, count);
    double hashing[SAMPLES], copying[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double begun = bench_cpu_ns();
        kept = snapshot_hash(scene.world);
        double middle = bench_cpu_ns();
        memcpy(copy, bytes, count);
        copying[i] = bench_cpu_ns() - middle;
        hashing[i] = middle - begun;
        kept = copy[i];
    }
    BenchRow row = {.figure = "state of 1000 bodies",
                    .value = gigabytes_per_second(hashing, (double)count),
                    .unit = "GB/s",
                    .peer = "memcpy",
                    .peer_value = gigabytes_per_second(copying, (double)count),
                    .aim_kind = AIM_VALUE_MIN,
                    .aim = 8.0,
                    .has_certificate = true,
                    .e_own = scene.report.certificate.entry[CERTIFICATE_OWN],
                    .e_ds = scene.report.certificate.entry[CERTIFICATE_DS]};
    bench_add(run, &row);
    free(bytes);
    free(copy);
    scene_destroy(&scene);
}

void bench_hash(const BenchRun *run) {
    bench_bytes(run);
    bench_world(run);
}
