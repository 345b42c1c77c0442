// SPDX-License-Identifier: MIT
// The family episode: Fork. In the background a player steps the episode to where the fork is, and
// what is there is kept as a snapshot that nobody else sees; the loop adds a world, and its lane
// makes it of that.
#include "api/calls/episode.h"
#include "os/clock.h"
#include "replay/player/player.h"
#include "run/groups/snapshot_store.h"
#include "step/snapshot/snapshot.h"
#include "world/range.h"

#include <inttypes.h>
#include <string.h>

typedef struct ForkPlan {
    EpisodeRow row;
    LogHold hold;
    Player *player; // NULL: not opened yet, or done with
    bool has_sought;
    EpisodeOrigin origin;
    StoredSnapshot *snapshot; // retained
    size_t counted_bytes;     // of the player, in the memory budget
    Error error;
} ForkPlan;

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while forking an episode.");
}

// ---- the world, on its lane

static Status make_world(Request *request, Error *error) {
    const ForkPlan *plan = request->plan;
    Door *door = &request->world->door;
    Status status = stored_snapshot_check_room(plan->snapshot, error);
    if (status == STATUS_OK) {
        Input input = stored_snapshot_input(plan->snapshot);
        status = door_change(door, &input, &request->arena, NULL, NULL, error);
    }
    return STATUS_THEN(status, door_set_origin(door, &plan->origin, error));
}

static JobOutcome make_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    ForkPlan *plan = request->plan;
    if (request_wants_long(request, lane)) {
        return JOB_LONG;
    }
    plan->error.status = make_world(request, &plan->error);
    if (plan->error.status != STATUS_OK) {
        job->urgent = true; // its client waits for the loop
        return JOB_DONE;
    }
    World *world = request->world->door.world;
    char parent[UID_TEXT_BYTES];
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__EpisodeForkReply message = MOREAU__V1__EPISODE_FORK_REPLY__INIT;
    uid_text(plan->origin.episode, parent);
    message.has_world = message.has_step = message.has_world_step = message.has_bodies =
        message.has_hash = 1;
    message.world = request->world->id;
    message.name = request->world->name;
    message.parent = parent;
    message.step = plan->origin.step;
    message.world_step = world->step;
    message.bodies = world->body_count;
    message.hash = snapshot_hash(world);
    reply.result_case = MOREAU__V1__REPLY__RESULT_EPISODE_FORK;
    reply.episode_fork = &message;
    host_publish(request->world);
    request_reply(request, lane, &reply, &plan->error);
    return JOB_DONE;
}

// A refusal is told here, when the world is gone: its client may ask for the name again at once.
static void on_made(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    const ForkPlan *plan = request->plan;
    if (plan->error.status != STATUS_OK) {
        Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
        host_destroy(request->world);
        request_reply(request, NULL, &reply, &plan->error);
    }
    host_end_change(request->world);
    request_finish(request);
}

static Status add_world(Request *request, Error *error) {
    const Moreau__V1__EpisodeFork *fork = request->message->episode_fork;
    WorldOwner owner = request_owner(request, fork->lifetime);
    return host_add(request->api->def.host, fork->name, &owner,
                    fork->has_idle_timeout_s ? fork->idle_timeout_s : 0.0, &request->world, error);
}

// ---- the state, in the background

static Status open_player(Request *request, ForkPlan *plan, Error *error) {
    const Moreau__V1__EpisodeFork *fork = request->message->episode_fork;
    Host *host = request->api->def.host;
    Status status = episode_find(request, fork->episode, &plan->row, error);
    status = STATUS_THEN(status, episode_check_row(request, &plan->row, error));
    if (status == STATUS_OK && fork->has_step && fork->step > plan->row.last_step) {
        status = error_set(error, STATUS_OUT_OF_RANGE, "step",
                           "The episode has the steps 0 to %" PRIu64 ", not %" PRIu64 ".",
                           plan->row.last_step, fork->step);
    }
    status = STATUS_THEN(status, host_check_memory(host, episode_player_bytes(&plan->row), error));
    if (status != STATUS_OK) {
        return status;
    }
    plan->origin.step = fork->has_step ? fork->step : plan->row.last_step;
    memcpy(plan->origin.episode, plan->row.uid, UID_BYTES);
    log_hold(request->api->def.log, plan->row.recording, &plan->hold);
    return player_open(&plan->player, &plan->row, host_limits(host), error);
}

