// SPDX-License-Identifier: MIT
// The family episode: Compare. One job in the background steps the recording and its variants
// (replay/compare/compare.h), telling its client how far it is, and then ends what was recorded of
// them, one after the other, each when the one before it is on the disk.
#include "api/calls/compare_reply.h"
#include "api/calls/episode.h"
#include "os/clock.h"
#include "wire/convert.h"
#include "wire/scene/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// What a variant is recorded as.
typedef struct CompareName {
    char name[HOST_NAME_BYTES];
    char uid[UID_TEXT_BYTES]; // "": it is not recorded
} CompareName;

typedef struct ComparePlan {
    EpisodeRow row;
    CompareDef def;
    Comparison *comparison; // NULL: not opened yet
    SettingsChange rule[COMPARE_VARIANTS_MAX];
    CompareName name[COMPARE_VARIANTS_MAX];
    char client[HOST_NAME_BYTES]; // the session's may change while a lane reads it
    bool is_over;                 // all steps are done
    size_t stopped;               // so many variants have no recording any more
    bool is_stopping;             // the log ends the last of these
    size_t counted_bytes;         // in the memory budget
    EpisodeTold told;
    uint64_t begun_ns;
} ComparePlan;

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while comparing an episode.");
}

// ---- the plan

static Status check_range(const EpisodeRow *row, const Moreau__V1__EpisodeCompare *order,
                          Error *error) {
    bool ends_beyond = order->has_last && order->last > row->last_step;
    if (order->first > row->last_step || ends_beyond) {
        return error_set(error, STATUS_OUT_OF_RANGE, ends_beyond ? "last" : "first",
                         "The episode has the steps 0 to %" PRIu64 ".", row->last_step);
    }
    return STATUS_OK;
}

// What could not be told is refused before it is done.
static Status check_samples(const Request *request, const CompareDef *def, Error *error) {
    const uint64_t count = compare_sample_count(def);
    const uint64_t count_max =
        compare_reply_sample_count_max(request->api->def.frame_bytes_max, def->variant_count + 1);
    if (count > count_max) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "stride",
                         "A reply (option --frame-bytes-max) holds %" PRIu64
                         " samples of each of these runs, not %" PRIu64
                         ": ask for fewer with a longer `stride`.",
                         count_max, count);
    }
    return STATUS_OK;
}

static Status plan_recordings(Request *request, ComparePlan *plan, Error *error) {
    const Moreau__V1__EpisodeCompare *order = request->message->episode_compare;
    const char *stem = plan->row.name == NULL ? "" : plan->row.name;
    RecorderDef *def = arena_take_array(&request->arena, order->n_variants, sizeof(*def));
    if (def == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < order->n_variants; i++) {
        CompareName *own = &plan->name[i];
        const char *name = order->variants[i]->name;
        if (name != NULL) {
            snprintf(own->name, sizeof(own->name), "%s", name);
        } else {
            episode_number_name(stem, i + 1, own->name);
        }
        def[i] = (RecorderDef){.content = (RecordingContent)order->content,
                               .stride = order->stride,
                               .keyframe_steps = RECORDER_KEYFRAME_STEPS_DEFAULT,
                               .name = own->name,
                               .label_count = order->n_labels,
                               .label = (const char *const *)order->labels,
                               .client = plan->client,
                               .space = request->home,
                               .use = request->session->use,
                               .world_name = plan->row.world_name,
                               .print_scene = scene_print};
    }
    plan->def.record = def;
    return STATUS_OK;
}

