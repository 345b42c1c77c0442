// SPDX-License-Identifier: MIT
// The books that are kept of episodes, over real sockets: starting, stopping, finding, listing,
// deleting; several worlds at once; every bad argument.
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name)  MOREAU__V1__STATUS__CODE__##name
#define STATE(name) MOREAU__V1__EPISODE__STATE__##name

static WireDepot depot;
static WireClient *client;

static void open_depot(void) {
    wire_depot_open(&depot, "--workers 2 --session-grace-ms 100");
    client = depot.client;
}

static void close_depot(void) {
    wire_depot_close(&depot);
}

static uint64_t named_world(const char *name) {
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)name;
    return wire_accept(client, &create)->world_create->world;
}

static Moreau__V1__EpisodeStop stop_call(const char *episode) {
    Moreau__V1__EpisodeStop call = MOREAU__V1__EPISODE_STOP__INIT;
    call.episode = (char *)episode;
    return call;
}

static Moreau__V1__EpisodeDelete delete_call(const char *episode) {
    Moreau__V1__EpisodeDelete call = MOREAU__V1__EPISODE_DELETE__INIT;
    call.episode = (char *)episode;
    return call;
}

// An episode of so many steps with a name.
static WireEpisode record(uint64_t world, const char *name, uint64_t steps) {
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)name;
    WireEpisode episode = wire_record(client, &start);
    if (steps > 0) {
        wire_step(client, world, steps);
    }
    wire_stop_recording(client, world);
    return episode;
}

// ---- one episode

START_TEST(a_recording_is_what_was_asked_for) {
    uint64_t world = wire_small_world(client);
    wire_step(client, world, 7);
    char *labels[] = {(char *)"night", (char *)"grüne Wiese"};
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"run";
    start.n_labels = 2;
    start.labels = labels;
    start.has_content = start.has_stride = start.has_seed = start.has_lossy = 1;
    start.content = MOREAU__V1__EPISODE__CONTENT__FRAMES;
    start.stride = 4;
    start.seed = UINT64_MAX;
    start.lossy = 1;
    const Moreau__V1__Reply *reply = wire_accept(client, &start);
    ck_assert_str_eq(reply->episode_start->name, "run");
    wire_step(client, world, 40);
    const Moreau__V1__EpisodeInfo *info = wire_stop_recording(client, world);
    ck_assert_str_eq(info->episode, reply->episode_start->episode);
    ck_assert_str_eq(info->name, "run");
    ck_assert_uint_eq(info->n_labels, 2);
    ck_assert(strcmp(info->labels[0], labels[0]) == 0 || strcmp(info->labels[1], labels[0]) == 0);
    ck_assert_int_eq(info->state, STATE(COMPLETE));
    ck_assert_int_eq(info->content, MOREAU__V1__EPISODE__CONTENT__FRAMES);
    ck_assert_uint_eq(info->stride, 4);
    ck_assert(info->lossy);
    ck_assert_uint_eq(info->seed, UINT64_MAX);
    ck_assert_str_eq(info->client, "test");
    ck_assert_str_eq(info->solver, "mdp");
    ck_assert_uint_eq(info->steps, 40);
    ck_assert_uint_eq(info->world_step, 7);
    ck_assert_double_eq(info->time_step, 1.0 / 240.0);
    ck_assert_uint_eq(info->bodies, 4);
    ck_assert_double_ge(info->ended, info->begun);
    ck_assert_uint_ge(info->chunks, 3); // a key-frame, inputs, frames
    ck_assert_uint_eq(info->keyframes, 1);
    ck_assert_ptr_null(info->why);
    // the file says the same
    const Moreau__V1__EpisodeInfo *again = wire_describe(client, "run");
    ck_assert_str_eq(again->episode, info->episode);
    ck_assert_uint_eq(again->steps, 40);
    ck_assert_uint_eq(again->bytes, info->bytes);
}
END_TEST

