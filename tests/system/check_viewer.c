// SPDX-License-Identifier: MIT
// The WebSocket of --http over raw sockets: it carries the protocol's own messages, changes
// nothing, and whoever speaks it badly harms himself alone.
#include "support/machine.h"
#include "support/net_client.h"
#include "support/server_process.h"
#include "support/suite.h"
#include "support/wire_client.h"
#include "support/wire_world.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static ServerProcess *server;
static WireClient *client;

static const char *pages(void) {
    return server->address[server->address_count - 1];
}

static void open_server(const char *options) {
    server = server_start(options);
    client = wire_open(server->address[0]);
}

static void close_server(void) {
    wire_close(client);
    server_stop(server);
}

// ---- a WebSocket of the simplest kind

enum { OPCODE_CONTINUATION = 0, OPCODE_TEXT = 1, OPCODE_BINARY = 2, OPCODE_CLOSE = 8 };
enum { MESSAGE_BYTES_MAX = 1 << 20 };

typedef struct Browser {
    int fd;
    uint64_t last_id;
    size_t bytes; // of the message that came last
    uint8_t message[MESSAGE_BYTES_MAX];
} Browser;

// The status of the answer, 101 where the WebSocket is open. `headers` are whole lines.
static int shake_hands(int fd, const char *headers, char *head, size_t capacity) {
    char request[2048];
    int status = 0;
    snprintf(request, sizeof(request),
             "GET /v1/live HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"
             "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
             "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n%s\r\n",
             headers);
    ck_assert(net_client_write(fd, request, strlen(request)));
    size_t used = 0;
    while (used + 1 < capacity && (used < 4 || memcmp(head + used - 4, "\r\n\r\n", 4) != 0) &&
           net_client_read(fd, head + used, 1)) {
        used++;
    }
    head[used] = '\0';
    sscanf(head, "HTTP/1.%*c %d", &status);
    return status;
}

#define OURS "Sec-WebSocket-Protocol: moreau.v1\r\n"

