// SPDX-License-Identifier: MIT
// Who guesses tokens waits for each answer, many guesses at once get none, and nobody else notices;
// and the files that a server makes are not everybody's to read.
#include "support/machine.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_episode.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static char folder[SERVER_FOLDER_BYTES];

static ServerProcess *start_guarded(void) {
    char options[128];
    server_make_folder(folder);
    server_write(folder, "token", "secret\n");
    snprintf(options, sizeof(options), "--workers 1 --token-file %s/token", folder);
    return server_start(options);
}

static void stop_guarded(ServerProcess *server) {
    server_stop(server);
    server_remove_folder(folder);
}

static uint64_t greet(WireClient *client, const char *token) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1, hello.protocol_major = 1;
    hello.token = (char *)(uintptr_t)token;
    return wire_submit(client, &hello);
}

static void expect_welcome(WireClient *client) {
    const Moreau__V1__Reply *reply = wire_receive(client);
    wire_expect(reply, CODE(OK), NULL);
    ck_assert_ptr_nonnull(reply->welcome);
}

// By another address it is the same server, and after a restart another one.
START_TEST(a_server_says_which_one_it_is) {
    uint64_t seen[3];
    for (int i = 0; i < 3; i++) {
        static ServerProcess *server;
        server = i == 1 ? server : server_start("--workers 3");
        WireClient *client = wire_connect(server->address[0]);
        greet(client, NULL);
        const Moreau__V1__Reply *reply = wire_receive(client);
        wire_expect(reply, CODE(OK), NULL);
        ck_assert_uint_eq(reply->welcome->lanes, 3);
        seen[i] = reply->welcome->instance;
        wire_close(client);
        if (i > 0) {
            server_stop(server);
        }
    }
    ck_assert_uint_eq(seen[0], seen[1]);
    ck_assert_uint_ne(seen[1], seen[2]);
}
END_TEST

START_TEST(a_wrong_token_is_told_so_after_a_while_and_nobody_else_waits) {
    ServerProcess *server = start_guarded();
    WireClient *wrong = wire_connect(server->address[0]), *right = wire_connect(server->address[0]);
    const double begun_ms = server_now_ms();
    greet(wrong, "guess");
    greet(right, "secret");
    expect_welcome(right);
    wire_ping(right);
    const Moreau__V1__Reply *reply = wire_receive(wrong);
    wire_expect(reply, CODE(UNAUTHENTICATED), "token");
    ck_assert_double_ge(server_now_ms() - begun_ms, 990.0); // a second, by another clock
    wire_expect_end(wrong);
    wire_close(wrong);
    wire_close(right);
    stop_guarded(server);
}
END_TEST

// The first answer counts: what is behind a wrong guess is not even looked at.
START_TEST(a_second_guess_on_a_connection_ends_it) {
    ServerProcess *server = start_guarded();
    WireClient *client = wire_connect(server->address[0]);
    greet(client, "guess");
    greet(client, "secret");
    for (const Moreau__V1__Reply *reply; (reply = wire_receive(client)) != NULL;) {
        ck_assert_int_eq(reply->status->code, CODE(UNAUTHENTICATED));
    }
    wire_close(client);
    stop_guarded(server);
}
END_TEST

START_TEST(many_guesses_at_once_hold_little_and_get_no_answer) {
    enum { GUESSES = 200, TOLD_MAX = 64 };
    ServerProcess *server = start_guarded();
    WireClient *guess[GUESSES], *right = wire_connect(server->address[0]);
    for (size_t i = 0; i < GUESSES; i++) {
        guess[i] = wire_connect(server->address[0]);
        greet(guess[i], "guess");
    }
    greet(right, "secret");
    expect_welcome(right);
    size_t told = 0;
    for (size_t i = 0; i < GUESSES; i++) {
        const Moreau__V1__Reply *reply = wire_receive(guess[i]);
        told += reply != NULL;
        ck_assert(reply == NULL || reply->status->code == CODE(UNAUTHENTICATED));
        wire_close(guess[i]);
    }
    ck_assert_uint_ge(told, TOLD_MAX); // more, where the first were told before the last had come
    ck_assert_uint_lt(told, GUESSES);
    wire_ping(right);
    wire_close(right);
    stop_guarded(server);
}
END_TEST

// A server that is told to end meanwhile ends, and so does one whose guesser has gone.
START_TEST(a_refusal_that_waits_holds_up_no_end) {
    ServerProcess *server = start_guarded();
    WireClient *gone = wire_connect(server->address[0]), *stays = wire_connect(server->address[0]);
    greet(gone, "guess");
    greet(stays, "guess");
    wire_close(gone);
    stop_guarded(server);
    wire_close(stays);
}
END_TEST

// ---- files

static unsigned mode_of(const ServerProcess *server, const char *name) {
    char path[256];
    struct stat info;
    snprintf(path, sizeof(path), "%s/%s", server->folder, name);
    ck_assert_msg(stat(path, &info) == 0, "there is no %s", path);
    return info.st_mode & 0777;
}

static const struct {
    const char *option;
    mode_t umask;
    unsigned mode;
} modes[] = {{"", 022, 0640},
             {"", 0, 0640},
             {"--file-mode 0600", 022, 0600},
             {"--file-mode 644", 022, 0644},
             {"--file-mode 0644", 077, 0600}}; // the umask takes away more

START_TEST(files_are_made_as_the_option_says) {
    char options[160];
    snprintf(options, sizeof(options), "--workers 1 --db @/e.db --backup-dir @ %s",
             modes[_i].option);
    const mode_t before = umask(modes[_i].umask);
    ServerProcess *server = server_start(options);
    umask(before);
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client);
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    wire_record(client, &start);
    wire_step(client, world, 10);
    wire_stop_recording(client, world);
    Moreau__V1__EpisodeBackup backup = MOREAU__V1__EPISODE_BACKUP__INIT;
    backup.name = "copy.db";
    wire_accept(client, &backup);
    static const char *const files[] = {"e.db", "e.db-wal", "copy.db", "log"};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        ck_assert_msg(mode_of(server, files[i]) == modes[_i].mode, "%s is %o, not %o", files[i],
                      mode_of(server, files[i]), modes[_i].mode);
    }
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(a_mode_by_which_others_write_is_refused) {
    static const char *const wrong[] = {"0666", "0400", "0660", "0755", "rw", "0640x", "-1"};
    char options[64], said[1000];
    snprintf(options, sizeof(options), "--file-mode %s", wrong[_i]);
    ck_assert_int_eq(server_refusal(options, said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "file-mode"));
}
END_TEST

static TCase *case_greetings(void) {
    TCase *tcase = tcase_create("greetings");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_server_says_which_one_it_is);
    tcase_add_test(tcase, a_wrong_token_is_told_so_after_a_while_and_nobody_else_waits);
    tcase_add_test(tcase, a_second_guess_on_a_connection_ends_it);
    tcase_add_test(tcase, many_guesses_at_once_hold_little_and_get_no_answer);
    tcase_add_test(tcase, a_refusal_that_waits_holds_up_no_end);
    return tcase;
}

static TCase *case_files(void) {
    TCase *tcase = tcase_create("files");
    tcase_add_loop_test(tcase, files_are_made_as_the_option_says, 0,
                        sizeof(modes) / sizeof(modes[0]));
    tcase_add_loop_test(tcase, a_mode_by_which_others_write_is_refused, 0, 7);
    return tcase;
}

SUITE_MAIN("system/greetings", case_greetings, case_files)
