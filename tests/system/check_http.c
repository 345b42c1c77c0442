// SPDX-License-Identifier: MIT
// The pages for operators, asked of a real server over raw sockets: what they say, who may ask, and
// that nobody who asks slowly, wrongly or too often disturbs the rest.
#include "moreau.h"
#include "support/machine.h"
#include "support/net_client.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name
#define BILLION    UINT64_C(1000000000)

// ---- asking

// One answer, head and body; cut where it does not fit, which no page of ours does.
typedef struct Answer {
    char text[1 << 16];
} Answer;

// Reads to the end of the stream.
static void read_answer(int fd, Answer *answer) {
    size_t used = 0;
    for (long got; used < sizeof(answer->text) - 1; used += (size_t)got) {
        got = recv(fd, answer->text + used, sizeof(answer->text) - 1 - used, 0);
        if (got <= 0) {
            break;
        }
    }
    answer->text[used] = '\0';
}

static void ask(const char *address, const char *request, Answer *answer) {
    int fd = net_client_connect(address);
    ck_assert_int_ge(fd, 0);
    ck_assert(net_client_write(fd, request, strlen(request)));
    read_answer(fd, answer);
    close(fd);
}

// The status of GET `path`; `header` is a whole line or "".
static int get(const char *address, const char *path, const char *header, Answer *answer) {
    char request[512];
    snprintf(request, sizeof(request),
             "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n%s\r\n", path, header);
    ask(address, request, answer);
    int status = 0;
    sscanf(answer->text, "HTTP/1.%*c %d", &status);
    return status;
}

static int status_of(const char *address, const char *path) {
    static Answer answer;
    return get(address, path, "", &answer);
}

static const char *body_of(const Answer *answer) {
    const char *end = strstr(answer->text, "\r\n\r\n");
    ck_assert_ptr_nonnull(end);
    return end + 4;
}

// The pages' address is told last.
static const char *pages_of(const ServerProcess *server) {
    return server->address[server->address_count - 1];
}

static double metric(const char *metrics, const char *name) {
    char line[128];
    snprintf(line, sizeof(line), "\n%s ", name);
    const char *found = strstr(metrics, line);
    ck_assert_msg(found != NULL, "there is no metric %s", name);
    return strtod(found + strlen(line), NULL);
}

static bool is_closed_within(int fd, int timeout_ms) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    char byte;
    return poll(&poll_fd, 1, timeout_ms) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

// ---- pages

START_TEST(every_page_answers_and_what_is_none_is_told_so) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    static Answer answer;
    const char *pages = pages_of(server);
    ck_assert_int_eq(get(pages, "/livez", "", &answer), 200);
    ck_assert_str_eq(body_of(&answer), "alive\n");
    ck_assert_int_eq(get(pages, "/readyz", "", &answer), 200);
    ck_assert_str_eq(body_of(&answer), "ready\n");
    ck_assert_int_eq(get(pages, "/metrics", "", &answer), 200);
    ck_assert_ptr_nonnull(strstr(answer.text, "content-type: text/plain; version=0.0.4"));
    ck_assert_int_eq(get(pages, "/livez/", "", &answer), 404);
    ck_assert_ptr_nonnull(strstr(body_of(&answer), "There is no such page"));
    ck_assert_int_eq(get(pages, "/viewer", "", &answer), 404);
    ck_assert_int_eq(get(pages, "/../etc/passwd", "", &answer), 404);

    ask(pages, "POST /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx=1",
        &answer);
    ck_assert_int_eq(strncmp(answer.text, "HTTP/1.1 405 ", 13), 0);
    ck_assert_ptr_nonnull(strstr(answer.text, "allow: GET, HEAD\r\n"));
    ck_assert_ptr_nonnull(strstr(body_of(&answer), "use GET or HEAD"));
    ask(pages, "HEAD /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", &answer);
    ck_assert_int_eq(strncmp(answer.text, "HTTP/1.1 200 ", 13), 0);
    ck_assert_str_eq(body_of(&answer), "");
    server_stop(server);
}
END_TEST

static int status_of_host(const char *pages, const char *host, const char *path, Answer *answer) {
    char request[300];
    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n",
             path, host);
    ask(pages, request, answer);
    int status = 0;
    sscanf(answer->text, "HTTP/1.%*c %d", &status);
    return status;
}

