// SPDX-License-Identifier: MIT
// A server that nobody asks anything uses no CPU, however much it holds.
#include "support/server_figures.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_episode.h"

#include <unistd.h>

enum { WORLDS = 100, CONNECTIONS = 100, IDLE_MS = 10000 };

// A hundredth of a second in ten: one timer that fires a hundred times a second takes more.
enum { TICKS_MAX = 1 };

START_TEST(with_a_hundred_worlds_and_connections_it_sleeps) {
    server_raise_file_limit();
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
    crowd_join(&crowd, server->address[0], CONNECTIONS, true, false);

    server_sleep_ms(2500); // what was recorded is written, and looked after for the last time
    uint64_t before = server_cpu_ticks(server->pid);
    server_sleep_ms(IDLE_MS);
    ck_assert_uint_le(server_cpu_ticks(server->pid) - before, TICKS_MAX);

    crowd_leave(&crowd);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_idle(void) {
    TCase *tcase = tcase_create("idle");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, with_a_hundred_worlds_and_connections_it_sleeps);
    return tcase;
}

SUITE_MAIN("system/idle", case_idle)
