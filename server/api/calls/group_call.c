// SPDX-License-Identifier: MIT
#include "api/calls/group_call.h"

#include "api/calls/group_follow.h"
#include "os/clock.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// Calls of so few worlds find room in the request's own memory.
enum { LEND_WORLDS = 16 };

// The clock is read after 1, 2, 4 … rows, about so often.
enum { LOOK_NS = 50000 };

static Status refuse_memory(const GroupRun *run, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "mask",
                     "Memory ended: step fewer worlds than %zu at once.", run->call.count);
}

// ---- asking

static Status check_mask(const GroupEntry *entry, GroupMask mask, size_t *chosen, Error *error) {
    const size_t bytes = ((size_t)entry->count + 7) / 8;
    if (mask.count != bytes) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "mask",
                         "A mask of %u worlds has %zu bytes, not %zu.", entry->count, bytes,
                         mask.count);
    }
    const uint32_t spare = entry->count % 8;
    if (spare != 0 && mask.bytes[bytes - 1] >> spare != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "mask",
                         "The mask names a world beyond the last, %u.", entry->count - 1);
    }
    *chosen = 0;
    for (size_t i = 0; i < bytes; i++) {
        *chosen += (size_t)__builtin_popcount(mask.bytes[i]);
    }
    return *chosen > 0 ? STATUS_OK
                       : error_set(error, STATUS_INVALID_ARGUMENT, "mask",
                                   "The mask names no world; leave it out to name all.");
}

// A world that was sent takes no other call.
static Status check_free(const GroupRun *run, Error *error) {
    const GroupMail *mail = run->entry->mail;
    for (size_t i = 0; i < run->call.count; i++) {
        const uint32_t world = group_call_world(&run->call, i);
        if (!group_mail_is_free(mail, world)) {
            return error_set(error, STATUS_FAILED_PRECONDITION, "mask",
                             "World %u was sent (GroupSend): receive it first (GroupReceive).",
                             world);
        }
    }
    return STATUS_OK;
}

// Of a mask that has passed.
static bool list_worlds(GroupRun *run, GroupMask mask, Arena *arena) {
    uint32_t *world = arena_take_array(arena, run->call.count, sizeof(*world));
    size_t at = 0;
    for (uint32_t i = 0; world != NULL && i < run->entry->count; i++) {
        if (mask.bytes[i / 8] >> i % 8 & 1) {
            world[at++] = i;
        }
    }
    run->call.world = world;
    return world != NULL;
}

static bool reply_when_whole(GroupRun *run, Lane *lane);
static const GroupAnswer replies = {.worked = reply_when_whole, .has_opinions = true};

static void release_run(Request *request) {
    GroupRun *run = request->plan;
    if (run->is_lent) {
        StockArena memory = run->memory;
        host_return(request->api->def.host, &memory);
    }
    farm_release(run->entry);
}

static Arena *memory_of(GroupRun *run) {
    return run->is_lent ? &run->memory.arena : &run->request->arena;
}

Status group_run_prepare(Request *request, uint64_t group, GroupMask mask, GroupRun **run,
                         Error *error) {
    Host *host = request->api->def.host;
    GroupEntry *entry = farm_find(request->api->def.farm, group, request_view(request));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".",
                         group);
    }
    size_t count = entry->count;
    if (mask.is_given && check_mask(entry, mask, &count, error) != STATUS_OK) {
        return error->status;
    }
    GroupRun *made = arena_take_zeroed(&request->arena, 1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended.");
    }
    made->request = request;
    made->entry = entry;
    made->answer = &replies;
    made->call.group = entry->group;
    made->call.count = count;
    farm_retain(entry);
    made->is_lent = count > LEND_WORLDS;
    if (made->is_lent) {
        host_lend(host, &made->memory);
    }
    request->plan = made;
    request->finish = release_run;
    *run = made;
    if (mask.is_given && count < entry->count && !list_worlds(made, mask, memory_of(made))) {
        return refuse_memory(made, error);
    }
    made->count = count;
    if (check_free(made, error) != STATUS_OK) {
        return error->status;
    }
    const size_t bytes = REPLY_HEAD_OK_BYTES_MAX + group_codec_bytes_bound(entry->group, count);
    return bytes <= request->api->def.frame_bytes_max
               ? STATUS_OK
               : request_refuse_length(request, bytes, error);
}

