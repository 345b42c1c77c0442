// SPDX-License-Identifier: MIT
// Clients that are hostile or unlucky, over real sockets: one row per abuse of frames, connections
// and requests. What must hold for others meanwhile and for the server afterwards is in
// support/wire_siege.h; what the abusers themselves are told is in check_bad_*.c. The calls with a
// memory of their own, snapshots, episodes and pages, are in check_hostile_calls.c.
#include "support/machine.h"
#include "support/net_client.h"
#include "support/suite.h"
#include "support/wire_crowd.h"
#include "support/wire_siege.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint64_t BILLION = UINT64_C(1000000000);

static Moreau__V1__WorldGet get_call(uint64_t world) {
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    return get;
}

// ---- frames

static void cut_frames_at_every_byte(Siege *siege) {
    Moreau__V1__WorldStep step = wire_step_call(&siege->world, 1);
    size_t count;
    uint8_t *frame = wire_crowd_frame(&step, 2, &count);
    for (size_t cut = 0; cut < count; cut++) {
        Crowd resets = {0}, ends = {0};
        wire_crowd_join(&resets, siege->address, 4, true, false);
        wire_crowd_join(&ends, siege->address, 4, true, false);
        for (size_t i = 0; i < resets.count; i++) {
            wire_crowd_push(resets.fd[i], frame, cut);
            wire_crowd_push(ends.fd[i], frame, cut);
        }
        wire_crowd_vanish(&resets);
        wire_crowd_leave(&ends);
    }
    free(frame);
}

// Lengths of zero, beyond the limit, of what never comes; bytes that are no message; a good frame
// before each.
static void send_nonsense(Siege *siege) {
    static const struct {
        size_t count;
        uint8_t bytes[16];
    } nonsense[] = {
        {4, {0, 0, 0, 0}},
        {8, {0, 0, 0, 0, 0, 0, 0, 0}},
        {4, {0xff, 0xff, 0xff, 0xff}},
        {4, {0x01, 0, 0, 1}},
        {4, {0x00, 0xff, 0xff, 0xff}},
        {6, {0, 0, 0, 2, 0x0f, 0x01}},
        {15, {0, 0, 0, 11, 0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
        {16, {'G', 'E', 'T', ' ', '/', ' ', 'H', 'T', 'T', 'P', '/', '1', '.', '1', '\r', '\n'}}};
    size_t count;
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    uint8_t *good = wire_crowd_frame(&ping, 2, &count);
    for (int k = 0; k < 10; k++) {
        for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
            Crowd crowd = {0};
            wire_crowd_join(&crowd, siege->address, 2, true, false);
            wire_crowd_join(&crowd, siege->address, 2, false, false);
            for (size_t c = 0; c < crowd.count; c++) {
                wire_crowd_push(crowd.fd[c], good, count);
                wire_crowd_push(crowd.fd[c], nonsense[i].bytes, nonsense[i].count);
            }
            wire_crowd_leave(&crowd);
        }
    }
    free(good);
}

static void say_hello_again_and_again(Siege *siege) {
    enum { HELLOS = 50 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 20, true, false);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 2; id < 2 + HELLOS; id++) {
            wire_crowd_call(crowd.fd[i], &hello, id);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(
            wire_crowd_read(crowd.fd[i], HELLOS)); // refused, every one, and the session stays
    }
    wire_crowd_leave(&crowd);
}

// A scene of nothing but empty bodies: two bytes each, a whole message in memory.
static void send_many_tiny_parts(Siege *siege) {
    enum { BODIES = 1 << 18 };
    static Moreau__V1__SceneBody body = MOREAU__V1__SCENE_BODY__INIT;
    static Moreau__V1__SceneBody *bodies[BODIES];
    for (size_t i = 0; i < BODIES; i++) {
        bodies[i] = &body;
    }
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    scene.n_bodies = BODIES;
    scene.bodies = bodies;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    size_t count;
    uint8_t *frame = wire_crowd_frame(&create, 2, &count);
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 8, true, false);
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(net_client_write(crowd.fd[i], frame, count));
        ck_assert(net_client_write(crowd.fd[i], frame, count));
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], 2));
    }
    wire_crowd_leave(&crowd);
    free(frame);
}

