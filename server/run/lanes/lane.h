// SPDX-License-Identifier: MIT
// Lanes: the worker threads, and the queues of work that they run.
//
// A *strand* is one world's queue: its jobs run one at a time, in the order submitted, on whichever
// lane is free; different strands run in parallel. A *job* is a field of what it works on.
// Ownership: a job is the caller's until pool_submit, the pool's until `done` has been called, and
// the caller's again from then on.
//
//   loop thread                       lane
//   pool_submit(strand, job) ───────► work(job, lane)
//   done(job) ◄────────────────────── JOB_DONE
//                                     JOB_AGAIN, JOB_LONG: to the queue of the long lanes
//                                     JOB_PARKED: until pool_unpark(strand)
//
// Nobody waits for a client that does much, nor for work that takes long. Ready strands wait in
// *shares*, one for each session, which take turns, by whose they are first (lane_parts.h). And a
// pool has twice the lanes that is asked for, half of them *long* ones, which are a little nice:
// what is not done after a short slice goes on there. A piece of work that cannot be interrupted (a
// step, a solve) and is not done after LANE_LONG_NS is given up, harmlessly (lane_is_wanted), and
// begun again on a long lane, which lets it take its time. A strand stays with the long lanes until
// its pieces are short again.
//
// An owner may have a limit of lanes that work for him at once. What he has beyond it waits, by
// itself: his strands leave the queue, and come back when one of his lanes is done, in the crew
// that was not served last. A lane takes one chain of such an owner at a time; and who helps one of
// them is counted as a lane.
//
// A large world may use more lanes than the one that it is on: lanes that are idle *help* with the
// blocks of its tasks (Lane.tasks, offer.h), which changes no bit of the result. A long lane is
// helped by long ones, which are woken for it, and by short ones that are awake anyway; a short
// lane by short ones alone, as the system may take the core of a nicer one away in the middle of a
// block. Between two blocks a helper looks whether it is needed elsewhere: it leaves for its own
// work when its queue has some, and to sleep when more lanes are awake than the pool was asked for.
// So no more than those are at work where one of them helps: a pool of one lane lends none, and two
// large worlds on two lanes have one each. Helpers wait awake for the next tasks of a step under
// way for HELP_SPIN_NS at most; with no such step under way they sleep at once.
//
// What must not disturb (reading the log, stepping stored episodes again) has a pool of its own
// whose threads are *nice*: the system takes their cores away as soon as another thread wants one.
//
// Hand-over is in batches: what the loop submits during one turn of its loop is published together
// (pool_flush, called by the pool itself before the loop sleeps) and wakes no lane that is awake.
// `done` calls wait for the loop's next turn; only a job whose work sets `urgent` wakes the loop
// for it. An idle pool uses no CPU.
//
// The jobs of a turn are handed to the loop after `turn_ended`, so what they own is still there in
// it; and a strand stays with its lane until then, so that what `turn_ended` writes is in the order
// of the strand.
//
// A lane that ran jobs calls the pool's `turn_ended` once before it sleeps, or after at most
// LANE_TURN_NS of work, so that replies may be gathered and written together.
#pragma once

#include "base/arena.h"
#include "os/histogram.h"
#include "base/status.h"
#include "base/tasks.h"

#include <stdatomic.h>
#include <stdint.h>
#include <uv.h>

enum { LANE_SLICE_NS = 2000000 };      // after about so long a job gives a long lane to others …
enum { LANE_SHORT_SLICE_NS = 500000 }; // … and after so long a short one
enum { LANE_TURN_NS = 100000 };
enum { LANE_LONG_NS = 10000000 }; // so long a short lane works on one piece, and no longer

typedef struct Pool Pool;
typedef struct Lane Lane;
typedef struct Job Job;
typedef struct Strand Strand;

// JOB_PARKED: something must happen first, and whoever makes it happen calls pool_unpark, which may
// be before the job has returned; then the job is worked on again. JOB_LONG: as JOB_AGAIN, of a
// piece of work that was given up as lane_is_wanted said.
typedef enum JobOutcome { JOB_DONE, JOB_AGAIN, JOB_PARKED, JOB_LONG } JobOutcome;
typedef JobOutcome JobWork(Job *job, Lane *lane); // on a lane
typedef void JobFinished(Job *job); // on the loop thread, exactly once per submitted job

struct Job {
    JobWork *work;
    JobFinished *done;
    bool urgent;    // work may set it: the loop is woken for `done`
    uint32_t share; // the pool's; leave it alone
    Strand *strand; // the pool's; leave it alone
    Job *next;      // the pool's link; leave it alone
};

