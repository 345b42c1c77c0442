// SPDX-License-Identifier: MIT
// --sandbox: what is refused to somebody who got into a server (support/shims/intruder.c), and that
// nothing is which a server needs. All other tests of this room run in it, too.
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): memmem
#include "support/sanitizers.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 8 };                        // of a server with two workers
enum { ADDS_NETWORK = 4, ADDS_SIGNALS = 6 }; // versions of Landlock

static const WirePerson people[] = {{"alice", "admin"}};

static char outside[SERVER_FOLDER_BYTES];

static int kernel_version(void) {
    const long version = syscall(444, NULL, (size_t)0, 1);
    return version < 0 ? 0 : (int)version;
}

static void set_up(void) {
    server_make_folder(outside);
    server_write(outside, "secret", "not the server's");
}

static void tear_down(void) {
    server_remove_folder(outside);
}

static ServerProcess *start_with_intruder(const char *options) {
    server_begin_intruder("MOREAU_INTRUDER", outside);
    ServerProcess *server = server_start(options);
    server_end_shim();
    return server;
}

// What he says that all came to.
static char *intrude(const ServerProcess *server) {
    kill(server->pid, SIGUSR1);
    for (int i = 0;; i++) {
        char *said = server_read(server, "stderr");
        if (strstr(said, "tried all") != NULL) {
            return said;
        }
        free(said);
        ck_assert_msg(i < 500, "he tries nothing");
        server_sleep_ms(10);
    }
}

static int came_to(const char *said, const char *name) {
    char begin[64];
    snprintf(begin, sizeof(begin), "tried %s ", name);
    const char *line = strstr(said, begin);
    ck_assert_msg(line != NULL, "he did not try %s: %s", name, said);
    return atoi(line + strlen(begin));
}

static void expect_all(const char *said, const char *const *names, size_t count, int error) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_msg(came_to(said, names[i]) == error, "%s came to %d, not %d", names[i],
                      came_to(said, names[i]), error);
    }
}

#define EXPECT_ALL(said, error, ...)                                                               \
    expect_all(said, (const char *const[]){__VA_ARGS__},                                           \
               sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *), error)

static void expect_in_log(const ServerProcess *server, const char *text) {
    for (int i = 0;; i++) {
        char *log = server_read(server, "log");
        const bool is_there = strstr(log, text) != NULL;
        ck_assert_msg(is_there || i < 300, "%s is not in the log: %s", text, log);
        free(log);
        if (is_there) {
            return;
        }
        server_sleep_ms(10);
    }
}

static void expect_work(const ServerProcess *server) {
    WireClient *client = wire_open(server->address[0]);
    const uint64_t world = wire_small_world(client);
    const Moreau__V1__EpisodeStart start = wire_start_call(world);
    wire_accept(client, &start);
    wire_step(client, world, 20);
    wire_stop_recording(client, world);
    wire_close(client);
}

START_TEST(who_got_in_finds_nothing_to_do) {
    ServerProcess *server = start_with_intruder("--db @/db");
    char *said = intrude(server);
    EXPECT_ALL(said, EACCES, "read", "write", "make", "list", "truncate", "remove", "folder",
               "link", "system");
    EXPECT_ALL(said, EPERM, "exec", "trace", "mount", "unshare", "clone", "keys", "bpf", "ring");
    ck_assert_int_eq(came_to(said, "dumps"), 0); // nobody's secret is in it
    if (kernel_version() >= ADDS_NETWORK) {
        EXPECT_ALL(said, EACCES, "connect");
    }
    if (kernel_version() >= ADDS_SIGNALS) {
        EXPECT_ALL(said, EPERM, "signal");
    }
    free(said);
    expect_work(server);
    expect_in_log(server, " info sandbox files=landlock-");
    server_stop(server);
}
END_TEST

START_TEST(without_it_he_does_what_its_user_may) {
    ServerProcess *server = start_with_intruder("--sandbox off");
    char *said = intrude(server);
    EXPECT_ALL(said, 0, "read", "write", "make", "list", "system", "connect", "signal", "dumps");
    EXPECT_ALL(said, ENOENT, "exec");
    EXPECT_ALL(said, ESRCH, "trace");
    free(said);
    expect_in_log(server, " info sandbox files=any calls=any cores=any why=\"--sandbox off\"");
    server_stop(server);
}
END_TEST

static void put_tokens(const char *folder, const char *below, const char *text) {
    char path[300];
    snprintf(path, sizeof(path), "%s/%s", folder, below);
    mkdir(path, 0700);
    snprintf(path, sizeof(path), "%s/tokens", below);
    server_write(folder, path, text);
}

