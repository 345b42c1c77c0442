// SPDX-License-Identifier: MIT
// The family group: Create, Destroy, List. A group is made of its template on one lane, then its
// worlds block by block on all of them; either all are there in the end, or nothing is. One that
// goes on from a recording is planned in the background before that, and its worlds are brought to
// where they were block by block (replay/resume/resume.h); one that was saved is read before that
// (run/groups/save.h). (Reset, Step, Read: group_step.c.)
#include "api/calls/episode.h"
#include "api/calls/group_call.h"
#include "api/calls/group_follow.h"
#include "api/hulls.h"
#include "api/request.h"
#include "api/span.h"
#include "os/clock.h"
#include "replay/resume/resume.h"
#include "run/groups/farm.h"
#include "run/groups/save.h"
#include "step/snapshot/snapshot.h"
#include "wire/group_def.h"
#include "wire/scene/scene.h"
#include "wire/scene/print.h"
#include "world/range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct MakePlan MakePlan;

typedef struct MakePart {
    Job job;
    MakePlan *plan;
    uint32_t block, made; // worlds of it
    GroupKeyframe left;   // of a group that was saved: the worlds not made yet
} MakePart;

struct MakePlan {
    Request *request;
    GroupDef def;
    ScenePlan scene;
    char client[HOST_NAME_BYTES]; // the session's may change while a lane reads it
    char recording[UID_TEXT_BYTES];
    WorldEntry *source;       // retained; NULL: of a scene, or a recording
    GroupEntry *entry;        // referenced, from prepare on, or once it is planned
    Resume *resume;           // owned; NULL: it goes on from no recording
    StoredSnapshot *snapshot; // referenced; NULL: it was not saved
    GroupSaved saved;         // what that says, …
    Arena saved_memory;       // … partly in here
    Stop stop;                // of what it plans
    size_t counted_bytes;     // of `resume`, in the memory budget
    Job template_job; // and, of one that goes on, the planning before and the counting after
    Moreau__V1__GroupResumed resumed;
    char resumed_recording[UID_TEXT_BYTES];
    char *damage[RESUME_DAMAGES_MAX];
    MakePart *part;
    uint32_t unfinished;
    Moreau__V1__GroupCreateReply message;
    Error error;             // of the template, or of the first world that failed
    _Atomic bool has_failed; // whoever sets it writes the error, on its lane
    bool tells_episodes;     // that worlds are at: a frame has room for them
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
    if (plan->resume != NULL) {
        resume_close(plan->resume);
        episode_count_memory(request, &plan->counted_bytes, 0);
    }
    if (plan->snapshot != NULL) {
        episode_count_memory(request, &plan->counted_bytes, 0);
        arena_deinit(&plan->saved_memory);
        snapshot_store_release(plan->snapshot);
    }
}

// What goes on from a recording is work for the background.
static Pool *pool_of(const MakePlan *plan) {
    const ApiDef *def = &plan->request->api->def;
    return plan->request->message->group_create->recording != NULL ? def->background : def->pool;
}

