// SPDX-License-Identifier: MIT
// What others notice: step round trips of one client while a second steps a world of its own as
// fast as it can, and the same while that world's frames are recorded and a third client reads a
// long episode, over and over. In turns, so that both see the same weather.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"

#include "os/clock.h"
#include "moreau.pb-c.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { BODIES = 100, STEPS_PER_CALL = 10, LONG_CALLS = 500 };
enum { PHASES = 10, SAMPLES_MAX = 1 << 20 };

// A client on a thread of its own that sends one frame after the other.
typedef struct Neighbour {
    uv_thread_t thread;
    const char *address;
    ProbeFrame request;
    _Atomic bool is_over;
    uint64_t calls;
} Neighbour;

static ProbeFrame pack_request(Moreau__V1__Request *request, const void *call) {
    request->has_id = 1;
    request->id = 1000;
    request->ping = (Moreau__V1__Ping *)call; // every member of the oneof is a pointer here
    size_t size = moreau__v1__request__get_packed_size(request);
    ProbeFrame frame = {.bytes = bench_memory(size + 4, 1), .count = size + 4};
    for (int i = 0; i < 4; i++) {
        frame.bytes[i] = (uint8_t)(size >> (24 - 8 * i));
    }
    moreau__v1__request__pack(request, frame.bytes + 4);
    return frame;
}

static ProbeFrame step_frame(uint64_t *world) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__WorldStep call = MOREAU__V1__WORLD_STEP__INIT;
    call.n_worlds = 1;
    call.worlds = world;
    call.has_steps = 1;
    call.steps = STEPS_PER_CALL;
    request.call_case = MOREAU__V1__REQUEST__CALL_WORLD_STEP;
    return pack_request(&request, &call);
}

static ProbeFrame start_frame(uint64_t world, const char *name) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__EpisodeStart call = MOREAU__V1__EPISODE_START__INIT;
    call.has_world = call.has_content = 1;
    call.world = world;
    call.name = (char *)name;
    call.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_START;
    return pack_request(&request, &call);
}

static ProbeFrame stop_frame(uint64_t world) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__EpisodeStop call = MOREAU__V1__EPISODE_STOP__INIT;
    call.has_world = 1;
    call.world = world;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_STOP;
    return pack_request(&request, &call);
}

static ProbeFrame read_frame(const char *name) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = (char *)name;
    call.has_count = 1;
    call.count = 200;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_READ;
    return pack_request(&request, &call);
}

// One call that must succeed.
static void call_once(Probe *probe, ProbeFrame frame) {
    const uint8_t *body;
    size_t count = probe_exchange(probe, &frame, &body);
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, count, body);
    if (reply == NULL || reply->status->code != MOREAU__V1__STATUS__CODE__OK) {
        bench_fail("the server refused a call: %s", reply == NULL ? "" : reply->status->message);
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    free(frame.bytes);
}

static void be_neighbour(void *argument) {
    Neighbour *neighbour = argument;
    Probe probe = probe_open(neighbour->address, 1);
    const uint8_t *body;
    while (!atomic_load(&neighbour->is_over)) {
        probe_exchange(&probe, &neighbour->request, &body);
        neighbour->calls++;
    }
    probe_close(&probe);
}

static void begin(Neighbour *neighbour) {
    atomic_store(&neighbour->is_over, false);
    uv_thread_create(&neighbour->thread, be_neighbour, neighbour);
}

static void end(Neighbour *neighbour) {
    atomic_store(&neighbour->is_over, true);
    uv_thread_join(&neighbour->thread);
}

typedef struct Phase {
    double *samples;
    size_t count;
} Phase;

static void measure(Probe *probe, const ProbeFrame *request, double seconds, Phase *phase) {
    const uint8_t *body;
    uint64_t end_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
    while (clock_now_ns() < end_ns) {
        uint64_t begun_ns = clock_now_ns();
        probe_exchange(probe, request, &body);
        if (phase->count < SAMPLES_MAX) {
            phase->samples[phase->count++] = (double)(clock_now_ns() - begun_ns);
        }
    }
}

static void record_long(Probe *probe, uint64_t world) {
    ProbeFrame step = step_frame(&world);
    const uint8_t *body;
    call_once(probe, start_frame(world, "long"));
    for (int i = 0; i < LONG_CALLS; i++) {
        probe_exchange(probe, &step, &body);
    }
    call_once(probe, stop_frame(world));
    free(step.bytes);
}

static void add_rows(const BenchRun *run, Phase phase[2]) {
    static const double shares[] = {0.5, 0.99};
    static const char *const names[] = {"p50 while others record and read", "p99 while …"};
    for (int i = 0; i < 2; i++) {
        BenchRow row = {
            .value = bench_percentile(phase[1].samples, phase[1].count, shares[i]) * 1e-3,
            .unit = "us",
            .peer = "others only step",
            .peer_value = bench_percentile(phase[0].samples, phase[0].count, shares[i]) * 1e-3,
            .aim_kind = i == 1 ? AIM_RATIO_MAX : AIM_NONE,
            .aim = 1.2};
        snprintf(row.figure, sizeof(row.figure), "%s", names[i]);
        bench_add(run, &row);
    }
}

void bench_neighbours(const BenchRun *run) {
    char db[64];
    snprintf(db, sizeof(db), "/tmp/moreau-bench-%ld.db", (long)getpid());
    Process server = process_start_server(db);
    uint64_t own = probe_world(server.tcp, 1), busy = probe_world(server.tcp, BODIES);
    Probe probe = probe_open(server.tcp, 1);
    record_long(&probe, busy);
    ProbeFrame request = probe_step_frame(300, own, true);
    Neighbour stepper = {.address = server.tcp, .request = step_frame(&busy)};
    Neighbour reader = {.address = server.tcp, .request = read_frame("long")};
    Phase phase[2] = {{.samples = bench_memory(SAMPLES_MAX, sizeof(double))},
                      {.samples = bench_memory(SAMPLES_MAX, sizeof(double))}};
    for (int i = 0; i < PHASES; i++) {
        bool loaded = i % 2 == 1;
        char name[32];
        snprintf(name, sizeof(name), "phase-%d", i);
        if (loaded) {
            call_once(&probe, start_frame(busy, name));
            begin(&reader);
        }
        begin(&stepper);
        measure(&probe, &request, run->seconds / PHASES, &phase[loaded]);
        end(&stepper);
        if (loaded) {
            end(&reader);
            call_once(&probe, stop_frame(busy));
        }
    }
    add_rows(run, phase);
    probe_close(&probe);
    process_stop(&server);
    unlink(db);
    free(request.bytes);
    free(stepper.request.bytes);
    free(reader.request.bytes);
    free(phase[0].samples);
    free(phase[1].samples);
}