// Goes on for a while; *there: it stands at the step.
static Status play(Request *request, Lane *lane, ForkPlan *plan, WorkWatch *watch, bool *there,
                   Error *error) {
    Log *log = request->api->def.log;
    LogReader *reader;
    Status status = request_take_reader(request, &reader, error);
    if (status != STATUS_OK) {
        return status;
    }
    PlayerDifference difference = {0};
    if (!plan->has_sought) {
        status = player_seek(plan->player, reader, plan->origin.step, NULL, error);
        plan->has_sought = status == STATUS_OK;
    }
    uint64_t before = plan->has_sought ? player_step(plan->player) : 0;
    if (status == STATUS_OK) {
        request_watch(request, lane, clock_now_ns(), watch);
        status =
            player_run(plan->player, reader, plan->origin.step, false, &lane->scratch,
                       watch->begun_ns + EPISODE_QUANTUM_NS, &watch->context, &difference, error);
    }
    log_give_reader(log, reader);
    if (status == STATUS_OK && difference.found) {
        status = player_tell_difference(&difference, error);
    }
    *there = status == STATUS_OK && !player_is_stopped(plan->player) &&
             player_step(plan->player) == plan->origin.step;
    if (status == STATUS_OK && !*there && player_step(plan->player) == before) {
        status = request_watch_verdict(watch, error);
    }
    return status;
}

static JobOutcome play_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    ForkPlan *plan = request->plan;
    Error *error = &plan->error;
    bool there = false;
    lane_end_turn(lane);
    if (plan->player == NULL && !request_should_stop(request, error)) {
        error->status = open_player(request, plan, error);
    }
    while (error->status == STATUS_OK && !there && !request_should_stop(request, error)) {
        WorkWatch watch = {0};
        error->status = play(request, lane, plan, &watch, &there, error);
        if (error->status == STATUS_OK && !there &&
            (watch.is_put_aside || episode_should_pause(lane))) {
            episode_count_memory(request, &plan->counted_bytes, player_bytes(plan->player));
            return watch.is_put_aside ? JOB_LONG : JOB_AGAIN;
        }
    }
    if (error->status == STATUS_OK) {
        error->status =
            stored_snapshot_take(plan->snapshot, player_world(plan->player), &lane->scratch, error);
    }
    job->urgent = true;
    return JOB_DONE;
}

static void on_played(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    ForkPlan *plan = request->plan;
    if (plan->error.status == STATUS_OK) {
        plan->error.status = add_world(request, &plan->error);
    }
    if (plan->error.status != STATUS_OK) {
        request_end(request, &plan->error);
        return;
    }
    request->job = (Job){.work = make_on_lane, .done = on_made};
    pool_submit(request->api->def.pool, &request->world->strand, request_share(request),
                &request->job);
}

// ---- asking

static void release_plan(Request *request) {
    ForkPlan *plan = request->plan;
    log_release(request->api->def.log, &plan->hold);
    if (plan->player != NULL) {
        player_close(plan->player);
        episode_count_memory(request, &plan->counted_bytes, 0);
    }
    snapshot_store_release(plan->snapshot);
}

Status command_episode_fork_judge(Request *request, Error *error) {
    const Moreau__V1__EpisodeFork *fork = request->message->episode_fork;
    Status status = episode_check_build(request, error);
    if (status == STATUS_OK && fork->has_idle_timeout_s) {
        status = range_check(RANGE_IDLE_TIMEOUT, fork->idle_timeout_s, "idle_timeout_s", -1, error);
    }
    return status;
}

Status command_episode_fork_prepare(Request *request, Error *error) {
    ForkPlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    const WorldOwner owner = request_owner(request, MOREAU__V1__WORLD__LIFETIME__SESSION);
    Status status = snapshot_store_add(request->api->def.snapshots, &owner, &plan->snapshot, error);
    if (status != STATUS_OK) {
        return status;
    }
    snapshot_store_drop(plan->snapshot); // from the registry: it is this request's alone
    request->plan = plan;
    request->finish = release_plan;
    strand_init(&request->strand);
    request->job = (Job){.work = play_on_lane, .done = on_played};
    pool_submit(request_pool(request), &request->strand, request_share(request), &request->job);
    return STATUS_OK;
}
