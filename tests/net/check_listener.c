// SPDX-License-Identifier: MIT
// Listeners: the text of addresses, port 0, socket files that are new, stale, live, foreign.
#include "net/listener.h"

#include "support/net_client.h"
#include "support/suite.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static uv_loop_t loop;
static Net *net;
static Report report;
static char directory[64];
static char path[100];    // of a socket file in it
static char address[110]; // unix:path
static uint32_t opened_count;
static char peer[128];

static void on_opened(void *context, Connection *connection) {
    (void)context;
    opened_count++;
    snprintf(peer, sizeof(peer), "%s", connection_peer(connection));
}

static void on_frame(void *context, Connection *connection, uint64_t received_ns,
                     const uint8_t *body, size_t body_bytes) {
    (void)context, (void)connection, (void)received_ns, (void)body, (void)body_bytes;
}

static void on_closed(void *context, Connection *connection) {
    (void)context, (void)connection;
}

static void setup(void) {
    report_open(&report, REPORT_ERROR, NULL, NULL);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    NetDef def = {.frame_bytes_max = 1000,
                  .connections_max = 10,
                  .requests_max = 1,
                  .unsent_bytes_max = 1000,
                  .write_timeout_ms = 1000,
                  .handlers = {.opened = on_opened, .frame = on_frame, .closed = on_closed},
                  .report = &report};
    ck_assert_int_eq(net_create(&net, &loop, &def, NULL), STATUS_OK);
    strcpy(directory, "/tmp/moreau-listener-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/socket", directory);
    snprintf(address, sizeof(address), "unix:%s", path);
}

