// SPDX-License-Identifier: MIT
// Sessions that survive the network: libmoreau through connections that are cut at random bytes.
// What it sees, and what is recorded of it, is what an undisturbed run sees and records.
// MOREAU_RESUME_ROUNDS: how many runs, each with another seed (default 2).
#include "support/campaign.h"
#include "support/machine.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_proxy.h"

#include "base/hash.h"
#include "moreau.h"

#include <stdio.h>
#include <string.h>

enum { BODIES = 6, CALLS = 200, BATCH = 100, SECONDS_PER_ROUND = 60 };

// A run: one world, hundreds of calls, and what came of them.
typedef struct Run {
    MoreauClient *client;
    uint64_t world;
    uint64_t seed, drawn;
    uint64_t asked; // steps
    uint64_t seen;  // hash over the answers
    char episode[MOREAU_EPISODE_ID_BYTES];
} Run;

#define ASSERT_OK(run, call)                                                                       \
    ck_assert_msg((call) == MOREAU_OK, "%s", moreau_error((run)->client)->message)

static uint64_t round_count(void) {
    return (uint64_t)campaign_count(2);
}

static uint64_t draw(Run *run, uint64_t below) {
    uint64_t key[] = {run->seed, ++run->drawn};
    return hash_bytes(key, sizeof(key), 0) % below;
}

static void see(Run *run, const void *bytes, size_t count) {
    run->seen = hash_bytes(bytes, count, run->seen);
}

// A greeting that is cut opens no session: there is nothing to resume, and the caller tries again.
static MoreauClient *open_client(const char *address) {
    MoreauOptions options = moreau_options_default();
    options.client_name = "resume";
    options.reconnect =
        (MoreauReconnect){.attempts = 1000, .wait_ms = 1, .wait_ms_max = 8, .total_ms = 30000};
    MoreauClient *client = NULL;
    MoreauError error = {0};
    for (int i = 0; i < 1000 && client == NULL; i++) {
        moreau_connect(address, &options, &client, &error);
    }
    ck_assert_msg(client != NULL, "%s", error.message);
    return client;
}

// ---- the calls

static void begin_run(Run *run, const char *address, uint64_t seed) {
    *run = (Run){.client = open_client(address), .seed = seed};
    MoreauWorldDef def = moreau_world_def_default();
    ASSERT_OK(run, moreau_world_create(run->client, &def, &run->world));
    const uint32_t kinds[] = {MOREAU_PLANE, MOREAU_BOX};
    const double sizes[] = {0, 0, 0, 0.1, 0.1, 0.1};
    const MoreauShapes shapes = {.count = 2, .primitive_total = 2, .kind = kinds, .size = sizes};
    uint64_t shape[2];
    ASSERT_OK(run, moreau_world_add_shapes(run->client, run->world, &shapes, shape));
    double pose[7 * BODIES] = {0, 0, 0, 1, 0, 0, 0};
    uint64_t of_body[BODIES] = {shape[0]};
    uint32_t kind[BODIES] = {MOREAU_STATIC};
    for (size_t i = 1; i < BODIES; i++) {
        const double each[] = {0.03 * (double)i, 0.0, 0.3 * (double)i, 1, 0, 0, 0};
        memcpy(pose + 7 * i, each, sizeof(each));
        of_body[i] = shape[1];
    }
    const MoreauBodies bodies = {.count = BODIES, .pose = pose, .kind = kind, .shape = of_body};
    uint64_t ids[BODIES];
    ASSERT_OK(run, moreau_world_add_bodies(run->client, run->world, &bodies, ids));
    see(run, ids, sizeof(ids));
    MoreauRecord record = moreau_record_default();
    record.world = run->world;
    ASSERT_OK(run, moreau_record_start(run->client, &record, run->episode));
}

