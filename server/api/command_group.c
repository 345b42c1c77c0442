// SPDX-License-Identifier: MIT
// The family group: Create, Destroy, List. A group is made of its template on one lane, then its
// worlds block by block on all of them; either all are there in the end, or nothing is. (Reset and
// Step: command_group_step.c.)
#include "api/episode.h"
#include "api/group_call.h"
#include "api/request.h"
#include "api/span.h"
#include "os/clock.h"
#include "run/farm.h"
#include "step/snapshot.h"
#include "wire/group_def.h"
#include "wire/scene.h"
#include "wire/scene_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct MakePlan MakePlan;

typedef struct MakePart {
    Job job;
    MakePlan *plan;
    uint32_t block, made; // worlds of it
} MakePart;

struct MakePlan {
    Request *request;
    GroupDef def;
    ScenePlan scene;
    char client[HOST_NAME_BYTES]; // the session's may change while a lane reads it
    char recording[UID_TEXT_BYTES];
    WorldEntry *source; // retained; NULL: of a scene
    GroupEntry *entry;  // referenced, from prepare on
    Job template_job;
    MakePart *part;
    uint32_t unfinished;
    Moreau__V1__GroupCreateReply message;
    Error error;            // of the template, or of the first world that failed
    atomic_flag has_failed; // whoever sets it writes the error, on its lane
};

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                     "Memory ended while making a group: ask for fewer worlds.");
}

// ---- the end, on the loop thread

static void release_plan(Request *request) {
    MakePlan *plan = request->plan;
    if (plan->source != NULL) {
        host_release(plan->source);
    }
    if (plan->entry != NULL) {
        farm_release(plan->entry);
    }
}

static void answer(MakePlan *plan) {
    Request *request = plan->request;
    const GroupEntry *entry = plan->entry;
    if (plan->error.status == STATUS_OK && entry->recorder != NULL) {
        group_recorder_status(entry->recorder, &plan->error);
    }
    if (plan->error.status == STATUS_OK && !request_should_stop(request, &plan->error)) {
        farm_list(plan->entry, &plan->error);
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    if (plan->error.status == STATUS_OK) {
        plan->message.has_group = plan->message.has_bytes = 1;
        plan->message.group = plan->entry->id;
        plan->message.bytes = plan->entry->own_bytes +
                              atomic_load_explicit(&plan->entry->bytes, memory_order_relaxed);
        reply.result_case = MOREAU__V1__REPLY__RESULT_GROUP_CREATE;
        reply.group_create = &plan->message;
    }
    request_reply(request, NULL, &reply, &plan->error);
    request_finish(request);
}

// ---- the worlds

static void fail(MakePlan *plan, const Error *error) {
    if (!atomic_flag_test_and_set(&plan->has_failed)) {
        plan->error = *error; // the others have no need of going on, but they are short
    }
}

// A world needs about what the template takes, and as much again to be stepped.
static JobOutcome make_on_lane(Job *job, Lane *lane) {
    MakePart *part = (MakePart *)(void *)((char *)job - offsetof(MakePart, job));
    MakePlan *plan = part->plan;
    Group *group = plan->entry->group;
    GroupBlock *block = &plan->entry->block[part->block];
    const Host *host = plan->request->api->def.host;
    const size_t bytes = 2 * world_bytes(group->template);
    Error error;
    error_clear(&error);
    const uint64_t pause_ns = request_pause_ns(plan->request, lane);
    while (part->made < block->count) {
        if (request_should_stop(plan->request, &error) ||
            host_check_memory(host, bytes, &error) != STATUS_OK ||
            group_add_world(group, block->first + part->made, &error) != STATUS_OK) {
            fail(plan, &error);
            break;
        }
        part->made++;
        if (clock_now_ns() >= pause_ns && part->made < block->count) {
            farm_count_block(plan->entry, block, true);
            return JOB_AGAIN;
        }
    }
    farm_count_block(plan->entry, block, true);
    job->urgent = true; // the answer is the loop's
    return JOB_DONE;
}

static void on_made(Job *job) {
    MakePlan *plan = ((MakePart *)(void *)((char *)job - offsetof(MakePart, job)))->plan;
    if (--plan->unfinished == 0) {
        answer(plan);
    }
}

static void make_worlds(MakePlan *plan) {
    const Request *request = plan->request;
    plan->unfinished = plan->entry->block_count;
    for (uint32_t i = 0; i < plan->entry->block_count; i++) {
        MakePart *part = &plan->part[i];
        *part = (MakePart){.plan = plan, .block = i};
        part->job = (Job){.work = make_on_lane, .done = on_made};
        pool_submit(request->api->def.pool, &plan->entry->block[i].strand, request_share(request),
                    &part->job);
    }
}

// ---- the template

static Status build_template(const MakePlan *plan, World **world, Error *error) {
    Stepper *stepper;
    Status status = apply_create(host_limits(plan->request->api->def.host), world, &stepper, error);
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; status == STATUS_OK && i < plan->scene.input_count; i++) {
        status = apply_change(*world, stepper, &plan->scene.input[i], &plan->request->arena, NULL,
                              NULL, error);
        if (status != STATUS_OK) {
            scene_translate(&plan->scene, i, error);
        }
    }
    stepper_destroy(stepper);
    if (status != STATUS_OK) {
        world_destroy(*world);
    }
    return status;
}