static Status make_plan(Request *request, ComparePlan *plan, Error *error) {
    const Moreau__V1__EpisodeCompare *order = request->message->episode_compare;
    Host *host = request->api->def.host;
    Status status = episode_find(request, order->episode, &plan->row, error);
    status = STATUS_THEN(status, episode_check_row(request, &plan->row, error));
    status = STATUS_THEN(status, check_range(&plan->row, order, error));
    if (status != STATUS_OK) {
        return status;
    }
    plan->def = (CompareDef){.log = request->api->def.log,
                             .episode = &plan->row,
                             .limits = *host_limits(host),
                             .first = order->first,
                             .last = order->has_last ? order->last : plan->row.last_step,
                             .stride = order->stride,
                             .threshold = order->threshold,
                             .variant_count = order->n_variants,
                             .rule = plan->rule};
    status = check_samples(request, &plan->def, error);
    if (status == STATUS_OK) {
        size_t worlds = order->n_variants + 1;
        status = host_check_memory(host, worlds * episode_player_bytes(&plan->row), error);
    }
    if (status == STATUS_OK && order->record) {
        status = episode_check_room(request, error);
        status = STATUS_THEN(status, plan_recordings(request, plan, error));
    }
    return STATUS_THEN(status, compare_open(&plan->comparison, &plan->def, error));
}

// ---- the work

// Steps for a while. request->outcome: what the lane is to do next, where it is not over.
static Status step(Request *request, Lane *lane, ComparePlan *plan, Error *error) {
    while (!plan->is_over) {
        WorkWatch watch;
        bool progressed;
        const uint64_t now_ns = clock_now_ns();
        if (request_should_stop(request, error)) {
            return error->status;
        }
        request_watch(request, lane, now_ns, &watch);
        Status status = compare_work(plan->comparison, &lane->scratch, now_ns + EPISODE_QUANTUM_NS,
                                     &watch.context, &plan->is_over, &progressed, error);
        Recorder *full = status == STATUS_OK ? compare_waits_for(plan->comparison) : NULL;
        if (full != NULL && !recorder_is_ready(full, request_wait(request))) {
            request->outcome = JOB_PARKED;
            return STATUS_OK;
        }
        if (status == STATUS_OK && !progressed && full == NULL && !plan->is_over) {
            status = request_watch_verdict(&watch, error);
        }
        if (status != STATUS_OK) {
            return status;
        }
        episode_tell_at_times(request, lane, MOREAU__V1__REPLY__RESULT_COMPARE_PROGRESS,
                              compare_steps_done(plan->comparison),
                              plan->def.last - plan->def.first, now_ns, &plan->told);
        if (!plan->is_over && (watch.is_put_aside || episode_should_pause(lane))) {
            request->outcome = watch.is_put_aside ? JOB_LONG : JOB_AGAIN;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

// Ends the next recording, of which the log then says that it is on the disk.
static Status stop_recordings(Request *request, ComparePlan *plan, Error *error) {
    if (plan->is_stopping && request->wait.error.status != STATUS_OK) {
        *error = request->wait.error;
        return error->status;
    }
    plan->is_stopping = false;
    while (plan->stopped < plan->def.variant_count) {
        CompareName *name = &plan->name[plan->stopped];
        Recorder *recorder = compare_take_recorder(plan->comparison, plan->stopped++);
        if (recorder != NULL) {
            uid_text(recorder_episode_uid(recorder), name->uid);
            plan->is_stopping = true;
            request->outcome = JOB_PARKED;
            recorder_stop(recorder, RECORDING_COMPLETE, request_wait(request));
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

static bool write_runs(Arena *arena, ComparePlan *plan, Moreau__V1__EpisodeCompareReply *m) {
    const size_t count = plan->def.variant_count + 1;
    CompareRun *run = arena_take_array(arena, count, sizeof(*run));
    m->runs = arena_take_array(arena, count, sizeof(Moreau__V1__EpisodeRun *));
    if (run == NULL || m->runs == NULL) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        run[i] = compare_run(plan->comparison, i);
        m->runs[i] = compare_reply_run(&run[i], compare_own_first(plan->comparison), i > 0, arena);
        if (m->runs[i] == NULL) {
            return false;
        }
        if (i > 0 && plan->name[i - 1].uid[0] != '\0') {
            m->runs[i]->episode = plan->name[i - 1].uid;
            m->runs[i]->name = plan->name[i - 1].name;
        }
    }
    m->n_runs = count;
    return true;
}

Status command_episode_compare(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error) {
    ComparePlan *plan = request->plan;
    lane_end_turn(lane);
    Status status = plan->comparison == NULL ? make_plan(request, plan, error) : STATUS_OK;
    status = STATUS_THEN(status, step(request, lane, plan, error));
    if (status == STATUS_OK && plan->is_over) {
        status = stop_recordings(request, plan, error);
    }
    if (plan->comparison != NULL) {
        episode_count_memory(request, &plan->counted_bytes, compare_bytes(plan->comparison));
    }
    if (status != STATUS_OK || request->outcome != JOB_DONE) {
        request->outcome = status == STATUS_OK ? request->outcome : JOB_DONE;
        return status;
    }
    Moreau__V1__EpisodeCompareReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__episode_compare_reply__init(message);
    message->has_first = message->has_last = message->has_seconds = message->has_substeps = 1;
    message->first = plan->def.first;
    message->last = plan->def.last;
    message->substeps = compare_substeps(plan->comparison);
    message->seconds = (double)(clock_now_ns() - plan->begun_ns) * 1e-9;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_COMPARE;
    reply->episode_compare = message;
    return write_runs(&request->arena, plan, message) ? STATUS_OK : out_of_memory(error);
}

// ---- asking

static void release_plan(Request *request) {
    ComparePlan *plan = request->plan;
    compare_close(plan->comparison);
    episode_count_memory(request, &plan->counted_bytes, 0);
}

static Status check_numbers(const Moreau__V1__EpisodeCompare *order, Error *error) {
    const double threshold_max = 1e6;
    if (order->n_variants < 1 || order->n_variants > COMPARE_VARIANTS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "variants",
                         "A comparison takes 1 to %d variants, not %zu.", COMPARE_VARIANTS_MAX,
                         order->n_variants);
    }
    if (order->has_last && order->last < order->first) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "last",
                         "The range ends at step %" PRIu64 ", before its first, %" PRIu64 ".",
                         order->last, order->first);
    }
    if (order->stride < 1 || order->stride > RECORDER_STRIDE_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "stride",
                         "stride is 1 to %d steps, not %" PRIu64 ".", RECORDER_STRIDE_MAX,
                         order->stride);
    }
    if (!(order->threshold >= 0.0 && order->threshold <= threshold_max)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "threshold",
                         "The threshold is 0 to 1e6 m, not %g.", order->threshold);
    }
    return STATUS_OK;
}

