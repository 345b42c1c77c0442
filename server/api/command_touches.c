// SPDX-License-Identifier: MIT
// EpisodeTouches: which bodies touched in an episode.
#include "api/episode.h"
#include "api/touch_filter.h"
#include "os/clock.h"

enum { TOUCHES_MAX = 65536 };

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading the touches of an episode.");
}

static Status check_episode(const EpisodeRow *row, Error *error) {
    if (row->is_group) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "episode",
                         "The episode is of a group, whose recordings have no events: record one "
                         "world with EpisodeStart and `events`.");
    }
    if (!row->has_events) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "episode",
                         "The episode was recorded without events, so nobody has noted which "
                         "bodies touched: record with `events` (moreau run --record --events).");
    }
    return STATUS_OK;
}

// false: memory ended.
static bool take_columns(const TouchRows *rows, Arena *arena,
                         Moreau__V1__EpisodeTouchesReply *message) {
    const size_t count = rows->count;
    uint64_t **const numbers[] = {&message->body, &message->other_body, &message->first_step,
                                  &message->last_step, &message->hardest_step};
    double **const doubles[] = {&message->approach_speed, &message->first_impulse,
                                &message->hardest_impulse};
    bool is_sound = true;
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        *numbers[i] = arena_take_array(arena, count, sizeof(**numbers[i]));
        is_sound = is_sound && *numbers[i] != NULL;
    }
    for (size_t i = 0; i < sizeof(doubles) / sizeof(doubles[0]); i++) {
        *doubles[i] = arena_take_array(arena, count, sizeof(**doubles[i]));
        is_sound = is_sound && *doubles[i] != NULL;
    }
    message->ended = arena_take_array(arena, count, sizeof(*message->ended));
    message->n_body = message->n_other_body = message->n_first_step = message->n_last_step = count;
    message->n_ended = message->n_approach_speed = message->n_first_impulse = count;
    message->n_hardest_impulse = message->n_hardest_step = count;
    return is_sound && message->ended != NULL;
}

static Status fill(Request *request, const TouchRows *rows, Moreau__V1__Reply *reply,
                   Error *error) {
    Moreau__V1__EpisodeTouchesReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__episode_touches_reply__init(message);
    if (!take_columns(rows, &request->arena, message)) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < rows->count; i++) {
        const Touch *touch = &rows->touch[i];
        message->body[i] = touch->body;
        message->other_body[i] = touch->other;
        message->first_step[i] = touch->first_step;
        message->last_step[i] = touch->last_step;
        message->ended[i] = touch->is_over;
        message->approach_speed[i] = touch->approach;
        message->first_impulse[i] = touch->first_impulse;
        message->hardest_impulse[i] = touch->hardest;
        message->hardest_step[i] = touch->hardest_step;
    }
    message->has_total = 1;
    message->total = rows->total;
    message->n_ids = message->n_names = rows->named_count;
    message->ids = (uint64_t *)rows->named; // the arena's
    message->names = (char **)rows->names;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES;
    reply->episode_touches = message;
    return STATUS_OK;
}

Status command_episode_touches(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error) {
    const Moreau__V1__EpisodeTouches *asked = request->message->episode_touches;
    TouchQuery query = {.first = asked->first,
                        .count = asked->count < TOUCHES_MAX ? asked->count : TOUCHES_MAX};
    EpisodeRow row;
    Status status = touch_filter_read(asked->where, "where", &query.where, error);
    if (status == STATUS_OK) {
        status = episode_find(request, asked->episode, &row, error);
    }
    if (status == STATUS_OK) {
        status = check_episode(&row, error);
    }
    Log *log = request->api->def.log;
    LogReader *reader;
    status = status == STATUS_OK ? log_take_reader(log, &reader, error) : status;
    if (status != STATUS_OK) {
        return status;
    }
    TouchRows rows;
    WorkWatch watch;
    request_watch(request, lane, clock_now_ns(), &watch);
    query.context = &watch.context;
    status = log_reader_touches(reader, &row, &query, &request->arena, &rows, error);
    log_give_reader(log, reader);
    if (status == STATUS_ABORTED) {
        return episode_end_watch(request, &watch, error);
    }
    return status == STATUS_OK ? fill(request, &rows, reply, error) : status;
}