static void answer(MakePlan *plan) {
    Request *request = plan->request;
    if (plan->error.status == STATUS_OK && plan->entry->recorder != NULL) {
        group_recorder_status(plan->entry->recorder, &plan->error);
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

// ---- what is lost, of one that goes on

static bool is_given_up(void *context) {
    return request_should_stop(context, NULL);
}

// Worlds of which no episode goes on, and which episodes all of them are at. false: memory ends.
static bool tell_worlds(const MakePlan *plan, Moreau__V1__GroupResumed *told) {
    const Group *group = plan->entry->group;
    Arena *arena = &plan->request->arena;
    const size_t bytes = ((size_t)group->count + 7) / 8;
    uint8_t *over = arena_take_zeroed(arena, bytes, 1);
    told->seed = arena_take_array(arena, group->count, sizeof(*told->seed));
    told->episode = arena_take_array(arena, group->count, sizeof(*told->episode));
    if (over == NULL || told->seed == NULL || told->episode == NULL) {
        return false;
    }
    for (uint32_t i = 0; i < group->count; i++) {
        over[i / 8] |= (uint8_t)((group->world[i].is_running ? 0u : 1u) << i % 8);
        told->seed[i] = group->world[i].seed;
        told->episode[i] = group->world[i].episode;
    }
    told->n_seed = told->n_episode = plan->tells_episodes ? group->count : 0;
    told->has_over = 1;
    told->over = (ProtobufCBinaryData){.len = bytes, .data = over};
    return true;
}

static void tell_def(const GroupDef *def, Moreau__V1__GroupResumed *told) {
    told->has_double_precision = told->has_autoreset = told->has_substeps = told->has_step_limit =
        told->has_first_world = 1;
    told->first_world = def->first_world;
    told->double_precision = def->is_double;
    told->autoreset = (Moreau__V1__Group__Autoreset)def->autoreset;
    told->substeps = def->substeps;
    told->step_limit = def->step_limit;
}

// Of one that was saved.
static bool tell_saved(MakePlan *plan) {
    const GroupSaved *saved = &plan->saved;
    Moreau__V1__GroupResumed *told = &plan->resumed;
    moreau__v1__group_resumed__init(told);
    if (saved->is_recorded) {
        uid_text(saved->recording, plan->resumed_recording);
        told->recording = plan->resumed_recording;
    }
    told->has_step = 1;
    told->step = saved->calls;
    if (saved->doubtful != NULL) {
        const uint32_t count = plan->entry->count;
        told->doubtful = arena_take_array(&plan->request->arena, count, sizeof(uint64_t));
        if (told->doubtful == NULL) {
            return false;
        }
        memcpy(told->doubtful, saved->doubtful, count * sizeof(uint64_t));
        told->n_doubtful = count;
    }
    tell_def(&plan->def, told);
    plan->message.resumed = told;
    return tell_worlds(plan, told);
}

static bool tell_resumed(MakePlan *plan) {
    const ResumeFacts *facts = resume_facts(plan->resume);
    Moreau__V1__GroupResumed *told = &plan->resumed;
    moreau__v1__group_resumed__init(told);
    uid_text(facts->recording, plan->resumed_recording);
    told->recording = plan->resumed_recording;
    told->has_step = told->has_calls_lost = told->has_episodes_lost = told->has_episodes_untold = 1;
    told->step = facts->step;
    told->calls_lost = facts->calls_lost;
    told->episodes_lost = facts->episodes_lost;
    told->episodes_untold = facts->episodes_untold;
    told->n_damage = facts->damage_count;
    told->damage = plan->damage;
    for (size_t i = 0; i < facts->damage_count; i++) {
        plan->damage[i] = (char *)facts->damage[i];
    }
    tell_def(&plan->def, told);
    plan->message.resumed = told;
    return tell_worlds(plan, told);
}

// Planning and counting: what a reader is needed for and no world.
static Status look(MakePlan *plan, Error *error) {
    const Request *request = plan->request;
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    plan->stop = (Stop){.asked = is_given_up, .context = plan->request};
    if (plan->resume != NULL) {
        status = resume_count(plan->resume, reader, &plan->stop, error);
    } else {
        const ResumeDef def = {.recording = message->recording,
                               .has_step = message->has_step,
                               .step = message->step,
                               .limits = *host_limits(request->api->def.host)};
        status = resume_open(&plan->resume, &def, reader, &plan->stop, error);
    }
    log_give_reader(log, reader);
    if (status == STATUS_ABORTED) {
        request_should_stop(request, error);
    }
    return status;
}

static JobOutcome look_on_lane(Job *job, Lane *lane) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    lane_end_turn(lane);
    if (!request_should_stop(plan->request, &plan->error) &&
        look(plan, &plan->error) == STATUS_OK) {
        episode_count_memory(plan->request, &plan->counted_bytes, resume_bytes(plan->resume));
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_counted(Job *job) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    if (plan->error.status == STATUS_OK) {
        if (!tell_resumed(plan)) {
            out_of_memory(&plan->error);
        }
    }
    answer(plan);
}

// `done` on the loop, with the plan's error.
static void submit_look(MakePlan *plan, JobFinished *done) {
    Request *request = plan->request;
    strand_init_long(&request->strand);
    plan->template_job = (Job){.work = look_on_lane, .done = done};
    pool_submit(pool_of(plan), &request->strand, request_share(request), &plan->template_job);
}

// ---- the worlds

static void fail(MakePlan *plan, const Error *error) {
    if (!atomic_exchange_explicit(&plan->has_failed, true, memory_order_relaxed)) {
        plan->error = *error;
    }
}

// Brings the block's worlds, which are made, to where they were. JOB_DONE: they are there, or it
// has failed.
static JobOutcome resume_on_lane(MakePlan *plan, MakePart *part, Lane *lane, uint64_t pause_ns) {
    GroupEntry *entry = plan->entry;
    Log *log = plan->request->api->def.log;
    LogReader *reader;
    bool is_over = false;
    WorkWatch watch;
    Error error;
    error_clear(&error);
    Status status = request_take_reader(plan->request, &reader, &error);
    if (status == STATUS_OK) {
        request_watch(plan->request, lane, clock_now_ns(), &watch);
        status = resume_range(plan->resume, part->block, entry->group, reader, &lane->scratch,
                              pause_ns, &watch.context, &is_over, &error);
        log_give_reader(log, reader);
    }
    if (status == STATUS_OK && !is_over && watch.is_put_aside) {
        return JOB_LONG;
    }
    if (status == STATUS_OK && !is_over && request_watch_verdict(&watch, &error) == STATUS_OK) {
        return JOB_AGAIN;
    }
    if (error.status != STATUS_OK) {
        fail(plan, &error);
    } else if (entry->recorder != NULL) {
        group_recorder_begin_range(entry->recorder, part->block);
    }
    return JOB_DONE;
}

// Makes the block's next world, and brings it to where it was where the group was saved.
static Status make_next(const MakePlan *plan, MakePart *part, Lane *lane, Error *error) {
    Group *group = plan->entry->group;
    const uint32_t world = plan->entry->block[part->block].first + part->made;
    Status status = group_add_world(group, world, error);
    if (status != STATUS_OK || plan->snapshot == NULL) {
        return status;
    }
    if (part->made == 0) {
        status = group_save_begin_range(&plan->saved, part->block, &part->left, error);
    }
    return STATUS_THEN(status, group_save_restore_next(&plan->saved, group, world, &part->left,
                                                       &lane->scratch, error));
}

// A world needs about what the template takes, and as much again to be stepped.
static JobOutcome make_on_lane(Job *job, Lane *lane) {
    MakePart *part = (MakePart *)(void *)((char *)job - offsetof(MakePart, job));
    MakePlan *plan = part->plan;
    GroupBlock *block = &plan->entry->block[part->block];
    const Host *host = plan->request->api->def.host;
    const size_t bytes = 2 * world_bytes(plan->entry->group->template);
    Error error;
    error_clear(&error);
    const uint64_t pause_ns = request_pause_ns(plan->request, lane);
    while (part->made < block->count) {
        if (request_should_stop(plan->request, &error) ||
            host_check_charge(host, plan->entry->owner.use, bytes, &error) != STATUS_OK ||
            make_next(plan, part, lane, &error) != STATUS_OK) {
            fail(plan, &error);
            break;
        }
        part->made++;
        if (clock_now_ns() >= pause_ns && part->made < block->count) {
            farm_count_block(plan->entry, block, true);
            return JOB_AGAIN;
        }
    }
    const bool is_made = part->made == block->count &&
                         !atomic_load_explicit(&plan->has_failed, memory_order_relaxed);
    const JobOutcome outcome =
        is_made && plan->resume != NULL ? resume_on_lane(plan, part, lane, pause_ns) : JOB_DONE;
    if (is_made && plan->snapshot != NULL && plan->entry->recorder != NULL) {
        group_recorder_begin_range(plan->entry->recorder, part->block);
    }
    farm_count_block(plan->entry, block, true);
    job->urgent = true; // the answer is the loop's
    return outcome;
}

// The loop's part of what was saved.
static void go_on(MakePlan *plan) {
    GroupEntry *entry = plan->entry;
    entry->calls = plan->saved.calls;
    const bool has_room =
        entry->opinions == NULL || opinions_go_on(entry->opinions, &plan->saved.opinions);
    if (!has_room || !tell_saved(plan)) {
        out_of_memory(&plan->error);
    }
}

static void on_made(Job *job) {
    MakePlan *plan = ((MakePart *)(void *)((char *)job - offsetof(MakePart, job)))->plan;
    if (--plan->unfinished > 0) {
        return;
    }
    if (plan->resume != NULL && plan->error.status == STATUS_OK) {
        submit_look(plan, on_counted);
        return;
    }
    if (plan->snapshot != NULL && plan->error.status == STATUS_OK) {
        go_on(plan);
    }
    answer(plan);
}

static void make_worlds(MakePlan *plan) {
    const Request *request = plan->request;
    plan->unfinished = plan->entry->block_count;
    for (uint32_t i = 0; i < plan->entry->block_count; i++) {
        MakePart *part = &plan->part[i];
        *part = (MakePart){.plan = plan, .block = i};
        part->job = (Job){.work = make_on_lane, .done = on_made};
        pool_submit(pool_of(plan), &plan->entry->block[i].strand, request_share(request),
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
        status = hulls_build(&plan->scene.input[i], &plan->request->arena, error);
        status = STATUS_THEN(status, apply_change(*world, stepper, &plan->scene.input[i],
                                                  &plan->request->arena, NULL, NULL, error));
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
    // id, bytes, recording; and what is told of one that goes on
    enum { LATER_BYTES = 256 + RESUME_DAMAGES_MAX * (RESUME_DAMAGE_BYTES + 8) };
    const size_t bytes = REPLY_HEAD_OK_BYTES_MAX + LATER_BYTES + group->count / 8 +
                         moreau__v1__group_create_reply__get_packed_size(message);
    const size_t room = plan->request->api->def.frame_bytes_max;
    enum { EPISODE_BYTES_MAX = 2 * 10 }; // two numbers
    plan->tells_episodes = bytes + (size_t)EPISODE_BYTES_MAX * group->count <= room;
    return bytes <= room ? STATUS_OK : request_refuse_length(plan->request, bytes, error);
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
                            .keyframe_steps = record->keyframe_steps,
                            .name = is_named ? record->name : entry->name,
                            .label_count = record->n_labels,
                            .label = (const char *const *)record->labels,
                            .client = plan->client,
                            .space = plan->request->home,
                            .use = plan->request->session->use,
                            .group_name = entry->name,
                            .print_scene = scene_print};
    if (plan->resume != NULL) {
        const ResumeFacts *facts = resume_facts(plan->resume);
        def.has_parent = true;
        def.parent_step = facts->step;
        memcpy(def.parent, facts->recording, UID_BYTES);
    }
    if (plan->snapshot != NULL && plan->saved.is_recorded) {
        def.has_parent = true;
        def.parent_step = plan->saved.recorded_calls;
        memcpy(def.parent, plan->saved.recording, UID_BYTES);
    }
    Status status = episode_check_room(plan->request, error);
    status = STATUS_THEN(status, farm_record(entry, plan->request->api->def.log, &def, error));
    if (status == STATUS_OK) {
        uid_text(group_recorder_uid(entry->recorder), plan->recording);
        plan->message.recording = plan->recording;
    }
    return status;
}

static Status find_template(const MakePlan *plan, Lane *lane, World **world, Error *error) {
    if (plan->resume != NULL) {
        return resume_template(plan->resume, world, error);
    }
    if (plan->snapshot != NULL) {
        return group_save_template(&plan->saved, host_limits(plan->request->api->def.host), world,
                                   error);
    }
    return plan->source == NULL ? build_template(plan, world, error)
                                : clone_template(plan, lane, world, error);
}

// 0: as many as suit the template.
static uint32_t block_worlds(const MakePlan *plan) {
    return plan->resume != NULL     ? resume_range_worlds(plan->resume)
           : plan->snapshot != NULL ? plan->saved.range_worlds
                                    : 0;
}

static Status make_template(MakePlan *plan, Lane *lane, Error *error) {
    World *world;
    Status status = find_template(plan, lane, &world, error);
    if (status != STATUS_OK) {
        return status;
    }
    Group *group;
    const size_t bytes = plan->def.count * (world_bytes(world) + sizeof(Stepper));
    status = host_check_charge(plan->request->api->def.host, plan->entry->owner.use, bytes, error);
    if (status != STATUS_OK) {
        world_destroy(world);
        return status;
    }
    status = group_create(&plan->def, world, &group, error);
    status = STATUS_THEN(status, farm_set_group(plan->entry, group, block_worlds(plan), error));
    status = STATUS_THEN(status, farm_keep_code(plan->entry, &plan->def, error));
    if (status == STATUS_OK) {
        plan->part =
            arena_take_array(&plan->request->arena, plan->entry->block_count, sizeof(MakePart));
        status = plan->part == NULL ? out_of_memory(error) : describe(plan, error);
    }
    return STATUS_THEN(status, record(plan, error));
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
    if (record->keyframe_steps < 1 || record->keyframe_steps > RECORDER_KEYFRAME_STEPS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "record.keyframe_steps",
                         "There are 1 to %d calls between key-frames, not %" PRIu64 ".",
                         RECORDER_KEYFRAME_STEPS_MAX, record->keyframe_steps);
    }
    Status status = episode_check_build(request, error);
    return STATUS_THEN(
        status, episode_check_labels(record->n_labels, record->labels, "record.labels", error));
}

// What a recording says, or a saved group, is not said again. `what` it goes on from.
static Status judge_nothing_else(const Moreau__V1__GroupCreate *message, const char *what,
                                 Error *error) {
    const struct {
        const char *name;
        bool is_given;
    } fields[] = {{"scene", message->scene != NULL},
                  {"world", message->has_world},
                  {"count", message->has_count},
                  {"seed", message->has_seed},
                  {"first_world", message->has_first_world},
                  {"action", message->n_action > 0},
                  {"observation", message->n_observation > 0},
                  {"extra", message->n_extra > 0},
                  {"bounds", message->n_bounds > 0},
                  {"noise", message->n_noise > 0},
                  {"substeps", message->has_substeps},
                  {"time_step", message->has_time_step},
                  {"step_limit", message->has_step_limit},
                  {"autoreset", message->has_autoreset},
                  {"double_precision", message->has_double_precision},
                  {"parameters", message->n_parameters > 0},
                  {"pushes", message->n_pushes > 0},
                  {"opinion", message->opinion != NULL}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        if (fields[i].is_given) {
            return error_set(error, STATUS_INVALID_ARGUMENT, fields[i].name,
                             "A group that goes on from a %s is what that says: leave %s out.",
                             what, fields[i].name);
        }
    }
    return STATUS_OK;
}

static Status judge_saved(const Moreau__V1__GroupCreate *message, Error *error) {
    if (message->recording != NULL || message->has_step) {
        return error_set(error, STATUS_INVALID_ARGUMENT, message->has_step ? "step" : "recording",
                         "A group goes on from a recording or from a saved group, not from both: "
                         "leave `recording` and `step` out, or `saved`.");
    }
    return judge_nothing_else(message, "saved group", error);
}

static Status judge_recording(const Request *request, Error *error) {
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    if (judge_nothing_else(message, "recording", error) != STATUS_OK) {
        return error->status;
    }
    if (request->api->def.log == NULL) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "recording",
                         "This server keeps no episodes: start it with --db FILE.");
    }
    if (message->recording[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "recording",
                         "Name a recording: the id of one of its episodes, a beginning of it (4 "
                         "digits at least), or a name that only one has.");
    }
    return episode_check_build(request, error);
}

