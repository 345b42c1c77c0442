// SPDX-License-Identifier: MIT
// Hosts: which names of a server nobody else can give to it.
#include "http/host.h"

#include "support/suite.h"

static const char *const given[] = {"farm.example", "Node-7"};

static const struct {
    const char *host;
    bool is_ours, is_ours_by_name;
} rows[] = {
    {"", true, true}, // no browser
    {"localhost", true, true},
    {"LocalHost:8080", true, true},
    {"localhost.", true, true},
    {"127.0.0.1", true, true},
    {"127.0.0.1:7668", true, true},
    {"192.168.1.9:80", true, true},
    {"[::1]", true, true},
    {"[::1]:7668", true, true},
    {"[2001:db8::7]:1", true, true},
    {"farm.example", false, true},
    {"FARM.example:7668", false, true},
    {"farm.example.", false, true},
    {"node-7", false, true},
    {"evil.example", false, false},
    {"farm.example.evil", false, false},
    {"xfarm.example", false, false},
    {"localhost.evil.example", false, false},
    {"127.0.0.1.evil.example", false, false},
    {"127.0.0.1evil", false, false},
    {"127.1", false, false},      // which no browser sends: it writes addresses out
    {"2130706433", false, false}, // likewise
    {"localhost:80:80", false, false},
    {"localhost:evil", false, false},
    {"[::1", false, false},
    {"[::1]evil", false, false},
    {"[evil]", false, false},
    {"::1", false, false},
    {".", false, false},
    {":80", false, false},
    {"user@localhost", false, false},
};

START_TEST(a_host_is_ours_or_anybodys) {
    const HttpDef plain = {.name = NULL}, named = {.name = given, .name_count = 2};
    const HttpDef any = {.takes_any_host = true};
    ck_assert_int_eq(host_is_ours(&plain, rows[_i].host), rows[_i].is_ours);
    ck_assert_int_eq(host_is_ours(&named, rows[_i].host), rows[_i].is_ours_by_name);
    ck_assert(host_is_ours(&any, rows[_i].host));
}
END_TEST

START_TEST(a_name_may_be_longer_than_any_is) {
    char host[2000];
    const HttpDef plain = {.name = NULL};
    for (size_t i = 0; i + 1 < sizeof(host); i++) {
        host[i] = '1';
        host[i + 1] = '\0';
        ck_assert(!host_is_ours(&plain, host));
    }
}
END_TEST

static TCase *case_host(void) {
    TCase *tcase = tcase_create("host");
    tcase_add_loop_test(tcase, a_host_is_ours_or_anybodys, 0, sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, a_name_may_be_longer_than_any_is);
    return tcase;
}

SUITE_MAIN("http/host", case_host)