static void say_what_is_no_utf8(Siege *siege) {
    static char wrong[] = "\xc3\x28\xff\xed\xa0\x80";
    enum { CALLS = 60 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 10, true, false);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = wrong;
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = wrong;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t k = 0; k < CALLS / 2; k++) {
            wire_crowd_call(crowd.fd[i], &create, 2 + 2 * k);
            wire_crowd_call(crowd.fd[i], &describe, 3 + 2 * k);
        }
        ck_assert(wire_crowd_read(crowd.fd[i], CALLS));
    }
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.client = hello.token = hello.resume = wrong;
    wire_crowd_join(&crowd, siege->address, 10, false, false);
    for (size_t i = 0; i < crowd.count; i++) {
        wire_crowd_call(crowd.fd[i], &hello, 1);
    }
    wire_crowd_leave(&crowd);
}

// ---- connections

static void sit_there(Siege *siege) {
    static Crowd crowd;
    wire_crowd_join(&crowd, siege->address, 500, true, false);
    wire_crowd_join(&crowd, siege->address, 500, false, false);
    server_sleep_ms(200);
    wire_crowd_leave(&crowd);
}

static void come_and_go(Siege *siege) {
    for (int i = 0; i < 100; i++) {
        Crowd crowd = {0};
        wire_crowd_join(&crowd, siege->address, 10, true, false);
        wire_crowd_join(&crowd, siege->address, 10, false, false);
        wire_crowd_vanish(&crowd);
    }
}

// More than there is room for: each is told so, or closed, and the room comes back.
static void fill_every_seat(Siege *siege) {
    static Crowd crowd;
    for (int i = 0; i < 400; i++) {
        int fd = net_client_connect(siege->address);
        if (fd >= 0) {
            crowd.fd[crowd.count++] = fd;
        }
    }
    server_sleep_ms(100);
    wire_crowd_leave(&crowd);
}

static void never_read(Siege *siege) {
    enum { CLIENTS = 100, CALLS = 64 };
    uint64_t slow = wire_stats(siege->client, false)->slow_clients;
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, CLIENTS, true, true);
    Moreau__V1__WorldGet get = get_call(siege->world);
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 2; id < 2 + CALLS; id++) {
            wire_crowd_call(crowd.fd[i], &get, id);
        }
    }
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (wire_stats(siege->client, false)->slow_clients < slow + CLIENTS) {
        ck_assert_msg(server_now_ms() < give_up_ms, "clients that do not read are not cut");
        server_sleep_ms(20);
    }
    wire_crowd_leave(&crowd);
}

// Frames announced and sent to the last byte but one.
static void stop_before_the_last_byte(Siege *siege) {
    enum { CLIENTS = 64, BYTES = 1 << 20 };
    static uint8_t frame[4 + BYTES] = {0, 0x10, 0, 0};
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, CLIENTS, true, false);
    for (size_t i = 0; i < crowd.count; i++) {
        net_client_write(crowd.fd[i], frame, sizeof(frame) - 1);
    }
    server_sleep_ms(200);
    wire_crowd_leave(&crowd);
}

// ---- requests

static void vanish_in_the_middle_of_calls(Siege *siege) {
    for (int i = 0; i < 10; i++) {
        Crowd crowd = {0};
        wire_crowd_join(&crowd, siege->address, 10, true, false);
        for (size_t c = 0; c < crowd.count; c++) {
            Moreau__V1__WorldStep step = wire_step_call(&siege->world, BILLION);
            Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
            Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
            take.has_world = 1;
            take.world = siege->world;
            Moreau__V1__WorldGet get = get_call(siege->world);
            wire_crowd_call(crowd.fd[c], &create, 2);
            wire_crowd_call(crowd.fd[c], &step, 3);
            wire_crowd_call(crowd.fd[c], &take, 4);
            wire_crowd_call(crowd.fd[c], &get, 5);
        }
        server_sleep_ms(20);
        wire_crowd_vanish(&crowd);
    }
}

