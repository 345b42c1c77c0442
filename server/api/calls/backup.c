// SPDX-License-Identifier: MIT
// The family episode: Backup. A job in the background asks the log for a copy, parks until it is
// there, and gives it its name; meanwhile the loop tells how far it is.
#include "api/calls/episode.h"
#include "os/clock.h"

#include <stddef.h>

enum { PROGRESS_MS = 100, PROGRESS_UNSENT_BYTES_MAX = 1 << 16 };

typedef struct BackupPlan {
    Request *request;
    LogBackup backup;
    uv_timer_t timer;
    uint64_t told_bytes; // in the last progress event
    uint64_t begun_ns;
    Error error;
} BackupPlan;

static Request *request_of(Job *job) {
    return (Request *)(void *)((char *)job - offsetof(Request, job));
}

// ---- the reply

static void on_timer_closed(uv_handle_t *handle) {
    BackupPlan *plan = handle->data;
    request_finish(plan->request);
}

static void on_ended(Job *job) {
    BackupPlan *plan = request_of(job)->plan;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__EpisodeBackupReply message = MOREAU__V1__EPISODE_BACKUP_REPLY__INIT;
    if (plan->error.status == STATUS_OK) {
        message.name = (char *)plan->backup.name;
        message.has_bytes = message.has_seconds = 1;
        message.bytes = atomic_load_explicit(&plan->backup.bytes_done, memory_order_relaxed);
        message.seconds = (double)(clock_now_ns() - plan->begun_ns) * 1e-9;
        reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_BACKUP;
        reply.episode_backup = &message;
    }
    request_reply(plan->request, NULL, &reply, &plan->error);
    plan->request->stopped = NULL;
    uv_close((uv_handle_t *)&plan->timer, on_timer_closed);
}

static void on_stopped(Request *request) {
    BackupPlan *plan = request->plan;
    atomic_store_explicit(&plan->backup.is_cancelled, true, memory_order_relaxed);
}

static void tell_progress(uv_timer_t *timer) {
    BackupPlan *plan = timer->data;
    Request *request = plan->request;
    uint64_t done = atomic_load_explicit(&plan->backup.bytes_done, memory_order_relaxed);
    if (request_should_stop(request, NULL)) { // its deadline
        on_stopped(request);
    }
    if (done == plan->told_bytes ||
        request->peer.calls->unsent(request->peer.handle) > PROGRESS_UNSENT_BYTES_MAX) {
        return;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__BackupProgress progress = MOREAU__V1__BACKUP_PROGRESS__INIT;
    progress.has_bytes_done = progress.has_bytes_total = 1;
    progress.bytes_done = done;
    progress.bytes_total = atomic_load_explicit(&plan->backup.bytes_total, memory_order_relaxed);
    reply.result_case = MOREAU__V1__REPLY__RESULT_BACKUP_PROGRESS;
    reply.backup_progress = &progress;
    if (request_event(request, NULL, &reply, NULL) == STATUS_OK) {
        plan->told_bytes = done; // one that cannot be sent is no loss
    }
}

// ---- the job

static JobOutcome back_up_on_lane(Job *job, Lane *lane) {
    (void)lane;
    Request *request = request_of(job);
    BackupPlan *plan = request->plan;
    Log *log = request->api->def.log;
    Error *error = &plan->error;
    if (!request->is_resumed) {
        request->is_resumed = true;
        LogWait *wait = request_wait(request);
        if (!request_should_stop(request, error) &&
            log_backup_begin(log, &plan->backup, wait, error) == STATUS_OK) {
            return JOB_PARKED;
        }
    } else if (request->wait.error.status == STATUS_OK) {
        error->status = log_backup_end(log, &plan->backup, error);
    } else if (!request_should_stop(request, error)) {
        *error = request->wait.error;
    }
    job->urgent = true;
    return JOB_DONE;
}

Status command_episode_backup_prepare(Request *request, Error *error) {
    const Moreau__V1__EpisodeBackup *backup = request->message->episode_backup;
    BackupPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while carrying out the request.");
    }
    plan->request = request;
    plan->backup.name = backup->name;
    plan->backup.replaces = backup->overwrite;
    plan->begun_ns = clock_now_ns();
    uv_timer_init(request->api->def.loop, &plan->timer);
    plan->timer.data = plan;
    uv_timer_start(&plan->timer, tell_progress, PROGRESS_MS, PROGRESS_MS);
    request->plan = plan;
    request->stopped = on_stopped;
    strand_init_long(&request->strand); // it waits for the disk
    request->job = (Job){.work = back_up_on_lane, .done = on_ended};
    pool_submit(request_pool(request), &request->strand, request_share(request), &request->job);
    return STATUS_OK;
}
