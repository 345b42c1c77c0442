// SPDX-License-Identifier: MIT
// Lanes that help: idle ones do, others do not, and a helper leaves for its own work. What must
// happen is waited for without a limit but the test's; how long it takes is nobody's business here.
#include "run/lanes/lane.h"

#include "base/assert.h"
#include "os/clock.h"
#include "support/lab.h"
#include "support/suite.h"

#include <string.h>
#include <sys/resource.h>

enum { BLOCKS_MAX = 64, JOBS_MAX = 200 };

typedef struct Fixture {
    Budget scratch;
    uv_loop_t loop;
    Pool *pool;
    bool is_closed;
} Fixture;

typedef struct Work Work;

// A job that runs tasks until `is_enough` says so.
struct Work {
    Job job; // first, so that a Job * is a Work *
    Strand strand;
    bool (*is_enough)(Work *work);
    const Lane *lane;
    uv_thread_t owner;
    uint64_t block_ns;
    uint32_t own;              // blocks of the last call that the owner did
    uint32_t alone;            // calls in a row in which it did all of them
    _Atomic uint32_t nicer;    // blocks in all that were done by a thread nicer than the owner
    _Atomic uint32_t helped;   // blocks in all that others did
    _Atomic uint32_t running;  // blocks at once
    _Atomic uint32_t most;     // … at most
    int niceness;              // the owner's
    uint32_t done[BLOCKS_MAX]; // of the present call
    uint64_t calls, wrong;
    _Atomic bool is_submitted, is_begun, is_done;
    _Atomic bool *awaited;
    const _Atomic bool *since, *until; // Nullable: when no helper is to begin a block …
    _Atomic uint32_t late;             // … and how many were
};

static void start(Fixture *fixture, uint32_t lane_count) {
    ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
    fixture->scratch.max_bytes = 1 << 20;
    PoolDef def = {.lane_count = lane_count, .scratch = &fixture->scratch};
    Error error;
    ck_assert_int_eq(pool_create(&fixture->pool, &fixture->loop, &def, &error), STATUS_OK);
}

// And waits, as long as a machine that is not busy needs, until its lanes sleep: those that help
// are then those that are woken for it.
static void start_and_rest(Fixture *fixture, uint32_t lane_count) {
    start(fixture, lane_count);
    uv_sleep(50);
}

static void on_closed(void *context) {
    ((Fixture *)context)->is_closed = true;
}

static void finish(Fixture *fixture) {
    pool_close(fixture->pool, on_closed, fixture);
    ck_assert_int_eq(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    ck_assert(fixture->is_closed);
    ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
}

static void spend(uint64_t ns) {
    uint64_t end_ns = clock_now_ns() + ns;
    while (clock_now_ns() < end_ns) {
    }
}

// A helper begins a block although it is needed elsewhere. One is right: it had looked just before.
static void judge_helper(Work *work) {
    if (work->since != NULL && atomic_load(work->since) &&
        (work->until == NULL || !atomic_load(work->until))) {
        atomic_fetch_add(&work->late, 1);
    }
}

static void do_block(void *argument, uint32_t block) {
    Work *work = argument;
    uint32_t running = atomic_fetch_add(&work->running, 1) + 1;
    if (running > atomic_load(&work->most)) {
        atomic_store(&work->most, running);
    }
    work->done[block]++;
    uv_thread_t self = uv_thread_self();
    if (uv_thread_equal(&self, &work->owner)) {
        work->own++;
    } else {
        int niceness = getpriority(PRIO_PROCESS, 0);
        atomic_fetch_add(&work->helped, 1);
        atomic_fetch_add(&work->nicer, niceness > work->niceness ? 1 : 0);
        if (niceness == work->niceness) { // of the owner's crew
            judge_helper(work);
        }
    }
    spend(work->block_ns);
    atomic_fetch_sub(&work->running, 1);
}

static void run_tasks(Work *work, uint32_t count) {
    memset(work->done, 0, sizeof(work->done));
    work->own = 0;
    tasks_run(work->lane->tasks, do_block, work, count);
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        work->wrong += work->done[i] != (i < count ? 1u : 0u);
    }
    work->calls++;
}

static JobOutcome work_on(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    work->lane = lane;
    work->owner = uv_thread_self();
    work->niceness = getpriority(PRIO_PROCESS, 0);
    atomic_store(&work->is_begun, true);
    do {
        run_tasks(work, BLOCKS_MAX / 4);
    } while (!work->is_enough(work));
    return JOB_DONE;
}

