// SPDX-License-Identifier: MIT
// WorldRayCast: each world's rays on that world's strand, as WorldStep steps them.
#include "api/calls/batch.h"
#include "base/assert.h"
#include "collide/raycast.h"
#include "wire/wire.h"
#include "world/range.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Rays by which a call on one world is long work: some milliseconds among many bodies.
enum { LONG_RAYS = 2048 };

typedef struct RayPlan {
    const Moreau__V1__WorldRayCast *message;
    size_t *first; // [worlds + 1] ray of each world
    Moreau__V1__WorldRayCastReply reply;
} RayPlan;

// ---- what is wrong with it

static size_t ray_count(const Moreau__V1__WorldRayCast *message) {
    return message->n_origin / 3;
}

static Status refuse_length(const char *field, const char *what, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s", what);
}

static Status judge_counts(const Moreau__V1__WorldRayCast *message, Error *error) {
    const size_t rays = ray_count(message);
    if (message->n_count == 0) {
        return message->n_worlds == 0 || rays % message->n_worlds == 0
                   ? STATUS_OK
                   : error_set(error, STATUS_INVALID_ARGUMENT, "count",
                               "%zu rays are not as many for each of %zu worlds: say how many each "
                               "has.",
                               rays, message->n_worlds);
    }
    uint64_t sum = 0;
    for (size_t i = 0; i < message->n_count; i++) {
        sum += message->count[i];
    }
    if (message->n_count != message->n_worlds || sum != rays) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "count",
                         "It needs a number for each of %zu worlds, together %zu, the number of "
                         "rays; got %zu numbers, together %" PRIu64 ".",
                         message->n_worlds, rays, message->n_count, sum);
    }
    return STATUS_OK;
}

static Status judge_bits(const uint32_t *bits, size_t count, size_t rays, const char *name,
                         Error *error) {
    if (count != 0 && count != 1 && count != rays) {
        return error_set(error, STATUS_INVALID_ARGUMENT, name,
                         "It needs a number per ray (%zu), one for all, or none; got %zu.", rays,
                         count);
    }
    for (size_t i = 0; i < count; i++) {
        if (bits[i] == 0) {
            char field[32];
            snprintf(field, sizeof(field), "%s[%zu]", name, i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "A ray with %s 0 meets nothing; leave it out to meet all.", name);
        }
    }
    return STATUS_OK;
}

static Status judge_ways(const Moreau__V1__WorldRayCast *message, Error *error) {
    for (size_t i = 0; i < message->n_origin; i++) {
        Status status =
            range_check(RANGE_POSITION, message->origin[i], "origin", (int64_t)i, error);
        status = STATUS_THEN(
            status, range_check(RANGE_POSITION, message->way[i], "way", (int64_t)i, error));
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (size_t ray = 0; ray < ray_count(message); ray++) {
        const Vec3 way = vec3_load(message->way + 3 * ray);
        if (!(vec3_dot(way, way) > 0.0)) {
            char field[32];
            snprintf(field, sizeof(field), "way[%zu]", 3 * ray);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "A ray of no length goes nowhere: say how far it looks.");
        }
    }
    return STATUS_OK;
}

Status command_world_ray_cast_judge(Request *request, Error *error) {
    const Moreau__V1__WorldRayCast *message = request->message->world_ray_cast;
    const size_t rays = ray_count(message);
    if (message->n_origin % 3 != 0) {
        return refuse_length("origin", "It needs 3 numbers per ray.", error);
    }
    if (message->n_way != message->n_origin) {
        return refuse_length("way", "It needs 3 numbers per ray, as origin has.", error);
    }
    Status status = judge_counts(message, error);
    status =
        STATUS_THEN(status, judge_bits(message->group, message->n_group, rays, "group", error));
    status = STATUS_THEN(status, judge_bits(message->mask, message->n_mask, rays, "mask", error));
    return STATUS_THEN(status, judge_ways(message, error));
}

// ---- the reply

static size_t rows_bytes_bound(size_t rays) {
    const size_t row = 2 * (size_t)WIRE_VARINT_BYTES_MAX + 7 * sizeof(double);
    return 5 * (size_t)WIRE_HEAD_BYTES_MAX + row * rays;
}

size_t command_world_ray_cast_bytes(const Request *request) {
    const Moreau__V1__WorldRayCast *message = request->message->world_ray_cast;
    return BATCH_FAILURE_BYTES_MAX * message->n_worlds + rows_bytes_bound(ray_count(message));
}

static void write_miss(RayPlan *plan, size_t ray) {
    const Moreau__V1__WorldRayCast *message = plan->message;
    const Vec3 end =
        vec3_add(vec3_load(message->origin + 3 * ray), vec3_load(message->way + 3 * ray));
    plan->reply.fraction[ray] = 1.0;
    vec3_store(plan->reply.point + 3 * ray, end);
}

// Of a world that failed nothing is met.
static void clear_rows(RayPlan *plan, size_t first, size_t end) {
    for (size_t ray = first; ray < end; ray++) {
        plan->reply.body[ray] = 0;
        plan->reply.primitive[ray] = 0;
        memset(plan->reply.normal + 3 * ray, 0, 3 * sizeof(double));
        write_miss(plan, ray);
    }
}

static void reply_rays(Batch *batch, Lane *lane) {
    Request *request = batch->request;
    RayPlan *plan = batch->asked;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Error error;
    for (size_t i = 0; i < batch->results.count; i++) {
        if (batch->results.result[i].error.status != STATUS_OK) {
            clear_rows(plan, plan->first[i], plan->first[i + 1]);
        }
    }
    const size_t bytes = rows_bytes_bound(ray_count(plan->message));
    if (!batch_failures(batch, batch_texts_bytes_max(batch, bytes), &plan->reply.failures,
                        &plan->reply.n_failures)) {
        error_set(&error, STATUS_RESOURCE_EXHAUSTED, "worlds",
                  "Memory ended: ask for fewer worlds.");
        request_reply(request, lane, &reply, &error);
        return;
    }
    batch_status(batch, plan->reply.failures, plan->reply.n_failures, &error);
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_RAY_CAST;
    reply.world_ray_cast = &plan->reply;
    request_reply(request, lane, &reply, &error);
}