Status group_run_check_column(const GroupRun *run, size_t length, size_t columns, const char *name,
                              Error *error) {
    if (length == run->call.count * columns) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, name,
                     "Column %s has %zu numbers; for %zu worlds it has %zu (%zu each).", name,
                     length, run->call.count, run->call.count * columns, columns);
}

Status group_run_take_actions(GroupRun *run, size_t count, const float *action, size_t double_count,
                              const double *action_double, Error *error) {
    const size_t columns = run->call.group->action.column_count;
    if (count > 0 && double_count > 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "action_double",
                         "Give actions as floats or as doubles, not both.");
    }
    if (double_count > 0) {
        run->call.action_double = action_double;
        return group_run_check_column(run, double_count, columns, "action_double", error);
    }
    run->call.action = action;
    return group_run_check_column(run, count, columns, "action", error);
}

Status group_check_returns(const GroupEntry *entry, const GroupReturns *returns, Error *error) {
    if (returns->world_count == 0 && returns->value_count == 0 && returns->doubtful_count == 0) {
        return STATUS_OK;
    }
    if (entry->recorder == NULL || !group_recorder_wants_returns(entry->recorder)) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "return_sum",
                         "Nobody keeps these returns: the group is not recorded "
                         "(GroupCreate.record), or not with returns.");
    }
    if (returns->world_count != returns->value_count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "return_sum",
                         "There are %zu returns of %zu worlds: give one for each.",
                         returns->value_count, returns->world_count);
    }
    if (returns->doubtful_count > 0 &&
        (returns->doubtful_count != returns->value_count || !entry->group->opinion.is_asked)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "return_doubtful",
                         "Give what was earned in doubtful steps for each of the %zu returns, of a "
                         "group with an opinion (GroupCreate.opinion), not %zu.",
                         returns->value_count, returns->doubtful_count);
    }
    for (size_t i = 0; i < returns->world_count; i++) {
        char field[48];
        if (returns->world[i] >= entry->count) {
            snprintf(field, sizeof(field), "return_world[%zu]", i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "The group has the worlds 0 to %u, not %u.", entry->count - 1,
                             returns->world[i]);
        }
        const bool is_sum = !isfinite(returns->value[i]);
        if (is_sum || (returns->doubtful_count > 0 && !isfinite(returns->doubtful[i]))) {
            snprintf(field, sizeof(field), "%s[%zu]", is_sum ? "return_sum" : "return_doubtful", i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "Every number must be finite: NaN and infinity are refused.");
        }
    }
    return STATUS_OK;
}

Status group_run_take_returns(GroupRun *run, GroupReturns returns, Error *error) {
    run->returns = returns;
    return group_check_returns(run->entry, &returns, error);
}

// ---- the reply

static uint8_t *write_reply(uint8_t *at, const void *context) {
    return group_codec_pack(context, at);
}

void group_fill_failure(const Error *error, uint32_t world, Moreau__V1__Status *status) {
    moreau__v1__status__init(status);
    status->has_code = status->has_world = status->has_recoverable = 1;
    status->code = (Moreau__V1__Status__Code)error->status;
    status->message = (char *)error->message;
    status->field = error->field[0] != '\0' ? (char *)error->field : NULL;
    status->world = world;
    status->recoverable = status_is_recoverable(error->status);
}

const char *group_recording_ended(const GroupEntry *entry, Arena *arena) {
    if (entry->recorder == NULL || group_recorder_status(entry->recorder, NULL) == STATUS_OK) {
        return NULL;
    }
    Error *why = arena_take(arena, sizeof(*why));
    if (why == NULL) {
        return NULL;
    }
    group_recorder_status(entry->recorder, why);
    return why->message;
}

