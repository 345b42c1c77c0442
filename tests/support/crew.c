// SPDX-License-Identifier: MIT
#include "support/crew.h"

#include "support/lab.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>

typedef struct CrewThread {
    Crew *crew;
    uint32_t lane; // 1 …; 0 is whoever calls
    pthread_t thread;
} CrewThread;

struct Crew {
    Tasks tasks;
    uint32_t lane_count;
    uint64_t seed;
    CrewThread thread[CREW_LANES_MAX];
    pthread_mutex_t mutex;
    pthread_cond_t begun, ended;

    // the present call: changed under the lock while no lane is busy
    TaskBlock *block;
    void *work;
    uint32_t count;
    uint32_t *order; // owned, [capacity]: the blocks, shuffled
    uint32_t capacity;

    // under the lock
    uint64_t call; // the number of calls begun
    uint32_t busy; // threads that have not done their share of it
    bool is_over;
};

// Every lane_count-th of the shuffled blocks.
static void do_share(const Crew *crew, uint32_t lane) {
    for (uint32_t i = lane; i < crew->count; i += crew->lane_count) {
        crew->block(crew->work, crew->order[i]);
        if (crew->order[i] % 4 == 0) {
            sched_yield(); // with more lanes than cores, others come between two blocks as well
        }
    }
}

static void *serve(void *argument) {
    const CrewThread *self = argument;
    Crew *crew = self->crew;
    uint64_t seen = 0;
    pthread_mutex_lock(&crew->mutex);
    for (;;) {
        while (crew->call == seen && !crew->is_over) {
            pthread_cond_wait(&crew->begun, &crew->mutex);
        }
        if (crew->is_over) {
            break;
        }
        seen = crew->call;
        pthread_mutex_unlock(&crew->mutex);
        do_share(crew, self->lane);
        pthread_mutex_lock(&crew->mutex);
        if (--crew->busy == 0) {
            pthread_cond_signal(&crew->ended);
        }
    }
    pthread_mutex_unlock(&crew->mutex);
    return NULL;
}

static void shuffle(Crew *crew, uint32_t count) {
    if (count > crew->capacity) {
        free(crew->order);
        crew->order = calloc(count, sizeof(*crew->order));
        ck_assert_ptr_nonnull(crew->order);
        crew->capacity = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = (uint32_t)lab_random(&crew->seed, 0.0, i + 1.0);
        crew->order[i] = crew->order[other];
        crew->order[other] = i;
    }
}

static void run(void *lender, TaskBlock *block, void *work, uint32_t count) {
    Crew *crew = lender;
    shuffle(crew, count);
    pthread_mutex_lock(&crew->mutex);
    crew->block = block;
    crew->work = work;
    crew->count = count;
    crew->call++;
    crew->busy = crew->lane_count - 1;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->mutex);
    do_share(crew, 0);
    pthread_mutex_lock(&crew->mutex);
    while (crew->busy > 0) {
        pthread_cond_wait(&crew->ended, &crew->mutex);
    }
    pthread_mutex_unlock(&crew->mutex);
}

Crew *crew_create(uint32_t lane_count, uint64_t seed) {
    ck_assert(lane_count >= 1 && lane_count <= CREW_LANES_MAX);
    Crew *crew = calloc(1, sizeof(*crew));
    ck_assert_ptr_nonnull(crew);
    crew->tasks = (Tasks){.run = run, .lender = crew};
    crew->lane_count = lane_count;
    crew->seed = seed;
    pthread_mutex_init(&crew->mutex, NULL);
    pthread_cond_init(&crew->begun, NULL);
    pthread_cond_init(&crew->ended, NULL);
    for (uint32_t i = 1; i < lane_count; i++) {
        crew->thread[i] = (CrewThread){.crew = crew, .lane = i};
        ck_assert_int_eq(pthread_create(&crew->thread[i].thread, NULL, serve, &crew->thread[i]), 0);
    }
    return crew;
}

void crew_destroy(Crew *crew) {
    pthread_mutex_lock(&crew->mutex);
    crew->is_over = true;
    pthread_cond_broadcast(&crew->begun);
    pthread_mutex_unlock(&crew->mutex);
    for (uint32_t i = 1; i < crew->lane_count; i++) {
        pthread_join(crew->thread[i].thread, NULL);
    }
    pthread_cond_destroy(&crew->begun);
    pthread_cond_destroy(&crew->ended);
    pthread_mutex_destroy(&crew->mutex);
    free(crew->order);
    free(crew);
}

const Tasks *crew_tasks(const Crew *crew) {
    return &crew->tasks;
}
