// SPDX-License-Identifier: MIT
// Offers: every block once, whoever does it; the owner waits for what was begun and for nothing
// else; helpers are called when it pays.
#include "run/lanes/offer.h"

#include "os/clock.h"
#include "support/lab.h"
#include "support/suite.h"

#include <string.h>
#include <uv.h>

enum { BLOCKS_MAX = 64 };

static void call_nobody(void *context, uint32_t wanted) {
    (void)context, (void)wanted;
}

static void init(Offer *offer, _Atomic uint32_t *open_count) {
    offer_init(offer,
               &(OfferDef){.clock = clock_now_ns, .call = call_nobody, .open_count = open_count});
}

// ---- every block once

typedef struct Work {
    uint32_t value[BLOCKS_MAX]; // plain memory: what helpers write the owner reads, and the reverse
    uint32_t spins;
} Work;

static void raise_value(void *work, uint32_t block) {
    Work *own = work;
    for (volatile uint32_t i = 0; i < own->spins; i++) {
    }
    own->value[block]++;
}

enum { OWNERS_MAX = 4, HELPERS_MAX = 5 };

static struct {
    Offer offer[OWNERS_MAX];
    uint32_t owner_count, helper_count;
    uint32_t rounds; // at least
    _Atomic uint32_t open_count;
    _Atomic bool is_over;
    _Atomic uint32_t helped[OWNERS_MAX];
    _Atomic uint32_t wrong;
} stress;

static void own(void *argument) {
    Offer *offer = argument;
    uint64_t seed = (uint64_t)(offer - stress.offer);
    Work work = {.spins = 0};
    uint32_t expected[BLOCKS_MAX] = {0};
    bool is_helped = stress.helper_count == 0; // else this would say nothing
    for (uint32_t round = 0; round < stress.rounds || !is_helped; round++) {
        is_helped = is_helped || atomic_load(&stress.helped[offer - stress.offer]) > 0;
        uint32_t count = 2 + (uint32_t)lab_random(&seed, 0.0, BLOCKS_MAX - 2);
        work.spins = (uint32_t)lab_random(&seed, 0.0, 200.0);
        tasks_run(&offer->tasks, raise_value, &work, count);
        for (uint32_t i = 0; i < count; i++) {
            expected[i]++;
        }
        if (memcmp(expected, work.value, sizeof(expected)) != 0) {
            atomic_fetch_add(&stress.wrong, 1);
        }
        if (round % 16 == 0) {
            offer_close(offer);
        }
    }
    offer_close(offer);
}

// Comes and goes: helps one owner for some blocks, looks away, helps another.
static void help(void *argument) {
    uint64_t seed = 1000 + (uint64_t)(uintptr_t)argument;
    while (!atomic_load(&stress.is_over)) {
        uint32_t owner = (uint32_t)lab_random(&seed, 0.0, stress.owner_count);
        for (int i = 0; i < 20; i++) {
            if (offer_help(&stress.offer[owner])) {
                atomic_fetch_add(&stress.helped[owner], 1);
            }
        }
        if (lab_random(&seed, 0.0, 1.0) < 0.01) {
            uv_sleep(1);
        }
    }
}

static const struct {
    uint32_t owners, helpers, rounds;
} shapes[] = {{1, 0, 20000}, {1, 1, 20000}, {1, 5, 8000}, {2, 2, 8000}, {4, 5, 4000}, {4, 1, 4000}};

START_TEST(every_block_is_done_once_while_helpers_come_and_go) {
    stress.owner_count = shapes[_i].owners;
    stress.helper_count = shapes[_i].helpers;
    stress.rounds = shapes[_i].rounds;
    uv_thread_t owner[OWNERS_MAX], helper[HELPERS_MAX];
    for (uint32_t i = 0; i < shapes[_i].owners; i++) {
        init(&stress.offer[i], &stress.open_count);
    }
    for (uint32_t i = 0; i < shapes[_i].helpers; i++) {
        ck_assert_int_eq(uv_thread_create(&helper[i], help, (void *)(uintptr_t)i), 0);
    }
    for (uint32_t i = 0; i < shapes[_i].owners; i++) {
        ck_assert_int_eq(uv_thread_create(&owner[i], own, &stress.offer[i]), 0);
    }
    for (uint32_t i = 0; i < shapes[_i].owners; i++) {
        uv_thread_join(&owner[i]);
    }
    atomic_store(&stress.is_over, true);
    for (uint32_t i = 0; i < shapes[_i].helpers; i++) {
        uv_thread_join(&helper[i]);
    }
    ck_assert_uint_eq(stress.wrong, 0);
    ck_assert_uint_eq(stress.open_count, 0);
}
END_TEST

// ---- whom the owner waits for