// What is left of a frame goes to the texts; the last ones may have none.
bool group_run_list_failures(const Request *request, const GroupEntry *entry, GroupRows *rows,
                             Arena *arena) {
    const GroupCall *call = rows->call;
    const size_t frame = request->api->def.frame_bytes_max,
                 used = REPLY_HEAD_OK_BYTES_MAX + group_codec_bytes_bound(call->group, rows->count);
    size_t room = used < frame ? frame - used : 0, failed = 0;
    const char *ended = group_recording_ended(entry, arena);
    if (ended != NULL && strlen(ended) < room) {
        rows->recording_ended = ended;
        room -= strlen(ended);
    }
    for (size_t i = 0; i < rows->count; i++) {
        failed += call->row[group_rows_at(rows, i)].has_failed;
    }
    if (failed == 0) {
        return true;
    }
    rows->failures = arena_take_array(arena, failed, sizeof(*rows->failures));
    Moreau__V1__Status *statuses = arena_take_array(arena, failed, sizeof(*statuses));
    if (rows->failures == NULL || statuses == NULL) {
        return false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        const size_t row = group_rows_at(rows, i);
        if (!call->row[row].has_failed) {
            continue;
        }
        Moreau__V1__Status *status = &statuses[rows->failure_count];
        rows->failures[rows->failure_count++] = status;
        group_fill_failure(&call->error[row], group_call_world(call, row), status);
        const size_t bytes = strlen(call->error[row].message) + strlen(call->error[row].field);
        room = bytes <= room ? room - bytes : 0;
        if (room == 0) {
            status->message = status->field = NULL;
        }
    }
    return true;
}

// Only the call is cancelled or late, never a world.
static void judge_call(const GroupRun *run, const GroupRows *rows, Error *error) {
    error_clear(error);
    for (size_t i = 0; i < rows->failure_count; i++) {
        const Status status = (Status)rows->failures[i]->code;
        if (status == STATUS_CANCELLED || status == STATUS_DEADLINE_EXCEEDED) {
            request_should_stop(run->request, error);
            return;
        }
    }
}

static void reply(GroupRun *run, Lane *lane) {
    Request *request = run->request;
    GroupRows rows = {.call = &run->call, .count = run->call.count, .opinions = run->told};
    Error error;
    if (!group_run_list_failures(request, run->entry, &rows, memory_of(run))) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "mask",
                  "The call was carried out, but memory ended while its failures were told: name "
                  "fewer worlds.");
        Moreau__V1__Reply empty = MOREAU__V1__REPLY__INIT;
        request_reply(request, lane, &empty, &error);
        return;
    }
    judge_call(run, &rows, &error);
    const ReplyBody body = {.field = MOREAU__V1__REPLY__RESULT_GROUP_STEP,
                            .bytes_max = group_codec_bytes_max(&rows),
                            .write = write_reply,
                            .context = &rows};
    request_reply_written(request, lane, &body, &error);
}

// The last part to finish makes it. Soon done with is what leaves a line of what went wrong.
static bool reply_when_whole(GroupRun *run, Lane *lane) {
    if (atomic_fetch_sub_explicit(&run->left, 1, memory_order_acq_rel) > 1) {
        return false;
    }
    reply(run, lane);
    return run->request->status != STATUS_OK;
}

// ---- on a lane

// How rows went, for the figures.
typedef struct PartTally {
    uint64_t steps, episodes, unconverged, faulted;
} PartTally;

static void tally_row(const GroupCall *call, size_t row, PartTally *tally) {
    const GroupRow *became = &call->row[row];
    const GroupWorld *world = &call->group->world[group_call_world(call, row)];
    tally->steps += call->verb == GROUP_STEP ? world->substep : 0;
    tally->episodes += became->ended != 0;
    tally->unconverged += became->unconverged;
    tally->faulted += became->has_faulted;
}