// A web page that has its own name point here reads nothing (DNS rebinding).
START_TEST(only_the_servers_own_names_are_answered) {
    static Answer answer;
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    const char *pages = pages_of(server);
    ck_assert_int_eq(status_of_host(pages, "evil.example", "/metrics", &answer), 421);
    ck_assert_ptr_nonnull(strstr(body_of(&answer), "--http-host"));
    ck_assert_ptr_null(strstr(answer.text, "moreau_"));
    ck_assert_int_eq(status_of_host(pages, "evil.example", "/", &answer), 421);
    ck_assert_int_eq(status_of_host(pages, "10.1.2.3:7668", "/livez", &answer), 200);
    ck_assert_int_eq(status_of_host(pages, "[::1]:7668", "/readyz", &answer), 200);
    ck_assert_int_eq(status_of_host(pages, "localhost", "/metrics", &answer), 200);
    ask(pages, "GET /livez HTTP/1.0\r\n\r\n", &answer); // a probe that names none
    ck_assert_ptr_nonnull(strstr(answer.text, " 200 "));
    server_stop(server);
    server = server_start("--workers 1 --http 127.0.0.1:0 --http-host farm --http-host f.example");
    ck_assert_int_eq(status_of_host(pages_of(server), "farm:80", "/metrics", &answer), 200);
    ck_assert_int_eq(status_of_host(pages_of(server), "F.example", "/metrics", &answer), 200);
    ck_assert_int_eq(status_of_host(pages_of(server), "g.example", "/metrics", &answer), 421);
    server_stop(server);
}
END_TEST

// Of every answer, whatever its status.
START_TEST(browsers_are_told_what_they_may_do) {
    static Answer answer;
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    static const char *const paths[] = {"/livez", "/metrics", "/", "/nowhere"};
    for (size_t i = 0; i < 4; i++) {
        get(pages_of(server), paths[i], "", &answer);
        ck_assert_ptr_nonnull(strstr(answer.text, "\r\nx-content-type-options: nosniff\r\n"));
        ck_assert_ptr_nonnull(strstr(answer.text, "\r\nx-frame-options: DENY\r\n"));
        ck_assert_ptr_nonnull(strstr(answer.text, "content-security-policy: default-src 'none';"));
        ck_assert_ptr_nonnull(
            strstr(answer.text, "frame-ancestors http://localhost:* http://127.0.0.1:*\r\n"));
    }
    server_stop(server);
}
END_TEST

START_TEST(a_head_that_is_too_long_is_told_so) {
    enum { LONG = 9000, ENDLESS = 100000 };
    static char request[ENDLESS + 200];
    static Answer answer;
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    static const int lengths[] = {7000, LONG, ENDLESS};
    for (size_t i = 0; i < 3; i++) {
        size_t used = (size_t)snprintf(request, sizeof(request),
                                       "GET /livez HTTP/1.1\r\nHost: localhost\r\nCookie: ");
        memset(request + used, 'c', (size_t)lengths[i]);
        used += (size_t)lengths[i];
        snprintf(request + used, sizeof(request) - used, "\r\nConnection: close\r\n\r\n");
        const int fd = net_client_connect(pages_of(server));
        net_client_write(fd, request, strlen(request)); // or is cut meanwhile
        read_answer(fd, &answer);
        close(fd);
        ck_assert_int_eq(strncmp(answer.text, "HTTP/1.1 200", 12) == 0, lengths[i] < LONG);
        ck_assert_int_eq(strncmp(answer.text, "HTTP/1.1 431", 12) == 0, lengths[i] == LONG);
    }
    ck_assert_int_eq(status_of(pages_of(server), "/livez"), 200);
    server_stop(server);
}
END_TEST

