// SPDX-License-Identifier: MIT
// Connections over real sockets: every byte comes back, limits hold, slow and vanished peers hurt
// nobody else.
#include "net/connection.h"

#include "os/clock.h"
#include "net/frame.h"
#include "support/machine.h"
#include "support/net_client.h"
#include "support/net_echo.h"
#include "support/suite.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

static EchoServer server;

static void start(EchoDef def) {
    net_echo_start(&server, &def);
}

// Body number i of a stream: its length and bytes follow from i, so that a lost, doubled or torn
// frame is seen.
static size_t fill_body(uint8_t *body, uint32_t i, size_t bytes_max) {
    size_t count = 4 + (i * 2654435761u) % (bytes_max - 4);
    memcpy(body, &i, 4);
    memset(body + 4, (int)(i & 0xff), count - 4);
    return count;
}

static void check_body(const uint8_t *body, long count, uint32_t i, size_t bytes_max) {
    uint8_t *expected = malloc(bytes_max);
    size_t expected_count = fill_body(expected, i, bytes_max);
    ck_assert_int_eq(count, (long)expected_count);
    ck_assert_mem_eq(body, expected, expected_count);
    free(expected);
}

static const char *address_of(int kind) {
    return kind % 2 == 0 ? server.tcp_address : server.local_address;
}

// kind: even TCP, odd Unix; 0 and 1 without lanes, 2 … 7 with 1, 2 and 7 lanes
static const uint32_t lane_counts[] = {0, 0, 1, 1, 2, 2, 7, 7};

typedef struct Stream {
    const char *address;
    uint32_t count;
    size_t bytes_max;
    uint32_t ahead; // sent before the first reply is read
    uv_thread_t thread;
    bool succeeded;
} Stream;

static void run_stream(void *argument) {
    Stream *stream = argument;
    int fd = net_client_connect(stream->address);
    uint8_t *body = malloc(stream->bytes_max);
    ck_assert_int_ge(fd, 0);
    for (uint32_t sent = 0, received = 0; received < stream->count; received++) {
        for (; sent < stream->count && sent < received + stream->ahead; sent++) {
            size_t count = fill_body(body, sent, stream->bytes_max);
            ck_assert(net_client_send_frame(fd, body, count));
        }
        check_body(body, net_client_receive_frame(fd, body, stream->bytes_max), received,
                   stream->bytes_max);
    }
    free(body);
    close(fd);
    stream->succeeded = true;
}

static void run_streams(Stream *streams, size_t count) {
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(uv_thread_create(&streams[i].thread, run_stream, &streams[i]), 0);
    }
    for (size_t i = 0; i < count; i++) {
        uv_thread_join(&streams[i].thread);
        ck_assert(streams[i].succeeded);
    }
}

START_TEST(every_frame_comes_back_in_order) {
    start((EchoDef){.lane_count = lane_counts[_i]});
    Stream streams[4] = {{.count = 1000, .bytes_max = 64, .ahead = 1},
                         {.count = 2000, .bytes_max = 200, .ahead = 16},
                         {.count = 300, .bytes_max = 40000, .ahead = 100},
                         {.count = 20, .bytes_max = 1 << 20, .ahead = 3}};
    for (size_t i = 0; i < 4; i++) {
        streams[i].address = address_of(_i);
    }
    run_streams(streams, 4);
    net_echo_stop(&server);
    ck_assert_uint_eq(server.frame_count, 3320);
}
END_TEST

