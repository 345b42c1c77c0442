// SPDX-License-Identifier: MIT
// Lanes: every job once, in the order of its strand, on any number of lanes; nobody starves;
// closing finishes everything.
#include "run/lanes/lane.h"

#include "base/assert.h"
#include "os/clock.h"
#include "os/nice.h"
#include "support/suite.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { STRANDS_MAX = 500 };

typedef struct Fixture {
    Budget scratch;
    uv_loop_t loop;
    Pool *pool;
    bool is_closed;
    _Atomic uint32_t turns;       // turn_ended calls
    _Atomic uint32_t running_max; // most jobs running at once
    _Atomic uint32_t running;
} Fixture;

typedef struct Work {
    Job job; // first, so that a Job * is a Work *
    Fixture *fixture;
    uint32_t strand, number; // the number-th job of its strand
    uint32_t share;
    uint32_t again_count; // how often it still gives its lane away
    uint64_t busy_ns;
    _Atomic uint32_t work_count, done_count;
    uint64_t finished_ns;
    bool asks_urgent, ran_on_long;
    uint32_t place; // of run_counted
} Work;

typedef struct StrandState {
    Strand strand;
    _Atomic uint32_t running; // jobs of this strand on a lane: 0 or 1
    _Atomic uint32_t next;    // the job that must come next
    uint32_t next_done;
} StrandState;

static StrandState state[STRANDS_MAX];

static void end_turn(Lane *lane, void *context) {
    Fixture *fixture = context;
    ck_assert_ptr_eq(lane->pool, fixture->pool);
    atomic_fetch_add(&fixture->turns, 1);
}

static void start_nice(Fixture *fixture, uint32_t lane_count, int niceness) {
    ck_assert_int_eq(uv_loop_init(&fixture->loop), 0);
    fixture->scratch.max_bytes = 1 << 20;
    PoolDef def = {.lane_count = lane_count,
                   .scratch = &fixture->scratch,
                   .niceness = niceness,
                   .turn_ended = end_turn,
                   .context = fixture};
    Error error;
    ck_assert_int_eq(pool_create(&fixture->pool, &fixture->loop, &def, &error), STATUS_OK);
    for (uint32_t i = 0; i < STRANDS_MAX; i++) {
        strand_init(&state[i].strand);
    }
}

static void start(Fixture *fixture, uint32_t lane_count) {
    start_nice(fixture, lane_count, 0);
}

static void on_closed(void *context) {
    Fixture *fixture = context;
    fixture->is_closed = true;
}

// Closing the pool runs all jobs; a loop without handles proves that none leaked.
static void finish(Fixture *fixture) {
    pool_close(fixture->pool, on_closed, fixture);
    ck_assert_int_eq(uv_run(&fixture->loop, UV_RUN_DEFAULT), 0);
    ck_assert(fixture->is_closed);
    ck_assert_int_eq(uv_loop_close(&fixture->loop), 0);
}

static JobOutcome do_nothing(Job *job, Lane *lane) {
    (void)job, (void)lane;
    return JOB_DONE;
}

static void note_nothing(Job *job) {
    (void)job;
}

// A bug of ours: what could still submit work was not stopped. Without the assertion it would be a
// use after free, now and then.
START_TEST(work_for_a_pool_that_closes_stops_the_process) {
    Fixture fixture = {0};
    start(&fixture, 1);
    static Job job = {.work = do_nothing, .done = note_nothing};
    pool_close(fixture.pool, on_closed, &fixture);
    pool_submit(fixture.pool, &state[0].strand, 0, &job);
}
END_TEST

static void spend(uint64_t ns) {
    uint64_t end = clock_now_ns() + ns;
    while (clock_now_ns() < end) {
    }
}

