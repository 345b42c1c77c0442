// SPDX-License-Identifier: MIT
#include "api/calls/batch.h"

#include "step/joints/wrenches.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static Status find_item(Request *request, Batch *batch, size_t index, uint64_t id, uint64_t mark,
                        Error *error) {
    BatchItem *item = &batch->item[index];
    *item = (BatchItem){.batch = batch, .world = request_find_world(request, id)};
    if (item->world == NULL) {
        return STATUS_OK;
    }
    batch->meets = batch->meets || host_is_changing(item->world);
    if (item->world->batch_mark == mark) {
        char field[32];
        snprintf(field, sizeof(field), "worlds[%zu]", index);
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "World %" PRIu64 " is listed twice.", id);
    }
    item->world->batch_mark = mark;
    return STATUS_OK;
}

// How many worlds ahead of the one being found are asked for.
enum { PREFETCH_WORLDS = 8 };

static Status refuse_count(size_t count, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                     "%zu worlds are more than one request may name, whose memory is some frames "
                     "(option --frame-bytes-max).",
                     count);
}

Status batch_prepare(Request *request, size_t count, const uint64_t *worlds, Batch **batch,
                     Error *error) {
    if (count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "worlds", "Name at least one world.");
    }
    Batch *made = arena_take(&request->arena, sizeof(*made));
    BatchItem *items = arena_take_array(&request->arena, count, sizeof(*items));
    if (made == NULL || items == NULL) {
        return refuse_count(count, error);
    }
    *made = (Batch){.request = request, .results.count = count, .item = items};
    uint64_t mark = ++request->api->batch_count;
    for (size_t i = 0; i < count; i++) {
        if (i + PREFETCH_WORLDS < count) {
            host_prefetch(request->api->def.host, worlds[i + PREFETCH_WORLDS]);
        }
        Status status = find_item(request, made, i, worlds[i], mark, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    request->plan = made;
    *batch = made;
    return STATUS_OK;
}

static void clear_result(StepResult *result) {
    memset(result, 0, offsetof(StepResult, error));
    error_clear(&result->error);
}

// ---- on a lane

// Work of less than this takes some 10 us, about what a write costs that could be shared.
enum { SHORT_STEPS = 16, SHORT_BODIES = 64 };

// A step of more bodies than these takes a short lane's patience and more: it need not be tried.
enum { LONG_BODIES = 20000 };

// Copies what the reply shows of a world that goes on with its next call before the reply is made.
static bool copy_state(const BatchItem *item, StepResult *result) {
    const World *world = item->world->door.world;
    const Batch *batch = item->batch;
    size_t count = world->body_count;
    bool one = batch->results.count == 1;
    result->pose = world->pose;
    result->velocity = world->velocity;
    if (batch->results.wants_pose && (!one || world->has_center)) {
        result->pose = arena_take_array(item->arena, count, 7 * sizeof(double));
        for (uint32_t i = 0; result->pose != NULL && i < count; i++) {
            world_body_pose(world, i, result->pose + 7 * (size_t)i);
        }
    }
    if (batch->results.wants_velocity && !one) {
        result->velocity = arena_take_array(item->arena, count, 6 * sizeof(double));
        if (result->velocity != NULL && count > 0) { // without bodies the world has no array
            memcpy(result->velocity, world->velocity, count * 6 * sizeof(double));
        }
    }
    return (result->pose != NULL && result->velocity != NULL) || count == 0;
}

// A column of a world's joints: where it stands, or a copy.
static bool copy_column(const BatchItem *item, double *column, size_t count, double **copy) {
    *copy = column;
    if (item->batch->results.count > 1 && count > 0) {
        *copy = arena_take_array(item->arena, count, sizeof(double));
        if (*copy == NULL) {
            return false;
        }
        memcpy(*copy, column, count * sizeof(double));
    }
    return true;
}

static void clear_joints(StepResult *result) {
    result->joint_count = result->joint_axis_count = result->joint_position_count = 0;
}

static Status copy_joints(const BatchItem *item, StepResult *result) {
    const Door *door = &item->world->door;
    const World *world = door->world;
    const StepResults *results = &item->batch->results;
    result->joint_count = (uint32_t)world->joint_count;
    result->joint_axis_count = (uint32_t)world->joint_axis_count;
    result->joint_position_count = (uint32_t)world->joint_position_count;
    bool copied = (!results->wants_joint_position ||
                   copy_column(item, world->joint_position, world->joint_position_count,
                               &result->joint_position)) &&
                  (!results->wants_joint_velocity ||
                   copy_column(item, world->joint_velocity, world->joint_axis_count,
                               &result->joint_velocity));
    // of a world that has done no step there is nothing to tell
    if (copied && results->wants_joint_wrench && item->begun && result->run.tally.done > 0 &&
        world->joint_count > 0) {
        result->joint_wrench =
            arena_take_array(item->arena, world->joint_count, 6 * sizeof(double));
        copied = result->joint_wrench != NULL;
        if (copied && joint_wrenches(door->stepper, world, item->arena, result->joint_wrench,
                                     result->error.status == STATUS_OK ? &result->error : NULL) !=
                          STATUS_OK) {
            result->joint_wrench = NULL; // zeros, and the error says why
        }
    }
    return copied ? STATUS_OK
                  : error_set(&result->error, STATUS_RESOURCE_EXHAUSTED, "",
                              "%zu joints are more than one request may read, whose memory is some "
                              "frames (option --frame-bytes-max).",
                              world->joint_count);
}

static void collect(const BatchItem *item, StepResult *result) {
    World *world = item->world->door.world;
    const Batch *batch = item->batch;
    result->step = world->step;
    result->time = world->time.value;
    result->body_count = world->body_count;
    for (int i = 0; item->begun && result->run.tally.done > 0 && i < 2; i++) {
        result->worst_body[i] = result->run.tally.last.worst_body[i];
    }
    if (batch->results.wants_hash) {
        result->hash = snapshot_hash(world);
    }
    if (step_results_show_bodies(&batch->results)) {
        if (!copy_state(item, result)) {
            result->body_count = 0;
            error_set(&result->error, STATUS_RESOURCE_EXHAUSTED, "",
                      "%u bodies are more than one request may read, whose memory is some frames "
                      "(option --frame-bytes-max).",
                      world->body_count);
        }
    }
    if (step_results_show_joints(&batch->results) && copy_joints(item, result) != STATUS_OK) {
        clear_joints(result);
    }
}

// The results of unknown worlds, which no lane has had until now.
static void fail_unknown(Batch *batch) {
    for (size_t i = 0; batch->has_unknown && i < batch->results.count; i++) {
        StepResult *result = &batch->results.result[i];
        if (batch->item[i].world == NULL) {
            clear_result(result);
            result->run = (StepRun){0};
            error_set(&result->error, STATUS_NOT_FOUND, "worlds",
                      "No world has the id %" PRIu64 ".", request_worlds(batch->request)[i]);
        }
    }
}

static void finish_item(Batch *batch, Lane *lane) {
    if (batch->results.count == 1 ||
        atomic_fetch_sub_explicit(&batch->left, 1, memory_order_acq_rel) == 1) {
        fail_unknown(batch);
        batch->reply(batch, lane);
    }
}

// Room for the ids of joints that break.
static bool take_broken(BatchItem *item, StepResult *result) {
    const World *world = item->world->door.world;
    if (!item->batch->results.wants_broken || world->joint_count == 0) {
        return true;
    }
    result->run.broken = arena_take_array(item->arena, world->joint_count, sizeof(uint64_t));
    if (result->run.broken == NULL) {
        error_set(&result->error, STATUS_RESOURCE_EXHAUSTED, "broken_joints",
                  "%zu joints are more than one request may list, whose memory is some frames "
                  "(option --frame-bytes-max).",
                  world->joint_count);
    }
    return result->run.broken != NULL;
}

// False: nothing is to be stepped, or nothing more.
static bool begin(BatchItem *item, StepResult *result) {
    bool stops = request_should_stop(item->batch->request, &result->error);
    if (!item->begun) {
        item->begun = true;
        stops = stops || door_step_begin(&item->world->door, item->order, item->arena, &result->run,
                                         &result->error) != STATUS_OK;
        stops = stops || !take_broken(item, result);
        // once the steps have passed, so that nothing is set where none is taken
        stops = stops ||
                (item->joints != NULL && door_change(&item->world->door, item->joints, item->arena,
                                                     NULL, NULL, &result->error) != STATUS_OK);
        if (stops) {
            result->run = (StepRun){0};
        }
    }
    return !stops;
}

// Only its own thread counts a lane's steps.
static void count_steps(Lane *lane, uint64_t count) {
    uint64_t before = atomic_load_explicit(&lane->steps, memory_order_relaxed);
    atomic_store_explicit(&lane->steps, before + count, memory_order_relaxed);
}

static BatchReserve *reserve_of(BatchItem *item) {
    Batch *batch = item->batch;
    return &batch->reserve[item - batch->item];
}

// JOB_DONE: no steps are left, or something says stop.
static JobOutcome step_on(BatchItem *item, StepResult *result, Lane *lane) {
    Request *request = item->batch->request;
    Door *door = &item->world->door;
    Error *error = &result->error;
    if (!begin(item, result)) {
        return JOB_DONE;
    }
    if (door->world->body_count > LONG_BODIES && !lane->is_long) {
        return JOB_LONG;
    }
    if (result->run.steps_left > SHORT_STEPS || door->world->body_count > SHORT_BODIES) {
        // what other requests of this turn were answered does not wait for a long job
        lane_end_turn(lane);
    }
    uint64_t done = result->run.tally.done;
    door->solver_times = &lane->solver_times; // it may be another one every time
    WorkWatch watch;
    request_watch(request, lane, lane->slice_ns, &watch); // the clock costs as much as a small step
    host_limit_step(item->world);
    Status status = door_step(door, &result->run, &lane->scratch, request_pause_ns(request, lane),
                              &watch.context, error);
    count_steps(lane, result->run.tally.done - done);
    if (door->world->faulted) { // door_step_begin lets no faulted world in
        item->has_faulted = true;
        reserve_of(item)->fault = door->stepper->fault;
        atomic_fetch_add_explicit(&request->api->faulted_steps, 1, memory_order_relaxed);
    }
    if (status != STATUS_OK || result->run.steps_left == 0) {
        return JOB_DONE;
    }
    bool stops = result->run.tally.done == done // its very first step was given up
                     ? request_watch_verdict(&watch, error) != STATUS_OK
                     : request_should_stop(request, error);
    return stops ? JOB_DONE : watch.is_put_aside ? JOB_LONG : JOB_AGAIN;
}

static void on_recorder_ready(LogWait *wait) {
    const BatchReserve *reserve =
        (const BatchReserve *)(const void *)((char *)wait - offsetof(BatchReserve, wait));
    const BatchItem *item = reserve->item;
    pool_unpark(item->batch->request->api->def.pool, &item->world->strand);
}

// What records the world must catch up before the next step.
static bool must_wait(BatchItem *item) {
    Door *door = &item->world->door;
    if (door_is_ready(door, NULL) || request_should_stop(item->batch->request, NULL)) {
        return false;
    }
    BatchReserve *reserve = reserve_of(item);
    reserve->item = item;
    reserve->wait = (LogWait){.done = on_recorder_ready};
    return !door_is_ready(door, &reserve->wait);
}

// Whether the length of the reply depends on what worlds have.
static bool shows_worlds(const Batch *batch) {
    return step_results_show_bodies(&batch->results) || step_results_show_joints(&batch->results) ||
           batch->results.wants_broken;
}

static void judge_bytes(Batch *batch, const StepSizes *sizes) {
    size_t bytes = REPLY_HEAD_OK_BYTES_MAX + BATCH_FAILURE_BYTES_MAX * batch->results.count +
                   step_codec_bytes_bound(&batch->results, sizes);
    batch->refused_bytes = bytes > batch->request->api->def.frame_bytes_max ? bytes : 0;
}

// Every world is in front of its step: those that wait go on.
static void end_meeting(Batch *batch, const BatchItem *last) {
    const StepSizes sizes = {
        .bodies = atomic_load_explicit(&batch->bodies, memory_order_relaxed),
        .joints = atomic_load_explicit(&batch->joints, memory_order_relaxed),
        .joint_axes = atomic_load_explicit(&batch->joint_axes, memory_order_relaxed),
        .joint_positions = atomic_load_explicit(&batch->joint_positions, memory_order_relaxed)};
    judge_bytes(batch, &sizes);
    Pool *pool = batch->request->api->def.pool;
    for (size_t i = 0; i < batch->results.count; i++) {
        const BatchItem *item = &batch->item[i];
        if (item != last && item->world != NULL) {
            pool_unpark(pool, &item->world->strand);
        }
    }
}

// False: it waits for the others.
static bool meet(BatchItem *item) {
    Batch *batch = item->batch;
    if (!batch->meets || item->has_met) {
        return true;
    }
    item->has_met = true;
    const World *world = item->world->door.world;
    atomic_fetch_add_explicit(&batch->bodies, world->body_count, memory_order_relaxed);
    atomic_fetch_add_explicit(&batch->joints, world->joint_count, memory_order_relaxed);
    atomic_fetch_add_explicit(&batch->joint_axes, world->joint_axis_count, memory_order_relaxed);
    atomic_fetch_add_explicit(&batch->joint_positions, world->joint_position_count,
                              memory_order_relaxed);
    if (atomic_fetch_sub_explicit(&batch->awaited, 1, memory_order_acq_rel) > 1) {
        return false;
    }
    end_meeting(batch, item);
    return true;
}

static JobOutcome work_for(BatchItem *item, StepResult *result, Lane *lane) {
    if (!item->begun) {
        clear_result(result); // not by the loop, as those of many are large
    }
    if (!meet(item)) {
        return JOB_PARKED;
    }
    if (item->batch->refused_bytes > 0) {
        finish_item(item->batch, lane);
        return JOB_DONE;
    }
    if (item->order != NULL) {
        if (must_wait(item)) {
            return JOB_PARKED;
        }
        JobOutcome outcome = step_on(item, result, lane);
        if (outcome != JOB_DONE) {
            host_publish(item->world); // those who watch see a long call go on
            return outcome;
        }
        if (result->run.tally.unconverged > 0) {
            atomic_fetch_add_explicit(&item->batch->request->api->unconverged_steps,
                                      result->run.tally.unconverged, memory_order_relaxed);
        }
        host_publish(item->world);
    } else if (item->batch->ask != NULL) {
        if (item->batch->is_long && !lane->is_long) {
            return JOB_LONG;
        }
        item->batch->ask(item, result);
    }
    collect(item, result);
    // `done` writes the line of a failed request, or of a faulted world
    item->job.urgent = result->error.status != STATUS_OK;
    finish_item(item->batch, lane);
    return JOB_DONE;
}

// The result of the only world is the lane's, whose memory is in its cache, unless the work goes on
// later.
static JobOutcome work_for_one(BatchItem *item, Lane *lane) {
    Batch *batch = item->batch;
    StepResult *kept = batch->results.result, result;
    if (item->begun) {
        result = *kept;
    }
    batch->results.result = &result;
    JobOutcome outcome = work_for(item, &result, lane);
    batch->results.result = kept;
    if (outcome != JOB_DONE && item->begun) {
        *kept = result;
    }
    return outcome;
}

static JobOutcome work_item(Job *job, Lane *lane) {
    BatchItem *item = (BatchItem *)(void *)((char *)job - offsetof(BatchItem, job));
    Batch *batch = item->batch;
    item->arena =
        batch->results.count == 1 ? &batch->request->arena : &batch->lane_memory[lane->index].arena;
    return batch->results.count == 1
               ? work_for_one(item, lane)
               : work_for(item, &batch->results.result[item - batch->item], lane);
}

// ---- on the loop thread

// Long lanes too, whose numbers come after those of the others.
static uint32_t count_lanes(const Batch *batch) {
    return 2 * pool_lane_count(batch->request->api->def.pool);
}

// What holds the results, and what the lanes may take from.
static bool take_memory(Batch *batch) {
    Host *host = batch->request->api->def.host;
    size_t count = batch->results.count;
    Arena *arena = &batch->request->arena;
    if (count > 1) {
        host_lend(host, &batch->memory);
        arena = &batch->memory.arena;
        batch->lane_memory = arena_take_array(arena, count_lanes(batch), sizeof(StockArena));
    }
    // last in the arena, as those of single worlds are seldom written
    batch->results.result = arena_take_array(arena, count, sizeof(*batch->results.result));
    batch->reserve = arena_take_array(arena, count, sizeof(*batch->reserve));
    bool has_room = batch->results.result != NULL && batch->reserve != NULL &&
                    (count == 1 || batch->lane_memory != NULL);
    if (!has_room && count > 1) {
        host_return(host, &batch->memory);
    }
    for (uint32_t i = 0; has_room && count > 1 && i < count_lanes(batch); i++) {
        host_lend(host, &batch->lane_memory[i]);
    }
    return has_room;
}

// Not before all items are done: the last of them makes the reply, of what all have copied. In the
// opposite order, so that the next batch borrows each where it was of use.
static void return_memory(Batch *batch) {
    Host *host = batch->request->api->def.host;
    if (batch->results.count > 1) {
        for (uint32_t i = count_lanes(batch); i > 0; i--) {
            host_return(host, &batch->lane_memory[i - 1]);
        }
        StockArena memory = batch->memory; // lane_memory is its own
        host_return(host, &memory);
    }
}

static void on_item_done(Job *job) {
    BatchItem *item = (BatchItem *)(void *)((char *)job - offsetof(BatchItem, job));
    Batch *batch = item->batch;
    if (item->has_faulted) {
        request_note_fault(batch->request, item->world->id, &reserve_of(item)->fault);
    }
    host_release(item->world);
    if (--batch->unfinished == 0) {
        return_memory(batch);
        request_finish(batch->request);
    }
}

static size_t count_known(const Batch *batch) {
    size_t known = 0;
    for (size_t i = 0; i < batch->results.count; i++) {
        known += batch->item[i].world != NULL;
    }
    return known;
}

static void submit_item(Batch *batch, BatchItem *item) {
    const ApiDef *def = &batch->request->api->def;
    host_retain(item->world);
    item->job = (Job){.work = work_item, .done = on_item_done};
    pool_submit(def->pool, &item->world->strand, request_share(batch->request), &item->job);
}

static JobOutcome reply_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Batch *batch = request->plan;
    fail_unknown(batch);
    batch->reply(batch, lane);
    return JOB_DONE;
}

