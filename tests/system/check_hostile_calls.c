// SPDX-License-Identifier: MIT
// Hostile and unlucky clients, as in check_hostile.c: one row per abuse of the calls that keep or
// show something: snapshots, episodes and pages.
#include "support/machine.h"
#include "support/net_client.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_episode.h"
#include "support/wire_siege.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const uint64_t BILLION = UINT64_C(1000000000);

// ---- snapshots

static Moreau__V1__SnapshotUpload upload_call(uint8_t *data, size_t count, uint64_t total) {
    Moreau__V1__SnapshotUpload upload = MOREAU__V1__SNAPSHOT_UPLOAD__INIT;
    upload.has_total = upload.has_data = 1;
    upload.total = total;
    upload.data = (ProtobufCBinaryData){.data = data, .len = count};
    return upload;
}

// Thousands of uploads of a byte, of a snapshot that would be as large as the budget.
static void begin_uploads_that_never_end(Siege *siege) {
    enum { UPLOADS = 2000 };
    static uint8_t byte = 1;
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 4, true, false);
    Moreau__V1__SnapshotUpload upload = upload_call(&byte, 1, BILLION);
    for (size_t i = 0; i < crowd.count; i++) {
        size_t sent = 0;
        for (uint64_t id = 2; id < 2 + UPLOADS; id++) {
            sent += wire_crowd_call(crowd.fd[i], &upload, id);
        }
        ck_assert(wire_crowd_read(crowd.fd[i], sent));
    }
    wire_crowd_leave(&crowd);
}

// As much as the budget takes.
static void upload_the_budget(Siege *siege) {
    enum { PART_BYTES = 2 << 20, PARTS = 40 };
    static uint8_t part[PART_BYTES];
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 2, true, false);
    Moreau__V1__SnapshotUpload upload = upload_call(part, sizeof(part), 60 << 20);
    for (uint64_t id = 2; id < 2 + PARTS; id++) {
        for (size_t i = 0; i < crowd.count; i++) {
            size_t count;
            uint8_t *frame = wire_crowd_frame(&upload, id, &count);
            net_client_write(crowd.fd[i], frame, count);
            ck_assert(wire_crowd_read(crowd.fd[i], 1));
            free(frame);
        }
    }
    wire_crowd_leave(&crowd);
}

static void take_snapshots_without_end(Siege *siege) {
    enum { TAKES = 1000 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 2, true, false);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = siege->world;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 2; id < 2 + TAKES; id++) {
            wire_crowd_call(crowd.fd[i], &take, id);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], TAKES));
    }
    wire_crowd_leave(&crowd);
}

// Counts of zero, of too many, of as many as there may be, of a world that is a quarter megabyte.
static void clone_by_the_thousand(Siege *siege) {
    static const uint64_t counts[] = {0, 65537, UINT64_MAX, 1000, 65536, 1000};
    enum { CALLS = sizeof(counts) / sizeof(counts[0]) };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 2, true, false);
    for (size_t i = 0; i < crowd.count; i++) {
        for (size_t k = 0; k < CALLS; k++) {
            Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
            clone.has_world = clone.has_count = 1;
            clone.world = siege->world;
            clone.count = counts[k];
            wire_crowd_call(crowd.fd[i], &clone, 2 + k);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], CALLS));
    }
    wire_crowd_leave(&crowd);
}

static void clone_and_vanish(Siege *siege) {
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 8, true, false);
    for (size_t i = 0; i < crowd.count; i++) {
        Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
        clone.has_world = clone.has_count = 1;
        clone.world = siege->world;
        clone.count = 200;
        wire_crowd_call(crowd.fd[i], &clone, 2);
    }
    server_sleep_ms(5);
    wire_crowd_vanish(&crowd);
}

// ---- episodes

static void record_long(Siege *siege) {
    siege_record(siege, 300);
}

static void replay_to_nobody(Siege *siege) {
    enum { REPLAYS = 64 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 8, true, true);
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    replay.episode = siege->episode;
    replay.has_speed = replay.has_again = 1;
    for (size_t i = 0; i < crowd.count; i++) {
        replay.again = i % 2 == 1;
        replay.speed = i % 4 < 2 ? 0.0 : 1e-6;
        for (uint64_t id = 2; id < 2 + REPLAYS; id++) {
            wire_crowd_call(crowd.fd[i], &replay, id);
        }
    }
    server_sleep_ms(1000);
    wire_crowd_leave(&crowd);
}