static Status judge_template(MakePlan *plan, const Moreau__V1__GroupCreate *message, Error *error) {
    Arena *arena = &plan->request->arena;
    if (message->has_step) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "step",
                         "Only a group that goes on from a recording begins behind a step: give "
                         "`recording`, too.");
    }
    Status status = group_def_read(message, arena, &plan->def, error);
    if (status == STATUS_OK && message->scene != NULL) {
        status = scene_plan(message->scene, NULL, arena, &plan->scene, error);
    }
    return status;
}

Status command_group_create_judge(Request *request, Error *error) {
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    MakePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    plan->request = request;
    request->plan = plan;
    Status status = message->has_saved           ? judge_saved(message, error)
                    : message->recording != NULL ? judge_recording(request, error)
                                                 : judge_template(plan, message, error);
    if (status == STATUS_OK && message->has_idle_timeout_s) {
        status =
            range_check(RANGE_IDLE_TIMEOUT, message->idle_timeout_s, "idle_timeout_s", -1, error);
    }
    return STATUS_THEN(status, judge_record(request, error));
}

static const char *choose_name(const MakePlan *plan) {
    const Moreau__V1__GroupCreate *message = plan->request->message->group_create;
    const char *scene = message->scene == NULL ? NULL : message->scene->name;
    return message->name != NULL && message->name[0] != '\0' ? message->name
           : plan->resume != NULL                            ? resume_name(plan->resume)
           : plan->source != NULL                            ? plan->source->name
           : scene != NULL                                   ? scene
                                                             : "";
}