START_TEST(frames_may_be_cut_at_every_byte) {
    static const uint8_t two[] = {0, 0, 0, 4, 'a', 'b', 'c', 'd', 0, 0, 0, 0, 0, 0, 0, 2, 'x', 'y'};
    start((EchoDef){.lane_count = 1});
    int fd = net_client_connect(address_of(_i));
    uint8_t back[sizeof(two)];
    for (size_t cut = 0; cut <= sizeof(two); cut++) {
        ck_assert(net_client_write(fd, two, cut));
        uv_sleep(2); // long enough for the first piece to be read alone
        ck_assert(net_client_write(fd, two + cut, sizeof(two) - cut));
        ck_assert(net_client_read(fd, back, sizeof(back)));
        ck_assert_mem_eq(back, two, sizeof(two));
    }
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_frame_of_the_limit_is_served_and_one_byte_more_is_refused_with_an_answer) {
    enum { LIMIT = 100000, LONGER = 8 << 20 };
    static uint8_t body[LONGER];
    static const uint8_t header[] = {0, 1, 0x86, 0xa1}; // 100001
    start((EchoDef){.lane_count = 1, .net = {.frame_bytes_max = LIMIT}});
    int other = net_client_connect(address_of(_i));
    int fd = net_client_connect(address_of(_i));
    ck_assert(net_client_send_frame(fd, body, LIMIT));
    ck_assert_int_eq(net_client_receive_frame(fd, body, LIMIT), LIMIT);

    // the answer arrives although the server is not interested in what we go on sending
    ck_assert(net_client_write(fd, header, sizeof(header)));
    ck_assert(net_client_write(fd, body, LONGER));
    ck_assert_int_gt(net_client_receive_frame(fd, body, LIMIT), 10);
    ck_assert_int_eq(net_client_receive_frame(fd, body, LIMIT), -1);
    ck_assert_uint_eq(server.malformed_count, 1);
    close(fd);
    ck_assert(net_echo_wait(&server.closed_count, 1));

    // that connection alone
    ck_assert(net_client_send_frame(other, body, 5));
    ck_assert_int_eq(net_client_receive_frame(other, body, LIMIT), 5);
    close(other);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_stream_that_ends_inside_a_frame_is_malformed) {
    static const uint8_t piece[] = {0, 0, 0, 9, 'x'};
    start((EchoDef){0});
    int fd = net_client_connect(address_of(_i));
    ck_assert(net_client_write(fd, piece, sizeof(piece)));
    shutdown(fd, SHUT_WR);
    uint8_t body[200];
    ck_assert_int_gt(net_client_receive_frame(fd, body, sizeof(body)), 10);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    ck_assert_uint_eq(server.malformed_count, 1);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

static const uint8_t too_long[] = {0x7f, 0xff, 0xff, 0xff};

// The next frame says why the connection ends, and names the option.
static void expect_sentence(int fd, const char *option) {
    char body[200] = "";
    ck_assert_int_gt(net_client_receive_frame(fd, body, sizeof(body) - 1), 10);
    ck_assert_msg(strstr(body, option) != NULL, "%s is not in: %s", option, body);
}

START_TEST(what_came_before_a_malformed_frame_is_answered_first) {
    enum { COUNT = 20 };
    start((EchoDef){.lane_count = 2});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[300];
    uv_mutex_lock(&server.gate); // nothing is answered
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert(net_client_send_frame(fd, body, fill_body(body, i, sizeof(body))));
    }
    ck_assert(net_client_write(fd, too_long, sizeof(too_long)));
    ck_assert(net_echo_wait(&server.frame_count, COUNT));
    uv_sleep(50); // in which the last bytes are read
    ck_assert_uint_eq(server.malformed_count, 0);
    uv_mutex_unlock(&server.gate);
    for (uint32_t i = 0; i < COUNT; i++) {
        check_body(body, net_client_receive_frame(fd, body, sizeof(body)), i, sizeof(body));
    }
    expect_sentence(fd, "--frame-bytes-max");
    ck_assert_int_eq(net_client_receive_frame(fd, body, sizeof(body)), -1);
    ck_assert_uint_eq(server.malformed_count, 1);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(what_takes_too_long_before_a_malformed_frame_is_not_waited_for) {
    start((EchoDef){.lane_count = 1, .net = {.write_timeout_ms = 100}});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[200];
    uv_mutex_lock(&server.gate); // and stays so
    ck_assert(net_client_send_frame(fd, "never", 5));
    ck_assert(net_client_write(fd, too_long, sizeof(too_long)));
    ck_assert_int_gt(net_client_receive_frame(fd, body, sizeof(body)), 10); // why
    ck_assert_int_eq(net_client_receive_frame(fd, body, sizeof(body)), -1);
    uv_mutex_unlock(&server.gate);
    ck_assert_uint_eq(net_echo_stats(&server).slow_count, 0); // it was not the client
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_malformed_peer_that_reads_nothing_is_cut) {
    enum { BYTES = 1 << 20 };
    static uint8_t body[BYTES];
    start((EchoDef){.lane_count = 1, .repeat = 30, .net = {.write_timeout_ms = 500}});
    int fd = net_client_connect_narrow(address_of(_i));
    ck_assert(net_client_send_frame(fd, body, BYTES));
    net_client_write(fd, too_long, sizeof(too_long));
    ck_assert(net_echo_wait(&server.closed_count, 1));
    ck_assert_uint_eq(net_echo_stats(&server).slow_count, 1);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_malformed_peer_that_leaves_is_let_go) {
    start((EchoDef){.lane_count = 1});
    int fd = net_client_connect(address_of(_i));
    uv_mutex_lock(&server.gate);
    ck_assert(net_client_send_frame(fd, "never", 5));
    ck_assert(net_client_write(fd, too_long, sizeof(too_long)));
    ck_assert(net_echo_wait(&server.frame_count, 1));
    uv_sleep(20); // in which the last bytes are read
    close(fd);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    ck_assert_uint_eq(server.malformed_count, 0);
    uv_mutex_unlock(&server.gate);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_browser_is_answered_in_its_own_words) {
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n";
    start((EchoDef){.lane_count = 1});
    int fd = net_client_connect(address_of(_i));
    ck_assert(net_client_write(fd, request, sizeof(request) - 1));
    char answer[400] = "";
    size_t count = 0;
    while (count + 1 < sizeof(answer) && net_client_read(fd, answer + count, 1)) {
        count++;
    }
    ck_assert_int_eq(strncmp(answer, "HTTP/1.1 400 ", 13), 0);
    ck_assert_ptr_nonnull(strstr(answer, "--http"));
    ck_assert_uint_eq(server.malformed_count, 0);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

// The server's end of a connection: the socket of this process whose peer is that one.
static int other_end(int fd) {
    struct sockaddr_storage own, peer;
    socklen_t own_bytes = sizeof(own);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &own_bytes), 0);
    for (int other = 3; other < 100; other++) {
        socklen_t bytes = sizeof(peer);
        if (getpeername(other, (struct sockaddr *)&peer, &bytes) == 0 && bytes == own_bytes &&
            memcmp(&peer, &own, bytes) == 0) {
            return other;
        }
    }
    ck_abort_msg("the server has no such connection");
    return -1;
}

