// SPDX-License-Identifier: MIT
#include "api/calls/episode.h"

#include "log/reader/proof.h"
#include "os/clock.h"
#include "step/snapshot/snapshot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

Status episode_measure_log(const Request *request, Error *error) {
    Log *log = request->api->def.log;
    Use *use = request->session->use;
    LogReader *reader;
    uint64_t episodes = 0, bytes = 0;
    if (!use_limits_log(use)) {
        return STATUS_OK;
    }
    Status status = log_take_reader(log, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    log_reader_see(reader, request->home);
    status = log_reader_measure(reader, &episodes, &bytes, error);
    log_give_reader(log, reader);
    if (status == STATUS_OK) {
        use_set_log(use, episodes, bytes);
    }
    return status;
}

Status episode_check_room(const Request *request, Error *error) {
    const Status status = episode_measure_log(request, error);
    return STATUS_THEN(status, use_check_log(request->session->use, error));
}

Status episode_find(Request *request, const char *text, EpisodeRow *row, Error *error) {
    if (text == NULL || text[0] == '\0') {
        return error_set(error, STATUS_INVALID_ARGUMENT, "episode",
                         "Name an episode: its id, a beginning of it (4 digits at least), or a "
                         "name that only one episode has.");
    }
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = log_reader_find(reader, text, &request->arena, row, error);
    log_give_reader(log, reader);
    if (status != STATUS_OK && error->field[0] == '\0') {
        snprintf(error->field, sizeof(error->field), "episode");
    }
    return status;
}

Status episode_check_labels(size_t count, char *const *labels, const char *field, Error *error) {
    enum { LABELS_MAX = 64 };
    if (count > LABELS_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, field,
                         "An episode has at most %d labels, not %zu.", LABELS_MAX, count);
    }
    for (size_t i = 0; i < count; i++) {
        char item[64];
        snprintf(item, sizeof(item), "%s[%zu]", field, i);
        if (labels[i][0] == '\0') {
            return error_set(error, STATUS_INVALID_ARGUMENT, item, "A label has 1 to 255 bytes.");
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(labels[i], labels[k]) == 0) {
                return error_set(error, STATUS_INVALID_ARGUMENT, item,
                                 "The label \"%s\" is given twice.", labels[i]);
            }
        }
    }
    return STATUS_OK;
}

void episode_number_name(const char *stem, uint64_t number, char name[HOST_NAME_BYTES]) {
    enum { NUMBER_BYTES = 21 };
    size_t kept = strlen(stem);
    if (kept > HOST_NAME_BYTES - 1 - NUMBER_BYTES) {
        kept = HOST_NAME_BYTES - 1 - NUMBER_BYTES;
        while (kept > 0 && ((unsigned char)stem[kept] & 0xc0) == 0x80) {
            kept--;
        }
    }
    snprintf(name, HOST_NAME_BYTES, "%.*s-%" PRIu64, (int)kept, stem, number);
}

Status episode_check_build(const Request *request, Error *error) {
    if (request->api->def.is_golden) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_FAILED_PRECONDITION, "",
                     "This server computes other bits than others of dynamics version %d (its "
                     "build: %.200s), so nobody could repeat what it records, nor it what others "
                     "recorded: build it without options that fuse or reorder floating-point "
                     "operations.",
                     DYNAMICS_VERSION, request->api->def.build);
}

Status episode_check_row(Request *request, const EpisodeRow *row, Error *error) {
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status == STATUS_OK) {
        status = proof_check_row(reader, row, error);
        log_give_reader(request->api->def.log, reader);
    }
    return status;
}

double episode_seconds(uint64_t ns) {
    return (double)ns * 1e-9;
}

static char *optional_text(const char *text) {
    return text == NULL || text[0] == '\0' ? NULL : (char *)text;
}

static bool describe_parent(const EpisodeRow *row, Arena *arena, Moreau__V1__EpisodeInfo *info) {
    info->parent = arena_take(arena, UID_TEXT_BYTES);
    if (info->parent == NULL) {
        return false;
    }
    uid_text(row->parent, info->parent);
    info->has_parent_step = 1;
    info->parent_step = row->parent_step;
    return true;
}

static void describe_opinion(const EpisodeRow *row, Moreau__V1__EpisodeInfo *info) {
    info->has_doubtful_steps = info->has_opinions = info->has_opinion_gap_max = row->has_opinion;
    info->doubtful_steps = row->doubtful_steps;
    info->opinions = row->opinions;
    info->opinion_gap_max = row->opinion_gap_max;
    info->has_return_doubtful = info->has_doubtful_share = row->has_return_doubtful;
    info->return_doubtful = row->return_doubtful;
    info->doubtful_share = episode_doubtful_share(row);
}

static void describe_figures(const EpisodeRow *row, Moreau__V1__EpisodeInfo *info) {
    info->has_unconverged_steps = info->has_dropped_steps = 1;
    info->unconverged_steps = row->figures.unconverged_steps;
    info->dropped_steps = row->dropped_steps;
    info->worst_own = row->figures.worst_own;
    info->worst_penetration = row->figures.worst_penetration;
    // of a group's steps nobody keeps these
    info->has_worst_own = info->has_worst_penetration = info->has_contacts_max = !row->is_group;
    info->has_hardest_impact = info->has_energy_gain = !row->is_group;
    info->contacts_max = row->figures.contacts_max;
    info->hardest_impact = row->figures.hardest_impact;
    info->energy_gain = row->figures.energy_gain;
    info->has_hardest_impact_step = info->has_energy_gain_step = row->has_figures && !row->is_group;
    info->hardest_impact_step = row->figures.hardest_impact_step;
    info->energy_gain_step = row->figures.energy_gain_step;
    info->has_gained = row->figures.has_gain != 0;
    info->gained = gain_told(&row->figures.gain);
}

