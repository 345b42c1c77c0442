// SPDX-License-Identifier: MIT
// TLS of a real server with real clients: whom a client trusts is settled before anything is said,
// what is wrong with a certificate is a sentence, and nobody is cut when there is another one.
#include "os/clock.h"
#include "support/net_authority.h"
#include "support/net_tls_client.h"
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"

#include "moreau.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = 160, SAID_BYTES = 4096 };

static char folder[SERVER_FOLDER_BYTES];
static ServerProcess *server;

static const char *path_of(const char *name, const char *ending, char path[PATH_BYTES]) {
    snprintf(path, PATH_BYTES, "%s/%s.%s", folder, name, ending);
    return path;
}

static void make_certificates(void) {
    server_make_folder(folder);
    net_certify_all(folder);
}

static void start_with(const char *name, const char *key, const char *more) {
    char options[2048];
    snprintf(options, sizeof(options),
             "--workers 1 --tls-cert %s/%s.pem --tls-key %s/%s.key %.1000s", folder, name, folder,
             key, more);
    server = server_start(options);
}

static void start(const char *name) {
    make_certificates();
    start_with(name, name, "");
}

static void stop(void) {
    server_stop(server);
    server_remove_folder(folder);
}

// Nullable parts: of what a client goes by.
static MoreauStatus connect_by(const char *address, const char *ca, const char *fingerprint,
                               const char *own, MoreauClient **client, MoreauError *error) {
    char ca_path[PATH_BYTES], own_path[PATH_BYTES], key_path[PATH_BYTES];
    MoreauOptions options = moreau_options_default();
    options.tls_ca = ca == NULL ? NULL : path_of(ca, "pem", ca_path);
    options.tls_fingerprint = fingerprint;
    options.tls_cert = own == NULL ? NULL : path_of(own, "pem", own_path);
    options.tls_key = own == NULL ? NULL : path_of(own, "key", key_path);
    options.token = "for nobody else's ears";
    return moreau_connect(address, &options, client, error);
}

static void check_call(MoreauClient *client) {
    const MoreauWorldDef def = moreau_world_def_default();
    uint64_t world;
    ck_assert_msg(moreau_world_create(client, &def, &world) == MOREAU_OK, "%s",
                  moreau_error(client)->message);
}

static bool logs(const char *text) {
    char *log = server_read(server, "log");
    bool found = strstr(log, text) != NULL;
    free(log);
    return found;
}

static bool comes_to_log(const char *text) {
    for (int i = 0; i < 2000 && !logs(text); i++) {
        server_sleep_ms(5);
    }
    return logs(text);
}

// ---- whom a client trusts

static const struct {
    const char *certificate; // of the server
    const char *ca;          // NULL: those of the system
    const char *says;        // NULL: it is trusted
} trusts[] = {
    {"good", "root", NULL},
    {"bare", "middle", NULL},
    {"own", "own", NULL},
    {"good", NULL, "leads to no authority that this machine knows"},
    {"own", NULL, "is signed by nobody but itself"},
    {"own", "root", "is signed by nobody but itself"},
    {"bare", "root", "have the server send those in between"},
    {"expired", "root", "has expired on "},
    {"early", "root", "does not hold before "},
    {"elsewhere", "root", "is for elsewhere.example: connect by such a name"},
};

START_TEST(what_is_wrong_with_a_certificate_is_said_in_a_sentence) {
    MoreauClient *client;
    MoreauError error;
    start(trusts[_i].certificate);
    ck_assert_msg(strncmp(server->address[0], "tls://127.0.0.1:", 16) == 0, "%s",
                  server->address[0]);
    MoreauStatus status =
        connect_by(server->address[0], trusts[_i].ca, NULL, NULL, &client, &error);
    if (trusts[_i].says == NULL) {
        ck_assert_msg(status == MOREAU_OK, "%s", error.message);
        check_call(client);
        moreau_disconnect(client);
    } else {
        ck_assert_int_eq(status, MOREAU_UNAUTHENTICATED);
        ck_assert(!error.from_server);
        ck_assert_msg(strstr(error.message, trusts[_i].says) != NULL, "'%s' is not in: %s",
                      trusts[_i].says, error.message);
        // nobody has heard the token, nor anything else
        ck_assert(!logs("session="));
    }
    stop();
}
END_TEST

