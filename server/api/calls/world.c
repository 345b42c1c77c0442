// SPDX-License-Identifier: MIT
// The family world: Create, Destroy, List, Add…, Set. What changes a world becomes an input when it
// is judged, and passes the door on its lane. (Get, Contacts: read.c; Step, Hash: step.c.)
#include "wire/convert.h"
#include "wire/joints.h"
#include "api/hulls.h"
#include "api/request.h"
#include "api/span.h"
#include "wire/scene/geometry.h"
#include "wire/scene/scene.h"
#include "wire/set.h"
#include "wire/wire.h"
#include "world/range.h"

#include <stdio.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while carrying out the request.");
}

// A column has `stride` numbers per item, or is empty.
static Status check_column(size_t length, size_t count, size_t stride, const char *name,
                           Error *error) {
    if (length == 0 || length == count * stride) {
        return STATUS_OK;
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, name,
                     "Column %s has %zu numbers; for %zu items it has %zu (%zu each) or none.",
                     name, length, count, count * stride, stride);
}

static const double *column(size_t length, const double *values) {
    return length == 0 ? NULL : values;
}

// Keeps the input as the request's plan. What it points to is the message's, or the arena's.
static Status keep_input(Request *request, const Input *input, Error *error) {
    Input *kept = arena_take(&request->arena, sizeof(*kept));
    if (kept == NULL) {
        return out_of_memory(error);
    }
    *kept = *input;
    request->plan = kept;
    return STATUS_OK;
}

// ---- create

typedef struct CreatePlan {
    ScenePlan scene;
    Error error; // status OK: the world was built
} CreatePlan;

static Status build_world(Request *request, const Id **ids, size_t *id_count, Error *error) {
    const CreatePlan *plan = request->plan;
    Id *all = arena_take_array(&request->arena, plan->scene.body_count, sizeof(Id));
    if (all == NULL) {
        return out_of_memory(error);
    }
    *ids = all;
    *id_count = 0;
    for (size_t i = 0; i < plan->scene.input_count; i++) {
        const Id *added = NULL;
        size_t count = 0;
        Status status = hulls_build(&plan->scene.input[i], &request->arena, error);
        status = STATUS_THEN(status, door_change(&request->world->door, &plan->scene.input[i],
                                                 &request->arena, &added, &count, error));
        if (status != STATUS_OK) {
            scene_translate(&plan->scene, i, error);
            return status;
        }
        if (plan->scene.input[i].kind == INPUT_BODIES) {
            memcpy(all + *id_count, added, count * sizeof(Id));
            *id_count += count;
        }
    }
    return STATUS_OK;
}

static JobOutcome create_on_lane(Job *job, Lane *lane) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    Moreau__V1__WorldCreateReply message = MOREAU__V1__WORLD_CREATE_REPLY__INIT;
    Error error = {0};
    const Id *ids = NULL;
    size_t id_count = 0;
    if (request_wants_long(request, lane)) {
        return JOB_LONG;
    }
    error.status = build_world(request, &ids, &id_count, &error);
    if (error.status == STATUS_OK) {
        message.has_world = message.has_bodies = 1;
        message.world = request->world->id;
        message.name = request->world->name;
        message.bodies = id_count;
        message.n_ids = id_count;
        message.ids = (uint64_t *)ids;
        reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_CREATE;
        reply.world_create = &message;
        host_publish(request->world);
        request_reply(request, lane, &reply, &error);
    } else {
        ((CreatePlan *)request->plan)->error = error;
        job->urgent = true; // its client waits for the loop
    }
    return JOB_DONE;
}

// A refusal is told here, when the world is gone: its client may ask for the name again at once.
static void on_created(Job *job) {
    Request *request = (Request *)(void *)((char *)job - offsetof(Request, job));
    const Error *error = &((const CreatePlan *)request->plan)->error;
    if (error->status != STATUS_OK) {
        Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
        host_destroy(request->world);
        request_reply(request, NULL, &reply, error);
    }
    host_end_change(request->world);
    request_finish(request);
}

