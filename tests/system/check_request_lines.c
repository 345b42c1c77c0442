// SPDX-License-Identifier: MIT
// The lines that requests leave in the server's log.
#include "support/machine.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <stdio.h>
#include <string.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

// Waits until the log holds `text`; the log, which the caller frees.
static char *wait_for_line(const ServerProcess *server, const char *text) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (;;) {
        char *log = server_read(server, "log");
        if (strstr(log, text) != NULL) {
            return log;
        }
        ck_assert_msg(server_now_ms() < give_up_ms, "no line of the log has '%s':\n%s", text, log);
        free(log);
        server_sleep_ms(5);
    }
}

static size_t count_of(const char *log, const char *text) {
    size_t count = 0;
    for (; (log = strstr(log, text)) != NULL; log++) {
        count++;
    }
    return count;
}

START_TEST(a_failure_leaves_a_line_with_its_ids_and_a_success_none) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    wire_step(client, world, 3);
    Moreau__V1__WorldStep step = wire_step_call(&world, 0); // refused on the loop
    Moreau__V1__Request request = wire_request(&step);
    request.has_id = 1;
    request.id = 4711;
    wire_submit_request(client, &request);
    wire_expect(wire_receive(client), CODE(INVALID_ARGUMENT), "steps");
    char *log = wait_for_line(server, "request=4711 ");
    ck_assert_ptr_nonnull(strstr(log, " info request connection=1 session=1 request=4711 "
                                      "call=WorldStep status=INVALID_ARGUMENT duration_us="));
    ck_assert_uint_eq(count_of(log, " call="), 1);
    free(log);

    // refused on a lane, and then the loop sleeps: the line must wake it
    uint64_t shape = 12345;
    double pose[7] = {[3] = 1};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7, add.pose = pose;
    add.n_shape = 1, add.shape = &shape;
    wire_refuse(client, &add, CODE(NOT_FOUND), NULL);
    free(wait_for_line(server, "call=WorldAddBodies status=NOT_FOUND"));
    // the loop may have been awake by chance, so several times
    Moreau__V1__Problem problem = MOREAU__V1__PROBLEM__INIT; // of a world that was never stepped
    problem.has_world = 1;
    problem.world = wire_small_world(client);
    for (uint64_t id = 5000; id < 5010; id++) {
        char line[32];
        request = wire_request(&problem);
        request.has_id = 1;
        request.id = id;
        wire_submit_request(client, &request);
        wire_expect(wire_receive(client), CODE(FAILED_PRECONDITION), NULL);
        snprintf(line, sizeof(line), "request=%d call=Problem", (int)id);
        free(wait_for_line(server, line));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

// So light that a push of 1e18 N for ten seconds makes it 1e37 m/s fast, and again 2e37 …: what is
// beyond the floats is refused.
static uint64_t add_feather(WireClient *client, uint64_t world) {
    double pose[7] = {0.0, 0.0, 100.0, 1.0, 0.0, 0.0, 0.0};
    double mass = 1e-18, inertia[6] = {1e-18, 1e-18, 1e-18, 0.0, 0.0, 0.0};
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    add.has_world = 1, add.world = world;
    add.n_pose = 7, add.pose = pose;
    add.n_mass = 1, add.mass = &mass;
    add.n_inertia = 6, add.inertia = inertia;
    return wire_accept(client, &add)->world_add->ids[0];
}

static const uint64_t feather = 5; // its id in each world

// Pushes the feather of each until a step would not be finite, which is returned.
static uint64_t fault_worlds(WireClient *client, uint64_t *worlds, size_t count, uint64_t id) {
    enum { COUNT_MAX = 256 };
    uint64_t body[COUNT_MAX];
    uint32_t wrench_count[COUNT_MAX];
    double wrench[6 * COUNT_MAX] = {0};
    ck_assert_uint_le(count, COUNT_MAX);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(add_feather(client, worlds[i]), feather);
        body[i] = feather;
        wrench_count[i] = 1;
        wrench[6 * i] = 1e18;
    }
    Moreau__V1__WorldStep step = wire_step_call(worlds, 10);
    step.n_worlds = step.n_wrench_count = step.n_wrench_body = count;
    step.wrench_count = wrench_count;
    step.wrench_body = body;
    step.n_wrench = 6 * count, step.wrench = wrench;
    step.has_time_step = 1, step.time_step = 10;
    Moreau__V1__Request request = wire_request(&step);
    request.has_id = 1, request.id = id;
    wire_submit_request(client, &request);
    const Moreau__V1__Reply *reply = wire_receive(client);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->world_step->n_failures, count);
    return reply->world_step->failures[0]->step + 1;
}