START_TEST(a_fingerprint_is_enough_and_only_the_right_one) {
    static const char *const names[] = {"own", "expired", "elsewhere"};
    char fingerprint[80], other[80], with_colons[160] = "";
    MoreauClient *client;
    MoreauError error;
    start(names[_i]);
    net_fingerprint(folder, names[_i], fingerprint);
    net_fingerprint(folder, "root", other);
    ck_assert_msg(connect_by(server->address[0], NULL, fingerprint, NULL, &client, &error) ==
                      MOREAU_OK,
                  "%s", error.message);
    check_call(client);
    moreau_disconnect(client);
    for (size_t i = 7; fingerprint[i] != '\0'; i += 2) { // as openssl prints it
        char pair[4] = {i > 7 ? ':' : fingerprint[i], fingerprint[i], fingerprint[i + 1], '\0'};
        strcat(with_colons, i > 7 ? pair : pair + 1);
    }
    ck_assert_msg(connect_by(server->address[0], NULL, with_colons, NULL, &client, &error) ==
                      MOREAU_OK,
                  "%s", error.message);
    moreau_disconnect(client);
    ck_assert_int_eq(connect_by(server->address[0], NULL, other, NULL, &client, &error),
                     MOREAU_UNAUTHENTICATED);
    ck_assert_ptr_nonnull(strstr(error.message, fingerprint)); // which one it is
    ck_assert_int_eq(connect_by(server->address[0], NULL, "sha256:12", NULL, &client, &error),
                     MOREAU_INVALID_ARGUMENT);
    // with an authority both must hold
    ck_assert_int_eq(connect_by(server->address[0], "middle", fingerprint, NULL, &client, &error),
                     MOREAU_UNAUTHENTICATED);
    stop();
}
END_TEST

START_TEST(who_gives_certificates_is_not_let_down) {
    MoreauClient *client;
    MoreauError error;
    make_certificates();
    server = server_start("--workers 1");
    char address[SERVER_ADDRESS_BYTES + 8];
    // without tls:// a token would have gone out in the clear
    ck_assert_int_eq(connect_by(server->address[0], "root", NULL, NULL, &client, &error),
                     MOREAU_INVALID_ARGUMENT);
    ck_assert_ptr_nonnull(strstr(error.message, "tls://127.0.0.1:"));
    snprintf(address, sizeof(address), "tls://%s", server->address[0]);
    ck_assert_int_eq(connect_by(address, "root", NULL, NULL, &client, &error),
                     MOREAU_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, "speaks no TLS"));
    ck_assert(comes_to_log("This address speaks no TLS (option --tls-cert)."));
    ck_assert(!logs("session="));
    stop();
}
END_TEST

START_TEST(a_plain_client_is_told_where_to_come) {
    MoreauClient *client;
    MoreauError error;
    start("good");
    const char *plain = server->address[0] + strlen("tls://");
    ck_assert_int_ne(moreau_connect(plain, NULL, &client, &error), MOREAU_OK);
    ck_assert_ptr_nonnull(strstr(error.message, "connect to it as tls://"));
    stop();
}
END_TEST

START_TEST(clients_may_need_a_certificate) {
    MoreauClient *client;
    MoreauError error;
    char more[PATH_BYTES];
    make_certificates();
    snprintf(more, sizeof(more), "--tls-client-ca %s/root.pem", folder);
    start_with("good", "good", more);
    ck_assert_int_eq(connect_by(server->address[0], "root", NULL, NULL, &client, &error),
                     MOREAU_UNAUTHENTICATED);
    ck_assert_ptr_nonnull(strstr(error.message, "wants a certificate of its clients"));
    ck_assert_int_eq(connect_by(server->address[0], "root", NULL, "own", &client, &error),
                     MOREAU_UNAUTHENTICATED);
    ck_assert_ptr_nonnull(strstr(error.message, "does not accept our certificate"));
    ck_assert(!logs("session="));
    ck_assert_msg(connect_by(server->address[0], "root", NULL, "good", &client, &error) ==
                      MOREAU_OK,
                  "%s", error.message);
    check_call(client);
    moreau_disconnect(client);
    stop();
}
END_TEST

