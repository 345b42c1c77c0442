// SPDX-License-Identifier: MIT
// What a resumable session keeps of its requests, seen on the wire: repeated ones get the reply
// they had, wait for the one they will have, or are refused; none is done twice.
#include "support/machine.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define BILLION    UINT64_C(1000000000)

static ServerProcess *server;
static char session[64];

static Moreau__V1__Reply *greet(WireClient *client, const char *resume, bool resumable) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.resume = (char *)(uintptr_t)resume;
    hello.has_resumable = 1;
    hello.resumable = resumable;
    Moreau__V1__Request request = wire_request(&hello);
    request.has_id = 1; // a greeting's id is not counted
    wire_submit_request(client, &request);
    return wire_receive(client);
}

static WireClient *begin(const char *options) {
    server = server_start(options);
    WireClient *client = wire_connect(server->address[0]);
    const Moreau__V1__Reply *reply = greet(client, NULL, true);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->welcome->last_id, 0);
    snprintf(session, sizeof(session), "%s", reply->welcome->session);
    return client;
}

static void end(WireClient *client) {
    wire_close(client);
    server_stop(server);
}

static WireClient *resume(uint64_t last_id) {
    WireClient *client = wire_connect(server->address[0]);
    const Moreau__V1__Reply *reply = greet(client, session, true);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_str_eq(reply->welcome->session, session);
    ck_assert_uint_eq(reply->welcome->last_id, last_id);
    return client;
}

static void submit_as(WireClient *client, uint64_t id, const void *call) {
    Moreau__V1__Request request = wire_request(call);
    request.has_id = 1;
    request.id = id;
    wire_submit_request(client, &request);
}

static Moreau__V1__Reply *call_as(WireClient *client, uint64_t id, const void *call) {
    submit_as(client, id, call);
    Moreau__V1__Reply *reply = wire_receive(client);
    ck_assert_ptr_nonnull(reply);
    ck_assert_uint_eq(reply->id, id);
    return reply;
}

static uint64_t step_of(WireClient *client, uint64_t id, uint64_t *world) {
    Moreau__V1__WorldHash hash = MOREAU__V1__WORLD_HASH__INIT;
    hash.n_worlds = 1;
    hash.worlds = world;
    const Moreau__V1__Reply *reply = call_as(client, id, &hash);
    wire_expect(reply, CODE(OK), NULL);
    return reply->world_hash->step[0];
}

// ---- repeats

START_TEST(what_was_done_is_answered_again_and_not_done_again) {
    WireClient *client = begin("--workers 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 5);
    const Moreau__V1__Reply *first = call_as(client, 100, &step);
    wire_expect(first, CODE(OK), NULL);
    uint64_t server_ns = first->server_ns;
    wire_close(client);

    for (int i = 0; i < 3; i++) { // as often as the connection breaks
        client = resume(100);
        for (int k = 0; k < 2; k++) {
            const Moreau__V1__Reply *again = call_as(client, 100, &step);
            wire_expect(again, CODE(OK), NULL);
            ck_assert_uint_eq(again->server_ns, server_ns); // the very same
            ck_assert_uint_eq(again->world_step->step[0], 5);
        }
        wire_close(client);
    }
    client = resume(100);
    wire_expect(call_as(client, 101, &step), CODE(OK), NULL); // never received
    ck_assert_uint_eq(step_of(client, 102, &world), 10);
    end(client);
}
END_TEST

START_TEST(failures_are_answered_again_too) {
    WireClient *client = begin("--workers 1");
    uint64_t world = 77;
    Moreau__V1__WorldStep step = wire_step_call(&world, 5), none = wire_step_call(&world, 0);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    for (int time = 0; time < 2; time++) {
        wire_expect(call_as(client, 1, &get), CODE(NOT_FOUND), NULL);
        wire_expect(call_as(client, 2, &none), CODE(INVALID_ARGUMENT), "steps");
        const Moreau__V1__Reply *reply = call_as(client, 3, &step);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_int_eq(reply->world_step->failures[0]->code, CODE(NOT_FOUND));
        if (time == 0) {
            wire_close(client);
            client = resume(3);
        }
    }
    end(client);
}
END_TEST

// It is received when it is unpacked: before, it is as if it had never come.
START_TEST(a_long_request_whose_connection_breaks_is_done_once) {
    enum { BODIES = 30000 };
    WireClient *client = begin("--workers 1");
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    uint64_t world = call_as(client, 1, &create)->world_create->world;
    double *pose = calloc(7 * (size_t)BODIES, sizeof(*pose));
    for (size_t i = 0; i < BODIES; i++) {
        pose[7 * i + 3] = 1;
    }
    Moreau__V1__Body__Kind *kind = calloc(BODIES, sizeof(*kind));
    for (size_t i = 0; i < BODIES; i++) {
        kind[i] = MOREAU__V1__BODY__KIND__STATIC;
    }
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7 * (size_t)BODIES, add.pose = pose;
    add.n_kind = BODIES, add.kind = kind;
    for (unsigned i = 0; i < 16; i++) {
        uint64_t id = 2 + 2 * i;
        submit_as(client, id, &add);
        server_sleep_ms(i); // before it is unpacked, meanwhile, afterwards
        wire_close(client);
        client = wire_connect(server->address[0]);
        const Moreau__V1__Reply *reply = greet(client, session, true);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_ge(reply->welcome->last_id, id - 1);
        reply = call_as(client, id, &add);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->world_add->n_ids, BODIES);
        Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
        get.has_world = get.has_count = 1, get.world = world;
        ck_assert_uint_eq(call_as(client, id + 1, &get)->world_get->total,
                          (i + 1) * (uint64_t)BODIES);
    }
    free(kind);
    free(pose);
    end(client);
}
END_TEST

