// SPDX-License-Identifier: MIT
// The state of 1,000 bodies: packed into a reply beside memcpy of the same bytes, and read over the
// wire beside a server that copies and sends the same bytes.
#include "bench/bench.h"
#include "bench/echo.h"
#include "bench/scene.h"
#include "bench/probe.h"

#include "os/clock.h"
#include "moreau.pb-c.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODIES = 1000 };
enum { SAMPLES = 2000 };
enum { BLOCK = 50 };
enum { SAMPLES_MAX = 1 << 18 };

static volatile uint8_t kept; // a result that the compiler must not drop

// ---- packing

static void fill_reply(const World *world, Moreau__V1__Reply *reply, Moreau__V1__WorldGetReply *m) {
    m->has_world = m->has_step = m->has_time = m->has_total = m->has_faulted = 1;
    m->world = 1;
    m->total = world->body_count;
    m->n_ids = world->body_count;
    m->ids = world->body_id;
    m->n_pose = 7 * (size_t)world->body_count;
    m->pose = world->pose;
    m->n_velocity = 6 * (size_t)world->body_count;
    m->velocity = world->velocity;
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_GET;
    reply->world_get = m;
}

static void bench_packing(const BenchRun *run) {
    Scene scene = scene_create();
    Id shape = scene_shape(&scene, PRIMITIVE_SPHERE, vec3(0.05, 0.0, 0.0));
    for (int i = 0; i < BODIES; i++) {
        Pose pose = {.position = vec3(i, 0.1 * i, 1.0), .orientation = quat_identity()};
        scene_body(&scene, shape, BODY_DYNAMIC, pose);
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldGetReply message = MOREAU__V1__WORLD_GET_REPLY__INIT;
    fill_reply(scene.world, &reply, &message);
    size_t size = moreau__v1__reply__get_packed_size(&reply);
    uint8_t *packed = bench_memory(size, 1), *copy = bench_memory(size, 1);
    static double packing[SAMPLES], copying[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        double begun = bench_cpu_ns();
        kept = (uint8_t)moreau__v1__reply__get_packed_size(&reply);
        moreau__v1__reply__pack(&reply, packed);
        double middle = bench_cpu_ns();
        memcpy(copy, packed, size);
        copying[i] = bench_cpu_ns() - middle;
        packing[i] = middle - begun;
        kept = copy[i];
    }
    BenchRow row = {.figure = "pack 1000 bodies",
                    .value = bench_percentile(packing, SAMPLES, 0.5) * 1e-3,
                    .unit = "us",
                    .peer = "memcpy",
                    .peer_value = bench_percentile(copying, SAMPLES, 0.5) * 1e-3};
    bench_add(run, &row);
    free(packed);
    free(copy);
    scene_destroy(&scene);
}

// ---- the wire

typedef struct Reader {
    Probe probe;
    ProbeFrame request;
    double *samples;
    size_t count;
} Reader;

static void run_block(Reader *reader) {
    const uint8_t *body;
    for (int i = 0; i < BLOCK; i++) {
        uint64_t begun_ns = clock_now_ns();
        probe_exchange(&reader->probe, &reader->request, &body);
        if (reader->count < SAMPLES_MAX) {
            reader->samples[reader->count++] = (double)(clock_now_ns() - begun_ns);
        }
    }
}

static void compare(const BenchRun *run, const char *figure, const char *server, const char *peer,
                    uint64_t world) {
    const uint8_t *body;
    Reader readers[2] = {{.probe = probe_open(server, 1), .request = probe_get_frame(world)},
                         {.probe = probe_open(peer, 0)}};
    size_t reply_bytes = probe_exchange(&readers[0].probe, &readers[0].request, &body);
    readers[1].request = probe_echo_frame(readers[0].request.count, reply_bytes);
    double p50[2];
    for (int i = 0; i < 2; i++) {
        readers[i].samples = bench_memory(SAMPLES_MAX, sizeof(double));
    }
    uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
    do {
        run_block(&readers[0]);
        run_block(&readers[1]);
    } while (clock_now_ns() < end_ns);
    for (int i = 0; i < 2; i++) {
        p50[i] = bench_percentile(readers[i].samples, readers[i].count, 0.5) * 1e-3;
        probe_close(&readers[i].probe);
        free(readers[i].request.bytes);
        free(readers[i].samples);
    }
    BenchRow row = {.value = p50[0],
                    .unit = "us",
                    .peer = "copy and send",
                    .peer_value = p50[1],
                    .aim_kind = AIM_RATIO_MAX,
                    .aim = 1.05};
    snprintf(row.figure, sizeof(row.figure), "%s", figure);
    bench_add(run, &row);
}

void bench_state(const BenchRun *run) {
    bench_packing(run);
    Process server = process_start_server(NULL);
    Process peer = echo_start(ECHO_WORKER);
    uint64_t world = probe_world(server.tcp, BODIES);
    compare(run, "read over TCP p50", server.tcp, peer.tcp, world);
    compare(run, "read over Unix p50", server.local, peer.local, world);
    process_stop(&server);
    process_stop(&peer);
}
