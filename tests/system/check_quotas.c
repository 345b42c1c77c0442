// SPDX-License-Identifier: MIT
// What one token may have at once: each limit is named by who is refused, told in Stats, and is
// nobody else's.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"
#include "support/wire_snapshot.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static const WirePerson people[] = {
    {"alice", "watch,step worlds=3 bytes=1M requests=2"}, {"bob", "watch,step"}, {"root", "admin"}};

static char folder[SERVER_FOLDER_BYTES];
static ServerProcess *server;
static WireClient *alice, *bob;

static void set_up(void) {
    server = wire_tokens_start(people, 3, "--workers 2", folder);
    alice = wire_open_as(server, "alice");
    bob = wire_open_as(server, "bob");
}

static void tear_down(void) {
    wire_close(alice);
    wire_close(bob);
    server_stop(server);
    server_remove_folder(folder);
}

static void expect_named(const Moreau__V1__Reply *reply, const char *word) {
    wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_msg(strstr(reply->status->message, "The token alice has") != NULL &&
                      strstr(reply->status->message, word) != NULL,
                  "it says: %s", reply->status->message);
}

static const Moreau__V1__TokenUse *use_of(WireClient *client) {
    const Moreau__V1__StatsReply *stats = wire_stats(client, false);
    ck_assert_uint_eq(stats->n_tokens, 1);
    return stats->tokens[0];
}

START_TEST(worlds_and_those_of_groups_are_counted_together) {
    const Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    uint64_t first = wire_accept(alice, &create)->world_create->world;
    wire_group(alice, 2);
    ck_assert_uint_eq(use_of(alice)->worlds, 3);
    expect_named(wire_call(alice, &create), "worlds=");
    expect_named(wire_call(alice, wire_group_create_call(1)), "worlds=");
    for (int i = 0; i < 5; i++) {
        wire_accept(bob, &create);
    }
    wire_destroy(alice, first);
    wire_accept(alice, &create);
    expect_named(wire_call(alice, &create), "worlds=");
    const Moreau__V1__TokenUse *use = use_of(alice);
    ck_assert_str_eq(use->name, "alice");
    ck_assert_uint_eq(use->worlds, 3);
    ck_assert_uint_eq(use->worlds_max, 3);
    ck_assert_uint_eq(use->refused, 3);
    ck_assert_uint_eq(use->sessions, 1);
    ck_assert(!use_of(bob)->has_worlds_max);
    WireClient *root = wire_open_as(server, "root");
    ck_assert_uint_eq(wire_stats(root, false)->n_tokens, 3);
    wire_close(root);
}
END_TEST

// A clone of a world that is large enough does not fit any more; what another token has is not in
// the way.
START_TEST(memory_is_counted_by_who_made_it) {
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = wire_world(alice, 600, 1, 0).id;
    Moreau__V1__Reply *reply = NULL;
    for (int i = 0; i < 100; i++) {
        reply = wire_call(alice, &take);
        if (reply->status->code != CODE(OK)) {
            break;
        }
    }
    expect_named(reply, "bytes=");
    ck_assert_uint_le(use_of(alice)->bytes, 1 << 20);
    take.world = wire_world(bob, 600, 1, 0).id;
    for (int i = 0; i < 20; i++) {
        wire_accept(bob, &take);
    }
}
END_TEST

START_TEST(all_memory_comes_back) {
    for (int i = 0; i < 20; i++) {
        Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
        Moreau__V1__SnapshotDrop drop = MOREAU__V1__SNAPSHOT_DROP__INIT;
        Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
        take.has_world = 1, take.world = wire_world(alice, 100, 1, 0).id;
        drop.has_snapshot = 1;
        drop.snapshot = wire_accept(alice, &take)->snapshot_take->snapshot;
        destroy.has_group = 1, destroy.group = wire_group(alice, 2);
        ck_assert_uint_gt(use_of(alice)->bytes, 1000);
        wire_accept(alice, &drop);
        wire_accept(alice, &destroy);
        wire_destroy(alice, take.world);
    }
    for (int i = 0; use_of(alice)->bytes > 0; i++) { // a lane gives it back
        ck_assert_msg(i < 500, "%llu bytes are left", (unsigned long long)use_of(alice)->bytes);
        server_sleep_ms(10);
    }
    ck_assert_uint_eq(use_of(alice)->worlds, 0);
}
END_TEST