// ---- what a server makes of its files

static const struct {
    const char *options; // % is the folder
    const char *says;
} wrongs[] = {
    {"--tls-cert %/good.pem --tls-key %/root.key", "does not belong to the certificate in"},
    {"--tls-cert %/none.pem --tls-key %/good.key", "none.pem cannot be read: No such file"},
    {"--tls-cert %/good.pem --tls-key %/none.key", "none.key cannot be read: No such file"},
    {"--tls-cert %/good.key --tls-key %/good.key", "holds no certificate in PEM"},
    {"--tls-cert %/good.pem --tls-key %/good.pem", "holds no private key in PEM"},
    {"--tls-cert %/good.pem --tls-key %/locked.key", "behind a passphrase"},
    {"--tls-cert %/good.pem --tls-key %/good.key --tls-client-ca %/good.key",
     "holds no certificate in PEM that could sign others"},
    {"--tls-cert %/good.pem --tls-key %/good.key --tls-client-ca %/none.pem",
     "none.pem cannot be read"},
    {"--tls-cert %/good.pem", "go together"},
    {"--tls-key %/good.key", "go together"},
    {"--tls-client-ca %/root.pem", "give --tls-cert"},
    {"--tls-self-signed %/good.pem", "is no folder"},
};

START_TEST(what_is_wrong_with_the_files_is_said_in_a_sentence) {
    char options[1024] = "", said[SAID_BYTES], command[2 * PATH_BYTES];
    make_certificates();
    snprintf(command, sizeof(command),
             "openssl pkey -in %s/good.key -aes256 -passout pass:secret -out %s/locked.key", folder,
             folder);
    ck_assert_int_eq(system(command), 0);
    for (const char *at = wrongs[_i].options; *at != '\0'; at++) {
        const size_t used = strlen(options);
        snprintf(options + used, sizeof(options) - used, *at == '%' ? "%s" : "%.1s",
                 *at == '%' ? folder : at);
    }
    ck_assert_int_ne(server_refusal(options, said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, wrongs[_i].says) != NULL, "'%s' is not in: %s", wrongs[_i].says,
                  said);
    ck_assert_int_eq(said[strlen(said) - 1], '\n');
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1); // one line
    server_remove_folder(folder);
}
END_TEST

START_TEST(another_certificate_cuts_nobody) {
    char command[4 * PATH_BYTES], own[80];
    MoreauClient *before, *after;
    MoreauError error;
    start("good");
    net_fingerprint(folder, "own", own);
    ck_assert_int_eq(connect_by(server->address[0], "root", NULL, NULL, &before, &error),
                     MOREAU_OK);
    // half of it is there: what was before stays
    snprintf(command, sizeof(command), "cd %s && cp good.key kept && cp own.pem good.pem", folder);
    ck_assert_int_eq(system(command), 0);
    kill(server->pid, SIGHUP);
    ck_assert(comes_to_log("error tls_reload"));
    ck_assert_int_eq(connect_by(server->address[0], "root", NULL, NULL, &after, &error), MOREAU_OK);
    moreau_disconnect(after);
    snprintf(command, sizeof(command), "cd %s && cp own.key good.key", folder);
    ck_assert_int_eq(system(command), 0);
    kill(server->pid, SIGHUP);
    ck_assert(comes_to_log(own));
    ck_assert_int_ne(connect_by(server->address[0], "root", NULL, NULL, &after, &error), MOREAU_OK);
    ck_assert_msg(connect_by(server->address[0], NULL, own, NULL, &after, &error) == MOREAU_OK,
                  "%s", error.message);
    check_call(after);
    check_call(before);
    moreau_disconnect(after);
    moreau_disconnect(before);
    stop();
}
END_TEST

