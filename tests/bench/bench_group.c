// SPDX-License-Identifier: MIT
// A group of cart-poles with random actions, as a learner steps it, over TCP and a Unix socket:
// steps of an environment per second beside the same group in process on as many threads, and what
// both sides spend on a step beyond its physics; bytes of a step on the wire; what a reset costs.
#include "bench/bench.h"
#include "bench/cart_poles.h"
#include "bench/load.h"
#include "bench/probe.h"
#include "bench/process.h"

#include "os/clock.h"
#include "wire/group_def.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { WARM_CALLS = 30, ACTIONS = 32, THREADS = 2, ROUNDS = 3, COUNTS = 4 };
static const uint32_t counts[COUNTS] = {1, 64, 1024, 4096};

// ---- in process

typedef struct Inside Inside;

// One thread, and the rows that are its.
typedef struct Hand {
    Inside *inside;
    size_t first, end;
    Arena scratch;
    double cpu_ns;
    uv_thread_t thread;
} Hand;

struct Inside {
    Group *group;
    GroupCall call;
    const float *actions;
    uint32_t count;
    uint64_t calls;
    Arena arena;
    Hand hand[THREADS];
};

static void run_rows(Hand *hand, GroupCall *call) {
    for (size_t row = hand->first; row < hand->end; row++) {
        call->row[row] = (GroupRow){0};
        group_run_row(call, row, &hand->scratch, NULL);
    }
}

// Rows are independent, so no thread waits for the other between two calls.
static void be_hand(void *argument) {
    Hand *hand = argument;
    GroupCall call = hand->inside->call;
    const double begun_ns = bench_cpu_ns();
    for (uint64_t i = 0; i < hand->inside->calls; i++) {
        call.action = hand->inside->actions + (i % ACTIONS) * hand->inside->count;
        run_rows(hand, &call);
    }
    hand->cpu_ns = bench_cpu_ns() - begun_ns;
}

