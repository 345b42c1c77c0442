// SPDX-License-Identifier: MIT
// The family world, what only looks: Get and Contacts, by range, and Scene.
#include "wire/convert.h"
#include "api/request.h"
#include "api/span.h"
#include "run/worlds/record_columns.h"
#include "step/joints/wrenches.h"
#include "wire/joints.h"
#include "wire/scene/out.h"
#include "world/sleep.h"

#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "count",
                     "The range needs more memory than one request may take, which is some frames "
                     "(option --frame-bytes-max): ask for a smaller one.");
}

// ---- get

static bool fill_states(const World *world, Span range, Arena *arena, bool single,
                        Moreau__V1__WorldGetReply *m) {
    const double *pose = world->pose + 7 * range.first,
                 *velocity = world->velocity + 6 * range.first;
    if (world->has_center) {
        double *moved = arena_take_array(arena, range.count, 7 * sizeof(double));
        for (size_t i = 0; moved != NULL && i < range.count; i++) {
            world_body_pose(world, (uint32_t)(range.first + i), moved + 7 * i);
        }
        pose = moved;
    }
    if (pose == NULL) {
        return range.count == 0;
    }
    if (!single) {
        // packed straight from the world's own memory, which is this lane's until the reply is
        // packed
        m->pose = (double *)pose;
        m->velocity = (double *)velocity;
        m->n_pose = 7 * range.count;
        m->n_velocity = 6 * range.count;
        return true;
    }
    m->pose_single = arena_take_array(arena, range.count, 7 * sizeof(float));
    m->velocity_single = arena_take_array(arena, range.count, 6 * sizeof(float));
    if (m->pose_single == NULL || m->velocity_single == NULL) {
        return false;
    }
    for (size_t i = 0; i < 7 * range.count; i++) {
        m->pose_single[i] = (float)pose[i];
    }
    for (size_t i = 0; i < 6 * range.count; i++) {
        m->velocity_single[i] = (float)velocity[i];
    }
    m->n_pose_single = 7 * range.count;
    m->n_velocity_single = 6 * range.count;
    return true;
}

static bool fill_names(const World *world, Span range, Arena *arena, Moreau__V1__WorldGetReply *m) {
    bool some = false;
    for (size_t i = 0; i < range.count; i++) {
        some = some || world->body_name[range.first + i] != NULL;
    }
    if (!some) {
        return true;
    }
    m->names = arena_take_array(arena, range.count, sizeof(char *));
    for (size_t i = 0; m->names != NULL && i < range.count; i++) {
        char *name = world->body_name[range.first + i];
        m->names[i] = name == NULL ? (char *)"" : name;
    }
    m->n_names = m->names == NULL ? 0 : range.count;
    return m->names != NULL;
}

static bool fill_definition(const World *world, Span range, Arena *arena,
                            Moreau__V1__WorldGetReply *m) {
    size_t n = range.count;
    m->kind = arena_take_array(arena, n, sizeof(*m->kind));
    m->shape = arena_take_array(arena, n, sizeof(uint64_t));
    m->mass = arena_take_array(arena, n, sizeof(double));
    m->inertia = arena_take_array(arena, n, 6 * sizeof(double));
    m->center_of_mass = arena_take_array(arena, n, 3 * sizeof(double));
    if (m->kind == NULL || m->shape == NULL || m->mass == NULL || m->inertia == NULL ||
        m->center_of_mass == NULL) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        size_t body = range.first + i;
        const BodyMass *mass = &world->mass[body];
        double inertia[6] = {mass->inertia.xx, mass->inertia.yy, mass->inertia.zz,
                             mass->inertia.xy, mass->inertia.xz, mass->inertia.yz};
        m->kind[i] = (Moreau__V1__Body__Kind)world->kind[body];
        const Shape *shape = world_body_shape(world, (uint32_t)body);
        m->shape[i] = shape == NULL ? 0 : shape->id;
        m->mass[i] = mass->mass;
        memcpy(m->inertia + 6 * i, inertia, sizeof(inertia));
        vec3_store(m->center_of_mass + 3 * i, mass->center);
    }
    m->n_kind = m->n_shape = m->n_mass = n;
    m->n_inertia = 6 * n;
    m->n_center_of_mass = 3 * n;
    return fill_names(world, range, arena, m);
}

static bool fill_asleep(const World *world, Span range, Arena *arena,
                        Moreau__V1__WorldGetReply *m) {
    if (world->settings.sleep_speed == 0.0) {
        return true;
    }
    m->asleep = arena_take_array(arena, range.count, sizeof(*m->asleep));
    for (size_t i = 0; m->asleep != NULL && i < range.count; i++) {
        m->asleep[i] = sleep_is_asleep(world, (uint32_t)(range.first + i));
    }
    m->n_asleep = m->asleep == NULL ? 0 : range.count;
    return m->asleep != NULL;
}