START_TEST(a_certificate_is_made_and_used) {
    char said[SAID_BYTES], line[512], fingerprint[80] = "";
    MoreauClient *client;
    MoreauError error;
    server_make_folder(folder);
    snprintf(line, sizeof(line), MOREAU_BINARY_DIR "/moreau-server --tls-self-signed %s/new",
             folder);
    ck_assert_msg(server_shell("", line, said, sizeof(said)) == 0, "%s", said);
    const char *found = strstr(said, "sha256:");
    ck_assert_ptr_nonnull(found);
    memcpy(fingerprint, found, 7 + 64);
    char again[SAID_BYTES];
    ck_assert_int_eq(server_shell("", line, again, sizeof(again)), 1);
    // whoever made it, who need not be the superuser, can enter it
    snprintf(line, sizeof(line), "stat -c %%a %s/new/key.pem %s/new", folder, folder);
    ck_assert_int_eq(server_shell("", line, again, sizeof(again)), 0);
    ck_assert_str_eq(again, "600\n700\n");

    char options[512];
    snprintf(options, sizeof(options),
             "--workers 1 --tls-cert %s/new/cert.pem --tls-key %s/new/key.pem", folder, folder);
    server = server_start(options);
    ck_assert_msg(connect_by(server->address[0], NULL, fingerprint, NULL, &client, &error) ==
                      MOREAU_OK,
                  "%s", error.message);
    check_call(client);
    moreau_disconnect(client);
    ck_assert_int_eq(connect_by(server->address[0], "new/cert", NULL, NULL, &client, &error),
                     MOREAU_OK);
    moreau_disconnect(client);
    ck_assert(!logs("tls_key_exposed"));
    stop();
}
END_TEST

START_TEST(a_key_that_others_may_read_is_warned_of) {
    char command[2 * PATH_BYTES];
    make_certificates();
    snprintf(command, sizeof(command), "chmod 644 %s/own.key", folder);
    ck_assert_int_eq(system(command), 0);
    start_with("own", "own", "");
    ck_assert(logs("warn tls_key_exposed"));
    stop();
}
END_TEST

START_TEST(beyond_this_machine_it_is_tls_or_said_aloud) {
    char said[SAID_BYTES], options[1024];
    make_certificates();
    server_write(folder, "token", "open sesame\n");
    static const char *const where[] = {"--listen 0.0.0.0:0", "--http 0.0.0.0:0"};
    snprintf(options, sizeof(options), "%s --token-file %s/token", where[_i], folder);
    ck_assert_int_eq(server_refusal(options, said, sizeof(said)), 2);
    ck_assert_ptr_nonnull(strstr(said, "--tls-cert"));
    ck_assert_ptr_nonnull(strstr(said, "--insecure-plain"));
    snprintf(options, sizeof(options), "--workers 1 %s --token-file %s/token --insecure-plain",
             where[_i], folder);
    server_stop(server_start(options));
    snprintf(options, sizeof(options), "%s --token-file %s/token", where[_i], folder);
    start_with("good", "good", options);
    stop();
}
END_TEST

// ---- as strangers see it

START_TEST(openssl_finds_tls_1_3_and_nothing_else) {
    static const struct {
        const char *option;
        bool works;
    } versions[] = {{"-tls1", false}, {"-tls1_1", false}, {"-tls1_2", false}, {"-tls1_3", true}};
    char line[512], said[SAID_BYTES * 4];
    make_certificates();
    start_with("good", "good", "--http 127.0.0.1:0");
    ck_assert_msg(strncmp(server->address[1], "https://127.0.0.1:", 18) == 0, "%s",
                  server->address[1]);
    for (size_t i = 0; i < 4; i++) {
        for (size_t k = 0; k < 2; k++) {
            const char *address = strstr(server->address[k], "://") + 3;
            snprintf(line, sizeof(line),
                     "sleep 0.5 | openssl s_client -connect %s %s -CAfile %s/root.pem 2>&1",
                     address, versions[i].option, folder);
            server_shell("", line, said, sizeof(said));
            ck_assert_msg((strstr(said, "Cipher is TLS_") != NULL) == versions[i].works, "%s",
                          said);
            ck_assert(!versions[i].works || strstr(said, "Verify return code: 0 (ok)") != NULL);
            ck_assert_ptr_null(strstr(said, "New Session Ticket"));
        }
    }
    stop();
}
END_TEST

