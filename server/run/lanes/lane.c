// SPDX-License-Identifier: MIT
// One lock guards the queue of ready strands, the strands themselves and the list of finished jobs.
// Lanes take several jobs under it at once, and settle what they ran under it again; between the
// two they touch nothing shared. What is taken of one strand is a *chain*: jobs in their order,
// linked by Job.next, that one lane runs in a row, so that the replies of pipelined requests meet
// in one write. A chain is taken, stolen and given back as a whole, so a strand is never on two
// lanes.
//
// A strand stays with its lane until the lane's turn has ended: were it free before, another lane
// could run the strand's next job and end its own turn first, and two replies would change places.
//
// What a lane has taken but not begun is never stuck behind a long job: a lane that would sleep
// takes it away (steal_chain), and a lane whose turn is over gives it back to its queue's head.
//
// There are two *crews* of lanes, each with its own queue: one for strands whose pieces of work
// are short, and one for those that showed a long one. A strand is moved when it is put into a
// queue, and nowhere else.
//
// A lane that would sleep may help others instead (offer.h). It is awake then, and so nobody
// signals it: it looks at its queue, without the lock, between two blocks, and under the lock
// before it helps again or sleeps.
//
// No wake is lost: whenever a queue is longer than the number of lanes that are on their way to it,
// a sleeping lane of its crew is signalled, if there is one (count_wakes); and a lane looks at its
// queue, under the lock, before it sleeps.
#include "run/lanes/lane.h"

#include "base/assert.h"
#include "base/cache.h"
#include "os/clock.h"
#include "os/nice.h"
#include "os/pause.h"
#include "os/thread.h"
#include "run/lanes/lane_parts.h"
#include "run/lanes/offer.h"

#include <stddef.h>
#include <stdlib.h>

enum { LANE_COUNT_MAX = 1024 };
enum { BATCH_MAX = 32 }; // chains taken at once: at 1 us each the lock is then needed every 32 us
enum { WAKES_MAX = 4 };  // lanes woken by one lane at once
enum { CHAIN_MAX = 64 }; // jobs of one strand taken at once

// A strand that showed a piece of work that was not short is run by long lanes until it has shown
// so many short ones in a row.
enum { SHORT_PIECES = 16, SHORT_PIECE_NS = 2 * LANE_SHORT_SLICE_NS };

// A step of some 300,000 contacts needs no more; and one of some thousand, when memory is short.
enum { SCRATCH_KEPT_BYTES = 1 << 28, SCRATCH_KEPT_BYTES_MIN = 1 << 20 };

enum { HELP_SPIN_NS = 50000 }; // a step goes from one stage to the next in less, or far more

enum { LONG_NICENESS = 4 }; // beside short lanes a long one has less than half of a core

typedef struct JobList {
    Job *head, *tail;
} JobList;

// A lane with what its thread needs; on cache lines of its own, as its counters are written for
// every job.
typedef struct Worker Worker;
typedef struct Crew Crew;

struct Worker {
    _Alignas(CACHE_LINE_BYTES) Lane lane;
    Crew *crew;
    Job *batch[BATCH_MAX]; // heads of chains; written by the lane under the lock
    uint32_t batch_count;
    _Atomic uint32_t
        batch_begun;  // the next of the batch to begin; raised without the lock, also by thieves
    uint64_t turn_ns; // when the present turn began; 0: no job was run since the last turn_ended
    uint64_t now_ns;  // after the last job
    JobList held;     // done in this turn
    Strand *visitors; // whose jobs were run in this turn, linked by Strand.next
    bool wakes_loop;  // something was done that the loop must hear of
    uv_cond_t wake;
    bool is_woken;        // signalled; under the lock
    Worker *asleep_below; // in the crew's stack of sleepers
    Offer offer;          // with its jobs' tasks
    Crowd *crowd;         // Nullable: of the owner of what it runs, if he has a limit
    uint32_t helped;      // whose offer it helped with last
    bool has_helped;      // and there was nothing more to do: it sleeps before it looks again
    uv_thread_t thread;
};

