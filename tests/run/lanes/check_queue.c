// SPDX-License-Identifier: MIT
// Whose turn it is: owners by their weight, then the sessions of one, then first come, first
// served; and whatever goes in comes out once.
#include "run/lanes/lane_parts.h"

#include "base/philox.h"
#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

enum { STRANDS = 4000 };

static Queue *queue;
static Strand strand[STRANDS];
static Job job[STRANDS];
static size_t made;

static void set_up(void) {
    queue = calloc(1, sizeof(*queue));
    ck_assert_ptr_nonnull(queue);
    made = 0;
}

static void tear_down(void) {
    free(queue);
}

// One more strand of a session; its index.
static size_t put(uint64_t session, uint32_t owner, uint32_t weight) {
    const size_t i = made++;
    ck_assert_uint_lt(i, STRANDS);
    memset(&job[i], 0, sizeof(job[i]));
    memset(&strand[i], 0, sizeof(strand[i]));
    job[i].share = share_pack(lane_share(session, owner, weight, 0));
    strand_append(&strand[i], &job[i]);
    queue_append(queue, &strand[i]);
    return i;
}

static size_t pop(void) {
    return (size_t)(queue_pop(queue) - strand);
}

START_TEST(who_opens_many_sessions_has_no_more_turns) {
    enum { SESSIONS = 50, EACH = 20 };
    for (uint64_t i = 0; i < SESSIONS * EACH; i++) {
        put(1 + i % SESSIONS, 1, 1);
    }
    const size_t first = put(1000, 2, 1), second = put(1000, 2, 1);
    size_t turn = 0, at_first = 0;
    for (; turn < made; turn++) {
        const size_t i = pop();
        at_first = i == first ? turn : at_first;
        if (i == second) {
            break;
        }
    }
    ck_assert_uint_le(at_first, 1);
    ck_assert_uint_le(turn, 3);
}
END_TEST

START_TEST(sessions_of_one_owner_take_turns_as_before) {
    for (int i = 0; i < 100; i++) {
        put(1, 0, 0);
    }
    const size_t other = put(2, 0, 0);
    ck_assert_uint_eq(pop(), 0);
    ck_assert_uint_eq(pop(), other);
    ck_assert_uint_eq(pop(), 1); // and first come, first served
    ck_assert_uint_eq(pop(), 2);
}
END_TEST

START_TEST(turns_go_by_weight) {
    size_t count[3] = {0};
    size_t owner_of[STRANDS];
    for (int i = 0; i < 900; i++) {
        const uint32_t owner = 1 + (uint32_t)i % 3;
        owner_of[put(owner, owner, owner == 1 ? 5 : owner == 2 ? 2 : 0)] = owner - 1;
    }
    for (int i = 0; i < 8 * 30; i++) {
        count[owner_of[pop()]]++;
    }
    ck_assert_uint_eq(count[0], 5 * 30);
    ck_assert_uint_eq(count[1], 2 * 30);
    ck_assert_uint_eq(count[2], 1 * 30);
}
END_TEST

START_TEST(a_turn_that_was_given_back_is_the_next) {
    put(1, 1, 1);
    put(2, 2, 1);
    put(1, 1, 1);
    const size_t first = pop();
    queue_prepend(queue, &strand[first]);
    ck_assert_uint_eq(queue_count(queue), 3);
    size_t seen = 0;
    for (size_t i = 0; i < 3; i++) {
        seen |= (size_t)1 << pop();
    }
    ck_assert_uint_eq(seen, 7);
    ck_assert_uint_eq(queue_count(queue), 0);
    // alone it is given back at once
    const size_t alone = put(9, 3, 1);
    ck_assert_uint_eq(pop(), alone);
    queue_prepend(queue, &strand[alone]);
    put(1, 1, 1);
    ck_assert_uint_eq(pop(), alone);
}
END_TEST

START_TEST(who_is_held_is_neither_in_the_queue_nor_counted) {
    const size_t first = put(1, 1, 1), second = put(2, 2, 1);
    put(1, 1, 1);
    queue_hold(queue, &queue->owner[1]);
    ck_assert_uint_eq(queue_count(queue), 1);
    ck_assert_uint_eq(queue_held_count(queue), 2);
    put(1, 1, 1); // what comes to him waits, too
    ck_assert_uint_eq(queue_held_count(queue), 3);
    ck_assert_uint_eq(pop(), second);
    ck_assert_ptr_null(queue_first(queue));
    queue_release(queue, &queue->owner[1]);
    ck_assert_uint_eq(queue_count(queue), 3);
    ck_assert_uint_eq(queue_held_count(queue), 0);
    ck_assert_ptr_eq(queue_first(queue), &strand[first]);
    ck_assert_uint_eq(pop(), first);
}
END_TEST

// Whatever is put in, taken out, and given back.
START_TEST(each_comes_out_once) {
    Philox random = philox_stream((uint64_t)_i + 1, 0, 0);
    bool out[STRANDS] = {false};
    size_t inside = 0;
    while (made < STRANDS || inside > 0) {
        const uint64_t draw = philox_word(&random);
        if (made < STRANDS && draw % 5 < 3) {
            put(draw >> 8 & 1023, (uint32_t)(draw >> 20) & 127, (uint32_t)(draw >> 30) & 7);
            inside++;
        } else if (inside > 0) {
            const size_t i = pop();
            ck_assert(!out[i]);
            if (draw % 7 == 0) {
                queue_prepend(queue, &strand[i]);
            } else {
                out[i] = true;
                inside--;
            }
        }
        ck_assert_uint_eq(queue_count(queue), inside);
    }
    for (size_t i = 0; i < STRANDS; i++) {
        ck_assert(out[i]);
    }
}
END_TEST

static TCase *case_queue(void) {
    TCase *tcase = tcase_create("queue");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, who_opens_many_sessions_has_no_more_turns);
    tcase_add_test(tcase, sessions_of_one_owner_take_turns_as_before);
    tcase_add_test(tcase, turns_go_by_weight);
    tcase_add_test(tcase, who_is_held_is_neither_in_the_queue_nor_counted);
    tcase_add_test(tcase, a_turn_that_was_given_back_is_the_next);
    tcase_add_loop_test(tcase, each_comes_out_once, 0, 5);
    return tcase;
}

SUITE_MAIN("run/queue", case_queue)