static const char *choose_name(Request *request, const Moreau__V1__WorldCreate *message) {
    Host *host = request->api->def.host;
    if (message->name != NULL && message->name[0] != '\0') {
        return message->name;
    }
    const char *base = message->scene == NULL ? NULL : message->scene->name;
    if (base == NULL || base[0] == '\0' ||
        host_find_name(host, base, request_space(request)) == NULL) {
        return base;
    }
    char *name = arena_take(&request->arena, HOST_NAME_BYTES);
    for (uint32_t number = 2; name != NULL && number != 0; number++) {
        snprintf(name, HOST_NAME_BYTES, "%.200s-%u", base, number);
        if (host_find_name(host, name, request_space(request)) == NULL) {
            return name;
        }
    }
    return NULL;
}

Status command_world_create_judge(Request *request, Error *error) {
    const Moreau__V1__WorldCreate *message = request->message->world_create;
    if (message->has_idle_timeout_s) {
        Status status =
            range_check(RANGE_IDLE_TIMEOUT, message->idle_timeout_s, "idle_timeout_s", -1, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    CreatePlan *plan = arena_take_zeroed(&request->arena, 1, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    request->plan = plan;
    return scene_plan(message->scene, message->settings, &request->arena, &plan->scene, error);
}

// The ids of a fresh world count 1, 2, 3 …
size_t command_world_create_bytes(const Request *request) {
    size_t count = ((const CreatePlan *)request->plan)->scene.body_count;
    return 4 * WIRE_HEAD_BYTES_MAX + HOST_NAME_BYTES + count * wire_varint_bytes(count);
}

Status command_world_create_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldCreate *message = request->message->world_create;
    WorldOwner owner = request_owner(request, message->lifetime);
    Status status = host_add(request->api->def.host, choose_name(request, message), &owner,
                             message->has_idle_timeout_s ? message->idle_timeout_s : 0.0,
                             &request->world, error);
    if (status != STATUS_OK) {
        return status;
    }
    request->job = (Job){.work = create_on_lane, .done = on_created};
    pool_submit(request->api->def.pool, &request->world->strand, request_share(request),
                &request->job);
    return STATUS_OK;
}

// ---- destroy, list

Status command_world_destroy(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    uint64_t id = request->message->world_destroy->world;
    WorldEntry *entry = request_find_world(request, id);
    Moreau__V1__WorldDestroyReply *message = arena_take(&request->arena, sizeof(*message));
    if (entry == NULL) {
        return error_set(error, STATUS_NOT_FOUND, "world", "No world has the id %llu.",
                         (unsigned long long)id);
    }
    if (message == NULL) {
        return out_of_memory(error);
    }
    host_destroy(entry);
    moreau__v1__world_destroy_reply__init(message);
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_DESTROY;
    reply->world_destroy = message;
    return STATUS_OK;
}

static void describe_world(const WorldEntry *entry, Moreau__V1__WorldInfo *info) {
    const WorldFigures *figures = &entry->figures;
    uint64_t time_bits = atomic_load_explicit(&figures->time_bits, memory_order_relaxed);
    moreau__v1__world_info__init(info);
    info->has_world = info->has_lifetime = info->has_bodies = info->has_contacts = info->has_step =
        1;
    info->has_time = info->has_faulted = info->has_bytes = 1;
    info->world = entry->id;
    info->name = (char *)entry->name;
    info->lifetime = entry->session == 0 ? MOREAU__V1__WORLD__LIFETIME__SERVER
                                         : MOREAU__V1__WORLD__LIFETIME__SESSION;
    info->client = (char *)entry->client;
    info->token = entry->use == NULL ? NULL : (char *)entry->use->name;
    info->bodies = atomic_load_explicit(&figures->bodies, memory_order_relaxed);
    info->contacts = atomic_load_explicit(&figures->contacts, memory_order_relaxed);
    info->step = atomic_load_explicit(&figures->step, memory_order_relaxed);
    memcpy(&info->time, &time_bits, sizeof(info->time));
    info->faulted = atomic_load_explicit(&figures->faulted, memory_order_relaxed);
    info->solver =
        (char *)solver_get((SolverKind)atomic_load_explicit(&figures->solver, memory_order_relaxed))
            ->name;
    info->bytes = atomic_load_explicit(&figures->bytes, memory_order_relaxed);
    info->has_recording = 1;
    info->recording = atomic_load_explicit(&figures->recording, memory_order_relaxed);
}

// Some hundred rows are made on the loop, more on a lane: of entries that stay until then.
enum { ROWS_MAX = 65536, ROWS_HERE_MAX = 256 };

typedef struct ListPlan {
    Host *host;
    uint64_t total;
    HostRows rows;
} ListPlan;

static void release_rows(Request *request) {
    ListPlan *plan = request->plan;
    host_rows_end(plan->host, &plan->rows);
}

Status command_world_list_prepare(Request *request, Error *error) {
    const Moreau__V1__WorldList *list = request->message->world_list;
    Host *host = request->api->def.host;
    Span span = span_of(list->first, true, list->count, host_count(host, request_view(request)));
    span.count = span.count < ROWS_MAX ? span.count : ROWS_MAX;
    ListPlan *plan = arena_take(&request->arena, sizeof(*plan));
    if (plan == NULL) {
        return out_of_memory(error);
    }
    *plan = (ListPlan){.host = host, .total = host_count(host, request_view(request))};
    Status status = host_rows_begin(host, request_view(request), span.first, span.count,
                                    &request->arena, &plan->rows, error);
    if (status != STATUS_OK) {
        return status;
    }
    request->plan = plan;
    request->finish = release_rows;
    if (plan->rows.count <= ROWS_HERE_MAX) {
        request_work_here(request);
    } else {
        request->is_long = true;
        request_submit(request);
    }
    return STATUS_OK;
}

Status command_world_list(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const ListPlan *plan = request->plan;
    size_t count = plan->rows.count;
    Moreau__V1__WorldListReply *message = arena_take(&request->arena, sizeof(*message));
    Moreau__V1__WorldInfo *info = arena_take_array(&request->arena, count, sizeof(*info));
    Moreau__V1__WorldInfo **rows = arena_take_array(&request->arena, count, sizeof(*rows));
    if (message == NULL || info == NULL || rows == NULL) {
        return out_of_memory(error);
    }
    moreau__v1__world_list_reply__init(message);
    for (size_t i = 0; i < count; i++) {
        rows[i] = &info[i];
        describe_world(plan->rows.entry[i], &info[i]);
    }
    message->has_total = 1;
    message->total = plan->total;
    message->n_worlds = count;
    message->worlds = rows;
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_LIST;
    reply->world_list = message;
    return STATUS_OK;
}

// ---- add

Status command_world_add_materials_judge(Request *request, Error *error) {
    const Moreau__V1__WorldAddMaterials *message = request->message->world_add_materials;
    if (message->n_materials == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "materials",
                         "Give at least one material.");
    }
    Material *materials = arena_take_array(&request->arena, message->n_materials, sizeof(Material));
    if (materials == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < message->n_materials; i++) {
        Status status = convert_material(message->materials[i], i, &materials[i], error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    Input input = {.kind = INPUT_MATERIALS,
                   .materials = {.count = message->n_materials, .material = materials}};
    return keep_input(request, &input, error);
}

// All columns of foundations, or none.
static Status check_foundations(const Moreau__V1__WorldAddShapes *message, size_t count,
                                Error *error) {
    const struct {
        size_t length, stride;
        const char *name;
        bool is_needed;
    } columns[] = {
        {message->n_foundation_face, 1, "foundation_face", true},
        {message->n_foundation_cells, 2, "foundation_cells", true},
        {message->n_foundation_modulus, 1, "foundation_modulus", true},
        {message->n_foundation_depth, 1, "foundation_depth", true},
        {message->n_foundation_damping, 1, "foundation_damping", false},
    };
    bool has_any = false;
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        has_any = has_any || columns[i].length > 0;
        Status status =
            check_column(columns[i].length, count, columns[i].stride, columns[i].name, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    for (size_t i = 0; has_any && i < sizeof(columns) / sizeof(columns[0]); i++) {
        if (columns[i].is_needed && columns[i].length == 0) {
            return error_set(error, STATUS_INVALID_ARGUMENT, columns[i].name,
                             "Foundations need column %s as well.", columns[i].name);
        }
    }
    return STATUS_OK;
}

Status command_world_add_shapes_judge(Request *request, Error *error) {
    const Moreau__V1__WorldAddShapes *message = request->message->world_add_shapes;
    size_t count = message->n_kind;
    if (count == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "kind", "Give at least one primitive.");
    }
    Status status = check_column(message->n_size, count, 3, "size", error);
    if (status == STATUS_OK && message->n_size == 0) {
        status = error_set(error, STATUS_INVALID_ARGUMENT, "size",
                           "Column size is required: 3 numbers per primitive.");
    }
    status = STATUS_THEN(status, check_column(message->n_pose, count, 7, "pose", error));
    status = STATUS_THEN(status, check_column(message->n_material, count, 1, "material", error));
    status = STATUS_THEN(status, check_column(message->n_density, count, 1, "density", error));
    status = STATUS_THEN(status, check_foundations(message, count, error));
    status = STATUS_THEN(status, check_column(message->n_group, count, 1, "group", error));
    status = STATUS_THEN(status, check_column(message->n_mask, count, 1, "mask", error));
    status = STATUS_THEN(status, check_column(message->n_geometry, count, 1, "geometry", error));
    status = STATUS_THEN(status, check_column(message->n_patch_material, count,
                                              MESH_PATCHES_MAX - 1, "patch_material", error));
    if (status != STATUS_OK) {
        return status;
    }
    Input input = {
        .kind = INPUT_SHAPES,
        .shapes = {
            .shape_count = message->n_primitive_count > 0 ? message->n_primitive_count : count,
            .primitive_count = count,
            .primitives_of_shape = message->n_primitive_count > 0 ? message->primitive_count : NULL,
            .kind = (const uint32_t *)message->kind,
            .size = message->size,
            .pose = column(message->n_pose, message->pose),
            .material = message->n_material > 0 ? message->material : NULL,
            .density = column(message->n_density, message->density),
            .foundation_face =
                message->n_foundation_face > 0 ? (const uint32_t *)message->foundation_face : NULL,
            .foundation_cells = message->foundation_cells,
            .foundation_modulus = message->foundation_modulus,
            .foundation_depth = message->foundation_depth,
            .foundation_damping =
                column(message->n_foundation_damping, message->foundation_damping),
            .group = message->n_group > 0 ? message->group : NULL,
            .mask = message->n_mask > 0 ? message->mask : NULL,
            .geometry = message->n_geometry > 0 ? message->geometry : NULL,
            .patch_material = message->n_patch_material > 0 ? message->patch_material : NULL}};
    return keep_input(request, &input, error);
}

Status command_world_add_geometries_judge(Request *request, Error *error) {
    Input input = {.kind = INPUT_GEOMETRIES};
    Status status = wire_geometries(request->message->world_add_geometries, &request->arena,
                                    &input.geometries, error);
    return STATUS_THEN(status, keep_input(request, &input, error));
}

Status command_world_add_bodies_judge(Request *request, Error *error) {
    const Moreau__V1__WorldAddBodies *message = request->message->world_add_bodies;
    size_t count = message->n_pose / 7;
    if (count == 0 || message->n_pose % 7 != 0 || count > UINT32_MAX) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "pose",
                         "Column pose has 7 numbers per body (x y z, quaternion w x y z) and at "
                         "least one body; it has %zu numbers.",
                         message->n_pose);
    }
    const struct {
        size_t length, stride;
        const char *name;
    } columns[] = {
        {message->n_velocity, 6, "velocity"}, {message->n_kind, 1, "kind"},
        {message->n_shape, 1, "shape"},       {message->n_mass, 1, "mass"},
        {message->n_inertia, 6, "inertia"},   {message->n_center_of_mass, 3, "center_of_mass"},
    };
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        Status status =
            check_column(columns[i].length, count, columns[i].stride, columns[i].name, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    Input input = {
        .kind = INPUT_BODIES,
        .bodies = {.count = (uint32_t)count,
                   .pose = message->pose,
                   .velocity = column(message->n_velocity, message->velocity),
                   .kind = message->n_kind > 0 ? (const uint32_t *)message->kind : NULL,
                   .shape = message->n_shape > 0 ? message->shape : NULL,
                   .mass = column(message->n_mass, message->mass),
                   .inertia = column(message->n_inertia, message->inertia),
                   .center_of_mass = column(message->n_center_of_mass, message->center_of_mass)}};
    return keep_input(request, &input, error);
}

Status command_world_add_joints_judge(Request *request, Error *error) {
    Input input = {.kind = INPUT_JOINTS};
    Status status =
        joints_columns(request->message->world_add_joints, &request->arena, &input.joints, error);
    return STATUS_THEN(status, keep_input(request, &input, error));
}

// Ids of materials and shapes count from 1; those of bodies may have been used before.
size_t command_world_add_bytes(const Request *request) {
    const Moreau__V1__Request *message = request->message;
    switch (message->call_case) {
    case MOREAU__V1__REQUEST__CALL_WORLD_ADD_MATERIALS:
        return message->world_add_materials->n_materials * wire_varint_bytes(MATERIAL_COUNT_MAX);
    case MOREAU__V1__REQUEST__CALL_WORLD_ADD_SHAPES:
        return message->world_add_shapes->n_kind * wire_varint_bytes(UINT32_MAX);
    case MOREAU__V1__REQUEST__CALL_WORLD_ADD_GEOMETRIES:
        return (message->world_add_geometries->n_hulls + message->world_add_geometries->n_meshes +
                message->world_add_geometries->n_height_fields) *
               wire_varint_bytes(GEOMETRY_COUNT_MAX);
    case MOREAU__V1__REQUEST__CALL_WORLD_ADD_JOINTS:
        return message->world_add_joints->n_kind * WIRE_VARINT_BYTES_MAX;
    default:
        return message->world_add_bodies->n_pose / 7 * WIRE_VARINT_BYTES_MAX;
    }
}

Status command_world_add(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    Input *input = request->plan;
    Moreau__V1__WorldAddReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    Status status = hulls_build(input, &request->arena, error);
    status = STATUS_THEN(status, host_check_charge(request->api->def.host, request->world->use,
                                                   input_bytes(input), error));
    const Id *ids = NULL;
    size_t count = 0;
    status = STATUS_THEN(
        status, door_change(&request->world->door, input, &request->arena, &ids, &count, error));
    if (status != STATUS_OK) {
        return status;
    }
    moreau__v1__world_add_reply__init(message);
    message->n_ids = count;
    message->ids = (uint64_t *)ids;
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_ADD;
    reply->world_add = message;
    return STATUS_OK;
}

// ---- remove

Status command_world_remove_judge(Request *request, Error *error) {
    const Moreau__V1__WorldRemove *message = request->message->world_remove;
    if (message->n_bodies == 0 && message->n_shapes == 0 && message->n_joints == 0 &&
        message->n_geometries == 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "bodies",
                         "Give at least one id, of a body, a joint, a shape or a geometry.");
    }
    Input input = {.kind = INPUT_REMOVE,
                   .remove = {.body_count = message->n_bodies,
                              .body = message->bodies,
                              .shape_count = message->n_shapes,
                              .shape = message->shapes,
                              .joint_count = message->n_joints,
                              .joint = message->joints,
                              .geometry_count = message->n_geometries,
                              .geometry = message->geometries}};
    return keep_input(request, &input, error);
}

Status command_world_remove(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    Moreau__V1__WorldRemoveReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    Status status =
        door_change(&request->world->door, request->plan, &request->arena, NULL, NULL, error);
    if (status == STATUS_OK) {
        moreau__v1__world_remove_reply__init(message);
        reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_REMOVE;
        reply->world_remove = message;
    }
    return status;
}

// ---- set

Status command_world_set_judge(Request *request, Error *error) {
    Input input = {.kind = INPUT_SET};
    Status status = set_order(request->message->world_set, &request->arena, &input.set, error);
    return STATUS_THEN(status, keep_input(request, &input, error));
}

Status command_world_set(Request *request, Lane *lane, Moreau__V1__Reply *reply, Error *error) {
    (void)lane;
    const Input *input = request->plan;
    Moreau__V1__WorldSetReply *message = arena_take(&request->arena, sizeof(*message));
    if (message == NULL) {
        return out_of_memory(error);
    }
    Status status = door_change(&request->world->door, input, &request->arena, NULL, NULL, error);
    if (status != STATUS_OK) {
        return status;
    }
    moreau__v1__world_set_reply__init(message);
    reply->result_case = MOREAU__V1__REPLY__RESULT_WORLD_SET;
    reply->world_set = message;
    return STATUS_OK;
}
