// SPDX-License-Identifier: MIT
// The turn is a number under a lock; every task has a condition on which it waits for its number.
//
// Two ways to choose, by the seed. *Walk*: whoever runs goes on with some probability, or else any
// task that can run is as likely as another. *Ranks*: every task has a rank, the highest that can
// run does, and at a few points whoever runs falls to the last rank; this finds what needs one task
// to stand still for long at one unlucky place.
#include "simulate/schedule.h"

#include "simulate/dice.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASKS_MAX = 64 };
enum { SHUFFLE_POINTS = 64 }; // with ranks: every so many points anybody may run, so none starves
static const uint64_t points_max = 20000000; // a run has some ten thousand
static const uint64_t epoch_ns = 1800000000000000000u;
static const uint64_t begin_ns = 1000000000000u;

typedef enum TaskState { TASK_READY, TASK_KEY, TASK_FD, TASK_SLEEPS, TASK_ENDED } TaskState;

typedef struct Task {
    const char *name;
    TaskState state;
    const void *key;   // TASK_KEY
    struct pollfd fd;  // TASK_FD
    uint64_t until_ns; // TASK_KEY, TASK_FD, TASK_SLEEPS
    bool timed_out;
    uint64_t rank;
    pthread_cond_t turn;
    pthread_t thread;
    TaskMain *main;
    void *context;
} Task;

static struct {
    bool is_on;
    pthread_mutex_t mutex;
    Task task[TASKS_MAX];
    size_t task_count;
    size_t current;
    Dice dice;
    uint64_t now_ns;
    uint64_t point;
    uint64_t trace;
    bool by_ranks;
    uint64_t stay_percent;
    uint64_t drift_ns; // time passes by up to so much at a point
    uint64_t rank_last;
    ScheduleAtPoint *at_point;
} schedule = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local size_t self;

// ---- giving up

static void print_tasks(void) {
    static const char *const states[] = {"ready", "waits for a lock, signal or end",
                                         "waits for a socket", "sleeps", "ended"};
    for (size_t i = 0; i < schedule.task_count; i++) {
        const Task *task = &schedule.task[i];
        fprintf(stderr, "  task %zu %s: %s\n", i, task->name, states[task->state]);
    }
}

static _Noreturn void give_up(const char *why) {
    fprintf(stderr, "simulate: %s (point %llu, time %.6f s)\n", why,
            (unsigned long long)schedule.point, (double)(schedule.now_ns - begin_ns) * 1e-9);
    print_tasks();
    abort();
}

// ---- choosing

static void pass_time(uint64_t ns) {
    schedule.now_ns += ns;
}

void schedule_note(uint64_t what) {
    schedule.trace = (schedule.trace ^ what) * 0x100000001b3u;
    schedule.trace ^= schedule.trace >> 29;
}

static void look_at_sockets(void) {
    struct pollfd fd[TASKS_MAX];
    size_t who[TASKS_MAX];
    nfds_t count = 0;
    for (size_t i = 0; i < schedule.task_count; i++) {
        if (schedule.task[i].state == TASK_FD) {
            who[count] = i;
            fd[count++] = schedule.task[i].fd;
        }
    }
    if (count == 0 || poll(fd, count, 0) <= 0) {
        return;
    }
    for (nfds_t i = 0; i < count; i++) {
        if (fd[i].revents != 0) {
            schedule.task[who[i]].state = TASK_READY;
        }
    }
}

static void look_at_time(void) {
    for (size_t i = 0; i < schedule.task_count; i++) {
        Task *task = &schedule.task[i];
        if (task->state != TASK_READY && task->state != TASK_ENDED &&
            task->until_ns <= schedule.now_ns) {
            task->timed_out = task->state != TASK_SLEEPS;
            task->state = TASK_READY;
        }
    }
}

static size_t list_ready(size_t ready[TASKS_MAX]) {
    size_t count = 0;
    for (size_t i = 0; i < schedule.task_count; i++) {
        if (schedule.task[i].state == TASK_READY) {
            ready[count++] = i;
        }
    }
    return count;
}

// Nobody can run: time jumps to whoever waits for it first.
static void jump(void) {
    uint64_t first_ns = SCHEDULE_FOREVER;
    for (size_t i = 0; i < schedule.task_count; i++) {
        const Task *task = &schedule.task[i];
        if (task->state != TASK_ENDED && task->until_ns < first_ns) {
            first_ns = task->until_ns;
        }
    }
    if (first_ns == SCHEDULE_FOREVER) {
        give_up("everybody waits and nobody will wake them");
    }
    schedule.now_ns = first_ns > schedule.now_ns ? first_ns : schedule.now_ns;
}

static size_t choose_by_rank(const size_t *ready, size_t count) {
    if (dice_chance(&schedule.dice, 1)) {
        schedule.task[schedule.current].rank = --schedule.rank_last;
    }
    if (dice_roll(&schedule.dice, SHUFFLE_POINTS) == 0) {
        return ready[dice_roll(&schedule.dice, count)];
    }
    size_t best = ready[0];
    for (size_t i = 1; i < count; i++) {
        if (schedule.task[ready[i]].rank > schedule.task[best].rank) {
            best = ready[i];
        }
    }
    return best;
}

static size_t choose(void) {
    size_t ready[TASKS_MAX];
    look_at_time();
    look_at_sockets();
    size_t count = list_ready(ready);
    while (count == 0) {
        jump();
        look_at_time();
        count = list_ready(ready);
    }
    if (schedule.by_ranks) {
        return choose_by_rank(ready, count);
    }
    bool can_stay = schedule.task[schedule.current].state == TASK_READY;
    if (can_stay && dice_chance(&schedule.dice, schedule.stay_percent)) {
        return schedule.current;
    }
    return ready[dice_roll(&schedule.dice, count)];
}