// The repeated read is answered as it was, not with the state after the step behind it.
START_TEST(a_read_between_two_steps_stays_between_them) {
    WireClient *client = begin("--workers 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 5);
    wire_expect(call_as(client, 100, &step), CODE(OK), NULL);
    ck_assert_uint_eq(step_of(client, 101, &world), 5);
    wire_expect(call_as(client, 102, &step), CODE(OK), NULL);
    wire_close(client);
    client = resume(102);
    ck_assert_uint_eq(step_of(client, 101, &world), 5);
    ck_assert_uint_eq(step_of(client, 103, &world), 10);
    end(client);
}
END_TEST

START_TEST(what_is_under_way_goes_on_and_is_answered_once) {
    WireClient *client = begin("--workers 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION), one = wire_step_call(&world, 1);
    submit_as(client, 100, &step);
    server_sleep_ms(20);
    wire_close(client);

    client = resume(100);
    submit_as(client, 100, &step);
    ck_assert(!wire_waits(client, 100)); // it goes on
    wire_expect(call_as(client, 100, &step), CODE(ALREADY_EXISTS), "id");
    wire_close(client); // and again, with the repeat waiting

    client = resume(100);
    submit_as(client, 100, &step);
    submit_as(client, 101, &one);
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = 100;
    const Moreau__V1__Reply *cancelled = call_as(client, 102, &cancel);
    ck_assert(cancelled->cancel->found);
    const Moreau__V1__Reply *reply = wire_receive(client);
    wire_expect(reply, CODE(CANCELLED), NULL);
    ck_assert_uint_eq(reply->id, 100);
    uint64_t done = reply->world_step->steps_done[0];
    ck_assert(done > 0 && done < BILLION);
    ck_assert_uint_eq(wire_receive(client)->id, 101);
    ck_assert_uint_eq(step_of(client, 103, &world), done + 1);
    end(client);
}
END_TEST

START_TEST(another_request_under_an_old_id_is_refused) {
    WireClient *client = begin("--workers 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 5), other = wire_step_call(&world, 6);
    wire_expect(call_as(client, 100, &step), CODE(OK), NULL);
    wire_close(client);
    client = resume(100);
    wire_expect(call_as(client, 100, &other), CODE(ALREADY_EXISTS), "id");
    ck_assert_uint_eq(step_of(client, 101, &world), 5);
    end(client);
}
END_TEST

START_TEST(ids_rise) {
    WireClient *client = begin("--workers 1");
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    wire_expect(call_as(client, 5, &ping), CODE(OK), NULL);
    wire_expect(call_as(client, 5, &ping), CODE(INVALID_ARGUMENT), "id");
    wire_expect(call_as(client, 4, &ping), CODE(INVALID_ARGUMENT), "id");
    wire_expect(call_as(client, 9, &ping), CODE(OK), NULL);
    wire_close(client);
    client = resume(9);
    wire_expect(call_as(client, 5, &ping), CODE(OK), NULL); // it changes nothing
    wire_expect(call_as(client, 10, &ping), CODE(OK), NULL);
    wire_expect(call_as(client, 10, &ping), CODE(INVALID_ARGUMENT), "id");
    end(client);
}
END_TEST

// ---- connections

START_TEST(a_resume_takes_over_from_a_connection_that_is_still_open) {
    WireClient *old = begin("--workers 1");
    uint64_t world = wire_small_world(old);
    Moreau__V1__WorldStep step = wire_step_call(&world, 10000);
    step.has_reports = 1; // a short reply
    submit_as(old, 100, &step);
    server_sleep_ms(20);
    WireClient *client = resume(100);
    const Moreau__V1__Reply *reply = call_as(client, 100, &step);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->world_step->step[0], 10000);
    wire_expect_end(old);
    wire_close(old);
    end(client);
}
END_TEST

START_TEST(only_the_sessions_own_token_resumes_it) {
    WireClient *client = begin("--workers 1");
    wire_close(client);
    client = wire_connect(server->address[0]);
    session[0] = session[0] == '0' ? '1' : '0';
    wire_expect(greet(client, session, true), CODE(NOT_FOUND), "resume");
    end(client);
}
END_TEST

// Work of a client that does not come back goes on for the grace time, and no longer.
START_TEST(after_the_grace_time_the_session_is_gone_and_its_work_stopped) {
    WireClient *client = begin("--workers 1 --session-grace-ms 200");
    WireWorld world = wire_world(client, 2, 1, MOREAU__V1__WORLD__LIFETIME__SERVER);
    Moreau__V1__WorldStep step = wire_step_call(&world.id, BILLION);
    submit_as(client, 100, &step);
    server_sleep_ms(20);
    wire_close(client);
    WireClient *witness = wire_open(server->address[0]);
    wire_step(witness, world.id, 1); // waits for the billion to stop
    uint64_t steps = wire_step_count(witness, world.id);
    ck_assert(steps > 1 && steps < BILLION);
    wire_close(witness);
    client = wire_connect(server->address[0]);
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (greet(client, session, true)->status->code == CODE(OK)) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        wire_close(client);
        server_sleep_ms(300);
        client = wire_connect(server->address[0]);
    }
    end(client);
}
END_TEST

// A record is counted when its request is settled, a moment behind the reply; and the session's
// timer is the server's.
static void await_kept_bytes(WireClient *witness, bool some) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while ((wire_stats(witness, false)->kept_bytes > 0) != some) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        server_sleep_ms(5);
    }
}

