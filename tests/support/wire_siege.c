// SPDX-License-Identifier: MIT
#include "support/wire_siege.h"

#include "support/campaign.h"
#include "support/machine.h"
#include "support/server_figures.h"
#include "support/wire_episode.h"
#include "support/wire_witness.h"
#include "support/wire_world.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { QUIET_MS = 400, LOOK_MS = 10, TIMES = 2, ATTEMPTS = 3 };

// The sanitizers keep freed memory aside.
#ifdef MOREAU_VALIDATE
static const bool memory_is_measured = false;
#else
static const bool memory_is_measured = true;
#endif

// A piece per request or connection that leaks is more than a page per abuse, of which the smallest
// has a hundred.
enum { GROWTH_BYTES_MAX = 1 << 16, PLATEAU_TIMES = 30 };

// Readers of episodes rest with their files open, one more for each lane that read at once, long
// ones as well.
enum { READER_DESCRIPTORS = 2 * 4 };

// The worlds that stay go on being stepped, and an array of theirs may grow once more.
enum { WORLD_GROWTH_BYTES = 1024 };

typedef struct SiegeFigures {
    uint32_t descriptors;
    uint64_t connections, worlds, world_bytes, requests, jobs;
} SiegeFigures;

static SiegeFigures figures_of(const Siege *siege) {
    const Moreau__V1__StatsReply *stats = wire_stats(siege->client, false);
    return (SiegeFigures){.descriptors = server_descriptor_count(siege->server->pid),
                          .connections = stats->connections,
                          .worlds = stats->world_count,
                          .world_bytes = stats->world_bytes,
                          .requests = stats->requests_under_way,
                          .jobs = stats->jobs};
}

// The witness may have a call under way.
static bool same(const SiegeFigures *a, const SiegeFigures *b, bool all) {
    bool counts = a->connections == b->connections && a->worlds == b->worlds && a->requests <= 2 &&
                  a->jobs <= 1;
    return counts && (!all || (a->descriptors <= b->descriptors + READER_DESCRIPTORS &&
                               a->world_bytes <= b->world_bytes + WORLD_GROWTH_BYTES));
}

// Waits until everything is as it was.
static void settle(const Siege *siege, const SiegeFigures *before, bool all) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (;;) {
        SiegeFigures now = figures_of(siege);
        if (same(&now, before, all)) {
            return;
        }
        ck_assert_msg(server_now_ms() < give_up_ms,
                      "what was and what is left: descriptors %u %u, connections %" PRIu64
                      " %" PRIu64 ", worlds %" PRIu64 " %" PRIu64 ", their bytes %" PRIu64
                      " %" PRIu64 ", requests %" PRIu64 " %" PRIu64 ", jobs %" PRIu64 " %" PRIu64,
                      before->descriptors, now.descriptors, before->connections, now.connections,
                      before->worlds, now.worlds, before->world_bytes, now.world_bytes,
                      before->requests, now.requests, before->jobs, now.jobs);
        server_sleep_ms(LOOK_MS);
    }
}

static void open_siege(Siege *siege, const SiegeRow *row) {
    char options[512];
    snprintf(options, sizeof(options),
             "--workers 2 --db @/episodes.db --listen 127.0.0.1:0 --http 127.0.0.1:0 "
             "--session-grace-ms 100 --log-level error %s",
             row->options == NULL ? "" : row->options);
    server_raise_file_limit();
    siege->server = server_start(options);
    siege->address = siege->server->address[0];
    siege->pages = siege->server->address[siege->server->address_count - 1];
    siege->client = wire_open(siege->address);
    siege->world = wire_wide_world(siege->client);
    wire_step(siege->client, siege->world, 1000);
    if (row->prepare != NULL) {
        row->prepare(siege);
    }
}

static void report(const SiegeRow *row, const WitnessTimes *quiet, const WitnessTimes *disturbed,
                   double limit_ms) {
    printf(
        "%-52s p50 %7.3f %7.3f  p99 %7.3f %7.3f  longest %7.1f %7.1f of %.0f ms  calls %zu %zu\n",
        row->name, quiet->p50_ms, disturbed->p50_ms, quiet->p99_ms, disturbed->p99_ms,
        quiet->longest_ms, disturbed->longest_ms, limit_ms, quiet->count, disturbed->count);
}