// A world of three bodies, the second of which has no name.
static uint64_t world_with_names(void) {
    Moreau__V1__SceneBody body[3];
    Moreau__V1__SceneBody *bodies[3];
    double mass = 1.0, inertia[6] = {1.0, 1.0, 1.0};
    for (int i = 0; i < 3; i++) {
        moreau__v1__scene_body__init(&body[i]);
        body[i].has_mass = 1;
        body[i].mass = mass;
        body[i].n_inertia = 6;
        body[i].inertia = inertia;
        bodies[i] = &body[i];
    }
    body[0].name = (char *)"left";
    body[2].name = (char *)"right";
    Moreau__V1__Scene scene = MOREAU__V1__SCENE__INIT;
    scene.n_bodies = 3;
    scene.bodies = bodies;
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.scene = &scene;
    return wire_accept(client, &create)->world_create->world;
}

static Moreau__V1__EpisodeDescribe names_call(const char *episode) {
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)episode;
    call.has_names = call.names = 1;
    return call;
}

START_TEST(the_names_of_bodies_are_told_when_asked_for) {
    uint64_t world = world_with_names();
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    const Moreau__V1__WorldGetReply *live = wire_accept(client, &get)->world_get;
    ck_assert_uint_eq(live->n_ids, 3);
    uint64_t left = live->ids[0], right = live->ids[2];
    WireEpisode episode = record(world, "named", 3);
    // the file tells, not the world
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    destroy.has_world = 1;
    destroy.world = world;
    wire_accept(client, &destroy);
    Moreau__V1__EpisodeDescribe call = names_call(episode.id);
    const Moreau__V1__EpisodeDescribeReply *told = wire_accept(client, &call)->episode_describe;
    ck_assert_str_eq(told->episode->name, "named");
    ck_assert_uint_eq(told->n_ids, 2);
    ck_assert_uint_eq(told->n_names, 2);
    ck_assert_uint_eq(told->ids[0], left);
    ck_assert_uint_eq(told->ids[1], right);
    ck_assert_str_eq(told->names[0], "left");
    ck_assert_str_eq(told->names[1], "right");
    call.has_names = 0;
    told = wire_accept(client, &call)->episode_describe;
    ck_assert_uint_eq(told->n_ids + told->n_names, 0);
    ck_assert_uint_eq(wire_stats(client, false)->player_bytes, 0);

    WireEpisode nameless = record(wire_small_world(client), "nameless", 1);
    call = names_call(nameless.id);
    told = wire_accept(client, &call)->episode_describe;
    ck_assert_uint_eq(told->n_ids + told->n_names, 0);
}
END_TEST

START_TEST(a_damaged_start_has_no_names_and_says_so) {
    enum { KEYFRAME = 1 };
    WireEpisode episode = record(world_with_names(), "hurt", 3);
    wire_depot_stop(&depot);
    wire_depot_flip(&depot, wire_depot_chunk(&depot, KEYFRAME, 0), -1, _i == 1);
    wire_depot_restart(&depot, "--workers 1");
    client = depot.client;
    Moreau__V1__EpisodeDescribe call = names_call(episode.id);
    const Moreau__V1__Reply *reply = wire_refuse(client, &call, CODE(DATA_LOSS), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "key-frame"));
    ck_assert_uint_eq(wire_describe(client, episode.id)->steps, 3);
}
END_TEST

START_TEST(a_world_says_whether_it_is_recorded) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    ck_assert(!wire_accept(client, &list)->world_list->worlds[0]->recording);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    WireEpisode episode = wire_record(client, &start);
    ck_assert(wire_accept(client, &list)->world_list->worlds[0]->recording);
    const Moreau__V1__EpisodeInfo *info = wire_describe(client, episode.id);
    ck_assert_int_eq(info->state, STATE(RECORDING));
    ck_assert(!info->has_ended);
    wire_stop_recording(client, world);
    ck_assert(!wire_accept(client, &list)->world_list->worlds[0]->recording);
}
END_TEST