static void end_run(Run *run) {
    MoreauReply *reply;
    MoreauEpisode info;
    ASSERT_OK(run, moreau_record_stop(run->client, run->world, NULL, &reply, &info));
    ck_assert_uint_eq(info.steps, run->asked);
    moreau_reply_free(reply);
    uint64_t hash, step;
    ASSERT_OK(run, moreau_world_hash(run->client, 1, &run->world, &hash, &step));
    ck_assert_uint_eq(step, run->asked);
    see(run, &hash, sizeof(hash));
    moreau_disconnect(run->client);
}

static MoreauStep draw_step(Run *run) {
    MoreauStep step = moreau_step_default();
    step.worlds = &run->world;
    step.world_count = 1;
    step.steps = draw(run, 30) == 0 ? 100 : 1 + draw(run, 8);
    step.poses = draw(run, 2) == 0;
    step.hashes = true;
    run->asked += step.steps;
    return step;
}

static void see_step(Run *run, const MoreauReply *reply, const MoreauStep *asked) {
    MoreauStepResult result;
    ck_assert(moreau_reply_step(reply, &result));
    ck_assert_uint_eq(result.steps_done[0], asked->steps);
    ck_assert_int_eq(result.pose != NULL, asked->poses);
    see(run, &result.step[0], sizeof(result.step[0]));
    see(run, &result.hash[0], sizeof(result.hash[0]));
}

static void take_step(Run *run) {
    MoreauStep step = draw_step(run);
    MoreauReply *reply;
    MoreauStepResult result;
    ASSERT_OK(run, moreau_world_step(run->client, &step, &reply, &result));
    see_step(run, reply, &step);
    moreau_reply_free(reply);
}

static void set_velocity(Run *run) {
    uint64_t id = 2 + draw(run, BODIES - 1);
    const double kick[] = {0, 0, 0.01 * (double)draw(run, 300), 0, 0.01 * (double)draw(run, 300),
                           0};
    ASSERT_OK(run, moreau_world_set(run->client, run->world, NULL, 1, &id, NULL, kick));
}

static void add_body(Run *run) {
    const double pose[] = {
        0.1, 0.1 * (double)draw(run, 10), 2.0 + 0.1 * (double)draw(run, 10), 1, 0, 0, 0};
    const uint64_t shape = 2;
    const MoreauBodies body = {.count = 1, .pose = pose, .shape = &shape};
    uint64_t id;
    ASSERT_OK(run, moreau_world_add_bodies(run->client, run->world, &body, &id));
    see(run, &id, sizeof(id));
}

static void go_back(Run *run) {
    MoreauSnapshot snapshot;
    uint64_t hash, step;
    ASSERT_OK(run, moreau_snapshot_take(run->client, run->world, &snapshot));
    uint8_t bytes[1 << 16];
    ck_assert_uint_le(snapshot.bytes, sizeof(bytes));
    ASSERT_OK(run, moreau_snapshot_download(run->client, snapshot.id, bytes, snapshot.bytes));
    see(run, bytes, snapshot.bytes);
    ASSERT_OK(run, moreau_snapshot_restore(run->client, run->world, snapshot.id, &hash, &step));
    ck_assert_uint_eq(hash, snapshot.hash);
    ASSERT_OK(run, moreau_snapshot_drop(run->client, snapshot.id));
}

static void read_state(Run *run) {
    double pose[7 * BODIES];
    ASSERT_OK(run, moreau_world_read(run->client, run->world, 0, BODIES, pose, NULL));
    see(run, pose, sizeof(pose));
}

static void call_one_by_one(Run *run) {
    for (int i = 0; i < CALLS; i++) {
        uint64_t which = draw(run, 100);
        if (which < 70) {
            take_step(run);
        } else if (which < 85) {
            set_velocity(run);
        } else if (which < 88) {
            add_body(run);
        } else if (which < 90) {
            go_back(run);
        } else {
            read_state(run);
        }
    }
}

// ---- the same without waiting