static JobOutcome run_work(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    StrandState *strand = &state[work->strand];
    ASSERT(atomic_fetch_add(&strand->running, 1) == 0);
    ASSERT(atomic_load(&strand->next) == work->number);
    ASSERT(lane->scratch.used_bytes == 0); // what jobs before took is taken back
    ASSERT(arena_take(&lane->scratch, 100) != NULL);
    uint32_t running = atomic_fetch_add(&work->fixture->running, 1) + 1;
    if (running > atomic_load(&work->fixture->running_max)) {
        atomic_store(&work->fixture->running_max, running);
    }
    if (work->busy_ns > 0) {
        spend(work->busy_ns);
    }
    atomic_fetch_sub(&work->fixture->running, 1);
    atomic_fetch_sub(&strand->running, 1);
    if (work->again_count > 0) {
        work->again_count--;
        return JOB_AGAIN;
    }
    atomic_fetch_add(&lane->steps, 1);
    atomic_fetch_add(&strand->next, 1);
    atomic_fetch_add(&work->work_count, 1);
    job->urgent = work->asks_urgent;
    return JOB_DONE;
}

static void on_done(Job *job) {
    Work *work = (Work *)job;
    ck_assert_uint_eq(state[work->strand].next_done++, work->number);
    atomic_fetch_add(&work->done_count, 1);
    work->finished_ns = clock_now_ns();
}

static void submit(Fixture *fixture, Work *work, uint32_t strand, uint32_t number) {
    work->job.work = run_work;
    work->job.done = on_done;
    work->fixture = fixture;
    work->strand = strand;
    work->number = number;
    pool_submit(fixture->pool, &state[strand].strand, work->share, &work->job);
}

static const struct {
    uint32_t lanes, strands, jobs;
} shapes[] = {{1, 1, 1},    {1, 1, 5000}, {1, 500, 20}, {2, 500, 20}, {2, 3, 3000},
              {7, 500, 20}, {7, 2, 3000}, {7, 40, 200}, {2, 1, 3000}};

START_TEST(every_job_runs_once_in_the_order_of_its_strand) {
    uint32_t strands = shapes[_i].strands, jobs = shapes[_i].jobs;
    Fixture fixture = {0};
    start(&fixture, shapes[_i].lanes);
    Work *work = calloc((size_t)strands * jobs, sizeof(*work));
    for (uint32_t j = 0; j < jobs; j++) {
        for (uint32_t s = 0; s < strands; s++) {
            Work *one = &work[(size_t)j * strands + s];
            one->again_count = (s * 31 + j * 17) % 5 == 0 ? 3 : 0;
            one->asks_urgent = (s + j) % 7 == 0;
            submit(&fixture, one, s, j);
        }
        if (j % 8 == 0) {
            uv_run(&fixture.loop,
                   UV_RUN_NOWAIT); // some are done while others are still being submitted
        }
    }
    finish(&fixture);
    for (size_t i = 0; i < (size_t)strands * jobs; i++) {
        ck_assert_uint_eq(work[i].work_count, 1);
        ck_assert_uint_eq(work[i].done_count, 1);
    }
    for (uint32_t s = 0; s < strands; s++) {
        ck_assert_uint_eq(state[s].next_done, jobs);
    }
    ck_assert_uint_gt(fixture.turns, 0);
    free(work);
}
END_TEST

static void on_timer(uv_timer_t *timer) {
    *(bool *)timer->data = true;
}

// Runs the loop until `count` jobs are left, waiting at most 50 s: a machine may be busy, and long
// lanes are nice. The timer keeps the loop, as a server's listeners do.
static void run_until(Fixture *fixture, uint64_t count) {
    bool timed_out = false;
    uv_timer_t timer = {.data = &timed_out};
    uv_timer_init(&fixture->loop, &timer);
    uv_timer_start(&timer, on_timer, 50000, 0);
    while (pool_job_count(fixture->pool) > count && !timed_out) {
        uv_run(&fixture->loop, UV_RUN_NOWAIT);
    }
    ck_assert(!timed_out);
    uv_close((uv_handle_t *)&timer, NULL);
    uv_run(&fixture->loop, UV_RUN_NOWAIT);
}

