// SPDX-License-Identifier: MIT
// Owners with a limit of lanes: no more than so many work for them at once, short ones, long ones
// and helpers together; nobody else waits for that; and nothing is left waiting.
#include "run/lanes/lane.h"

#include "base/assert.h"
#include "base/philox.h"
#include "os/clock.h"
#include "support/suite.h"

enum { LANES = 4, OWNERS = 4, STRANDS = 60, JOBS = 1500, BLOCKS = 8 };

// Of owner i; 0: any number.
static const uint32_t lanes_max[OWNERS] = {0, 1, 2, 0};

typedef struct Work {
    Job job; // first, so that a Job * is a Work *
    uint32_t owner, again;
    uint64_t busy_ns;
    bool has_tasks, waits_for_others; // until as many of its owner work as may
    uv_thread_t lane;
} Work;

static Budget scratch = {.max_bytes = 1 << 20};
static uv_loop_t loop;
static Pool *pool;
static Strand strands[STRANDS];
static Work works[JOBS];
static _Atomic uint32_t running[OWNERS], most[OWNERS], helpers_beyond;
static uint32_t done_count;
static uint64_t ended_ns[OWNERS];

static void start(void) {
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    const PoolDef def = {.lane_count = LANES, .scratch = &scratch};
    Error error;
    ck_assert_int_eq(pool_create(&pool, &loop, &def, &error), STATUS_OK);
    for (int i = 0; i < STRANDS; i++) {
        strand_init(&strands[i]);
    }
}

static void on_closed(void *context) {
    *(bool *)context = true;
}

// Ends only when all jobs are done.
static void finish(void) {
    bool is_closed = false;
    pool_close(pool, on_closed, &is_closed);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert(is_closed);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
}

static void spend(uint64_t ns) {
    const uint64_t end_ns = clock_now_ns() + ns;
    while (clock_now_ns() < end_ns) {
    }
}

static uint32_t enter(uint32_t owner) {
    const uint32_t count = atomic_fetch_add(&running[owner], 1) + 1;
    uint32_t before = atomic_load(&most[owner]);
    while (count > before && !atomic_compare_exchange_weak(&most[owner], &before, count)) {
    }
    return count;
}

static void do_block(void *context, uint32_t block) {
    const Work *work = context;
    const uv_thread_t self = uv_thread_self();
    (void)block;
    if (uv_thread_equal(&self, &work->lane)) {
        spend(20000);
        return;
    }
    const uint32_t count = atomic_fetch_add(&running[work->owner], 1) + 1;
    if (lanes_max[work->owner] > 0 && count > lanes_max[work->owner]) {
        atomic_fetch_add(&helpers_beyond, 1);
    }
    spend(20000);
    atomic_fetch_sub(&running[work->owner], 1);
}

// For ten seconds at most, which only who never comes takes.
static void wait_for_others(uint32_t owner) {
    const uint64_t end_ns = clock_now_ns() + 10000000000;
    while (atomic_load(&most[owner]) < lanes_max[owner] && clock_now_ns() < end_ns) {
    }
}

static JobOutcome run_work(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    const uint32_t count = enter(work->owner), max = lanes_max[work->owner];
    ASSERT(work->has_tasks || helpers_beyond > 0 || max == 0 || count <= max);
    work->lane = uv_thread_self();
    if (work->has_tasks && lane->tasks != NULL) {
        lane->tasks->run(lane->tasks->lender, do_block, work, BLOCKS);
    }
    if (work->waits_for_others) {
        wait_for_others(work->owner);
    }
    spend(work->busy_ns);
    if (work->busy_ns > 200000) {
        lane_end_turn(lane); // and is still at work
        spend(20000);
    }
    atomic_fetch_sub(&running[work->owner], 1);
    if (work->again > 0) {
        work->again--;
        return JOB_AGAIN;
    }
    return JOB_DONE;
}

static void on_done(Job *job) {
    done_count++;
    ended_ns[((Work *)job)->owner] = clock_now_ns();
}

static void submit(uint32_t i, uint32_t strand, uint32_t owner) {
    works[i].job.work = run_work;
    works[i].job.done = on_done;
    works[i].owner = owner;
    pool_submit(pool, &strands[strand], lane_share(i, owner, 1, lanes_max[owner]), &works[i].job);
}

static void expect_limits(void) {
    ck_assert_uint_eq(done_count, JOBS);
    for (uint32_t i = 0; i < OWNERS; i++) {
        ck_assert_uint_eq(running[i], 0);
        ck_assert(lanes_max[i] == 0 || most[i] <= lanes_max[i]);
    }
}

// Strands are shared by owners, as a namespace's worlds are.
START_TEST(no_more_lanes_work_for_an_owner_than_may) {
    Philox random = philox_stream((uint64_t)_i + 1, 0, 0);
    start();
    for (uint32_t i = 0; i < JOBS; i++) {
        const uint64_t draw = philox_word(&random);
        works[i] = (Work){.again = draw % 16 == 0 ? (uint32_t)(draw >> 8) % 4 : 0,
                          .busy_ns = draw % 50 == 1 ? 1200000 : (draw >> 16) % 60000};
        submit(i, (uint32_t)(draw >> 32) % STRANDS, (uint32_t)(draw >> 40) % OWNERS);
        if (draw % 100 == 2) {
            uv_run(&loop, UV_RUN_NOWAIT);
        }
    }
    finish();
    expect_limits();
}
END_TEST

START_TEST(as_many_lanes_work_for_an_owner_as_may) {
    start();
    for (uint32_t i = 0; i < JOBS; i++) {
        works[i] = (Work){.waits_for_others = i < 8};
        submit(i, i % STRANDS, 1 + i % 2);
    }
    finish();
    expect_limits();
    for (uint32_t i = 1; i <= 2; i++) {
        ck_assert_uint_eq(most[i], lanes_max[i]);
    }
}
END_TEST

START_TEST(helpers_are_counted_as_lanes) {
    start();
    for (uint32_t i = 0; i < JOBS; i++) {
        works[i] = (Work){.has_tasks = true};
        submit(i, i % STRANDS, 1 + i % 2);
    }
    finish();
    ck_assert_uint_eq(done_count, JOBS);
    ck_assert_msg(helpers_beyond < JOBS / 20, "%u blocks", helpers_beyond);
}
END_TEST

// One has a thousand long pieces and one lane: another's are done long before.
START_TEST(nobody_waits_for_who_has_a_limit) {
    start();
    for (uint32_t i = 0; i < JOBS; i++) {
        works[i] = (Work){.busy_ns = 100000};
        submit(i, i % (STRANDS / 2) + (i < JOBS / 2 ? 0 : STRANDS / 2), i < JOBS / 2 ? 1 : 3);
    }
    finish();
    expect_limits();
    ck_assert_uint_eq(most[1], 1);
    ck_assert_uint_lt(ended_ns[3], ended_ns[1]);
}
END_TEST

static TCase *case_crowd(void) {
    TCase *tcase = tcase_create("crowd");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, no_more_lanes_work_for_an_owner_than_may, 0, 20);
    tcase_add_test(tcase, as_many_lanes_work_for_an_owner_as_may);
    tcase_add_test(tcase, helpers_are_counted_as_lanes);
    tcase_add_test(tcase, nobody_waits_for_who_has_a_limit);
    return tcase;
}

SUITE_MAIN("run/lanes/crowd", case_crowd)