START_TEST(one_connection_asks_as_often_as_it_likes) {
    ServerProcess *server = server_start("--workers 1 --http unix:@/pages");
    static Answer answer;
    static const char first[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
                      last[] =
                          "GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char request[512] = "";
    for (int i = 0; i < 5; i++) {
        strcat(request, first);
    }
    strcat(request, last);
    ask(pages_of(server), request, &answer);
    size_t alive = 0;
    for (const char *at = answer.text; (at = strstr(at, "\r\n\r\nalive\n")) != NULL; at++) {
        alive++;
    }
    ck_assert_uint_eq(alive, 5);
    ck_assert_ptr_nonnull(strstr(answer.text, "\r\n\r\nready\n"));
    server_stop(server);
}
END_TEST

// ---- metrics

START_TEST(metrics_count_what_has_happened) {
    ServerProcess *server = server_start("--workers 2 --http 127.0.0.1:0");
    WireClient *client = wire_open(server->address[0]);
    WireWorld world = wire_world(client, 20, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    wire_step(client, world.id, 400); // by now they lie on the ground
    Moreau__V1__WorldGet nobody = MOREAU__V1__WORLD_GET__INIT;
    nobody.has_world = 1;
    nobody.world = 77777;
    wire_refuse(client, &nobody, CODE(NOT_FOUND), NULL);

    // the client may know an answer before the loop knows that the lane has given it
    static Answer answer;
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    do {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        ck_assert_int_eq(get(pages_of(server), "/metrics", "", &answer), 200);
    } while (metric(answer.text, "moreau_requests_under_way") > 0);
    const char *metrics = body_of(&answer);
    ck_assert_double_eq(metric(metrics, "moreau_steps_total"), 400);
    ck_assert_double_eq(metric(metrics, "moreau_worlds"), 1);
    ck_assert_double_eq(metric(metrics, "moreau_bodies"), (double)world.body_count);
    ck_assert_double_ge(metric(metrics, "moreau_contacts"), 20);
    ck_assert_double_gt(metric(metrics, "moreau_world_bytes"), 1000);
    ck_assert_double_eq(metric(metrics, "moreau_requests_total{status=\"NOT_FOUND\"}"), 1);
    ck_assert_double_ge(metric(metrics, "moreau_requests_total{status=\"OK\"}"), 3);
    ck_assert_double_eq(metric(metrics, "moreau_jobs"), 0);
    ck_assert_double_eq(metric(metrics, "moreau_waiting_worlds"), 0);
    ck_assert_double_eq(metric(metrics, "moreau_connections"), 1);
    ck_assert_double_eq(metric(metrics, "moreau_kept_bytes"), 0); // the client is not resumable
    ck_assert_double_eq(metric(metrics, "moreau_player_bytes"), 0);
    ck_assert_double_eq(metric(metrics, "moreau_http_connections"), 1);
    ck_assert_double_gt(metric(metrics, "moreau_received_bytes_total"), 100);
    ck_assert_double_gt(metric(metrics, "moreau_sent_bytes_total"), 100);
    const Moreau__V1__StatsReply *stats = wire_stats(client, false);
    ck_assert_double_eq(metric(metrics, "moreau_unconverged_steps_total"),
                        (double)stats->unconverged_steps);

    // the histogram: every step is in one bucket, and its sum is what Stats says
    double count = metric(metrics, "moreau_solver_seconds_count");
    ck_assert_double_ge(count, 1);
    ck_assert_double_le(count, 400);
    ck_assert_double_eq(count, (double)stats->timed_steps);
    ck_assert_double_eq(metric(metrics, "moreau_solver_seconds_bucket{le=\"+Inf\"}"), count);
    ck_assert_double_eq_tol(metric(metrics, "moreau_solver_seconds_sum"), stats->solver_time,
                            1e-9); // as many digits are printed
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(work_under_way_is_seen_in_the_metrics) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0 --drain-timeout-ms 0");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client), other = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION),
                          more = wire_step_call(&other, BILLION);
    wire_submit(client, &step);
    wire_submit(client, &more);
    static Answer answer;
    double give_up_ms = server_now_ms() + PATIENCE_MS, steps = 0, waiting = 0;
    while (steps == 0 || waiting == 0) { // one lane: while one world runs the other waits
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        ck_assert_int_eq(get(pages_of(server), "/metrics", "", &answer), 200);
        steps = metric(answer.text, "moreau_steps_total");
        waiting = metric(answer.text, "moreau_waiting_worlds");
    }
    ck_assert_double_eq(metric(answer.text, "moreau_requests_under_way"), 2);
    ck_assert_double_eq(metric(answer.text, "moreau_jobs"), 2);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(what_is_kept_for_a_client_is_in_the_metrics) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    WireClient *client = wire_connect(server->address[0]);
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = hello.has_resumable = hello.resumable = 1;
    hello.protocol_major = 1;
    wire_accept(client, &hello);
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    wire_accept(client, &step);
    static Answer answer;
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    do { // a reply is counted a moment after it was sent
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        ck_assert_int_eq(get(pages_of(server), "/metrics", "", &answer), 200);
    } while (metric(answer.text, "moreau_requests_under_way") > 0);
    double kept = metric(answer.text, "moreau_kept_bytes");
    ck_assert_double_gt(kept, 0);
    ck_assert_double_eq(kept, (double)wire_stats(client, false)->kept_bytes);
    wire_close(client);
    server_stop(server);
}
END_TEST

// Every sample stands under the HELP and TYPE of its metric, which come once.
START_TEST(metrics_are_in_the_format_of_prometheus) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    WireClient *client = wire_open(server->address[0]);
    wire_step(client, wire_small_world(client), 50);
    wire_close(client);
    static Answer answer;
    ck_assert_int_eq(get(pages_of(server), "/metrics", "", &answer), 200);
    char name[100] = "", type[20] = "";
    double below = 0, bound = 0;
    int samples = 0;
    for (char *line = strtok((char *)(uintptr_t)body_of(&answer), "\n"); line != NULL;
         line = strtok(NULL, "\n")) {
        if (strncmp(line, "# HELP ", 7) == 0) {
            ck_assert_int_eq(sscanf(line, "# HELP %99s ", name), 1);
            continue;
        }
        if (strncmp(line, "# TYPE ", 7) == 0) {
            char typed[100];
            ck_assert_int_eq(sscanf(line, "# TYPE %99s %19s", typed, type), 2);
            ck_assert_str_eq(typed, name);
            continue;
        }
        ck_assert_msg(strncmp(line, name, strlen(name)) == 0, "%s stands below %s", line, name);
        bool is_total = strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0;
        ck_assert_int_eq(is_total, strcmp(type, "counter") == 0);
        char *end;
        double value = strtod(strrchr(line, ' '), &end);
        ck_assert_msg(*end == '\0' && value >= 0, "%s", line);
        double next_bound;
        if (sscanf(line, "moreau_solver_seconds_bucket{le=\"%lf\"}", &next_bound) == 1) {
            ck_assert_double_gt(next_bound, bound);
            ck_assert_double_ge(value, below);
            bound = next_bound;
            below = value;
        }
        samples++;
    }
    ck_assert_int_gt(samples, 40);
    server_stop(server);
}
END_TEST

// ---- who may ask

START_TEST(beyond_this_machine_metrics_demand_the_token_and_probes_do_not) {
    char said[512];
    ck_assert_int_eq(server_refusal("--http 0.0.0.0:0", said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "--token-file"));

    char folder[SERVER_FOLDER_BYTES], options[256];
    server_make_folder(folder);
    server_write(folder, "token", "open sesame\n");
    snprintf(options, sizeof(options),
             "--workers 1 --http 0.0.0.0:0 --token-file %s/token --insecure-plain", folder);
    ServerProcess *server = server_start(options);
    const char *pages = pages_of(server);
    static Answer answer;
    ck_assert_int_eq(get(pages, "/livez", "", &answer), 200);
    ck_assert_int_eq(get(pages, "/readyz", "", &answer), 200);
    ck_assert_int_eq(get(pages, "/metrics", "", &answer), 401);
    ck_assert_ptr_nonnull(strstr(answer.text, "www-authenticate: Bearer\r\n"));
    ck_assert_ptr_null(strstr(answer.text, "moreau_steps_total"));
    ck_assert_int_eq(get(pages, "/metrics", "Authorization: Bearer open sesam\r\n", &answer), 401);
    ck_assert_int_eq(get(pages, "/metrics", "Authorization: Basic open sesame\r\n", &answer), 401);
    ck_assert_int_eq(get(pages, "/metrics", "Authorization: Bearer open sesame\r\n", &answer), 200);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

START_TEST(without_the_option_there_are_no_pages) {
    ServerProcess *server = server_start("--workers 1");
    ck_assert_uint_eq(server->address_count, 1);
    server_stop(server);
}
END_TEST

// ---- draining

START_TEST(readiness_fails_at_once_when_draining_begins_and_liveness_lasts) {
    ServerProcess *server = server_start("--workers 1 --drain-timeout-ms 1500 --http 127.0.0.1:0");
    WireClient *client = wire_open(server->address[0]);
    uint64_t world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(&world, BILLION);
    wire_submit(client, &step);
    ck_assert_int_eq(status_of(pages_of(server), "/readyz"), 200);
    kill(server->pid, SIGTERM);
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    for (int fd; (fd = net_client_connect(server->address[0])) >= 0; close(fd)) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
    }
    // nobody new is let in any more: then readiness has failed already
    static Answer answer;
    ck_assert_int_eq(get(pages_of(server), "/readyz", "", &answer), 503);
    ck_assert_ptr_nonnull(strstr(body_of(&answer), "draining"));
    ck_assert_int_eq(status_of(pages_of(server), "/livez"), 200);
    ck_assert_int_eq(status_of(pages_of(server), "/metrics"), 200);
    ck_assert(!wire_waits(client, 0)); // and the request is still under way
    wire_expect(wire_receive(client), CODE(CANCELLED), NULL);
    wire_close(client);
    ck_assert_int_eq(server_wait(server, PATIENCE_MS), 0);
    server_free(server);
}
END_TEST

START_TEST(a_client_that_stays_does_not_hold_up_the_end) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    int idle = net_client_connect(pages_of(server)), half = net_client_connect(pages_of(server));
    ck_assert(net_client_write(half, "GET /liv", 8));
    server_stop(server);
    ck_assert(is_closed_within(idle, PATIENCE_MS));
    ck_assert(is_closed_within(half, PATIENCE_MS));
    close(idle);
    close(half);
}
END_TEST