// The lanes that share a queue. Under the lock.
struct Crew {
    Worker *worker; // borrowed, count of them
    uint32_t count;
    Queue queue;    // ready strands
    Worker *asleep; // lanes that sleep, the last to fall asleep first: its caches are the warmest
    uint32_t waking_count;       // lanes signalled and not yet awake
    uint32_t batch_count;        // lanes that took more than one job
    _Atomic uint32_t open_count; // offers that are open; without the lock
};

enum { CREW_SHORT, CREW_LONG, CREW_COUNT };

struct Pool {
    PoolDef def;
    Worker *worker; // owned: the short lanes, then the long ones
    uint32_t worker_count;
    uint32_t thread_count; // running, the first ones
    uv_mutex_t mutex;

    // under the lock
    Crew crew[CREW_COUNT];
    Crowd crowd[OWNER_COUNT]; // also helpers count there, without it
    JobList finished;
    bool is_closing;                  // from now on every finished job wakes the loop
    bool is_stopping;                 // lanes leave when their queue is empty
    _Atomic uint32_t awake_count;     // lanes that do not sleep, or are signalled; read without it
    _Atomic uint32_t helper_count;    // of these, those that help; without it
    _Atomic uint64_t put_aside_count; // read without it

    // the loop thread's
    JobList staged;
    uint64_t job_count;
    uv_async_t async;
    uv_prepare_t prepare;
    uv_check_t check;
    uint32_t handle_count; // not yet closed
    void (*closed)(void *context);
    void *closed_context;
};

static void list_append(JobList *list, Job *job) {
    job->next = NULL;
    if (list->tail == NULL) {
        list->head = job;
    } else {
        list->tail->next = job;
    }
    list->tail = job;
}

// Moves all of `more` to the end.
static void list_join(JobList *list, JobList *more) {
    if (list->tail == NULL) {
        list->head = more->head;
    } else {
        list->tail->next = more->head;
    }
    list->tail = more->tail;
    *more = (JobList){0};
}

// ---- strands, under the lock

void strand_init(Strand *strand) {
    *strand = (Strand){0};
}

void strand_init_long(Strand *strand) {
    strand_init(strand);
    strand->short_pieces_due = SHORT_PIECES;
}

// Into the queue of those that shall run it.
static void queue_up(Pool *pool, Strand *strand) {
    queue_append(&pool->crew[strand->short_pieces_due > 0 ? CREW_LONG : CREW_SHORT].queue, strand);
}

// Lanes to signal once the lock is free. Few, as a lane that wakes looks for more to do and wakes
// the next.
typedef struct Wakes {
    Worker *worker[WAKES_MAX];
    uint32_t count;
} Wakes;

static uint32_t awake_count(const Pool *pool) {
    return atomic_load_explicit(&pool->awake_count, memory_order_relaxed);
}

static void awake_count_add(Pool *pool, uint32_t change) {
    atomic_store_explicit(&pool->awake_count, awake_count(pool) + change, memory_order_relaxed);
}

// Takes the last of a crew's sleepers, of which there is one, for a signal.
static Worker *take_sleeper(Pool *pool, Crew *crew) {
    Worker *worker = crew->asleep;
    crew->asleep = worker->asleep_below;
    worker->is_woken = true;
    crew->waking_count++;
    awake_count_add(pool, 1);
    return worker;
}

// Which sleeping lanes must be signalled now.
static Wakes count_wakes(Pool *pool) {
    Wakes wakes = {.count = 0};
    for (int i = 0; i < CREW_COUNT; i++) {
        Crew *crew = &pool->crew[i];
        while (crew->asleep != NULL && queue_count(&crew->queue) > crew->waking_count &&
               wakes.count < WAKES_MAX) {
            wakes.worker[wakes.count++] = take_sleeper(pool, crew);
        }
    }
    return wakes;
}

static void signal_lanes(const Wakes *wakes) {
    for (uint32_t i = 0; i < wakes->count; i++) {
        uv_cond_signal(&wakes->worker[i]->wake);
    }
}

// ---- lanes