START_TEST(a_world_is_recorded_once_at_a_time_and_any_number_of_times) {
    uint64_t world = named_world("pile");
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    WireEpisode episode = wire_record(client, &start);
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &start, CODE(FAILED_PRECONDITION), "world");
    ck_assert_ptr_nonnull(strstr(reply->status->message, episode.id));
    wire_stop_recording(client, world);
    Moreau__V1__EpisodeStop stop = stop_call(NULL);
    stop.has_world = 1;
    stop.world = world;
    wire_refuse(client, &stop, CODE(FAILED_PRECONDITION), "world");
    for (int i = 2; i < 8; i++) {
        char name[32];
        snprintf(name, sizeof(name), "pile-%d", i);
        ck_assert_str_eq(wire_accept(client, &start)->episode_start->name, name);
        wire_stop_recording(client, world);
    }
    ck_assert_str_eq(wire_describe(client, "pile-1")->episode, episode.id);
}
END_TEST

START_TEST(two_worlds_are_recorded_at_once) {
    uint64_t world[2] = {wire_world(client, 3, 1, MOREAU__V1__WORLD__LIFETIME__SESSION).id,
                         wire_world(client, 5, 2, MOREAU__V1__WORLD__LIFETIME__SESSION).id};
    Moreau__V1__EpisodeStart start[2] = {wire_start_call(world[0]), wire_start_call(world[1])};
    wire_submit(client, &start[0]);
    wire_submit(client, &start[1]);
    wire_expect(wire_receive(client), CODE(OK), NULL);
    wire_expect(wire_receive(client), CODE(OK), NULL);
    Moreau__V1__WorldStep step = wire_step_call(world, 30);
    step.n_worlds = 2;
    wire_accept(client, &step);
    wire_step(client, world[1], 5);
    ck_assert_uint_eq(wire_stop_recording(client, world[0])->steps, 30);
    const Moreau__V1__EpisodeInfo *info = wire_stop_recording(client, world[1]);
    ck_assert_uint_eq(info->steps, 35);
    ck_assert_uint_eq(info->bodies, 6);
}
END_TEST

START_TEST(an_episode_is_stopped_by_any_of_its_names) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"to stop";
    WireEpisode episode = wire_record(client, &start);
    char beginning[9];
    memcpy(beginning, episode.id, 8);
    beginning[8] = '\0';
    const char *texts[] = {episode.id, beginning, "to stop"};
    Moreau__V1__EpisodeStop stop = stop_call(texts[_i]);
    ck_assert_str_eq(wire_accept(client, &stop)->episode_stop->episode->episode, episode.id);
    const Moreau__V1__Reply *reply =
        wire_refuse(client, &stop, CODE(FAILED_PRECONDITION), "episode");
    ck_assert_ptr_nonnull(strstr(reply->status->message, "complete"));
}
END_TEST

// What was sent before it is in the episode, and what was sent behind it is not, however long the
// first takes.
START_TEST(a_stop_by_id_keeps_its_place_among_the_calls_on_its_world) {
    enum { BEFORE = 3000, BEHIND = 3 };
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    const WireEpisode episode = wire_record(client, &start);
    const Moreau__V1__EpisodeStop stop = stop_call(episode.id);
    const Moreau__V1__WorldStep before = wire_step_call(&world, BEFORE);
    const Moreau__V1__WorldStep behind = wire_step_call(&world, BEHIND);
    const uint64_t sent[] = {wire_submit(client, &before), wire_submit(client, &stop),
                             wire_submit(client, &behind)};
    for (size_t i = 0; i < 3; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->id, sent[i]);
        if (i == 1) {
            ck_assert_uint_eq(reply->episode_stop->episode->steps, BEFORE);
        }
    }
}
END_TEST