static void on_replied(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    return_memory(request->plan);
    request_finish(request);
}

// There may be many failures to be told.
static void reply_without_worlds(Request *request) {
    strand_init_long(&request->strand);
    request->job = (Job){.work = reply_on_lane, .done = on_replied};
    pool_submit(request->api->def.pool, &request->strand, request_share(request), &request->job);
}

static void add_published(const WorldFigures *figures, StepSizes *sizes) {
    sizes->bodies += atomic_load_explicit(&figures->bodies, memory_order_relaxed);
    sizes->joints += atomic_load_explicit(&figures->joints, memory_order_relaxed);
    sizes->joint_axes += atomic_load_explicit(&figures->joint_axes, memory_order_relaxed);
    sizes->joint_positions += atomic_load_explicit(&figures->joint_positions, memory_order_relaxed);
}

// Judges the reply's length where it is known already, or has the worlds meet.
static Status count_worlds(Batch *batch, size_t known, Error *error) {
    if (!shows_worlds(batch)) {
        batch->meets = false;
        return STATUS_OK;
    }
    // the lane of a single world counts what it has without waiting for anybody
    batch->meets = batch->meets || batch->results.count == 1;
    atomic_store_explicit(&batch->awaited, known, memory_order_relaxed);
    if (batch->meets) {
        return STATUS_OK;
    }
    StepSizes sizes = {0};
    for (size_t i = 0; i < batch->results.count; i++) {
        const WorldEntry *world = batch->item[i].world;
        if (world != NULL) {
            add_published(&world->figures, &sizes);
        }
    }
    judge_bytes(batch, &sizes);
    return batch->refused_bytes == 0
               ? STATUS_OK
               : request_refuse_length(batch->request, batch->refused_bytes, error);
}

