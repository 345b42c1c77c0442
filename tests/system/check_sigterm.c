// SPDX-License-Identifier: MIT
// A siege at SIGTERM: sessions whose grace time ends in that very moment, worlds that are recorded
// or fall idle, clients that come and go until the last socket is shut. The server ends with status
// 0 whatever meets; under the sanitizers nothing is used after it is gone, and nothing leaks.
#include "support/net_client.h"
#include "support/machine.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_episode.h"
#include "support/wire_world.h"

#include <dirent.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

// Grace times are of the order of what a server takes to close its rooms, which many lanes make
// longer.
enum { ROUNDS = 12, SESSIONS = 16 };
static const uint32_t graces_ms[] = {0, 1, 2, 4, 8, 20};

// Every fourth round waits for the timers of idle worlds (1 s at least) and of recorders (1 s).
enum { LATE_ROUNDS = 4, LATE_MS = 1000, SPREAD_MS = 24 };

static uint32_t draw(uint32_t *state, uint32_t count) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % count;
}

// ---- those who come and go meanwhile

typedef struct Visitors {
    const char *address, *pages;
    atomic_bool is_over;
    uv_thread_t thread;
} Visitors;

static void visit(const char *address, const void *bytes, size_t count, bool listens) {
    int fd = net_client_connect(address);
    if (fd < 0) {
        return; // the server shuts its doors
    }
    wire_crowd_push(fd, bytes, count);
    struct pollfd answer = {.fd = fd, .events = POLLIN};
    if (listens) {
        poll(&answer, 1, 10);
    }
    close(fd);
}

static void run_visitors(void *argument) {
    static const char get[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    Visitors *visitors = argument;
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_resumable = 1;
    hello.protocol_major = 1;
    hello.resumable = 1; // so that its session waits for it
    size_t count;
    uint8_t *frame = wire_crowd_frame(&hello, 1, &count);
    for (uint32_t i = 0; !atomic_load(&visitors->is_over); i++) {
        visit(visitors->address, frame, count, i % 3 != 0);
        visit(visitors->pages, get, sizeof(get) - 1, i % 2 != 0);
    }
    free(frame);
}

// ---- sessions

static WireClient *open_session(const char *address, bool resumable) {
    WireClient *client = wire_connect(address);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_resumable = 1;
    hello.protocol_major = 1;
    hello.resumable = resumable;
    wire_accept(client, &hello);
    return client;
}

static void make_idle_world(WireClient *client) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.has_lifetime = create.has_idle_timeout_s = 1;
    create.lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    create.idle_timeout_s = 1.0;
    wire_accept(client, &create);
}

// One of each kind: resumable or not, recorded or not, with work under way or not.
static WireClient *join(const char *address, uint32_t kind) {
    WireClient *client = open_session(address, kind % 2 == 1);
    uint64_t world = wire_small_world(client);
    if (kind & 2) {
        Moreau__V1__EpisodeStart start = wire_start_call(world);
        wire_record(client, &start);
    }
    make_idle_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, kind & 4 ? 100000000 : 20);
    wire_submit(client, &step);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world;
    wire_submit(client, &take);
    return client;
}

// Half of them go before the signal, the other half while the server drains, or with it.
static void besiege(uint32_t round) {
    uint32_t dice = round * 2654435761u + 1u;
    char options[200];
    snprintf(options, sizeof(options),
             "--workers 8 --db @/e.db --listen 127.0.0.1:0 --http 127.0.0.1:0 "
             "--session-grace-ms %u --drain-timeout-ms %u --log-level error",
             graces_ms[round % 6], draw(&dice, 2) * 30);
    ServerProcess *server = server_start(options);
    Visitors visitors = {.address = server->address[0], .pages = server->address[1]};
    WireClient *client[SESSIONS];
    for (uint32_t i = 0; i < SESSIONS; i++) {
        client[i] = join(server->address[0], i);
    }
    ck_assert_int_eq(uv_thread_create(&visitors.thread, run_visitors, &visitors), 0);
    server_sleep_ms(round % LATE_ROUNDS == LATE_ROUNDS - 1 ? LATE_MS : 0);
    for (uint32_t i = 0; i < SESSIONS / 2; i++) {
        wire_close(client[i]);
    }
    server_sleep_ms(draw(&dice, SPREAD_MS));
    ck_assert_int_eq(kill(server->pid, SIGTERM), 0);
    int status = -1;
    bool stays = draw(&dice, 2) == 0;
    if (stays) {
        status = server_wait(server, PATIENCE_MS);
    } else {
        server_sleep_ms(draw(&dice, SPREAD_MS));
    }
    for (uint32_t i = SESSIONS / 2; i < SESSIONS; i++) {
        wire_close(client[i]);
    }
    status = stays ? status : server_wait(server, PATIENCE_MS);
    atomic_store(&visitors.is_over, true);
    uv_thread_join(&visitors.thread);
    if (status != 0) {
        ck_abort_msg("round %u ended with status %d: %s", round, status,
                     server_read(server, "stderr"));
    }
    server_free(server);
}

START_TEST(a_server_under_siege_ends_in_good_order) {
    besiege((uint32_t)_i);
}
END_TEST

// ---- who is told

// The signals that a thread does not take, as a mask; false: it has ended.
static bool read_blocked(pid_t pid, const char *thread, unsigned long long *blocked) {
    char path[320], line[256];
    snprintf(path, sizeof(path), "/proc/%d/task/%s/status", (int)pid, thread);
    FILE *file = fopen(path, "r");
    bool is_found = false;
    while (file != NULL && !is_found && fgets(line, sizeof(line), file) != NULL) {
        is_found = sscanf(line, "SigBlk: %llx", blocked) == 1;
    }
    if (file != NULL) {
        fclose(file);
    }
    return is_found;
}

// A lane that is told would have to wake the loop, and a log's thread may wait for its disk.
START_TEST(only_the_loop_is_told_to_end) {
    ServerProcess *server = server_start("--workers 3 --db @/e.db --listen 127.0.0.1:0");
    const unsigned long long told =
        1ull << (SIGTERM - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGHUP - 1);
    char folder[64];
    snprintf(folder, sizeof(folder), "/proc/%d/task", (int)server->pid);
    DIR *threads = opendir(folder);
    ck_assert_ptr_nonnull(threads);
    uint32_t others = 0, main_threads = 0;
    for (const struct dirent *entry; (entry = readdir(threads)) != NULL;) {
        unsigned long long blocked;
        if (entry->d_name[0] == '.' || !read_blocked(server->pid, entry->d_name, &blocked)) {
            continue;
        }
        const bool is_main = atoi(entry->d_name) == (int)server->pid;
        ck_assert_msg((blocked & told) == (is_main ? 0 : told), "thread %s blocks %llx",
                      entry->d_name, blocked);
        others += !is_main;
        main_threads += is_main;
    }
    closedir(threads);
    ck_assert_uint_eq(main_threads, 1);
    ck_assert_uint_ge(others, 4); // lanes and the log's
    server_stop(server);
}
END_TEST

static TCase *case_sieges(void) {
    TCase *tcase = tcase_create("sieges");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, only_the_loop_is_told_to_end);
    tcase_add_loop_test(tcase, a_server_under_siege_ends_in_good_order, 0, ROUNDS);
    return tcase;
}

SUITE_MAIN("system/sigterm", case_sieges)