START_TEST(requests_under_way_are_counted_over_all_connections) {
    WireClient *second = wire_open_as(server, "alice");
    uint64_t world[2] = {wire_small_world(alice), wire_small_world(second)}, id[2];
    Moreau__V1__WorldStep step[2] = {wire_step_call(&world[0], 1000000),
                                     wire_step_call(&world[1], 1000000)};
    id[0] = wire_submit(alice, &step[0]);
    id[1] = wire_submit(second, &step[1]);
    server_sleep_ms(100);
    const Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    expect_named(wire_call(second, &list), "requests=");
    wire_accept(bob, &list);
    for (int i = 0; i < 2; i++) { // which is never refused
        WireClient *client = i == 0 ? alice : second;
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        cancel.has_request = 1, cancel.request = id[i];
        wire_submit(client, &cancel);
        for (int k = 0; k < 2; k++) {
            const Moreau__V1__Reply *reply = wire_receive(client);
            wire_expect(reply, reply->id == id[i] ? CODE(CANCELLED) : CODE(OK), NULL);
        }
    }
    wire_accept(second, &list);
    wire_close(second);
}
END_TEST

// Four worlds of one who has one lane, on two: only one is ever stepped at a time, another's is
// meanwhile, and all of his calls are answered.
START_TEST(what_is_beyond_the_lanes_of_a_token_waits) {
    const WirePerson some[] = {{"carol", "watch,step lanes=1"}, {"dave", "watch,step"}};
    char other[SERVER_FOLDER_BYTES];
    ServerProcess *shared = wire_tokens_start(some, 2, "--workers 2", other);
    WireClient *carol = wire_open_as(shared, "carol"), *asks = wire_open_as(shared, "carol"),
               *dave = wire_open_as(shared, "dave");
    uint64_t worlds[4], calls[4], seen = 0;
    for (int i = 0; i < 4; i++) {
        worlds[i] = wire_small_world(carol);
    }
    for (int i = 0; i < 4; i++) { // longer than any machine is busy: they are cancelled
        const Moreau__V1__WorldStep step = wire_step_call(&worlds[i], 100000000);
        calls[i] = wire_submit(carol, &step);
    }
    for (int i = 0; i < 20 || seen == 0; i++) {
        const uint64_t world = wire_small_world(dave);
        wire_step(dave, world, 100);
        const Moreau__V1__TokenUse *use = use_of(asks);
        ck_assert_uint_eq(use->lanes_max, 1);
        ck_assert_uint_le(use->lanes, 1);
        seen += use->lanes;
    }
    for (int i = 0; i < 4; i++) {
        Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
        cancel.has_request = 1, cancel.request = calls[i];
        wire_submit(carol, &cancel);
    }
    for (int i = 0; i < 8;) {
        const Moreau__V1__Reply *reply = wire_receive(carol);
        if (!reply->event) { // those of steps, and of cancels
            const bool is_step = reply->id >= calls[0] && reply->id <= calls[3];
            wire_expect(reply, is_step ? CODE(CANCELLED) : CODE(OK), NULL);
            i++;
        }
    }
    ck_assert(!use_of(dave)->has_lanes);
    ck_assert_uint_eq(use_of(asks)->refused, 0);
    wire_close(carol);
    wire_close(asks);
    wire_close(dave);
    server_stop(shared);
    server_remove_folder(other);
}
END_TEST

static void record_once(WireClient *client, Moreau__V1__Status__Code wanted, const char *word) {
    const uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    const Moreau__V1__Reply *reply = wire_call(client, &start);
    wire_expect(reply, wanted, NULL);
    if (wanted == CODE(OK)) {
        wire_step(client, world, 20);
        wire_stop_recording(client, world);
    } else {
        ck_assert_msg(strstr(reply->status->message, word) != NULL, "%s", reply->status->message);
        Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
        Moreau__V1__GroupCreate *group = wire_group_create_call(2);
        group->record = &record;
        wire_expect(wire_call(client, group), wanted, NULL);
    }
    wire_destroy(client, world);
}

// Of its namespace, whoever recorded it; another namespace's are not counted.
START_TEST(no_recording_begins_beyond_what_the_file_may_hold) {
    const WirePerson some[] = {{"carol", "watch,step,record,delete namespace=a episodes=2"},
                               {"dave", "watch,step,record namespace=b log=2K"},
                               {"erin", "watch,step,record namespace=c"}};
    char other[SERVER_FOLDER_BYTES];
    ServerProcess *recorded = wire_tokens_start(some, 3, "--db @/db", other);
    WireClient *carol = wire_open_as(recorded, "carol"), *dave = wire_open_as(recorded, "dave"),
               *erin = wire_open_as(recorded, "erin");
    for (int i = 0; i < 4; i++) {
        record_once(erin, CODE(OK), "");
    }
    record_once(carol, CODE(OK), "");
    record_once(carol, CODE(OK), "");
    record_once(carol, CODE(RESOURCE_EXHAUSTED), "episodes=");
    ck_assert_uint_eq(use_of(carol)->episodes, 2);
    ck_assert_uint_eq(use_of(carol)->episodes_max, 2);
    ck_assert_uint_eq(use_of(carol)->refused, 2);
    record_once(dave, CODE(OK), "");
    record_once(dave, CODE(RESOURCE_EXHAUSTED), "log=");
    ck_assert_uint_gt(use_of(dave)->log_bytes, 2048);
    const Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    char uid[64];
    snprintf(uid, sizeof(uid), "%s", wire_accept(carol, &list)->episode_list->episodes[0]->episode);
    Moreau__V1__EpisodeDelete delete = MOREAU__V1__EPISODE_DELETE__INIT;
    delete.episode = uid;
    wire_accept(carol, &delete);
    record_once(carol, CODE(OK), "");
    wire_close(carol);
    wire_close(dave);
    wire_close(erin);
    server_stop(recorded);
    server_remove_folder(other);
}
END_TEST

