// SPDX-License-Identifier: MIT
#include "support/wire_tokens.h"

#include "access/token_file.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_secret(const char *name, char secret[128]) {
    snprintf(secret, 128, "%s-secret", name);
}

void wire_tokens_text(const WirePerson *people, size_t count, char text[WIRE_TOKENS_BYTES]) {
    size_t used = (size_t)snprintf(text, WIRE_TOKENS_BYTES, "%s\n", TOKEN_FILE_HEAD);
    for (size_t i = 0; i < count; i++) {
        char secret[128], shown[128] = "-";
        uint8_t digest[DIGEST_BYTES];
        uint32_t uid;
        print_secret(people[i].name, secret);
        ck_assert(digest_of(secret, strlen(secret), digest));
        if (!token_file_is_uid(people[i].name, &uid)) {
            size_t at = (size_t)snprintf(shown, sizeof(shown), "sha256:");
            for (size_t k = 0; k < DIGEST_BYTES; k++) {
                at += (size_t)snprintf(shown + at, sizeof(shown) - at, "%02x", digest[k]);
            }
        }
        used += (size_t)snprintf(text + used, WIRE_TOKENS_BYTES - used, "%s %s %s\n",
                                 people[i].name, shown, people[i].rights);
    }
    used += (size_t)snprintf(text + used, WIRE_TOKENS_BYTES - used, "# end %zu\n", count);
    ck_assert_uint_lt(used, WIRE_TOKENS_BYTES);
}

ServerProcess *wire_tokens_start(const WirePerson *people, size_t count, const char *options,
                                 char folder[SERVER_FOLDER_BYTES]) {
    char text[WIRE_TOKENS_BYTES], all[512];
    server_make_folder(folder);
    wire_tokens_text(people, count, text);
    server_write(folder, "tokens", text);
    snprintf(all, sizeof(all), "--tokens %s/tokens %s", folder, options);
    return server_start(all);
}

static int count_in_log(const ServerProcess *server, const char *text) {
    char *log = server_read(server, "log");
    int count = 0;
    for (const char *at = log; (at = strstr(at, text)) != NULL; at += strlen(text)) {
        count++;
    }
    free(log);
    return count;
}

void wire_tokens_change(ServerProcess *server, const char *folder, const char *text, int n) {
    server_write(folder, "tokens", text);
    ck_assert_int_eq(kill(server->pid, SIGHUP), 0);
    for (int i = 0; count_in_log(server, "log_reopened") < n; i++) {
        ck_assert_int_lt(i, 1000);
        server_sleep_ms(10);
    }
}

Moreau__V1__Reply *wire_greet_as(WireClient *client, const char *name, const char *resume) {
    char secret[128];
    Moreau__V1__Hello hello = MOREAU__V1__HELLO__INIT;
    hello.has_protocol_major = 1, hello.protocol_major = 1;
    hello.resume = (char *)(uintptr_t)resume;
    hello.has_resumable = hello.resumable = resume != NULL;
    print_secret(name == NULL ? "" : name, secret);
    hello.token = name == NULL ? NULL : secret;
    return wire_call(client, &hello);
}

WireClient *wire_open_as(const ServerProcess *server, const char *name) {
    WireClient *client = wire_connect(server->address[0]);
    wire_expect(wire_greet_as(client, name, NULL), MOREAU__V1__STATUS__CODE__OK, NULL);
    return client;
}
