// SPDX-License-Identifier: MIT
// Pages: which request gets which status, and what it is told.
#include "http/page.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static bool ready;

static bool is_ready(void *context) {
    (void)context;
    return ready;
}

static void print_metrics(void *context, FILE *out) {
    fputs(context, out);
}

static const char *wanted;

static bool may_measure(void *context, const char *token) {
    (void)context;
    return strcmp(token, wanted) == 0;
}

static const struct {
    PageRequest request;
    const char *token;
    bool ready;
    unsigned status;
    const char *says; // somewhere in the body
} rows[] = {
    {{"/livez", true, "", "", false}, "", false, 200, "alive"},
    {{"/livez", true, "", "", false}, "secret", false, 200, "alive"},
    {{"/readyz", true, "", "", false}, "", true, 200, "ready"},
    {{"/readyz", true, "", "", false}, "secret", false, 503, "not ready"},
    {{"/metrics", true, "", "", false}, "", false, 200, "figures"},
    {{"/metrics", true, "Bearer anything", "", false}, "", false, 200, "figures"},
    {{"/metrics", true, "", "", false}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "secret", "", false}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer ", "", false}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secret2", "", false}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secre", "", false}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secret", "", false}, "secret", true, 200, "figures"},
    {{"/metrics", true, "bearer secret", "", false}, "secret", true, 200, "figures"},
    {{"/metrics", false, "Bearer secret", "", false}, "secret", true, 405, "GET or HEAD"},
    {{"/metrics/", true, "", "", false}, "", true, 404, "/livez, /readyz and /metrics"},
    {{"", true, "", "", false}, "", true, 404, "no such page"},
    {{"/Livez", true, "", "", false}, "", true, 404, "no such page"},
    {{"/livez", true, "", "10.0.0.7:8080", false}, "", false, 200, "alive"},
    {{"/metrics", true, "", "evil.example", false}, "", true, 421, "--http-host"},
    {{"/livez", true, "", "evil.example", false}, "", true, 421, "--http-host"},
    {{"/nowhere", true, "", "evil.example", false}, "", true, 421, "--http-host"},
    {{"/metrics", true, "", "127.0.0.1", true}, "", true, 431, "too long"},
};

START_TEST(a_request_gets_its_page_or_a_sentence) {
    static char figures[] = "figures 1\n";
    HttpDef def = {.guards_metrics = rows[_i].token[0] != '\0',
                   .may_measure = may_measure,
                   .is_ready = is_ready,
                   .print_metrics = print_metrics,
                   .context = figures};
    ready = rows[_i].ready;
    wanted = rows[_i].token;
    char *body = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&body, &bytes);
    ck_assert_ptr_nonnull(out);
    unsigned status = page_print(&def, &rows[_i].request, out);
    fclose(out);
    ck_assert_uint_eq(status, rows[_i].status);
    ck_assert_msg(strstr(body, rows[_i].says) != NULL, "it says: %s", body);
    ck_assert_int_eq(body[bytes - 1], '\n');
    free(body);
}
END_TEST

static TCase *case_pages(void) {
    TCase *tcase = tcase_create("pages");
    tcase_add_loop_test(tcase, a_request_gets_its_page_or_a_sentence, 0,
                        sizeof(rows) / sizeof(rows[0]));
    return tcase;
}

SUITE_MAIN("http/page", case_pages)
