// SPDX-License-Identifier: MIT
// GroupSave: a group as bytes (run/groups/save.h), between the calls before it and those behind it.
//
//   loop: all second opinions of the calls before are there ─► lanes: each block's key-frame, in
//   the block's own order, and what of it is recorded so far ─► loop: its episodes that wait for
//   no return ─► log: all of that is committed ─► a lane: one piece of bytes, kept as a snapshot
//   ─► loop: the answer
#include "api/calls/group_call.h"
#include "os/clock.h"
#include "run/groups/save.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct SavePlan SavePlan;

// The key-frame of one block.
typedef struct SavePart {
    Job job;
    SavePlan *plan;
    GroupBlock *block;
    uint32_t done; // worlds
    uint8_t *bytes;
    size_t used, capacity;
} SavePart;

struct SavePlan {
    Request *request;
    GroupEntry *entry;        // retained
    StoredSnapshot *snapshot; // referenced
    Id id;                    // of it
    OpinionWait turn;         // of a group with second opinions
    bool is_begun, is_stopped;
    GroupSave save;
    SavePart *part; // [blocks]
    uint32_t unfinished;
    Error error;             // of the first block that failed
    _Atomic bool has_failed; // whoever sets it writes the error, on its lane
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while saving a group.");
}

// ---- the end, on the loop thread

static void finish_plan(Request *request) {
    SavePlan *plan = request->plan;
    for (uint32_t i = 0; plan->part != NULL && i < plan->entry->block_count; i++) {
        host_count_bytes(request->api->def.host, plan->part[i].capacity, 0);
        free(plan->part[i].bytes);
    }
    // one that was not filled is none
    if (!atomic_load_explicit(&plan->snapshot->filled, memory_order_acquire)) {
        snapshot_store_drop(plan->snapshot);
    }
    snapshot_store_release(plan->snapshot);
    farm_release(plan->entry);
}

static void answer(const SavePlan *plan) {
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__GroupSaveReply message = MOREAU__V1__GROUP_SAVE_REPLY__INIT;
    if (plan->error.status == STATUS_OK) {
        message.has_snapshot = message.has_bytes = message.has_calls = 1;
        message.snapshot = plan->id;
        message.bytes = plan->snapshot->total_bytes;
        message.calls = plan->save.calls;
        reply.result_case = MOREAU__V1__REPLY__RESULT_GROUP_SAVE;
        reply.group_save = &message;
    }
    request_reply(plan->request, NULL, &reply, &plan->error);
    request_finish(plan->request);
}

static void on_job_done(Job *job) {
    answer(((Request *)(void *)((char *)job - offsetof(Request, job)))->plan);
}

// ---- one piece

static Status assemble(SavePlan *plan, Error *error) {
    const uint32_t blocks = plan->entry->block_count;
    GroupSaveBytes *range = arena_take_array(&plan->request->arena, blocks, sizeof(GroupSaveBytes));
    if (range == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < blocks; i++) {
        range[i] = (GroupSaveBytes){plan->part[i].bytes, plan->part[i].used};
    }
    plan->save.range = range;
    plan->save.range_count = blocks;
    Sink counter = {0};
    group_save_write(&plan->save, &counter);
    const size_t bytes = counter.count + SNAPSHOT_CHECKSUM_BYTES;
    if (stored_snapshot_reserve(plan->snapshot, bytes, error) != STATUS_OK) {
        return error->status;
    }
    Sink sink = {.bytes = plan->snapshot->bytes};
    group_save_write(&plan->save, &sink);
    sink_u64(&sink, hash_bytes(plan->snapshot->bytes, sink.count, 0));
    plan->snapshot->received_bytes = sink.count;
    stored_snapshot_seal(plan->snapshot);
    return STATUS_OK;
}