// An HTTP request over TLS; its answer's status.
static int get(const char *request, char *answer, size_t capacity) {
    TlsClient client =
        net_tls_connect(strstr(server->address[1], "://") + 3, &(TlsClientDef){.folder = folder});
    size_t used = 0, got = 0;
    ck_assert_ptr_nonnull(client.ssl);
    ck_assert_int_eq(SSL_write(client.ssl, request, (int)strlen(request)), (int)strlen(request));
    while (used + 1 < capacity &&
           SSL_read_ex(client.ssl, answer + used, capacity - 1 - used, &got) == 1) {
        used += got;
        if (strstr(request, "Upgrade") != NULL) {
            break; // it goes on
        }
    }
    answer[used] = '\0';
    net_tls_close(&client);
    int status = 0;
    sscanf(answer, "HTTP/1.%*c %d", &status);
    return status;
}

START_TEST(pages_are_https_and_watched_from_https_alone) {
    char request[512], answer[SAID_BYTES];
    make_certificates();
    start_with("good", "good", "--http 127.0.0.1:0");
    const char *host = server->address[1] + strlen("https://");
    static const struct {
        const char *scheme;
        int status;
    } origins[] = {{"https", 101}, {"http", 403}, {"null", 403}};
    snprintf(request, sizeof(request), "GET /livez HTTP/1.0\r\nHost: %s\r\n\r\n", host);
    ck_assert_int_eq(get(request, answer, sizeof(answer)), 200);
    for (size_t i = 0; i < 3; i++) {
        snprintf(request, sizeof(request),
                 "GET /v1/live HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: "
                 "websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                 "SGVsbG8sIHdvcmxkIQ==\r\nSec-WebSocket-Protocol: moreau.v1\r\nOrigin: "
                 "%s://%s\r\n\r\n",
                 host, origins[i].scheme, host);
        ck_assert_int_eq(get(request, answer, sizeof(answer)), origins[i].status);
    }
    stop();
}
END_TEST

START_TEST(the_tool_takes_it_from_options_or_from_its_surroundings) {
    char line[512], said[SAID_BYTES];
    start("own");
    ck_assert_int_eq(server_shell(server->address[0], "moreau worlds", said, sizeof(said)), 3);
    snprintf(line, sizeof(line), "moreau worlds --tls-ca %s/own.pem", folder);
    ck_assert_msg(server_shell(server->address[0], line, said, sizeof(said)) == 0, "%s", said);
    snprintf(line, sizeof(line), "MOREAU_TLS_CA=%s/own.pem moreau worlds", folder);
    ck_assert_msg(server_shell(server->address[0], line, said, sizeof(said)) == 0, "%s", said);
    stop();
}
END_TEST

#define ADD_LOOP(tcase, test, array)                                                               \
    tcase_add_loop_test(tcase, test, 0, (int)(sizeof(array) / sizeof((array)[0])))

static TCase *case_clients(void) {
    TCase *tcase = tcase_create("clients");
    ADD_LOOP(tcase, what_is_wrong_with_a_certificate_is_said_in_a_sentence, trusts);
    tcase_add_loop_test(tcase, a_fingerprint_is_enough_and_only_the_right_one, 0, 3);
    tcase_add_test(tcase, who_gives_certificates_is_not_let_down);
    tcase_add_test(tcase, a_plain_client_is_told_where_to_come);
    tcase_add_test(tcase, clients_may_need_a_certificate);
    tcase_add_test(tcase, the_tool_takes_it_from_options_or_from_its_surroundings);
    return tcase;
}

static TCase *case_files(void) {
    TCase *tcase = tcase_create("files");
    ADD_LOOP(tcase, what_is_wrong_with_the_files_is_said_in_a_sentence, wrongs);
    tcase_add_test(tcase, another_certificate_cuts_nobody);
    tcase_add_test(tcase, a_certificate_is_made_and_used);
    tcase_add_test(tcase, a_key_that_others_may_read_is_warned_of);
    tcase_add_loop_test(tcase, beyond_this_machine_it_is_tls_or_said_aloud, 0, 2);
    return tcase;
}

static TCase *case_strangers(void) {
    TCase *tcase = tcase_create("strangers");
    tcase_add_test(tcase, openssl_finds_tls_1_3_and_nothing_else);
    tcase_add_test(tcase, pages_are_https_and_watched_from_https_alone);
    return tcase;
}

SUITE_MAIN("system/tls", case_clients, case_files, case_strangers)
