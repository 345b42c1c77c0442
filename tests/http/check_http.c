// SPDX-License-Identifier: MIT
// The life of the pages on a loop: sockets handed over are answered, and at the end no handle, no
// descriptor and no memory is left, whatever the visitors were doing.
#include "http/http.h"

#include "support/suite.h"

#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static uv_loop_t loop;
static Http *http;

static bool is_ready(void *context) {
    (void)context;
    return true;
}

// Longer than a socket takes at once, so that a visitor who does not read keeps its rest waiting.
enum { FIGURES_BYTES = 8 << 20 };

static void print_metrics(void *context, FILE *out) {
    (void)context;
    for (int i = 0; i < FIGURES_BYTES / 8; i++) {
        fputs("figure 1", out);
    }
}

static void setup(void) {
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    HttpDef def = {
        .loop = &loop, .connections_max = 4, .is_ready = is_ready, .print_metrics = print_metrics};
    Error error;
    ck_assert_msg(http_create(&http, &def, &error) == STATUS_OK, "%s", error.message);
}

static void teardown(void) {
    http_close(http);
    uv_run(&loop, UV_RUN_DEFAULT);
    http_destroy(http);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

// A connection to the pages; what the test holds is the visitor's end.
static int visit(const char *request) {
    int ends[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    http_accept(http, ends[0], "test");
    ck_assert_int_eq(write(ends[1], request, strlen(request)), (long)strlen(request));
    return ends[1];
}

// Runs the loop until the visitor has something to read; -1 at the end of the stream.
static long turn_until_read(int fd, char *text, size_t capacity) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    while (poll(&poll_fd, 1, 0) == 0) {
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    long got = read(fd, text, capacity);
    return got > 0 ? got : -1;
}

START_TEST(a_socket_that_is_handed_over_is_answered) {
    char text[1000];
    int fd = visit("GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n");
    ck_assert_int_gt(turn_until_read(fd, text, sizeof(text)), 12);
    ck_assert_int_eq(strncmp(text, "HTTP/1.1 200", 12), 0);
    ck_assert_uint_eq(http_connection_count(http), 1);
    close(fd);
    while (http_connection_count(http) > 0) {
        uv_run(&loop, UV_RUN_ONCE);
    }
}
END_TEST

START_TEST(a_long_answer_arrives_whole) {
    static char text[1 << 16];
    int fd = visit("GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    size_t total = 0;
    for (long got; (got = turn_until_read(fd, text, sizeof(text))) > 0;) {
        total += (size_t)got;
    }
    ck_assert_uint_gt(total, FIGURES_BYTES);
    ck_assert_uint_lt(total,
                      FIGURES_BYTES + 700); // and a head, most of which says what the page may do
    close(fd);
}
END_TEST

START_TEST(closing_frees_visitors_in_every_state) {
    char text[1000];
    int idle = visit(""), half = visit("GET /li"),
        waiting = visit("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
    turn_until_read(waiting, text, sizeof(text)); // and takes no more of it
    ck_assert_uint_eq(http_connection_count(http), 3);
    // teardown closes; the descriptors of this end go with the test
    (void)idle, (void)half;
}
END_TEST

START_TEST(visitors_above_the_limit_take_the_place_of_the_idlest) {
    int fd[6];
    char text[1000];
    for (int i = 0; i < 6; i++) {
        fd[i] = visit("");
    }
    ck_assert_int_eq(turn_until_read(fd[0], text, sizeof(text)), -1);
    ck_assert_int_eq(turn_until_read(fd[1], text, sizeof(text)), -1);
    while (http_connection_count(http) > 4) { // those that were closed are forgotten a little later
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    ck_assert_int_eq(write(fd[2], "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", 40), 40);
    ck_assert_int_gt(turn_until_read(fd[2], text, sizeof(text)), 12);
    int late = visit(""); // now the fourth is the idlest
    ck_assert_int_eq(turn_until_read(fd[3], text, sizeof(text)), -1);
    struct pollfd served = {.fd = fd[2], .events = POLLIN};
    uv_run(&loop, UV_RUN_NOWAIT);
    (void)late;
    // still open: there is nothing to read but perhaps the rest of the answer
    ck_assert(poll(&served, 1, 0) == 0 || (served.revents & POLLHUP) == 0);
}
END_TEST

static TCase *case_life(void) {
    TCase *tcase = tcase_create("life");
    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, a_socket_that_is_handed_over_is_answered);
    tcase_add_test(tcase, a_long_answer_arrives_whole);
    tcase_add_test(tcase, closing_frees_visitors_in_every_state);
    tcase_add_test(tcase, visitors_above_the_limit_take_the_place_of_the_idlest);
    return tcase;
}

SUITE_MAIN("http/http", case_life)
