// SPDX-License-Identifier: MIT
// Tasks: every block of a call once and before it returns, alone and on the threads of the tests'
// crew, which is as unkind as it says.
#include "base/tasks.h"

#include "support/crew.h"
#include "support/suite.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { BLOCKS_MAX = 300 };

typedef struct Work {
    pthread_t caller;
    uint32_t begun_count[BLOCKS_MAX]; // a block's own
    uint32_t place[BLOCKS_MAX];       // when it was begun, counted from 0
    bool is_caller[BLOCKS_MAX];
    _Atomic uint32_t begun;
} Work;

static void note(void *work, uint32_t block) {
    Work *noted = work;
    noted->begun_count[block]++;
    noted->is_caller[block] = pthread_equal(pthread_self(), noted->caller) != 0;
    noted->place[block] = atomic_fetch_add(&noted->begun, 1);
}

static const uint32_t counts[] = {0, 1, 2, 3, 16, 17, BLOCKS_MAX};
enum { COUNTS = sizeof(counts) / sizeof(counts[0]) };

static void run_and_count(const Tasks *tasks) {
    for (size_t i = 0; i < COUNTS; i++) {
        Work work = {.caller = pthread_self()};
        tasks_run(tasks, note, &work, counts[i]);
        for (uint32_t k = 0; k < BLOCKS_MAX; k++) {
            ck_assert_uint_eq(work.begun_count[k], k < counts[i]);
        }
    }
}

START_TEST(without_tasks_every_block_is_done_once_and_in_order) {
    run_and_count(NULL);
    Work work = {.caller = pthread_self()};
    tasks_run(NULL, note, &work, BLOCKS_MAX);
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        ck_assert_uint_eq(work.place[i], i);
        ck_assert(work.is_caller[i]);
    }
}
END_TEST

START_TEST(a_crew_does_every_block_once) {
    static const uint32_t lanes[] = {1, 2, 3, 7, CREW_LANES_MAX};
    Crew *crew = crew_create(lanes[_i], 1);
    for (int round = 0; round < 10; round++) {
        run_and_count(crew_tasks(crew));
    }
    crew_destroy(crew);
}
END_TEST

START_TEST(a_crew_shuffles_the_blocks_and_all_its_threads_do_some) {
    Crew *crew = crew_create(2, 7);
    Work work = {.caller = pthread_self()};
    tasks_run(crew_tasks(crew), note, &work, BLOCKS_MAX);
    uint32_t own = 0, in_place = 0;
    for (uint32_t i = 0; i < BLOCKS_MAX; i++) {
        own += work.is_caller[i] ? 1u : 0u;
        in_place += work.place[i] == i ? 1u : 0u;
    }
    ck_assert_uint_eq(own, BLOCKS_MAX / 2);
    ck_assert_uint_lt(in_place, BLOCKS_MAX / 10); // of a random order about one is
    crew_destroy(crew);
}
END_TEST

START_TEST(so_many_blocks_hold_the_count) {
    ck_assert_uint_eq(tasks_blocks(0, 64), 0);
    ck_assert_uint_eq(tasks_blocks(1, 64), 1);
    ck_assert_uint_eq(tasks_blocks(64, 64), 1);
    ck_assert_uint_eq(tasks_blocks(65, 64), 2);
}
END_TEST

static TCase *case_tasks(void) {
    TCase *tcase = tcase_create("tasks");
    tcase_add_test(tcase, without_tasks_every_block_is_done_once_and_in_order);
    tcase_add_loop_test(tcase, a_crew_does_every_block_once, 0, 5);
    tcase_add_test(tcase, a_crew_shuffles_the_blocks_and_all_its_threads_do_some);
    tcase_add_test(tcase, so_many_blocks_hold_the_count);
    return tcase;
}

SUITE_MAIN("base/tasks", case_tasks)