static uint64_t submit(Run *run, const void *call) {
    Moreau__V1__Request request = wire_request(call);
    uint8_t bytes[512];
    ck_assert_uint_le(moreau__v1__request__get_packed_size(&request), sizeof(bytes));
    size_t count = moreau__v1__request__pack(&request, bytes);
    uint64_t id;
    ASSERT_OK(run, moreau_submit(run->client, bytes, count, &id));
    return id;
}

static uint64_t submit_set(Run *run) {
    uint64_t body = 2 + draw(run, BODIES - 1);
    double kick[] = {0, 0, 0.01 * (double)draw(run, 300), 0, 0, 0};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = run->world;
    set.n_ids = 1;
    set.ids = &body;
    set.n_velocity = 6;
    set.velocity = kick;
    return submit(run, &set);
}

// Reads in between see the state between.
static uint64_t submit_hash(Run *run) {
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = &run->world;
    return submit(run, &hash);
}

typedef struct Sent {
    uint64_t id;
    MoreauStep step; // of steps
} Sent;

static void see_hash(Run *run, const MoreauReply *reply) {
    size_t count;
    const void *bytes = moreau_reply_bytes(reply, &count);
    Moreau__V1__Reply *message = moreau__v1__reply__unpack(NULL, count, bytes);
    ck_assert_ptr_nonnull(message);
    if (message->result_case == MOREAU__V1__REPLY__RESULT_WORLD_HASH) {
        see(run, message->world_hash->hash, sizeof(uint64_t));
    }
    moreau__v1__reply__free_unpacked(message, NULL);
}

static void call_without_waiting(Run *run) {
    for (int batch = 0; batch < CALLS / BATCH; batch++) {
        Sent sent[BATCH] = {0};
        for (int i = 0; i < BATCH; i++) {
            uint64_t which = draw(run, 100);
            if (which < 70) {
                sent[i].step = draw_step(run);
                ASSERT_OK(run, moreau_submit_step(run->client, &sent[i].step, &sent[i].id));
            } else {
                sent[i].id = which < 85 ? submit_set(run) : submit_hash(run);
            }
        }
        for (int i = 0; i < BATCH; i++) {
            MoreauReply *reply;
            MoreauError error;
            ASSERT_OK(run, moreau_receive(run->client, -1, &reply));
            ck_assert_msg(moreau_reply_status(reply, &error) == MOREAU_OK, "%s", error.message);
            ck_assert_uint_eq(moreau_reply_id(reply), sent[i].id); // one world's come in order
            if (sent[i].step.steps > 0) {
                see_step(run, reply, &sent[i].step);
            } else {
                see_hash(run, reply);
            }
            moreau_reply_free(reply);
        }
        ck_assert_uint_eq(moreau_in_flight(run->client), 0);
    }
}

// ---- tests

static void run_calls(Run *run, const char *address, uint64_t seed, void (*calls)(Run *run)) {
    begin_run(run, address, seed);
    calls(run);
    end_run(run);
}

// In a greeting of some 8 KB a cut comes often; behind it there is way for some ten calls.
static unsigned compare_runs(const WireDepot *depot, uint64_t seed, void (*calls)(Run *run)) {
    const char *address = depot->server->address[0];
    Run calm, rough;
    run_calls(&calm, address, seed, calls);
    WireProxy *proxy = wire_proxy_start(&(WireProxyDef){
        .address = address, .seed = seed, .up_bytes_max = 2500, .down_bytes_max = 25000});
    run_calls(&rough, wire_proxy_address(proxy), seed, calls);
    unsigned cuts = wire_proxy_cuts(proxy);
    wire_proxy_stop(proxy);
    ck_assert_uint_eq(rough.asked, calm.asked);
    ck_assert_uint_eq(rough.seen, calm.seen);
    wire_expect_verified(depot->client, rough.episode, rough.asked);
    return cuts;
}