// After a turn: hands what was done to the loop, and the strands to the queue. Under the lock;
// touches no job or strand afterwards.
static void settle(Worker *worker) {
    Pool *pool = worker->lane.pool;
    for (Strand *strand = worker->visitors; strand != NULL;) {
        Strand *next = strand->next;
        if (strand->left != NULL) {
            strand_prepend(strand, strand->left);
            strand->left = NULL;
        }
        strand->ready = strand->head != NULL;
        strand->parked = strand->wants_park && !strand->unparked;
        strand->unparked = strand->unparked && !strand->wants_park;
        strand->wants_park = false;
        if (strand->ready && !strand->parked) {
            queue_up(pool, strand);
        }
        strand = next;
    }
    worker->visitors = NULL;
    if (worker->held.head != NULL) {
        list_join(&pool->finished, &worker->held);
        worker->wakes_loop = worker->wakes_loop || pool->is_closing;
    }
}

// What was taken and not begun goes back to the head of the queue, in its order. Under the lock.
static void give_back(Worker *worker) {
    Crew *crew = worker->crew;
    uint32_t begun = atomic_exchange(&worker->batch_begun, worker->batch_count);
    for (uint32_t i = worker->batch_count; i > begun; i--) {
        Job *job = worker->batch[i - 1];
        strand_prepend(job->strand, job);
        queue_prepend(&crew->queue, job->strand);
    }
    if (worker->batch_count > 1) {
        crew->batch_count--;
    }
    worker->batch_count = 0;
    atomic_store(&worker->batch_begun, 0);
}

// What it ran for an owner with a limit is over: another lane may. Under the lock.
static void leave_crowd(Worker *worker) {
    Pool *pool = worker->lane.pool;
    if (worker->crowd == NULL) {
        return;
    }
    Queue *own = &worker->crew->queue,
          *other = &pool->crew[worker->lane.is_long ? CREW_SHORT : CREW_LONG].queue;
    const size_t i = (size_t)(worker->crowd - pool->crowd);
    crowd_leave(worker->crowd);
    worker->crowd = NULL;
    offer_set_crowd(&worker->offer, NULL);
    if (other->owner[i].is_held) {
        queue_release(other, &other->owner[i]);
        if (own->owner[i].head != NULL && !own->owner[i].is_held) {
            queue_hold(own, &own->owner[i]); // its turn is the other crew's
        }
    } else if (own->owner[i].is_held) {
        queue_release(own, &own->owner[i]);
    }
}

static bool enter_crowd(Worker *worker, const Strand *strand) {
    Crowd *crowd = &worker->lane.pool->crowd[strand_owner(strand)];
    atomic_store_explicit(&crowd->max, strand_lanes_max(strand), memory_order_relaxed);
    if (!crowd_enter(crowd)) {
        return false;
    }
    worker->crowd = crowd;
    offer_set_crowd(&worker->offer, crowd);
    return true;
}

// The next strand for the batch; NULL: none is in the queue, or it must be taken alone.
static Strand *take_strand(Worker *worker) {
    Queue *queue = &worker->crew->queue;
    for (;;) {
        const Strand *first = queue_first(queue);
        if (first == NULL || worker->crowd != NULL) {
            return NULL;
        }
        if (strand_lanes_max(first) == 0) {
            return queue_pop(queue);
        }
        if (worker->batch_count > 0) {
            return NULL;
        }
        if (enter_crowd(worker, first)) {
            return queue_pop(queue);
        }
        queue_hold(queue, queue_owner(queue, first));
    }
}

// A fair part of a long queue, so that the lock is seldom needed; one strand of a short one. Under
// the lock.
static bool take_batch(Worker *worker) {
    Crew *crew = worker->crew;
    if (queue_count(&crew->queue) == 0) {
        return false;
    }
    const uint32_t part = queue_count(&crew->queue) / (2 * crew->count) + 1;
    while (worker->batch_count < part && worker->batch_count < BATCH_MAX) {
        Strand *strand = take_strand(worker);
        if (strand == NULL) {
            break;
        }
        worker->batch[worker->batch_count++] = strand_pop(strand, CHAIN_MAX);
    }
    if (worker->batch_count > 1) {
        crew->batch_count++;
    }
    return worker->batch_count > 0;
}