static struct {
    Offer offer;
    _Atomic uint32_t open_count;
    uv_thread_t owner;
    uv_sem_t may_help, was_begun;
    _Atomic uint32_t own_count;
    bool helper_has_written, was_late;
} one;

static void count_own(void *work, uint32_t block) {
    (void)work, (void)block;
    atomic_fetch_add(&one.own_count, 1);
}

static void help_when_told(void *argument) {
    (void)argument;
    uv_sem_wait(&one.may_help);
    one.was_late = !offer_help(&one.offer);
}

START_TEST(the_owner_does_not_wait_for_a_helper_that_has_not_begun) {
    init(&one.offer, &one.open_count);
    uv_sem_init(&one.may_help, 0);
    uv_thread_t helper;
    uv_thread_create(&helper, help_when_told, NULL);
    tasks_run(&one.offer.tasks, count_own, NULL, 10); // while the helper stands before its block
    ck_assert_uint_eq(one.own_count, 10);
    uv_sem_post(&one.may_help);
    uv_thread_join(&helper);
    ck_assert(one.was_late);
    ck_assert_uint_eq(one.own_count, 10);
}
END_TEST

// The helper's block ends long after all others; the owner's first begins when the helper's has.
static void outlast(void *work, uint32_t block) {
    (void)work, (void)block;
    uv_thread_t self = uv_thread_self();
    if (uv_thread_equal(&self, &one.owner)) {
        if (atomic_fetch_add(&one.own_count, 1) == 0) {
            uv_sem_post(&one.may_help);
            uv_sem_wait(&one.was_begun);
        }
        return;
    }
    uv_sem_post(&one.was_begun);
    while (atomic_load(&one.own_count) < 9) {
    }
    uv_sleep(20);
    one.helper_has_written = true;
}

START_TEST(the_owner_waits_for_a_block_that_a_helper_has_begun) {
    init(&one.offer, &one.open_count);
    uv_sem_init(&one.may_help, 0);
    uv_sem_init(&one.was_begun, 0);
    one.owner = uv_thread_self();
    uv_thread_t helper;
    uv_thread_create(&helper, help_when_told, NULL);
    tasks_run(&one.offer.tasks, outlast, NULL, 10);
    ck_assert(one.helper_has_written);
    ck_assert_uint_eq(one.own_count, 9);
    uv_thread_join(&helper);
}
END_TEST

START_TEST(an_offer_is_open_from_its_first_tasks_until_it_is_closed) {
    init(&one.offer, &one.open_count);
    offer_close(&one.offer); // as after work that had no tasks
    ck_assert_uint_eq(one.open_count, 0);
    ck_assert(!offer_help(&one.offer));
    tasks_run(&one.offer.tasks, count_own, NULL, 3);
    tasks_run(&one.offer.tasks, count_own, NULL, 3);
    ck_assert_uint_eq(one.open_count, 1);
    ck_assert(!offer_help(&one.offer));
    offer_close(&one.offer);
    offer_close(&one.offer);
    ck_assert_uint_eq(one.open_count, 0);
}
END_TEST

// ---- who does which

static struct {
    Offer offer;
    _Atomic uint32_t open_count;
    uint32_t order[8], count;
} ends;

// While the owner does its first and third block somebody helps with two.
static void note_order(void *work, uint32_t block) {
    (void)work;
    ends.order[ends.count++] = block;
    if (block == 0 || block == 2) {
        ck_assert(offer_help(&ends.offer));
        ck_assert(offer_help(&ends.offer));
    }
}

// So what a thread did of one call it does again of the next.
START_TEST(the_owner_does_the_first_blocks_and_who_helps_the_last) {
    init(&ends.offer, &ends.open_count);
    const uint32_t order[8] = {0, 7, 6, 1, 2, 5, 4, 3};
    for (int call = 0; call < 2; call++) {
        ends.count = 0;
        tasks_run(&ends.offer.tasks, note_order, NULL, 8);
        ck_assert_uint_eq(ends.count, 8);
        ck_assert_mem_eq(ends.order, order, sizeof(order));
    }
}
END_TEST

// ---- when helpers are called: on a clock that only the blocks and the test move

static struct {
    Offer offer;
    _Atomic uint32_t open_count;
    uint64_t now_ns, block_ns;
    uint32_t calls, wanted;
    uint64_t called_ns;
} paced;

static uint64_t paced_clock(void) {
    return paced.now_ns;
}

static void pass_time(void *work, uint32_t block) {
    (void)work, (void)block;
    paced.now_ns += paced.block_ns;
}

static void note_call(void *context, uint32_t wanted) {
    (void)context;
    paced.calls++;
    paced.wanted = wanted;
    paced.called_ns = paced.now_ns;
}