static void on_done(Job *job) {
    Work *work = (Work *)job;
    ck_assert_uint_eq(work->wrong, 0);
    atomic_store(&work->is_done, true);
}

static void submit(Fixture *fixture, Work *work, bool is_long, JobWork *job_work) {
    if (is_long) {
        strand_init_long(&work->strand);
    } else {
        strand_init(&work->strand);
    }
    work->job.work = job_work;
    work->job.done = on_done;
    pool_submit(fixture->pool, &work->strand, 0, &work->job);
    pool_flush(fixture->pool);
    atomic_store(&work->is_submitted, true);
}

// Blocks of 20 us, until it is enough.
static void submit_tasks(Fixture *fixture, Work *work, bool is_long,
                         bool (*is_enough)(Work *work)) {
    work->is_enough = is_enough;
    work->block_ns = 20000;
    submit(fixture, work, is_long, work_on);
}

static void run_until_idle(Fixture *fixture) {
    while (pool_job_count(fixture->pool) > 0) {
        uv_sleep(1); // the cores are for the lanes
        pool_settle(fixture->pool);
    }
}

// ---- who helps

static bool was_helped(Work *work) {
    return atomic_load(&work->helped) > 100;
}

START_TEST(idle_lanes_help_a_lane_and_no_more_than_the_pool_was_asked_for) {
    static const uint32_t lanes[] = {2, 3, 7};
    bool is_long = _i % 2 == 1;
    Fixture fixture = {0};
    start(&fixture, lanes[_i / 2]);
    Work work = {0};
    submit_tasks(&fixture, &work, is_long, was_helped);
    run_until_idle(&fixture);
    ck_assert_int_eq(work.lane->is_long, is_long);
    ck_assert_uint_le(work.most, lanes[_i / 2]);
    ck_assert_uint_eq(work.nicer, 0);
    finish(&fixture);
}
END_TEST

static bool has_run_for_a_while(Work *work) {
    return work->calls == 50;
}

START_TEST(a_pool_of_one_lane_lends_none) {
    Fixture fixture = {0};
    start(&fixture, 1);
    Work work[2] = {0};
    submit_tasks(&fixture, &work[0], true, has_run_for_a_while);
    run_until_idle(&fixture);
    submit_tasks(&fixture, &work[1], false, has_run_for_a_while);
    run_until_idle(&fixture);
    ck_assert_ptr_null(pool_lane(fixture.pool, 0)->tasks);
    ck_assert_uint_eq(work[0].helped + work[1].helped, 0);
    finish(&fixture);
}
END_TEST

// ---- who has something else to do

static bool has_happened(Work *work) {
    return atomic_load(work->awaited);
}

// The long lanes are two: the one that helps is the only one that can run the other job.
START_TEST(a_helper_leaves_for_its_own_work) {
    Fixture fixture = {0};
    start_and_rest(&fixture, 2);
    Work other = {0};
    Work large = {
        .awaited = &other.is_done, .since = &other.is_submitted, .until = &other.is_begun};
    submit_tasks(&fixture, &large, true, has_happened);
    while (atomic_load(&large.helped) < 100) {
    }
    submit_tasks(&fixture, &other, true, has_run_for_a_while);
    run_until_idle(&fixture);
    ck_assert_uint_le(large.late, 1);
    finish(&fixture);
}
END_TEST

static JobOutcome hold_lane(Job *job, Lane *lane) {
    (void)lane;
    Work *work = (Work *)job;
    atomic_store(&work->is_begun, true);
    while (!atomic_load(work->awaited)) {
    }
    return JOB_DONE;
}

// Has had help before, and none in a hundred calls.
static bool was_left(Work *work) {
    work->alone = work->own == BLOCKS_MAX / 4 ? work->alone + 1 : 0;
    return atomic_load(&work->helped) >= 100 && work->alone >= 100;
}