static Status clone_template(const MakePlan *plan, Lane *lane, World **world, Error *error) {
    uint8_t *bytes;
    size_t count;
    const ArenaMark mark = arena_mark(&lane->scratch);
    Status status = snapshot_write(plan->source->door.world, &lane->scratch, &bytes, &count, error);
    if (status == STATUS_OK) {
        status =
            snapshot_read(bytes, count, host_limits(plan->request->api->def.host), world, error);
    }
    arena_reset_to(&lane->scratch, mark);
    return status;
}

// All of the reply that follows from the template.
static Status describe(MakePlan *plan, Error *error) {
    const GroupEntry *entry = plan->entry;
    const Group *group = entry->group;
    Arena *arena = &plan->request->arena;
    Moreau__V1__GroupCreateReply *message = &plan->message;
    moreau__v1__group_create_reply__init(message);
    message->name = (char *)entry->name;
    message->has_count = message->has_template_hash = message->has_time_step = 1;
    message->count = group->count;
    message->template_hash = group->template_hash;
    message->time_step = group->time_step;
    message->action = group_def_columns(group, &group->action, NULL, arena);
    message->observation = group_def_columns(group, &group->observation, NULL, arena);
    message->extra = group_def_columns(group, &group->extra, NULL, arena);
    message->noise = group_def_columns(group, &group->noise, group->drawn, arena);
    if (message->action == NULL || message->observation == NULL || message->extra == NULL ||
        message->noise == NULL) {
        return out_of_memory(error);
    }
    enum { LATER_BYTES = 128 }; // id, bytes, recording
    const size_t bytes = REPLY_HEAD_OK_BYTES_MAX + LATER_BYTES +
                         moreau__v1__group_create_reply__get_packed_size(message);
    return bytes <= plan->request->api->def.frame_bytes_max
               ? STATUS_OK
               : request_refuse_length(plan->request, bytes, error);
}

static Status record(MakePlan *plan, Error *error) {
    const Moreau__V1__GroupRecord *record = plan->request->message->group_create->record;
    if (record == NULL) {
        return STATUS_OK;
    }
    GroupEntry *entry = plan->entry;
    const bool is_named = record->name != NULL && record->name[0] != '\0';
    GroupRecorderDef def = {.def = &plan->def,
                            .wants_returns = record->returns,
                            .name = is_named ? record->name : entry->name,
                            .label_count = record->n_labels,
                            .label = (const char *const *)record->labels,
                            .client = plan->client,
                            .group_name = entry->name,
                            .print_scene = scene_print};
    Status status = farm_record(entry, plan->request->api->def.log, &def, error);
    if (status == STATUS_OK) {
        uid_text(group_recorder_uid(entry->recorder), plan->recording);
        plan->message.recording = plan->recording;
    }
    return status;
}