// What the server writes is his, and what it reads he reads.
START_TEST(with_a_token_in_it_there_is_no_core) {
    char folder[SERVER_FOLDER_BYTES], text[WIRE_TOKENS_BYTES], path[300], options[700];
    server_make_folder(folder);
    wire_tokens_text(people, 1, text);
    put_tokens(folder, "tokens", text);
    put_tokens(folder, "episodes", "");
    snprintf(path, sizeof(path), "%s/tokens/tokens", folder);
    setenv("MOREAU_SHOWN", path, 1);
    snprintf(path, sizeof(path), "%s/episodes/db", folder);
    setenv("MOREAU_OWN", path, 1);
    snprintf(options, sizeof(options), "--db %s/episodes/db --tokens %s/tokens/tokens", folder,
             folder);
    ServerProcess *server = start_with_intruder(options);
    char *said = intrude(server);
    EXPECT_ALL(said, EPERM, "dumps");
    EXPECT_ALL(said, 0, "own", "shown");
    EXPECT_ALL(said, EACCES, "alter");
    free(said);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

START_TEST(a_kernel_without_it_is_said_and_served) {
    setenv("MOREAU_NO_LANDLOCK", "1", 1);
    ServerProcess *server = start_with_intruder("--db @/db");
    expect_in_log(server, " warn sandbox files=any calls=seccomp");
    expect_work(server);
    char *said = intrude(server);
    EXPECT_ALL(said, 0, "read");
    EXPECT_ALL(said, EPERM, "exec");
    free(said);
    server_stop(server);
    server_begin_intruder("MOREAU_INTRUDER", outside);
    char why[500];
    ck_assert_int_eq(server_refusal("--sandbox required", why, sizeof(why)), 1);
    server_end_shim();
    ck_assert_msg(strstr(why, "--sandbox required") != NULL && strstr(why, "Landlock") != NULL,
                  "%s", why);
    unsetenv("MOREAU_NO_LANDLOCK");
}
END_TEST

START_TEST(required_is_no_hindrance_where_it_is_there) {
    ServerProcess *server = server_start("--sandbox required --db @/db --audit-file @/audit");
    expect_work(server);
    server_stop(server);
    char why[500];
    ck_assert_int_eq(server_refusal("--sandbox yes", why, sizeof(why)), 2);
    ck_assert_ptr_nonnull(strstr(why, "auto, required or off"));
}
END_TEST

static void turn_link(const char *folder, const char *name, const char *to) {
    char link[300], made[300];
    snprintf(link, sizeof(link), "%s/%s", folder, name);
    snprintf(made, sizeof(made), "%s/%s.new", folder, name);
    ck_assert_int_eq(symlink(to, made), 0);
    ck_assert_int_eq(rename(made, link), 0);
}

// As Kubernetes changes its secrets: a link to a folder, below that of the file, is turned. Where
// it leads out of it, what is there cannot be read.
START_TEST(files_are_replaced_in_their_folders) {
    char folder[SERVER_FOLDER_BYTES], text[WIRE_TOKENS_BYTES], options[300];
    server_make_folder(folder);
    wire_tokens_text(people, 1, text);
    put_tokens(folder, "first", text);
    put_tokens(folder, "second", text);
    put_tokens(outside, "third", text);
    turn_link(folder, "now", "first");
    turn_link(folder, "tokens", "now/tokens");
    snprintf(options, sizeof(options), "--tokens %s/tokens", folder);
    ServerProcess *server = server_start(options);
    turn_link(folder, "now", "second");
    kill(server->pid, SIGHUP);
    expect_in_log(server, " info log_reopened");
    char *log = server_read(server, "log");
    ck_assert_msg(strstr(log, "tokens_reload") == NULL, "%s", log);
    free(log);
    char there[300];
    snprintf(there, sizeof(there), "%s/third", outside);
    turn_link(folder, "now", there);
    kill(server->pid, SIGHUP);
    expect_in_log(server, " error tokens_reload why=");
    wire_close(wire_open_as(server, "alice")); // by those from before
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

// In the heap and on the first stack, where options are read. (A register that held it when threads
// began may be saved on theirs.)
static int count_in_memory(pid_t pid, const char *secret) {
    char path[64], line[256];
    int count = 0;
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
    FILE *maps = fopen(path, "r");
    snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
    const int memory = open(path, O_RDONLY | O_CLOEXEC);
    if (maps == NULL || memory < 0) {
        return -1;
    }
    while (fgets(line, sizeof(line), maps) != NULL) {
        unsigned long begin, end;
        char mode[8];
        if (sscanf(line, "%lx-%lx %7s", &begin, &end, mode) != 3 ||
            (strstr(line, "[heap]") == NULL && strstr(line, "[stack]") == NULL)) {
            continue;
        }
        char *bytes = malloc(end - begin);
        const ssize_t got = pread(memory, bytes, end - begin, (off_t)begin);
        const char *at = bytes;
        while (got > 0 &&
               (at = memmem(at, (size_t)(bytes + got - at), secret, strlen(secret))) != NULL) {
            count++, at++;
        }
        free(bytes);
    }
    fclose(maps);
    close(memory);
    return count;
}

START_TEST(the_token_of_the_file_is_not_kept) {
    static const char secret[] = "a-token-that-stands-nowhere-else";
    char folder[SERVER_FOLDER_BYTES], options[200];
    server_make_folder(folder);
    server_write(folder, "token", secret);
    snprintf(options, sizeof(options), "--token-file %s/token", folder);
    ServerProcess *server = server_start(options);
    const int count = count_in_memory(server->pid, secret);
    ck_assert_int_le(count, 0); // -1: who tests may not look, either
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

static TCase *case_sandbox(void) {
    TCase *tcase = tcase_create("sandbox");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    if (SANITIZES_ADDRESSES || SANITIZES_THREADS || kernel_version() == 0) {
        return tcase; // where it is not
    }
    tcase_add_test(tcase, who_got_in_finds_nothing_to_do);
    tcase_add_test(tcase, without_it_he_does_what_its_user_may);
    tcase_add_test(tcase, with_a_token_in_it_there_is_no_core);
    tcase_add_test(tcase, the_token_of_the_file_is_not_kept);
    tcase_add_test(tcase, a_kernel_without_it_is_said_and_served);
    tcase_add_test(tcase, required_is_no_hindrance_where_it_is_there);
    tcase_add_test(tcase, files_are_replaced_in_their_folders);
    return tcase;
}

SUITE_MAIN("system/sandbox", case_sandbox)
