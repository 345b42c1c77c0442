// SPDX-License-Identifier: MIT
// Episodes: recording, and what can be done with a recording. Frames are walked in frames.c.
#include "client.h"

#include <stdio.h>
#include <string.h>

static const char *text_or_empty(const char *text) {
    return text != NULL ? text : "";
}

MoreauRecord moreau_record_default(void) {
    return (MoreauRecord){.content = MOREAU_CONTENT_INPUTS, .stride = 1};
}

MoreauStatus moreau_record_start(MoreauClient *client, const MoreauRecord *record,
                                 char episode[MOREAU_EPISODE_ID_BYTES]) {
    Moreau__V1__EpisodeStart start = MOREAU__V1__EPISODE_START__INIT;
    start.has_world = start.has_content = start.has_stride = start.has_lossy = 1;
    start.world = record->world;
    start.name = (char *)record->name;
    start.n_labels = record->label_count;
    start.labels = (char **)record->labels;
    start.content = (Moreau__V1__Episode__Content)record->content;
    start.stride = record->stride;
    start.has_keyframe_steps = record->keyframe_steps > 0;
    start.keyframe_steps = record->keyframe_steps;
    start.lossy = record->lossy;
    start.has_seed = record->has_seed;
    start.seed = record->seed;
    start.has_events = record->events;
    start.events = record->events;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_START;
    request.episode_start = &start;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_START, &reply);
    if (status == MOREAU_OK && episode != NULL) {
        snprintf(episode, MOREAU_EPISODE_ID_BYTES, "%s",
                 text_or_empty(reply->message->episode_start->episode));
    }
    moreau_reply_free(reply);
    return status;
}

static void read_info(const Moreau__V1__EpisodeInfo *got, MoreauEpisode *info) {
    *info = (MoreauEpisode){.episode = text_or_empty(got->episode),
                            .name = text_or_empty(got->name),
                            .label_count = got->n_labels,
                            .labels = (const char *const *)got->labels,
                            .state = (MoreauEpisodeState)got->state,
                            .content = (MoreauContent)got->content,
                            .stride = got->stride,
                            .lossy = got->lossy != 0,
                            .has_seed = got->has_seed != 0,
                            .seed = got->seed,
                            .client = text_or_empty(got->client),
                            .world_name = text_or_empty(got->world_name),
                            .solver = text_or_empty(got->solver),
                            .steps = got->steps,
                            .world_step = got->world_step,
                            .time_step = got->time_step,
                            .bodies = got->bodies,
                            .begun = got->begun,
                            .ended = got->ended,
                            .unconverged_steps = got->unconverged_steps,
                            .dropped_steps = got->dropped_steps,
                            .worst_own = got->worst_own,
                            .worst_penetration = got->worst_penetration,
                            .dynamics_version = got->dynamics_version,
                            .server_version = text_or_empty(got->server_version),
                            .bytes = got->bytes,
                            .chunks = got->chunks,
                            .keyframes = got->keyframes,
                            .why = text_or_empty(got->why),
                            .damage = text_or_empty(got->damage),
                            .has_gained = got->has_gained != 0,
                            .gained = got->gained};
}

// Hands out the one episode of an answer, and the answer. Without `reply` it is freed.
static MoreauStatus give_info(MoreauClient *client, MoreauStatus status, MoreauReply *answer,
                              MoreauReply **reply, MoreauEpisode *info) {
    if (status == MOREAU_OK && reply != NULL && !moreau_reply_episode(answer, 0, info)) {
        status = client_fail(client, MOREAU_INTERNAL, NULL,
                             "the server's answer says nothing of the episode");
    }
    if (reply != NULL) {
        *reply = answer;
    } else {
        moreau_reply_free(answer);
    }
    return status;
}

MoreauStatus moreau_record_stop(MoreauClient *client, uint64_t world, const char *episode,
                                MoreauReply **reply, MoreauEpisode *info) {
    Moreau__V1__EpisodeStop stop = MOREAU__V1__EPISODE_STOP__INIT;
    stop.has_world = world != 0;
    stop.world = world;
    stop.episode = (char *)episode;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_STOP;
    request.episode_stop = &stop;
    MoreauReply *answer;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_STOP, &answer);
    return give_info(client, status, answer, reply, info);
}

MoreauEpisodeFilter moreau_episode_filter_default(void) {
    return (MoreauEpisodeFilter){.state = MOREAU_EPISODE_ANY, .count = 1000};
}