static Status fill_joints(const Request *request, Arena *arena, Moreau__V1__WorldGetReply *m,
                          Error *error) {
    const Moreau__V1__WorldGet *get = request->message->world_get;
    const Door *door = &request->world->door;
    const World *world = door->world;
    m->has_joints_removed = 1;
    m->joints_removed = world_removed_joint_count(world);
    bool filled = joints_numbers(world, arena, m);
    if (filled && get->definition) {
        m->joint_definition = joints_definition(world, arena);
        filled = m->joint_definition != NULL;
    }
    if (filled && get->joint_wrenches) {
        m->joint_wrench = arena_take_array(arena, world->joint_count, 6 * sizeof(double));
        m->n_joint_wrench = 6 * world->joint_count;
        filled = m->joint_wrench != NULL;
    }
    if (!filled) {
        return out_of_memory(error);
    }
    return get->joint_wrenches ? joint_wrenches(door->stepper, world, arena, m->joint_wrench, error)
                               : STATUS_OK;
}

Status command_world_get(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Moreau__V1__WorldGet *get = request->message->world_get;
    const World *world = request->world->door.world;
    Arena *arena = &request->arena;
    Span range = span_of(get->first, get->has_count, get->count, world->body_count);
    Moreau__V1__WorldGetReply *m = arena_take(arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__world_get_reply__init(m);
    m->has_world = m->has_step = m->has_time = m->has_total = m->has_faulted = m->has_removed = 1;
    m->world = request->world->id;
    m->step = world->step;
    m->time = world->time.value;
    m->total = world->body_count;
    m->faulted = world->faulted;
    m->removed = world_removed_count(world);
    m->settings = convert_settings_out(&world->settings, arena);
    bool filled = m->settings != NULL;
    if (filled && (!get->has_bodies || get->bodies)) {
        m->n_ids = range.count;
        m->ids = world->body_id + range.first;
        filled =
            fill_states(world, range, arena, get->single, m) && fill_asleep(world, range, arena, m);
        filled = filled && (!get->definition || fill_definition(world, range, arena, m));
    }
    if (!filled) {
        return out_of_memory(error);
    }
    if (get->joints && fill_joints(request, arena, m, error) != STATUS_OK) {
        return error->status;
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_GET;
    reply->world_get = m;
    return STATUS_OK;
}

// ---- contacts

Status command_world_contacts(Request *request, Lane *lane, Moreau__V1__Reply *reply,
                              Error *error) {
    (void)lane;
    const Moreau__V1__WorldContacts *ask = request->message->world_contacts;
    const World *world = request->world->door.world;
    const Stepper *stepper = request->world->door.stepper;
    if (!stepper->has_last) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "world",
                         "No step has been taken since the world's bodies were made or moved, or "
                         "since one was given up or failed: contacts are those of the last step.");
    }
    Span range = span_of(ask->first, ask->has_count, ask->count, stepper->contact_count);
    Moreau__V1__WorldContactsReply *m = arena_take(&request->arena, sizeof(*m));
    if (m == NULL) {
        return out_of_memory(error);
    }
    ContactList list;
    if (contacts_list(world, stepper, world->step, range.first, range.count, &request->arena, &list,
                      NULL) != STATUS_OK) {
        return out_of_memory(error);
    }
    moreau__v1__world_contacts_reply__init(m);
    m->has_total = 1;
    m->total = stepper->contact_count;
    size_t n = list.count;
    m->n_body_a = m->n_body_b = m->n_part_a = m->n_part_b = m->n_feature = m->n_gap =
        m->n_friction = n;
    m->n_point = m->n_impulse = m->n_velocity = 3 * n;
    m->n_frame = 9 * n;
    m->body_a = list.body_a;
    m->body_b = list.body_b;
    m->part_a = list.part_a;
    m->part_b = list.part_b;
    m->feature = list.feature;
    m->point = list.point;
    m->frame = list.frame;
    m->gap = list.gap;
    m->impulse = list.impulse;
    m->velocity = list.velocity;
    m->friction = list.friction;
    m->n_residual = m->n_target_velocity = n;
    m->residual = n == 0 ? NULL : stepper->judged + range.first;
    m->target_velocity = n == 0 ? NULL : stepper->judged + stepper->contact_count + range.first;
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_CONTACTS;
    reply->world_contacts = m;
    return STATUS_OK;
}

// ---- scene

static Status refuse_scene(const Request *request, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "world",
                     "The world's scene is longer than a frame, which holds %zu bytes (option "
                     "--frame-bytes-max): take a snapshot instead, which is read in parts "
                     "(SnapshotTake, SnapshotRead).",
                     request->api->def.frame_bytes_max);
}

Status command_world_scene(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const WorldEntry *entry = request->world;
    Moreau__V1__WorldSceneReply *m = arena_take(&request->arena, sizeof(*m));
    Moreau__V1__Scene *scene = scene_out(entry->door.world, entry->name, &request->arena);
    if (m == NULL || scene == NULL) {
        return refuse_scene(request, error);
    }
    moreau__v1__world_scene_reply__init(m);
    m->scene = scene;
    // the rest of a reply without an error is short
    enum { REST_BYTES = 128 };
    if (moreau__v1__world_scene_reply__get_packed_size(m) + REST_BYTES >
        request->api->def.frame_bytes_max) {
        return refuse_scene(request, error);
    }
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_SCENE;
    reply->world_scene = m;
    return STATUS_OK;
}