// Its def is known: makes the template, and all behind it.
static Status add_group(MakePlan *plan, Error *error) {
    Request *request = plan->request;
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    const WorldOwner owner = request_owner(request, message->lifetime);
    Status status =
        farm_add(request->api->def.farm, choose_name(plan), &owner, plan->def.count,
                 message->has_idle_timeout_s ? message->idle_timeout_s : 0.0, &plan->entry, error);
    if (status != STATUS_OK) {
        return status;
    }
    Strand *strand = plan->source != NULL ? &plan->source->strand : &plan->entry->strand;
    plan->template_job = (Job){.work = template_on_lane, .done = on_template};
    pool_submit(pool_of(plan), strand, request_share(request), &plan->template_job);
    return STATUS_OK;
}

static JobOutcome open_saved_on_lane(Job *job, Lane *lane) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    const StoredSnapshot *snapshot = plan->snapshot;
    if (request_wants_long(plan->request, lane)) {
        return JOB_LONG;
    }
    job->urgent = true; // what comes next is the loop's
    if (request_should_stop(plan->request, &plan->error)) {
        return JOB_DONE;
    }
    Arena *memory = &plan->saved_memory;
    if (group_save_open(snapshot->bytes, snapshot->total_bytes, memory, &plan->saved,
                        &plan->error) == STATUS_OK) {
        plan->def = plan->saved.code.def;
        episode_count_memory(plan->request, &plan->counted_bytes, memory->total_bytes);
    } else {
        snprintf(plan->error.field, sizeof(plan->error.field), "saved");
    }
    return JOB_DONE;
}

