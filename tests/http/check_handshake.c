// SPDX-License-Identifier: MIT
// Who may watch from a browser: which handshake is let in, and what the others are told.
#include "http/handshake.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

#define OURS     "moreau.v1"
#define HERE     "localhost:8080"
#define PATH     HANDSHAKE_PATH
#define ANYWHERE "https://elsewhere.example"

// "secret" is c2VjcmV0, "se" is c2U, "s?>" (with the two letters of base64url) is cz8-
static const struct {
    Handshake handshake;
    const char *token;
    unsigned status;
    const char *says; // somewhere in the body
} rows[] = {
    {{PATH, OURS, "", HERE}, "", 0, ""},
    {{PATH, "moreau.v1 , token.abc", "", HERE}, "", 0, ""},
    {{"/v1/life", OURS, "", HERE}, "", 404, "/v1/live"},
    {{"", OURS, "", HERE}, "", 404, "/v1/live"},
    {{PATH, "", "", HERE}, "", 400, OURS},
    {{PATH, "moreau.v2", "", HERE}, "", 400, OURS},
    {{PATH, "moreau.v11", "", HERE}, "", 400, OURS},
    {{PATH, "http, moreau.v1", "", HERE}, "", 400, OURS},
    // a token opens to any page, and to none without it
    {{PATH, OURS, "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.c2VjcmV0", "", HERE}, "secret", 0, ""},
    {{PATH, "moreau.v1,token.c2VjcmV0", ANYWHERE, HERE}, "secret", 0, ""},
    {{PATH, "moreau.v1, token.c2VjcmV0", "null", "evil.example"}, "secret", 0, ""},
    {{PATH, "moreau.v1, token.secret", "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.", "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.c2VjcmV", "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.c2VjcmV0A", "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.x, token.c2VjcmV0", "", HERE}, "secret", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.c2U", "", HERE}, "se", 0, ""},
    {{PATH, "moreau.v1, token.c2U=", "", HERE}, "se", 401, "token.TOKEN"},
    {{PATH, "moreau.v1, token.cz8-", "", HERE}, "s?>", 0, ""},
    {{PATH, OURS, "http://" HERE, HERE}, "secret", 401, "token.TOKEN"},
    // without one, no page but the server's own, and that under a name of this machine
    {{PATH, OURS, "http://" HERE, HERE}, "", 0, ""},
    {{PATH, OURS, "http://LocalHost:8080", HERE}, "", 0, ""},
    {{PATH, OURS, "http://127.0.0.1:8080", "127.0.0.1:8080"}, "", 0, ""},
    {{PATH, OURS, "http://[::1]:8080", "[::1]:8080"}, "", 0, ""},
    {{PATH, OURS, "http://localhost", "localhost"}, "", 0, ""},
    {{PATH, OURS, "null", HERE}, "", 403, "--viewer"},
    {{PATH, OURS, "file://", HERE}, "", 403, "--viewer"},
    {{PATH, OURS, ANYWHERE, HERE}, "", 403, "--viewer"},
    {{PATH, OURS, "https://" HERE, HERE}, "", 403, "--viewer"},
    {{PATH, OURS, "http://localhost:9999", HERE}, "", 403, "--viewer"},
    {{PATH, OURS, "http://", ""}, "", 403, "--viewer"},
    {{PATH, OURS, "http://evil.example:8080", "evil.example:8080"}, "", 403, "--viewer"},
    {{PATH, OURS, "http://localhost.evil.example", "localhost.evil.example"}, "", 403, "--viewer"},
    {{PATH, OURS, "http://127.0.0.1.evil.example", "127.0.0.1.evil.example"}, "", 403, "--viewer"},
};

static bool is_ready(void *context) {
    return *(const bool *)context;
}

static const char *wanted;

static bool may_watch(void *context, const char *token) {
    (void)context;
    return strcmp(token, wanted) == 0;
}

static unsigned judge(const Handshake *handshake, const char *token, bool ready, char *says,
                      size_t capacity) {
    HttpDef def = {.demands_token = token[0] != '\0',
                   .may_watch = may_watch,
                   .is_ready = is_ready,
                   .context = &ready};
    wanted = token;
    memset(says, 0, capacity);
    FILE *out = fmemopen(says, capacity - 1, "w");
    ck_assert_ptr_nonnull(out);
    unsigned status = handshake_judge(&def, handshake, out);
    fclose(out);
    return status;
}

START_TEST(a_handshake_is_let_in_or_told_why_not) {
    char says[1024];
    ck_assert_uint_eq(judge(&rows[_i].handshake, rows[_i].token, true, says, sizeof(says)),
                      rows[_i].status);
    ck_assert_ptr_nonnull(strstr(says, rows[_i].says));
    ck_assert(rows[_i].status != 0 || says[0] == '\0');
}
END_TEST

START_TEST(nobody_is_let_in_while_the_server_is_not_ready) {
    char says[1024];
    ck_assert_uint_eq(judge(&rows[0].handshake, "", false, says, sizeof(says)), 503);
}
END_TEST

// The longest token that the server takes, shown in full, is let in.
START_TEST(a_long_token_is_compared_to_its_end) {
    char token[256], offer[HANDSHAKE_FIELD_BYTES] = "moreau.v1, token.", says[1024];
    memset(token, 'a', 255);
    token[255] = '\0';
    for (int i = 0; i < 85; i++) {
        strcat(offer, "YWFh"); // "aaa"
    }
    Handshake handshake = {PATH, offer, "", HERE};
    ck_assert_uint_eq(judge(&handshake, token, true, says, sizeof(says)), 0);
    offer[strlen(offer) - 1] = 'i';
    ck_assert_uint_eq(judge(&handshake, token, true, says, sizeof(says)), 401);
}
END_TEST

static TCase *case_handshake(void) {
    TCase *tcase = tcase_create("handshake");
    tcase_add_loop_test(tcase, a_handshake_is_let_in_or_told_why_not, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, nobody_is_let_in_while_the_server_is_not_ready);
    tcase_add_test(tcase, a_long_token_is_compared_to_its_end);
    return tcase;
}

SUITE_MAIN("http/handshake", case_handshake)
