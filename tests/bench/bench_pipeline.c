// SPDX-License-Identifier: MIT
// Pipelined steps of one-body worlds, one world per connection: how many per second, and what a
// request costs the server beyond its physics. The physics is the same number of steps in process.
#include "bench/bench.h"
#include "bench/process.h"
#include "bench/scene.h"
#include "bench/probe.h"

#include "os/clock.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IN_FLIGHT = 16 };
enum { CONNECTIONS_MAX = 64 };
enum { ID_FIRST = 1 << 21, ID_BYTES = 4 }; // ids whose varint takes four bytes, up to 2^28
enum { ID_AT = 5 };                        // in a frame: after the header and the field's tag

// A connection that always has IN_FLIGHT requests under way.
typedef struct Pipe {
    Probe probe;
    uint8_t *frames; // IN_FLIGHT of them, one behind the other
    size_t frame_bytes;
    uint32_t id;
} Pipe;

static void write_id(uint8_t *frame, uint32_t id) {
    for (int i = 0; i < ID_BYTES; i++) {
        uint8_t more = i < ID_BYTES - 1 ? 0x80 : 0;
        frame[ID_AT + i] = (uint8_t)((id >> (7 * i) & 0x7f) | more);
    }
}

static Pipe open_pipe(const char *address, bool reports) {
    uint64_t world = probe_world(address, 1);
    ProbeFrame frame = probe_step_frame(ID_FIRST, world, reports);
    Pipe made = {.probe = probe_open(address, 1),
                 .frames = bench_memory(IN_FLIGHT, frame.count),
                 .frame_bytes = frame.count,
                 .id = ID_FIRST};
    for (size_t i = 0; i < IN_FLIGHT; i++) {
        memcpy(made.frames + i * frame.count, frame.bytes, frame.count);
    }
    free(frame.bytes);
    return made;
}

// Ids rise, as a client's do.
static void send_more(Pipe *made, size_t count) {
    for (size_t i = 0; i < count; i++) {
        write_id(made->frames + i * made->frame_bytes, made->id++);
    }
    probe_send(&made->probe, made->frames, count * made->frame_bytes);
}

static void close_pipe(Pipe *made) {
    probe_close(&made->probe);
    free(made->frames);
}

// Answers taken, and as many new requests sent.
static size_t turn(Pipe *pipes, struct pollfd *entries, size_t count) {
    size_t answered = 0;
    if (poll(entries, count, 10000) <= 0) {
        bench_fail("the server does not answer");
    }
    for (size_t i = 0; i < count; i++) {
        if (entries[i].revents != 0) {
            size_t frames = probe_receive(&pipes[i].probe);
            if (frames > 0) {
                send_more(&pipes[i], frames);
            }
            answered += frames;
        }
    }
    return answered;
}

static size_t run_for(Pipe *pipes, struct pollfd *entries, size_t count, double seconds) {
    size_t answered = 0;
    uint64_t end_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
    do {
        answered += turn(pipes, entries, count);
    } while (clock_now_ns() < end_ns);
    return answered;
}

// One step of such a world in process.
typedef struct Physics {
    double ns;
    Certificate certificate;
} Physics;

static Physics measure_physics(void) {
    enum { STEPS = 200000 };
    Scene scene = scene_fall(1);
    double begun = bench_cpu_ns();
    for (int i = 0; i < STEPS; i++) {
        scene_step(&scene);
    }
    Physics physics = {(bench_cpu_ns() - begun) / STEPS, scene.report.certificate};
    scene_destroy(&scene);
    return physics;
}

static void add_rows(const BenchRun *run, size_t connections, bool reports, double rate,
                     double cpu_ns, const Physics *physics) {
    const char *what = reports ? "" : " bare"; // without the certificate in the reply
    BenchRow row = {.value = rate,
                    .unit = "steps/s",
                    .peer = "in process",
                    .peer_value = 1e9 / physics->ns,
                    .has_certificate = true,
                    .e_own = physics->certificate.entry[CERTIFICATE_OWN],
                    .e_ds = physics->certificate.entry[CERTIFICATE_DS]};
    snprintf(row.figure, sizeof(row.figure), "%zu x %d%s", connections, IN_FLIGHT, what);
    bench_add(run, &row);
    row.value = (cpu_ns - physics->ns) * 1e-3;
    row.unit = "us";
    row.peer = "physics";
    row.peer_value = physics->ns * 1e-3;
    row.aim_kind = AIM_VALUE_MAX;
    row.aim = 0.7;
    snprintf(row.figure, sizeof(row.figure), "%zu x %d%s CPU/request", connections, IN_FLIGHT,
             what);
    bench_add(run, &row);
}

static void measure(const BenchRun *run, const Process *server, size_t connections, bool reports,
                    const Physics *physics) {
    Pipe pipes[CONNECTIONS_MAX];
    struct pollfd entries[CONNECTIONS_MAX];
    for (size_t i = 0; i < connections; i++) {
        pipes[i] = open_pipe(server->tcp, reports);
        entries[i] = (struct pollfd){pipes[i].probe.fd, POLLIN, 0};
        send_more(&pipes[i], IN_FLIGHT);
    }
    run_for(pipes, entries, connections, 0.1 * run->seconds);

    double cpu_ns = process_cpu_ns(server);
    uint64_t begun_ns = clock_now_ns();
    size_t answered = run_for(pipes, entries, connections, run->seconds);
    double elapsed_ns = (double)(clock_now_ns() - begun_ns);
    cpu_ns = process_cpu_ns(server) - cpu_ns;
    for (size_t i = 0; i < connections; i++) {
        close_pipe(&pipes[i]);
    }
    double count = (double)(answered > 0 ? answered : 1);
    add_rows(run, connections, reports, count * 1e9 / elapsed_ns, cpu_ns / count, physics);
}

void bench_pipeline(const BenchRun *run) {
    Physics physics = measure_physics();
    Process server = process_start_server(NULL);
    measure(run, &server, 1, true, &physics);
    measure(run, &server, CONNECTIONS_MAX, true, &physics);
    measure(run, &server, CONNECTIONS_MAX, false, &physics);
    process_stop(&server);
}