static JobOutcome assemble_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    SavePlan *plan = request->plan;
    if (request_wants_long(request, lane)) {
        return JOB_LONG;
    }
    if (plan->entry->recorder != NULL && !request->is_resumed) {
        request->is_resumed = true;
        log_sync(request->api->def.log, request_wait(request));
        return JOB_PARKED;
    }
    if (request->is_resumed && request->wait.error.status != STATUS_OK) {
        plan->error = request->wait.error;
    } else if (!request_should_stop(request, &plan->error)) {
        assemble(plan, &plan->error);
    }
    job->urgent = true; // the answer is the loop's
    return JOB_DONE;
}

// ---- the blocks

static void fail(SavePlan *plan, const Error *error) {
    if (!atomic_exchange_explicit(&plan->has_failed, true, memory_order_relaxed)) {
        plan->error = *error;
    }
}

static Status reserve(SavePart *part, size_t count, Error *error) {
    const Host *host = part->plan->request->api->def.host;
    if (count <= part->capacity - part->used) {
        return STATUS_OK;
    }
    const size_t needed = part->used + count,
                 capacity = needed < 2 * part->capacity ? 2 * part->capacity : needed;
    if (host_check_memory(host, capacity - part->capacity, error) != STATUS_OK) {
        return error->status;
    }
    uint8_t *grown = realloc(part->bytes, capacity);
    if (grown == NULL) {
        return out_of_memory(error);
    }
    host_count_bytes(part->plan->request->api->def.host, part->capacity, capacity);
    part->bytes = grown;
    part->capacity = capacity;
    return STATUS_OK;
}

static Status begin_block(SavePart *part, Error *error) {
    const GroupKeyframe keyframe = {.call = part->plan->save.calls, .count = part->block->count};
    if (reserve(part, GROUP_KEYFRAME_HEAD_BYTES, error) == STATUS_OK) {
        Sink sink = {.bytes = part->bytes};
        group_keyframe_begin(&keyframe, &sink);
        part->used = sink.count;
    }
    return error->status;
}

static Status add_world(SavePart *part, Arena *scratch, Error *error) {
    const Group *group = part->plan->entry->group;
    const uint32_t i = part->block->first + part->done;
    const ArenaMark mark = arena_mark(scratch);
    uint8_t *bytes;
    size_t count;
    if (snapshot_write_named(group->world[i].world, scratch, &bytes, &count, error) == STATUS_OK &&
        reserve(part, group_keyframe_world_bytes(group, count), error) == STATUS_OK) {
        Sink sink = {.bytes = part->bytes + part->used};
        group_keyframe_add(group, i, bytes, count, &sink);
        part->used += sink.count;
        part->done++;
    }
    arena_reset_to(scratch, mark);
    return error->status;
}

static JobOutcome save_on_lane(Job *job, Lane *lane) {
    SavePart *part = (SavePart *)(void *)((char *)job - offsetof(SavePart, job));
    SavePlan *plan = part->plan;
    const uint64_t pause_ns = request_pause_ns(plan->request, lane);
    Error error;
    error_clear(&error);
    if (part->used == 0) {
        begin_block(part, &error);
    }
    while (error.status == STATUS_OK && part->done < part->block->count) {
        if (atomic_load_explicit(&plan->has_failed, memory_order_relaxed) ||
            request_should_stop(plan->request, &error)) {
            break;
        }
        add_world(part, &lane->scratch, &error);
        if (clock_now_ns() >= pause_ns && part->done < part->block->count &&
            error.status == STATUS_OK) {
            return JOB_AGAIN;
        }
    }
    GroupRecorder *recorder = plan->entry->recorder;
    if (error.status != STATUS_OK) {
        fail(plan, &error);
    } else if (recorder != NULL) {
        group_recorder_flush_range(recorder, (uint32_t)(part->block - plan->entry->block));
    }
    job->urgent = true; // the next piece of work is the loop's
    return JOB_DONE;
}

static void on_saved(Job *job) {
    SavePlan *plan = ((SavePart *)(void *)((char *)job - offsetof(SavePart, job)))->plan;
    if (--plan->unfinished > 0) {
        return;
    }
    if (plan->error.status == STATUS_OK) {
        if (plan->entry->recorder != NULL) {
            group_recorder_flush(plan->entry->recorder);
        }
        request_take_turn(plan->request, assemble_on_lane, on_job_done);
    } else {
        answer(plan);
    }
}