START_TEST(a_destroyed_world_closes_its_episode) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    WireEpisode episode = wire_record(client, &start);
    wire_step(client, world, 12);
    wire_destroy(client, world);
    // the log is written behind the reply
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    const Moreau__V1__EpisodeInfo *info = wire_describe(client, episode.id);
    while (info->state == STATE(RECORDING) && server_now_ms() < give_up_ms) {
        server_sleep_ms(5);
        info = wire_describe(client, episode.id);
    }
    ck_assert_int_eq(info->state, STATE(WORLD_DESTROYED));
    ck_assert_uint_eq(info->steps, 12);
}
END_TEST

START_TEST(episodes_outlive_the_server) {
    WireEpisode episode = record(wire_small_world(client), "kept", 20);
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"cut";
    wire_record(client, &start);
    wire_step(client, world, 9);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 1");
    ck_assert_str_eq(wire_describe(depot.client, "kept")->episode, episode.id);
    ck_assert_uint_eq(wire_describe(depot.client, episode.id)->steps, 20);
    // its world went with the server, in good order
    const Moreau__V1__EpisodeInfo *info = wire_describe(depot.client, "cut");
    ck_assert_int_eq(info->state, STATE(WORLD_DESTROYED));
    ck_assert_uint_eq(info->steps, 9);
}
END_TEST

// ---- many

static const Moreau__V1__EpisodeListReply *list(const Moreau__V1__EpisodeList *call) {
    return wire_accept(client, call)->episode_list;
}

START_TEST(a_list_is_filtered_and_paged_the_newest_first) {
    uint64_t world = wire_small_world(client);
    const char *names[] = {"alpha one", "beta", "alpha two", "gamma"};
    for (int i = 0; i < 4; i++) {
        record(world, names[i], 0);
    }
    char *labels[] = {(char *)"marked"};
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"Alpha three";
    start.n_labels = 1;
    start.labels = labels;
    wire_record(client, &start);

    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__EpisodeListReply *reply = list(&call);
    ck_assert_uint_eq(reply->total, 5);
    ck_assert_uint_eq(reply->n_episodes, 5);
    ck_assert_str_eq(reply->episodes[0]->name, "Alpha three");
    ck_assert_str_eq(reply->episodes[4]->name, "alpha one");

    call.name = (char *)"ALPHA";
    call.has_first = call.has_count = 1;
    call.first = 1;
    call.count = 1;
    reply = list(&call);
    ck_assert_uint_eq(reply->total, 3);
    ck_assert_uint_eq(reply->n_episodes, 1);
    ck_assert_str_eq(reply->episodes[0]->name, "alpha two");

    moreau__v1__episode_list__init(&call);
    call.label = (char *)"marked";
    ck_assert_uint_eq(list(&call)->total, 1);
    moreau__v1__episode_list__init(&call);
    call.has_state = 1;
    call.state = STATE(RECORDING);
    ck_assert_uint_eq(list(&call)->total, 1);
    call.state = STATE(COMPLETE);
    ck_assert_uint_eq(list(&call)->total, 4);
    moreau__v1__episode_list__init(&call);
    call.solver = (char *)"no such solver";
    ck_assert_uint_eq(list(&call)->total, 0);
    moreau__v1__episode_list__init(&call);
    call.client = (char *)"test";
    ck_assert_uint_eq(list(&call)->total, 5);
}
END_TEST

START_TEST(a_list_is_cut_by_time) {
    uint64_t world = wire_small_world(client);
    record(world, "then", 0);
    double begun = wire_describe(client, "then")->begun;
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    call.has_since = 1;
    call.since = begun - 10.0;
    ck_assert_uint_eq(list(&call)->total, 1);
    call.since = begun + 10.0;
    ck_assert_uint_eq(list(&call)->total, 0);
    call.has_since = 0;
    call.has_until = 1;
    call.until = begun - 10.0;
    ck_assert_uint_eq(list(&call)->total, 0);
    call.until = 0.0; // 1970: nothing
    ck_assert_uint_eq(list(&call)->total, 0);
    call.until = 1e300;
    ck_assert_uint_eq(list(&call)->total, 1);
}
END_TEST

