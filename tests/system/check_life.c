// SPDX-License-Identifier: MIT
// The lives of a server, its sessions and its worlds: start and addresses, grace and resume, idle
// worlds, signals, draining, and memory that comes back.
#include "support/machine.h"
#include "support/net_client.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_group.h"
#include "support/wire_world.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define BILLION    UINT64_C(1000000000)

static Moreau__V1__Hello hello_of(const char *resume) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.resume = (char *)(uintptr_t)resume;
    return hello;
}

static void wait_for_worlds(WireClient *client, uint64_t count) {
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (uint64_t now; (now = wire_stats(client, false)->world_count) != count;) {
        ck_assert_msg(server_now_ms() < give_up_ms, "there are %llu worlds, not %llu",
                      (unsigned long long)now, (unsigned long long)count);
        server_sleep_ms(10);
    }
}

// ---- sessions

START_TEST(worlds_of_a_session_vanish_after_the_grace_time_those_of_the_server_stay) {
    ServerProcess *server = server_start("--workers 1 --session-grace-ms 300");
    WireClient *witness = wire_open(server->address[0]), *client = wire_open(server->address[0]);
    wire_small_world(client);
    WireWorld kept = wire_world(client, 2, 1, MOREAU__V1__WORLD__LIFETIME__SERVER);
    wire_close(client);
    ck_assert_uint_eq(wire_stats(witness, false)->world_count, 2);
    double begun_ms = server_now_ms();
    wait_for_worlds(witness, 1);
    ck_assert_double_ge(server_now_ms() - begun_ms, 200); // begun a little after the close
    wire_step(witness, kept.id, 1);
    wire_close(witness);
    server_stop(server);
}
END_TEST

START_TEST(a_session_that_is_resumed_in_time_keeps_its_worlds) {
    ServerProcess *server = server_start("--workers 1 --session-grace-ms 500");
    WireClient *witness = wire_open(server->address[0]), *client = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = hello_of(NULL);
    char session[64];
    snprintf(session, sizeof(session), "%s", wire_accept(client, &hello)->welcome->session);
    uint64_t world = wire_small_world(client);
    wire_step(client, world, 5);
    uint64_t hash = wire_hash(client, world);
    wire_close(client);

    client = wire_connect(server->address[0]);
    hello = hello_of(session);
    ck_assert_str_eq(wire_accept(client, &hello)->welcome->session, session);
    server_sleep_ms(800); // longer than the grace time: it has stopped
    ck_assert_uint_eq(wire_hash(client, world), hash);
    wire_step(client, world, 1);
    wire_close(client);

    wait_for_worlds(witness, 0);
    client = wire_connect(server->address[0]);
    wire_refuse(client, &hello, CODE(NOT_FOUND), "resume");
    hello = hello_of(NULL); // and may then begin anew, on the same connection
    wire_accept(client, &hello);
    wire_close(client);
    wire_close(witness);
    server_stop(server);
}
END_TEST

// The old connection is still open, as after a cable was pulled: it is cut, and what it had under
// way stops, as nobody would read the answer.
START_TEST(a_resume_cuts_the_old_connection_and_its_work) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *old = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = hello_of(NULL);
    hello = hello_of(wire_accept(old, &hello)->welcome->session);
    uint64_t world = wire_small_world(old);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    wire_submit(old, &step);
    server_sleep_ms(50);
    WireClient *client = wire_connect(server->address[0]);
    wire_accept(client, &hello);
    wire_step(client, world, 1); // waits for the billion, if they went on
    while (wire_receive(old) != NULL) {
    }
    wire_close(old);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_world_that_nobody_names_goes_after_its_idle_time) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.has_lifetime = create.has_idle_timeout_s = 1;
    create.lifetime = MOREAU__V1__WORLD__LIFETIME__SERVER;
    create.idle_timeout_s = 0.5;
    wire_refuse(client, &create, CODE(INVALID_ARGUMENT), "idle_timeout_s");
    create.idle_timeout_s = 1;
    uint64_t world = wire_accept(client, &create)->world_create->world;
    create.has_idle_timeout_s = 0;
    wire_accept(client, &create);
    for (int i = 0; i < 8; i++) { // two seconds of use
        server_sleep_ms(250);
        wire_step(client, world, 1);
    }
    wait_for_worlds(client, 1);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    wire_fail(client, &step, CODE(NOT_FOUND), NULL);
    wire_close(client);
    server_stop(server);
}
END_TEST