// ---- its turn among the group's calls

static void note_recording(GroupSave *save, const GroupEntry *entry) {
    const GroupRecorder *recorder = entry->recorder;
    if (recorder != NULL && group_recorder_status(recorder, NULL) == STATUS_OK) {
        save->is_recorded = true;
        memcpy(save->recording, group_recorder_uid(recorder), UID_BYTES);
        save->recorded_calls = group_recorder_calls(recorder);
    }
}

// What of it belongs to the loop; then the blocks, behind all that they have to do before.
static void start(SavePlan *plan) {
    Request *request = plan->request;
    GroupEntry *entry = plan->entry;
    plan->is_begun = true;
    plan->save.range_worlds = entry->block[0].count;
    plan->save.calls = entry->calls;
    plan->save.code = (GroupSaveBytes){entry->code, entry->code_bytes};
    plan->save.group = entry->group;
    note_recording(&plan->save, entry);
    SavePart *part = arena_take_zeroed(&request->arena, entry->block_count, sizeof(*part));
    if (part == NULL || (entry->opinions != NULL &&
                         !opinions_save(entry->opinions, &request->arena, &plan->save.opinions))) {
        out_of_memory(&plan->error);
        request_take_turn(request, NULL, on_job_done);
        return;
    }
    plan->part = part;
    plan->unfinished = entry->block_count;
    for (uint32_t i = 0; i < entry->block_count; i++) {
        part[i] = (SavePart){.plan = plan, .block = &entry->block[i]};
        part[i].job = (Job){.work = save_on_lane, .done = on_saved};
        pool_submit(request->api->def.pool, &entry->block[i].strand, request_share(request),
                    &part[i].job);
    }
}

static void start_in_turn(OpinionWait *wait) {
    start((SavePlan *)(void *)((char *)wait - offsetof(SavePlan, turn)));
}

// Cancelled before its turn has come.
static void stop_waiting(Request *request) {
    SavePlan *plan = request->plan;
    if (!plan->is_begun && !plan->is_stopped) {
        plan->is_stopped = true;
        opinions_stop_waiting(plan->entry->opinions, &plan->turn);
        error_set(&plan->error, STATUS_CANCELLED, "",
                  "The request was cancelled while it waited for second opinions.");
        request_take_turn(request, NULL, on_job_done);
    }
}

// ---- asking

static Status check_home(const GroupEntry *entry, Error *error) {
    for (uint32_t i = 0; entry->mail != NULL && i < entry->count; i++) {
        if (!group_mail_is_free(entry->mail, i)) {
            return error_set(error, STATUS_FAILED_PRECONDITION, "group",
                             "World %u was sent (GroupSend) and is not back: receive all that was "
                             "sent (GroupReceive) before the group is saved.",
                             i);
        }
    }
    return STATUS_OK;
}

Status command_group_save_prepare(Request *request, Error *error) {
    const uint64_t id = request->message->group_save->group;
    GroupEntry *entry = farm_find(request->api->def.farm, id, request_view(request));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".", id);
    }
    if (check_home(entry, error) != STATUS_OK) {
        return error->status;
    }
    SavePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    const WorldOwner owner = request_owner(request, MOREAU__V1__WORLD__LIFETIME__SESSION);
    if (snapshot_store_add(request->api->def.snapshots, &owner, &plan->snapshot, error) !=
        STATUS_OK) {
        return error->status;
    }
    farm_retain(entry);
    plan->request = request;
    plan->entry = entry;
    plan->id = plan->snapshot->id;
    plan->turn = (OpinionWait){.ready = start_in_turn, .is_reader = true};
    request->plan = plan;
    request->finish = finish_plan;
    if (entry->opinions == NULL) {
        start(plan);
    } else {
        request->stopped = stop_waiting;
        opinions_wait(entry->opinions, &plan->turn);
    }
    return STATUS_OK;
}
