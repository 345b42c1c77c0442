// SPDX-License-Identifier: MIT
// Requests that wait for answers: found whatever the order of the answers, by thousands, and
// numbered when the connection that carries them is there.
#include "asked.h"
#include "clients/fake_peer.h"
#include "moreau.h"
#include "support/suite.h"

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

// ---- the list

static uint64_t draw(uint64_t *state, uint64_t below) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % below;
}

static void add(AskedList *list, uint64_t id) {
    ck_assert(asked_reserve(list));
    asked_add(list, id, malloc(8), 8);
}

START_TEST(what_waits_is_found_and_what_is_over_is_not) {
    enum { IDS = 2000 };
    bool waits[IDS] = {false};
    AskedList list = {0};
    uint64_t random = (uint64_t)_i + 1, id = 0, count = 0;
    while (id < IDS - 3) {
        if (draw(&random, 3) < (uint64_t)_i % 3) { // mostly asked, as often as not, mostly answered
            id += 1 + draw(&random, 3);            // some ids are other calls'
            add(&list, id);
            waits[id] = true;
            count++;
        } else {
            const uint64_t which = draw(&random, IDS);
            Asked *asked = asked_find(&list, which);
            ck_assert_int_eq(asked != NULL, waits[which]);
            if (asked != NULL) {
                ck_assert_uint_eq(asked->id, which);
                asked_forget(&list, asked);
                waits[which] = false;
                count--;
            }
            id += _i % 3 == 0; // else none would be asked
        }
        ck_assert_uint_eq(list.count, count);
    }
    for (uint64_t i = 0; i < IDS; i++) {
        ck_assert_int_eq(asked_find(&list, i) != NULL, waits[i]);
    }
    asked_deinit(&list);
}
END_TEST

// A million that wait while they are answered, from the front, the back, or anywhere: were one of
// them looked for, or closed up behind, one by one, it would take hours.
START_TEST(a_million_are_answered_in_any_order) {
    enum { IDS = 1 << 20 };
    AskedList list = {0};
    for (uint64_t id = 1; id <= IDS; id++) {
        ck_assert(asked_reserve(&list));
        asked_add(&list, id, NULL, 0);
    }
    for (uint64_t i = 0; i < IDS; i++) {
        // an odd factor takes every place once
        const uint64_t id = _i == 0 ? i + 1 : _i == 1 ? IDS - i : 1 + i * 757575757u % IDS;
        Asked *asked = asked_find(&list, id);
        ck_assert_ptr_nonnull(asked);
        asked_forget(&list, asked);
    }
    ck_assert_uint_eq(list.count, 0);
    asked_deinit(&list);
}
END_TEST

// One that is never answered keeps nothing of those behind it.
START_TEST(room_follows_what_waits) {
    AskedList list = {0};
    add(&list, 1);
    for (uint64_t id = 2; id < 100000; id++) {
        add(&list, id);
        asked_forget(&list, asked_find(&list, id));
    }
    ck_assert_uint_lt(list.capacity, 100);
    ck_assert_ptr_nonnull(asked_find(&list, 1));
    asked_deinit(&list);
}
END_TEST

// ---- on a connection

enum { PINGS = 20000 };

// Answers all but the first, then the first.
static void answer_first_last(FakePeer *peer) {
    uint64_t first = 0;
    if (!fake_welcome(peer, 1)) {
        return;
    }
    for (uint64_t i = 0; i < PINGS; i++) {
        Moreau__V1__Request *request = fake_receive(peer);
        first = i == 0 ? request->id : first;
        if (i > 0) {
            fake_send_pong(peer, request->id, i);
        }
        moreau__v1__request__free_unpacked(request, NULL);
    }
    fake_send_pong(peer, first, 0);
}

static size_t pack_ping(uint8_t bytes[16]) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_PING;
    request.ping = &ping;
    return moreau__v1__request__pack(&request, bytes);
}