static Status make_template(MakePlan *plan, Lane *lane, Error *error) {
    World *world;
    Status status = plan->source == NULL ? build_template(plan, &world, error)
                                         : clone_template(plan, lane, &world, error);
    if (status != STATUS_OK) {
        return status;
    }
    Group *group;
    const size_t bytes = plan->def.count * (world_bytes(world) + sizeof(Stepper));
    status = host_check_memory(plan->request->api->def.host, bytes, error);
    if (status != STATUS_OK) {
        world_destroy(world);
        return status;
    }
    status = group_create(&plan->def, world, &group, error);
    if (status == STATUS_OK) {
        status = farm_set_group(plan->entry, group, error);
    }
    if (status == STATUS_OK) {
        plan->part =
            arena_take_array(&plan->request->arena, plan->entry->block_count, sizeof(MakePart));
        status = plan->part == NULL ? out_of_memory(error) : describe(plan, error);
    }
    return status == STATUS_OK ? record(plan, error) : status;
}

static JobOutcome template_on_lane(Job *job, Lane *lane) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    if (request_wants_long(plan->request, lane)) {
        return JOB_LONG;
    }
    if (!request_should_stop(plan->request, &plan->error)) {
        make_template(plan, lane, &plan->error);
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_template(Job *job) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    if (plan->error.status == STATUS_OK) {
        make_worlds(plan);
    } else {
        answer(plan);
    }
}

// ---- asking

static Status judge_record(const Request *request, Error *error) {
    const Moreau__V1__GroupRecord *record = request->message->group_create->record;
    if (record == NULL) {
        return STATUS_OK;
    }
    if (request->api->def.log == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "record",
                         "This server keeps no episodes: start it with --db FILE.");
    }
    Status status = episode_check_build(request, error);
    return status == STATUS_OK
               ? episode_check_labels(record->n_labels, record->labels, "record.labels", error)
               : status;
}

Status command_group_create_judge(Request *request, Error *error) {
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    MakePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    plan->request = request;
    request->plan = plan;
    Status status = group_def_read(message, &request->arena, &plan->def, error);
    if (status == STATUS_OK && message->scene != NULL) {
        status = scene_plan(message->scene, NULL, &request->arena, &plan->scene, error);
    }
    return status == STATUS_OK ? judge_record(request, error) : status;
}

static const char *choose_name(const Moreau__V1__GroupCreate *message, const WorldEntry *source) {
    const char *scene = message->scene == NULL ? NULL : message->scene->name;
    return message->name != NULL && message->name[0] != '\0' ? message->name
           : source != NULL                                  ? source->name
           : scene != NULL                                   ? scene
                                                             : "";
}

Status command_group_create_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    MakePlan *plan = request->plan;
    Host *host = request->api->def.host;
    Strand *strand;
    if (message->has_world) {
        WorldEntry *source = host_find(host, message->world);
        if (source == NULL) {
            return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".",
                             message->world);
        }
        host_retain(source);
        plan->source = source;
    }
    request->finish = release_plan;
    snprintf(plan->client, sizeof(plan->client), "%s", request->session->client);
    if (group_def_check(&plan->def, error) != STATUS_OK) {
        return error->status;
    }
    const WorldOwner owner = request_owner(request, message->lifetime);
    Status status = farm_add(host_farm(host), choose_name(message, plan->source), &owner,
                             plan->def.count, &plan->entry, error);
    if (status != STATUS_OK) {
        return status;
    }
    strand = plan->source != NULL ? &plan->source->strand : &plan->entry->strand;
    plan->template_job = (Job){.work = template_on_lane, .done = on_template};
    pool_submit(request->api->def.pool, strand, request_share(request), &plan->template_job);
    return STATUS_OK;
}

// ---- destroy, list

// What a client counted of the last episodes comes with it.
static Status end_recording(GroupEntry *entry, const Moreau__V1__GroupDestroy *destroy,
                            Error *error) {
    const GroupReturns returns = GROUP_RETURNS(destroy);
    Status status = group_check_returns(entry, &returns, error);
    if (status == STATUS_OK && entry->recorder != NULL) {
        const uint64_t call = group_recorder_open_call(entry->recorder);
        group_add_returns(entry->recorder, call, &returns);
        group_recorder_close_call(entry->recorder, call);
        entry->end_state = RECORDING_COMPLETE;
    }
    return status;
}