// Takes one chain that another lane of the crew has taken and not begun. Under the lock, so that no
// batch changes but by being begun.
static bool steal_chain(Worker *thief) {
    const Crew *crew = thief->crew;
    for (uint32_t i = 0; crew->batch_count > 0 && i < crew->count; i++) {
        Worker *owner = &crew->worker[i];
        if (owner == thief || owner->batch_count < 2 ||
            atomic_load(&owner->batch_begun) >= owner->batch_count) {
            continue;
        }
        uint32_t begun = atomic_fetch_add(&owner->batch_begun, 1);
        if (begun < owner->batch_count) {
            thief->batch[0] = owner->batch[begun];
            thief->batch_count = 1;
            return true;
        }
    }
    return false;
}

static void notify_loop(Worker *worker) {
    if (worker->wakes_loop) {
        worker->wakes_loop = false;
        uv_async_send(&worker->lane.pool->async);
    }
}

static bool turn_is_over(const Worker *worker) {
    return worker->now_ns - worker->turn_ns >= LANE_TURN_NS;
}

// What a piece of work, just ended, tells of those to come.
static void judge_piece(Strand *strand, JobOutcome outcome, uint64_t took_ns) {
    if (outcome == JOB_AGAIN || outcome == JOB_LONG || took_ns > SHORT_PIECE_NS) {
        strand->short_pieces_due = SHORT_PIECES;
    } else if (strand->short_pieces_due > 0) {
        strand->short_pieces_due--;
    }
}

// After every piece of work. The memory stays with the lane, unless that is much or most of the
// budget is in use.
static void reset_scratch(Lane *lane) {
    const Budget *budget = lane->pool->def.scratch;
    bool is_short = budget_used_bytes(budget) > budget->max_bytes / 2;
    arena_reset_and_trim(&lane->scratch, is_short ? SCRATCH_KEPT_BYTES_MIN : SCRATCH_KEPT_BYTES);
}

// Runs the jobs of a chain in a row, until one wants to go on later, the loop must hear of one, or
// the chain has had the lane for a turn's time. What is not done stays with the strand.
static void run_chain(Worker *worker, Job *job) {
    Strand *strand = job->strand;
    uint64_t begun_ns = worker->lane.slice_ns;
    while (job != NULL && !worker->wakes_loop && worker->lane.slice_ns - begun_ns < LANE_TURN_NS) {
        JobOutcome outcome = job->work(job, &worker->lane);
        offer_close(&worker->offer);
        reset_scratch(&worker->lane);
        worker->now_ns = clock_now_ns();
        judge_piece(strand, outcome, worker->now_ns - worker->lane.slice_ns);
        worker->lane.slice_ns = worker->now_ns;
        strand->wants_park = outcome == JOB_PARKED;
        if (outcome == JOB_LONG) {
            atomic_fetch_add_explicit(&worker->lane.pool->put_aside_count, 1, memory_order_relaxed);
        }
        if (outcome != JOB_DONE) {
            break;
        }
        Job *next = job->next;
        worker->wakes_loop = job->urgent;
        list_append(&worker->held, job);
        job = next;
    }
    strand->left = job;
    strand->next = worker->visitors;
    worker->visitors = strand;
}

// Runs the batch until it ends, the turn is over, or the loop must hear of a job.
static void run_batch(Worker *worker) {
    worker->lane.slice_ns = clock_now_ns();
    if (worker->turn_ns == 0) {
        worker->turn_ns = worker->lane.slice_ns;
    }
    do {
        uint32_t i = atomic_fetch_add(&worker->batch_begun, 1);
        if (i >= worker->batch_count) {
            atomic_store(&worker->batch_begun, worker->batch_count);
            return;
        }
        run_chain(worker, worker->batch[i]);
    } while (!turn_is_over(worker) && !worker->wakes_loop);
}

