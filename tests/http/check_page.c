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

static const struct {
    PageRequest request;
    const char *token;
    bool ready;
    unsigned status;
    const char *says; // somewhere in the body
} rows[] = {
    {{"/livez", true, ""}, "", false, 200, "alive"},
    {{"/livez", true, ""}, "secret", false, 200, "alive"},
    {{"/readyz", true, ""}, "", true, 200, "ready"},
    {{"/readyz", true, ""}, "secret", false, 503, "not ready"},
    {{"/metrics", true, ""}, "", false, 200, "figures"},
    {{"/metrics", true, "Bearer anything"}, "", false, 200, "figures"},
    {{"/metrics", true, ""}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "secret"}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer "}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secret2"}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secre"}, "secret", true, 401, "Authorization: Bearer"},
    {{"/metrics", true, "Bearer secret"}, "secret", true, 200, "figures"},
    {{"/metrics", true, "bearer secret"}, "secret", true, 200, "figures"},
    {{"/metrics", false, "Bearer secret"}, "secret", true, 405, "GET or HEAD"},
    {{"/metrics/", true, ""}, "", true, 404, "/livez, /readyz and /metrics"},
    {{"", true, ""}, "", true, 404, "no such page"},
    {{"/Livez", true, ""}, "", true, 404, "no such page"},
};

START_TEST(a_request_gets_its_page_or_a_sentence) {
    static char figures[] = "figures 1\n";
    HttpDef def = {.token = rows[_i].token,
                   .is_ready = is_ready,
                   .print_metrics = print_metrics,
                   .context = figures};
    ready = rows[_i].ready;
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