START_TEST(stats_tell_how_much_is_kept) {
    WireClient *client = begin("--workers 1 --session-grace-ms 100");
    WireClient *witness = wire_open(server->address[0]); // it is not resumable
    uint64_t world = wire_small_world(witness);
    ck_assert_uint_eq(wire_stats(witness, false)->kept_bytes, 0);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    wire_expect(call_as(client, 100, &step), CODE(OK), NULL);
    await_kept_bytes(witness, true);
    wire_close(client);
    await_kept_bytes(witness, false);
    end(witness);
}
END_TEST

START_TEST(who_says_no_more_that_he_is_resumable_has_nothing_to_repeat) {
    WireClient *client = begin("--workers 1");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 5), many = wire_step_call(&world, BILLION);
    wire_expect(call_as(client, 100, &step), CODE(OK), NULL);
    submit_as(client, 101, &many);
    server_sleep_ms(20);
    wire_close(client);
    client = wire_connect(server->address[0]);
    wire_expect(greet(client, session, false), CODE(OK), NULL);
    const Moreau__V1__Reply *reply = call_as(client, 100, &step); // once the billion has stopped
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_gt(reply->world_step->step[0], 10);
    end(client);
}
END_TEST

// ---- limits

START_TEST(a_reply_too_long_to_keep_is_missed_and_nothing_done_again) {
    WireClient *client = begin("--workers 1 --kept-bytes-max 200");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 5);
    step.has_poses = step.poses = 1; // some 300 bytes
    wire_expect(call_as(client, 100, &step), CODE(OK), NULL);
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = get.has_bodies = get.bodies = 1;
    get.world = world;
    wire_expect(call_as(client, 101, &get), CODE(OK), NULL);
    wire_close(client);
    client = resume(101);
    wire_expect(call_as(client, 100, &step), CODE(DATA_LOSS), "id");
    const Moreau__V1__Reply *reply = call_as(client, 101, &get); // reads are done again
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->world_get->step, 5);
    end(client);
}
END_TEST