// Under the lock, which is free during the call. Only after it do the jobs of the turn count as
// finished: what turn_ended writes may lean on them.
static void end_turn(Worker *worker) {
    Pool *pool = worker->lane.pool;
    Wakes wakes = count_wakes(pool);
    uv_mutex_unlock(&pool->mutex);
    signal_lanes(&wakes);
    if (pool->def.turn_ended != NULL) {
        pool->def.turn_ended(&worker->lane, pool->def.context);
    }
    worker->turn_ns = 0;
    uv_mutex_lock(&pool->mutex);
    settle(worker);
}

void lane_end_turn(Lane *lane) {
    ASSERT(lane->pool != NULL);
    Worker *worker = (Worker *)(void *)((char *)lane - offsetof(Worker, lane));
    Pool *pool = lane->pool;
    uv_mutex_lock(&pool->mutex);
    give_back(worker);
    end_turn(worker);
    Wakes wakes = count_wakes(pool);
    uv_mutex_unlock(&pool->mutex);
    signal_lanes(&wakes);
    notify_loop(worker);
    worker->turn_ns = worker->lane.slice_ns; // the job that called goes on in a turn of its own
}

// ---- helping

// The first owner a lane may help: no long lane helps a short one.
static uint32_t first_helped(const Worker *worker) {
    return worker->lane.is_long ? worker->lane.pool->def.lane_count : 0;
}

// How many offers are open to it.
static uint32_t open_count(const Worker *worker) {
    const Pool *pool = worker->lane.pool;
    uint32_t count = 0;
    for (int i = worker->lane.is_long ? CREW_LONG : CREW_SHORT; i < CREW_COUNT; i++) {
        count += atomic_load_explicit(&pool->crew[i].open_count, memory_order_relaxed);
    }
    return count;
}

static bool is_crowded(const Pool *pool) {
    return awake_count(pool) > pool->def.lane_count;
}

// Whether a lane without work should help rather than sleep. Under the lock: of several that find
// too many awake, as many go to sleep as are too many.
static bool may_help(const Worker *worker) {
    return !worker->has_helped && open_count(worker) > 0 && !is_crowded(worker->lane.pool);
}

// One block, of the owner that it helped last if that one has some.
static bool help_with_block(Worker *worker) {
    Pool *pool = worker->lane.pool;
    uint32_t first = first_helped(worker), count = pool->worker_count - first;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t owner = (worker->helped + i) % count;
        if (offer_help(&pool->worker[first + owner].offer)) {
            worker->helped = owner;
            return true;
        }
    }
    return false;
}

// Until it is needed elsewhere, or nothing was to be done for a while.
static void help(Worker *worker) {
    Pool *pool = worker->lane.pool;
    atomic_fetch_add_explicit(&pool->helper_count, 1, memory_order_relaxed);
    uint64_t helped_ns = clock_now_ns();
    while (queue_count(&worker->crew->queue) == 0 && !is_crowded(pool) && !worker->has_helped) {
        if (help_with_block(worker)) {
            helped_ns = clock_now_ns();
        } else {
            worker->has_helped =
                open_count(worker) == 0 || clock_now_ns() - helped_ns > HELP_SPIN_NS;
            pause_core();
        }
    }
    atomic_fetch_sub_explicit(&pool->helper_count, 1, memory_order_relaxed);
}

// An owner's blocks wait: wakes as many lanes as may come and are not there. They are of its own
// crew: where fewer lanes are awake than a crew has, some of each crew sleep. The lock is taken
// only to wake.
static void call_helpers(void *context, uint32_t wanted) {
    const Worker *owner = context;
    Pool *pool = owner->lane.pool;
    // those that help look at all offers in turn, so they count for each of them alike
    uint64_t wanted_in_all = (uint64_t)wanted * open_count(owner);
    uint32_t helpers = atomic_load_explicit(&pool->helper_count, memory_order_relaxed);
    if (awake_count(pool) >= pool->def.lane_count || helpers >= wanted_in_all) {
        return;
    }
    uint64_t missing = wanted_in_all - helpers;
    Crew *crew = owner->crew;
    Wakes wakes = {.count = 0};
    uv_mutex_lock(&pool->mutex);
    while (crew->asleep != NULL && wakes.count < missing && wakes.count < WAKES_MAX &&
           awake_count(pool) < pool->def.lane_count) {
        wakes.worker[wakes.count++] = take_sleeper(pool, crew);
    }
    uv_mutex_unlock(&pool->mutex);
    signal_lanes(&wakes);
}