MoreauStatus moreau_episode_list(MoreauClient *client, const MoreauEpisodeFilter *filter,
                                 MoreauReply **reply, size_t *count, uint64_t *total) {
    Moreau__V1__EpisodeList list = MOREAU__V1__EPISODE_LIST__INIT;
    list.name = (char *)filter->name;
    list.label = (char *)filter->label;
    list.solver = (char *)filter->solver;
    list.client = (char *)filter->client;
    list.has_state = filter->state != MOREAU_EPISODE_ANY;
    list.state = (Moreau__V1__Episode__State)(list.has_state ? filter->state : 0);
    list.has_since = filter->since > 0.0;
    list.since = filter->since;
    list.has_until = filter->until > 0.0;
    list.until = filter->until;
    list.has_first = list.has_count = 1;
    list.first = filter->first;
    list.count = filter->count;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_LIST;
    request.episode_list = &list;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_LIST, reply);
    if (status == MOREAU_OK && count != NULL) {
        *count = (*reply)->message->episode_list->n_episodes;
    }
    if (status == MOREAU_OK && total != NULL) {
        *total = (*reply)->message->episode_list->total;
    }
    return status;
}

bool moreau_reply_episode(const MoreauReply *reply, size_t index, MoreauEpisode *info) {
    const Moreau__V1__Reply *message = reply->message;
    const Moreau__V1__EpisodeInfo *got = NULL;
    switch (message->result_case) {
    case MOREAU__V1__REPLY__RESULT_EPISODE_LIST:
        if (index < message->episode_list->n_episodes) {
            got = message->episode_list->episodes[index];
        }
        break;
    case MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE:
        got = index == 0 ? message->episode_describe->episode : NULL;
        break;
    case MOREAU__V1__REPLY__RESULT_EPISODE_STOP:
        got = index == 0 ? message->episode_stop->episode : NULL;
        break;
    default:
        break;
    }
    if (got != NULL) {
        read_info(got, info);
    }
    return got != NULL;
}

MoreauStatus moreau_episode_describe(MoreauClient *client, const char *episode, MoreauReply **reply,
                                     MoreauEpisode *info) {
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = (char *)episode;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE;
    request.episode_describe = &describe;
    MoreauReply *answer;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE, &answer);
    return give_info(client, status, answer, reply, info);
}

// What has an id, too.
static size_t count_names(const MoreauReply *reply) {
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE) {
        return 0;
    }
    const Moreau__V1__EpisodeDescribeReply *message = reply->message->episode_describe;
    return message->n_names < message->n_ids ? message->n_names : message->n_ids;
}

MoreauStatus moreau_episode_names(MoreauClient *client, const char *episode, MoreauReply **reply,
                                  size_t *count) {
    Moreau__V1__EpisodeDescribe describe = MOREAU__V1__EPISODE_DESCRIBE__INIT;
    describe.episode = (char *)episode;
    describe.has_names = describe.names = 1;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_DESCRIBE;
    request.episode_describe = &describe;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE, reply);
    if (status == MOREAU_OK && count != NULL) {
        *count = count_names(*reply);
    }
    return status;
}

const char *moreau_reply_body_name(const MoreauReply *reply, size_t index, uint64_t *body) {
    if (index >= count_names(reply)) {
        return NULL;
    }
    const Moreau__V1__EpisodeDescribeReply *message = reply->message->episode_describe;
    if (body != NULL) {
        *body = message->ids[index];
    }
    return message->names[index];
}

bool moreau_reply_body_is_static(const MoreauReply *reply, uint64_t body) {
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_DESCRIBE) {
        return false;
    }
    const Moreau__V1__EpisodeDescribeReply *message = reply->message->episode_describe;
    size_t first = 0, end = message->n_static_ids; // ids rise
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (message->static_ids[middle] < body) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < message->n_static_ids && message->static_ids[first] == body;
}

MoreauStatus moreau_episode_delete(MoreauClient *client, const char *episode) {
    Moreau__V1__EpisodeDelete remove = MOREAU__V1__EPISODE_DELETE__INIT;
    remove.episode = (char *)episode;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_DELETE;
    request.episode_delete = &remove;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_DELETE, &reply);
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_episode_pin(MoreauClient *client, const char *episode, bool pinned) {
    Moreau__V1__EpisodePin pin = MOREAU__V1__EPISODE_PIN__INIT;
    pin.episode = (char *)episode;
    pin.has_pinned = 1;
    pin.pinned = pinned;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_PIN;
    request.episode_pin = &pin;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_PIN, &reply);
    moreau_reply_free(reply);
    return status;
}

MoreauFork moreau_fork_default(void) {
    return (MoreauFork){.lifetime = MOREAU_LIFETIME_SESSION};
}