Status batch_submit(Batch *batch, Error *error) {
    if (!take_memory(batch)) {
        return refuse_count(batch->results.count, error);
    }
    size_t known = count_known(batch);
    batch->has_unknown = known < batch->results.count;
    if (count_worlds(batch, known, error) != STATUS_OK) {
        return_memory(batch);
        return error->status;
    }
    atomic_store_explicit(&batch->left, known, memory_order_relaxed);
    batch->unfinished = known;
    if (known == 0) {
        reply_without_worlds(batch->request);
        return STATUS_OK;
    }
    for (size_t i = 0; i < batch->results.count; i++) {
        if (batch->item[i].world != NULL) {
            submit_item(batch, &batch->item[i]);
        }
    }
    return STATUS_OK;
}

// ---- replies

// Of the bytes each failure was promised its other ones.
size_t batch_texts_bytes_max(const Batch *batch, size_t bytes) {
    const size_t frame = batch->request->api->def.frame_bytes_max;
    bytes += REPLY_HEAD_OK_BYTES_MAX + BATCH_FAILURE_BYTES_MAX * batch->results.count;
    return bytes < frame ? frame - bytes : 0;
}

static void fill_failure(const Batch *batch, size_t index, Moreau__V1__Status *status) {
    const StepResult *result = &batch->results.result[index];
    moreau__v1__status__init(status);
    status->has_code = status->has_world = status->has_recoverable = 1;
    status->code = (Moreau__V1__Status__Code)result->error.status;
    status->message = (char *)result->error.message;
    status->field = result->error.field[0] != '\0' ? (char *)result->error.field : NULL;
    status->world = request_worlds(batch->request)[index];
    if (batch->item[index].world != NULL) {
        status->has_step = 1;
        status->step = result->step;
    }
    status->recoverable = status_is_recoverable(result->error.status);
}