// Only its own thread counts a lane's steps.
static void publish(const GroupRun *run, Lane *lane, const PartTally *tally) {
    Api *api = run->request->api;
    const uint64_t before = atomic_load_explicit(&lane->steps, memory_order_relaxed);
    atomic_store_explicit(&lane->steps, before + tally->steps, memory_order_relaxed);
    atomic_fetch_add_explicit(&run->entry->steps, tally->steps, memory_order_relaxed);
    if (tally->episodes > 0) {
        atomic_fetch_add_explicit(&run->entry->episodes, tally->episodes, memory_order_relaxed);
    }
    if (tally->unconverged > 0) {
        atomic_fetch_add_explicit(&api->unconverged_steps, tally->unconverged,
                                  memory_order_relaxed);
    }
    if (tally->faulted > 0) {
        atomic_fetch_add_explicit(&api->faulted_steps, tally->faulted, memory_order_relaxed);
    }
}

static void give_up_rows(GroupPart *part, const Error *why, Lane *lane, PartTally *tally) {
    GroupCall *call = &part->run->call;
    for (; part->next < part->end; part->next++) {
        const size_t row = group_run_row_at(part->run, part->next);
        group_give_up_row(call, row, why, &lane->scratch);
        tally_row(call, row, tally);
    }
}

// A row was left in the middle: goes on later, or ends here.
static JobOutcome stop_row(GroupPart *part, const WorkWatch *watch, Lane *lane, PartTally *tally) {
    Error error;
    error_clear(&error);
    if (watch->is_put_aside) {
        return JOB_LONG;
    }
    if (request_watch_verdict(watch, &error) == STATUS_OK) {
        return JOB_AGAIN;
    }
    if (request_should_stop(part->run->request, NULL)) {
        give_up_rows(part, &error, lane, tally);
        return JOB_DONE;
    }
    const size_t row = group_run_row_at(part->run, part->next++);
    group_give_up_row(&part->run->call, row, &error, &lane->scratch);
    tally_row(&part->run->call, row, tally);
    return part->next < part->end ? JOB_AGAIN : JOB_DONE;
}

static JobOutcome run_rows(GroupPart *part, Lane *lane, PartTally *tally) {
    const Request *request = part->run->request;
    GroupCall *call = &part->run->call;
    uint64_t looked_ns = lane->slice_ns;
    uint32_t stride = 1, since = 0;
    WorkWatch watch;
    request_watch(request, lane, lane->slice_ns, &watch);
    while (part->next < part->end) {
        const size_t row = group_run_row_at(part->run, part->next);
        if (!group_run_row(call, row, &lane->scratch, &watch.context)) {
            return stop_row(part, &watch, lane, tally);
        }
        tally_row(call, row, tally);
        part->next++;
        if (++since < stride || part->next == part->end) {
            continue;
        }
        const uint64_t now_ns = clock_now_ns();
        Error error;
        if (request_should_stop(request, &error)) {
            give_up_rows(part, &error, lane, tally);
            break;
        }
        if (now_ns >= lane_pause_ns(lane)) {
            return JOB_AGAIN;
        }
        stride = now_ns - looked_ns < LOOK_NS / 2 ? 2 * stride : stride > 1 ? stride / 2 : 1;
        looked_ns = watch.begun_ns = now_ns;
        since = 0;
    }
    return JOB_DONE;
}

// What the run keeps must be kept up with before a part of it begins.
static bool must_wait(GroupPart *part) {
    const GroupRun *run = part->run;
    bool must = false;
    for (uint32_t i = 0; i < run->follower_count && !must; i++) {
        must = run->follower[i]->must_wait != NULL && run->follower[i]->must_wait(part);
    }
    return must;
}

static void end_part(GroupPart *part, Lane *lane) {
    GroupRun *run = part->run;
    bool is_awaited = false;
    for (uint32_t i = 0; i < run->follower_count; i++) {
        run->follower[i]->worked(part);
        is_awaited = is_awaited || run->follower[i]->is_awaited;
    }
    farm_count_block(run->entry, part->block, false);
    part->job.urgent = run->answer->worked(run, lane) || is_awaited;
}

static JobOutcome work_part(Job *job, Lane *lane) {
    GroupPart *part = (GroupPart *)(void *)((char *)job - offsetof(GroupPart, job));
    GroupRun *run = part->run;
    PartTally tally = {0};
    if (must_wait(part)) {
        return JOB_PARKED;
    }
    Error error;
    error_clear(&error);
    JobOutcome outcome = JOB_DONE;
    if (request_should_stop(run->request, &error)) {
        give_up_rows(part, &error, lane, &tally);
    } else {
        outcome = run_rows(part, lane, &tally);
    }
    publish(run, lane, &tally);
    if (outcome == JOB_DONE) {
        end_part(part, lane);
    }
    return outcome;
}