static bool step_until_ended(WireClient *client, uint64_t group, uint32_t worlds) {
    static float action[8];
    for (int i = 0; i < 20000; i++) {
        const Moreau__V1__GroupStep call = wire_group_step_call(group, action, worlds);
        const Moreau__V1__GroupStepReply *reply = wire_accept(client, &call)->group_step;
        if (reply->recording_ended != NULL) {
            ck_assert_msg(strstr(reply->recording_ended, "The recording has ended") != NULL &&
                              strstr(reply->recording_ended, "episodes=") != NULL,
                          "%s", reply->recording_ended);
            return true;
        }
    }
    return false;
}

// Whoever steps goes on; the recording has all up to the chunk with which the limit was reached.
START_TEST(a_recording_ends_where_its_limit_is_reached) {
    const WirePerson some[] = {{"carol", "watch,step,record,delete namespace=a log=200K"},
                               {"dave", "watch,step,record namespace=b episodes=5"},
                               {"erin", "watch,step,record namespace=c"}};
    char other[SERVER_FOLDER_BYTES];
    ServerProcess *recorded = wire_tokens_start(some, 3, "--db @/db", other);
    WireClient *carol = wire_open_as(recorded, "carol"), *dave = wire_open_as(recorded, "dave");
    const uint64_t world = wire_small_world(carol);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    char uid[64];
    snprintf(uid, sizeof(uid), "%s", wire_accept(carol, &start)->episode_start->episode);
    // what it begins with counts at once, to the byte
    const uint64_t begun = wire_describe(carol, uid)->bytes;
    ck_assert_uint_gt(begun, 0);
    ck_assert_uint_eq(use_of(carol)->log_bytes, begun);
    for (int i = 0; i < 40; i++) {
        wire_step(carol, world, 500);
    }
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = 1, stop.world = world;
    const Moreau__V1__Reply *reply = wire_call(carol, &stop);
    wire_expect(reply, CODE(RESOURCE_EXHAUSTED), NULL);
    ck_assert_msg(strstr(reply->status->message, "The recording has ended") != NULL &&
                      strstr(reply->status->message, "carol") != NULL &&
                      strstr(reply->status->message, "log=") != NULL,
                  "%s", reply->status->message);
    const Moreau__V1__EpisodeInfo *info = wire_describe(carol, uid);
    ck_assert_int_eq(info->state, MOREAU__V1__EPISODE__STATE__INTERRUPTED);
    ck_assert_uint_gt(info->steps, 100);
    ck_assert_uint_lt(info->steps, 20000);
    ck_assert_uint_gt(use_of(carol)->log_bytes, 200 << 10);
    ck_assert_uint_lt(use_of(carol)->log_bytes, 600 << 10);
    wire_step(carol, world, 10);
    wire_refuse(carol, &start, CODE(RESOURCE_EXHAUSTED), NULL);
    Moreau__V1__EpisodeDelete delete = MOREAU__V1__EPISODE_DELETE__INIT;
    delete.episode = uid;
    wire_accept(carol, &delete);
    ck_assert_uint_eq(use_of(carol)->log_bytes, 0); // and there is room again
    wire_accept(carol, &start);
    // a group makes episodes while it goes on
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *create = wire_group_create_call(4);
    create->record = &record;
    const uint64_t group = wire_accept(dave, create)->group_create->group;
    ck_assert(step_until_ended(dave, group, 4));
    ck_assert_uint_ge(use_of(dave)->episodes, 5);
    wire_close(carol);
    wire_close(dave);
    server_stop(recorded);
    server_remove_folder(other);
}
END_TEST

static TCase *case_quotas(void) {
    TCase *tcase = tcase_create("quotas");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, worlds_and_those_of_groups_are_counted_together);
    tcase_add_test(tcase, memory_is_counted_by_who_made_it);
    tcase_add_test(tcase, all_memory_comes_back);
    tcase_add_test(tcase, requests_under_way_are_counted_over_all_connections);
    tcase_add_test(tcase, a_recording_ends_where_its_limit_is_reached);
    tcase_add_test(tcase, what_is_beyond_the_lanes_of_a_token_waits);
    tcase_add_test(tcase, no_recording_begins_beyond_what_the_file_may_hold);
    return tcase;
}

SUITE_MAIN("system/quotas", case_quotas)
