// SPDX-License-Identifier: MIT
// moreau top against a real server at work.
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_group.h"
#include "support/wire_world.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

// Runs `moreau top` with the arguments; what it printed, and its exit status.
static int run_top(const char *address, const char *arguments, char *said, size_t capacity) {
    char line[512];
    snprintf(line, sizeof(line), MOREAU_BINARY_DIR "/clients/moreau top --server %s %s 2>&1",
             address, arguments);
    FILE *pipe = popen(line, "r");
    ck_assert_ptr_nonnull(pipe);
    said[fread(said, 1, capacity - 1, pipe)] = '\0';
    int status = pclose(pipe);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

START_TEST(a_world_in_a_long_call_is_seen_at_work) {
    ServerProcess *server = server_start("--workers 2 --drain-timeout-ms 0");
    WireClient *client = wire_open(server->address[0]);
    uint64_t idle = wire_small_world(client), busy = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&busy, UINT64_C(1000000000));
    wire_submit(client, &step);

    static char said[1 << 16];
    ck_assert_msg(run_top(server->address[0], "--json --interval 0.3", said, sizeof(said)) == 0,
                  "%s", said);
    json_t *view = json_loads(said, 0, NULL);
    ck_assert_msg(view != NULL, "this is no JSON: %s", said);
    ck_assert_double_gt(json_number_value(json_object_get(json_object_get(view, "per_s"), "steps")),
                        0);
    ck_assert_double_gt(json_number_value(json_object_get(view, "solver_time_per_step")), 0);
    const json_t *worlds = json_object_get(view, "worlds");
    ck_assert_uint_eq(json_array_size(worlds), 2);
    const json_t *first = json_array_get(worlds, 0), *second = json_array_get(worlds, 1);
    ck_assert_uint_eq((uint64_t)json_integer_value(json_object_get(first, "world")), busy);
    ck_assert_uint_eq((uint64_t)json_integer_value(json_object_get(second, "world")), idle);
    ck_assert_double_gt(json_number_value(json_object_get(first, "steps_per_s")), 0);
    ck_assert_double_eq(json_number_value(json_object_get(second, "steps_per_s")), 0);
    json_decref(view);

    // no terminal: one view, without escape sequences
    ck_assert_int_eq(run_top(server->address[0], "--interval 0.1", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "steps/s"));
    ck_assert_ptr_nonnull(strstr(said, "2 worlds"));
    ck_assert_ptr_null(strchr(said, '\033'));
    wire_close(client);
    server_stop(server);
}
END_TEST

enum { COUNT = 8 };

// What top says of a server whose only group steps from before its first look until it has ended.
static json_t *watch_group(const ServerProcess *server, WireClient *client, uint64_t group) {
    static char line[256], said[1 << 16];
    snprintf(line, sizeof(line), MOREAU_BINARY_DIR "/clients/moreau top --server %s --json 2>&1",
             server->address[0]);
    wire_group_step_beside(client, group, COUNT, line, said, sizeof(said));
    json_t *view = json_loads(said, 0, NULL);
    ck_assert_msg(view != NULL, "this is no JSON: %s", said);
    return view;
}

START_TEST(a_group_that_learns_is_seen_with_its_rate_and_the_file) {
    ServerProcess *server = server_start("--workers 2 --db @/log.db");
    WireClient *client = wire_open(server->address[0]);
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    Moreau__V1__GroupCreate *make = wire_group_create_call(COUNT);
    make->record = &record;
    const uint64_t group = wire_accept(client, make)->group_create->group;
    wire_group_reset(client, group);
    json_t *view = watch_group(server, client, group);
    const json_t *stats = json_object_get(view, "stats"),
                 *shown = json_array_get(json_object_get(view, "groups"), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(stats, "recordings")), 1);
    ck_assert_int_gt(json_integer_value(json_object_get(stats, "log_bytes")), 0);
    ck_assert_int_eq(json_integer_value(json_object_get(shown, "count")), COUNT);
    ck_assert_double_gt(json_number_value(json_object_get(shown, "steps_per_s")), 0.0);
    ck_assert_double_gt(json_number_value(json_object_get(shown, "episodes_per_s")), 0.0);
    json_decref(view);
    static char said[4096];
    ck_assert_int_eq(run_top(server->address[0], "--interval 0.1", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "1 recording under way"));
    ck_assert_ptr_nonnull(strstr(said, "cart-pole"));
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(wrong_words_and_no_server_have_their_exit_status) {
    static char said[4096];
    ck_assert_int_eq(run_top("127.0.0.1:1", "--once", said, sizeof(said)), 3);
    ck_assert_int_eq(run_top("127.0.0.1:1", "--interval 0", said, sizeof(said)), 2);
    ck_assert_int_eq(run_top("127.0.0.1:1", "--interval 1e9", said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "86400"));
    ck_assert_int_eq(run_top("127.0.0.1:1", "more", said, sizeof(said)), 2);
    ck_assert_int_eq(run_top("127.0.0.1:1", "--help", said, sizeof(said)), 0);
}
END_TEST

static TCase *case_top(void) {
    TCase *tcase = tcase_create("top");
    tcase_add_test(tcase, a_world_in_a_long_call_is_seen_at_work);
    tcase_add_test(tcase, a_group_that_learns_is_seen_with_its_rate_and_the_file);
    tcase_add_test(tcase, wrong_words_and_no_server_have_their_exit_status);
    return tcase;
}

SUITE_MAIN("system/top", case_top)