START_TEST(thousands_are_pipelined) {
    FakePeer peer;
    fake_start(&peer, answer_first_last, NULL);
    MoreauOptions options = moreau_options_default();
    options.reconnect.attempts = (unsigned)_i; // 1: each is kept to be repeated
    MoreauClient *client;
    ck_assert_int_eq(moreau_connect(peer.address, &options, &client, NULL), MOREAU_OK);
    uint8_t bytes[16];
    const size_t count = pack_ping(bytes);
    uint64_t first = 0, id;
    for (uint64_t i = 0; i < PINGS; i++) {
        ck_assert_int_eq(moreau_submit(client, bytes, count, &id), MOREAU_OK);
        first = i == 0 ? id : first;
    }
    for (uint64_t i = 0; i < PINGS; i++) {
        MoreauReply *reply;
        ck_assert_int_eq(moreau_receive(client, -1, &reply), MOREAU_OK);
        ck_assert_uint_eq(moreau_reply_id(reply), i < PINGS - 1 ? first + 1 + i : first);
        moreau_reply_free(reply);
    }
    ck_assert_uint_eq(moreau_in_flight(client), 0);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static void sleep_ms(long ms) {
    const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

// Hangs up, is away until it is told to be back, and then answers whoever comes.
static void be_away(FakePeer *peer) {
    _Atomic bool *is_back = peer->context;
    fake_welcome(peer, 1);
    shutdown(peer->fd, SHUT_RDWR);
    while (!atomic_load(is_back)) {
        sleep_ms(1);
    }
    for (bool has_answered = false; !has_answered;) {
        close(peer->fd);
        peer->fd = accept(peer->listener, NULL, NULL);
        fake_welcome(peer, 1);
        Moreau__V1__Request *request;
        while ((request = fake_receive(peer)) != NULL) {
            fake_send_pong(peer, request->id, request->ping->payload);
            moreau__v1__request__free_unpacked(request, NULL);
            has_answered = true;
        }
    }
}

START_TEST(a_call_behind_one_that_gave_up_during_an_absence_is_answered) {
    FakePeer peer;
    _Atomic bool is_back = false;
    fake_start(&peer, be_away, &is_back);
    MoreauOptions options = moreau_options_default();
    options.connect_timeout_ms = 50;
    options.reply_timeout_ms = 100;
    options.reconnect =
        (MoreauReconnect){.attempts = 100, .wait_ms = 200, .wait_ms_max = 200, .total_ms = 0};
    MoreauClient *client;
    ck_assert_int_eq(moreau_connect(peer.address, &options, &client, NULL), MOREAU_OK);
    ck_assert_int_eq(moreau_ping(client, 1, NULL), MOREAU_DEADLINE_EXCEEDED);
    ck_assert(moreau_is_connected(client)); // it may come back
    atomic_store(&is_back, true);
    moreau_set_reply_timeout(client, 10000);
    uint64_t echo = 0;
    ck_assert_msg(moreau_ping(client, 42, &echo) == MOREAU_OK, "%s", moreau_error(client)->message);
    ck_assert_uint_eq(echo, 42);
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

// Greets, reads as many requests as may wait, and then ends the connection with its last word.
static void end_with_a_word(FakePeer *peer) {
    peer->requests_max = 2;
    fake_welcome(peer, 1);
    for (int i = 0; i < 2; i++) {
        moreau__v1__request__free_unpacked(fake_receive(peer), NULL);
    }
    fake_send_status(peer, 0, MOREAU__V1__STATUS__CODE__RESOURCE_EXHAUSTED, NULL, "I have enough");
}

// Who waits for room is told it, also when the session is not taken up again.
START_TEST(a_servers_last_word_is_heard_by_who_waits_for_room) {
    FakePeer peer;
    fake_start(&peer, end_with_a_word, NULL);
    MoreauOptions options = moreau_options_default();
    options.connect_timeout_ms = 1000; // nobody is there any more
    options.reconnect.attempts = 1;
    MoreauClient *client;
    ck_assert_int_eq(moreau_connect(peer.address, &options, &client, NULL), MOREAU_OK);
    uint8_t bytes[16];
    const size_t count = pack_ping(bytes);
    uint64_t id;
    ck_assert_int_eq(moreau_submit(client, bytes, count, &id), MOREAU_OK);
    ck_assert_int_eq(moreau_submit(client, bytes, count, &id), MOREAU_OK);
    ck_assert_int_eq(moreau_submit(client, bytes, count, &id), MOREAU_UNAVAILABLE);
    ck_assert_ptr_nonnull(strstr(moreau_error(client)->message, "I have enough"));
    moreau_disconnect(client);
    fake_stop(&peer);
}
END_TEST

static TCase *case_list(void) {
    TCase *tcase = tcase_create("list");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, what_waits_is_found_and_what_is_over_is_not, 0, 30);
    tcase_add_loop_test(tcase, a_million_are_answered_in_any_order, 0, 3);
    tcase_add_test(tcase, room_follows_what_waits);
    return tcase;
}

static TCase *case_connection(void) {
    TCase *tcase = tcase_create("connection");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, thousands_are_pipelined, 0, 2);
    tcase_add_test(tcase, a_call_behind_one_that_gave_up_during_an_absence_is_answered);
    tcase_add_test(tcase, a_servers_last_word_is_heard_by_who_waits_for_room);
    return tcase;
}

SUITE_MAIN("clients/asked", case_list, case_connection)