MoreauStatus moreau_episode_fork(MoreauClient *client, const MoreauFork *fork, uint64_t *world,
                                 uint64_t *step, uint64_t *hash) {
    Moreau__V1__EpisodeFork message = MOREAU__V1__EPISODE_FORK__INIT;
    message.episode = (char *)fork->episode;
    message.has_step = fork->has_step;
    message.step = fork->step;
    message.name = (char *)fork->name;
    message.has_lifetime = 1;
    message.lifetime = (Moreau__V1__World__Lifetime)fork->lifetime;
    message.has_idle_timeout_s = fork->idle_timeout > 0.0;
    message.idle_timeout_s = fork->idle_timeout;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_FORK;
    request.episode_fork = &message;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_FORK, &reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__EpisodeForkReply *got = reply->message->episode_fork;
        *world = got->world;
        if (step != NULL) {
            *step = got->step;
        }
        if (hash != NULL) {
            *hash = got->hash;
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauFrameQuery moreau_frame_query_default(void) {
    return (MoreauFrameQuery){.stride = 1, .poses = true, .velocities = true};
}

MoreauStatus moreau_episode_read(MoreauClient *client, const MoreauFrameQuery *query,
                                 uint64_t count, MoreauReply **reply, MoreauFrames *frames) {
    *frames = (MoreauFrames){0};
    Moreau__V1__EpisodeRead read = MOREAU__V1__EPISODE_READ__INIT;
    read.episode = (char *)query->episode;
    read.has_first = read.has_stride = read.has_poses = read.has_velocities = 1;
    read.first = query->first;
    read.stride = query->stride;
    read.has_count = count != MOREAU_ALL;
    read.count = count;
    read.poses = query->poses;
    read.velocities = query->velocities;
    read.has_contacts = read.contacts = query->contacts;
    read.has_single = read.single = query->single;
    read.has_again = read.again = query->again;
    read.has_joints = read.joints = query->joints;
    read.has_reports = read.reports = query->reports;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_READ;
    request.episode_read = &read;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_READ, reply);
    if (status == MOREAU_OK && !moreau_reply_frames(*reply, frames)) {
        status = client_fail(client, MOREAU_INTERNAL, NULL,
                             "the columns of the server's frames do not fit each other");
    }
    return status;
}

static Moreau__V1__EpisodeReplay make_replay(const MoreauFrameQuery *query, uint64_t last,
                                             double speed) {
    Moreau__V1__EpisodeReplay replay = MOREAU__V1__EPISODE_REPLAY__INIT;
    replay.episode = (char *)query->episode;
    replay.has_first = replay.has_stride = replay.has_poses = replay.has_velocities = 1;
    replay.first = query->first;
    replay.stride = query->stride;
    replay.has_last = last != MOREAU_ALL;
    replay.last = last;
    replay.has_speed = 1;
    replay.speed = speed;
    replay.poses = query->poses;
    replay.velocities = query->velocities;
    replay.has_contacts = replay.contacts = query->contacts;
    replay.has_single = replay.single = query->single;
    replay.has_again = replay.again = query->again;
    replay.has_joints = replay.joints = query->joints;
    replay.has_backward = replay.backward = query->backward;
    replay.has_reports = replay.reports = query->reports;
    return replay;
}

// What a replay in progress carries along.
typedef struct Replaying {
    MoreauFrameProc *proc;
    void *context;
    bool misfit; // frames came whose columns do not fit each other
} Replaying;

static bool take_frames(void *context, const MoreauReply *event) {
    Replaying *replaying = context;
    MoreauFrames frames;
    if (!moreau_reply_frames(event, &frames)) {
        replaying->misfit = true;
        return false;
    }
    MoreauFrame frame;
    while (moreau_next_frame(&frames, &frame)) {
        if (!replaying->proc(replaying->context, &frame)) {
            return false;
        }
    }
    return true;
}

MoreauStatus moreau_episode_replay(MoreauClient *client, const MoreauFrameQuery *query,
                                   uint64_t last, double speed, MoreauFrameProc *proc,
                                   void *context, uint64_t *frames) {
    Moreau__V1__EpisodeReplay replay = make_replay(query, last, speed);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_REPLAY;
    request.episode_replay = &replay;
    Replaying replaying = {proc, context, false};
    CallEvents events = {take_frames, &replaying};
    MoreauReply *reply;
    MoreauStatus status =
        call_events(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_REPLAY, events, &reply);
    if (frames != NULL && reply != NULL &&
        reply->message->result_case == MOREAU__V1__REPLY__RESULT_EPISODE_REPLAY) {
        *frames = reply->message->episode_replay->frames;
    }
    moreau_reply_free(reply);
    if (replaying.misfit) {
        status = client_fail(client, MOREAU_INTERNAL, NULL,
                             "the columns of the server's frames do not fit each other");
    }
    return status;
}

MoreauStatus moreau_submit_replay(MoreauClient *client, const MoreauFrameQuery *query,
                                  uint64_t last, double speed, uint64_t *id) {
    Moreau__V1__EpisodeReplay replay = make_replay(query, last, speed);
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_REPLAY;
    request.episode_replay = &replay;
    return call_submit(client, &request, id);
}

typedef struct Watching {
    MoreauProgressProc *proc; // Nullable
    void *context;
} Watching;

static bool take_progress(void *context, const MoreauReply *event) {
    const Watching *watching = context;
    const Moreau__V1__Reply *message = event->message;
    if (watching->proc == NULL) {
        return true;
    }
    if (message->result_case == MOREAU__V1__REPLY__RESULT_BACKUP_PROGRESS) {
        return watching->proc(watching->context, message->backup_progress->bytes_done,
                              message->backup_progress->bytes_total);
    }
    return message->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_PROGRESS ||
           watching->proc(watching->context, message->episode_progress->steps_done,
                          message->episode_progress->steps_total);
}

MoreauVerify moreau_verify_default(void) {
    return (MoreauVerify){.last = MOREAU_ALL};
}

MoreauStatus moreau_episode_verify(MoreauClient *client, const MoreauVerify *verify,
                                   MoreauProgressProc *proc, void *context, MoreauReply **reply,
                                   MoreauVerification *result) {
    *result = (MoreauVerification){0};
    Moreau__V1__EpisodeVerify message = MOREAU__V1__EPISODE_VERIFY__INIT;
    message.episode = (char *)verify->episode;
    message.has_first = 1;
    message.first = verify->first;
    message.has_last = verify->last != MOREAU_ALL;
    message.last = verify->last;
    message.has_lanes = verify->lanes > 0;
    message.lanes = verify->lanes;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_VERIFY;
    request.episode_verify = &message;
    Watching watching = {proc, context};
    CallEvents events = {take_progress, &watching};
    MoreauStatus status =
        call_events(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY, events, reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__EpisodeVerifyReply *got = (*reply)->message->episode_verify;
        *result = (MoreauVerification){.verified = got->verified != 0,
                                       .steps = got->steps,
                                       .dropped_steps = got->dropped_steps,
                                       .unconverged_steps = got->unconverged_steps,
                                       .seconds = got->seconds,
                                       .difference_count = got->n_differences};
    }
    return status;
}

bool moreau_reply_difference(const MoreauReply *reply, size_t index, MoreauDifference *difference) {
    if (reply->message->result_case != MOREAU__V1__REPLY__RESULT_EPISODE_VERIFY ||
        index >= reply->message->episode_verify->n_differences) {
        return false;
    }
    const Moreau__V1__EpisodeDifference *got = reply->message->episode_verify->differences[index];
    *difference = (MoreauDifference){.step = got->step,
                                     .chunk = got->chunk,
                                     .chunk_kind = text_or_empty(got->chunk_kind),
                                     .damaged = got->damaged != 0,
                                     .expected_hash = got->expected_hash,
                                     .found_hash = got->found_hash,
                                     .body = got->body,
                                     .quantity = text_or_empty(got->quantity),
                                     .expected = got->expected,
                                     .found = got->found,
                                     .message = text_or_empty(got->message)};
    return true;
}

MoreauStatus moreau_episode_backup(MoreauClient *client, const char *name, bool overwrites,
                                   MoreauProgressProc *proc, void *context, uint64_t *bytes) {
    Moreau__V1__EpisodeBackup message = MOREAU__V1__EPISODE_BACKUP__INIT;
    message.name = (char *)name;
    message.has_overwrite = 1;
    message.overwrite = overwrites;
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = MOREAU__V1__REQUEST__CALL_EPISODE_BACKUP;
    request.episode_backup = &message;
    Watching watching = {proc, context};
    CallEvents events = {take_progress, &watching};
    MoreauReply *reply;
    MoreauStatus status =
        call_events(client, &request, MOREAU__V1__REPLY__RESULT_EPISODE_BACKUP, events, &reply);
    if (status == MOREAU_OK && bytes != NULL) {
        *bytes = reply->message->episode_backup->bytes;
    }
    moreau_reply_free(reply);
    return status;
}