bool episode_describe(const EpisodeRow *row, Arena *arena, Moreau__V1__EpisodeInfo *info) {
    moreau__v1__episode_info__init(info);
    info->damage = (char *)row->damage;
    if (row->damage != NULL) {
        return true;
    }
    char *uid = arena_take(arena, UID_TEXT_BYTES);
    if (uid == NULL) {
        return false;
    }
    uid_text(row->uid, uid);
    info->episode = uid;
    info->name = (char *)row->name;
    info->n_labels = row->label_count;
    info->labels = (char **)row->label;
    info->client = (char *)row->client;
    info->world_name = (char *)row->world_name;
    info->solver = (char *)row->solver;
    info->server_version = (char *)row->server_version;
    info->why = optional_text(row->why);
    info->has_state = info->has_content = info->has_stride = info->has_lossy = 1;
    info->state = (Moreau__V1__Episode__State)row->state;
    info->content = (Moreau__V1__Episode__Content)row->content;
    info->stride = row->stride;
    info->has_events = 1;
    info->events = row->has_events;
    info->lossy = row->lossy;
    info->has_seed = row->has_seed;
    info->seed = row->seed;
    info->has_steps = info->has_world_step = info->has_time_step = info->has_bodies = 1;
    info->steps = row->last_step - row->first_step;
    info->world_step = row->world_step;
    info->time_step = row->time_step;
    info->bodies = row->body_count;
    info->has_simulated = info->has_keyframe_steps = info->has_world_index = info->has_pinned = 1;
    info->simulated = row->time;
    info->keyframe_steps = row->keyframe_steps;
    info->world_index = row->world_index;
    info->pinned = row->is_pinned;
    info->has_return_sum = row->has_return;
    info->return_sum = row->return_sum;
    info->has_turn = row->is_group;
    info->turn = row->turn;
    describe_opinion(row, info);
    info->build = optional_text(row->build);
    info->has_begun = 1;
    info->begun = episode_seconds(row->begun_ns);
    info->has_ended = row->ended_ns != 0;
    info->ended = episode_seconds(row->ended_ns);
    describe_figures(row, info);
    info->has_dynamics_version = info->has_bytes = 1;
    info->has_chunks = info->has_keyframes = 1;
    info->dynamics_version = row->dynamics_version;
    info->bytes = row->bytes;
    info->chunks = row->chunk_count;
    info->keyframes = row->keyframe_count;
    return !row->has_parent || describe_parent(row, arena, info);
}

size_t episode_player_bytes(const EpisodeRow *row) {
    // a world, a stepper and chunks of some bodies; then per body the world and a frame or two
    enum { PLAYER_BYTES = 1 << 17, BODY_BYTES = 1024 };
    uint64_t bodies_max = (SIZE_MAX - PLAYER_BYTES) / BODY_BYTES; // the file may say anything
    return PLAYER_BYTES +
           (size_t)(row->body_count < bodies_max ? row->body_count : bodies_max) * BODY_BYTES;
}

void episode_count_memory(const Request *request, size_t *counted, size_t bytes) {
    Api *api = request->api;
    host_count_bytes(api->def.host, *counted, bytes);
    atomic_fetch_add_explicit(&api->player_bytes, (uint64_t)bytes - *counted, memory_order_relaxed);
    *counted = bytes;
}

bool episode_should_pause(const Lane *lane) {
    return clock_now_ns() >= lane_pause_ns(lane);
}

void episode_tell_progress(Request *request, Lane *lane, Moreau__V1__Reply__ResultCase result,
                           uint64_t steps_done, uint64_t steps_total, uint64_t *told) {
    enum { UNSENT_BYTES_MAX = 1 << 16 };
    if (steps_done == *told ||
        request->peer.calls->unsent(request->peer.handle) > UNSENT_BYTES_MAX) {
        return;
    }
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__EpisodeProgress progress = MOREAU__V1__EPISODE_PROGRESS__INIT;
    progress.has_steps_done = progress.has_steps_total = 1;
    progress.steps_done = steps_done;
    progress.steps_total = steps_total;
    reply.result_case = result;
    reply.episode_progress = &progress; // which all results of this type share
    if (request_event(request, lane, &reply, NULL) == STATUS_OK) {
        *told = steps_done; // one that cannot be sent is no loss
    }
}

void episode_tell_at_times(Request *request, Lane *lane, Moreau__V1__Reply__ResultCase result,
                           uint64_t steps_done, uint64_t steps_total, uint64_t now_ns,
                           EpisodeTold *told) {
    if (now_ns - told->at_ns >= EPISODE_PROGRESS_NS) {
        told->at_ns = now_ns;
        episode_tell_progress(request, lane, result, steps_done, steps_total, &told->steps);
    }
}

void episode_on_stopped(Request *request) {
    (void)request;
}

Status episode_end_watch(Request *request, const WorkWatch *watch, Error *error) {
    if (request_should_stop(request, error)) {
        return error->status;
    }
    if (watch->is_put_aside) {
        request->outcome = JOB_LONG;
        return STATUS_OK;
    }
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Looking through the log took longer than %" PRIu64
                     " ms (option --work-timeout-ms): ask for fewer episodes, by time or label.",
                     request->api->def.work_timeout_ns / 1000000u);
}