// ---- life of a lane

// Sleeps until a signal. Under the lock, which is free during the sleep.
static void sleep_lane(Worker *worker) {
    Crew *crew = worker->crew;
    worker->asleep_below = crew->asleep;
    crew->asleep = worker;
    awake_count_add(worker->lane.pool, UINT32_MAX);
    while (!worker->is_woken) {
        uv_cond_wait(&worker->wake, &worker->lane.pool->mutex);
    }
    worker->is_woken = false;
    worker->has_helped = false;
    crew->waking_count--;
}

static void lane_main(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->lane.pool;
    int niceness = pool->def.niceness + (worker->lane.is_long ? LONG_NICENESS : 0);
    if (niceness != 0) {
        nice_thread(niceness);
    }
    uv_mutex_lock(&pool->mutex);
    for (;;) {
        give_back(worker);
        leave_crowd(worker);
        if (worker->turn_ns != 0 && (queue_count(&worker->crew->queue) == 0 || worker->wakes_loop ||
                                     turn_is_over(worker))) {
            end_turn(worker);
        }
        bool has_work = take_batch(worker) || steal_chain(worker);
        if (!has_work && worker->turn_ns != 0) { // whoever was in the queue is held
            end_turn(worker);
            continue;
        }
        if (!has_work && !worker->wakes_loop) {
            if (pool->is_stopping) {
                break;
            }
            Wakes wakes = count_wakes(pool); // a strand may have been put into the other queue
            signal_lanes(&wakes);
            if (may_help(worker)) {
                uv_mutex_unlock(&pool->mutex);
                help(worker);
                uv_mutex_lock(&pool->mutex);
            } else {
                sleep_lane(worker);
            }
            continue;
        }
        worker->has_helped = false;
        Wakes wakes = count_wakes(pool);
        uv_mutex_unlock(&pool->mutex);

        signal_lanes(&wakes);
        notify_loop(worker);
        if (has_work) {
            run_batch(worker);
        }
        uv_mutex_lock(&pool->mutex);
    }
    uv_mutex_unlock(&pool->mutex);
    if (pool->def.left != NULL) {
        pool->def.left(&worker->lane, pool->def.context);
    }
}

// ---- the loop thread

// Takes everything that has finished, however few wakes came.
static void deliver_finished(Pool *pool) {
    if (pool->job_count == 0) {
        return;
    }
    uv_mutex_lock(&pool->mutex);
    Job *job = pool->finished.head;
    pool->finished = (JobList){0};
    uv_mutex_unlock(&pool->mutex);

    while (job != NULL) {
        Job *next = job->next; // done may free the job
        pool->job_count--;
        job->done(job);
        job = next;
    }
}

static void free_pool(Pool *pool) {
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        arena_deinit(&pool->worker[i].lane.scratch);
        uv_cond_destroy(&pool->worker[i].wake);
    }
    uv_mutex_destroy(&pool->mutex);
    free(pool->worker);
    free(pool);
}

static void on_handle_closed(uv_handle_t *handle) {
    Pool *pool = handle->data;
    if (--pool->handle_count > 0) {
        return;
    }
    void (*closed)(void *) = pool->closed;
    void *context = pool->closed_context;
    free_pool(pool);
    if (closed != NULL) {
        closed(context);
    }
}

