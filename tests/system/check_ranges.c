// SPDX-License-Identifier: MIT
// `first` and `count` mean the same in every call that has them: a table of the calls, and every
// range that could be meant differently.
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stddef.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { STEPS = 9, EPISODES = 5 };

static WireDepot depot;
static uint64_t world, snapshot;
static WireEpisode episode;

// Five worlds besides, five episodes, and contacts.
static void start(void) {
    wire_depot_open(&depot, "--workers 1");
    world = wire_world(depot.client, 6, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    wire_step(depot.client, world, 400);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1, take.world = world;
    snapshot = wire_accept(depot.client, &take)->snapshot_take->snapshot;
    for (int i = 0; i < EPISODES; i++) {
        wire_small_world(depot.client);
        Moreau__V1__EpisodeStart call = wire_start_call(world);
        episode = wire_record(depot.client, &call);
        wire_step(depot.client, world, STEPS);
        wire_stop_recording(depot.client, world);
    }
}

static void stop(void) {
    wire_depot_close(&depot);
}

// ---- the calls: each asks for a range, and says what came and how many things there are

typedef struct Range {
    bool has_first, has_count;
    uint64_t first, count;
} Range;

typedef struct Answer {
    uint64_t count, total, begins; // begins: something that tells the first thing from the others
} Answer;

#define ASK(call, range)                                                                           \
    ((call).has_first = (range).has_first, (call).first = (range).first,                           \
     (call).has_count = (range).has_count, (call).count = (range).count)

static Answer bodies(Range range) {
    Moreau__V1__WorldGet call = MOREAU__V1__WORLD_GET__INIT;
    call.has_world = 1, call.world = world;
    ASK(call, range);
    const Moreau__V1__WorldGetReply *got = wire_accept(depot.client, &call)->world_get;
    return (Answer){got->n_ids, got->total, got->n_ids > 0 ? got->ids[0] : 0};
}

static Answer contacts(Range range) {
    Moreau__V1__WorldContacts call = MOREAU__V1__WORLD_CONTACTS__INIT;
    call.has_world = 1, call.world = world;
    ASK(call, range);
    const Moreau__V1__WorldContactsReply *got = wire_accept(depot.client, &call)->world_contacts;
    return (Answer){got->n_body_a, got->total,
                    got->n_body_a > 0 ? (uint64_t)(got->point[0] * 1e9) : 0};
}

static Answer worlds(Range range) {
    Moreau__V1__WorldList call = MOREAU__V1__WORLD_LIST__INIT;
    ASK(call, range);
    const Moreau__V1__WorldListReply *got = wire_accept(depot.client, &call)->world_list;
    return (Answer){got->n_worlds, got->total, got->n_worlds > 0 ? got->worlds[0]->world : 0};
}

static Answer bytes(Range range) {
    Moreau__V1__SnapshotRead call = MOREAU__V1__SNAPSHOT_READ__INIT;
    call.has_snapshot = 1, call.snapshot = snapshot;
    ASK(call, range);
    const Moreau__V1__SnapshotReadReply *got = wire_accept(depot.client, &call)->snapshot_read;
    return (Answer){got->data.len, got->total, got->data.len > 0 ? got->data.data[0] : 0};
}

static Answer episodes(Range range) {
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    ASK(call, range);
    const Moreau__V1__EpisodeListReply *got = wire_accept(depot.client, &call)->episode_list;
    return (Answer){got->n_episodes, got->total,
                    got->n_episodes > 0 ? (uint64_t)(got->episodes[0]->begun * 1e3) : 0};
}

static Answer frames(Range range) {
    Moreau__V1__EpisodeRead call = MOREAU__V1__EPISODE_READ__INIT;
    call.episode = episode.id;
    ASK(call, range);
    const Moreau__V1__EpisodeFrames *got = wire_accept(depot.client, &call)->episode_read->frames;
    return (Answer){got->n_step, STEPS + 1, got->n_step > 0 ? got->step[0] : 0};
}

static const struct {
    const char *name;
    Answer (*ask)(Range range);
} calls[] = {{"WorldGet", bodies},    {"WorldContacts", contacts}, {"WorldList", worlds},
             {"SnapshotRead", bytes}, {"EpisodeList", episodes},   {"EpisodeRead", frames}};

// ---- the rule

static void expect(int call, Range range, uint64_t count) {
    Answer answer = calls[call].ask(range);
    ck_assert_msg(answer.count == count, "%s: first %llu, count %llu: %llu things, not %llu",
                  calls[call].name, (unsigned long long)range.first,
                  (unsigned long long)range.count, (unsigned long long)answer.count,
                  (unsigned long long)count);
}

START_TEST(a_range_is_what_there_is_of_it_in_every_call) {
    uint64_t total = calls[_i].ask((Range){0}).total;
    ck_assert_uint_gt(total, 3);
    const struct {
        Range range;
        uint64_t count;
    } cases[] = {
        {{0}, total},                                      // no range: all
        {{.has_first = true}, total},                      // from the start
        {{.has_first = true, .first = 2}, total - 2},      // all the rest
        {{.has_count = true, .count = 2}, 2},              // the first ones
        {{true, true, 1, 2}, 2},                           // in the middle
        {{.has_count = true, .count = 0}, 0},              // none
        {{true, true, 2, 0}, 0},                           // none from there
        {{true, true, total - 1, 5}, 1},                   // over the end
        {{.has_count = true, .count = UINT64_MAX}, total}, // far over it
        {{true, true, 2, UINT64_MAX}, total - 2},          // first + count beyond all numbers
        {{true, true, 2, UINT64_MAX - 1}, total - 2},      // exactly at their end
        {{.has_first = true, .first = total}, 0},          // behind the last one
        {{.has_first = true, .first = total + 1}, 0},      // behind that
        {{true, true, total + 7, 3}, 0},
        {{true, true, UINT64_MAX, UINT64_MAX}, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        expect(_i, cases[i].range, cases[i].count);
    }
    ck_assert_uint_eq(calls[_i].ask((Range){true, true, total + 7, 3}).total, total);
}
END_TEST

START_TEST(a_range_begins_where_it_says) {
    Answer last = calls[_i].ask((Range){.has_first = true, .first = 3});
    Answer first = calls[_i].ask((Range){true, true, 3, 1});
    ck_assert_uint_eq(first.begins, last.begins);
}
END_TEST

static TCase *case_ranges(void) {
    TCase *tcase = tcase_create("ranges");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, start, stop);
    int count = (int)(sizeof(calls) / sizeof(calls[0]));
    tcase_add_loop_test(tcase, a_range_is_what_there_is_of_it_in_every_call, 0, count);
    tcase_add_loop_test(tcase, a_range_begins_where_it_says, 0, count);
    return tcase;
}

SUITE_MAIN("system/ranges", case_ranges)