// ---- bad visitors

static const struct {
    const char *bytes;
    size_t count;   // 0: as a text
    size_t padding; // so many more letters, then the end of a head
} wrong[] = {
    {"\0\xff\xfe garbage\r\n\r\n", 15, 0},
    {"\r\n\r\n\r\n\r\n", 0, 0},
    {"GET\r\n\r\n", 0, 0},
    {"BREW /livez HTTP/1.1\r\n\r\n", 0, 0},
    {"GET /", 0, 10000},
    {"GET /livez HTTP/1.1\r\nCookie: ", 0, 10000},
    {"GET /livez HTTP/1.1\r\nX-Unknown: ", 0, 40000},
    {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 0, 0},
    {"GET /livez HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
     "Sec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\r\nSec-WebSocket-Version: 13\r\n\r\n",
     0, 0},
    {"GET /livez HTTP/1.1\r\nHost: localhost\r\nUpgrade: h2c\r\nConnection: Upgrade, "
     "HTTP2-Settings\r\n"
     "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA\r\n\r\n",
     0, 0},
};

// The two ports stand beside each other and are easily taken for one another.
START_TEST(who_takes_one_port_for_the_other_is_told_so) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0 --listen 127.0.0.1:0");
    MoreauClient *client;
    MoreauError error;
    MoreauStatus status = moreau_connect(server->address[1], NULL, &client, &error);
    ck_assert_int_eq(status, MOREAU_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "http port") != NULL, "%s", error.message);

    Answer answer;
    ask(server->address[0], "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n", &answer);
    ck_assert_int_eq(strncmp(answer.text, "HTTP/1.1 400 ", 13), 0);
    ck_assert_ptr_nonnull(strstr(answer.text, "--http"));
    char *log = server_read(server, "log");
    ck_assert_ptr_nonnull(strstr(log, "http_at_protocol_port"));
    free(log);
    server_stop(server);
}
END_TEST

