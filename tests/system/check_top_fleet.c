// SPDX-License-Identifier: MIT
// moreau top --fleet: real servers at work, lost, back, and a file that is half written.
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_group.h"

#include <jansson.h>
#include <pty.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 8, SAID_BYTES = 1 << 16, COLUMNS = 80 };

static char said[SAID_BYTES];

// Writes @/servers of this server's folder, and its path.
static void name_servers(const ServerProcess *server, const char *text, char path[256]) {
    server_write(server->folder, "servers", text);
    snprintf(path, 256, "%s/servers", server->folder);
}

static const json_t *server_of(const json_t *view, size_t i) {
    return json_array_get(json_object_get(view, "servers"), i);
}

static double figure(const json_t *server, const char *name) {
    const json_t *value = json_object_get(server, name);
    ck_assert_msg(value != NULL, "no %s", name);
    return json_number_value(value);
}

// What top says while the group steps, from before its first look until it has ended.
static json_t *watch_group(WireClient *client, uint64_t group, const char *path) {
    char line[512];
    snprintf(line, sizeof(line), MOREAU_BINARY_DIR "/clients/moreau top --fleet %s --json 2>&1",
             path);
    wire_group_step_beside(client, group, COUNT, line, said, sizeof(said));
    json_t *view = json_loads(said, 0, NULL);
    ck_assert_msg(view != NULL, "this is no JSON: %s", said);
    return view;
}

static unsigned columns_max(const char *text) {
    unsigned most = 0, columns = 0;
    for (; *text != '\0'; text++) {
        columns = *text == '\n' ? 0 : columns + (((unsigned char)*text & 0xc0) != 0x80);
        most = columns > most ? columns : most;
    }
    return most;
}

START_TEST(each_server_has_a_line_and_who_is_lost_is_said) {
    ServerProcess *busy = server_start("--workers 2 --db @/log.db"),
                  *idle = server_start("--workers 1 --listen unix:@/socket");
    WireClient *client = wire_open(busy->address[0]);
    const uint64_t group = wire_accept(client, wire_group_create_call(COUNT))->group_create->group;
    wire_group_reset(client, group);
    char text[1024], path[256], line[512];
    snprintf(text, sizeof(text), "# mine\n%s\n\n 127.0.0.1:1 # gone\n%s\n%s\n", busy->address[0],
             idle->address[0], busy->address[0]);
    name_servers(busy, text, path);

    json_t *view = watch_group(client, group, path);
    ck_assert_uint_eq(json_array_size(json_object_get(view, "servers")), 3);
    ck_assert_double_eq(figure(view, "lost"), 1.0);
    ck_assert_double_gt(figure(server_of(view, 0), "steps_per_s"), 0.0);
    ck_assert_double_gt(figure(server_of(view, 0), "lanes_busy"), 0.0);
    ck_assert_double_eq(figure(server_of(view, 0), "worlds"), COUNT);
    ck_assert_ptr_null(json_object_get(server_of(view, 0), "lost"));
    ck_assert_str_eq(json_string_value(json_object_get(server_of(view, 1), "lost")),
                     "Connection refused");
    ck_assert_double_eq(figure(server_of(view, 2), "steps_per_s"), 0.0);
    ck_assert_double_eq(figure(view, "steps_per_s"), figure(server_of(view, 0), "steps_per_s"));
    json_decref(view);

    // a machine that says nothing keeps nobody waiting, and is lost, too
    ck_assert_int_eq(kill(idle->pid, SIGSTOP), 0);
    snprintf(line, sizeof(line), "moreau top --fleet %s --interval 0.2", path);
    ck_assert_int_eq(server_shell("127.0.0.1:1", line, said, sizeof(said)), 0);
    ck_assert_int_eq(kill(idle->pid, SIGCONT), 0);
    ck_assert_msg(strstr(said, "3 servers, 2 lost\n") != NULL, "%s", said);
    ck_assert_msg(strstr(said, "0.0/2") != NULL, "%s", said);
    ck_assert_msg(columns_max(said) <= COLUMNS, "%s", said);
    ck_assert_ptr_null(strchr(said, '\033'));
    wire_close(client);
    server_stop(busy);
    server_stop(idle);
}
END_TEST

typedef struct Refused {
    const char *text, *sentence;
    int status;
} Refused;

