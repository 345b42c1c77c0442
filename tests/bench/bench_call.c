// SPDX-License-Identifier: MIT
// What calls on a group of cart-poles cost below the client's language, beside echoes of frames as
// long, which do nothing else: GroupStep, and GroupRead, which is GroupStep without the physics. It
// is the waiting of a client that has its requests packed beforehand and reads of answers only how
// long they are, and CPU time of both sides. peers/call.py goes on above, in Python.
#include "bench/bench.h"
#include "bench/cart_poles.h"
#include "bench/echo.h"
#include "bench/load.h"

#include "os/clock.h"

#include <stdio.h>
#include <stdlib.h>

enum { ACTIONS = 32, COUNTS = 3, SAMPLES_MAX = 1 << 18, BLOCK = 100, WARM_CALLS = 30 };
static const uint32_t counts[COUNTS] = {1, 64, 1024};

typedef struct Caller {
    const char *name;
    const Process *process;
    Probe probe;
    const ProbeFrame *frame; // borrowed
    size_t frames;
    double *samples; // [ns]
    size_t count;
    double cpu_ns; // of both sides
} Caller;

static Caller enter(const char *name, const Process *process, Probe probe, const ProbeFrame *frame,
                    size_t frames) {
    return (Caller){.name = name,
                    .process = process,
                    .probe = probe,
                    .frame = frame,
                    .frames = frames,
                    .samples = bench_memory(SAMPLES_MAX, sizeof(double))};
}

static void leave(Caller *caller) {
    probe_close(&caller->probe);
    free(caller->samples);
}

// Returns the bytes of the last answer's body.
static size_t call(Caller *caller, size_t calls) {
    const double server_ns = process_cpu_ns(caller->process), client_ns = bench_cpu_ns();
    const uint8_t *body;
    size_t bytes = 0;
    for (size_t i = 0; i < calls && caller->count < SAMPLES_MAX; i++) {
        const uint64_t begun_ns = clock_now_ns();
        bytes = probe_exchange(&caller->probe, &caller->frame[i % caller->frames], &body);
        caller->samples[caller->count++] = (double)(clock_now_ns() - begun_ns);
    }
    caller->cpu_ns += process_cpu_ns(caller->process) - server_ns + bench_cpu_ns() - client_ns;
    return bytes;
}

static void report(const BenchRun *run, const char *where, Caller *caller) {
    BenchRow row = {.unit = "us"};
    row.value = caller->cpu_ns / (double)caller->count * 1e-3;
    snprintf(row.figure, sizeof(row.figure), "%s: %s, CPU", where, caller->name);
    bench_add(run, &row);
    row.value = bench_percentile(caller->samples, caller->count, 0.5) * 1e-3;
    snprintf(row.figure, sizeof(row.figure), "%s: %s, p50", where, caller->name);
    bench_add(run, &row);
}

// Server and echoes in turns. Addresses and processes: the server, then the echoes.
static void compare(const BenchRun *run, const char *where, const char *const *address,
                    const Process *const *process, Moreau__V1__Scene *scene, uint32_t count) {
    enum { READ, STEP, ALONE, WORKER, CALLERS };
    CartPoles *wish = cart_poles_wish(scene, count);
    float *actions = cart_poles_actions(count, ACTIONS);
    ProbeFrame step[ACTIONS];
    Probe probe = probe_open(address[0], 1);
    const uint64_t group = cart_poles_create(&probe, wish);
    for (size_t i = 0; i < ACTIONS; i++) {
        step[i] = cart_poles_step_frame(group, count, actions + i * count);
    }
    ProbeFrame read = cart_poles_read_frame(group);
    Caller all[CALLERS] = {[READ] =
                               enter("GroupRead", process[0], probe_open(address[0], 1), &read, 1),
                           [STEP] = enter("GroupStep", process[0], probe, step, ACTIONS)};
    ProbeFrame echo = probe_echo_frame(step[0].count, call(&all[STEP], WARM_CALLS));
    all[ALONE] = enter("echo of the loop", process[1], probe_open(address[1], 0), &echo, 1);
    all[WORKER] = enter("echo of a worker", process[2], probe_open(address[2], 0), &echo, 1);
    for (int i = 0; i < CALLERS; i++) {
        call(&all[i], WARM_CALLS);
        all[i].count = 0;
        all[i].cpu_ns = 0.0;
    }
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
    do {
        for (int i = 0; i < CALLERS; i++) {
            call(&all[i], BLOCK);
        }
    } while (clock_now_ns() < end_ns);
    for (int i = CALLERS - 1; i >= 0; i--) {
        report(run, where, &all[i]);
        leave(&all[i]);
    }
    for (size_t i = 0; i < ACTIONS; i++) {
        free(step[i].bytes);
    }
    free(read.bytes);
    free(echo.bytes);
    free(actions);
    free(wish);
}

void bench_calls(const BenchRun *run) {
    Moreau__V1__Scene *scene =
        load_scene_message(MOREAU_SOURCE_DIR "/tests/scenes/joints/cart_pole.json");
    Process alone = echo_start(ECHO_ALONE), worker = echo_start(ECHO_WORKER);
    for (unsigned workers = 1; workers <= 2; workers++) {
        Process server = process_start_workers(workers, NULL);
        const Process *const process[] = {&server, &alone, &worker};
        const char *const tcp[] = {server.tcp, alone.tcp, worker.tcp};
        const char *const local[] = {server.local, alone.local, worker.local};
        for (size_t i = 0; i < COUNTS; i++) {
            char where[48];
            snprintf(where, sizeof(where), "%u workers, Unix, %u", workers, counts[i]);
            compare(run, where, local, process, scene, counts[i]);
            snprintf(where, sizeof(where), "%u workers, TCP, %u", workers, counts[i]);
            compare(run, where, tcp, process, scene, counts[i]);
        }
        process_stop(&server);
    }
    process_stop(&worker);
    process_stop(&alone);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