START_TEST(a_long_job_that_gives_way_does_not_delay_other_strands_on_one_lane) {
    enum { SHORT = 50 };
    Fixture fixture = {0};
    start(&fixture, 1);
    Work lengthy = {.again_count = 100, .busy_ns = LANE_SLICE_NS};
    Work brief[SHORT] = {0};
    submit(&fixture, &lengthy, 0, 0);
    for (uint32_t i = 0; i < SHORT; i++) {
        submit(&fixture, &brief[i], 1 + i, 0);
    }
    run_until(&fixture, 0);
    // the short ones wait for one slice of the long one, which has a hundred of them
    for (uint32_t i = 0; i < SHORT; i++) {
        ck_assert_uint_lt(brief[i].finished_ns + 50 * (uint64_t)LANE_SLICE_NS, lengthy.finished_ns);
    }
    finish(&fixture);
}
END_TEST

START_TEST(what_a_lane_took_but_did_not_begin_runs_on_another_lane) {
    // lanes take several of so many jobs at once; each of the long ones would hold up those taken
    // with it
    enum { JOBS = 64 };
    Fixture fixture = {0};
    start(&fixture, 2);
    Work work[JOBS] = {0};
    for (uint32_t i = 0; i < JOBS; i++) {
        work[i].busy_ns = i == 0 ? 300000000 : 10000;
        submit(&fixture, &work[i], i, 0);
    }
    run_until(&fixture, 1);
    ck_assert_uint_eq(work[0].done_count,
                      0); // all others are done while the first, of 300 ms, still runs
    finish(&fixture);
}
END_TEST

// Work in one piece that can be given up, and is then to be begun anew.
static JobOutcome run_whole(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    uint64_t begun_ns = clock_now_ns(), now_ns = begun_ns;
    while (now_ns - begun_ns < work->busy_ns) {
        now_ns = clock_now_ns();
        if (lane_is_wanted(lane, begun_ns, now_ns)) {
            return JOB_LONG;
        }
    }
    work->ran_on_long = lane->is_long;
    atomic_fetch_add(&work->work_count, 1);
    return JOB_DONE;
}

static void submit_whole(Fixture *fixture, Work *work, uint32_t strand, uint32_t number) {
    submit(fixture, work, strand, number);
    work->job.work = run_whole;
}

START_TEST(pieces_that_take_long_are_put_aside_for_those_that_do_not) {
    enum { LONG = 4, BRIEF = 50 };
    const uint64_t long_ns = 30 * (uint64_t)LANE_LONG_NS;
    Fixture fixture = {0};
    start(&fixture, 1);
    Work lengthy[LONG] = {0}, brief[BRIEF] = {0};
    for (uint32_t i = 0; i < LONG; i++) {
        lengthy[i].busy_ns = long_ns;
        submit_whole(&fixture, &lengthy[i], i, 0);
    }
    for (uint32_t i = 0; i < BRIEF; i++) {
        submit_whole(&fixture, &brief[i], LONG + i, 0);
    }
    run_until(&fixture, LONG);
    for (uint32_t i = 0; i < BRIEF; i++) {
        ck_assert_uint_eq(brief[i].done_count, 1); // though the one lane ran four long ones before
        ck_assert(!brief[i].ran_on_long);
    }
    run_until(&fixture, 0);
    for (uint32_t i = 0; i < LONG; i++) {
        ck_assert_uint_eq(lengthy[i].work_count, 1);
        ck_assert(lengthy[i].ran_on_long);
    }
    ck_assert_uint_eq(pool_put_aside_count(fixture.pool), LONG);
    finish(&fixture);
}
END_TEST

START_TEST(a_strand_is_long_until_it_has_shown_that_it_is_short) {
    // a busy machine makes some of the pieces long that are not, so it is given many
    enum { JOBS = 4000 };
    static Work work[JOBS];
    Fixture fixture = {0};
    start(&fixture, 1);
    uint32_t count = 0;
    do {
        work[count].busy_ns = count == 0 ? 2 * (uint64_t)LANE_LONG_NS : 0;
        submit_whole(&fixture, &work[count], 0, count);
        run_until(&fixture, 0);
    } while (work[count++].ran_on_long && count < JOBS);
    // one long piece was put aside, and the next would have been: nobody tries for a while
    ck_assert_uint_ge(pool_put_aside_count(fixture.pool), 1);
    ck_assert(work[0].ran_on_long);
    ck_assert(work[1].ran_on_long);
    ck_assert(!work[count - 1].ran_on_long);
    finish(&fixture);
}
END_TEST