// ---- on the loop thread

static void on_part_done(Job *job) {
    const GroupPart *part = (GroupPart *)(void *)((char *)job - offsetof(GroupPart, job));
    GroupRun *run = part->run;
    if (run->answer->taken != NULL) {
        run->answer->taken(run, part);
    }
    for (uint32_t i = 0; i < run->follower_count; i++) {
        if (run->follower[i]->taken != NULL) {
            run->follower[i]->taken(run, part);
        }
    }
    if (--run->unfinished > 0) {
        return;
    }
    for (uint32_t i = 0; i < run->follower_count; i++) {
        run->follower[i]->close(run);
    }
    request_finish(run->request);
}

static uint32_t world_at(const GroupRun *run, size_t place) {
    return group_call_world(&run->call, group_run_row_at(run, place));
}

// The rows of each block that has some.
static void cut(GroupRun *run) {
    GroupEntry *entry = run->entry;
    const uint32_t block_worlds = entry->block[0].count;
    size_t place = 0;
    while (place < run->count) {
        GroupBlock *block = &entry->block[world_at(run, place) / block_worlds];
        const uint32_t world_end = block->first + block->count;
        GroupPart *part = &run->part[run->part_count++];
        *part = (GroupPart){.run = run, .block = block, .first = place, .next = place};
        while (place < run->count && world_at(run, place) < world_end) {
            place++;
        }
        part->end = place;
    }
}

Status group_run_reserve(GroupRun *run, bool wants_rows, Error *error) {
    if (group_call_check(&run->call, error) != STATUS_OK) {
        return error->status;
    }
    const uint32_t blocks = run->entry->block_count;
    const size_t parts = run->count < blocks ? run->count : blocks;
    const size_t records = run->entry->recorder == NULL ? 0 : run->count;
    run->part = arena_take_array(memory_of(run), parts, sizeof(GroupPart));
    // seldom written, so seldom more than a promise of memory
    run->record = arena_take_array(memory_of(run), records, sizeof(EpisodeRecord));
    return run->part == NULL || run->record == NULL ||
                   (wants_rows && !group_call_take(&run->call, memory_of(run)))
               ? refuse_memory(run, error)
               : STATUS_OK;
}

static void start(GroupRun *run) {
    Pool *pool = run->request->api->def.pool;
    cut(run);
    run->entry->calls += run->call.verb != GROUP_READ;
    group_follow(run);
    for (uint32_t i = 0; i < run->follower_count; i++) {
        if (run->follower[i]->open != NULL) {
            run->follower[i]->open(run);
        }
    }
    run->unfinished = run->part_count;
    atomic_store_explicit(&run->left, run->part_count, memory_order_relaxed);
    for (size_t i = 0; i < run->part_count; i++) {
        GroupPart *part = &run->part[i];
        part->job = (Job){.work = work_part, .done = on_part_done};
        pool_submit(pool, &part->block->strand, request_share(run->request), &part->job);
    }
}

// Its turn among the group's calls. What a reply has no room for in memory stays for the next one.
// A GroupRead is none that opinions are due behind, and tells none.
static void start_in_turn(OpinionWait *wait) {
    GroupRun *run = (GroupRun *)(void *)((char *)wait - offsetof(GroupRun, turn));
    Opinions *opinions = run->entry->opinions;
    if (run->call.verb != GROUP_READ) {
        run->opinions_call = opinions_open_call(opinions);
        if (run->answer->has_opinions) {
            opinions_take(opinions, false, run->entry->count, memory_of(run), &run->told);
        }
    }
    start(run);
}

void group_run_start(GroupRun *run) {
    if (run->entry->opinions == NULL) {
        start(run);
        return;
    }
    run->turn = (OpinionWait){.ready = start_in_turn};
    opinions_wait(run->entry->opinions, &run->turn);
}