// The bytes of reads go first, then those of the oldest changes.
START_TEST(the_oldest_replies_make_room) {
    enum { CALLS = 20 };
    WireClient *client = begin("--workers 1 --kept-bytes-max 1000");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    for (uint64_t i = 0; i < CALLS; i++) {
        wire_expect(call_as(client, 100 + i, &step), CODE(OK), NULL);
    }
    wire_close(client);
    client = resume(100 + CALLS - 1);
    wire_expect(call_as(client, 100, &step), CODE(DATA_LOSS), "id");
    wire_expect(call_as(client, 100 + CALLS - 1, &step), CODE(OK), NULL);
    ck_assert_uint_eq(step_of(client, 100 + CALLS, &world), CALLS);
    end(client);
}
END_TEST

START_TEST(beyond_the_window_a_change_is_refused_and_not_done_again) {
    enum { REQUESTS_MAX = 2, CALLS = 2 * REQUESTS_MAX + 1 };
    WireClient *client = begin("--workers 1 --requests-max 2");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    for (uint64_t i = 0; i < CALLS; i++) {
        wire_expect(call_as(client, 100 + i, &step), CODE(OK), NULL);
    }
    wire_close(client);
    client = resume(100 + CALLS - 1);
    wire_expect(call_as(client, 100, &step), CODE(DATA_LOSS), "id");
    for (uint64_t i = 1; i < CALLS; i++) {
        wire_expect(call_as(client, 100 + i, &step), CODE(OK), NULL);
    }
    ck_assert_uint_eq(step_of(client, 200, &world), CALLS);
    end(client);
}
END_TEST

// A client that comes back again and again with new work does not pile it up.
START_TEST(work_under_way_is_limited_over_all_connections) {
    enum { REQUESTS_MAX = 2 };
    WireClient *client = begin("--workers 1 --requests-max 2 --drain-timeout-ms 100");
    uint64_t world = wire_small_world(client), id = 100;
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < REQUESTS_MAX; k++) {
            submit_as(client, id++, &step);
        }
        server_sleep_ms(50);
        wire_close(client);
        client = resume(id - 1);
    }
    wire_expect(call_as(client, id, &step), CODE(RESOURCE_EXHAUSTED), NULL);
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    wire_expect(call_as(client, id, &ping), CODE(OK), NULL); // as a Cancel would be
    kill(server->pid, SIGTERM);                              // stops what nobody waits for
    wire_close(client);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    server_free(server);
}
END_TEST

// Nobody will come for it: the server does not wait for the billion.
START_TEST(a_drain_does_not_wait_for_work_of_clients_that_are_away) {
    WireClient *client = begin("--workers 1 --drain-timeout-ms 1000000");
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    submit_as(client, 100, &step);
    server_sleep_ms(20);
    wire_close(client);
    server_sleep_ms(20);
    server_stop(server);
}
END_TEST

static TCase *case_repeats(void) {
    TCase *tcase = tcase_create("repeats");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, what_was_done_is_answered_again_and_not_done_again);
    tcase_add_test(tcase, failures_are_answered_again_too);
    tcase_add_test(tcase, a_long_request_whose_connection_breaks_is_done_once);
    tcase_add_test(tcase, a_read_between_two_steps_stays_between_them);
    tcase_add_test(tcase, what_is_under_way_goes_on_and_is_answered_once);
    tcase_add_test(tcase, another_request_under_an_old_id_is_refused);
    tcase_add_test(tcase, ids_rise);
    return tcase;
}

static TCase *case_connections(void) {
    TCase *tcase = tcase_create("connections");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_resume_takes_over_from_a_connection_that_is_still_open);
    tcase_add_test(tcase, only_the_sessions_own_token_resumes_it);
    tcase_add_test(tcase, after_the_grace_time_the_session_is_gone_and_its_work_stopped);
    tcase_add_test(tcase, a_drain_does_not_wait_for_work_of_clients_that_are_away);
    tcase_add_test(tcase, stats_tell_how_much_is_kept);
    tcase_add_test(tcase, who_says_no_more_that_he_is_resumable_has_nothing_to_repeat);
    return tcase;
}

static TCase *case_limits(void) {
    TCase *tcase = tcase_create("limits");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_reply_too_long_to_keep_is_missed_and_nothing_done_again);
    tcase_add_test(tcase, the_oldest_replies_make_room);
    tcase_add_test(tcase, beyond_the_window_a_change_is_refused_and_not_done_again);
    tcase_add_test(tcase, work_under_way_is_limited_over_all_connections);
    return tcase;
}

SUITE_MAIN("system/kept", case_repeats, case_connections, case_limits)
