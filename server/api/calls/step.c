// SPDX-License-Identifier: MIT
// WorldStep and WorldHash: many worlds in one call (batch.h), one packed reply.
#include "api/calls/batch.h"
#include "wire/wire.h"
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
    for (size_t i = 0; i < message->n_wrench; i++) {
        if (range_check(RANGE_WRENCH, message->wrench[i], "wrench", (int64_t)i, error) !=
            STATUS_OK) {
            return error->status;
        }
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

// ---- joints

// How many joints, and axes of them, are a world's.
static size_t joints_of(const Moreau__V1__WorldStep *message, size_t world) {
    return message->n_joint_count > 0 ? message->joint_count[world]
           : world == 0               ? message->n_joints
                                      : 0;
}

static size_t axes_of(const Moreau__V1__WorldStep *message, size_t world) {
    return message->n_joint_axis_count > 0 ? message->joint_axis_count[world]
                                           : joints_of(message, world);
}

static Status check_joint_counts(const Moreau__V1__WorldStep *message, Error *error) {
    const size_t worlds = message->n_worlds;
    if (message->n_joint_count == 0 && message->n_joints > 0 && worlds > 1) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "joint_count",
                         "With several worlds, say how many of the joints belong to each.");
    }
    if ((message->n_joint_count > 0 && message->n_joint_count != worlds) ||
        (message->n_joint_axis_count > 0 && message->n_joint_axis_count != worlds)) {
        return error_set(error, STATUS_INVALID_ARGUMENT,
                         message->n_joint_count > 0 && message->n_joint_count != worlds
                             ? "joint_count"
                             : "joint_axis_count",
                         "One count per world: there are %zu worlds.", worlds);
    }
    uint64_t joints = 0;
    for (size_t i = 0; i < worlds; i++) {
        joints += joints_of(message, i);
    }
    return joints == message->n_joints ? STATUS_OK
                                       : error_set(error, STATUS_INVALID_ARGUMENT, "joint_count",
                                                   "The counts make %llu joints; there are %zu.",
                                                   (unsigned long long)joints, message->n_joints);
}

static Status check_joints(const Moreau__V1__WorldStep *message, Error *error) {
    Status status = check_joint_counts(message, error);
    const bool has_columns = message->n_joint_target > 0 || message->n_joint_target_velocity > 0 ||
                             message->n_joint_effort > 0;
    if (status != STATUS_OK || !has_columns) {
        return status;
    }
    const RangeColumn columns[] = {
        {RANGE_JOINT_POSITION, message->joint_target, "joint_target"},
        {RANGE_JOINT_VELOCITY, message->joint_target_velocity, "joint_target_velocity"},
        {RANGE_JOINT_EFFORT, message->joint_effort, "joint_effort"}};
    const size_t lengths[] = {message->n_joint_target, message->n_joint_target_velocity,
                              message->n_joint_effort};
    uint64_t axes = 0;
    for (size_t i = 0; i < message->n_worlds; i++) {
        axes += axes_of(message, i);
    }
    for (size_t i = 0; status == STATUS_OK && i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (lengths[i] != 0 && lengths[i] != axes) {
            return error_set(error, STATUS_INVALID_ARGUMENT, columns[i].field,
                             "Column %s has %zu numbers; for these joints it has %llu (one per "
                             "free axis: joint_axis_count) or none.",
                             columns[i].field, lengths[i], (unsigned long long)axes);
        }
        status = range_check_columns(&columns[i], 1, lengths[i], error);
    }
    return status;
}

static const double *part_of(size_t length, const double *values, size_t first) {
    return length == 0 ? NULL : values + first;
}

// What is set in each world that has joints here.
static Status make_joints(const Moreau__V1__WorldStep *message, Batch *batch, Error *error) {
    size_t joint = 0, axis = 0;
    for (size_t i = 0; i < batch->results.count; i++) {
        const size_t count = joints_of(message, i), axes = axes_of(message, i);
        batch->item[i].joints = NULL;
        if (count > 0) {
            Input *set = arena_take_zeroed(&batch->request->arena, 1, sizeof(*set));
            if (set == NULL) {
                return error_set(error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                                 "%zu worlds with joints are more than one request may name.",
                                 batch->results.count);
            }
            set->kind = INPUT_SET;
            set->set.joints = (JointUpdate){
                .count = count,
                .id = message->joints + joint,
                .axis_count = axes,
                .target = part_of(message->n_joint_target, message->joint_target, axis),
                .target_velocity =
                    part_of(message->n_joint_target_velocity, message->joint_target_velocity, axis),
                .effort = part_of(message->n_joint_effort, message->joint_effort, axis)};
            batch->item[i].joints = set;
        }
        joint += count;
        axis += axes;
    }
    return STATUS_OK;
}

