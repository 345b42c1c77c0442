// SPDX-License-Identifier: MIT
// WorldStep and WorldHash: many worlds in one call (batch.h), one packed reply.
#include "api/batch.h"
#include "world/range.h"

static const uint64_t steps_max = 1000000000000u;

static Status check_step(const Moreau__V1__WorldStep *message, Error *error) {
    if (message->steps < 1 || message->steps > steps_max) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "steps",
                         "Ask for 1 to %llu steps, not %llu.", (unsigned long long)steps_max,
                         (unsigned long long)message->steps);
    }
    if (message->has_time_step &&
        range_check(RANGE_TIME_STEP, message->time_step, "time_step", -1, error) != STATUS_OK) {
        return error->status;
    }
    size_t wrenches = message->n_wrench_body;
    if (message->n_wrench != 6 * wrenches) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "wrench",
                         "%zu bodies in wrench_body take %zu numbers, not %zu.", wrenches,
                         6 * wrenches, message->n_wrench);
    }
    if (message->n_wrench_count == 0) {
        return wrenches == 0 || message->n_worlds == 1
                   ? STATUS_OK
                   : error_set(error, STATUS_INVALID_ARGUMENT, "wrench_count",
                               "With several worlds, say how many of the wrenches belong to each.");
    }
    uint64_t total = 0;
    for (size_t i = 0; i < message->n_wrench_count; i++) {
        total += message->wrench_count[i];
    }
    if (message->n_wrench_count != message->n_worlds || total != wrenches) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "wrench_count",
                         "One count per world (%zu worlds, %zu counts), together as many as "
                         "wrench_body (%zu, not %llu).",
                         message->n_worlds, message->n_wrench_count, wrenches,
                         (unsigned long long)total);
    }
    return STATUS_OK;
}

static void reply_step(Batch *batch, Lane *lane);

// NULL: memory ended.
static const Input *make_order(const Moreau__V1__WorldStep *message, size_t first, size_t count,
                               Arena *arena) {
    Input *order = arena_take(arena, sizeof(*order));
    if (order != NULL) {
        // of the other kinds, which are longer, nothing is written or read
        order->kind = INPUT_STEP;
        order->step = (StepOrder){.steps = message->steps,
                                  .time_step = message->has_time_step ? message->time_step : 0.0,
                                  .wrench_count = count,
                                  .wrench_body = count == 0 ? NULL : message->wrench_body + first,
                                  .wrench = count == 0 ? NULL : message->wrench + 6 * first};
    }
    return order;
}

// Worlds without wrenches share one order.
static Status make_orders(const Moreau__V1__WorldStep *message, Batch *batch, Error *error) {
    const Input *plain = NULL;
    size_t first = 0;
    for (size_t i = 0; i < batch->results.count; i++) {
        size_t count = message->n_wrench_count > 0 ? message->wrench_count[i]
                       : i == 0                    ? message->n_wrench_body
                                                   : 0;
        const Input *order = count == 0 ? plain : NULL;
        if (order == NULL) {
            order = make_order(message, first, count, &batch->request->arena);
        }
        if (order == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                             "%zu worlds with wrenches are more than one request may name.",
                             batch->results.count);
        }
        plain = count == 0 ? order : plain;
        batch->item[i].order = order;
        first += count;
    }
    return STATUS_OK;
}

Status command_world_step_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldStep *message = request->message->world_step;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    if (status == STATUS_OK) {
        status = check_step(message, error);
    }
    if (status == STATUS_OK) {
        status = make_orders(message, batch, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    batch->results.wants_pose = message->poses;
    batch->results.wants_velocity = message->velocities;
    batch->results.wants_single = message->single;
    batch->results.wants_reports = message->reports;
    batch->results.wants_hash = message->hashes;
    batch->reply = reply_step;
    return batch_submit(batch, error);
}

// ---- the reply

// A call refused as a whole before any step has no result. One that was stopped has: it says how
// much was done.
static bool has_result(const Batch *batch, Status status) {
    bool result =
        status == STATUS_OK || status == STATUS_DEADLINE_EXCEEDED || status == STATUS_CANCELLED;
    for (size_t i = 0; i < batch->results.count; i++) {
        result = result || batch->results.result[i].run.tally.done > 0;
    }
    return result;
}

typedef struct StepReply {
    const Batch *batch;
    Moreau__V1__Status **failures;
    size_t failure_count;
} StepReply;

static uint8_t *write_reply(uint8_t *at, const void *context) {
    const StepReply *reply = context;
    return step_codec_pack(&reply->batch->results, reply->failures, reply->failure_count, at);
}

static void reply_step(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    Error error;
    batch_status(batch, &error);
    if (!has_result(batch, error.status)) {
        Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
        request_reply(request, lane, &empty, &error);
        return;
    }
    StepReply reply = {.batch = batch};
    reply.failures = batch_failures(batch, &reply.failure_count);
    ReplyBody body = {
        .field = MOREAU__V1__REPLY__RESULT_WORLD_STEP,
        .bytes_max = step_codec_bytes_max(&batch->results, reply.failures, reply.failure_count),
        .write = write_reply,
        .context = &reply,
    };
    request_reply_written(request, lane, &body, &error);
}

// ---- hash

static void reply_hash(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    Arena *arena = &request->arena;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldHashReply message = MOREAU__V1__WORLD_HASH_REPLY__INIT;
    Error error = {0};
    message.hash = arena_take_array(arena, batch->results.count, sizeof(uint64_t));
    message.step = arena_take_array(arena, batch->results.count, sizeof(uint64_t));
    // a hash that is missing cannot be told from one that is there: one unknown world fails the
    // call
    for (size_t i = 0; i < batch->results.count && error.status == STATUS_OK; i++) {
        error = batch->results.result[i].error;
    }
    bool has_room = message.hash != NULL && message.step != NULL;
    if (!has_room) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "Memory ended: ask for fewer worlds.");
    }
    if (has_room && error.status == STATUS_OK) {
        for (size_t i = 0; i < batch->results.count; i++) {
            message.hash[i] = batch->results.result[i].hash;
            message.step[i] = batch->results.result[i].step;
        }
        message.n_hash = message.n_step = batch->results.count;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_HASH;
        reply.world_hash = &message;
    }
    request_reply(request, lane, &reply, &error);
}

Status command_world_hash_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldHash *message = request->message->world_hash;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    if (status != STATUS_OK) {
        return status;
    }
    batch->results.wants_hash = true;
    batch->reply = reply_hash;
    return batch_submit(batch, error);
}
