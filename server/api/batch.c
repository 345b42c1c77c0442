// SPDX-License-Identifier: MIT
#include "api/batch.h"

#include "step/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static Status find_item(Request *request, Batch *batch, size_t index, uint64_t id, uint64_t mark,
                        Error *error) {
    BatchItem *item = &batch->item[index];
    memset(item, 0, offsetof(BatchItem, error));
    item->batch = batch;
    error_clear(&item->error);
    WorldEntry *entry = host_find(request->api->def.host, id);
    if (entry == NULL) {
        error_set(&item->error, STATUS_NOT_FOUND, "worlds", "No world has the id %" PRIu64 ".", id);
        item->run = (StepRun){0};
        return STATUS_OK;
    }
    if (entry->batch_mark == mark) {
        char field[32];
        snprintf(field, sizeof(field), "worlds[%zu]", index);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "World %" PRIu64 " is listed twice.", id);
    }
    entry->batch_mark = mark;
    item->world = entry;
    return STATUS_OK;
}

Status batch_prepare(Request *request, size_t count, const uint64_t *worlds, Batch **batch,
                     Error *error) {
    if (count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "worlds", "Name at least one world.");
    }
    Batch *made = arena_take_zeroed(&request->arena, 1, sizeof(*made));
    BatchItem *items = arena_take_array(&request->arena, count, sizeof(*items));
    if (made == NULL || items == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                         "%zu worlds are more than one request may name.", count);
    }
    made->request = request;
    made->count = count;
    made->item = items;
    uint64_t mark = ++request->api->batch_count;
    for (size_t i = 0; i < count; i++) {
        Status status = find_item(request, made, i, worlds[i], mark, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    request->plan = made;
    *batch = made;
    return STATUS_OK;
}

// ---- on a lane

// Work of less than this takes some 10 us, about what a write costs that could be shared.
enum { SHORT_STEPS = 16, SHORT_BODIES = 64 };

// A step of more bodies than these takes a short lane's patience and more: it need not be tried.
enum { LONG_BODIES = 20000 };

// Copies what the reply shows of a world that goes on with its next call before the reply is made.
static bool copy_state(BatchItem *item) {
    const World *world = item->world->door.world;
    const Batch *batch = item->batch;
    size_t count = world->body_count;
    bool one = batch->count == 1;
    item->pose = world->pose;
    item->velocity = world->velocity;
    if (batch->wants_pose && (!one || world->has_center)) {
        item->pose = arena_take_array(item->arena, count, 7 * sizeof(double));
        for (uint32_t i = 0; item->pose != NULL && i < count; i++) {
            world_body_pose(world, i, item->pose + 7 * (size_t)i);
        }
    }
    if (batch->wants_velocity && !one) {
        item->velocity = arena_take_array(item->arena, count, 6 * sizeof(double));
        if (item->velocity != NULL) {
            memcpy(item->velocity, world->velocity, count * 6 * sizeof(double));
        }
    }
    return (item->pose != NULL && item->velocity != NULL) || count == 0;
}

static void collect(BatchItem *item) {
    World *world = item->world->door.world;
    const Batch *batch = item->batch;
    item->step = world->step;
    item->time = world->time;
    item->body_count = world->body_count;
    for (int i = 0; item->begun && item->run.tally.done > 0 && i < 2; i++) {
        uint32_t body = item->run.tally.last.worst_body[i];
        item->worst_body[i] = body < world->body_count ? world->body_id[body] : 0;
    }
    if (batch->wants_hash) {
        item->hash = snapshot_hash(world);
    }
    if (batch->wants_pose || batch->wants_velocity) {
        if (!copy_state(item)) {
            item->body_count = 0;
            error_set(&item->error, STATUS_RESOURCE_EXHAUSTED, "",
                      "Memory ended while reading %u bodies.", world->body_count);
        }
    }
}

static void finish_item(BatchItem *item, Lane *lane) {
    Batch *batch = item->batch;
    if (atomic_fetch_sub_explicit(&batch->left, 1, memory_order_acq_rel) == 1) {
        batch->reply(batch, lane);
    }
}

// False: nothing is to be stepped, or nothing more.
static bool begin(BatchItem *item) {
    bool stops = request_should_stop(item->batch->request, &item->error);
    if (!item->begun) {
        item->begun = true;
        stops = stops || door_step_begin(&item->world->door, item->input, item->arena, &item->run,
                                         &item->error) != STATUS_OK;
        if (stops) {
            item->run = (StepRun){0};
        }
    }
    return !stops;
}

// JOB_DONE: no steps are left, or something says stop.
static JobOutcome step_on(BatchItem *item, Lane *lane) {
    Request *request = item->batch->request;
    Door *door = &item->world->door;
    Error *error = &item->error;
    if (!begin(item)) {
        return JOB_DONE;
    }
    if (door->world->body_count > LONG_BODIES && !lane->is_long) {
        return JOB_LONG;
    }
    if (item->run.steps_left > SHORT_STEPS || door->world->body_count > SHORT_BODIES) {
        // what other requests of this turn were answered does not wait for a long job
        lane_end_turn(lane);
    }
    uint64_t done = item->run.tally.done;
    item->run.solver_times = &lane->solver_times; // it may be another one every time
    WorkWatch watch;
    request_watch(request, lane, lane->slice_ns, &watch); // the clock costs as much as a small step
    host_limit_step(item->world);
    Status status = door_step(door, &item->run, &lane->scratch, request_pause_ns(request, lane),
                              &watch.stop, error);
    atomic_fetch_add_explicit(&lane->steps, item->run.tally.done - done, memory_order_relaxed);
    if (door->world->faulted) { // door_step_begin lets no faulted world in
        atomic_fetch_add_explicit(&request->api->faulted_steps, 1, memory_order_relaxed);
    }
    if (status != STATUS_OK || item->run.steps_left == 0) {
        return JOB_DONE;
    }
    bool stops = item->run.tally.done == done // its very first step was given up
                     ? request_watch_verdict(&watch, error) != STATUS_OK
                     : request_should_stop(request, error);
    return stops ? JOB_DONE : watch.is_put_aside ? JOB_LONG : JOB_AGAIN;
}

static void on_recorder_ready(LogWait *wait) {
    const BatchItem *item =
        (const BatchItem *)(const void *)((char *)wait - offsetof(BatchItem, wait));
    pool_unpark(item->batch->request->api->def.pool, &item->world->strand);
}

// What records the world must catch up before the next step.
static bool must_wait(BatchItem *item) {
    item->wait = (LogWait){.done = on_recorder_ready};
    return !door_is_ready(&item->world->door, NULL) &&
           !request_should_stop(item->batch->request, NULL) &&
           !door_is_ready(&item->world->door, &item->wait);
}

static JobOutcome work_item(Job *job, Lane *lane) {
    BatchItem *item = (BatchItem *)(void *)((char *)job - offsetof(BatchItem, job));
    if (item->input.count > 0) {
        if (must_wait(item)) {
            return JOB_PARKED;
        }
        JobOutcome outcome = step_on(item, lane);
        if (outcome != JOB_DONE) {
            host_publish(item->world); // those who watch see a long call go on
            return outcome;
        }
        if (item->run.tally.unconverged > 0) {
            atomic_fetch_add_explicit(&item->batch->request->api->unconverged_steps,
                                      item->run.tally.unconverged, memory_order_relaxed);
        }
        host_publish(item->world);
    }
    collect(item);
    arena_reset_and_trim(&lane->scratch, LANE_SCRATCH_KEPT_BYTES);
    finish_item(item, lane);
    // `done` writes the line of a failed request
    job->urgent = item->error.status != STATUS_OK;
    return JOB_DONE;
}

// ---- on the loop thread

static void on_item_done(Job *job) {
    BatchItem *item = (BatchItem *)(void *)((char *)job - offsetof(BatchItem, job));
    Batch *batch = item->batch;
    host_release(item->world);
    if (batch->count > 1) {
        arena_deinit(&item->memory);
    }
    if (--batch->unfinished == 0) {
        request_finish(batch->request);
    }
}

void batch_submit(Batch *batch) {
    Api *api = batch->request->api;
    size_t known = 0;
    for (size_t i = 0; i < batch->count; i++) {
        known += batch->item[i].world != NULL;
    }
    atomic_store_explicit(&batch->left, known, memory_order_relaxed);
    batch->unfinished = known;
    if (known == 0) {
        batch->reply(batch, NULL);
        request_finish(batch->request);
        return;
    }
    uint64_t share = request_share(batch->request);
    for (size_t i = 0; i < batch->count; i++) {
        BatchItem *item = &batch->item[i];
        if (item->world == NULL) {
            continue;
        }
        host_retain(item->world);
        item->arena = &batch->request->arena;
        if (batch->count > 1) {
            arena_init(&item->memory, api->def.memory_bytes_max);
            item->arena = &item->memory;
        }
        item->job = (Job){.work = work_item, .done = on_item_done};
        pool_submit(api->def.pool, &item->world->strand, share, &item->job);
    }
}

// ---- replies

static void fill_failure(const BatchItem *item, const uint64_t world, Moreau__V1__Status *status) {
    moreau__v1__status__init(status);
    status->has_code = status->has_world = status->has_recoverable = 1;
    status->code = (Moreau__V1__StatusCode)item->error.status;
    status->message = (char *)item->error.message;
    status->field = item->error.field[0] != '\0' ? (char *)item->error.field : NULL;
    status->world = world;
    if (item->world != NULL) {
        status->has_step = 1;
        status->step = item->step;
    }
    status->recoverable = status_is_recoverable(item->error.status);
}

// The ids as the call listed them.
static const uint64_t *listed_worlds(const Request *request) {
    return request->message->call_case == MOREAU__V1__REQUEST__CALL_WORLD_STEP
               ? request->message->world_step->worlds
               : request->message->world_hash->worlds;
}

Moreau__V1__Status **batch_failures(const Batch *batch, size_t *count) {
    Arena *arena = &batch->request->arena;
    size_t failed = 0;
    *count = 0;
    for (size_t i = 0; i < batch->count; i++) {
        failed += batch->item[i].error.status != STATUS_OK;
    }
    Moreau__V1__Status **list = arena_take_array(arena, failed, sizeof(*list));
    Moreau__V1__Status *statuses = arena_take_array(arena, failed, sizeof(*statuses));
    if (failed == 0 || list == NULL || statuses == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->item[i].error.status != STATUS_OK) {
            list[*count] = &statuses[*count];
            fill_failure(&batch->item[i], listed_worlds(batch->request)[i], &statuses[(*count)++]);
        }
    }
    return list;
}

void batch_status(const Batch *batch, Error *error) {
    for (size_t i = 0; i < batch->count; i++) {
        if (batch->item[i].error.status == STATUS_OK) {
            error_clear(error);
            return;
        }
    }
    *error = batch->item[0].error;
}
