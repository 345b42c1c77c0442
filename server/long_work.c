// SPDX-License-Identifier: MIT
#include "long_work.h"

#include "run/lanes/lane.h"

#include <stdlib.h>

#define SHARE UINT64_MAX // no session has this number

typedef struct LongWork {
    Job job; // first
    Strand strand;
    void (*work)(void *argument);
    void (*done)(void *argument);
    void *argument;
} LongWork;

static JobOutcome work_long(Job *job, Lane *lane) {
    LongWork *long_work = (LongWork *)job;
    (void)lane;
    long_work->work(long_work->argument);
    job->urgent = true; // a peer waits
    return JOB_DONE;
}

static void done_long(Job *job) {
    LongWork *long_work = (LongWork *)job;
    void (*done)(void *) = long_work->done;
    void *argument = long_work->argument;
    free(long_work);
    done(argument);
}

bool long_work_run(void *pool, void (*work)(void *argument), void (*done)(void *argument),
                   void *argument) {
    LongWork *long_work = calloc(1, sizeof(*long_work));
    if (long_work == NULL) {
        return false;
    }
    *long_work = (LongWork){.job = {.work = work_long, .done = done_long},
                            .work = work,
                            .done = done,
                            .argument = argument};
    strand_init_long(&long_work->strand);
    pool_submit(pool, &long_work->strand, SHARE, &long_work->job);
    return true;
}