static void on_opened(Job *job) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    if (plan->error.status != STATUS_OK || add_group(plan, &plan->error) != STATUS_OK) {
        answer(plan);
    }
}

// Finds what was saved, and reads it.
static Status prepare_saved(MakePlan *plan, Error *error) {
    Request *request = plan->request;
    const ApiDef *def = &request->api->def;
    if (snapshot_store_find(def->snapshots, request->message->group_create->saved,
                            request_view(request), false, &plan->snapshot, error) != STATUS_OK) {
        snprintf(error->field, sizeof(error->field), "saved");
        plan->snapshot = NULL;
        return error->status;
    }
    snapshot_store_retain(plan->snapshot);
    arena_init(&plan->saved_memory, host_limits(def->host)->bytes_max);
    strand_init(&request->strand);
    plan->template_job = (Job){.work = open_saved_on_lane, .done = on_opened};
    pool_submit(def->pool, &request->strand, request_share(request), &plan->template_job);
    return STATUS_OK;
}

static void on_planned(Job *job) {
    MakePlan *plan = (MakePlan *)(void *)((char *)job - offsetof(MakePlan, template_job));
    if (plan->error.status == STATUS_OK) {
        plan->def = *resume_def(plan->resume);
        add_group(plan, &plan->error);
    }
    if (plan->error.status != STATUS_OK) {
        answer(plan);
    }
}

