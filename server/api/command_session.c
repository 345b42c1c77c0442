// SPDX-License-Identifier: MIT
// The family session, but for Hello (session.c): Ping, Stats, Describe, Cancel; and what Welcome
// and Describe say of the server.
#include "api/request.h"
#include "api/session.h"
#include "os/clock.h"
#include "solve/solver.h"
#include "world/range.h"

#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while answering.");
}

// `count` messages and the array of pointers to them, initialised.
static void **take_messages(Arena *arena, size_t count,
                            const ProtobufCMessageDescriptor *descriptor) {
    void **list = arena_take_array(arena, count, sizeof(void *));
    char *messages = arena_take_array(arena, count, descriptor->sizeof_message);
    if (list == NULL || messages == NULL) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        list[i] = messages + i * descriptor->sizeof_message;
        descriptor->message_init(list[i]);
    }
    return list;
}

Moreau__V1__Limit **describe_limits(Request *request, size_t *count) {
    const ApiDef *def = &request->api->def;
    Moreau__V1__Limit **list = (Moreau__V1__Limit **)take_messages(
        &request->arena, def->limit_count, &moreau__v1__limit__descriptor);
    for (size_t i = 0; list != NULL && i < def->limit_count; i++) {
        list[i]->name = (char *)def->limits[i].name;
        list[i]->has_value = 1;
        list[i]->value = def->limits[i].value;
        list[i]->unit = (char *)def->limits[i].unit;
        list[i]->meaning = (char *)def->limits[i].meaning;
    }
    *count = list == NULL ? 0 : def->limit_count;
    return list;
}

Moreau__V1__CallInfo **describe_calls(Request *request, size_t *count) {
    size_t total = 0;
    while (command_at(total) != NULL) {
        total++;
    }
    Moreau__V1__CallInfo **list = (Moreau__V1__CallInfo **)take_messages(
        &request->arena, total, &moreau__v1__call_info__descriptor);
    for (size_t i = 0; list != NULL && i < total; i++) {
        const Command *command = command_at(i);
        list[i]->name = (char *)command->name;
        list[i]->has_field = list[i]->has_mutates = 1;
        list[i]->field = (uint32_t)command->field;
        list[i]->mutates = (command->flags & COMMAND_MUTATES) != 0;
        list[i]->meaning = (char *)command->meaning;
    }
    *count = list == NULL ? 0 : total;
    return list;
}

static void describe_parameter(const ParameterRow *row, Moreau__V1__ParameterInfo *info) {
    info->name = (char *)row->name;
    info->unit = (char *)row->unit;
    // what is 0 need not be said: all solvers together fit into the least frame
    info->has_minimum = row->minimum != 0.0;
    info->has_maximum = row->maximum != 0.0;
    info->has_default_value = row->default_value != 0.0;
    info->has_solve_default = row->solve_default != 0.0;
    info->minimum = row->minimum;
    info->maximum = row->maximum;
    info->default_value = row->default_value;
    info->solve_default = row->solve_default;
    info->meaning = (char *)row->meaning;
    for (info->choices = (char **)row->choices;
         row->choices != NULL && row->choices[info->n_choices] != NULL;) {
        info->n_choices++;
    }
}

Moreau__V1__SolverInfo **describe_solvers(Request *request, size_t *count) {
    Moreau__V1__SolverInfo **list = (Moreau__V1__SolverInfo **)take_messages(
        &request->arena, SOLVER_COUNT, &moreau__v1__solver_info__descriptor);
    for (int i = 0; list != NULL && i < SOLVER_COUNT; i++) {
        const Solver *solver = solver_get((SolverKind)i);
        list[i]->name = (char *)solver->name;
        list[i]->meaning = (char *)solver->meaning;
        list[i]->parameters = (Moreau__V1__ParameterInfo **)take_messages(
            &request->arena, solver->parameter_count, &moreau__v1__parameter_info__descriptor);
        if (list[i]->parameters == NULL) {
            return NULL;
        }
        list[i]->n_parameters = solver->parameter_count;
        for (uint32_t k = 0; k < solver->parameter_count; k++) {
            describe_parameter(&solver->parameters[k], list[i]->parameters[k]);
        }
    }
    *count = list == NULL ? 0 : SOLVER_COUNT;
    return list;
}

static Moreau__V1__FieldInfo **describe_fields(Request *request, size_t *count) {
    Moreau__V1__FieldInfo **list = (Moreau__V1__FieldInfo **)take_messages(
        &request->arena, RANGE_COUNT, &moreau__v1__field_info__descriptor);
    for (int i = 0; list != NULL && i < RANGE_COUNT; i++) {
        const Range *range = range_get((RangeKind)i);
        list[i]->path = (char *)range->path;
        list[i]->unit = (char *)range->unit;
        list[i]->has_minimum = range->minimum != 0.0;
        list[i]->has_maximum = 1;
        list[i]->has_exclusive = range->exclusive;
        list[i]->minimum = range->minimum;
        list[i]->maximum = range->maximum;
        list[i]->exclusive = range->exclusive;
        list[i]->meaning = (char *)range->meaning;
    }
    *count = list == NULL ? 0 : RANGE_COUNT;
    return list;
}

Status command_describe(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    Moreau__V1__DescribeReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__describe_reply__init(message);
    message->limits = describe_limits(request, &message->n_limits);
    message->calls = describe_calls(request, &message->n_calls);
    message->solvers = describe_solvers(request, &message->n_solvers);
    message->fields = describe_fields(request, &message->n_fields);
    if (message->limits == NULL || message->calls == NULL || message->solvers == NULL ||
        message->fields == NULL) {
        return out_of_memory(error);
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_DESCRIBE;
    reply->describe = message;
    return STATUS_OK;
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
    HostFigures worlds = host_figures(api->def.host);
    HistogramTotal times = {0};
    const Lane *lane;
    for (uint32_t i = 0; (lane = pool_lane(pool, i)) != NULL; i++) {
        histogram_collect(&lane->solver_times, &times);
    }
    message->has_bodies = message->has_contacts = message->has_requests_under_way =
        message->has_failed_requests = message->has_faulted_steps = 1;
    message->has_jobs = message->has_waiting_worlds = message->has_timed_steps =
        message->has_solver_time = 1;
    message->bodies = worlds.bodies;
    message->contacts = worlds.contacts;
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
    message->has_uptime_s = message->has_lanes = message->has_connections =
        message->has_world_count = 1;
    message->has_requests = message->has_steps = message->has_unconverged_steps =
        message->has_faulted_worlds = 1;
    message->has_slow_clients = message->has_bytes_in = message->has_bytes_out =
        message->has_world_bytes = 1;
    message->uptime_s = (double)(clock_now_ns() - api->started_ns) * 1e-9;
    message->lanes = lanes;
    message->n_lane_steps = all;
    message->lane_steps = lane_steps;
    message->connections = peers.connection_count;
    message->world_count = host_count(api->def.host);
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
    uint32_t count = request->message->stats->worlds ? host_count(host) : 0;
    Status status = count_all(request, message, error);
    if (status == STATUS_OK) {
        status = host_rows_begin(host, 0, count, &request->arena, &plan->rows, error);
    }
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
