// SPDX-License-Identifier: MIT
// The family session, but for Hello (session.c) and Describe (describe.c): Ping, Stats, Cancel.
#include "api/request.h"
#include "api/session.h"
#include "os/clock.h"
#include "run/groups/farm.h"

#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while answering.");
}

Status command_ping(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    Moreau__V1__Pong *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__pong__init(message);
    message->has_payload = request->message->ping->has_payload;
    message->payload = request->message->ping->payload;
    reply->result_case = MOREAU__V1__REPLY__RESULT_PONG;
    reply->pong = message;
    return STATUS_OK;
}

Status command_cancel(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    Moreau__V1__CancelReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__cancel_reply__init(message);
    Request *other = request_find(request->session, request->message->cancel->request);
    message->has_found = 1;
    message->found = other != NULL && other != request;
    if (message->found) {
        request_cancel(other);
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_CANCEL;
    reply->cancel = message;
    return STATUS_OK;
}

// The counters are the loop's; with many worlds, the rows are made on a lane.
typedef struct StatsPlan {
    Host *host;
    Moreau__V1__StatsReply *message;
    HostRows rows;
} StatsPlan;

enum { ROWS_HERE_MAX = 1024 };

// What goes on now, and how well.
static void fill_activity(Api *api, Moreau__V1__StatsReply *message) {
    Pool *pool = api->def.pool;
    HistogramTotal times = {0};
    const Lane *lane;
    for (uint32_t i = 0; (lane = pool_lane(pool, i)) != NULL; i++) {
        histogram_collect(&lane->solver_times, &times);
    }
    message->has_requests_under_way = message->has_failed_requests = message->has_faulted_steps = 1;
    message->has_jobs = message->has_waiting_worlds = message->has_timed_steps =
        message->has_solver_time = 1;
    message->requests_under_way = api->request_count;
    for (int i = STATUS_OK + 1; i < STATUS_COUNT; i++) {
        message->failed_requests += api->answered[i];
    }
    message->faulted_steps = atomic_load_explicit(&api->faulted_steps, memory_order_relaxed);
    message->jobs = pool_job_count(pool);
    message->waiting_worlds = pool_waiting_count(pool);
    message->timed_steps = times.count;
    message->solver_time = (double)times.sum_ns * 1e-9;
    message->has_put_aside = 1;
    message->put_aside = pool_put_aside_count(pool) + pool_put_aside_count(api->def.background);
    message->has_kept_bytes = message->has_player_bytes = 1;
    message->kept_bytes = api->kept_bytes;
    message->player_bytes = atomic_load_explicit(&api->player_bytes, memory_order_relaxed);
}

static void count_opinions(OpinionFigures figures, Moreau__V1__StatsReply *message) {
    message->has_opinions = message->has_opinions_open = message->has_opinions_waiting = 1;
    message->opinions = figures.given;
    message->opinions_open = figures.open;
    message->opinions_waiting = figures.waiting;
}

static void count_log(const Log *log, Moreau__V1__StatsReply *message) {
    if (log != NULL) {
        const LogFigures figures = log_figures(log);
        message->has_log_bytes = message->has_recordings = 1;
        message->log_bytes = figures.file_bytes;
        message->recordings = figures.open_recordings;
    }
}

// What somebody sees of what is there: all of it, or that of his namespace.
static void count_seen(const Request *request, Moreau__V1__StatsReply *message) {
    const Api *api = request->api;
    const uint32_t view = request_view(request);
    const HostFigures worlds = host_figures(api->def.host, view);
    const GroupEntry *group;
    message->has_uptime_s = message->has_lanes = message->has_world_count = message->has_groups =
        message->has_group_worlds = message->has_world_bytes = message->has_faulted_worlds = 1;
    message->has_bodies = message->has_contacts = 1;
    message->uptime_s = (double)(clock_now_ns() - api->started_ns) * 1e-9;
    message->lanes = pool_lane_count(api->def.pool);
    message->world_count = host_count(api->def.host, view);
    message->bodies = worlds.bodies;
    message->contacts = worlds.contacts;
    message->world_bytes = worlds.bytes;
    message->faulted_worlds = worlds.faulted;
    message->groups = farm_count(api->def.farm, view);
    for (uint32_t i = 0; (group = farm_at(api->def.farm, i, view)) != NULL; i++) {
        message->group_worlds += group->count;
        message->world_bytes += atomic_load_explicit(&group->bytes, memory_order_relaxed);
    }
}

static void fill_use(const Pool *pool, const Token *token, Moreau__V1__TokenUse *message) {
    const Use *use = &token->use;
    const struct {
        uint64_t limit;
        protobuf_c_boolean *has;
        uint64_t *field;
    } limits[] = {
        {use->limits.worlds, &message->has_worlds_max, &message->worlds_max},
        {use->limits.bytes, &message->has_bytes_max, &message->bytes_max},
        {use->limits.requests, &message->has_requests_max, &message->requests_max},
        {use->limits.log_bytes, &message->has_log_bytes_max, &message->log_bytes_max},
        {use->limits.episodes, &message->has_episodes_max, &message->episodes_max},
        {use->limits.lanes, &message->has_lanes_max, &message->lanes_max},
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++) {
        *limits[i].has = limits[i].limit != USE_NO_LIMIT;
        *limits[i].field = limits[i].limit;
    }
    message->name = (char *)token->name;
    message->namespace_ = (char *)token->space;
    message->has_sessions = message->has_worlds = message->has_bytes = message->has_requests =
        message->has_refused = 1;
    message->has_log_bytes = message->has_episodes = use_limits_log(use);
    message->log_bytes = atomic_load_explicit(&use->log_bytes, memory_order_relaxed);
    message->episodes = atomic_load_explicit(&use->episodes, memory_order_relaxed);
    message->has_lanes = message->has_lanes_max;
    message->lanes = pool_lanes_of(pool, use->number);
    message->sessions = use->sessions;
    message->worlds = use->worlds;
    message->bytes = atomic_load_explicit(&use->bytes, memory_order_relaxed);
    message->requests = atomic_load_explicit(&use->requests, memory_order_relaxed);
    message->refused = atomic_load_explicit(&use->refused, memory_order_relaxed);
}

// One's own, or, for admin, everybody's.
static Status count_tokens(Request *request, Moreau__V1__StatsReply *message, Error *error) {
    Access *access = request->api->def.access;
    const Token *token, *own = request->session->held;
    const bool sees_all = request_view(request) == SPACE_ALL;
    size_t all = 0;
    if (!access_has_names(access)) {
        return STATUS_OK;
    }
    while (access_at(access, all) != NULL) {
        all++;
    }
    message->tokens = arena_take_array(&request->arena, all, sizeof(*message->tokens));
    for (size_t i = 0; message->tokens != NULL && (token = access_at(access, i)) != NULL; i++) {
        Moreau__V1__TokenUse *told =
            sees_all || token == own ? arena_take(&request->arena, sizeof(*told)) : NULL;
        if (told != NULL) {
            moreau__v1__token_use__init(told);
            fill_use(request->api->def.pool, token, told);
            message->tokens[message->n_tokens++] = told;
        }
    }
    return message->tokens != NULL ? STATUS_OK : out_of_memory(error);
}

// What goes on in the whole server.
static Status count_all(Request *request, Moreau__V1__StatsReply *message, Error *error) {
    Api *api = request->api;
    uint32_t lanes = pool_lane_count(api->def.pool);
    size_t all = 2 * (size_t)lanes; // with the long ones
    uint64_t *lane_steps = arena_take_array(&request->arena, all, sizeof(uint64_t));
    if (lane_steps == NULL) {
        return out_of_memory(error);
    }
    for (uint32_t i = 0; i < all; i++) {
        lane_steps[i] =
            atomic_load_explicit(&pool_lane(api->def.pool, i)->steps, memory_order_relaxed);
        message->steps += lane_steps[i];
    }
    fill_activity(api, message);
    PeerFigures peers = api->def.peers->figures(api->peer_context);
    message->has_connections = message->has_world_bytes = message->has_group_worlds = 1;
    message->has_requests = message->has_steps = message->has_unconverged_steps =
        message->has_faulted_worlds = 1;
    message->has_slow_clients = message->has_bytes_in = message->has_bytes_out = 1;
    message->n_lane_steps = all;
    message->lane_steps = lane_steps;
    message->connections = peers.connection_count;
    message->group_worlds = host_claimed(api->def.host);
    count_opinions(farm_opinions(api->def.farm), message);
    count_log(api->def.log, message);
    message->requests = api->requests_total;
    message->unconverged_steps =
        atomic_load_explicit(&api->unconverged_steps, memory_order_relaxed);
    message->faulted_worlds = host_faulted_count(api->def.host);
    message->slow_clients = peers.slow_count;
    message->bytes_in = peers.bytes_in;
    message->bytes_out = peers.bytes_out;
    message->world_bytes = host_bytes(api->def.host);
    return STATUS_OK;
}

static void release_rows(Request *request) {
    StatsPlan *plan = request->plan;
    host_rows_end(plan->host, &plan->rows);
}

Status command_stats_prepare(Request *request, Error *error) {
    Host *host = request->api->def.host;
    StatsPlan *plan = arena_take(&request->arena, sizeof(*plan));
    Moreau__V1__StatsReply *message = arena_take(&request->arena, sizeof(*message));
    if (plan == NULL || message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__stats_reply__init(message);
    *plan = (StatsPlan){.host = host, .message = message};
    uint32_t count = request->message->stats->worlds ? host_count(host, request_view(request)) : 0;
    count_seen(request, message);
    Status status =
        request_view(request) == SPACE_ALL ? count_all(request, message, error) : STATUS_OK;
    status = STATUS_THEN(status, count_tokens(request, message, error));
    status = STATUS_THEN(status, host_rows_begin(host, request_view(request), 0, count,
                                                 &request->arena, &plan->rows, error));
    if (status != STATUS_OK) {
        return status;
    }
    request->plan = plan;
    request->finish = release_rows;
    if (count <= ROWS_HERE_MAX) {
        request_work_here(request);
    } else {
        request->is_long = true;
        request_submit(request);
    }
    return STATUS_OK;
}

Status command_stats(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const StatsPlan *plan = request->plan;
    Moreau__V1__StatsReply *message = plan->message;
    size_t count = plan->rows.count;
    message->worlds = arena_take_array(&request->arena, count, sizeof(uint64_t));
    message->bytes_of_world = arena_take_array(&request->arena, count, sizeof(uint64_t));
    if (message->worlds == NULL || message->bytes_of_world == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const WorldEntry *entry = plan->rows.entry[i];
        message->worlds[i] = entry->id;
        message->bytes_of_world[i] =
            atomic_load_explicit(&entry->figures.bytes, memory_order_relaxed);
    }
    message->n_worlds = message->n_bytes_of_world = count;
    reply->result_case = MOREAU__V1__REPLY__RESULT_STATS;
    reply->stats = message;
    return STATUS_OK;
}