// ---- the turn

// Under the lock. Returns when it is this task's turn.
static void wait_for_turn(Task *task) {
    while (schedule.current != (size_t)(task - schedule.task)) {
        pthread_cond_wait(&task->turn, &schedule.mutex);
    }
}

static void hand_over(void) {
    pass_time(1 + dice_roll(&schedule.dice, schedule.drift_ns));
    if (++schedule.point > points_max) {
        give_up("this does not come to an end");
    }
    size_t next = choose();
    schedule_note(next * 31 + schedule.now_ns);
    if (next != schedule.current) {
        schedule.current = next;
        pthread_cond_signal(&schedule.task[next].turn);
    }
}

static void leave(TaskState state) {
    Task *task = &schedule.task[self];
    if (schedule.at_point != NULL) {
        schedule.at_point(schedule.point);
    }
    pthread_mutex_lock(&schedule.mutex);
    task->state = state;
    task->timed_out = false;
    hand_over();
    if (state != TASK_ENDED) {
        wait_for_turn(task);
    }
    pthread_mutex_unlock(&schedule.mutex);
}

void schedule_point(void) {
    if (schedule.is_on) {
        leave(TASK_READY);
    }
}

void schedule_sleep(uint64_t ns) {
    schedule.task[self].until_ns = schedule.now_ns + ns;
    leave(TASK_SLEEPS);
}

bool schedule_wait(const void *key, uint64_t until_ns) {
    Task *task = &schedule.task[self];
    task->key = key;
    task->until_ns = until_ns;
    leave(TASK_KEY);
    return !task->timed_out;
}

void schedule_wake_all(const void *key) {
    for (size_t i = 0; i < schedule.task_count; i++) {
        Task *task = &schedule.task[i];
        if (task->state == TASK_KEY && task->key == key) {
            task->state = TASK_READY;
        }
    }
}

void schedule_wake_one(const void *key) {
    size_t waiting[TASKS_MAX], count = 0;
    for (size_t i = 0; i < schedule.task_count; i++) {
        if (schedule.task[i].state == TASK_KEY && schedule.task[i].key == key) {
            waiting[count++] = i;
        }
    }
    if (count > 0) {
        schedule.task[waiting[dice_roll(&schedule.dice, count)]].state = TASK_READY;
    }
}

bool schedule_wait_fd(int fd, short events, uint64_t until_ns) {
    Task *task = &schedule.task[self];
    task->fd = (struct pollfd){.fd = fd, .events = events};
    task->until_ns = until_ns;
    leave(TASK_FD);
    return !task->timed_out;
}

// ---- tasks

static Task *add_task(const char *name) {
    if (schedule.task_count == TASKS_MAX) {
        give_up("there are more threads than TASKS_MAX");
    }
    Task *task = &schedule.task[schedule.task_count++];
    *task = (Task){.name = name, .rank = 1 + dice_roll(&schedule.dice, UINT32_MAX)};
    task->rank += UINT32_MAX;
    pthread_cond_init(&task->turn, NULL);
    return task;
}

static void *run_task(void *context) {
    Task *task = context;
    self = (size_t)(task - schedule.task);
    pthread_mutex_lock(&schedule.mutex);
    wait_for_turn(task);
    pthread_mutex_unlock(&schedule.mutex);
    task->main(task->context);
    schedule_wake_all(task);
    leave(TASK_ENDED);
    return NULL;
}

size_t schedule_start(const char *name, TaskMain *main, void *context) {
    Task *task = add_task(name);
    task->main = main;
    task->context = context;
    if (pthread_create(&task->thread, NULL, run_task, task) != 0) {
        give_up("the system gives no more threads");
    }
    schedule_point();
    return (size_t)(task - schedule.task);
}

void schedule_join(size_t index) {
    Task *task = &schedule.task[index];
    while (task->state != TASK_ENDED) {
        schedule_wait(task, SCHEDULE_FOREVER);
    }
    pthread_join(task->thread, NULL);
    pthread_cond_destroy(&task->turn);
}

void schedule_begin(uint64_t seed, ScheduleAtPoint *at_point) {
    schedule.dice = dice_make(seed, 1);
    schedule.at_point = at_point;
    schedule.now_ns = begin_ns;
    schedule.rank_last = UINT32_MAX;
    schedule.by_ranks = dice_chance(&schedule.dice, 40);
    schedule.stay_percent = dice_roll(&schedule.dice, 97);
    schedule.drift_ns = dice_magnitude(&schedule.dice, 16);
    add_task("loop");
    self = 0;
    schedule.is_on = true;
}

void schedule_end(void) {
    schedule.is_on = false;
    pthread_cond_destroy(&schedule.task[0].turn);
}

bool schedule_is_on(void) {
    return schedule.is_on;
}

uint64_t schedule_begin_ns(void) {
    return begin_ns;
}

uint64_t schedule_now_ns(void) {
    return schedule.now_ns;
}

uint64_t schedule_wall_ns(void) {
    return schedule.now_ns + epoch_ns;
}

uint64_t schedule_read_ns(void) {
    // now and then much time has passed since the last look, as when the system ran somebody else
    uint64_t chance = dice_roll(&schedule.dice, 256);
    pass_time(chance == 0  ? dice_roll(&schedule.dice, 30000000)
              : chance < 8 ? dice_roll(&schedule.dice, 150000)
                           : dice_roll(&schedule.dice, schedule.drift_ns + 1));
    return schedule.now_ns;
}

uint64_t schedule_trace(void) {
    return schedule.trace;
}