static void compare_rounds(void (*calls)(Run *run)) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    uint64_t rounds = round_count();
    unsigned cuts = 0;
    for (uint64_t seed = 1; seed <= rounds; seed++) {
        cuts += compare_runs(&depot, seed, calls);
    }
    ck_assert_uint_gt(cuts, 10 * rounds);
    wire_depot_stop(&depot);
    for (int64_t i = 0; i < (int64_t)rounds; i++) {
        uint64_t calm_count, rough_count;
        uint64_t calm = wire_depot_history(&depot, 2 * i + 1, &calm_count);
        ck_assert_uint_eq(wire_depot_history(&depot, 2 * i + 2, &rough_count), calm);
        ck_assert_uint_eq(rough_count, calm_count);
        ck_assert_uint_gt(calm_count, CALLS);
    }
    wire_depot_close(&depot);
}

START_TEST(a_run_through_cuts_equals_an_undisturbed_one) {
    compare_rounds(call_one_by_one);
}
END_TEST

START_TEST(a_pipelined_run_through_cuts_equals_an_undisturbed_one) {
    compare_rounds(call_without_waiting);
}
END_TEST

// ---- what does not come back

static void record_frames(MoreauClient *client, char episode[MOREAU_EPISODE_ID_BYTES]) {
    enum { STEPS = 20000 };
    Run run = {.client = client};
    MoreauWorldDef def = moreau_world_def_default();
    ASSERT_OK(&run, moreau_world_create(client, &def, &run.world));
    const double pose[] = {0, 0, 0, 1, 0, 0, 0}, mass[] = {1}, inertia[] = {1, 1, 1, 0, 0, 0};
    const MoreauBodies body = {.count = 1, .pose = pose, .mass = mass, .inertia = inertia};
    ASSERT_OK(&run, moreau_world_add_bodies(client, run.world, &body, NULL));
    MoreauRecord record = moreau_record_default();
    record.world = run.world;
    record.content = MOREAU_CONTENT_FRAMES;
    ASSERT_OK(&run, moreau_record_start(client, &record, episode));
    MoreauStep step = moreau_step_default();
    step.worlds = &run.world;
    step.world_count = 1;
    step.steps = STEPS;
    MoreauReply *reply;
    MoreauStepResult result;
    ASSERT_OK(&run, moreau_world_step(client, &step, &reply, &result));
    moreau_reply_free(reply);
    ASSERT_OK(&run, moreau_record_stop(client, run.world, NULL, NULL, NULL));
}

static bool count_event(void *context, const MoreauReply *event) {
    *(uint64_t *)context += moreau_reply_is_event(event);
    return true;
}

// Its events would come twice: the caller is told, and the connection is good for asking again.
START_TEST(a_stream_that_was_cut_ends_and_may_be_asked_for_again) {
    WireDepot depot;
    wire_depot_open(&depot, "--workers 2");
    char episode[MOREAU_EPISODE_ID_BYTES];
    MoreauClient *client = open_client(depot.server->address[0]);
    record_frames(client, episode);
    moreau_disconnect(client);
    WireProxy *proxy = wire_proxy_start(&(WireProxyDef){.address = depot.server->address[0],
                                                        .seed = 1,
                                                        .up_bytes_max = 5000,
                                                        .down_bytes_max = 1000000});
    Run run = {.client = open_client(wire_proxy_address(proxy))};
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    replay.episode = episode;
    replay.has_speed = 1; // as fast as can be
    replay.speed = 0.0;
    Moreau__V1__Request request = wire_request(&replay);
    uint8_t bytes[128];
    size_t count = moreau__v1__request__pack(&request, bytes);
    for (int i = 0; i < 10; i++) { // each has more bytes than go through
        uint64_t events = 0;
        MoreauReply *reply;
        MoreauStatus status =
            moreau_call_events(run.client, bytes, count, count_event, &events, &reply);
        ck_assert_int_eq(status, MOREAU_UNAVAILABLE);
        ck_assert_uint_gt(events, 0);
        ck_assert_ptr_nonnull(strstr(moreau_error(run.client)->message, "ask again"));
        moreau_reply_free(reply);
        uint64_t echo;
        ASSERT_OK(&run, moreau_ping(run.client, 42, &echo));
        ck_assert_uint_eq(echo, 42);
    }
    moreau_disconnect(run.client);
    wire_proxy_stop(proxy);
    wire_depot_close(&depot);
}
END_TEST