static void teardown(void) {
    net_close(net, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    unlink(path);
    ck_assert_int_eq(rmdir(directory), 0);
}

static const struct {
    const char *text;
    Status status;
    bool is_loopback;
} texts[] = {
    {"127.0.0.1:7667", STATUS_OK, true},
    {"127.9.9.9:1", STATUS_OK, true},
    {"localhost:0", STATUS_OK, true},
    {"[::1]:65535", STATUS_OK, true},
    {"unix:/run/moreau", STATUS_OK, true},
    {"unix:relative", STATUS_OK, true},
    {"0.0.0.0:7667", STATUS_OK, false},
    {"[::]:7667", STATUS_OK, false},
    {"10.1.2.3:7667", STATUS_OK, false},
    {"[::ffff:127.0.0.1]:7667", STATUS_OK,
     false}, // reaches further than it seems: not taken for loopback
    {"", STATUS_INVALID_ARGUMENT, false},
    {":7667", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1:", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1:65536", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1:99999999999999", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1:-1", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0.1:7x", STATUS_INVALID_ARGUMENT, false},
    {"127.0.0:7667", STATUS_INVALID_ARGUMENT, false},
    {"::1:7667", STATUS_INVALID_ARGUMENT, false},
    {"[::1]", STATUS_INVALID_ARGUMENT, false},
    {"[]:7667", STATUS_INVALID_ARGUMENT, false},
    {"[::1:7667", STATUS_INVALID_ARGUMENT, false},
    {"[127.0.0.1]:7667", STATUS_INVALID_ARGUMENT, false},
    {"example.org:7667", STATUS_INVALID_ARGUMENT, false},
    {"a-host-name-that-is-longer-than-any-numeric-address-can-be-by-far:7667",
     STATUS_INVALID_ARGUMENT, false},
    {"unix:", STATUS_INVALID_ARGUMENT, false},
    {"fd:", STATUS_INVALID_ARGUMENT, false},
    {"fd:x", STATUS_INVALID_ARGUMENT, false},
    {"fd:-1", STATUS_INVALID_ARGUMENT, false},
    {"fd:0", STATUS_INVALID_ARGUMENT, false}, // open, but no socket that listens
    {"fd:99999999999999999999", STATUS_INVALID_ARGUMENT, false},
    {"fd:9999", STATUS_INVALID_ARGUMENT, false},
    {"unix:/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/0123456789/"
     "0123456789/0123456789/012345678",
     STATUS_INVALID_ARGUMENT, false},
};

START_TEST(an_address_is_judged_by_its_text) {
    bool is_loopback = !texts[_i].is_loopback;
    Error error = {.message = ""};
    ck_assert_int_eq(listener_check(texts[_i].text, &is_loopback, &error), texts[_i].status);
    if (texts[_i].status == STATUS_OK) {
        ck_assert_int_eq(is_loopback, texts[_i].is_loopback);
    } else {
        ck_assert_str_eq(error.field, "listen");
        ck_assert_uint_gt(strlen(error.message), 20);
    }
}
END_TEST

static void check_served(const char *where) {
    int fd = net_client_connect(where);
    ck_assert_int_ge(fd, 0);
    for (int i = 0; i < 1000 && opened_count == 0; i++) {
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ck_assert_uint_eq(opened_count, 1);
    close(fd);
}

START_TEST(with_port_zero_the_system_chooses_and_the_address_says_what) {
    static const char *const asked[] = {"127.0.0.1:0", "[::1]:0", "localhost:0"};
    static const char *const begins[] = {"127.0.0.1:", "[::1]:", "127.0.0.1:"};
    Listener *listener = NULL;
    Error error = {0};
    Status status = listener_open(net, asked[_i], &listener, &error);
    if (_i == 1 && status == STATUS_UNAVAILABLE) {
        return; // a machine without IPv6
    }
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    const char *text = listener_address(listener);
    ck_assert_int_eq(strncmp(text, begins[_i], strlen(begins[_i])), 0);
    ck_assert_str_ne(text + strlen(begins[_i]), "0");
    check_served(text);
    ck_assert_int_eq(strncmp(peer, begins[_i], strlen(begins[_i])), 0);
    listener_close(listener);
}
END_TEST

START_TEST(a_taken_port_is_refused_with_a_sentence) {
    Listener *first = NULL, *second = NULL;
    Error error = {0};
    ck_assert_int_eq(listener_open(net, "127.0.0.1:0", &first, &error), STATUS_OK);
    ck_assert_int_eq(listener_open(net, listener_address(first), &second, &error),
                     STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(error.message, listener_address(first)));
    ck_assert_ptr_null(second);
    listener_close(first);
}
END_TEST

START_TEST(a_socket_file_is_for_its_owner_alone_and_goes_with_the_listener) {
    Listener *listener = NULL;
    umask(0); // the mode must not depend on it
    ck_assert_int_eq(listener_open(net, address, &listener, NULL), STATUS_OK);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert(S_ISSOCK(status.st_mode));
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    ck_assert_str_eq(listener_address(listener), address);
    check_served(address);
    ck_assert_str_eq(peer, "unix");
    listener_close(listener);
    ck_assert_int_ne(stat(path, &status), 0);
}
END_TEST

// What a server leaves that was killed: a bound file that nobody accepts on.
static void leave_stale_file(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un file = {.sun_family = AF_UNIX};
    strcpy(file.sun_path, path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&file, sizeof(file)), 0);
    ck_assert_int_eq(listen(fd, 1), 0);
    close(fd);
}

START_TEST(a_stale_socket_file_is_taken_over) {
    Listener *listener = NULL;
    Error error = {0};
    leave_stale_file();
    ck_assert_msg(listener_open(net, address, &listener, &error) == STATUS_OK, "%s", error.message);
    check_served(address);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_uint_eq(status.st_mode & 0777, 0600);
    listener_close(listener);
}
END_TEST

START_TEST(a_live_socket_file_is_refused_and_goes_on) {
    Listener *first = NULL, *second = NULL;
    Error error = {0};
    ck_assert_int_eq(listener_open(net, address, &first, NULL), STATUS_OK);
    ck_assert_int_eq(listener_open(net, address, &second, &error), STATUS_ALREADY_EXISTS);
    ck_assert_ptr_null(second);
    uv_run(&loop, UV_RUN_NOWAIT); // the question whether it lives was a connection, too
    opened_count = 0;
    check_served(address);
    listener_close(first);
}
END_TEST

START_TEST(a_file_that_is_no_socket_is_left_alone) {
    Listener *listener = NULL;
    Error error = {0};
    int fd = open(path, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_eq(write(fd, "precious", 8), 8);
    close(fd);
    ck_assert_int_eq(listener_open(net, address, &listener, &error), STATUS_ALREADY_EXISTS);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_size, 8);
}
END_TEST

START_TEST(a_socket_file_that_another_server_put_there_is_not_removed) {
    Listener *listener = NULL;
    ck_assert_int_eq(listener_open(net, address, &listener, NULL), STATUS_OK);
    unlink(path);
    leave_stale_file();
    listener_close(listener);
    struct stat status;
    ck_assert_int_eq(stat(path, &status), 0);
}
END_TEST

START_TEST(a_directory_that_does_not_exist_is_a_sentence) {
    Listener *listener = NULL;
    Error error = {0};
    ck_assert_int_eq(listener_open(net, "unix:/nonexistent/moreau", &listener, &error),
                     STATUS_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(error.message, "/nonexistent/moreau"));
}
END_TEST

// As systemd does: the socket listens already, and its file is not ours.
START_TEST(a_socket_that_was_handed_over_is_served_and_its_file_stays) {
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un file = {.sun_family = AF_UNIX};
    strcpy(file.sun_path, path);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&file, sizeof(file)), 0);
    char text[32];
    snprintf(text, sizeof(text), "fd:%d", fd);
    Listener *listener = NULL;
    Error error;
    ck_assert_int_eq(listener_open(net, text, &listener, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "no stream socket that listens"));

    ck_assert_int_eq(listen(fd, 5), 0);
    bool is_loopback = false;
    ck_assert_int_eq(listener_check(text, &is_loopback, &error), STATUS_OK);
    ck_assert(is_loopback);
    ck_assert_int_eq(listener_open(net, text, &listener, &error), STATUS_OK);
    ck_assert_str_eq(listener_address(listener), address);
    check_served(address);
    listener_close(listener);
    ck_assert_int_eq(access(path, F_OK), 0);
    ck_assert_int_eq(fcntl(fd, F_GETFD), -1); // closed
}
END_TEST