static Browser *open_browser(const char *headers) {
    char head[2048];
    Browser *browser = calloc(1, sizeof(*browser));
    browser->fd = net_client_connect(pages());
    ck_assert_int_ge(browser->fd, 0);
    ck_assert_int_eq(shake_hands(browser->fd, headers, head, sizeof(head)), 101);
    ck_assert_ptr_nonnull(strstr(head, "Sec-WebSocket-Protocol: moreau.v1\r\n"));
    // the answer to this key in RFC 6455, section 1.3
    ck_assert_ptr_nonnull(strstr(head, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    return browser;
}

static void close_browser(Browser *browser) {
    close(browser->fd);
    free(browser);
}

static void send_piece(Browser *browser, int opcode, bool is_last, const void *bytes,
                       size_t count) {
    uint8_t *frame = malloc(14 + count), *at = frame;
    static const uint8_t mask[4] = {0x12, 0x34, 0x56, 0x78};
    *at++ = (uint8_t)((is_last ? 0x80 : 0) | opcode);
    if (count < 126) {
        *at++ = (uint8_t)(0x80 | count);
    } else {
        *at++ = 0xff;
        for (int i = 7; i >= 0; i--) {
            *at++ = (uint8_t)((uint64_t)count >> (8 * i));
        }
    }
    memcpy(at, mask, 4);
    for (size_t i = 0; i < count; i++) {
        at[4 + i] = ((const uint8_t *)bytes)[i] ^ mask[i % 4];
    }
    net_client_write(browser->fd, frame, (size_t)(at - frame) + 4 + count);
    free(frame);
}

// The opcode of the next message, which may come in pieces; -1: the connection has ended.
static int receive(Browser *browser) {
    uint8_t head[2], longer[8];
    int opcode = -1;
    browser->bytes = 0;
    do {
        if (!net_client_read(browser->fd, head, 2)) {
            return -1;
        }
        ck_assert_int_eq(head[1] & 0x80, 0); // a server masks nothing
        uint64_t count = head[1];
        size_t more = count == 126 ? 2 : count == 127 ? 8 : 0;
        if (more > 0) {
            ck_assert(net_client_read(browser->fd, longer, more));
            count = 0;
            for (size_t i = 0; i < more; i++) {
                count = count << 8 | longer[i];
            }
        }
        ck_assert_uint_le(browser->bytes + count, MESSAGE_BYTES_MAX);
        ck_assert(net_client_read(browser->fd, browser->message + browser->bytes, count));
        browser->bytes += count;
        ck_assert_int_eq(head[0] & 0xf, opcode < 0 ? head[0] & 0xf : OPCODE_CONTINUATION);
        opcode = opcode < 0 ? head[0] & 0xf : opcode;
    } while ((head[0] & 0x80) == 0);
    return opcode;
}

static uint64_t submit(Browser *browser, const void *call) {
    Moreau__V1__Request request = wire_request(call);
    uint8_t bytes[4096];
    request.has_id = 1;
    request.id = ++browser->last_id;
    size_t count = moreau__v1__request__get_packed_size(&request);
    ck_assert_uint_le(count, sizeof(bytes));
    moreau__v1__request__pack(&request, bytes);
    send_piece(browser, OPCODE_BINARY, true, bytes, count);
    return request.id;
}

// The caller frees it.
static Moreau__V1__Reply *receive_reply(Browser *browser) {
    ck_assert_int_eq(receive(browser), OPCODE_BINARY);
    Moreau__V1__Reply *reply = moreau__v1__reply__unpack(NULL, browser->bytes, browser->message);
    ck_assert_ptr_nonnull(reply);
    return reply;
}

static void expect(Browser *browser, const void *call, Moreau__V1__Status__Code code,
                   const char *field) {
    submit(browser, call);
    Moreau__V1__Reply *reply = receive_reply(browser);
    wire_expect(reply, code, field);
    moreau__v1__reply__free_unpacked(reply, NULL);
}

static Moreau__V1__Hello hello_call(const char *token) {
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1;
    hello.protocol_major = 1;
    hello.token = (char *)token;
    return hello;
}

static Browser *greet(void) {
    Browser *browser = open_browser(OURS);
    Moreau__V1__Hello hello = hello_call(NULL);
    expect(browser, &hello, CODE(OK), NULL);
    return browser;
}

// ---- who is let in

static int status_of(const char *headers) {
    char head[2048];
    int fd = net_client_connect(pages());
    int status = shake_hands(fd, headers, head, sizeof(head));
    close(fd);
    return status;
}

START_TEST(the_token_travels_as_a_protocol) {
    char folder[SERVER_FOLDER_BYTES], options[256];
    server_make_folder(folder);
    server_write(folder, "token", "open sesame\n");
    snprintf(options, sizeof(options), "--workers 1 --token-file %s/token --http 127.0.0.1:0",
             folder);
    server = server_start(options);
    ck_assert_int_eq(status_of(OURS), 401);
    ck_assert_int_eq(status_of("Sec-WebSocket-Protocol: moreau.v1, token.b3BlbiBzZXNhbWU\r\n"),
                     101);
    ck_assert_int_eq(status_of("Origin: https://elsewhere.example\r\n"
                               "Sec-WebSocket-Protocol: moreau.v1, token.b3BlbiBzZXNhbWU\r\n"),
                     101);
    ck_assert_int_eq(status_of("Sec-WebSocket-Protocol: moreau.v1, token.b3BlbiBzZXNhbWV\r\n"),
                     401);
    // and Hello asks for it too, as on any connection
    Browser *browser = open_browser("Sec-WebSocket-Protocol: moreau.v1, token.b3BlbiBzZXNhbWU\r\n");
    Moreau__V1__Hello hello = hello_call("open sesam");
    expect(browser, &hello, CODE(UNAUTHENTICATED), "token");
    ck_assert_int_eq(receive(browser), -1);
    close_browser(browser);
    server_stop(server);
    server_remove_folder(folder);
}
END_TEST

START_TEST(a_foreign_page_is_not_let_in_without_a_token) {
    open_server("--workers 1 --http 127.0.0.1:0");
    ck_assert_int_eq(status_of(OURS), 101);
    ck_assert_int_eq(status_of(OURS "Origin: http://localhost\r\n"), 101);
    ck_assert_int_eq(status_of(OURS "Origin: null\r\n"), 403);
    ck_assert_int_eq(status_of(OURS "Origin: https://elsewhere.example\r\n"), 403);
    ck_assert_int_eq(status_of(""), 400);
    ck_assert_int_eq(status_of("Sec-WebSocket-Protocol: chat\r\n"), 400);
    close_server();
}
END_TEST

START_TEST(there_are_so_many_viewers_and_the_pages_still_answer) {
    enum { VIEWERS = 3 };
    open_server("--workers 1 --http 127.0.0.1:0 --http-viewers-max 3 --http-connections-max 2");
    Browser *browsers[VIEWERS];
    for (int i = 0; i < VIEWERS; i++) {
        browsers[i] = greet();
    }
    ck_assert_int_eq(status_of(OURS), 503);
    int fd = net_client_connect(pages());
    const char *request = "GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    char answer[12];
    ck_assert(net_client_write(fd, request, strlen(request)));
    ck_assert(net_client_read(fd, answer, sizeof(answer)));
    ck_assert_mem_eq(answer, "HTTP/1.1 200", sizeof(answer));
    close(fd);
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    for (int i = 0; i < VIEWERS; i++) {
        expect(browsers[i], &ping, CODE(OK), NULL);
        close_browser(browsers[i]);
    }
    close_server();
}
END_TEST

// ---- what is said

START_TEST(a_viewer_sees_and_changes_nothing) {
    open_server("--workers 2 --http 127.0.0.1:0");
    uint64_t world = wire_small_world(client), hash = wire_hash(client, world);
    Browser *browser = greet();
    Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
    get.has_world = 1;
    get.world = world;
    expect(browser, &get, CODE(OK), NULL);
    Moreau__V1__WorldScene scene = MOREAU__V1__WORLD_SCENE__INIT;
    scene.has_world = 1;
    scene.world = world;
    expect(browser, &scene, CODE(OK), NULL);
    Moreau__V1__WorldStep step = wire_step_call(&world, 1);
    expect(browser, &step, CODE(PERMISSION_DENIED), NULL);
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    expect(browser, &create, CODE(PERMISSION_DENIED), NULL);
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    destroy.has_world = 1;
    destroy.world = world;
    expect(browser, &destroy, CODE(PERMISSION_DENIED), NULL);
    Moreau__V1__SnapshotTake take = MOREAU__V1__SNAPSHOT_TAKE__INIT;
    take.has_world = 1;
    take.world = world;
    expect(browser, &take, CODE(PERMISSION_DENIED), NULL);
    ck_assert_uint_eq(wire_hash(client, world), hash);
    close_browser(browser);

    browser = open_browser(OURS);
    Moreau__V1__Hello hello = hello_call(NULL);
    hello.has_resumable = hello.resumable = 1;
    expect(browser, &hello, CODE(PERMISSION_DENIED), "resume");
    close_browser(browser);
    close_server();
}
END_TEST

// What comes through the WebSocket is what a connection would get: frames of several pieces too.
START_TEST(a_world_is_watched) {
    open_server("--workers 2 --http 127.0.0.1:0");
    enum { WIDE = 3000 };
    WireWorld world = wire_world(client, WIDE, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Browser *browser = greet();
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_world = call.has_frames_per_second = call.has_scene = 1;
    call.world = world.id;
    call.scene = 0;
    uint64_t id = submit(browser, &call);
    for (uint64_t step = 0; step <= 20; step++) {
        Moreau__V1__Reply *reply = receive_reply(browser);
        while (reply->live_frame->frames->step[0] < step) {
            moreau__v1__reply__free_unpacked(reply, NULL);
            reply = receive_reply(browser);
        }
        ck_assert_uint_eq(reply->id, id);
        Moreau__V1__WorldGet get = MOREAU__V1__WORLD_GET__INIT;
        get.has_world = 1;
        get.world = world.id;
        const Moreau__V1__WorldGetReply *state = wire_accept(client, &get)->world_get;
        ck_assert_uint_eq(reply->live_frame->frames->n_pose, state->n_pose);
        ck_assert_mem_eq(reply->live_frame->frames->pose, state->pose,
                         state->n_pose * sizeof(double));
        moreau__v1__reply__free_unpacked(reply, NULL);
        wire_step(client, world.id, 1);
    }
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1;
    cancel.request = id;
    submit(browser, &cancel);
    Moreau__V1__Reply *reply = receive_reply(browser);
    while (reply->event || reply->id != id) {
        moreau__v1__reply__free_unpacked(reply, NULL);
        reply = receive_reply(browser);
    }
    wire_expect(reply, CODE(CANCELLED), NULL);
    moreau__v1__reply__free_unpacked(reply, NULL);
    close_browser(browser);
    close_server();
}
END_TEST

START_TEST(a_viewer_who_never_reads_holds_up_nobody) {
    open_server("--workers 2 --http 127.0.0.1:0");
    WireWorld world = wire_world(client, 2000, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Browser *silent = greet(), *other = greet();
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_world = call.has_frames_per_second = call.has_scene = 1;
    call.world = world.id;
    call.scene = 0;
    submit(silent, &call);
    enum { STEPS = 100 };
    wire_step(client, world.id, STEPS);
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    expect(other, &ping, CODE(OK), NULL);
    // what waits is little, and the latest comes behind it
    Moreau__V1__Reply *reply = receive_reply(silent);
    while (reply->live_frame->frames->step[0] < STEPS) {
        moreau__v1__reply__free_unpacked(reply, NULL);
        reply = receive_reply(silent);
    }
    moreau__v1__reply__free_unpacked(reply, NULL);
    close_browser(silent);
    close_browser(other);
    close_server();
}
END_TEST

// ---- what is said badly

// The connection ends, with this status of a close where there is one; the others go on.
static void expect_end(Browser *browser, int status) {
    int opcode = receive(browser);
    while (opcode == OPCODE_BINARY) { // why
        opcode = receive(browser);
    }
    ck_assert_int_eq(opcode, status == 0 ? -1 : OPCODE_CLOSE);
    if (status != 0) {
        ck_assert_int_eq(browser->message[0] << 8 | browser->message[1], status);
    }
    close_browser(browser);
}

START_TEST(what_is_no_message_ends_its_connection_alone) {
    open_server("--workers 1 --http 127.0.0.1:0");
    static const uint8_t zeros[70000];
    Browser *witness = greet();

    Browser *browser = greet();
    send_piece(browser, OPCODE_TEXT, true, "hello", 5);
    expect_end(browser, 1003);
    browser = greet();
    send_piece(browser, OPCODE_BINARY, true, zeros, sizeof(zeros));
    expect_end(browser, 1009);
    browser = greet();
    for (int i = 0; i < 7; i++) {
        send_piece(browser, i == 0 ? OPCODE_BINARY : OPCODE_CONTINUATION, false, zeros, 10000);
    }
    expect_end(browser, 1009);
    browser = greet();
    send_piece(browser, OPCODE_BINARY, true, "garbage", 7);
    expect_end(browser, 0);
    browser = greet();
    net_client_write(browser->fd, "\x82\x05hello", 7); // not masked
    shutdown(browser->fd, SHUT_WR);
    close_browser(browser);
    browser = greet();
    send_piece(browser, OPCODE_BINARY, false, "half", 4);
    close_browser(browser);

    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    expect(witness, &ping, CODE(OK), NULL);
    close_browser(witness);
    close_server();
}
END_TEST

// Who watches when the server is told to end does not keep it.
START_TEST(a_server_ends_while_worlds_are_watched) {
    open_server("--workers 2 --http 127.0.0.1:0");
    WireWorld world = wire_world(client, 100, 1, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Browser *browser = greet();
    Moreau__V1__Subscribe call = MOREAU__V1__SUBSCRIBE__INIT;
    call.has_world = 1;
    call.world = world.id;
    submit(browser, &call);
    Moreau__V1__Reply *reply = receive_reply(browser);
    ck_assert_ptr_nonnull(reply->live_frame);
    moreau__v1__reply__free_unpacked(reply, NULL);
    wire_close(client);
    server_stop(server);
    while (receive(browser) == OPCODE_BINARY) {
    }
    close_browser(browser);
}
END_TEST

// A request in as many pieces as it has bytes is one all the same.
START_TEST(a_message_may_come_in_pieces) {
    open_server("--workers 1 --http 127.0.0.1:0");
    Browser *browser = greet();
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    ping.has_payload = 1;
    ping.payload = 12345678901234567u;
    Moreau__V1__Request request = wire_request(&ping);
    request.has_id = 1;
    request.id = 77;
    uint8_t bytes[64];
    size_t count = moreau__v1__request__pack(&request, bytes);
    for (size_t i = 0; i < count; i++) {
        send_piece(browser, i == 0 ? OPCODE_BINARY : OPCODE_CONTINUATION, i + 1 == count, bytes + i,
                   1);
    }
    Moreau__V1__Reply *reply = receive_reply(browser);
    ck_assert_uint_eq(reply->id, 77);
    ck_assert_uint_eq(reply->pong->payload, ping.payload);
    moreau__v1__reply__free_unpacked(reply, NULL);
    close_browser(browser);
    close_server();
}
END_TEST

// More requests than a connection may have under way, without reading a reply: they wait, none is
// lost, and the rest of the server does not notice.
START_TEST(a_thousand_requests_at_once_are_all_answered) {
    open_server("--workers 1 --http 127.0.0.1:0 --requests-max 4");
    enum { REQUESTS = 1000 };
    Browser *browser = greet();
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    for (int i = 0; i < REQUESTS; i++) {
        submit(browser, &ping);
    }
    wire_ping(client);
    for (uint64_t i = 0; i < REQUESTS; i++) {
        Moreau__V1__Reply *reply = receive_reply(browser);
        ck_assert_uint_eq(reply->id, 2 + i); // behind Hello
        moreau__v1__reply__free_unpacked(reply, NULL);
    }
    close_browser(browser);
    close_server();
}
END_TEST

// ---- the page

// The beginning of what is answered at /.
static void read_page(char *answer, size_t bytes) {
    int fd = net_client_connect(pages());
    const char *request = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    ck_assert(net_client_write(fd, request, strlen(request)));
    size_t used = 0;
    while (used < bytes - 1 && net_client_read(fd, answer + used, 1)) {
        used++;
    }
    answer[used] = '\0';
    close(fd);
}

START_TEST(without_an_option_the_page_is_the_one_that_came_with_the_server) {
    char answer[2048];
    server = server_start("--workers 1 --http 127.0.0.1:0");
    read_page(answer, sizeof(answer));
    ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 200"));
    ck_assert_ptr_nonnull(strstr(answer, "<title>Moreau"));
    server_stop(server);
}
END_TEST

START_TEST(the_page_is_shown_where_there_is_one) {
    char folder[SERVER_FOLDER_BYTES], options[256], said[512], answer[1024] = "";
    server_make_folder(folder);
    server_write(folder, "page.html", "<!doctype html><title>worlds</title>");
    snprintf(options, sizeof(options), "--workers 1 --http 127.0.0.1:0 --viewer %s/page.html",
             folder);
    server = server_start(options);
    read_page(answer, sizeof(answer));
    ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 200"));
    ck_assert_ptr_nonnull(strstr(answer, "content-type: text/html; charset=utf-8"));
    ck_assert_ptr_nonnull(strstr(answer, "<title>worlds</title>"));
    server_stop(server);
    snprintf(options, sizeof(options), "--http 127.0.0.1:0 --viewer %s/none", folder);
    ck_assert_int_ne(server_refusal(options, said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "none"));
    server_remove_folder(folder);
}
END_TEST

static TCase *case_entry(void) {
    TCase *tcase = tcase_create("who is let in");
    tcase_add_test(tcase, the_token_travels_as_a_protocol);
    tcase_add_test(tcase, a_foreign_page_is_not_let_in_without_a_token);
    tcase_add_test(tcase, there_are_so_many_viewers_and_the_pages_still_answer);
    return tcase;
}

static TCase *case_said(void) {
    TCase *tcase = tcase_create("what is said");
    tcase_add_test(tcase, a_viewer_sees_and_changes_nothing);
    tcase_add_test(tcase, a_world_is_watched);
    tcase_add_test(tcase, a_viewer_who_never_reads_holds_up_nobody);
    tcase_add_test(tcase, what_is_no_message_ends_its_connection_alone);
    tcase_add_test(tcase, a_server_ends_while_worlds_are_watched);
    tcase_add_test(tcase, a_message_may_come_in_pieces);
    tcase_add_test(tcase, a_thousand_requests_at_once_are_all_answered);
    tcase_add_test(tcase, without_an_option_the_page_is_the_one_that_came_with_the_server);
    tcase_add_test(tcase, the_page_is_shown_where_there_is_one);
    return tcase;
}

SUITE_MAIN("system/viewer", case_entry, case_said)