Status command_group_destroy_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupDestroy *destroy = request->message->group_destroy;
    GroupEntry *entry = farm_find(host_farm(request->api->def.host), destroy->group);
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".",
                         destroy->group);
    }
    Status status = end_recording(entry, destroy, error);
    if (status != STATUS_OK) {
        return status;
    }
    request->plan = entry->recorder; // a mark that something is waited for, and no more
    request_submit(request);
    if (entry->recorder != NULL) {
        entry->end_wait = request_wait(request);
    }
    farm_destroy(entry);
    return STATUS_OK;
}

// Answers when the recording, if any, is on the disk.
Status command_group_destroy(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    static Moreau__V1__GroupDestroyReply message = MOREAU__V1__GROUP_DESTROY_REPLY__INIT;
    if (request->plan != NULL && !request->is_resumed) {
        request->outcome = JOB_PARKED;
        return STATUS_OK;
    }
    if (request->plan != NULL && request->wait.error.status != STATUS_OK) {
        *error = request->wait.error;
        return error->status;
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_GROUP_DESTROY;
    reply->group_destroy = &message;
    return STATUS_OK;
}

// The loop thread writes them, and others wait for it.
enum { LIST_MAX = 1000 };

static bool describe_group(const GroupEntry *entry, Arena *arena, Moreau__V1__GroupInfo *info) {
    moreau__v1__group_info__init(info);
    info->has_group = info->has_lifetime = info->has_count = info->has_bodies = 1;
    info->has_steps = info->has_episodes = info->has_bytes = 1;
    info->group = entry->id;
    info->name = (char *)entry->name;
    info->lifetime = entry->session == 0 ? MOREAU__V1__WORLD__LIFETIME__SERVER
                                         : MOREAU__V1__WORLD__LIFETIME__SESSION;
    info->client = (char *)entry->client;
    info->count = entry->count;
    info->bodies = entry->bodies;
    info->steps = atomic_load_explicit(&entry->steps, memory_order_relaxed);
    info->episodes = atomic_load_explicit(&entry->episodes, memory_order_relaxed);
    info->bytes = entry->own_bytes + atomic_load_explicit(&entry->bytes, memory_order_relaxed);
    if (entry->recorder != NULL) {
        info->recording = arena_take(arena, UID_TEXT_BYTES);
        if (info->recording == NULL) {
            return false;
        }
        uid_text(group_recorder_uid(entry->recorder), info->recording);
    }
    return true;
}

Status command_group_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__GroupList *list = request->message->group_list;
    const Farm *farm = host_farm(request->api->def.host);
    Arena *arena = &request->arena;
    Span span = span_of(list->first, list->has_count, list->count, farm_count(farm));
    span.count = span.count < LIST_MAX ? span.count : LIST_MAX;
    Moreau__V1__GroupListReply *message = arena_take(arena, sizeof(*message));
    Moreau__V1__GroupInfo **rows = arena_take_array(arena, span.count, sizeof(*rows));
    Moreau__V1__GroupInfo *info = arena_take_array(arena, span.count, sizeof(*info));
    bool has_room = message != NULL && rows != NULL && info != NULL;
    for (size_t i = 0; has_room && i < span.count; i++) {
        const GroupEntry *entry = farm_at(farm, (uint32_t)(span.first + i));
        has_room = describe_group(entry, arena, &info[i]);
        rows[i] = &info[i];
    }
    if (!has_room) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                         "Memory ended while listing groups: ask for a range.");
    }
    moreau__v1__group_list_reply__init(message);
    message->groups = rows;
    message->n_groups = span.count;
    message->has_total = 1;
    message->total = farm_count(farm);
    reply->result_case = MOREAU__V1__REPLY__RESULT_GROUP_LIST;
    reply->group_list = message;
    return STATUS_OK;
}