static size_t text_bytes(const Error *error) {
    return strlen(error->message) + strlen(error->field);
}

bool batch_failures(Batch *batch, size_t texts_bytes_max, Moreau__V1__Status ***list,
                    size_t *count) {
    Arena *arena = &batch->request->arena;
    size_t failed = 0, texts_bytes = 0;
    *count = 0;
    for (size_t i = 0; i < batch->results.count; i++) {
        failed += batch->results.result[i].error.status != STATUS_OK;
    }
    if (failed == 0) {
        return true;
    }
    *list = arena_take_array(arena, failed, sizeof(**list));
    Moreau__V1__Status *statuses = arena_take_array(arena, failed, sizeof(*statuses));
    if (*list == NULL || statuses == NULL) {
        return false;
    }
    for (size_t i = 0; i < batch->results.count; i++) {
        const Error *error = &batch->results.result[i].error;
        if (error->status == STATUS_OK) {
            continue;
        }
        Moreau__V1__Status *status = &statuses[*count];
        (*list)[(*count)++] = status;
        fill_failure(batch, i, status);
        texts_bytes += text_bytes(error);
        if (texts_bytes > texts_bytes_max) {
            status->message = status->field = NULL;
        }
    }
    return true;
}

// Only the call is cancelled or late, never a world.
void batch_status(const Batch *batch, Moreau__V1__Status *const *failures, size_t count,
                  Error *error) {
    error_clear(error);
    for (size_t i = 0; i < count; i++) {
        Status status = (Status)failures[i]->code;
        if (status == STATUS_CANCELLED || status == STATUS_DEADLINE_EXCEEDED) {
            request_should_stop(batch->request, error);
            return;
        }
    }
}