static int option_of(int fd, int level, int name) {
    int value = -1;
    socklen_t bytes = sizeof(value);
    ck_assert_int_eq(getsockopt(fd, level, name, &value, &bytes), 0);
    return value;
}

// With a write timeout above VANISHED_MS what is unacknowledged is the system's business.
static const struct {
    uint64_t write_timeout_ms;
    bool is_limited;
} patience[] = {{1000, true}, {VANISHED_MS, true}, {VANISHED_MS + 1, false}};

START_TEST(a_peer_that_vanished_is_found_in_time) {
    start((EchoDef){.net = {.write_timeout_ms = patience[_i].write_timeout_ms}});
    int fd = net_client_connect(server.tcp_address);
    ck_assert(net_echo_wait(&server.opened_count, 1));
    net_echo_stats(&server); // the loop has done with it
    int own = other_end(fd);
    ck_assert_int_eq(option_of(own, SOL_SOCKET, SO_KEEPALIVE), 1);
    int idle_s = option_of(own, IPPROTO_TCP, TCP_KEEPIDLE);
    int interval_s = option_of(own, IPPROTO_TCP, TCP_KEEPINTVL);
    int silence_ms = 1000 * (idle_s + option_of(own, IPPROTO_TCP, TCP_KEEPCNT) * interval_s);
    ck_assert_int_lt(silence_ms, VANISHED_MS);
    // Linux gives up a silent peer at the first probe that is due after the user timeout, where
    // there is one: it must not be later than the last of the probes
    int unacknowledged_ms = option_of(own, IPPROTO_TCP, TCP_USER_TIMEOUT);
    ck_assert_int_eq(unacknowledged_ms, patience[_i].is_limited ? silence_ms : 0);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(no_more_than_requests_max_are_under_way_and_none_is_lost) {
    enum { LIMIT = 3, COUNT = 100 };
    start((EchoDef){.lane_count = 2, .net = {.requests_max = LIMIT}});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[300];
    uv_mutex_lock(&server.gate); // nothing is answered
    for (uint32_t i = 0; i < COUNT; i++) {
        ck_assert(net_client_send_frame(fd, body, fill_body(body, i, sizeof(body))));
    }
    ck_assert(net_echo_wait(&server.frame_count, LIMIT));
    uv_sleep(50);
    ck_assert_uint_eq(server.frame_count, LIMIT);
    uv_mutex_unlock(&server.gate);

    for (uint32_t i = 0; i < COUNT; i++) {
        check_body(body, net_client_receive_frame(fd, body, sizeof(body)), i, sizeof(body));
    }
    ck_assert_uint_eq(server.under_way_max, LIMIT);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_paused_connection_whose_peer_goes_is_closed) {
    start((EchoDef){.lane_count = 1, .net = {.requests_max = 1}});
    int fd = net_client_connect(address_of(_i));
    uv_mutex_lock(&server.gate);
    for (uint32_t i = 0; i < 10; i++) {
        ck_assert(net_client_send_frame(fd, "hello", 5));
    }
    ck_assert(net_echo_wait(&server.frame_count, 1));
    close(fd);
    ck_assert(net_echo_wait(&server.closed_count, 1)); // while its request is still under way
    uv_mutex_unlock(&server.gate);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_peer_that_never_reads_is_bounded_and_cut_while_others_are_served) {
    enum { BODY = 100000, UNSENT_MAX = 1000000, REQUESTS_MAX = 4, REPEAT = 2, TIMEOUT_MS = 700 };
    static uint8_t body[BODY];
    static uint8_t frame[FRAME_HEADER_BYTES + BODY];
    size_t sent = 0; // of the present frame
    frame_header(frame, BODY);
    start((EchoDef){.lane_count = 2,
                    .repeat = REPEAT,
                    .net = {.unsent_bytes_max = UNSENT_MAX,
                            .requests_max = REQUESTS_MAX,
                            .write_timeout_ms = TIMEOUT_MS}});
    int slow = net_client_connect_narrow(address_of(_i));
    int other = net_client_connect(address_of(_i));
    uint64_t begin_ns = clock_now_ns();
    size_t unsent_max = 0;
    uint32_t served = 0;
    bool is_cut = false;
    while (!is_cut && clock_now_ns() - begin_ns < PATIENCE_MS * 1000000ull) {
        // as much as the server takes, and no byte read back
        ssize_t count = 0;
        do {
            sent = (sent + (size_t)count) % sizeof(frame);
            count = send(slow, frame + sent, sizeof(frame) - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        } while (count > 0);
        ck_assert(net_client_send_frame(other, "hello", 5));
        for (int i = 0; i < REPEAT; i++) {
            ck_assert_int_eq(net_client_receive_frame(other, body, BODY), 5);
        }
        served++;
        size_t unsent = net_echo_unsent_bytes(&server);
        unsent_max = unsent > unsent_max ? unsent : unsent_max;
        is_cut = net_echo_stats(&server).slow_count == 1;
    }
    ck_assert(is_cut);
    ck_assert_uint_gt(served, 10);
    // what was under way when the limit was reached may come on top
    ck_assert_uint_le(unsent_max, UNSENT_MAX + REQUESTS_MAX * REPEAT * (BODY + FRAME_HEADER_BYTES));
    ck_assert(net_echo_wait(&server.closed_count, 1));
    close(slow);
    close(other);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_slow_reader_that_goes_on_reading_gets_everything) {
    enum { BODY = 200000, COUNT = 40 };
    static uint8_t body[BODY], back[BODY];
    start((EchoDef){.lane_count = 2, .net = {.unsent_bytes_max = 500000, .write_timeout_ms = 600}});
    int fd = net_client_connect_narrow(address_of(_i));
    Stream other = {.address = address_of(_i), .count = 500, .bytes_max = 64, .ahead = 8};
    uint32_t sent = 0;
    for (; sent < 3; sent++) {
        memset(body, (int)sent, BODY);
        ck_assert(net_client_send_frame(fd, body, BODY));
    }
    run_streams(&other, 1);
    uv_sleep(300);
    for (uint32_t i = 0; i < COUNT; i++) {
        uv_sleep(50); // so that all takes longer than the timeout, and no single wait does
        memset(body, (int)i, BODY);
        ck_assert_int_eq(net_client_receive_frame(fd, back, BODY), BODY);
        ck_assert_mem_eq(back, body, BODY);
        if (sent < COUNT) {
            memset(body, (int)sent++, BODY);
            ck_assert(net_client_send_frame(fd, body, BODY));
        }
    }
    ck_assert_uint_eq(net_echo_stats(&server).slow_count, 0);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(lanes_may_go_on_sending_to_a_connection_that_is_closed) {
    enum { PEERS = 20, FRAMES = 30 };
    start((EchoDef){.lane_count = 7, .repeat = 50});
    for (int round = 0; round < 5; round++) {
        int fds[PEERS];
        for (int i = 0; i < PEERS; i++) {
            fds[i] = net_client_connect(address_of(i));
            for (int j = 0; j < FRAMES; j++) {
                ck_assert(net_client_send_frame(fds[i], "some bytes", 10));
            }
        }
        for (int i = 0; i < PEERS; i++) {
            close(fds[i]); // with replies unread, and others not yet made
        }
    }
    ck_assert(net_echo_wait(&server.closed_count, 5 * PEERS));
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_peer_that_refuses_a_lanes_bytes_is_closed) {
    start((EchoDef){.lane_count = 1});
    int fd = net_client_connect(server.local_address);
    uv_mutex_lock(&server.gate);
    ck_assert(net_client_send_frame(fd, "hello", 5));
    ck_assert(net_echo_wait(&server.frame_count, 1));
    // of which the server's socket says nothing until it writes
    ck_assert_int_eq(shutdown(fd, SHUT_RD), 0);
    uv_mutex_unlock(&server.gate);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_handler_may_close_its_connection) {
    start((EchoDef){.lane_count = 2, .closes_on_frame = true});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[10];
    for (int i = 0; i < 3; i++) {
        net_client_send_frame(fd, "hello", 5);
    }
    while (net_client_receive_frame(fd, body, sizeof(body)) >= 0) {
    }
    ck_assert(net_echo_wait(&server.closed_count, 1));
    ck_assert_uint_eq(server.frame_count, 1); // no frame after it
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(stopping_closes_connections_with_requests_under_way) {
    enum { PEERS = 8 };
    start((EchoDef){.lane_count = 2});
    int fds[PEERS];
    uv_mutex_lock(&server.gate);
    for (int i = 0; i < PEERS; i++) {
        fds[i] = net_client_connect(address_of(i));
        ck_assert(net_client_send_frame(fds[i], "hello", 5));
    }
    ck_assert(net_echo_wait(&server.frame_count, PEERS));
    uv_mutex_unlock(&server.gate);
    net_echo_stop(&server);
    for (int i = 0; i < PEERS; i++) {
        close(fds[i]);
    }
}
END_TEST

START_TEST(after_stop_reading_replies_still_go_out_and_no_frame_comes_in) {
    start((EchoDef){.lane_count = 1});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[10];
    uv_mutex_lock(&server.gate);
    ck_assert(net_client_send_frame(fd, "first", 5));
    ck_assert(net_echo_wait(&server.frame_count, 1));
    net_echo_stop_reading(&server);
    ck_assert(net_client_send_frame(fd, "second", 6));
    uv_mutex_unlock(&server.gate);
    ck_assert_int_eq(net_client_receive_frame(fd, body, sizeof(body)), 5);
    uv_sleep(50);
    ck_assert_uint_eq(server.frame_count, 1);
    close(fd);
    ck_assert(net_echo_wait(&server.closed_count, 1)); // the peer's end is still noticed
    net_echo_stop(&server);
}
END_TEST

START_TEST(a_peer_that_never_says_hello_is_told_so_and_cut) {
    start((EchoDef){.net = {.hello_timeout_ms = 100}});
    int fd = net_client_connect(address_of(_i));
    uint8_t body[1];
    expect_sentence(fd, "--hello-timeout-ms");
    ck_assert_int_eq(net_client_receive_frame(fd, body, 1), -1);
    ck_assert_uint_eq(net_echo_stats(&server).slow_count, 0);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

START_TEST(above_connections_max_peers_are_refused_and_counted) {
    enum { LIMIT = 5, TRIED = 12 };
    start((EchoDef){.net = {.connections_max = LIMIT}});
    int fds[TRIED];
    uint8_t body[10];
    int served = 0;
    for (int i = 0; i < TRIED; i++) {
        fds[i] = net_client_connect(address_of(_i));
        net_client_send_frame(fds[i], "hello", 5);
        served += net_client_receive_frame(fds[i], body, sizeof(body)) == 5;
    }
    ck_assert_int_eq(served, LIMIT);
    NetStats stats = net_echo_stats(&server);
    ck_assert_uint_eq(stats.connection_count, LIMIT);
    ck_assert_uint_eq(stats.refused_count, TRIED - LIMIT);
    ck_assert_uint_eq(stats.bytes_in, (uint64_t)LIMIT * 9);
    ck_assert_uint_eq(stats.bytes_out, (uint64_t)LIMIT * 9);
    for (int i = 0; i < TRIED; i++) {
        close(fds[i]);
    }
    // and a place that is given back is given again
    ck_assert(net_echo_wait(&server.closed_count, LIMIT));
    int fd = net_client_connect(address_of(_i));
    ck_assert(net_client_send_frame(fd, "hello", 5));
    ck_assert_int_eq(net_client_receive_frame(fd, body, sizeof(body)), 5);
    close(fd);
    net_echo_stop(&server);
}
END_TEST

static long resident_kib(void) {
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    ck_assert(file != NULL && fscanf(file, "%*d %ld", &pages) == 1);
    fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

START_TEST(a_thousand_idle_connections_cost_little_memory_and_no_time) {
    enum { COUNT = 1000 };
    struct rlimit files = {.rlim_cur = 4096, .rlim_max = 4096};
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    if (files.rlim_cur < 2 * COUNT + 100) {
        return; // both ends live in this process
    }
    start((EchoDef){.lane_count = 2});
    static int fds[COUNT];
    static uint8_t body[30000];
    long before_kib = resident_kib();
    for (int i = 0; i < COUNT; i++) {
        fds[i] = net_client_connect(address_of(_i));
        // in two pieces, so that the connection needs a buffer of its own, which it gives back
        // afterwards
        uint8_t header[FRAME_HEADER_BYTES];
        frame_header(header, sizeof(body));
        ck_assert(net_client_write(fds[i], header, sizeof(header)));
        uv_sleep(1);
        ck_assert(net_client_write(fds[i], body, sizeof(body)));
        ck_assert_int_eq(net_client_receive_frame(fds[i], body, sizeof(body)), sizeof(body));
    }
    long cost_kib = resident_kib() - before_kib;
    // about 1 KiB each; the sanitizers keep freed memory aside and are not measured
#ifndef MOREAU_VALIDATE
    ck_assert_int_lt(cost_kib, 8 * COUNT);
#endif
    (void)cost_kib;

    uv_sleep(100);
    struct rusage first, second;
    getrusage(RUSAGE_SELF, &first);
    uv_sleep(300);
    getrusage(RUSAGE_SELF, &second);
    ck_assert_int_le(second.ru_nvcsw - first.ru_nvcsw,
                     20); // our own sleep and the sanitizer's thread; nobody polls
    for (int i = 0; i < COUNT; i++) {
        close(fds[i]);
    }
    net_echo_stop(&server);
}
END_TEST

// over TCP and over a Unix socket
#define ADD_BOTH(tcase, test) tcase_add_loop_test(tcase, test, 0, 2)

static TCase *case_frames(void) {
    TCase *tcase = tcase_create("frames");
    tcase_set_timeout(tcase, 100);
    tcase_add_loop_test(tcase, every_frame_comes_back_in_order, 0, 8);
    ADD_BOTH(tcase, frames_may_be_cut_at_every_byte);
    ADD_BOTH(tcase, a_frame_of_the_limit_is_served_and_one_byte_more_is_refused_with_an_answer);
    ADD_BOTH(tcase, a_stream_that_ends_inside_a_frame_is_malformed);
    ADD_BOTH(tcase, what_came_before_a_malformed_frame_is_answered_first);
    ADD_BOTH(tcase, what_takes_too_long_before_a_malformed_frame_is_not_waited_for);
    ADD_BOTH(tcase, a_malformed_peer_that_reads_nothing_is_cut);
    ADD_BOTH(tcase, a_malformed_peer_that_leaves_is_let_go);
    ADD_BOTH(tcase, a_browser_is_answered_in_its_own_words);
    tcase_add_loop_test(tcase, a_peer_that_vanished_is_found_in_time, 0, 3);
    return tcase;
}

static TCase *case_backpressure(void) {
    TCase *tcase = tcase_create("backpressure");
    tcase_set_timeout(tcase, 60);
    ADD_BOTH(tcase, no_more_than_requests_max_are_under_way_and_none_is_lost);
    ADD_BOTH(tcase, a_paused_connection_whose_peer_goes_is_closed);
    ADD_BOTH(tcase, a_peer_that_never_reads_is_bounded_and_cut_while_others_are_served);
    ADD_BOTH(tcase, a_slow_reader_that_goes_on_reading_gets_everything);
    return tcase;
}

static TCase *case_life(void) {
    TCase *tcase = tcase_create("life");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, lanes_may_go_on_sending_to_a_connection_that_is_closed);
    tcase_add_test(tcase, a_peer_that_refuses_a_lanes_bytes_is_closed);
    ADD_BOTH(tcase, a_handler_may_close_its_connection);
    tcase_add_test(tcase, stopping_closes_connections_with_requests_under_way);
    ADD_BOTH(tcase, after_stop_reading_replies_still_go_out_and_no_frame_comes_in);
    ADD_BOTH(tcase, a_peer_that_never_says_hello_is_told_so_and_cut);
    return tcase;
}

static TCase *case_many(void) {
    TCase *tcase = tcase_create("many");
    tcase_set_timeout(tcase, 60);
    ADD_BOTH(tcase, above_connections_max_peers_are_refused_and_counted);
    ADD_BOTH(tcase, a_thousand_idle_connections_cost_little_memory_and_no_time);
    return tcase;
}

SUITE_MAIN("net/connection", case_frames, case_backpressure, case_life, case_many)
