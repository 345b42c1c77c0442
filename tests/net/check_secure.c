// SPDX-License-Identifier: MIT
// Connections under TLS over real sockets: they are what they are without, and whoever sends what
// is none, slowly, or too often, hurts nobody else.
#include "net/connection_parts.h"

#include "net/frame.h"
#include "os/clock.h"
#include "support/machine.h"
#include "support/net_authority.h"
#include "support/net_echo.h"
#include "support/net_tls_client.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static EchoServer server;
static char folder[32];

static TlsIdentity *load(const char *name, const char *client_ca) {
    char certificate[128], key[128], ca[128] = "";
    TlsIdentity *identity = NULL;
    Error error;
    snprintf(certificate, sizeof(certificate), "%s/%s.pem", folder, name);
    snprintf(key, sizeof(key), "%s/%s.key", folder, name);
    if (client_ca != NULL) {
        snprintf(ca, sizeof(ca), "%s/%s.pem", folder, client_ca);
    }
    const TlsFiles files = {certificate, key, ca};
    ck_assert_msg(tls_identity_load(&identity, &files, &error) == STATUS_OK, "%s", error.message);
    return identity;
}

// For one test, which runs in a process of its own.
static void start(EchoDef def, const char *client_ca) {
    strcpy(folder, "/tmp/moreau-tls-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    net_certify_all(folder);
    def.net.tls.identity = load("good", client_ca);
    net_echo_start(&server, &def);
}

static void stop(void) {
    char command[64];
    net_echo_stop(&server);
    snprintf(command, sizeof(command), "rm -r %s", folder);
    ck_assert_int_eq(system(command), 0);
}

static TlsClient come(void) {
    TlsClient client = net_tls_connect(server.tcp_address, &(TlsClientDef){.folder = folder});
    ck_assert_ptr_nonnull(client.ssl);
    return client;
}

static void check_echo(TlsClient *client, const char *text) {
    char answer[256];
    ck_assert(net_tls_send_frame(client, text, strlen(text)));
    ck_assert_int_eq(net_tls_receive_frame(client, answer, sizeof(answer)), (long)strlen(text));
    ck_assert_mem_eq(answer, text, strlen(text));
}

// ---- bytes

// Body number i: its length and bytes follow from i.
static size_t fill_body(uint8_t *body, uint32_t i, size_t bytes_max) {
    size_t count = 4 + (i * 2654435761u) % (bytes_max - 4);
    memcpy(body, &i, 4);
    memset(body + 4, (int)(i & 0xff), count - 4);
    return count;
}

static const struct {
    uint32_t lanes, ahead;
    size_t bytes_max;
    uint32_t count;
    bool scatters;
} streams[] = {
    {0, 1, 100, 300, false},    {1, 16, 100, 3000, false},  {0, 4, 200000, 100, false},
    {2, 8, 200000, 200, false}, {4, 8, 1000000, 60, false}, {4, 32, 40000, 1000, true},
    {4, 16, 400000, 200, true},
};

// Whatever their length is beside a record's, and whoever sends meanwhile: frames are whole.
START_TEST(every_byte_comes_back) {
    const uint32_t count = streams[_i].count;
    const size_t bytes_max = streams[_i].bytes_max;
    start((EchoDef){.lane_count = streams[_i].lanes, .scatters = streams[_i].scatters}, NULL);
    TlsClient client = come();
    uint8_t *body = malloc(bytes_max), *expected = malloc(bytes_max);
    bool *seen = calloc(count, sizeof(*seen));
    for (uint32_t sent = 0, received = 0; received < count; received++) {
        for (; sent < count && sent < received + streams[_i].ahead; sent++) {
            ck_assert(net_tls_send_frame(&client, body, fill_body(body, sent, bytes_max)));
        }
        long got = net_tls_receive_frame(&client, body, bytes_max);
        uint32_t which;
        ck_assert_int_ge(got, 4);
        memcpy(&which, body, sizeof(which));
        ck_assert(which < count && !seen[which] && (streams[_i].scatters || which == received));
        seen[which] = true;
        ck_assert_int_eq(got, (long)fill_body(expected, which, bytes_max));
        ck_assert_mem_eq(body, expected, (size_t)got);
    }
    free(body);
    free(expected);
    free(seen);
    net_tls_close(&client);
    stop();
}
END_TEST

// The queue of what the socket does not take is one of records, and they stay in order.
START_TEST(a_slow_reader_gets_everything) {
    enum { FRAMES = 40, BYTES = 300000 };
    start((EchoDef){.lane_count = 2, .net.requests_max = FRAMES}, NULL);
    TlsClient client = net_tls_connect(server.tcp_address,
                                       &(TlsClientDef){.folder = folder, .reads_narrowly = true});
    uint8_t *body = malloc(BYTES);
    for (uint32_t i = 0; i < FRAMES; i++) {
        memset(body, (int)i, BYTES);
        ck_assert(net_tls_send_frame(&client, body, BYTES));
    }
    for (uint32_t i = 0; i < FRAMES; i++) {
        ck_assert_int_eq(net_tls_receive_frame(&client, body, BYTES), BYTES);
        ck_assert_uint_eq(body[0], i);
        ck_assert_uint_eq(body[BYTES - 1], i);
    }
    free(body);
    net_tls_close(&client);
    stop();
}
END_TEST

// What stands in one packet with the end of the handshake is a frame like any other.
START_TEST(a_peer_that_says_its_last_word_is_told_the_same) {
    start((EchoDef){.lane_count = 1}, NULL);
    TlsClient client = come();
    check_echo(&client, "once");
    ck_assert_int_eq(SSL_shutdown(client.ssl), 0); // ours is sent, …
    ck_assert_int_eq(SSL_shutdown(client.ssl), 1); // … and the server's has come
    ck_assert(net_echo_wait(&server.closed_count, 1));
    net_tls_close(&client);
    stop();
}
END_TEST

// ---- other protocols

START_TEST(older_protocols_are_refused_and_counted) {
    static const int versions[] = {TLS1_VERSION, TLS1_1_VERSION, TLS1_2_VERSION};
    start((EchoDef){0}, NULL);
    TlsClient client = net_tls_connect(
        server.tcp_address, &(TlsClientDef){.folder = folder, .version_max = versions[_i]});
    ck_assert_ptr_null(client.ssl);
    net_tls_close(&client);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    const NetStats stats = net_echo_stats(&server);
    // (what is older than OpenSSL's own limit is not even asked for)
    ck_assert_uint_eq(stats.handshake_count, 0);
    ck_assert(stats.handshake_failed_count == 1 || versions[_i] != TLS1_2_VERSION);
    stop();
}
END_TEST

static const struct {
    const char *bytes;
    size_t count;
    const char *says;
} strangers[] = {
    {"\0\0\0\5hello", 9, "speaks TLS alone: connect to it as tls://"},
    {"\0", 1, "speaks TLS alone"},
    {"GET / HTTP/1.1\r\n\r\n", 18, "HTTP/1.1 400 Bad Request"},
    {"\x80\x2e\x01\x03\x01", 5, "speaks TLS alone"}, // the greeting of SSL 2
};

START_TEST(who_speaks_no_tls_is_told_so) {
    char answer[512] = "";
    size_t count = 0;
    start((EchoDef){0}, NULL);
    int fd = net_client_connect(server.tcp_address);
    ck_assert(net_client_write(fd, strangers[_i].bytes, strangers[_i].count));
    for (ssize_t got; (got = recv(fd, answer + count, sizeof(answer) - 1 - count, 0)) > 0;) {
        count += (size_t)got;
    }
    const char *text = answer[0] == '\0' ? answer + FRAME_HEADER_BYTES : answer;
    ck_assert_msg(strstr(text, strangers[_i].says) != NULL, "'%s'", text);
    close(fd);
    stop();
}
END_TEST

START_TEST(a_unix_socket_stays_plain) {
    char answer[16];
    start((EchoDef){0}, NULL);
    int fd = net_client_connect(server.local_address);
    ck_assert(net_client_send_frame(fd, "plain", 5));
    ck_assert_int_eq(net_client_receive_frame(fd, answer, sizeof(answer)), 5);
    close(fd);
    stop();
}
END_TEST

// ---- broken records

// Of a record: 0 its kind, 1 and 2 the version, 3 and 4 the length, then what is encrypted.
START_TEST(a_record_that_is_none_ends_its_connection_alone) {
    static const struct {
        const char *bytes;
        size_t count;
        int alert;
    } records[] = {
        {"\x17\x03\x03\x00\x20"
         "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef",
         37, SSL_AD_BAD_RECORD_MAC},
        {"\x17\x03\x03\xff\xff", 5, SSL_AD_RECORD_OVERFLOW},
        {"\x16\x03\x03\x00\x04\x01\x00\x00\x00", 9, SSL_AD_UNEXPECTED_MESSAGE}, // to begin anew
        {"\x15\x03\x03\x00\x02\x02\x28", 7, 0}, // an alert in the clear
        {"\0\0\0\5hello", 9, 0},
    };
    start((EchoDef){.lane_count = 1}, NULL);
    TlsClient other = come(), client = come();
    char answer[16];
    check_echo(&client, "before");
    ck_assert(net_client_write(client.fd, records[_i].bytes, records[_i].count));
    ck_assert_int_eq(net_tls_receive_frame(&client, answer, sizeof(answer)), -1);
    if (records[_i].alert != 0) {
        ck_assert_int_eq(client.alert, records[_i].alert);
    }
    ck_assert(net_echo_wait(&server.closed_count, 1));
    check_echo(&other, "still here");
    ck_assert_uint_eq(net_echo_stats(&server).handshake_failed_count, 1);
    net_tls_close(&client);
    net_tls_close(&other);
    stop();
}
END_TEST

START_TEST(a_record_that_is_cut_off_is_let_go) {
    start((EchoDef){.lane_count = 1}, NULL);
    TlsClient client = come();
    check_echo(&client, "before");
    ck_assert(net_client_write(client.fd, "\x17\x03\x03\x01\x00half", 9));
    shutdown(client.fd, SHUT_WR);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    net_tls_close(&client);
    stop();
}
END_TEST

START_TEST(keys_may_be_changed_and_not_for_ever) {
    enum { ENOUGH = 8, TOO_MANY = 200 };
    start((EchoDef){.lane_count = 1}, NULL);
    TlsClient client = come(), other = come();
    char answer[16];
    for (int i = 0; i < ENOUGH; i++) {
        ck_assert_int_eq(SSL_key_update(client.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        check_echo(&client, "with another key");
    }
    for (int i = 0; i < TOO_MANY; i++) {
        SSL_key_update(client.ssl, SSL_KEY_UPDATE_NOT_REQUESTED);
        SSL_do_handshake(client.ssl); // which sends it
    }
    net_tls_send_frame(&client, "no", 2);
    ck_assert_int_eq(net_tls_receive_frame(&client, answer, sizeof(answer)), -1);
    ck_assert(net_echo_wait(&server.closed_count, 1));
    check_echo(&other, "still here");
    net_tls_close(&client);
    net_tls_close(&other);
    stop();
}
END_TEST

// ---- handshakes

// Of a real greeting, each beginning of its bytes, and then nothing more.
START_TEST(who_greets_slowly_is_cut_and_holds_nobody_up) {
    static const uint8_t hello[] = {22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3, 0, 0, 0, 0, 0};
    enum { SLOW = 200 };
    int fds[SLOW];
    start((EchoDef){.lane_count = 1, .net.hello_timeout_ms = 1500}, NULL);
    for (size_t i = 0; i < SLOW; i++) {
        fds[i] = net_client_connect(server.tcp_address);
        ck_assert(net_client_write(fds[i], hello, i % (sizeof(hello) + 1)));
    }
    TlsClient client = come();
    check_echo(&client, "quick");
    ck_assert(net_echo_wait(&server.closed_count, SLOW + 1)); // (which never says Hello, either)
    ck_assert_uint_eq(net_echo_stats(&server).handshake_count, 1);
    for (size_t i = 0; i < SLOW; i++) { // and without a word, as there are no keys to say it with
        char word;
        ck_assert_int_eq(recv(fds[i], &word, 1, 0), 0);
        close(fds[i]);
    }
    net_tls_close(&client);
    stop();
}
END_TEST

START_TEST(a_greeting_may_come_byte_by_byte) {
    start((EchoDef){0}, NULL);
    int fd = net_client_connect(server.tcp_address);
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    BIO *in = BIO_new(BIO_s_mem()), *out = BIO_new(BIO_s_mem());
    SSL_set_bio(ssl, in, out);
    for (bool is_open = false; !is_open;) {
        uint8_t byte, records[4096];
        is_open = SSL_connect(ssl) == 1;
        while (BIO_read(out, &byte, 1) == 1) {
            ck_assert(net_client_write(fd, &byte, 1));
        }
        if (!is_open) {
            ssize_t got = recv(fd, records, sizeof(records), 0);
            ck_assert_int_gt(got, 0);
            BIO_write(in, records, (int)got);
        }
    }
    for (int i = 0; i < 20000 && net_echo_stats(&server).handshake_count == 0; i++) {
        uv_sleep(1);
    }
    ck_assert_uint_eq(net_echo_stats(&server).handshake_count, 1);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
    stop();
}
END_TEST

static void run_client(void *argument) {
    TlsClient client = come();
    (void)argument;
    check_echo(&client, "one of many");
    net_tls_close(&client);
}

START_TEST(many_at_once_are_all_served) {
    enum { MANY = 200 };
    uv_thread_t threads[MANY];
    start((EchoDef){.lane_count = 2}, NULL);
    for (size_t i = 0; i < MANY; i++) {
        ck_assert_int_eq(uv_thread_create(&threads[i], run_client, NULL), 0);
    }
    for (size_t i = 0; i < MANY; i++) {
        uv_thread_join(&threads[i]);
    }
    ck_assert_uint_eq(net_echo_stats(&server).handshake_count, MANY);
    stop();
}
END_TEST

// Ten seconds' worth at once, then one a second.
START_TEST(a_machine_that_comes_too_often_waits) {
    start((EchoDef){.net.tls.handshakes_per_s = 1}, NULL);
    const uint64_t begun_ns = clock_now_ns();
    for (int i = 0; i < TLS_RATE_BURST_S; i++) {
        TlsClient client = come();
        net_tls_close(&client);
    }
    TlsClient client = come();
    // the bucket fills from the first one on
    ck_assert_uint_ge(clock_now_ns() - begun_ns, UINT64_C(900000000));
    check_echo(&client, "at last");
    net_tls_close(&client);
    stop();
}
END_TEST

START_TEST(above_connections_max_an_alert_says_so) {
    start((EchoDef){.net.connections_max = 1}, NULL);
    TlsClient first = come();
    TlsClient second = net_tls_connect(server.tcp_address, &(TlsClientDef){.folder = folder});
    ck_assert_ptr_null(second.ssl);
    ck_assert_int_eq(second.alert, SSL_AD_INTERNAL_ERROR);
    check_echo(&first, "alone");
    net_tls_close(&first);
    net_tls_close(&second);
    stop();
}
END_TEST

START_TEST(a_server_may_end_in_the_middle_of_handshakes) {
    enum { MANY = 30 };
    int fds[MANY];
    static const uint8_t hello[] = {22, 3, 1, 0, 4, 1, 0, 0, 0};
    start((EchoDef){0}, NULL);
    for (size_t i = 0; i < MANY; i++) {
        fds[i] = net_client_connect(server.tcp_address);
        ck_assert(net_client_write(fds[i], hello, i % 2 == 0 ? sizeof(hello) : 3));
    }
    stop();
    for (size_t i = 0; i < MANY; i++) {
        close(fds[i]);
    }
}
END_TEST

// ---- certificates

START_TEST(another_certificate_is_for_who_comes_later) {
    char subject[64];
    start((EchoDef){.lane_count = 1}, NULL);
    TlsClient before = come();
    net_echo_set_identity(&server, load("elsewhere", NULL));
    TlsClient after = come();
    X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(before.ssl)),
                              NID_commonName, subject, sizeof(subject));
    ck_assert_str_eq(subject, "good");
    X509_NAME_get_text_by_NID(X509_get_subject_name(SSL_get0_peer_certificate(after.ssl)),
                              NID_commonName, subject, sizeof(subject));
    ck_assert_str_eq(subject, "elsewhere");
    check_echo(&before, "as before");
    check_echo(&after, "as it is now");
    net_tls_close(&before);
    net_tls_close(&after);
    stop();
}
END_TEST

static const struct {
    const char *own; // NULL: none
    int alert;
} clients[] = {
    {"good", 0},
    {NULL, SSL_AD_CERTIFICATE_REQUIRED},
    {"own", SSL_AD_UNKNOWN_CA},
    {"bare", SSL_AD_UNKNOWN_CA}, // without the one in between
    {"expired", SSL_AD_CERTIFICATE_EXPIRED},
    {"early", SSL_AD_BAD_CERTIFICATE},
};

START_TEST(clients_may_need_a_certificate) {
    char answer[16];
    start((EchoDef){.lane_count = 1}, "root");
    TlsClient client = net_tls_connect(server.tcp_address,
                                       &(TlsClientDef){.folder = folder, .own = clients[_i].own});
    ck_assert_ptr_nonnull(client.ssl); // by then it has not heard of it yet
    if (clients[_i].alert == 0) {
        check_echo(&client, "known");
    } else {
        net_tls_send_frame(&client, "?", 1);
        ck_assert_int_eq(net_tls_receive_frame(&client, answer, sizeof(answer)), -1);
        ck_assert_int_eq(client.alert, clients[_i].alert);
        ck_assert_uint_eq(net_echo_stats(&server).handshake_count, 0);
        ck_assert_uint_eq(server.frame_count, 0);
    }
    net_tls_close(&client);
    stop();
}
END_TEST

#define ADD_LOOP(tcase, test, array)                                                               \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof(array) / sizeof((array)[0])))

static TCase *case_bytes(void) {
    TCase *tcase = tcase_create("bytes");
    ADD_LOOP(tcase, every_byte_comes_back, streams);
    tcase_add_test(tcase, a_slow_reader_gets_everything);
    tcase_add_test(tcase, a_peer_that_says_its_last_word_is_told_the_same);
    return tcase;
}

static TCase *case_strangers(void) {
    TCase *tcase = tcase_create("strangers");
    tcase_add_loop_test(tcase, older_protocols_are_refused_and_counted, 0, 3);
    ADD_LOOP(tcase, who_speaks_no_tls_is_told_so, strangers);
    tcase_add_test(tcase, a_unix_socket_stays_plain);
    tcase_add_loop_test(tcase, a_record_that_is_none_ends_its_connection_alone, 0, 5);
    tcase_add_test(tcase, a_record_that_is_cut_off_is_let_go);
    tcase_add_test(tcase, keys_may_be_changed_and_not_for_ever);
    return tcase;
}

static TCase *case_handshakes(void) {
    TCase *tcase = tcase_create("handshakes");
    tcase_add_test(tcase, who_greets_slowly_is_cut_and_holds_nobody_up);
    tcase_add_test(tcase, a_greeting_may_come_byte_by_byte);
    tcase_add_test(tcase, many_at_once_are_all_served);
    tcase_add_test(tcase, a_machine_that_comes_too_often_waits);
    tcase_add_test(tcase, above_connections_max_an_alert_says_so);
    tcase_add_test(tcase, a_server_may_end_in_the_middle_of_handshakes);
    return tcase;
}

static TCase *case_certificates(void) {
    TCase *tcase = tcase_create("certificates");
    tcase_add_test(tcase, another_certificate_is_for_who_comes_later);
    ADD_LOOP(tcase, clients_may_need_a_certificate, clients);
    return tcase;
}

SUITE_MAIN("net/secure", case_bytes, case_strangers, case_handshakes, case_certificates)