// Its time is shown as a double, which stands for some 200 ns.
START_TEST(an_episode_begins_at_the_time_that_it_shows) {
    enum { EPISODES = 20 };
    uint64_t world = wire_small_world(client);
    for (int i = 0; i < EPISODES; i++) {
        record(world, "short", 0);
    }
    Moreau__V1__EpisodeList all = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__EpisodeListReply *reply = list(&all);
    ck_assert_uint_eq(reply->total, EPISODES);
    for (uint64_t i = 0; i < EPISODES; i++) { // the newest first; none takes less than 200 ns
        Moreau__V1__EpisodeList since = MOREAU__V1__EPISODE_LIST__INIT, until = since;
        since.has_since = until.has_until = 1;
        since.since = until.until = reply->episodes[i]->begun;
        ck_assert_uint_eq(list(&since)->total, i + 1);
        ck_assert_uint_eq(list(&until)->total, EPISODES - i - 1);
    }
}
END_TEST

START_TEST(a_name_that_two_episodes_have_names_none) {
    uint64_t world = wire_small_world(client);
    WireEpisode first = record(world, "twin", 1);
    WireEpisode second = record(world, "twin", 1);
    Moreau__V1__EpisodeDescribe call = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    call.episode = (char *)"twin";
    wire_refuse(client, &call, CODE(INVALID_ARGUMENT), "episode");
    ck_assert_str_eq(wire_describe(client, first.id)->episode, first.id);
    ck_assert_str_eq(wire_describe(client, second.id)->episode, second.id);
}
END_TEST

START_TEST(a_deleted_episode_is_gone) {
    uint64_t world = wire_small_world(client);
    WireEpisode first = record(world, "first", 10), second = record(world, "second", 10);
    Moreau__V1__EpisodeDelete call = delete_call(first.id);
    wire_accept(client, &call);
    wire_refuse(client, &call, CODE(NOT_FOUND), "episode");
    Moreau__V1__EpisodeList all = MOREAU__V1__EPISODE_LIST__INIT;
    const Moreau__V1__EpisodeListReply *reply = list(&all);
    ck_assert_uint_eq(reply->total, 1);
    ck_assert_str_eq(reply->episodes[0]->episode, second.id);
    wire_depot_stop(&depot);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(DISTINCT recording) FROM chunk"), 1);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM recording"), 1);
}
END_TEST

START_TEST(what_is_being_recorded_is_not_deleted) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    WireEpisode episode = wire_record(client, &start);
    Moreau__V1__EpisodeDelete call = delete_call(episode.id);
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), NULL);
    wire_step(client, world, 3);
    ck_assert_uint_eq(wire_stop_recording(client, world)->steps, 3);
    wire_accept(client, &call);
}
END_TEST

static void pin(const char *episode, bool pinned) {
    Moreau__V1__EpisodePin call = MOREAU__V1__EPISODE_PIN__INIT;
    call.episode = (char *)episode;
    call.has_pinned = !pinned; // true is the default
    call.pinned = pinned;
    wire_accept(client, &call);
    ck_assert_int_eq(wire_describe(client, episode)->pinned, pinned);
}

START_TEST(a_pinned_episode_is_not_deleted) {
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = (char *)"kept";
    WireEpisode episode = wire_record(client, &start);
    pin(episode.id, true); // also while it is being recorded
    wire_step(client, world, 3);
    ck_assert(wire_stop_recording(client, world)->pinned);
    Moreau__V1__EpisodeDelete call = delete_call("kept");
    const Moreau__V1__Reply *reply = wire_refuse(client, &call, CODE(FAILED_PRECONDITION), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "pinned"));
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 2");
    client = depot.client;
    wire_expect_verified(client, "kept", 3);
    wire_refuse(client, &call, CODE(FAILED_PRECONDITION), NULL);
    pin("kept", false);
    wire_accept(client, &call);
    Moreau__V1__EpisodePin again = MOREAU__V1__EPISODE_PIN__INIT;
    again.episode = (char *)episode.id;
    wire_refuse(client, &again, CODE(NOT_FOUND), "episode");
}
END_TEST

