// SPDX-License-Identifier: MIT
// What tokens, the audit file and the sandbox cost a small call: servers with and without them,
// asked the same in turns. And what somebody notices of another token's holder who floods the
// server with all that he may, beside one who has as much work done by a single session.
#include "bench/bench.h"
#include "bench/probe.h"
#include "bench/process.h"

#include "moreau.h"
#include "os/clock.h"
#include "os/nice.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK = 200, SAMPLES_MAX = 1 << 18, PATH_BYTES = 64 };

// Their tokens are their names with -secret behind them.
static const char tokens_text[] = "# moreau tokens 1\n"
                                  "alice sha256:%s watch,step\n"
                                  "bob sha256:%s watch,step\n"
                                  "# end 2\n";
static const char alice_digest[] =
    "0c848abb03307b06cf70cd4e29c157dc81af5e94ab3eb1d0c59a120269572376",
                  bob_digest[] = "9f03ef1533a68d2f506f81ef463c1183a82a6bd40e45613f36e6fe1889cf1b99";

static char folder[PATH_BYTES], tokens_path[PATH_BYTES + 16], audit_path[PATH_BYTES + 16];

static void make_files(void) {
    snprintf(folder, sizeof(folder), "/tmp/moreau-bench-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        bench_fail("no folder for tokens");
    }
    snprintf(tokens_path, sizeof(tokens_path), "%s/tokens", folder);
    snprintf(audit_path, sizeof(audit_path), "%s/audit", folder);
    FILE *file = fopen(tokens_path, "w");
    if (file == NULL) {
        bench_fail("no file of tokens");
    }
    fprintf(file, tokens_text, alice_digest, bob_digest);
    fclose(file);
    chmod(tokens_path, 0600);
}

static void remove_files(void) {
    char older[sizeof(audit_path) + 16]; // a number
    for (int i = 1; i <= 8; i++) {
        snprintf(older, sizeof(older), "%.*s.%d", (int)sizeof(audit_path), audit_path, i);
        unlink(older);
    }
    unlink(audit_path);
    unlink(tokens_path);
    rmdir(folder);
}

static MoreauClient *come(const Process *server, const char *token) {
    MoreauOptions options = moreau_options_default();
    MoreauClient *client;
    MoreauError error;
    options.token = token;
    if (moreau_connect(server->local, &options, &client, &error) != MOREAU_OK) {
        bench_fail("%s", error.message);
    }
    return client;
}

// ---- what they cost

typedef struct Side {
    const char *name;
    Process server;
    MoreauClient *client;
    ProbeFrame request;
    double *cpu; // of a call, for each block [ns]
    size_t block_count;
    double *samples; // [ns]
    size_t count;
} Side;

static void call(const Side *side) {
    MoreauReply *reply;
    if (moreau_call(side->client, side->request.bytes + PROBE_HEADER_BYTES,
                    side->request.count - PROBE_HEADER_BYTES, &reply) != MOREAU_OK) {
        bench_fail("%s", moreau_error(side->client)->message);
    }
    moreau_reply_free(reply);
}

static void run_block(Side *side) {
    const double cpu_ns = process_cpu_ns(&side->server);
    for (int i = 0; i < BLOCK; i++) {
        const uint64_t begun_ns = clock_now_ns();
        call(side);
        if (side->count < SAMPLES_MAX) {
            side->samples[side->count++] = (double)(clock_now_ns() - begun_ns);
        }
    }
    if (side->block_count < SAMPLES_MAX) {
        side->cpu[side->block_count++] = (process_cpu_ns(&side->server) - cpu_ns) / BLOCK;
    }
}

static Side side_of(const char *name, char *const *options, const char *token) {
    Side side = {.name = name,
                 .server = process_start_with(options),
                 .cpu = bench_memory(SAMPLES_MAX, sizeof(double)),
                 .samples = bench_memory(SAMPLES_MAX, sizeof(double))};
    side.client = come(&side.server, token);
    side.request = probe_step_frame(1, probe_world_of(side.client, 1), true);
    return side;
}

static void end_side(Side *side) {
    moreau_disconnect(side->client);
    process_stop(&side->server);
    free(side->request.bytes);
    free(side->cpu);
    free(side->samples);
}