static Inside *inside_open(Moreau__V1__Scene *scene, uint32_t count, const float *actions) {
    Inside *inside = bench_memory(1, sizeof(*inside));
    CartPoles *wish = cart_poles_wish(scene, count);
    GroupDef def;
    Error error;
    error_clear(&error);
    arena_init(&inside->arena, SIZE_MAX);
    World *template = load_scene_world(scene);
    if (group_def_read(&wish->create, &inside->arena, &def, &error) != STATUS_OK ||
        group_def_check(&def, &error) != STATUS_OK ||
        group_create(&def, template, &inside->group, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    for (uint32_t i = 0; i < count; i++) {
        group_add_world(inside->group, i, &error);
    }
    inside->call = (GroupCall){.group = inside->group, .verb = GROUP_STEP, .count = count};
    inside->actions = actions;
    inside->count = count;
    if (!group_call_take(&inside->call, &inside->arena)) {
        bench_fail("memory ended");
    }
    for (size_t i = 0; i < THREADS; i++) {
        inside->hand[i] = (Hand){
            .inside = inside, .first = i * count / THREADS, .end = (i + 1) * count / THREADS};
        arena_init(&inside->hand[i].scratch, SIZE_MAX);
    }
    free(wish);
    return inside;
}

static void inside_close(Inside *inside) {
    group_destroy(inside->group);
    for (size_t i = 0; i < THREADS; i++) {
        arena_deinit(&inside->hand[i].scratch);
    }
    arena_deinit(&inside->arena);
    free(inside);
}

// What a step of an environment takes [ns].
typedef struct Cost {
    double elapsed, server, client;
} Cost;

static Cost inside_run(Inside *inside, uint64_t calls) {
    inside->calls = calls;
    const uint64_t begun_ns = clock_now_ns();
    for (size_t i = 0; i < THREADS; i++) {
        uv_thread_create(&inside->hand[i].thread, be_hand, &inside->hand[i]);
    }
    double cpu_ns = 0.0;
    for (size_t i = 0; i < THREADS; i++) {
        uv_thread_join(&inside->hand[i].thread);
        cpu_ns += inside->hand[i].cpu_ns;
    }
    const double steps = (double)calls * inside->count;
    return (Cost){.elapsed = (double)(clock_now_ns() - begun_ns) / steps, .server = cpu_ns / steps};
}

// A reset of one world [ns] of CPU.
static double inside_reset(Inside *inside) {
    const uint64_t rounds = 1 + 200000 / inside->count;
    GroupCall call = inside->call;
    call.verb = GROUP_RESET;
    Hand all = {.inside = inside, .end = inside->count};
    arena_init(&all.scratch, SIZE_MAX);
    const double begun_ns = bench_cpu_ns();
    for (uint64_t i = 0; i < rounds; i++) {
        run_rows(&all, &call);
    }
    const double spent = bench_cpu_ns() - begun_ns;
    arena_deinit(&all.scratch);
    return spent / (double)(rounds * inside->count);
}

// ---- over a socket

typedef struct Outside {
    const Process *server;
    Probe probe;
    ProbeFrame frame[ACTIONS];
    uint32_t count;
    size_t reply_bytes; // of the last one
} Outside;

static void outside_open(Outside *outside, const Process *server, const char *address,
                         Moreau__V1__Scene *scene, uint32_t count, float *actions) {
    CartPoles *wish = cart_poles_wish(scene, count);
    *outside = (Outside){.server = server, .probe = probe_open(address, 1), .count = count};
    const uint64_t group = cart_poles_create(&outside->probe, wish);
    for (size_t i = 0; i < ACTIONS; i++) {
        outside->frame[i] = cart_poles_step_frame(group, count, actions + i * count);
    }
    free(wish);
}

static void outside_close(Outside *outside) {
    for (size_t i = 0; i < ACTIONS; i++) {
        free(outside->frame[i].bytes);
    }
    probe_close(&outside->probe);
}

static Cost outside_run(Outside *outside, uint64_t calls) {
    const uint8_t *body;
    const double server_ns = process_cpu_ns(outside->server), client_ns = bench_cpu_ns();
    const uint64_t begun_ns = clock_now_ns();
    for (uint64_t i = 0; i < calls; i++) {
        outside->reply_bytes = probe_exchange(&outside->probe, &outside->frame[i % ACTIONS], &body);
    }
    const double steps = (double)calls * outside->count;
    return (Cost){.elapsed = (double)(clock_now_ns() - begun_ns) / steps,
                  .server = (process_cpu_ns(outside->server) - server_ns) / steps,
                  .client = (bench_cpu_ns() - client_ns) / steps};
}

// ---- rows

static double median(double *values) {
    return bench_percentile(values, ROUNDS, 0.5);
}

typedef struct Costs {
    double elapsed[ROUNDS], cpu[ROUNDS];
} Costs;

static void keep(Costs *costs, int round, Cost cost) {
    costs->elapsed[round] = cost.elapsed;
    costs->cpu[round] = cost.server + cost.client;
}

static void report(const BenchRun *run, uint32_t count, const char *where, Costs *outside,
                   Costs *inside, double bytes) {
    const double elapsed = median(outside->elapsed), physics_elapsed = median(inside->elapsed);
    const double cpu = median(outside->cpu), physics = median(inside->cpu);
    BenchRow row = {.value = 1e9 / elapsed,
                    .unit = "steps/s",
                    .peer = "in process",
                    .peer_value = 1e9 / physics_elapsed};
    if (count >= 1024) {
        row.aim_kind = AIM_VALUE_MIN;
        row.aim = 0.8 * row.peer_value;
    }
    snprintf(row.figure, sizeof(row.figure), "%u cart-poles, %s", count, where);
    bench_add(run, &row);
    row = (BenchRow){
        .value = cpu * 1e-3, .unit = "us", .peer = "physics", .peer_value = physics * 1e-3};
    snprintf(row.figure, sizeof(row.figure), "%u, %s: CPU/step", count, where);
    bench_add(run, &row);
    row = (BenchRow){.value = (cpu - physics) * 1e-3, .unit = "us"};
    row.aim_kind = count >= 1024 ? AIM_VALUE_MAX : AIM_NONE;
    row.aim = 0.1;
    snprintf(row.figure, sizeof(row.figure), "%u, %s: transport", count, where);
    bench_add(run, &row);
    row = (BenchRow){.value = bytes, .unit = "B"};
    snprintf(row.figure, sizeof(row.figure), "%u, %s: wire/step", count, where);
    bench_add(run, &row);
}

static uint64_t calls_for(double seconds, Cost cost, uint32_t count) {
    const double calls = seconds * 1e9 / (cost.elapsed * count);
    return calls < 1.0 ? 1 : (uint64_t)calls;
}

// In turns, as the machine is seldom alone.
static void measure(const BenchRun *run, const Process *server, Moreau__V1__Scene *scene,
                    uint32_t count) {
    float *actions = cart_poles_actions(count, ACTIONS);
    Inside *inside = inside_open(scene, count, actions);
    const char *const where[2] = {"TCP", "Unix"};
    const char *const address[2] = {server->tcp, server->local};
    Outside outside[2];
    Costs costs[2], inside_costs;
    for (int i = 0; i < 2; i++) {
        outside_open(&outside[i], server, address[i], scene, count, actions);
        outside_run(&outside[i], WARM_CALLS);
    }
    inside_run(inside, WARM_CALLS);
    const double seconds = run->seconds / ROUNDS;
    const uint64_t calls = calls_for(seconds, outside_run(&outside[0], WARM_CALLS), count);
    for (int round = 0; round < ROUNDS; round++) {
        keep(&inside_costs, round, inside_run(inside, calls));
        for (int i = 0; i < 2; i++) {
            keep(&costs[i], round, outside_run(&outside[i], calls));
        }
    }
    for (int i = 0; i < 2; i++) {
        const double bytes = (double)(outside[i].frame[0].count + outside[i].reply_bytes) / count;
        report(run, count, where[i], &costs[i], &inside_costs, bytes);
        outside_close(&outside[i]);
    }
    if (count == counts[COUNTS - 1]) {
        BenchRow row = {.value = inside_reset(inside) * 1e-3,
                        .unit = "us",
                        .peer = "a step",
                        .peer_value = median(inside_costs.cpu) * 1e-3,
                        .aim_kind = AIM_RATIO_MAX,
                        .aim = 3.0};
        snprintf(row.figure, sizeof(row.figure), "a reset of one of %u", count);
        bench_add(run, &row);
    }
    inside_close(inside);
    free(actions);
}

void bench_groups(const BenchRun *run) {
    Moreau__V1__Scene *scene =
        load_scene_message(MOREAU_SOURCE_DIR "/tests/scenes/joints/cart_pole.json");
    for (size_t i = 0; i < COUNTS; i++) {
        Process server = process_start_server(NULL);
        measure(run, &server, scene, counts[i]);
        process_stop(&server);
    }
    moreau__v1__scene__free_unpacked(scene, NULL);
}