// What the allocator keeps scattered differs from time to time, but comes to an end; what leaks
// does not.
static void expect_no_growth(Siege *siege, const SiegeRow *row, const SiegeFigures *before) {
    uint64_t most = server_resident_bytes(siege->server->pid), now = 0;
    SiegeFigures without = *before;
    without.connections--;
    without.descriptors--;
    for (int i = 0; i < PLATEAU_TIMES; i++) {
        row->abuse(siege);
        settle(siege, &without, true);
        now = server_resident_bytes(siege->server->pid);
        if (now <= most + GROWTH_BYTES_MAX) {
            return;
        }
        most = now;
    }
    ck_abort_msg("the server's memory grows and grows");
}

// True: the witness was not kept waiting for longer than it may be, on a machine as busy as this.
static bool disturb(Siege *siege, const SiegeRow *row, Witness *witness, const SiegeFigures *before,
                    uint64_t cold_bytes) {
    pid_t pid = siege->server->pid;
    witness_begin(witness);
    server_sleep_ms(QUIET_MS);
    WitnessTimes quiet = witness_end(witness);
    MachineTicks begun = machine_look(pid);
    witness_begin(witness);
    for (int i = 0; i < campaign_count(TIMES); i++) {
        row->abuse(siege);
    }
    settle(siege, before, true);
    WitnessTimes disturbed = witness_end(witness);
    double limit_ms = SIEGE_CALL_MS_MAX * machine_slowdown(&begun);
    report(row, &quiet, &disturbed, limit_ms);
    printf("  memory: peak %.1f, left %.1f MB\n",
           (double)(server_peak_bytes(pid) - cold_bytes) * 1e-6,
           (double)(server_resident_bytes(pid) - cold_bytes) * 1e-6);
    return disturbed.longest_ms <= limit_ms;
}

static void siege_run(const SiegeRow *row) {
    Siege siege = {0};
    open_siege(&siege, row);
    pid_t pid = siege.server->pid;
    Witness *witness = witness_start(siege.address, siege.client);
    SiegeFigures before = figures_of(&siege);
    uint64_t cold_bytes = server_resident_bytes(pid);
    server_reset_peak(pid);
    row->abuse(&siege);
    // the first reader of episodes leaves its file open, steps make a world's memory what it needs
    settle(&siege, &before, false);
    before = figures_of(&siege);

    // what makes others wait does so every time; a machine that is busy elsewhere, now and then
    int attempts = 1;
    while (!disturb(&siege, row, witness, &before, cold_bytes)) {
        ck_assert_msg(attempts++ < ATTEMPTS, "each time a call took too long");
    }
    witness_stop(witness);
    uint64_t peak = server_peak_bytes(pid) - cold_bytes;
    if (memory_is_measured) {
        expect_no_growth(&siege, row, &before);
        ck_assert_msg(row->peak_bytes == 0 || peak <= row->peak_bytes,
                      "%" PRIu64 " bytes were taken meanwhile", peak);
    }
    wire_close(siege.client);
    server_stop(siege.server);
}

void siege_record(Siege *siege, uint64_t steps) {
    Moreau__V1__EpisodeStart start = wire_start_call(siege->world);
    start.has_content = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    WireEpisode episode = wire_record(siege->client, &start);
    wire_step(siege->client, siege->world, steps);
    wire_stop_recording(siege->client, siege->world);
    snprintf(siege->episode, sizeof(siege->episode), "%s", episode.id);
}

static const SiegeRow *abuses;

START_TEST(others_never_notice_and_nothing_is_left) {
    siege_run(&abuses[_i]);
}
END_TEST

TCase *siege_case(const SiegeRow *rows, int count) {
    abuses = rows;
    TCase *tcase = tcase_create("abuses");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, others_never_notice_and_nothing_is_left, 0, count);
    return tcase;
}