Status command_group_create_prepare(Request *request, Error *error) {
    const Moreau__V1__GroupCreate *message = request->message->group_create;
    MakePlan *plan = request->plan;
    if (message->has_world) {
        WorldEntry *source = request_find_world(request, message->world);
        if (source == NULL) {
            return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %" PRIu64 ".",
                             message->world);
        }
        host_retain(source);
        plan->source = source;
    }
    request->finish = release_plan;
    snprintf(plan->client, sizeof(plan->client), "%s", request->session->client);
    if (message->has_saved) {
        return prepare_saved(plan, error);
    }
    if (message->recording != NULL) {
        submit_look(plan, on_planned);
        return STATUS_OK;
    }
    return group_def_check(&plan->def, error) == STATUS_OK ? add_group(plan, error) : error->status;
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
    GroupEntry *entry = farm_find(request->api->def.farm, destroy->group, request_view(request));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "group", "No group has the id %" PRIu64 ".",
                         destroy->group);
    }
    Status status = end_recording(entry, destroy, error);
    if (status != STATUS_OK) {
        return status;
    }
    request_submit(request);
    if (entry->recorder != NULL) {
        entry->end_wait = request_wait(request);
        request->plan = entry->end_wait; // until it has been parked
        request->is_resumed = true; // it has begun, and what the log waits with must not end before
    }
    farm_destroy(entry);
    return STATUS_OK;
}