static void begin_paced(uint64_t block_ns) {
    paced.now_ns = 1000000000;
    paced.block_ns = block_ns;
    offer_init(
        &paced.offer,
        &(OfferDef){.clock = paced_clock, .call = note_call, .open_count = &paced.open_count});
}

static void run_paced(uint32_t count) {
    tasks_run(&paced.offer.tasks, pass_time, NULL, count);
}

START_TEST(a_short_step_calls_nobody_however_often_it_is_asked_for) {
    begin_paced(5000);
    for (int i = 0; i < 10000; i++) {
        run_paced(4); // 50 us, of which two stages of 20 us are in blocks
        run_paced(4);
        paced.now_ns += 10000 + 40000; // the rest of the step, the reply and the next request
    }
    ck_assert_uint_eq(paced.calls, 0);
}
END_TEST

START_TEST(long_tasks_call_helpers_once_they_have_shown_that_they_are_long) {
    begin_paced(20000);
    uint64_t begun_ns = paced.now_ns;
    run_paced(10);
    ck_assert_uint_eq(paced.calls, 1);
    ck_assert_uint_eq(paced.called_ns - begun_ns, OFFER_CALL_NS);
    ck_assert_uint_eq(paced.wanted, 4); // five are left, and the owner begins one of them
}
END_TEST

START_TEST(many_short_tasks_in_a_row_are_long_work_too) {
    begin_paced(2000);
    uint64_t begun_ns = paced.now_ns;
    while (paced.calls == 0) {
        run_paced(5); // a sweep's colours: 10 us in blocks, and little between them
        paced.now_ns += 1000;
    }
    // 9 us more at each, so the twelfth has them
    ck_assert_uint_le(paced.called_ns - begun_ns, 12 * 11000);
    ck_assert_uint_ge(paced.called_ns - begun_ns, 10 * 11000);
}
END_TEST

START_TEST(what_was_long_calls_at_once_the_next_time_but_not_after_a_pause) {
    begin_paced(20000);
    run_paced(40);
    uint64_t begun_ns = paced.now_ns += 300000; // between two steps of one world
    run_paced(4);
    ck_assert_uint_eq(paced.called_ns, begun_ns);
    paced.now_ns += OFFER_CREDIT_NS_MAX;
    begun_ns = paced.now_ns;
    paced.calls = 0;
    run_paced(4);
    ck_assert_uint_eq(paced.calls, 0);
}
END_TEST

START_TEST(helpers_are_not_called_again_before_they_can_have_come) {
    begin_paced(1000);
    uint64_t begun_ns = paced.now_ns;
    while (paced.now_ns - begun_ns < 10 * OFFER_CALL_NS) {
        run_paced(8);
    }
    ck_assert_uint_ge(paced.calls, 8);
    ck_assert_uint_le(paced.calls, 9); // none in the first OFFER_CALL_NS, then one in each
}
END_TEST

START_TEST(nobody_is_called_for_the_last_block) {
    begin_paced(OFFER_CALL_NS - 1);
    run_paced(2);
    ck_assert_uint_eq(paced.calls, 0);
    run_paced(2); // has a credit: one to begin, one for a helper
    ck_assert_uint_eq(paced.calls, 1);
    ck_assert_uint_eq(paced.wanted, 1);
}
END_TEST

static TCase *case_blocks(void) {
    TCase *tcase = tcase_create("blocks");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_block_is_done_once_while_helpers_come_and_go, 0,
                        (int)(sizeof(shapes) / sizeof(shapes[0])));
    tcase_add_test(tcase, the_owner_does_not_wait_for_a_helper_that_has_not_begun);
    tcase_add_test(tcase, the_owner_waits_for_a_block_that_a_helper_has_begun);
    tcase_add_test(tcase, the_owner_does_the_first_blocks_and_who_helps_the_last);
    tcase_add_test(tcase, an_offer_is_open_from_its_first_tasks_until_it_is_closed);
    return tcase;
}

static TCase *case_calls(void) {
    TCase *tcase = tcase_create("calls");
    tcase_add_test(tcase, a_short_step_calls_nobody_however_often_it_is_asked_for);
    tcase_add_test(tcase, long_tasks_call_helpers_once_they_have_shown_that_they_are_long);
    tcase_add_test(tcase, many_short_tasks_in_a_row_are_long_work_too);
    tcase_add_test(tcase, what_was_long_calls_at_once_the_next_time_but_not_after_a_pause);
    tcase_add_test(tcase, helpers_are_not_called_again_before_they_can_have_come);
    tcase_add_test(tcase, nobody_is_called_for_the_last_block);
    return tcase;
}

SUITE_MAIN("run/offer", case_blocks, case_calls)