static void measure_cost(const BenchRun *run) {
    char *const bare[] = {"--sandbox", "off", NULL};
    char *const boxed[] = {"--sandbox", "auto", NULL};
    char *const named[] = {"--sandbox", "off", "--tokens", tokens_path, NULL};
    char *const noted[] = {"--sandbox",    "off",      "--tokens", tokens_path,
                           "--audit-file", audit_path, NULL};
    Side sides[] = {side_of("bare", bare, NULL), side_of("in the sandbox", boxed, NULL),
                    side_of("with tokens", named, "alice-secret"),
                    side_of("with tokens and an audit file", noted, "alice-secret")};
    enum { SIDES = sizeof(sides) / sizeof(sides[0]) };
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(run->seconds * 1e9);
    for (int turn = 0; turn < 3 || clock_now_ns() < end_ns; turn++) {
        for (int i = 0; i < SIDES; i++) {
            run_block(&sides[i]);
        }
    }
    const double cpu = bench_percentile(sides[0].cpu, sides[0].block_count, 0.5);
    for (int i = 1; i < SIDES; i++) {
        const double own = bench_percentile(sides[i].cpu, sides[i].block_count, 0.5);
        BenchRow row = {
            .unit = "us", .value = own * 1e-3, .peer = "bare", .peer_value = cpu * 1e-3};
        snprintf(row.figure, sizeof(row.figure), "a step of one body %s, server CPU",
                 sides[i].name);
        bench_add(run, &row);
    }
    for (int i = 0; i < SIDES; i++) {
        end_side(&sides[i]);
    }
}

// ---- who floods

enum {
    SESSIONS_MAX = 16,
    FLOOD_WORLDS = 64,
    FLOOD_STEPS = 200,
    UNDER_WAY = 32,
    FLOOD_NICENESS = 10
};

typedef struct Flood {
    const Process *server;
    atomic_bool ends;
    _Atomic uint64_t calls;
} Flood;

static void *flood(void *argument) {
    Flood *all = argument;
    nice_thread(FLOOD_NICENESS); // it is the server that is shared, not the clients' cores
    MoreauClient *client = come(all->server, "bob-secret");
    uint64_t worlds[FLOOD_WORLDS], id;
    for (int i = 0; i < FLOOD_WORLDS; i++) {
        worlds[i] = probe_world_of(client, 1);
    }
    MoreauStep step = moreau_step_default();
    step.reports = false;
    step.worlds = worlds, step.world_count = FLOOD_WORLDS, step.steps = FLOOD_STEPS;
    for (int i = 0; !atomic_load(&all->ends); i++) {
        MoreauReply *reply;
        if (moreau_submit_step(client, &step, &id) != MOREAU_OK ||
            (i >= UNDER_WAY && moreau_receive(client, -1, &reply) != MOREAU_OK)) {
            bench_fail("%s", moreau_error(client)->message);
        }
        if (i >= UNDER_WAY) {
            moreau_reply_free(reply);
            atomic_fetch_add(&all->calls, 1);
        }
    }
    moreau_disconnect(client);
    return NULL;
}

static void ask_beside(Side *side, int sessions, double seconds) {
    Flood all = {.server = &side->server};
    pthread_t thread[SESSIONS_MAX];
    for (int i = 0; i < sessions; i++) {
        if (pthread_create(&thread[i], NULL, flood, &all) != 0) {
            bench_fail("no thread");
        }
    }
    while (atomic_load(&all.calls) < 4) {
        usleep(1000);
    }
    const uint64_t end_ns = clock_now_ns() + (uint64_t)(seconds * 1e9);
    do {
        run_block(side);
    } while (clock_now_ns() < end_ns);
    atomic_store(&all.ends, true);
    for (int i = 0; i < sessions; i++) {
        pthread_join(thread[i], NULL);
    }
}

// In turns, both with the lanes never idle: one session of his, and many. On one lane the processor
// that is left runs the clients. With a lane for each they wait for it, however many they are, so
// that the machine's turns are in both figures; whether two lanes end theirs together or one after
// the other holds for seconds and is worth twice the p50: many turns, so that both see both.
static void measure_flood(const BenchRun *run, const char *workers, const char *where) {
    enum { TURNS = 16 };
    char *const options[] = {"--workers", (char *)workers, "--tokens", tokens_path, NULL};
    Side shared = side_of("shared", options, "alice-secret"), flooded = shared;
    flooded.samples = bench_memory(SAMPLES_MAX, sizeof(double));
    for (int turn = 0; turn < TURNS; turn++) {
        const bool floods = turn % 2 == 1;
        ask_beside(floods ? &flooded : &shared, floods ? SESSIONS_MAX : 1, run->seconds / TURNS);
    }
    const double shares[] = {0.5, 0.99}, aims[] = {1.2, 1.5};
    for (int i = 0; i < 2; i++) {
        BenchRow row = {.unit = "us",
                        .value = bench_percentile(flooded.samples, flooded.count, shares[i]) * 1e-3,
                        .peer = "one session",
                        .peer_value =
                            bench_percentile(shared.samples, shared.count, shares[i]) * 1e-3,
                        .aim_kind = AIM_RATIO_MAX,
                        .aim = aims[i]};
        snprintf(row.figure, sizeof(row.figure), "a step beside another's %d sessions%s, %s",
                 SESSIONS_MAX, where, i == 0 ? "p50" : "p99");
        bench_add(run, &row);
    }
    free(flooded.samples);
    end_side(&shared);
}

void bench_tokens(const BenchRun *run) {
    make_files();
    measure_cost(run);
    measure_flood(run, "1", "");
    measure_flood(run, "2", ", two lanes");
    remove_files();
}