static uint64_t count_groups(WireClient *client) {
    Moreau__V1__GroupList list = MOREAU__V1__GROUP_LIST__INIT;
    return wire_accept(client, &list)->group_list->total;
}

START_TEST(a_group_that_nobody_names_goes_after_its_idle_time) {
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__GroupCreate *create = wire_group_create_call(2);
    create->has_idle_timeout_s = 1, create->idle_timeout_s = 0.5;
    wire_refuse(client, create, CODE(INVALID_ARGUMENT), "idle_timeout_s");
    create->idle_timeout_s = 1;
    const uint64_t group = wire_accept(client, create)->group_create->group;
    create->has_idle_timeout_s = 0;
    wire_accept(client, create);
    for (int i = 0; i < 8; i++) { // two seconds of use
        server_sleep_ms(250);
        wire_group_reset(client, group);
    }
    while (count_groups(client) > 1) { // until the test's own time is over
        server_sleep_ms(50);
    }
    const Moreau__V1__GroupReset reset = wire_group_reset_call(group);
    wire_refuse(client, &reset, CODE(NOT_FOUND), "group");
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- signals

static const int end_signals[] = {SIGTERM, SIGINT};

START_TEST(a_signal_ends_an_idle_server_with_status_0) {
    ServerProcess *server = server_start("--listen 127.0.0.1:0 --listen unix:@/socket");
    WireClient *client = wire_open(server->address[0]);
    wire_small_world(client);
    kill(server->pid, end_signals[_i]);
    wire_expect_end(client);
    wire_close(client);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    char *left = server_read(server, "socket");
    ck_assert_str_eq(left, "");
    free(left);
    server_free(server);
}
END_TEST

START_TEST(draining_answers_what_is_under_way) {
    ServerProcess *server = server_start("--workers 2 --drain-timeout-ms 2000");
    WireClient *quick = wire_open(server->address[0]), *slow = wire_open(server->address[0]);
    uint64_t world = wire_small_world(quick), other = wire_small_world(slow);
    Moreau__V1__WorldStep step = wire_step_call(&world, 300);
    Moreau__V1__WorldStep endless = wire_step_call(&other, BILLION);
    wire_submit(slow, &endless);
    wire_submit(quick, &step);
    server_sleep_ms(20);
    double begun_ms = server_now_ms();
    kill(server->pid, SIGTERM);
    const Moreau__V1__Reply *reply = wire_receive(quick);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_uint_eq(reply->world_step->steps_done[0], 300);
    reply = wire_receive(slow);
    ck_assert_ptr_nonnull(reply);
    wire_expect(reply, CODE(CANCELLED), NULL);
    ck_assert_uint_gt(reply->world_step->steps_done[0], 0);
    ck_assert_double_ge(server_now_ms() - begun_ms, 1990);
    wire_expect_end(slow);
    wire_close(quick);
    wire_close(slow);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    server_free(server);
}
END_TEST

START_TEST(nobody_new_is_let_in_while_draining) {
    ServerProcess *server = server_start("--workers 1 --drain-timeout-ms 1000");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    wire_submit(client, &step);
    server_sleep_ms(20);
    kill(server->pid, SIGTERM);
    server_sleep_ms(100);
    ck_assert_int_lt(net_client_connect(server->address[0]), 0);
    wire_expect(wire_receive(client), CODE(CANCELLED), NULL);
    wire_close(client);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    server_free(server);
}
END_TEST

START_TEST(a_hangup_opens_the_log_file_anew) {
    ServerProcess *server = server_start("--workers 1");
    char from[SERVER_FOLDER_BYTES + 8], to[SERVER_FOLDER_BYTES + 8];
    snprintf(from, sizeof(from), "%s/log", server->folder);
    snprintf(to, sizeof(to), "%s/log.1", server->folder);
    ck_assert_int_eq(rename(from, to), 0);
    kill(server->pid, SIGHUP);
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (bool found = false; !found; server_sleep_ms(5)) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        char *log = server_read(server, "log");
        found = strstr(log, "log_reopened") != NULL;
        free(log);
    }
    char *old = server_read(server, "log.1");
    ck_assert_ptr_nonnull(strstr(old, "ready"));
    free(old);
    WireClient *client = wire_open(server->address[0]);
    wire_ping(client);
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- addresses

START_TEST(every_listener_is_announced_and_serves_the_same_worlds) {
    ServerProcess *server =
        server_start("--listen 127.0.0.1:0 --listen unix:@/a --listen unix:@/b");
    ck_assert_uint_eq(server->address_count, 3);
    ck_assert_ptr_nonnull(strstr(server->address[0], "127.0.0.1:"));
    ck_assert_str_ne(server->address[0], "127.0.0.1:0");
    WireClient *first = wire_open(server->address[0]);
    uint64_t world = wire_small_world(first);
    for (size_t i = 1; i < 3; i++) {
        ck_assert_int_eq(strncmp(server->address[i], "unix:", 5), 0);
        WireClient *client = wire_open(server->address[i]);
        wire_step(client, world, 1);
        wire_close(client);
    }
    ck_assert_uint_eq(wire_step_count(first, world), 2);
    wire_close(first);
    server_stop(server);
}
END_TEST

static bool has_ipv6(void) {
    FILE *file = fopen("/proc/net/if_inet6", "r"); // "" or absent where there is none
    bool found = file != NULL && fgetc(file) != EOF;
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

START_TEST(ipv6_serves_where_there_is_any) {
    if (!has_ipv6()) {
        return;
    }
    ServerProcess *server = server_start("--workers 1 --listen [::1]:0");
    WireClient *client = wire_open(server->address[0]);
    wire_ping(client);
    wire_close(client);
    server_stop(server);
}
END_TEST

// 255 bytes, as long as a text of the protocol may be, in a file that others can read or not.
START_TEST(the_longest_token_opens_and_an_open_file_is_a_warning) {
    char token[256], folder[SERVER_FOLDER_BYTES], path[SERVER_FOLDER_BYTES + 8], options[128];
    memset(token, 't', 255);
    token[255] = '\0';
    server_make_folder(folder);
    server_write(folder, "token", token);
    snprintf(path, sizeof(path), "%s/token", folder);
    ck_assert_int_eq(chmod(path, _i == 0 ? 0600 : 0644), 0);
    snprintf(options, sizeof(options), "--workers 1 --token-file %s", path);
    ServerProcess *server = server_start(options);
    WireClient *client = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = hello_of(NULL);
    hello.token = token;
    wire_accept(client, &hello);
    wire_close(client);
    char *log = server_read(server, "log");
    ck_assert_int_eq(strstr(log, "token_file_exposed") != NULL, _i == 1);
    ck_assert_int_eq(strstr(log, "mode=0644 ") != NULL, _i == 1);
    free(log);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// Who says nothing is told so after --hello-timeout-ms; a short --write-timeout-ms hurries nobody.
START_TEST(hello_has_a_deadline_of_its_own) {
    ServerProcess *server = server_start(_i == 0 ? "--workers 1 --hello-timeout-ms 50"
                                                 : "--workers 1 --write-timeout-ms 50");
    WireClient *client = wire_connect(server->address[0]);
    if (_i == 0) {
        const Moreau__V1__Reply *reply = wire_receive(client);
        ck_assert_ptr_nonnull(reply);
        ck_assert_ptr_nonnull(strstr(reply->status->message, "--hello-timeout-ms"));
        wire_expect_end(client);
    } else {
        ck_assert(!wire_waits(client, 500)); // ten times the write timeout, a part of the other
        Moreau__V1__Hello hello = hello_of(NULL);
        wire_accept(client, &hello);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(the_open_world_is_refused_without_a_token) {
    char said[1024];
    ck_assert_int_eq(server_refusal("--listen 0.0.0.0:0", said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "token"));
    ck_assert_int_eq(server_refusal("--workers many", said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "workers"));
    ck_assert_int_eq(server_refusal("--listen unix:@/no/such/folder", said, sizeof(said)), 1);
    ck_assert_uint_gt(strlen(said), 20);
}
END_TEST

// ---- what the server tells

START_TEST(describe_and_welcome_list_limits_calls_and_solvers) {
    ServerProcess *server = server_start("--workers 1 --bodies-max 12345");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    const Moreau__V1__DescribeReply *said = wire_accept(client, &describe)->describe;
    bool found = false;
    for (size_t i = 0; i < said->n_limits; i++) {
        found = found || (strcmp(said->limits[i]->name, "bodies-max") == 0 &&
                          said->limits[i]->value == 12345);
        ck_assert_uint_gt(strlen(said->limits[i]->meaning), 5);
    }
    ck_assert(found);
    ck_assert_uint_eq(said->n_calls,
                      moreau__v1__request__descriptor.n_fields - 2); // without id and deadline
    ck_assert_uint_ge(said->n_solvers, 1);
    for (size_t i = 0; i < said->n_solvers; i++) {
        const Moreau__V1__SolverInfo *solver = said->solvers[i];
        ck_assert_uint_ge(solver->n_parameters, 1);
        for (size_t k = 0; k < solver->n_parameters; k++) {
            const Moreau__V1__ParameterInfo *row = solver->parameters[k];
            ck_assert_double_le(row->minimum, row->default_value);
            ck_assert_double_le(row->default_value, row->maximum);
            ck_assert(row->solve_default >= row->minimum && row->solve_default <= row->maximum);
        }
    }
    ck_assert_uint_ge(said->n_fields, 15);
    wire_close(client);
    server_stop(server);
}
END_TEST

// In the least frame, part by part: the same rows, each once.
START_TEST(describe_tells_the_same_in_parts) {
    ServerProcess *large = server_start("--workers 1"),
                  *small = server_start("--workers 1 --frame-bytes-max 8K");
    WireClient *whole = wire_open(large->address[0]), *parts = wire_open(small->address[0]);
    Moreau__V1__Describe describe = MOREAU__V1__DESCRIBE__INIT;
    const Moreau__V1__DescribeReply *all = wire_accept(whole, &describe)->describe;
    const size_t rows = all->n_limits + all->n_calls + all->n_solvers + all->n_fields;
    ck_assert_uint_eq(all->total, rows);
    size_t calls = 0, fields = 0, told = 0;
    int replies = 0;
    for (describe.has_first = 1; told < rows; describe.first = told, replies++) {
        const Moreau__V1__DescribeReply *part = wire_accept(parts, &describe)->describe;
        ck_assert_uint_eq(part->total, rows);
        ck_assert_uint_gt(part->n_limits + part->n_calls + part->n_solvers + part->n_fields, 0);
        for (size_t i = 0; i < part->n_calls; i++, calls++) {
            ck_assert_str_eq(part->calls[i]->meaning, all->calls[calls]->meaning);
        }
        for (size_t i = 0; i < part->n_fields; i++, fields++) {
            ck_assert_str_eq(part->fields[i]->path, all->fields[fields]->path);
        }
        told += part->n_limits + part->n_calls + part->n_solvers + part->n_fields;
    }
    ck_assert_int_gt(replies, 1);
    ck_assert_uint_eq(told, rows);
    ck_assert_uint_eq(fields, all->n_fields);
    describe.first = all->n_limits + 1;
    describe.has_count = 1, describe.count = 2;
    const Moreau__V1__DescribeReply *two = wire_accept(parts, &describe)->describe;
    ck_assert_uint_eq(two->n_limits + two->n_solvers + two->n_fields, 0);
    ck_assert_uint_eq(two->n_calls, 2);
    wire_close(whole);
    wire_close(parts);
    server_stop(large);
    server_stop(small);
}
END_TEST

START_TEST(stats_count_lanes_steps_and_bytes) {
    ServerProcess *server = server_start("--workers 3");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client), bytes = 0;
    wire_step(client, world, 40);
    wire_step(client, world, 2);
    const Moreau__V1__StatsReply *stats = wire_stats(client, true);
    ck_assert_uint_eq(stats->lanes, 3);
    ck_assert_uint_eq(stats->n_lane_steps, 6);
    uint64_t steps = 0;
    for (size_t i = 0; i < stats->n_lane_steps; i++) {
        steps += stats->lane_steps[i];
    }
    ck_assert_uint_eq(steps, 42);
    ck_assert_uint_eq(stats->steps, 42);
    ck_assert_uint_eq(stats->connections, 1);
    ck_assert_uint_eq(stats->n_worlds, 1);
    ck_assert_uint_eq(stats->worlds[0], world);
    for (size_t i = 0; i < stats->n_bytes_of_world; i++) {
        bytes += stats->bytes_of_world[i];
    }
    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_eq(bytes, stats->world_bytes);
    ck_assert(stats->bytes_in > 0 && stats->bytes_out > 0 && stats->uptime_s > 0.0);
    ck_assert_uint_ge(stats->requests, 6);
    wire_close(client);
    server_stop(server);
}
END_TEST

// ---- numbers

START_TEST(two_hundred_clients_are_served_at_once) {
    enum { CLIENTS = 200 };
    ServerProcess *server = server_start("--workers 2");
    static WireClient *client[CLIENTS];
    uint64_t worlds[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) {
        client[i] = wire_open(server->address[0]);
        worlds[i] = wire_small_world(client[i]);
    }
    for (int i = 0; i < CLIENTS; i++) {
        Moreau__V1__WorldStep step = wire_step_call(&worlds[i], 10);
        wire_submit(client[i], &step);
    }
    for (int i = 0; i < CLIENTS; i++) {
        const Moreau__V1__Reply *reply = wire_receive(client[i]);
        ck_assert_ptr_nonnull(reply);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->world_step->step[0], 10);
    }
    ck_assert_uint_eq(wire_stats(client[0], false)->connections, CLIENTS);
    for (int i = 0; i < CLIENTS; i++) {
        wire_close(client[i]);
    }
    server_stop(server);
}
END_TEST

START_TEST(memory_of_two_thousand_worlds_comes_back) {
    enum { WORLDS = 2000, AT_ONCE = 100 };
    ServerProcess *server = server_start("--workers 1");
    WireClient *client = wire_open(server->address[0]);
    uint64_t before = wire_stats(client, false)->world_bytes;
    for (int i = 0; i < WORLDS / AT_ONCE; i++) {
        uint64_t worlds[AT_ONCE];
        for (int k = 0; k < AT_ONCE; k++) {
            worlds[k] = wire_small_world(client);
        }
        Moreau__V1__WorldStep step = wire_step_call(worlds, 2);
        step.n_worlds = AT_ONCE;
        wire_accept(client, &step);
        ck_assert_uint_gt(wire_stats(client, false)->world_bytes, before);
        for (int k = 0; k < AT_ONCE; k++) {
            wire_destroy(client, worlds[k]);
        }
    }
    // the last worlds may still be on their way out
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (wire_stats(client, false)->world_bytes != before) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        server_sleep_ms(10);
    }
    ck_assert_uint_eq(wire_stats(client, false)->world_count, 0);
    wire_close(client);
    server_stop(server);
}
END_TEST

static TCase *case_sessions(void) {
    TCase *tcase = tcase_create("sessions");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, worlds_of_a_session_vanish_after_the_grace_time_those_of_the_server_stay);
    tcase_add_test(tcase, a_session_that_is_resumed_in_time_keeps_its_worlds);
    tcase_add_test(tcase, a_resume_cuts_the_old_connection_and_its_work);
    tcase_add_test(tcase, a_world_that_nobody_names_goes_after_its_idle_time);
    tcase_add_test(tcase, a_group_that_nobody_names_goes_after_its_idle_time);
    return tcase;
}

static TCase *case_signals(void) {
    TCase *tcase = tcase_create("signals");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_signal_ends_an_idle_server_with_status_0, 0, 2);
    tcase_add_test(tcase, draining_answers_what_is_under_way);
    tcase_add_test(tcase, nobody_new_is_let_in_while_draining);
    tcase_add_test(tcase, a_hangup_opens_the_log_file_anew);
    return tcase;
}

static TCase *case_service(void) {
    TCase *tcase = tcase_create("service");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_listener_is_announced_and_serves_the_same_worlds);
    tcase_add_test(tcase, ipv6_serves_where_there_is_any);
    tcase_add_loop_test(tcase, the_longest_token_opens_and_an_open_file_is_a_warning, 0, 2);
    tcase_add_loop_test(tcase, hello_has_a_deadline_of_its_own, 0, 2);
    tcase_add_test(tcase, the_open_world_is_refused_without_a_token);
    tcase_add_test(tcase, describe_and_welcome_list_limits_calls_and_solvers);
    tcase_add_test(tcase, describe_tells_the_same_in_parts);
    tcase_add_test(tcase, stats_count_lanes_steps_and_bytes);
    tcase_add_test(tcase, two_hundred_clients_are_served_at_once);
    tcase_add_test(tcase, memory_of_two_thousand_worlds_comes_back);
    return tcase;
}

SUITE_MAIN("system/life", case_sessions, case_signals, case_service)