// Two lanes are asked for, one runs the large job and one helps; then a short lane gets a job, and
// holds it until the helper is gone.
START_TEST(a_helper_leaves_when_another_lane_needs_its_core) {
    Fixture fixture = {0};
    start_and_rest(&fixture, 2);
    Work large = {0}, brief = {.awaited = &large.is_done};
    large.since = &brief.is_begun;
    submit_tasks(&fixture, &large, true, was_left);
    while (atomic_load(&large.helped) < 100) {
    }
    submit(&fixture, &brief, false, hold_lane);
    run_until_idle(&fixture);
    ck_assert_uint_le(large.late, 1);
    finish(&fixture);
}
END_TEST

// ---- owners and helpers, all at once

static JobOutcome mix(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    work->lane = lane;
    work->owner = uv_thread_self();
    uint64_t seed = (uint64_t)(uintptr_t)work;
    uint32_t rounds = (uint32_t)lab_random(&seed, 1.0, 30.0);
    for (uint32_t i = 0; i < rounds; i++) {
        run_tasks(work, 1 + (uint32_t)lab_random(&seed, 0.0, BLOCKS_MAX - 1.0));
    }
    bool goes_on = work->calls < 40;
    return goes_on ? JOB_AGAIN : JOB_DONE;
}

// Some worlds are large, some small; they come in bursts, and between two bursts lanes sleep.
START_TEST(every_block_of_every_lane_is_done_once) {
    static const uint32_t lanes[] = {2, 3, 7};
    Fixture fixture = {0};
    start(&fixture, lanes[_i]);
    Work *work = calloc(JOBS_MAX, sizeof(*work));
    uint64_t seed = 5;
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        work[i].block_ns = (uint64_t)lab_random(&seed, 0.0, 3000.0);
        submit(&fixture, &work[i], i % 3 == 0, mix);
        if (lab_random(&seed, 0.0, 1.0) < 0.1) {
            run_until_idle(&fixture);
        }
    }
    Work last = {0}; // ends when it was helped, so that somebody was
    submit_tasks(&fixture, &last, true, was_helped);
    bool closes_meanwhile = _i == 0; // helpers are about when the pool closes
    if (!closes_meanwhile) {
        run_until_idle(&fixture);
    }
    finish(&fixture);
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        ck_assert(work[i].is_done);
        ck_assert_uint_eq(work[i].wrong, 0);
    }
    ck_assert(last.is_done);
    free(work);
}
END_TEST

START_TEST(closing_waits_for_owner_and_helpers) {
    Fixture fixture = {0};
    start(&fixture, 3);
    Work work = {0};
    submit_tasks(&fixture, &work, true, was_helped);
    while (atomic_load(&work.helped) == 0) {
    }
    finish(&fixture);
    ck_assert(work.is_done);
}
END_TEST

START_TEST(helpers_use_no_time_when_nothing_is_stepped) {
    Fixture fixture = {0};
    start(&fixture, 3);
    Work work = {0};
    submit_tasks(&fixture, &work, true, was_helped);
    run_until_idle(&fixture);
    uv_sleep(100); // the lanes come to rest
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uv_sleep(300);
    getrusage(RUSAGE_SELF, &after);
    uint64_t used_us = (uint64_t)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) * 1000000u +
                       (uint64_t)(after.ru_utime.tv_usec - before.ru_utime.tv_usec);
    // a thread that spins takes 300 ms, or its share of a busy core; this one's two calls take some
    // microseconds
    ck_assert_uint_lt(used_us, 20000);
    finish(&fixture);
}
END_TEST

static TCase *case_helping(void) {
    TCase *tcase = tcase_create("helping");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, idle_lanes_help_a_lane_and_no_more_than_the_pool_was_asked_for, 0,
                        6);
    tcase_add_test(tcase, a_pool_of_one_lane_lends_none);
    tcase_add_test(tcase, helpers_use_no_time_when_nothing_is_stepped);
    return tcase;
}

static TCase *case_leaving(void) {
    TCase *tcase = tcase_create("leaving");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, a_helper_leaves_for_its_own_work, 0, 10);
    tcase_add_loop_test(tcase, a_helper_leaves_when_another_lane_needs_its_core, 0, 10);
    return tcase;
}

static TCase *case_all(void) {
    TCase *tcase = tcase_create("all");
    tcase_set_timeout(tcase, 120);
    tcase_add_loop_test(tcase, every_block_of_every_lane_is_done_once, 0, 3);
    tcase_add_test(tcase, closing_waits_for_owner_and_helpers);
    return tcase;
}

SUITE_MAIN("run/lane_help", case_helping, case_leaving, case_all)