static Status read_variant(const Moreau__V1__EpisodeVariant *variant, size_t index,
                           SettingsChange *rule, Error *error) {
    Error why = {0};
    Status status = convert_settings(variant->settings, rule, &why);
    if (status == STATUS_OK && variant->name != NULL && variant->name[0] == '\0') {
        status = error_set(&why, STATUS_INVALID_ARGUMENT, "name",
                           "A name has 1 to 255 bytes; leave it out for the recording's with a "
                           "number.");
    }
    if (status != STATUS_OK) {
        char field[sizeof(why.field)];
        snprintf(field, sizeof(field), "variants[%zu].%.100s", index, why.field);
        return error_set(error, status, field, "%s", why.message);
    }
    return STATUS_OK;
}

Status command_episode_compare_judge(Request *request, Error *error) {
    const Moreau__V1__EpisodeCompare *order = request->message->episode_compare;
    Status status = episode_check_build(request, error);
    status = STATUS_THEN(status, check_numbers(order, error));
    status =
        STATUS_THEN(status, episode_check_labels(order->n_labels, order->labels, "labels", error));
    if (status != STATUS_OK) {
        return status;
    }
    ComparePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < order->n_variants && status == STATUS_OK; i++) {
        status = read_variant(order->variants[i], i, &plan->rule[i], error);
    }
    request->plan = plan;
    return status;
}

Status command_episode_compare_prepare(Request *request, Error *error) {
    (void)error;
    ComparePlan *plan = request->plan;
    plan->begun_ns = plan->told.at_ns = clock_now_ns();
    snprintf(plan->client, sizeof(plan->client), "%s", request->session->client);
    request->finish = release_plan;
    request->stopped = episode_on_stopped;
    return STATUS_OK;
}