static void verify_a_thousand_times(Siege *siege) {
    enum { VERIFIES = 64 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 16, true, false);
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = siege->episode;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 2; id < 2 + VERIFIES; id++) {
            wire_crowd_call(crowd.fd[i], &verify, id);
        }
    }
    server_sleep_ms(1000);
    wire_crowd_vanish(&crowd);
}

static void read_much_of_episodes(Siege *siege) {
    enum { READS = 64 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 4, true, true);
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = siege->episode;
    read.has_again = 1;
    for (size_t i = 0; i < crowd.count; i++) {
        read.again = i % 2 == 0;
        for (uint64_t id = 2; id < 2 + READS; id++) {
            wire_crowd_call(crowd.fd[i], &read, id);
        }
    }
    server_sleep_ms(500);
    wire_crowd_vanish(&crowd);
}

// An episode of its own, deleted by many while it is read, replayed and verified by as many.
static void delete_what_is_being_read(Siege *siege) {
    for (int k = 0; k < 5; k++) {
        siege_record(siege, 30);
        Crowd crowd = {0};
        wire_crowd_join(&crowd, siege->address, 8, true, false);
        Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
        Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
        Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
        Moreau__V1__EpisodeDelete remove = MOREAU__V1__EPISODE_DELETE__INIT;
        replay.episode = read.episode = verify.episode = remove.episode = siege->episode;
        for (size_t i = 0; i < crowd.count; i++) {
            wire_crowd_call(crowd.fd[i], &replay, 2);
            wire_crowd_call(crowd.fd[i], &read, 3);
            wire_crowd_call(crowd.fd[i], &verify, 4);
            wire_crowd_call(crowd.fd[i], &remove, 5);
            wire_crowd_call(crowd.fd[i], &read, 6);
        }
        for (size_t i = 0; i < crowd.count; i++) {
            ck_assert(wire_crowd_read(crowd.fd[i], 5)); // at least, whatever they say
        }
        wire_crowd_leave(&crowd);
    }
}

static void start_and_stop_with_long_labels(Siege *siege) {
    enum { LABELS = 64, LABEL_BYTES = 255, TIMES = 30 };
    static char label[LABEL_BYTES + 1];
    char *labels[LABELS];
    memset(label, 'x', LABEL_BYTES);
    for (int i = 0; i < LABELS; i++) {
        labels[i] = label;
    }
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 4, true, false);
    Moreau__V1__EpisodeStart start = wire_start_call(siege->world);
    start.n_labels = LABELS;
    start.labels = labels;
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1;
    stop.world = siege->world;
    for (uint64_t k = 0; k < TIMES; k++) {
        for (size_t i = 0; i < crowd.count; i++) {
            wire_crowd_call(crowd.fd[i], &start, 2 + 2 * k);
            wire_crowd_call(crowd.fd[i], &stop, 3 + 2 * k);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], (size_t)2 * TIMES));
    }
    wire_crowd_leave(&crowd);
}

// Created, recorded, stepped and destroyed without waiting for any answer; then everything at once
// as the session ends.
static void record_what_is_destroyed(Siege *siege) {
    enum { WORLDS = 50 };
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    clone.has_world = clone.has_count = clone.has_lifetime = 1;
    clone.world = siege->world;
    clone.count = WORLDS;
    clone.lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    const Moreau__V1__SnapshotCloneReply *clones =
        wire_accept(siege->client, &clone)->snapshot_clone;
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 2, true, false);
    for (uint64_t i = 0; i < WORLDS; i++) {
        uint64_t world = clones->worlds[i];
        Moreau__V1__EpisodeStart start = wire_start_call(world);
        Moreau__V1__WorldStep step = wire_step_call(&world, 20);
        Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
        stop.has_world = 1;
        stop.world = world;
        Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
        destroy.has_world = 1;
        destroy.world = world;
        int fd = crowd.fd[i % 2];
        uint64_t id = 2 + 8 * i;
        wire_crowd_call(fd, &start, id);
        wire_crowd_call(fd, &step, id + 1);
        if (i % 3 == 0) {
            wire_crowd_call(fd, &stop, id + 2);
        }
        wire_crowd_call(fd, &destroy, id + 3);
        wire_crowd_call(fd, &step, id + 4);
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], (size_t)4 * WORLDS / 2));
    }
    wire_crowd_leave(&crowd);
}