// As run_work, and remembers which of all jobs it was.
static _Atomic uint32_t run_count;

static JobOutcome run_counted(Job *job, Lane *lane) {
    ((Work *)job)->place = atomic_fetch_add(&run_count, 1);
    return run_work(job, lane);
}

START_TEST(shares_take_turns) {
    enum { MANY = 300, LATE = 8 };
    Fixture fixture = {0};
    start(&fixture, 1);
    atomic_store(&run_count, 0);
    Work many[MANY] = {0}, late[LATE] = {0};
    for (uint32_t i = 0; i < MANY; i++) {
        many[i].share = 1;
        many[i].busy_ns = 1000000;
        submit(&fixture, &many[i], i, 0);
        many[i].job.work = run_counted;
    }
    pool_flush(fixture.pool);
    while (atomic_load(&run_count) == 0) { // the lane has begun with the many
    }
    for (uint32_t i = 0; i < LATE; i++) {
        late[i].share = 2 + i;
        submit(&fixture, &late[i], MANY + i, 0);
        late[i].job.work = run_counted;
    }
    pool_flush(fixture.pool);
    uint32_t before = atomic_load(&run_count);
    run_until(&fixture, 0);
    // one of the many may come between any two of the others
    for (uint32_t i = 0; i < LATE; i++) {
        ck_assert_uint_le(late[i].place, before + 2 * (i + 1));
    }
    finish(&fixture);
}
END_TEST

START_TEST(strands_run_in_parallel) {
    Fixture fixture = {0};
    start(&fixture, 2);
    Work work[2] = {{.busy_ns = 50000000}, {.busy_ns = 50000000}};
    submit(&fixture, &work[0], 0, 0);
    submit(&fixture, &work[1], 1, 0);
    run_until(&fixture, 0);
    ck_assert_uint_eq(fixture.running_max, 2);
    finish(&fixture);
}
END_TEST

START_TEST(only_an_urgent_job_wakes_the_loop) {
    bool is_urgent = _i == 1;
    Fixture fixture = {0};
    start(&fixture, 1);
    bool timed_out = false;
    uv_timer_t timer = {.data = &timed_out};
    uv_timer_init(&fixture.loop, &timer);
    uv_timer_start(&timer, on_timer, 200, 0);
    Work work = {.asks_urgent = is_urgent,
                 .busy_ns = 20000000}; // long enough for the loop to sleep meanwhile
    submit(&fixture, &work, 0, 0);
    while (work.done_count == 0 && !timed_out) {
        uv_run(&fixture.loop, UV_RUN_ONCE);
    }
    ck_assert_int_eq(timed_out, !is_urgent);
    uv_close((uv_handle_t *)&timer, NULL);
    finish(&fixture);
    ck_assert_uint_eq(work.done_count, 1);
}
END_TEST

START_TEST(closing_finishes_the_jobs_that_wait) {
    enum { JOBS = 200 };
    Fixture fixture = {0};
    start(&fixture, (uint32_t)_i);
    Work work[JOBS] = {0};
    for (uint32_t i = 0; i < JOBS; i++) {
        work[i].again_count = i % 3;
        work[i].busy_ns = 20000;
        submit(&fixture, &work[i], i % 11, i / 11);
    }
    finish(&fixture); // nothing was published before
    for (uint32_t i = 0; i < JOBS; i++) {
        ck_assert_uint_eq(work[i].done_count, 1);
    }
}
END_TEST

// A job whose `done` submits the next one.
static uint32_t chain_left;

static void on_chain_done(Job *job) {
    Work *work = (Work *)job;
    work->done_count++;
    if (chain_left > 0) {
        chain_left--;
        work->number++;
        pool_submit(work->fixture->pool, &state[0].strand, 0, job);
    }
}