// The lanes leave; the memory goes in the last close callback.
static void stop_lanes(Pool *pool) {
    uv_mutex_lock(&pool->mutex);
    pool->is_stopping = true;
    for (Crew *crew = pool->crew; crew < pool->crew + CREW_COUNT; crew++) {
        while (crew->asleep != NULL) {
            uv_cond_signal(&take_sleeper(pool, crew)->wake);
        }
    }
    uv_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->thread_count; i++) {
        uv_thread_join(&pool->worker[i].thread);
    }
    uv_close((uv_handle_t *)&pool->async, on_handle_closed);
    uv_close((uv_handle_t *)&pool->prepare, on_handle_closed);
    uv_close((uv_handle_t *)&pool->check, on_handle_closed);
}

static void run_turn(Pool *pool) {
    pool_flush(pool);
    deliver_finished(pool);
    pool_flush(pool);
}

static void on_prepare(uv_prepare_t *prepare) {
    run_turn(prepare->data);
}

static void on_check(uv_check_t *check) {
    run_turn(check->data);
}

static void on_async(uv_async_t *async) {
    Pool *pool = async->data;
    run_turn(pool);
    // only a closing pool comes here with no job left and the handles still open
    if (pool->is_closing && pool->job_count == 0 && !pool->is_stopping) {
        stop_lanes(pool);
    }
}

// Everything but the threads.
static Status init_handles(Pool *pool, uv_loop_t *loop, Error *error) {
    int result = uv_async_init(loop, &pool->async, on_async);
    if (result != 0) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The pool cannot watch its lanes: %s.", uv_strerror(result));
    }
    uv_prepare_init(loop, &pool->prepare);
    uv_check_init(loop, &pool->check);
    pool->async.data = pool;
    pool->prepare.data = pool;
    pool->check.data = pool;
    pool->handle_count = 3;
    uv_prepare_start(&pool->prepare, on_prepare);
    uv_check_start(&pool->check, on_check);

    // a pool alone is no reason for the loop to go on
    uv_unref((uv_handle_t *)&pool->async);
    uv_unref((uv_handle_t *)&pool->prepare);
    uv_unref((uv_handle_t *)&pool->check);
    return STATUS_OK;
}

static Status start_lanes(Pool *pool, Error *error) {
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        int result = thread_start(&pool->worker[i].thread, lane_main, &pool->worker[i]);
        if (result != 0) {
            return error_set(
                error, STATUS_RESOURCE_EXHAUSTED, "workers",
                "Only %u of %u worker threads could be started (option --workers): %s.", i,
                pool->worker_count, uv_strerror(result));
        }
        pool->thread_count++;
    }
    return STATUS_OK;
}

static void init_workers(Pool *pool) {
    uint32_t short_count = pool->def.lane_count;
    pool->crew[CREW_SHORT] = (Crew){.worker = pool->worker, .count = short_count};
    pool->crew[CREW_LONG] = (Crew){.worker = pool->worker + short_count, .count = short_count};
    for (uint32_t i = 0; i < pool->worker_count; i++) {
        Worker *worker = &pool->worker[i];
        bool is_long = i >= short_count;
        *worker = (Worker){.lane = {.index = i, .is_long = is_long, .pool = pool},
                           .crew = &pool->crew[is_long ? CREW_LONG : CREW_SHORT]};
        arena_init_sharing(&worker->lane.scratch, pool->def.scratch);
        uv_cond_init(&worker->wake);
        offer_init(&worker->offer, &(OfferDef){.clock = clock_now_ns,
                                               .call = call_helpers,
                                               .context = worker,
                                               .open_count = &worker->crew->open_count});
        worker->lane.tasks = short_count > 1 ? &worker->offer.tasks : NULL;
    }
    atomic_store_explicit(&pool->awake_count, pool->worker_count, memory_order_relaxed);
}

