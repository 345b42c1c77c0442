// SPDX-License-Identifier: MIT
// Lists of more episodes than a frame holds: what is asked for at most is answered as far as it
// fits, and all of it is found page by page.
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

enum { WORLDS = 1024, STEPS = 65, ASKED_MAX = 65536 };

// A group of which each step is an episode of each world.
static uint64_t record_episodes(WireClient *client, uint64_t steps) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.name = "of a single step";
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    call->has_step_limit = 1, call->step_limit = 1;
    call->has_autoreset = 1, call->autoreset = MOREAU__V1__GROUP__AUTORESET__SAME_STEP;
    const uint64_t group = wire_accept(client, call)->group_create->group;
    wire_group_reset(client, group);
    static float action[WORLDS];
    for (uint64_t i = 0; i < steps; i++) {
        wire_group_step(client, group, action, WORLDS);
    }
    Moreau__V1__GroupDestroy destroy = MOREAU__V1__GROUP_DESTROY__INIT;
    destroy.has_group = 1, destroy.group = group;
    wire_accept(client, &destroy);
    return steps * WORLDS;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Asks for as many as may be asked for, until there are no more. Returns the number of pages.
static size_t read_pages(WireClient *client, uint64_t expected) {
    char **ids = calloc(expected, sizeof(*ids));
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.has_first = list.has_count = 1;
    list.count = ASKED_MAX;
    size_t pages = 0;
    do {
        const Moreau__V1__EpisodeListReply *reply = wire_accept(client, &list)->episode_list;
        ck_assert_uint_eq(reply->total, expected);
        ck_assert_uint_gt(reply->n_episodes, 0);
        ck_assert_uint_le(list.first + reply->n_episodes, expected);
        for (size_t i = 0; i < reply->n_episodes; i++) {
            ids[list.first + i] = reply->episodes[i]->episode;
        }
        list.first += reply->n_episodes;
        pages++;
    } while (list.first < expected);
    qsort(ids, expected, sizeof(*ids), by_text);
    for (uint64_t i = 1; i < expected; i++) {
        ck_assert_str_ne(ids[i - 1], ids[i]);
    }
    free(ids);
    return pages;
}

START_TEST(as_many_as_may_be_asked_for_are_answered) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t made = record_episodes(depot.client, STEPS);
    ck_assert_uint_gt(made, ASKED_MAX);
    // 16 MiB hold tens of thousands of them, each some hundred bytes
    ck_assert_uint_le(read_pages(depot.client, made), 3);
    wire_depot_close(&depot);
}
END_TEST

START_TEST(a_short_frame_holds_few_and_says_so) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    const uint64_t made = record_episodes(depot.client, 1);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--frame-bytes-max 8K");
    ck_assert_uint_gt(read_pages(depot.client, made), 10);
    wire_depot_close(&depot);
}
END_TEST

// One whose labels alone are longer than a frame is named, with the way past it.
START_TEST(one_that_fits_no_frame_is_named) {
    enum { LABELS = 64, BYTES = 256 };
    WireDepot depot;
    wire_depot_open(&depot, "--workers 1");
    static char text[LABELS][BYTES];
    char *labels[LABELS];
    for (size_t i = 0; i < LABELS; i++) {
        memset(text[i], 'a' + (int)(i % 26), BYTES - 2);
        text[i][0] = (char)('A' + i / 26);
        labels[i] = text[i];
    }
    const uint64_t world = wire_small_world(depot.client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    wire_record(depot.client, &start);
    wire_stop_recording(depot.client, world);
    start.n_labels = LABELS, start.labels = labels;
    wire_record(depot.client, &start);
    wire_stop_recording(depot.client, world);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--frame-bytes-max 8K");
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT; // the newest comes first
    const Moreau__V1__Reply *reply =
        wire_refuse(depot.client, &list, CODE(RESOURCE_EXHAUSTED), "first");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "first = 1"));
    list.has_first = 1, list.first = 1;
    ck_assert_uint_eq(wire_accept(depot.client, &list)->episode_list->n_episodes, 1);
    wire_depot_close(&depot);
}
END_TEST

static TCase *case_pages(void) {
    TCase *tcase = tcase_create("pages");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, as_many_as_may_be_asked_for_are_answered);
    tcase_add_test(tcase, a_short_frame_holds_few_and_says_so);
    tcase_add_test(tcase, one_that_fits_no_frame_is_named);
    return tcase;
}

SUITE_MAIN("system/episode_pages", case_pages)