// ---- answers

// Ten times the budget, asked for with some kilobytes and never read. No timeout helps: those that
// hold most are cut as soon as all of them together hold too much.
static void hoard_answers(Siege *siege) {
    enum { CLIENTS = 100, CALLS = 64 };
    uint64_t cut = wire_stats(siege->client, false)->slow_clients;
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, CLIENTS, true, true);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = siege->world;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 2; id < 2 + CALLS; id++) {
            wire_crowd_call(crowd.fd[i], &get, id);
        }
    }
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (wire_stats(siege->client, false)->slow_clients == cut) {
        ck_assert_msg(server_now_ms() < give_up_ms, "nobody is cut");
        server_sleep_ms(20);
    }
    server_sleep_ms(300);
    wire_crowd_leave(&crowd);
}

// ---- pages

static void pester_the_pages(Siege *siege) {
    static const char whole[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const char endless[] = "GET /metrics HTTP/1.1\r\nHost: ";
    static uint8_t garbage[4096];
    memset(garbage, 0xa5, sizeof(garbage));
    for (int k = 0; k < 3; k++) {
        Crowd crowd = {0};
        for (size_t i = 0; i < 90; i++) { // the limit is 64
            int fd = net_client_connect(siege->pages);
            ck_assert_int_ge(fd, 0);
            crowd.fd[crowd.count++] = fd;
            if (i % 3 == 0) {
                wire_crowd_push(fd, endless, sizeof(endless) - 1);
            } else if (i % 3 == 1) {
                wire_crowd_push(fd, garbage, sizeof(garbage));
            }
            for (int n = 0; n < 20 && i % 3 == 2; n++) {
                wire_crowd_push(fd, whole, sizeof(whole) - 1); // and never reads
            }
        }
        server_sleep_ms(50);
        wire_crowd_vanish(&crowd);
    }
}

static const SiegeRow rows[] = {
    {.name = "uploads that never end", .abuse = begin_uploads_that_never_end},
    {.name = "uploads as large as the budget",
     .options = "--memory-bytes-max 64M",
     .abuse = upload_the_budget,
     .peak_bytes = 100 << 20},
    {.name = "snapshots without end",
     .options = "--memory-bytes-max 64M",
     .abuse = take_snapshots_without_end,
     .peak_bytes = 150 << 20},
    {.name = "clones by the thousand",
     .options = "--memory-bytes-max 256M",
     .abuse = clone_by_the_thousand,
     .peak_bytes = 400 << 20},
    {.name = "clones for nobody", .abuse = clone_and_vanish},
    {.name = "replays that nobody reads",
     .options = "--memory-bytes-max 64M",
     .prepare = record_long,
     .abuse = replay_to_nobody,
     .peak_bytes = 256 << 20},
    {.name = "1,000 verifies at once",
     .options = "--memory-bytes-max 64M",
     .prepare = record_long,
     .abuse = verify_a_thousand_times,
     .peak_bytes = 256 << 20},
    {.name = "reads that nobody takes",
     .options = "--memory-bytes-max 64M",
     .prepare = record_long,
     .abuse = read_much_of_episodes,
     .peak_bytes = 256 << 20},
    {.name = "answers hoarded by a hundred",
     .options = "--memory-bytes-max 64M --write-timeout-ms 60000",
     .abuse = hoard_answers,
     .peak_bytes = 80 << 20},
    {.name = "episodes deleted while they are read", .abuse = delete_what_is_being_read},
    {.name = "starts and stops with 64 labels of 255 bytes",
     .abuse = start_and_stop_with_long_labels},
    {.name = "recordings of worlds that are destroyed", .abuse = record_what_is_destroyed},
    {.name = "pages asked for by the clumsy", .abuse = pester_the_pages},
};

static TCase *case_abuses(void) {
    return siege_case(rows, sizeof(rows) / sizeof(rows[0]));
}

SUITE_MAIN("system/hostile_calls", case_abuses)