Status pool_create(Pool **result, uv_loop_t *loop, const PoolDef *def, Error *error) {
    ASSERT(def->lane_count >= 1 && def->lane_count <= LANE_COUNT_MAX);
    uint32_t worker_count = 2 * def->lane_count;
    Pool *pool = calloc(1, sizeof(*pool));
    Worker *worker = aligned_alloc(CACHE_LINE_BYTES, worker_count * sizeof(*worker));
    if (pool == NULL || worker == NULL) {
        free(pool);
        free(worker);
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "workers", "No memory for the lanes.");
    }
    pool->def = *def;
    pool->worker = worker;
    pool->worker_count = worker_count;
    init_workers(pool);
    uv_mutex_init(&pool->mutex);

    Status status = init_handles(pool, loop, error);
    if (status != STATUS_OK) {
        free_pool(pool);
        return status;
    }
    status = start_lanes(pool, error);
    if (status != STATUS_OK) {
        stop_lanes(pool);
        return status;
    }
    *result = pool;
    return STATUS_OK;
}

void pool_close(Pool *pool, void (*closed)(void *context), void *context) {
    ASSERT(!pool->is_closing);
    pool->closed = closed;
    pool->closed_context = context;
    uv_ref((uv_handle_t *)&pool->async); // the loop stays until the jobs are done
    uv_mutex_lock(&pool->mutex);
    pool->is_closing = true;
    uv_mutex_unlock(&pool->mutex);
    uv_async_send(&pool->async);
}

uint32_t pool_lane_count(const Pool *pool) {
    return pool->def.lane_count;
}

const Lane *pool_lane(const Pool *pool, uint32_t index) {
    return index < pool->worker_count ? &pool->worker[index].lane : NULL;
}

uint64_t lane_pause_ns(const Lane *lane) {
    return lane->slice_ns + (lane->is_long ? LANE_SLICE_NS : LANE_SHORT_SLICE_NS);
}

bool lane_is_wanted(const Lane *lane, uint64_t begun_ns, uint64_t now_ns) {
    return !lane->is_long && now_ns - begun_ns > LANE_LONG_NS;
}

uint64_t pool_put_aside_count(const Pool *pool) {
    return atomic_load_explicit(&pool->put_aside_count, memory_order_relaxed);
}

uint64_t pool_job_count(const Pool *pool) {
    return pool->job_count;
}

uint32_t pool_waiting_count(const Pool *pool) {
    uint32_t count = 0;
    for (int i = 0; i < CREW_COUNT; i++) {
        const Queue *queue = &pool->crew[i].queue;
        count += queue_count(queue) + queue_held_count(queue);
    }
    return count;
}

uint32_t pool_lanes_of(const Pool *pool, uint32_t owner) {
    return atomic_load_explicit(&pool->crowd[owner % OWNER_COUNT].count, memory_order_relaxed);
}

void pool_settle(Pool *pool) {
    run_turn(pool);
}

void pool_submit(Pool *pool, Strand *strand, uint64_t share, Job *job) {
    ASSERT(strand != NULL);
    ASSERT(!pool->is_closing);
    ASSERT(job->work != NULL && job->done != NULL);
    job->urgent = false;
    job->share = share_pack(share);
    job->strand = strand;
    list_append(&pool->staged, job);
    pool->job_count++;
}

void pool_flush(Pool *pool) {
    Job *job = pool->staged.head;
    if (job == NULL) {
        return;
    }
    pool->staged = (JobList){0};
    uv_mutex_lock(&pool->mutex);
    while (job != NULL) {
        Job *next = job->next;
        Strand *strand = job->strand;
        if (next != NULL) {
            __builtin_prefetch(next->strand, 1);
        }
        strand_append(strand, job);
        if (!strand->ready) {
            strand->ready = true;
            queue_up(pool, strand);
        }
        job = next;
    }
    Wakes wakes = count_wakes(pool);
    uv_mutex_unlock(&pool->mutex);
    signal_lanes(&wakes);
}

void pool_unpark(Pool *pool, Strand *strand) {
    Wakes wakes = {.count = 0};
    uv_mutex_lock(&pool->mutex);
    if (strand->parked) {
        strand->parked = false;
        queue_up(pool, strand);
        wakes = count_wakes(pool);
    } else {
        strand->unparked = true;
    }
    // under the lock: once it is free the job may end, and the pool with it, before this thread,
    // which the pool does not wait for, comes to signal
    signal_lanes(&wakes);
    uv_mutex_unlock(&pool->mutex);
}