// The call is OK, as the others of its worlds may be.
START_TEST(a_world_that_faults_leaves_a_line) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    uint64_t worlds[3];
    for (size_t i = 0; i < 3; i++) {
        worlds[i] = wire_small_world(client);
    }
    uint64_t step =
        fault_worlds(client, worlds, 1, 4711); // a single world is stepped in a way of its own
    ck_assert_uint_eq(fault_worlds(client, worlds + 1, 2, 4712), step);
    for (size_t i = 0; i < 3; i++) {
        char line[160];
        snprintf(line, sizeof(line),
                 " warn world_faulted world=%llu step=%llu body=5 quantity=\"pose\" session=1 "
                 "request=%d\n",
                 (unsigned long long)worlds[i], (unsigned long long)step, i == 0 ? 4711 : 4712);
        free(wait_for_line(server, line));
    }
    // what is refused because of it is no second fault
    Moreau__V1__WorldStep again = wire_step_call(worlds, 1);
    again.n_worlds = 3;
    wire_accept(client, &again);
    wire_ping(client);
    char *log = server_read(server, "log");
    ck_assert_uint_eq(count_of(log, " world_faulted "), 3);
    free(log);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_batch_that_faults_is_no_flood_of_lines) {
    enum { WORLDS = 250, PER_SECOND = 100 };
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    uint64_t worlds[WORLDS];
    for (size_t i = 0; i < WORLDS; i++) {
        worlds[i] = wire_small_world(client);
    }
    double begun_ms = server_now_ms();
    fault_worlds(client, worlds, WORLDS, 4711);
    wire_ping(client);
    // seconds begun, one of them perhaps before the batch
    size_t lines_max = PER_SECOND * (2 + (size_t)((server_now_ms() - begun_ms) / 1000.0));
    free(wait_for_line(server, " world_faulted "));
    char *log = server_read(server, "log");
    ck_assert_uint_le(count_of(log, " world_faulted "), lines_max);
    free(log);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(at_level_debug_every_request_leaves_a_line) {
    ServerProcess *server = server_start("--workers 1 --log-level debug");
    WireClient *client = wire_open(server->address[0]);
    wire_ping(client);
    wire_close(client);
    char *log = wait_for_line(server, "call=Ping status=OK");
    ck_assert_ptr_nonnull(strstr(log, "call=Hello status=OK"));
    free(log);
    server_stop(server);
}
END_TEST

// A hundred lines a second, then a count.
START_TEST(a_flood_of_failures_is_no_flood_of_lines) {
    enum { FAILURES = 3000, PER_SECOND = 100 };
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__WorldGet nobody = MOREAU__V1__WORLD_GET__INIT;
    nobody.has_world = 1, nobody.world = 4711;
    double begun_ms = server_now_ms();
    for (int i = 0; i < FAILURES; i++) {
        wire_refuse(client, &nobody, CODE(NOT_FOUND), NULL);
    }
    // seconds begun, one of them perhaps before the flood
    size_t lines_max = PER_SECOND * (2 + (size_t)((server_now_ms() - begun_ms) / 1000.0));
    char *log = server_read(server, "log");
    size_t lines = count_of(log, " call=");
    ck_assert_uint_ge(lines, PER_SECOND);
    ck_assert_uint_le(lines, lines_max);
    free(log);
    if (lines_max < FAILURES) {
        server_sleep_ms(1000);
        wire_refuse(client, &nobody, CODE(NOT_FOUND), NULL);
        free(wait_for_line(server, " warn requests_unlogged count="));
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_lines(void) {
    TCase *tcase = tcase_create("lines");
    tcase_add_test(tcase, a_failure_leaves_a_line_with_its_ids_and_a_success_none);
    tcase_add_test(tcase, at_level_debug_every_request_leaves_a_line);
    tcase_add_test(tcase, a_world_that_faults_leaves_a_line);
    tcase_add_test(tcase, a_batch_that_faults_is_no_flood_of_lines);
    tcase_add_test(tcase, a_flood_of_failures_is_no_flood_of_lines);
    return tcase;
}

SUITE_MAIN("system/request_lines", case_lines)