START_TEST(done_may_submit_the_job_again) {
    Fixture fixture = {0};
    start(&fixture, 2);
    Work work = {0};
    chain_left = 1000;
    submit(&fixture, &work, 0, 0);
    work.job.done = on_chain_done;
    run_until(&fixture, 0);
    finish(&fixture);
    ck_assert_uint_eq(work.done_count, 1001);
}
END_TEST

START_TEST(a_pool_does_not_keep_its_loop_and_uses_no_time_when_idle) {
    Fixture fixture = {0};
    start(&fixture, 7);
    Work work = {0};
    submit(&fixture, &work, 0, 0);
    run_until(&fixture, 0);
    ck_assert_int_eq(uv_run(&fixture.loop, UV_RUN_DEFAULT), 0); // returns at once

    uv_sleep(100); // the lanes come to rest
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    uv_sleep(300);
    getrusage(RUSAGE_SELF, &after);
    // this thread's own sleep, and the sanitizer's thread ten times a second; a lane that polls
    // would switch hundreds of times
    ck_assert_int_le(after.ru_nvcsw - before.ru_nvcsw, 20);
    finish(&fixture);
}
END_TEST

START_TEST(turns_end_before_a_lane_sleeps_and_at_most_after_a_tenth_of_a_millisecond) {
    enum { JOBS = 10 };
    Fixture fixture = {0};
    start(&fixture, 1);
    Work work[JOBS] = {0};
    for (uint32_t i = 0; i < JOBS; i++) {
        work[i].busy_ns = 2 * LANE_TURN_NS;
        submit(&fixture, &work[i], i, 0);
    }
    run_until(&fixture, 0);
    finish(&fixture);
    ck_assert_uint_eq(fixture.turns, JOBS);
}
END_TEST

// ---- parking

enum { PARKED_STRANDS = 40, PARKED_JOBS = 50 };

typedef struct Parker {
    Fixture *fixture;
    _Atomic uint32_t waiting[PARKED_STRANDS]; // unparks owed to each strand
    _Atomic bool is_over;
} Parker;

static Parker parker;

// Pays what is owed, from a thread that is neither a lane nor the loop, as the log does.
static void unpark_all(void *argument) {
    (void)argument;
    while (!atomic_load(&parker.is_over)) {
        for (uint32_t i = 0; i < PARKED_STRANDS; i++) {
            if (atomic_load(&parker.waiting[i]) > 0) {
                atomic_fetch_sub(&parker.waiting[i], 1);
                pool_unpark(parker.fixture->pool, &state[i].strand);
            }
        }
    }
}

// Parks a few times before it runs; sometimes the unpark comes before it has returned.
static JobOutcome park_and_run(Job *job, Lane *lane) {
    Work *work = (Work *)job;
    if (work->again_count == 0) {
        return run_work(job, lane);
    }
    work->again_count--;
    if (work->again_count % 2 == 0) {
        pool_unpark(lane->pool, &state[work->strand].strand);
    } else {
        atomic_fetch_add(&parker.waiting[work->strand], 1);
    }
    return JOB_PARKED;
}

START_TEST(a_parked_job_runs_again_when_it_is_unparked_and_keeps_its_place) {
    static const uint32_t lanes[] = {1, 2, 7};
    Fixture fixture = {0};
    start(&fixture, lanes[_i]);
    memset(&parker, 0, sizeof(parker));
    parker.fixture = &fixture;
    uv_thread_t thread;
    uv_thread_create(&thread, unpark_all, NULL);
    Work *work = calloc((size_t)PARKED_STRANDS * PARKED_JOBS, sizeof(*work));
    for (uint32_t j = 0; j < PARKED_JOBS; j++) {
        for (uint32_t s = 0; s < PARKED_STRANDS; s++) {
            Work *one = &work[(size_t)j * PARKED_STRANDS + s];
            submit(&fixture, one, s, j);
            one->job.work = park_and_run;
            one->again_count = (s + j) % 4;
        }
    }
    run_until(&fixture, 0);
    atomic_store(&parker.is_over, true);
    uv_thread_join(&thread);
    for (size_t i = 0; i < (size_t)PARKED_STRANDS * PARKED_JOBS; i++) {
        ck_assert_uint_eq(work[i].work_count, 1);
        ck_assert_uint_eq(work[i].done_count, 1);
    }
    finish(&fixture);
    free(work);
}
END_TEST