Status command_world_step_judge(Request *request, Error *error) {
    Status status = check_step(request->message->world_step, error);
    return STATUS_THEN(status, check_joints(request->message->world_step, error));
}

static StepResults wanted_results(const Moreau__V1__WorldStep *message) {
    return (StepResults){.count = message->n_worlds,
                         .wants_pose = message->poses,
                         .wants_velocity = message->velocities,
                         .wants_single = message->single,
                         .wants_reports = message->reports,
                         .wants_hash = message->hashes,
                         .wants_joint_position = message->joint_positions,
                         .wants_joint_velocity = message->joint_velocities,
                         .wants_joint_wrench = message->joint_wrenches,
                         .wants_broken = message->broken_joints};
}

// Beside the columns of bodies and joints, which batch.h counts.
size_t command_world_step_bytes(const Request *request) {
    StepResults results = wanted_results(request->message->world_step);
    return BATCH_FAILURE_BYTES_MAX * results.count +
           step_codec_bytes_bound(&results, &(StepSizes){0});
}

Status command_world_step_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldStep *message = request->message->world_step;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    status = STATUS_THEN(status, make_orders(message, batch, error));
    status = STATUS_THEN(status, make_joints(message, batch, error));
    if (status != STATUS_OK) {
        return status;
    }
    batch->results = wanted_results(message);
    batch->reply = reply_step;
    return batch_submit(batch, error);
}

// ---- the reply

typedef struct StepReply {
    const Batch *batch;
    Moreau__V1__Status **failures;
    size_t failure_count;
} StepReply;

static uint8_t *write_reply(uint8_t *at, const void *context) {
    const StepReply *reply = context;
    return step_codec_pack(&reply->batch->results, reply->failures, reply->failure_count, at);
}

static void reply_error(Batch *batch, Lane *lane, const Error *error) {
    Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
    request_reply(batch->request, lane, &empty, error);
}

static void reply_step(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    const StepResults *results = &batch->results;
    Error error;
    if (batch->refused_bytes > 0) {
        request_refuse_length(request, batch->refused_bytes, &error);
        reply_error(batch, lane, &error);
        return;
    }
    StepReply reply = {.batch = batch};
    size_t bytes = step_codec_bytes_max(results, NULL, 0);
    if (!batch_failures(batch, batch_texts_bytes_max(batch, bytes), &reply.failures,
                        &reply.failure_count)) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "The call was carried out, but memory ended while its failures were told: ask "
                  "for fewer worlds.");
        reply_error(batch, lane, &error);
        return;
    }
    batch_status(batch, reply.failures, reply.failure_count, &error);
    ReplyBody body = {
        .field = MOREAU__V1__REPLY__RESULT_WORLD_STEP,
        .bytes_max = step_codec_bytes_max(results, reply.failures, reply.failure_count),
        .write = write_reply,
        .context = &reply,
    };
    request_reply_written(request, lane, &body, &error);
}

// ---- hash

static size_t hash_bytes_bound(size_t count) {
    return 2 * (size_t)WIRE_HEAD_BYTES_MAX + (8 + WIRE_VARINT_BYTES_MAX) * count;
}

size_t command_world_hash_bytes(const Request *request) {
    size_t count = request->message->world_hash->n_worlds;
    return BATCH_FAILURE_BYTES_MAX * count + hash_bytes_bound(count);
}

static void reply_hash(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    Arena *arena = &request->arena;
    size_t count = batch->results.count;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldHashReply message = MOREAU__V1__WORLD_HASH_REPLY__INIT;
    Error error;
    message.hash = arena_take_array(arena, count, sizeof(uint64_t));
    message.step = arena_take_array(arena, count, sizeof(uint64_t));
    if (message.hash == NULL || message.step == NULL ||
        !batch_failures(batch, batch_texts_bytes_max(batch, hash_bytes_bound(count)),
                        &message.failures, &message.n_failures)) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "Memory ended: ask for fewer worlds.");
        reply_error(batch, lane, &error);
        return;
    }
    batch_status(batch, message.failures, message.n_failures, &error);
    for (size_t i = 0; i < count; i++) {
        const StepResult *result = &batch->results.result[i];
        bool failed = result->error.status != STATUS_OK;
        message.hash[i] = failed ? 0 : result->hash;
        message.step[i] = failed ? 0 : result->step;
    }
    message.n_hash = message.n_step = count;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_HASH;
    reply.world_hash = &message;
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