// Answers when the recording, if any, is on the disk.
Status command_group_destroy(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    static Moreau__V1__GroupDestroyReply message = MOREAU__V1__GROUP_DESTROY_REPLY__INIT;
    if (request->plan != NULL) {
        request->plan = NULL;
        request->outcome = JOB_PARKED;
        return STATUS_OK;
    }
    if (request->is_resumed && request->wait.error.status != STATUS_OK) {
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
    info->recording_ended = (char *)group_recording_ended(entry, arena);
    return true;
}

Status command_group_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__GroupList *list = request->message->group_list;
    const Farm *farm = request->api->def.farm;
    Arena *arena = &request->arena;
    Span span =
        span_of(list->first, list->has_count, list->count, farm_count(farm, request_view(request)));
    span.count = span.count < LIST_MAX ? span.count : LIST_MAX;
    Moreau__V1__GroupListReply *message = arena_take(arena, sizeof(*message));
    Moreau__V1__GroupInfo **rows = arena_take_array(arena, span.count, sizeof(*rows));
    Moreau__V1__GroupInfo *info = arena_take_array(arena, span.count, sizeof(*info));
    bool has_room = message != NULL && rows != NULL && info != NULL;
    for (size_t i = 0; has_room && i < span.count; i++) {
        const GroupEntry *entry = farm_at(farm, (uint32_t)(span.first + i), request_view(request));
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
    message->total = farm_count(farm, request_view(request));
    reply->result_case = MOREAU__V1__REPLY__RESULT_GROUP_LIST;
    reply->group_list = message;
    return STATUS_OK;
}
