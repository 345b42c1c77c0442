// SPDX-License-Identifier: MIT
// The record layer alone, in memory: what somebody in between changes, cuts, repeats or invents is
// never read, and what nobody touches always is.
#include "net/tls/rate.h"
#include "net/tls/stream.h"

#include "support/campaign.h"
#include "support/net_records.h"
#include "support/suite.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { PLAYS = 400, PLAY_BYTES = 200 };

START_TEST(only_what_was_sent_is_read) {
    RecordsPlayed played = {0};
    uint8_t bytes[PLAY_BYTES];
    const uint32_t count = (uint32_t)campaign_count(PLAYS);
    uint64_t state = 88172645463325252u + (uint64_t)_i; // xorshift64
    for (uint32_t i = 0; i < count; i++) {
        for (size_t k = 0; k < PLAY_BYTES; k++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            bytes[k] = (uint8_t)(state >> 32);
        }
        net_records_play(bytes, 20 + i % (PLAY_BYTES - 20), &played);
    }
    printf("%llu plays, %llu handshakes, %llu records, %llu changes, %llu refused\n",
           (unsigned long long)count, (unsigned long long)played.handshakes,
           (unsigned long long)played.records, (unsigned long long)played.changes,
           (unsigned long long)played.refused);
    ck_assert_uint_gt(played.handshakes, count / 2);
    ck_assert_uint_gt(played.refused, count / 2);
}
END_TEST

START_TEST(what_nobody_touches_arrives) {
    // the handshake; then a record, small and large, and on with it; a new key in between
    static const uint8_t deeds[] = {1, 0, 200, 5, 255, 255, 1, 80, 0, 5, 1, 0, 6, 1, 5, 3, 0, 0, 9};
    RecordsPlayed played = {0};
    net_records_play(deeds, sizeof(deeds), &played);
    ck_assert_uint_eq(played.handshakes, 1);
    ck_assert_uint_ge(played.records, 2);
    ck_assert_uint_eq(played.refused, 0);
}
END_TEST

// ---- where records begin and end

START_TEST(whole_records_are_counted) {
    static const struct {
        const char *bytes;
        size_t count, whole;
    } cases[] = {
        {"", 0, 0},
        {"\x16\x03\x01\x00", 4, 0},
        {"\x16\x03\x01\x00\x00", 5, 5},
        {"\x16\x03\x01\x00\x02"
         "a",
         6, 0},
        {"\x16\x03\x01\x00\x02"
         "ab",
         7, 7},
        {"\x16\x03\x01\x00\x02"
         "ab\x17",
         8, 7},
        {"\x16\x03\x01\x00\x02"
         "ab\x17\x03\x03\x00\x01"
         "c",
         13, 13},
        {"\x16\x03\x01\xff\xff"
         "ab",
         7, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        ck_assert_uint_eq(tls_whole_records((const uint8_t *)cases[i].bytes, cases[i].count),
                          cases[i].whole);
    }
    ck_assert(tls_begins((const uint8_t *)"\x16\x03\x01", 3));
    ck_assert(tls_begins((const uint8_t *)"\x16", 1));
    ck_assert(!tls_begins((const uint8_t *)"\x16\x02", 2));
    ck_assert(!tls_begins((const uint8_t *)"G", 1));
}
END_TEST

// ---- the rate

static uint64_t key_of(const char *host) {
    struct sockaddr_storage address = {0};
    struct sockaddr_in *v4 = (struct sockaddr_in *)&address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&address;
    if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
        v4->sin_family = AF_INET;
    } else {
        v6->sin6_family = AF_INET6;
        ck_assert_int_eq(inet_pton(AF_INET6, host, &v6->sin6_addr), 1);
    }
    return tls_rate_key(&address);
}

START_TEST(a_machine_is_its_address_and_of_ipv6_half_of_it) {
    ck_assert_uint_ne(key_of("10.0.0.1"), key_of("10.0.0.2"));
    ck_assert_uint_eq(key_of("2001:db8::1"), key_of("2001:db8::ffff:1"));
    ck_assert_uint_ne(key_of("2001:db8::1"), key_of("2001:db8:0:1::1"));
    ck_assert_uint_ne(key_of("::ffff:10.0.0.1"), key_of("::ffff:10.0.0.2"));
}
END_TEST

START_TEST(ten_seconds_worth_at_once_and_then_the_rate) {
    static TlsRate rate = {.per_s = 5};
    const uint64_t second_ns = 1000000000u, begun_ns = 77 * second_ns;
    const uint64_t key = key_of("10.0.0.1"), other = key_of("10.0.0.2");
    for (int i = 0; i < 5 * TLS_RATE_BURST_S; i++) {
        ck_assert(tls_rate_take(&rate, key, begun_ns));
    }
    ck_assert(!tls_rate_take(&rate, key, begun_ns));
    ck_assert(tls_rate_take(&rate, other, begun_ns));
    ck_assert(!tls_rate_take(&rate, key, begun_ns + second_ns / 5 - 1));
    ck_assert(tls_rate_take(&rate, key, begun_ns + second_ns / 5));
    ck_assert(!tls_rate_take(&rate, key, begun_ns + second_ns / 5));
    for (int i = 0; i < 5 * TLS_RATE_BURST_S; i++) { // and full again after ten seconds
        ck_assert(tls_rate_take(&rate, key, begun_ns + 11 * second_ns));
    }
    ck_assert(!tls_rate_take(&rate, key, begun_ns + 11 * second_ns));
    rate.per_s = 0;
    ck_assert(tls_rate_take(&rate, key, begun_ns));
}
END_TEST

// Who comes from very many addresses is remembered by none of them for long, and disturbs nothing.
START_TEST(very_many_addresses_fit) {
    static TlsRate rate = {.per_s = 1};
    for (uint64_t key = 1; key < 100000; key++) {
        ck_assert(tls_rate_take(&rate, key, 1000000000u * (1 + key / 1000)));
    }
}
END_TEST

static TCase *case_records(void) {
    TCase *tcase = tcase_create("records");
    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, only_what_was_sent_is_read, 0, 4);
    tcase_add_test(tcase, what_nobody_touches_arrives);
    tcase_add_test(tcase, whole_records_are_counted);
    return tcase;
}

static TCase *case_rate(void) {
    TCase *tcase = tcase_create("rate");
    tcase_add_test(tcase, a_machine_is_its_address_and_of_ipv6_half_of_it);
    tcase_add_test(tcase, ten_seconds_worth_at_once_and_then_the_rate);
    tcase_add_test(tcase, very_many_addresses_fit);
    return tcase;
}

SUITE_MAIN("net/stream", case_records, case_rate)