// A queue of jobs. Initialise with strand_init; may be freed when it is empty, that is when `done`
// of its last job has been called.
struct Strand {
    Job *head, *tail;
    bool ready;                // in the pool's queue, on a lane, or parked
    bool wants_park;           // the lane's: its job returned JOB_PARKED in this turn
    bool parked, unparked;     // pool_unpark is awaited; or came before
    Job *left;                 // the lane's that has it: taken and not done
    uint32_t short_pieces_due; // the lane's: > 0: long lanes run it, until it has shown so many
    Strand *next;
};

// What a lane offers to the work that runs on it.
struct Lane {
    uint32_t index;
    bool is_long;
    const Tasks *tasks;     // Nullable: for what a job runs on this lane; idle lanes help with it
    Arena scratch;          // what a job took of it is taken back when its work returns
    uint64_t slice_ns;      // when the present job was begun or taken up again, clock_now_ns
    _Atomic uint64_t steps; // world steps done on this lane, for Stats
    Histogram solver_times; // of the steps whose solver was timed
    void *outbox; // the owner of the pool may hang something here (replies that are being gathered)
    Pool *pool;
};

typedef void LaneTurnEnded(Lane *lane, void *context);
typedef void LaneLeft(Lane *lane, void *context);

typedef struct PoolDef {
    uint32_t lane_count; // 1 … 1024, and as many long ones; helpers are counted among so many
    Budget *scratch;     // borrowed: what the lanes' arenas may take together
    int niceness;        // of its threads, 0 … 15 as nice(1) counts; long ones are a bit nicer
    LaneTurnEnded *turn_ended; // Nullable
    LaneLeft *left; // Nullable; the last thing on each lane, for what hangs on its outbox
    void *context;
} PoolDef;

Status pool_create(Pool **pool, uv_loop_t *loop, const PoolDef *def, Error *error);

// Nothing is submitted from here on, by `done` neither. Finishes all jobs (cancelling them is the
// caller's business), joins the lanes and calls `closed`
// on the loop thread when the pool's memory is gone.
void pool_close(Pool *pool, void (*closed)(void *context), void *context);

uint32_t pool_lane_count(const Pool *pool); // without the long ones

// First the lanes, then the long lanes; NULL past the end.
const Lane *pool_lane(const Pool *pool, uint32_t index);

// Pieces of work that took too long for a lane and were begun again on a long one. Any thread.
uint64_t pool_put_aside_count(const Pool *pool);

// Jobs submitted whose `done` has not been called. Loop thread.
uint64_t pool_job_count(const Pool *pool);

// Strands that wait for a lane. Loop thread.
uint32_t pool_waiting_count(const Pool *pool);

// Calls `done` of what has finished now instead of before the loop sleeps, so that counts are
// exact. Loop thread, not from `done`.
void pool_settle(Pool *pool);

void strand_init(Strand *strand);
// Of work that is known to take long: the long lanes run it from the start.
void strand_init_long(Strand *strand);

// Any thread: the strand's first job, which returned or is about to return JOB_PARKED, runs again.
// Exactly once per JOB_PARKED.
void pool_unpark(Pool *pool, Strand *strand);

// On a lane, by a job that is about to work long: ends the turn early, so that neither the answers
// gathered in it nor the strands worked on wait for this job.
void lane_end_turn(Lane *lane);

// When the present job should give the lane to others, clock_now_ns.
uint64_t lane_pause_ns(const Lane *lane);

// On a lane: whether a piece of work begun then should be given up and the job return JOB_LONG.
bool lane_is_wanted(const Lane *lane, uint64_t begun_ns, uint64_t now_ns);

// Who a job is done for, for pool_submit: a session, and whose it is, by a number, his weight (0:
// as 1), and how many lanes of the pool may work for him at once (0: any number). A session's
// number alone is one of owner 0.
enum { SHARE_OWNER_SHIFT = 32, SHARE_WEIGHT_SHIFT = 48, SHARE_LANES_SHIFT = 56 };

static inline uint64_t lane_share(uint64_t session, uint32_t owner, uint32_t weight,
                                  uint32_t lanes) {
    return (session & UINT32_MAX) | (uint64_t)(owner & UINT16_MAX) << SHARE_OWNER_SHIFT |
           (uint64_t)(weight & UINT8_MAX) << SHARE_WEIGHT_SHIFT |
           (uint64_t)(lanes & UINT8_MAX) << SHARE_LANES_SHIFT;
}

// How many lanes work for an owner whose jobs say how many may. Any thread.
uint32_t pool_lanes_of(const Pool *pool, uint32_t owner);

// Loop thread, before pool_close: who may still submit is stopped first. Never fails: a job brings
// its own memory. `share`: who it is done for, as a number.
void pool_submit(Pool *pool, Strand *strand, uint64_t share, Job *job);

// Publishes what was submitted. The pool calls it before the loop sleeps; calling it earlier only
// shortens the wait.
void pool_flush(Pool *pool);