// ---- one world, on a lane

static uint32_t bits_of(const uint32_t *bits, size_t count, size_t ray) {
    return count == 0 ? UINT32_MAX : bits[count == 1 ? 0 : ray];
}

static void read_rays(const RayPlan *plan, size_t first, size_t count, Ray *rays) {
    const Moreau__V1__WorldRayCast *message = plan->message;
    for (size_t i = 0; i < count; i++) {
        const size_t ray = first + i;
        rays[i] = (Ray){.origin = vec3_load(message->origin + 3 * ray),
                        .way = vec3_load(message->way + 3 * ray),
                        .group = bits_of(message->group, message->n_group, ray),
                        .mask = bits_of(message->mask, message->n_mask, ray),
                        .unseen_body = UINT32_MAX};
    }
}

static void write_hits(RayPlan *plan, const World *world, size_t first, size_t count,
                       const RayHit *hits) {
    for (size_t i = 0; i < count; i++) {
        const size_t ray = first + i;
        const RayHit *hit = &hits[i];
        const bool is_met = hit->body != UINT32_MAX;
        plan->reply.body[ray] = is_met ? world->body_id[hit->body] : 0;
        plan->reply.primitive[ray] = hit->primitive;
        plan->reply.fraction[ray] = hit->fraction;
        vec3_store(plan->reply.point + 3 * ray, hit->point);
        vec3_store(plan->reply.normal + 3 * ray, hit->normal);
        if (!is_met) {
            write_miss(plan, ray);
        }
    }
}

static bool stop_asked(void *context) {
    return request_should_stop(context, NULL);
}

static void cast_world(BatchItem *item, StepResult *result) {
    RayPlan *plan = item->batch->asked;
    const size_t index = (size_t)(item - item->batch->item), first = plan->first[index];
    const size_t count = plan->first[index + 1] - first;
    const World *world = item->world->door.world;
    const Stop stop = {.asked = stop_asked, .context = item->batch->request};
    const ArenaMark mark = arena_mark(item->arena);
    Ray *rays = arena_take_array(item->arena, count, sizeof(Ray));
    RayHit *hits = arena_take_array(item->arena, count, sizeof(RayHit));
    Status status = rays == NULL || hits == NULL ? STATUS_RESOURCE_EXHAUSTED : STATUS_OK;
    if (status == STATUS_OK) {
        read_rays(plan, first, count, rays);
        status = raycast_run(world, rays, count, &stop, item->arena, hits);
    }
    if (status == STATUS_OK) {
        write_hits(plan, world, first, count, hits);
    } else if (status == STATUS_RESOURCE_EXHAUSTED ||
               !request_should_stop(item->batch->request, &result->error)) {
        error_set(&result->error, STATUS_RESOURCE_EXHAUSTED, "",
                  "%zu rays among %u bodies are more than one request may look at, whose memory is "
                  "some frames (option --frame-bytes-max).",
                  count, world->body_count);
    }
    arena_reset_to(item->arena, mark);
}

// ---- on the loop

static bool take_rows(Request *request, RayPlan *plan) {
    Arena *arena = &request->arena;
    const size_t rays = ray_count(plan->message), worlds = plan->message->n_worlds;
    Moreau__V1__WorldRayCastReply *reply = &plan->reply;
    moreau__v1__world_ray_cast_reply__init(reply);
    reply->n_body = reply->n_primitive = reply->n_fraction = rays;
    reply->n_point = reply->n_normal = 3 * rays;
    reply->body = arena_take_array(arena, rays, sizeof(*reply->body));
    reply->primitive = arena_take_array(arena, rays, sizeof(*reply->primitive));
    reply->fraction = arena_take_array(arena, rays, sizeof(double));
    reply->point = arena_take_array(arena, 3 * rays, sizeof(double));
    reply->normal = arena_take_array(arena, 3 * rays, sizeof(double));
    plan->first = arena_take_array(arena, worlds + 1, sizeof(size_t));
    if (plan->first == NULL || reply->body == NULL || reply->primitive == NULL ||
        reply->fraction == NULL || reply->point == NULL || reply->normal == NULL) {
        return false;
    }
    plan->first[0] = 0;
    for (size_t i = 0; i < worlds; i++) {
        plan->first[i + 1] =
            plan->first[i] +
            (plan->message->n_count == 0 ? rays / worlds : plan->message->count[i]);
    }
    ASSERT(plan->first[worlds] == rays);
    return true;
}

Status command_world_ray_cast_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldRayCast *message = request->message->world_ray_cast;
    Batch *batch;
    Status status = batch_prepare(request, message->n_worlds, message->worlds, &batch, error);
    if (status != STATUS_OK) {
        return status;
    }
    RayPlan *plan = arena_take(&request->arena, sizeof(*plan));
    if (plan != NULL) {
        *plan = (RayPlan){.message = message};
    }
    if (plan == NULL || !take_rows(request, plan)) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "origin",
                         "%zu rays are more than one request may name, whose memory is some frames "
                         "(option --frame-bytes-max).",
                         ray_count(message));
    }
    batch->asked = plan;
    batch->ask = cast_world;
    batch->is_long = ray_count(message) > LONG_RAYS;
    batch->reply = reply_rays;
    return batch_submit(batch, error);
}