START_TEST(a_parked_job_holds_no_lane) {
    Fixture fixture = {0};
    start(&fixture, 1);
    Work waiting = {.again_count = 1}, other = {0};
    memset(&parker, 0, sizeof(parker));
    parker.fixture = &fixture;
    submit(&fixture, &waiting, 0, 0);
    waiting.job.work = park_and_run;
    waiting.again_count = 2; // parks and is owed an unpark, which nobody pays yet
    submit(&fixture, &other, 1, 0);
    run_until(&fixture, 1);
    ck_assert_uint_eq(other.done_count, 1);
    ck_assert_uint_eq(waiting.done_count, 0);
    pool_unpark(fixture.pool, &state[0].strand);
    run_until(&fixture, 0);
    ck_assert_uint_eq(waiting.done_count, 1);
    finish(&fixture);
}
END_TEST

// ---- lanes that must not disturb

static JobOutcome read_niceness(Job *job, Lane *lane) {
    (void)lane;
    ((Work *)job)->strand = (uint32_t)getpriority(PRIO_PROCESS, 0);
    return JOB_DONE;
}

static void ignore_done(Job *job) {
    (void)job;
}

START_TEST(the_lanes_of_a_nice_pool_are_nice_and_nobody_else_is) {
    static const int niceness[] = {0, 10};
    for (int i = 0; i < 2; i++) {
        Fixture fixture = {0};
        start_nice(&fixture, 2, niceness[i]);
        Work work = {.fixture = &fixture, .job = {.work = read_niceness, .done = ignore_done}};
        pool_submit(fixture.pool, &state[0].strand, 0, &work.job);
        run_until(&fixture, 0);
        ck_assert_uint_eq(work.strand,
                          (uint32_t)nice_sum(getpriority(PRIO_PROCESS, 0), niceness[i]));
        finish(&fixture);
    }
}
END_TEST

static TCase *case_parking(void) {
    TCase *tcase = tcase_create("parking");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_parked_job_runs_again_when_it_is_unparked_and_keeps_its_place, 0,
                        3);
    tcase_add_test(tcase, a_parked_job_holds_no_lane);
    tcase_add_test(tcase, the_lanes_of_a_nice_pool_are_nice_and_nobody_else_is);
    return tcase;
}

static TCase *case_jobs(void) {
    TCase *tcase = tcase_create("jobs");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, every_job_runs_once_in_the_order_of_its_strand, 0,
                        (int)(sizeof(shapes) / sizeof(shapes[0])));
    tcase_add_test(tcase, done_may_submit_the_job_again);
    tcase_add_test_raise_signal(tcase, work_for_a_pool_that_closes_stops_the_process, SIGABRT);
    tcase_add_test(tcase, pieces_that_take_long_are_put_aside_for_those_that_do_not);
    tcase_add_test(tcase, a_strand_is_long_until_it_has_shown_that_it_is_short);
    tcase_add_test(tcase, shares_take_turns);
    tcase_add_test(tcase, strands_run_in_parallel);
    return tcase;
}

static TCase *case_fairness(void) {
    TCase *tcase = tcase_create("fairness");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_long_job_that_gives_way_does_not_delay_other_strands_on_one_lane);
    tcase_add_test(tcase, what_a_lane_took_but_did_not_begin_runs_on_another_lane);
    return tcase;
}

static TCase *case_waking(void) {
    TCase *tcase = tcase_create("waking");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, only_an_urgent_job_wakes_the_loop, 0, 2);
    tcase_add_loop_test(tcase, closing_finishes_the_jobs_that_wait, 1, 4);
    tcase_add_test(tcase, a_pool_does_not_keep_its_loop_and_uses_no_time_when_idle);
    tcase_add_test(tcase,
                   turns_end_before_a_lane_sleeps_and_at_most_after_a_tenth_of_a_millisecond);
    return tcase;
}

SUITE_MAIN("run/lane", case_jobs, case_fairness, case_parking, case_waking)
