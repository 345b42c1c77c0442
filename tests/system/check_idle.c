// SPDX-License-Identifier: MIT
// A server that nobody asks anything sleeps, however much it holds.
#include "support/server_figures.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_episode.h"

#include <inttypes.h>
#include <stdio.h>

enum { WORLDS = 100, CONNECTIONS = 100, IDLE_MS = 10000 };

// More than a server that holds nothing: it looks once a second after what is being recorded, and
// that is all. Not CPU time, of which the thread sanitizer's own thread takes some, ten times a
// second, of both.
enum { WAKES_MAX = IDLE_MS / 1000 + 5 };

START_TEST(with_a_hundred_worlds_and_connections_it_sleeps) {
    server_raise_file_limit();
    ServerProcess *bare = server_start("--workers 2 --listen 127.0.0.1:0");
    ServerProcess *server =
        server_start("--workers 2 --db @/episodes.db --listen 127.0.0.1:0 --http 127.0.0.1:0");
    WireClient *client = wire_open(server->address[0]);
    uint64_t worlds[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        worlds[i] = wire_small_world(client);
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, 10);
    step.n_worlds = WORLDS;
    wire_accept(client, &step);
    // two that were recorded, of which one still is
    Moreau__V1__EpisodeStart first = wire_start_call(worlds[0]),
                             second = wire_start_call(worlds[1]);
    wire_record(client, &first);
    wire_record(client, &second);
    wire_accept(client, &step);
    wire_stop_recording(client, worlds[0]);
    Crowd crowd = {0};
    wire_crowd_join(&crowd, server->address[0], CONNECTIONS, true, false);

    server_sleep_ms(2500); // what was recorded is written, and looked after for the last time
    uint64_t before = server_wakes(server->pid), bare_before = server_wakes(bare->pid);
    server_sleep_ms(IDLE_MS);
    uint64_t bare_wakes = server_wakes(bare->pid) - bare_before;
    uint64_t wakes = server_wakes(server->pid) - before;
    printf("wakes in %d ms: %" PRIu64 ", without worlds and connections %" PRIu64 "\n", IDLE_MS,
           wakes, bare_wakes);
    ck_assert_uint_le(wakes, bare_wakes + WAKES_MAX);

    server_stop(bare);
    wire_crowd_leave(&crowd);
    wire_close(client);
    server_stop(server);
}
END_TEST

// A batch needs a kilobyte and more for the results of each world.
START_TEST(the_memory_of_a_large_batch_is_counted_and_given_back) {
    enum { BATCHES = 10, LOOKS = 100, BATCH_BYTES = 1000 * WORLDS };
    ServerProcess *server = server_start("--workers 2");
    WireClient *client = wire_open(server->address[0]);
    uint64_t worlds[WORLDS];
    for (int i = 0; i < WORLDS; i++) {
        worlds[i] = wire_small_world(client);
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, 10);
    step.n_worlds = WORLDS;
    uint64_t after = 0; // at its highest: a batch may be answered a moment before it is counted
    for (int i = 0; i < BATCHES; i++) {
        wire_accept(client, &step);
        uint64_t bytes = wire_stats(client, false)->world_bytes;
        after = bytes > after ? bytes : after;
    }
    uint64_t idle = after;
    for (int i = 0; i < LOOKS && idle + BATCH_BYTES > after; i++) {
        server_sleep_ms(100);
        idle = wire_stats(client, false)->world_bytes;
    }
    ck_assert_uint_le(idle + BATCH_BYTES, after);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_idle(void) {
    TCase *tcase = tcase_create("idle");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_memory_of_a_large_batch_is_counted_and_given_back);
    tcase_add_test(tcase, with_a_hundred_worlds_and_connections_it_sleeps);
    return tcase;
}

SUITE_MAIN("system/idle", case_idle)