START_TEST(a_socket_that_was_handed_over_says_whether_it_is_exposed) {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in everywhere = {.sin_family = AF_INET};
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&everywhere, sizeof(everywhere)), 0);
    ck_assert_int_eq(listen(fd, 5), 0);
    char text[32];
    snprintf(text, sizeof(text), "fd:%d", fd);
    bool is_loopback = true;
    ck_assert_int_eq(listener_check(text, &is_loopback, NULL), STATUS_OK);
    ck_assert(!is_loopback);
    close(fd);
}
END_TEST

START_TEST(without_descriptors_a_connection_is_closed_instead_of_left_waiting) {
    Listener *listener = NULL;
    ck_assert_int_eq(listener_open(net, address, &listener, NULL), STATUS_OK);
    uv_run(&loop, UV_RUN_NOWAIT); // the listener is watched
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    struct sockaddr_un file = {.sun_family = AF_UNIX};
    strcpy(file.sun_path, path);

    // the next descriptor would be the first one too many
    struct rlimit files, none;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
    int next = dup(fd);
    close(next);
    none = files;
    none.rlim_cur = (rlim_t)next;
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&file, sizeof(file)), 0);
    uv_run(&loop, UV_RUN_NOWAIT);
    char byte;
    ck_assert_int_eq(recv(fd, &byte, 1, MSG_DONTWAIT), 0); // its end, not EAGAIN
    ck_assert_uint_eq(net_stats(net).refused_count, 1);
    close(fd);

    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
    check_served(address);
    listener_close(listener);
}
END_TEST

static TCase *case_text(void) {
    TCase *tcase = tcase_create("text");
    tcase_add_loop_test(tcase, an_address_is_judged_by_its_text, 0,
                        (int)(sizeof(texts) / sizeof(texts[0])));
    return tcase;
}

static TCase *case_open(void) {
    TCase *tcase = tcase_create("open");
    tcase_set_timeout(tcase, 30);
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, with_port_zero_the_system_chooses_and_the_address_says_what, 0, 3);
    tcase_add_test(tcase, a_taken_port_is_refused_with_a_sentence);
    tcase_add_test(tcase, a_socket_file_is_for_its_owner_alone_and_goes_with_the_listener);
    tcase_add_test(tcase, a_stale_socket_file_is_taken_over);
    tcase_add_test(tcase, a_live_socket_file_is_refused_and_goes_on);
    tcase_add_test(tcase, a_file_that_is_no_socket_is_left_alone);
    tcase_add_test(tcase, a_socket_file_that_another_server_put_there_is_not_removed);
    tcase_add_test(tcase, a_socket_that_was_handed_over_is_served_and_its_file_stays);
    tcase_add_test(tcase, a_socket_that_was_handed_over_says_whether_it_is_exposed);
    tcase_add_test(tcase, without_descriptors_a_connection_is_closed_instead_of_left_waiting);
    tcase_add_test(tcase, a_directory_that_does_not_exist_is_a_sentence);
    return tcase;
}

SUITE_MAIN("net/listener", case_text, case_open)