START_TEST(the_books_are_open_while_every_lane_is_busy) {
    record(wire_small_world(client), "before", 20);
    WireClient *busy = wire_open(depot.server->address[0]);
    uint64_t worlds[4];
    for (int i = 0; i < 4; i++) {
        worlds[i] = wire_small_world(busy);
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, UINT64_C(1000000000));
    step.n_worlds = 4;
    wire_submit(busy, &step);
    Moreau__V1__EpisodeList call = MOREAU__V1__EPISODE_LIST__INIT;
    ck_assert_uint_eq(list(&call)->total, 1);
    wire_describe(client, "before");
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    verify.episode = (char *)"before";
    const Moreau__V1__Reply *reply = wire_stream(client, &verify, NULL, NULL);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert(reply->episode_verify->verified);
    ck_assert(!wire_waits(busy, 0));
    wire_close(busy);
}
END_TEST

// ---- what is refused

static void refuse_start(const Moreau__V1__EpisodeStart *call, const char *field) {
    wire_refuse(client, call, CODE(INVALID_ARGUMENT), field);
}

START_TEST(bad_starts_are_refused_by_name) {
    enum { LABELS = 65 };
    char long_text[257] = {0};
    char *labels[LABELS], texts[LABELS][16];
    memset(long_text, 'x', 256);
    for (int i = 0; i < LABELS; i++) {
        snprintf(texts[i], sizeof(texts[i]), "l%d", i);
        labels[i] = texts[i];
    }
    uint64_t world = wire_small_world(client);
    Moreau__V1__EpisodeStart call = wire_start_call(world + 1000);
    wire_refuse(client, &call, CODE(NOT_FOUND), "world");
    call = wire_start_call(world);
    call.name = (char *)"";
    refuse_start(&call, "name");
    call.name = long_text;
    refuse_start(&call, "name");
    call.name = (char *)"\xff";
    refuse_start(&call, "name");
    call = wire_start_call(world);
    call.labels = labels;
    call.n_labels = LABELS;
    refuse_start(&call, "labels");
    call.n_labels = 3;
    labels[1] = (char *)"";
    refuse_start(&call, "labels[1]");
    labels[1] = labels[0];
    refuse_start(&call, "labels[1]");
    labels[1] = long_text;
    refuse_start(&call, "labels[1]");
    call = wire_start_call(world);
    call.has_stride = call.has_keyframe_steps = call.has_content = 1;
    call.stride = 0;
    refuse_start(&call, "stride");
    call.stride = 1000001;
    refuse_start(&call, "stride");
    call.stride = 1000000;
    call.keyframe_steps = 0;
    refuse_start(&call, "keyframe_steps");
    call.keyframe_steps = 1000001;
    refuse_start(&call, "keyframe_steps");
    call.keyframe_steps = 1000000;
    call.content = (Moreau__V1__Episode__Content)3;
    refuse_start(&call, "content");
    // nothing of all this has begun anything
    call.content = MOREAU__V1__EPISODE__CONTENT__INPUTS;
    wire_accept(client, &call);
}
END_TEST

START_TEST(bad_stops_lists_and_names_are_refused_by_name) {
    Moreau__V1__EpisodeStop stop = stop_call(NULL);
    wire_refuse(client, &stop, CODE(INVALID_ARGUMENT), "world");
    stop.has_world = 1;
    stop.world = 4711;
    wire_refuse(client, &stop, CODE(NOT_FOUND), "world");
    stop.episode = (char *)"both";
    wire_refuse(client, &stop, CODE(INVALID_ARGUMENT), "episode");
    stop = stop_call("nobody");
    wire_refuse(client, &stop, CODE(NOT_FOUND), "episode");
    stop = stop_call("");
    wire_refuse(client, &stop, CODE(INVALID_ARGUMENT), "episode");

    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    wire_refuse(client, &describe, CODE(INVALID_ARGUMENT), "episode");
    describe.episode = (char *)"abc"; // three digits are no id
    wire_refuse(client, &describe, CODE(NOT_FOUND), "episode");
    Moreau__V1__EpisodeDelete gone = delete_call("0123456789abcdef0123456789abcdef");
    wire_refuse(client, &gone, CODE(NOT_FOUND), "episode");
}
END_TEST