static void ping_until_it_fails(MoreauClient *client) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (moreau_ping(client, 1, NULL) == MOREAU_OK) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
    }
    ck_assert_int_eq(moreau_error(client)->status, MOREAU_UNAVAILABLE);
    ck_assert(!moreau_is_connected(client));
    char message[512];
    snprintf(message, sizeof(message), "%s", moreau_error(client)->message);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), MOREAU_UNAVAILABLE); // for good
    ck_assert_str_eq(moreau_error(client)->message, message);
}

START_TEST(a_session_that_is_gone_is_said_so) {
    ServerProcess *server = server_start("--workers 1 --session-grace-ms 0");
    // both sides are closed at least sometimes, and then the session is gone before the resume
    WireProxy *proxy = wire_proxy_start(&(WireProxyDef){
        .address = server->address[0], .seed = 1, .up_bytes_max = 500, .down_bytes_max = 50000});
    MoreauClient *client = open_client(wire_proxy_address(proxy));
    ping_until_it_fails(client);
    ck_assert_ptr_nonnull(strstr(moreau_error(client)->message, "No such session"));
    moreau_disconnect(client);
    wire_proxy_stop(proxy);
    server_stop(server);
}
END_TEST

START_TEST(a_server_that_is_gone_is_given_up) {
    ServerProcess *server = server_start("--workers 1");
    MoreauOptions options = moreau_options_default();
    options.reconnect =
        (MoreauReconnect){.attempts = 3, .wait_ms = 1, .wait_ms_max = 8, .total_ms = 30000};
    MoreauClient *client;
    ck_assert_int_eq(moreau_connect(server->address[0], &options, &client, NULL), MOREAU_OK);
    server_stop(server);
    ping_until_it_fails(client);
    ck_assert_ptr_nonnull(strstr(moreau_error(client)->message, "3 attempts"));
    moreau_disconnect(client);
}
END_TEST

START_TEST(who_does_not_ask_for_it_is_not_reconnected) {
    ServerProcess *server = server_start("--workers 1");
    WireProxy *proxy = wire_proxy_start(&(WireProxyDef){
        .address = server->address[0], .seed = 3, .up_bytes_max = 500, .down_bytes_max = 50000});
    MoreauClient *client = NULL;
    while (client == NULL) {
        moreau_connect(wire_proxy_address(proxy), NULL, &client, NULL);
    }
    unsigned cuts = wire_proxy_cuts(proxy);
    ping_until_it_fails(client);
    ck_assert_uint_eq(wire_proxy_cuts(proxy), cuts + 1);
    moreau_disconnect(client);
    wire_proxy_stop(proxy);
    server_stop(server);
}
END_TEST

static TCase *case_ends(void) {
    TCase *tcase = tcase_create("ends");
    tcase_set_timeout(tcase, SECONDS_PER_ROUND);
    tcase_add_test(tcase, a_stream_that_was_cut_ends_and_may_be_asked_for_again);
    tcase_add_test(tcase, a_session_that_is_gone_is_said_so);
    tcase_add_test(tcase, a_server_that_is_gone_is_given_up);
    tcase_add_test(tcase, who_does_not_ask_for_it_is_not_reconnected);
    return tcase;
}

static TCase *case_cuts(void) {
    TCase *tcase = tcase_create("cuts");
    tcase_set_timeout(tcase, (double)(SECONDS_PER_ROUND * round_count()));
    tcase_add_test(tcase, a_run_through_cuts_equals_an_undisturbed_one);
    tcase_add_test(tcase, a_pipelined_run_through_cuts_equals_an_undisturbed_one);
    return tcase;
}

SUITE_MAIN("system/resume", case_cuts, case_ends)