START_TEST(garbage_ends_its_own_connection_and_nothing_else) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    WireClient *client = wire_open(server->address[0]);
    const char *pages = pages_of(server);
    int fd = net_client_connect(pages);
    static char request[65536];
    size_t count = wrong[_i].count > 0 ? wrong[_i].count : strlen(wrong[_i].bytes);
    ck_assert_uint_le(count + wrong[_i].padding + 4, sizeof(request));
    memcpy(request, wrong[_i].bytes, count);
    if (wrong[_i].padding > 0) {
        memset(request + count, 'a', wrong[_i].padding);
        count += wrong[_i].padding;
        memcpy(request + count, "\r\n\r\n", 4);
        count += 4;
    }
    net_client_write(fd, request, count);
    static Answer answer;
    read_answer(fd, &answer); // returns when the server closes
    ck_assert_ptr_null(strstr(answer.text, " 200 "));
    ck_assert_ptr_null(strstr(answer.text, " 101 "));
    close(fd);
    ck_assert_int_eq(status_of(pages, "/livez"), 200);
    wire_ping(client);
    wire_close(client);
    server_stop(server);
}
END_TEST

START_TEST(who_is_slow_is_cut_and_keeps_nobody_waiting) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    const char *pages = pages_of(server);
    int silent = net_client_connect(pages), half = net_client_connect(pages),
        dripping = net_client_connect(pages);
    ck_assert(net_client_write(half, "GET /livez HTT", 14));
    ck_assert(net_client_write(dripping, "GET /livez HTTP/1.1\r\n", 21));
    double give_up_ms = server_now_ms() + PATIENCE_MS;
    while (!is_closed_within(dripping, 100)) {
        ck_assert_double_lt(server_now_ms(), give_up_ms);
        ck_assert_int_eq(status_of(pages, "/livez"), 200);
        send(dripping, "X-A: b\r\n", 8, MSG_NOSIGNAL);
    }
    ck_assert(is_closed_within(half, PATIENCE_MS));
    ck_assert(is_closed_within(silent, PATIENCE_MS));
    close(silent);
    close(half);
    close(dripping);
    server_stop(server);
}
END_TEST