START_TEST(without_a_file_every_call_says_how_to_get_one) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *other = wire_open(server->address[0]);
    Moreau__V1__EpisodeStart start = wire_start_call(wire_small_world(other));
    Moreau__V1__EpisodeStop stop = stop_call("x");
    Moreau__V1__EpisodeList all = MOREAU__V1__EPISODE_LIST__INIT;
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    Moreau__V1__EpisodeVerify verify = MOREAU__V1__EPISODE_VERIFY__INIT;
    Moreau__V1__EpisodeDelete gone = delete_call("x");
    Moreau__V1__EpisodePin pinned = MOREAU__V1__EPISODE_PIN__INIT;
    pinned.episode = (char *)"x";
    Moreau__V1__EpisodeBackup backup = MOREAU__V1__EPISODE_BACKUP__INIT;
    const void *calls[] = {&backup, &start,  &stop,   &all,  &describe,
                           &read,   &replay, &verify, &gone, &pinned};
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        const Moreau__V1__Reply *reply =
            wire_refuse(other, calls[i], CODE(FAILED_PRECONDITION), NULL);
        ck_assert_ptr_nonnull(strstr(reply->status->message, "--db"));
    }
    wire_close(other);
    server_stop(server);
}
END_TEST

static TCase *case_books(void) {
    TCase *tcase = tcase_create("books");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, a_recording_is_what_was_asked_for);
    tcase_add_test(tcase, the_names_of_bodies_are_told_when_asked_for);
    tcase_add_loop_test(tcase, a_damaged_start_has_no_names_and_says_so, 0, 2);
    tcase_add_test(tcase, a_world_says_whether_it_is_recorded);
    tcase_add_test(tcase, a_world_is_recorded_once_at_a_time_and_any_number_of_times);
    tcase_add_test(tcase, two_worlds_are_recorded_at_once);
    tcase_add_loop_test(tcase, an_episode_is_stopped_by_any_of_its_names, 0, 3);
    tcase_add_test(tcase, a_stop_by_id_keeps_its_place_among_the_calls_on_its_world);
    tcase_add_test(tcase, a_destroyed_world_closes_its_episode);
    tcase_add_test(tcase, episodes_outlive_the_server);
    tcase_add_test(tcase, a_list_is_filtered_and_paged_the_newest_first);
    tcase_add_test(tcase, a_list_is_cut_by_time);
    tcase_add_test(tcase, an_episode_begins_at_the_time_that_it_shows);
    tcase_add_test(tcase, a_name_that_two_episodes_have_names_none);
    tcase_add_test(tcase, a_deleted_episode_is_gone);
    tcase_add_test(tcase, what_is_being_recorded_is_not_deleted);
    tcase_add_test(tcase, a_pinned_episode_is_not_deleted);
    tcase_add_test(tcase, the_books_are_open_while_every_lane_is_busy);
    return tcase;
}

static TCase *case_refused(void) {
    TCase *tcase = tcase_create("refused");
    tcase_add_checked_fixture(tcase, open_depot, close_depot);
    tcase_add_test(tcase, bad_starts_are_refused_by_name);
    tcase_add_test(tcase, bad_stops_lists_and_names_are_refused_by_name);
    tcase_add_test(tcase, without_a_file_every_call_says_how_to_get_one);
    return tcase;
}

SUITE_MAIN("system/episodes", case_books, case_refused)