START_TEST(a_file_that_is_wrong_or_half_written_is_one_sentence) {
    ServerProcess *server = server_start("");
    static const Refused refused[] = {
        {"127.0.0.1:7667\n127.0.0.1:76", "servers:2: the line has no end", 2},
        {"127.0.0.1:7667\n127.0.0.1:\n", "servers:2: this is no address", 2},
        {"127.0.0.1:70000\n", "servers:1: this is no address", 2},
        {"two words:7\n", "servers:1: this is no address", 2},
        {"# none\n\n", "servers names no server", 2},
        {"127.0.0.1:1\n", "no server of ", 3},
    };
    char path[256], line[512];
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        name_servers(server, refused[i].text, path);
        snprintf(line, sizeof(line), "moreau top --fleet %s --interval 0.1 2>&1 >/dev/null", path);
        ck_assert_int_eq(server_shell("127.0.0.1:1", line, said, sizeof(said)), refused[i].status);
        ck_assert_msg(strstr(said, refused[i].sentence) != NULL, "%s", said);
        ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "one sentence: %s", said);
    }
    ck_assert_int_eq(
        server_shell("127.0.0.1:1", "moreau top --fleet /none 2>&1", said, sizeof(said)), 2);
    ck_assert_msg(strstr(said, "cannot read /none: No such file") != NULL, "%s", said);
    server_stop(server);
}
END_TEST

// ---- on a terminal

static int terminal;

static pid_t start_on_terminal(const char *path) {
    struct winsize size = {.ws_row = 24, .ws_col = COLUMNS};
    const pid_t pid = forkpty(&terminal, NULL, NULL, &size);
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        execl(MOREAU_BINARY_DIR "/clients/moreau", "moreau", "top", "--fleet", path, "--interval",
              "0.2", (char *)NULL);
        _exit(127);
    }
    return pid;
}

// Reads views until one says `words`.
static void await_words(const char *words) {
    size_t count = 0;
    said[0] = '\0';
    const double until_ms = server_now_ms() + 20e3;
    while (strstr(said, words) == NULL) {
        ck_assert_msg(server_now_ms() < until_ms, "never said \"%s\": %s", words, said);
        count = count > SAID_BYTES / 2 ? 0 : count;
        const ssize_t got = read(terminal, said + count, SAID_BYTES - 1 - count);
        ck_assert_msg(got > 0, "it ended, and said: %.1500s", said);
        count += (size_t)got;
        said[count] = '\0';
    }
}

START_TEST(servers_go_and_come_back_while_it_is_watched) {
    ServerProcess *stays = server_start(""), *goes = server_start("");
    char text[512], path[256], options[256], half[512];
    snprintf(text, sizeof(text), "%s\n%s\n", stays->address[0], goes->address[0]);
    name_servers(stays, text, path);
    const pid_t top = start_on_terminal(path);
    await_words("2 servers\r\n");

    ck_assert_int_eq(kill(goes->pid, SIGKILL), 0);
    server_wait(goes, 5000);
    await_words("2 servers, ");
    await_words(" for ");
    await_words("Connection refused");
    snprintf(options, sizeof(options), "--listen %s", goes->address[0]);
    server_free(goes);
    goes = server_start(options);
    await_words("2 servers\r\n");

    // half written: as before, and the sentence; then it is whole
    snprintf(half, sizeof(half), "%s\n%.*s", stays->address[0], 11, goes->address[0]);
    name_servers(stays, half, path);
    await_words("servers:2: the line has no end");
    await_words("2 servers\r\n");
    snprintf(text, sizeof(text), "%s\n", goes->address[0]);
    name_servers(stays, text, path);
    await_words("1 server\r\n");
    ck_assert_int_eq(kill(top, SIGINT), 0);
    ck_assert_int_eq(waitpid(top, NULL, 0), top);
    close(terminal);
    server_stop(stays);
    server_stop(goes);
}
END_TEST

static TCase *case_top_fleet(void) {
    TCase *tcase = tcase_create("top_fleet");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, each_server_has_a_line_and_who_is_lost_is_said);
    tcase_add_test(tcase, a_file_that_is_wrong_or_half_written_is_one_sentence);
    tcase_add_test(tcase, servers_go_and_come_back_while_it_is_watched);
    return tcase;
}

SUITE_MAIN("system/top_fleet", case_top_fleet)