START_TEST(above_the_limit_the_idlest_connection_goes) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0 --http-connections-max 4");
    const char *pages = pages_of(server);
    int idle[200];
    for (int i = 0; i < 200; i++) {
        idle[i] = net_client_connect(pages);
        ck_assert_int_ge(idle[i], 0);
    }
    ck_assert(is_closed_within(idle[0], PATIENCE_MS));
    ck_assert_int_eq(status_of(pages, "/livez"), 200);
    static Answer answer;
    ck_assert_int_eq(get(pages, "/metrics", "", &answer), 200);
    ck_assert_double_le(metric(answer.text, "moreau_http_connections"), 4);
    for (int i = 0; i < 200; i++) {
        close(idle[i]);
    }
    server_stop(server);
}
END_TEST

// ---- idleness

// How often the server's main thread has gone to sleep: an idle one does not wake.
static uint64_t sleeps_of(pid_t pid) {
    char path[64], line[256];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    uint64_t count = 0;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &count) == 1;
    }
    fclose(file);
    ck_assert(found);
    return count;
}

START_TEST(an_idle_server_sleeps_also_with_a_visitor) {
    ServerProcess *server = server_start("--workers 1 --http 127.0.0.1:0");
    static const char request[] = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n";
    int fd = net_client_connect(pages_of(server));
    ck_assert(net_client_write(fd, request, sizeof(request) - 1));
    char answer[64];
    ck_assert(net_client_read(fd, answer, sizeof(answer)));
    server_sleep_ms(500); // it comes to rest
    uint64_t before = sleeps_of(server->pid);
    server_sleep_ms(2000);
    ck_assert_uint_le(sleeps_of(server->pid) - before, 1); // a timer of the visitor's may end
    close(fd);
    server_stop(server);
}
END_TEST

static TCase *case_pages(void) {
    TCase *tcase = tcase_create("pages");
    tcase_add_test(tcase, every_page_answers_and_what_is_none_is_told_so);
    tcase_add_test(tcase, only_the_servers_own_names_are_answered);
    tcase_add_test(tcase, browsers_are_told_what_they_may_do);
    tcase_add_test(tcase, a_head_that_is_too_long_is_told_so);
    tcase_add_test(tcase, one_connection_asks_as_often_as_it_likes);
    tcase_add_test(tcase, metrics_count_what_has_happened);
    tcase_add_test(tcase, work_under_way_is_seen_in_the_metrics);
    tcase_add_test(tcase, what_is_kept_for_a_client_is_in_the_metrics);
    tcase_add_test(tcase, metrics_are_in_the_format_of_prometheus);
    tcase_add_test(tcase, beyond_this_machine_metrics_demand_the_token_and_probes_do_not);
    tcase_add_test(tcase, without_the_option_there_are_no_pages);
    return tcase;
}

static TCase *case_drain(void) {
    TCase *tcase = tcase_create("draining");
    tcase_add_test(tcase, readiness_fails_at_once_when_draining_begins_and_liveness_lasts);
    tcase_add_test(tcase, a_client_that_stays_does_not_hold_up_the_end);
    return tcase;
}

static TCase *case_bad_visitors(void) {
    TCase *tcase = tcase_create("bad visitors");
    tcase_add_loop_test(tcase, garbage_ends_its_own_connection_and_nothing_else, 0,
                        sizeof(wrong) / sizeof(wrong[0]));
    tcase_add_test(tcase, who_takes_one_port_for_the_other_is_told_so);
    tcase_add_test(tcase, who_is_slow_is_cut_and_keeps_nobody_waiting);
    tcase_add_test(tcase, above_the_limit_the_idlest_connection_goes);
    tcase_add_test(tcase, an_idle_server_sleeps_also_with_a_visitor);
    return tcase;
}

SUITE_MAIN("system/http", case_pages, case_drain, case_bad_visitors)