// Far beyond the limit of requests in flight, without reading an answer until all are sent.
static void flood_with_requests(Siege *siege) {
    enum { CALLS = 3000 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 8, true, false);
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    Moreau__V1__WorldStep step = wire_step_call(&siege->world, 1);
    Moreau__V1__Stats stats = MOREAU__V1__STATS__INIT;
    stats.has_worlds = stats.worlds = 1;
    size_t sent[8] = {0};
    for (uint64_t k = 0; k < CALLS; k++) {
        for (size_t i = 0; i < crowd.count; i++) {
            const void *call = k % 3 == 0 ? (void *)&ping : k % 3 == 1 ? (void *)&step : &stats;
            sent[i] += wire_crowd_call(crowd.fd[i], call, 2 + k);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert_uint_gt(sent[i], CALLS / 10);
        ck_assert(wire_crowd_read(crowd.fd[i], sent[i] < CALLS ? sent[i] / 2 : CALLS));
    }
    wire_crowd_leave(&crowd);
}

// Requests that are cancelled, or late, as soon as they are there.
static void cancel_everything(Siege *siege) {
    enum { CALLS = 500 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 4, true, false);
    Moreau__V1__WorldStep step = wire_step_call(&siege->world, BILLION);
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t k = 0; k < CALLS; k++) {
            Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
            cancel.has_request = 1;
            cancel.request = 2 + 2 * k;
            wire_crowd_call(crowd.fd[i], &step, 2 + 2 * k);
            wire_crowd_call(crowd.fd[i], &cancel, 3 + 2 * k);
            if (k % 16 == 15) {
                ck_assert(wire_crowd_read(crowd.fd[i], 32));
            }
        }
    }
    wire_crowd_leave(&crowd);
}

// Thousands of worlds, and calls that list them all.
static void list_thousands_of_worlds(Siege *siege) {
    enum { WORLDS = 20000, LISTS = 1 };
    Crowd crowd = {0};
    wire_crowd_join(&crowd, siege->address, 4, true, false);
    Moreau__V1__SnapshotClone clone = MOREAU__V1__SNAPSHOT_CLONE__INIT;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    uint64_t empty = wire_accept(siege->client, &create)->world_create->world;
    clone.has_world = clone.has_count = 1;
    clone.world = empty;
    clone.count = WORLDS;
    wire_crowd_call(crowd.fd[0], &clone, 2);
    ck_assert(wire_crowd_read(crowd.fd[0], 1));
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    for (size_t i = 0; i < crowd.count; i++) {
        for (uint64_t id = 3; id < 3 + LISTS; id++) {
            wire_crowd_call(crowd.fd[i], &list, id);
        }
    }
    for (size_t i = 0; i < crowd.count; i++) {
        ck_assert(wire_crowd_read(crowd.fd[i], LISTS));
    }
    wire_destroy(siege->client, empty);
    wire_crowd_leave(&crowd);
}

static const SiegeRow rows[] = {
    {.name = "frames cut at every byte", .abuse = cut_frames_at_every_byte},
    {.name = "lengths and bytes that are none", .abuse = send_nonsense},
    {.name = "a second Hello, and fifty more", .abuse = say_hello_again_and_again},
    {.name = "scenes of a quarter million empty bodies", .abuse = send_many_tiny_parts},
    {.name = "strings that are no UTF-8", .abuse = say_what_is_no_utf8},
    {.name = "1,000 idle connections", .abuse = sit_there},
    {.name = "2,000 connections that come and go", .abuse = come_and_go},
    {.name = "more connections than there is room for",
     .options = "--connections-max 100",
     .abuse = fill_every_seat},
    {.name = "100 clients that never read",
     .options = "--write-timeout-ms 700",
     .abuse = never_read},
    {.name = "frames without their last byte", .abuse = stop_before_the_last_byte},
    {.name = "clients that vanish in the middle of calls", .abuse = vanish_in_the_middle_of_calls},
    {.name = "floods past the limit in flight", .abuse = flood_with_requests},
    {.name = "everything cancelled at once", .abuse = cancel_everything},
    {.name = "20,000 worlds, listed again and again", .abuse = list_thousands_of_worlds},
};

static TCase *case_abuses(void) {
    return siege_case(rows, sizeof(rows) / sizeof(rows[0]));
}

SUITE_MAIN("system/hostile", case_abuses)
