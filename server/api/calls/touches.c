// SPDX-License-Identifier: MIT
// EpisodeTouches: which bodies touched in an episode, as its recording says; or, where that has
// nothing of it and it is asked for, as its steps say, taken again (replay/show/touching.h).
#include "api/calls/episode.h"
#include "api/calls/touch_filter.h"
#include "os/clock.h"
#include "replay/show/touching.h"

enum { TOUCHES_MAX = 65536 };

typedef struct TouchesPlan {
    bool has_row;
    EpisodeRow row;
    TouchQuery query;
    Touching *touching;   // NULL: not opened, or not needed
    size_t counted_bytes; // in the memory budget
    EpisodeTold told;
} TouchesPlan;

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading the touches of an episode.");
}

static Status refuse_without_events(const EpisodeRow *row, Error *error) {
    return error_set(error, STATUS_FAILED_PRECONDITION, "episode", "%s",
                     row->is_group ? "The episode is of a group, whose recordings have no events: "
                                     "ask for its steps to be taken again (simulate)."
                                   : "The episode was recorded without events, so nobody has noted "
                                     "which bodies touched: record with `events` (moreau run "
                                     "--record --events), or ask for its steps to be taken again "
                                     "(simulate).");
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

static Status fill(Request *request, const TouchRows *rows, bool is_simulated,
                   Moreau__V1__Reply *reply, Error *error) {
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
    message->has_total = message->has_simulated = 1;
    message->total = rows->total;
    message->simulated = is_simulated;
    message->n_ids = message->n_names = rows->named_count;
    message->ids = (uint64_t *)rows->named; // the arena's
    message->names = (char **)rows->names;
    reply->result_case = MOREAU__V1__REPLY__RESULT_EPISODE_TOUCHES;
    reply->episode_touches = message;
    return STATUS_OK;
}

// ---- what was recorded

static Status read_recorded(Request *request, Lane *lane, TouchesPlan *plan,
                            Moreau__V1__Reply *reply, Error *error) {
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    TouchRows rows;
    WorkWatch watch;
    request_watch(request, lane, clock_now_ns(), &watch);
    plan->query.context = &watch.context;
    status = log_reader_touches(reader, &plan->row, &plan->query, &request->arena, &rows, error);
    log_give_reader(log, reader);
    if (status == STATUS_ABORTED) {
        return episode_end_watch(request, &watch, error);
    }
    return STATUS_THEN(status, fill(request, &rows, false, reply, error));
}

// ---- what steps say

static Status open_touching(Request *request, TouchesPlan *plan, Error *error) {
    Host *host = request->api->def.host;
    Status status = episode_check_build(request, error);
    status = STATUS_THEN(status, episode_check_row(request, &plan->row, error));
    status = STATUS_THEN(status, host_check_memory(host, episode_player_bytes(&plan->row), error));
    return STATUS_THEN(status, touching_open(&plan->touching, request->api->def.log, &plan->row,
                                             host_limits(host), error));
}

// Steps for a while. request->outcome: what the lane is to do next, where it is not over.
static Status step(Request *request, Lane *lane, TouchesPlan *plan, Error *error) {
    bool is_over = false;
    while (!is_over) {
        WorkWatch watch;
        bool progressed;
        const uint64_t now_ns = clock_now_ns();
        if (request_should_stop(request, error)) {
            return error->status;
        }
        request_watch(request, lane, now_ns, &watch);
        Status status = touching_work(plan->touching, &lane->scratch, now_ns + EPISODE_QUANTUM_NS,
                                      &watch.context, &is_over, &progressed, error);
        if (status == STATUS_OK && !progressed && !is_over) {
            status = request_watch_verdict(&watch, error);
        }
        episode_count_memory(request, &plan->counted_bytes, touching_bytes(plan->touching));
        if (status == STATUS_OK) { // what touches were found takes memory, too
            status = host_check_memory(request->api->def.host, 0, error);
        }
        if (status != STATUS_OK) {
            return status;
        }
        episode_tell_at_times(request, lane, MOREAU__V1__REPLY__RESULT_TOUCHES_PROGRESS,
                              touching_steps_done(plan->touching), plan->row.last_step, now_ns,
                              &plan->told);
        if (!is_over && (watch.is_put_aside || episode_should_pause(lane))) {
            request->outcome = watch.is_put_aside ? JOB_LONG : JOB_AGAIN;
            return STATUS_OK;
        }
    }
    return STATUS_OK;
}

static Status simulate(Request *request, Lane *lane, TouchesPlan *plan, Moreau__V1__Reply *reply,
                       Error *error) {
    lane_end_turn(lane);
    Status status = plan->touching == NULL ? open_touching(request, plan, error) : STATUS_OK;
    status = STATUS_THEN(status, step(request, lane, plan, error));
    if (status != STATUS_OK || request->outcome != JOB_DONE) {
        request->outcome = status == STATUS_OK ? request->outcome : JOB_DONE;
        return status;
    }
    TouchRows rows;
    status = touching_rows(plan->touching, &plan->query, &request->arena, &rows, error);
    return STATUS_THEN(status, fill(request, &rows, true, reply, error));
}

// ---- asking

static Status find(Request *request, TouchesPlan *plan, Error *error) {
    const Moreau__V1__EpisodeTouches *asked = request->message->episode_touches;
    plan->query = (TouchQuery){.first = asked->first,
                               .count = asked->count < TOUCHES_MAX ? asked->count : TOUCHES_MAX};
    Status status = touch_filter_read(asked->where, "where", &plan->query.where, error);
    status = STATUS_THEN(status, episode_find(request, asked->episode, &plan->row, error));
    if (status == STATUS_OK && !plan->row.has_events && !asked->simulate) {
        status = refuse_without_events(&plan->row, error);
    }
    plan->has_row = status == STATUS_OK;
    return status;
}

Status command_episode_touches(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                               Error *error) {
    TouchesPlan *plan = request->plan;
    Status status = plan->has_row ? STATUS_OK : find(request, plan, error);
    if (status != STATUS_OK) {
        return status;
    }
    return plan->row.has_events ? read_recorded(request, lane, plan, reply, error)
                                : simulate(request, lane, plan, reply, error);
}

static void release_plan(Request *request) {
    TouchesPlan *plan = request->plan;
    touching_close(plan->touching);
    episode_count_memory(request, &plan->counted_bytes, 0);
}

Status command_episode_touches_prepare(Request *request, Error *error) {
    TouchesPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    plan->told.at_ns = clock_now_ns();
    request->plan = plan;
    request->finish = release_plan;
    request->stopped = episode_on_stopped;
    return STATUS_OK;
}
