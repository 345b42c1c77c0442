// SPDX-License-Identifier: MIT
#include "api/calls/group_follow.h"

#include "base/assert.h"

// ---- recorded groups

static void on_log_ready(LogWait *wait) {
    const GroupPart *part =
        (const GroupPart *)(const void *)((const char *)wait - offsetof(GroupPart, wait));
    pool_unpark(part->run->request->api->def.pool, &part->block->strand);
}

// What records the group must catch up before the block's next call.
static bool must_catch_up(GroupPart *part) {
    GroupRecorder *recorder = part->run->entry->recorder;
    if (part->next > part->first || group_recorder_is_ready(recorder, NULL) ||
        request_should_stop(part->run->request, NULL)) {
        return false;
    }
    part->wait = (LogWait){.done = on_log_ready};
    return !group_recorder_is_ready(recorder, &part->wait);
}

static void record(GroupPart *part) {
    const GroupRun *run = part->run;
    const GroupEntry *entry = run->entry;
    const GroupRowsOfRange rows = {.call = &run->call,
                                   .number = run->recorded_call,
                                   .ranges = run->part_count,
                                   .order = run->order,
                                   .first = part->first,
                                   .end = part->end};
    part->finished = group_recorder_add(entry->recorder, (uint32_t)(part->block - entry->block),
                                        &rows, run->record + part->first);
}

void group_add_returns(GroupRecorder *recorder, uint64_t call, const GroupReturns *returns) {
    group_recorder_add_returns(recorder, call, returns->world, returns->value,
                               returns->doubtful_count > 0 ? returns->doubtful : NULL,
                               returns->world_count);
}

static void open_recorded(GroupRun *run) {
    run->call.hash_steps = GROUP_HASH_STEPS;
    run->recorded_call = group_recorder_open_call(run->entry->recorder);
    group_add_returns(run->entry->recorder, run->recorded_call, &run->returns);
}

static void close_recorded(GroupRun *run) {
    GroupRecorder *recorder = run->entry->recorder;
    for (size_t i = 0; i < run->part_count; i++) {
        const GroupPart *part = &run->part[i];
        group_recorder_take(recorder, run->recorded_call, run->record + part->first,
                            part->finished);
    }
    group_recorder_close_call(recorder, run->recorded_call);
}

// ---- groups with second opinions

// What rows were kept of.
static void collect_kept(GroupPart *part) {
    const GroupRun *run = part->run;
    for (size_t i = part->end; i > part->first; i--) {
        GroupRow *row = &run->call.row[group_run_row_at(run, i - 1)];
        if (row->kept != NULL) {
            row->kept->next = part->kept;
            part->kept = row->kept;
            row->kept = NULL;
        }
    }
}

static void add_kept(GroupRun *run, const GroupPart *part) {
    opinions_add(run->entry->opinions, run->opinions_call, part->kept);
}

static void close_opinions(GroupRun *run) {
    opinions_close_call(run->entry->opinions, run->opinions_call, run->recorded_call);
}

void group_follow(GroupRun *run) {
    static const GroupFollower recording = {.open = open_recorded,
                                            .must_wait = must_catch_up,
                                            .worked = record,
                                            .close = close_recorded};
    static const GroupFollower opinions = {
        .worked = collect_kept, .taken = add_kept, .close = close_opinions, .is_awaited = true};
    ASSERT(run->follower_count == 0);
    if (run->call.verb == GROUP_READ) {
        return; // which changes nothing
    }
    if (run->entry->recorder != NULL) {
        run->follower[run->follower_count++] = &recording;
    }
    if (run->entry->opinions != NULL) { // which are told of the call by its number in the record
        run->follower[run->follower_count++] = &opinions;
    }
}
