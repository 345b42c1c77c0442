// SPDX-License-Identifier: MIT
// The calls on worlds: plain columns in, columns out. Nothing is copied on the way in; the
// generated structs want pointers without const, which packing never writes through.
#include "client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static Moreau__V1__Request make_request(Moreau__V1__Request__CallCase call) {
    Moreau__V1__Request request = MOREAU__V1__REQUEST__INIT;
    request.call_case = call;
    return request;
}

MoreauWorldDef moreau_world_def_default(void) {
    return (MoreauWorldDef){.lifetime = MOREAU_LIFETIME_SESSION};
}

MoreauStatus moreau_ping(MoreauClient *client, uint64_t payload, uint64_t *echo) {
    Moreau__V1__Ping ping = MOREAU__V1__PING__INIT;
    ping.has_payload = 1;
    ping.payload = payload;
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_PING);
    request.ping = &ping;
    MoreauReply *reply;
    MoreauStatus status = call_message(client, &request, MOREAU__V1__REPLY__RESULT_PONG, &reply);
    if (status == MOREAU_OK && echo != NULL) {
        *echo = reply->message->pong->payload;
    }
    moreau_reply_free(reply);
    return status;
}

static MoreauStatus send_create(MoreauClient *client, Moreau__V1__WorldCreate *create,
                                uint64_t *world) {
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_CREATE);
    request.world_create = create;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_CREATE, &reply);
    if (status == MOREAU_OK) {
        *world = reply->message->world_create->world;
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_world_create(MoreauClient *client, const MoreauWorldDef *def, uint64_t *world) {
    Moreau__V1__WorldSettings settings;
    MoreauStatus status = settings_init(client, &def->settings, &settings);
    if (status != MOREAU_OK) {
        settings_deinit(&settings);
        return status;
    }
    Moreau__V1__WorldCreate create = MOREAU__V1__WORLD_CREATE__INIT;
    create.name = (char *)def->name;
    create.has_lifetime = 1;
    create.lifetime = (Moreau__V1__World__Lifetime)def->lifetime;
    create.has_idle_timeout_s = def->idle_timeout_s > 0.0;
    create.idle_timeout_s = def->idle_timeout_s;
    create.settings = &settings;
    if (def->scene != NULL) {
        create.scene = moreau__v1__scene__unpack(NULL, def->scene_bytes, def->scene);
        if (create.scene == NULL) {
            settings_deinit(&settings);
            return client_fail(client, MOREAU_INVALID_ARGUMENT, "scene",
                               "these bytes are no packed Scene");
        }
    }
    status = send_create(client, &create, world);
    if (create.scene != NULL) {
        moreau__v1__scene__free_unpacked(create.scene, NULL);
    }
    settings_deinit(&settings);
    return status;
}

MoreauStatus moreau_world_destroy(MoreauClient *client, uint64_t world) {
    Moreau__V1__WorldDestroy destroy = MOREAU__V1__WORLD_DESTROY__INIT;
    destroy.has_world = 1;
    destroy.world = world;
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_DESTROY);
    request.world_destroy = &destroy;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_DESTROY, &reply);
    moreau_reply_free(reply);
    return status;
}

// Sends one of the three Add calls and takes the ids.
static MoreauStatus add_things(MoreauClient *client, Moreau__V1__Request *request, size_t count,
                               uint64_t *ids) {
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, request, MOREAU__V1__REPLY__RESULT_WORLD_ADD, &reply);
    if (status == MOREAU_OK && reply->message->world_add->n_ids != count) {
        status =
            client_fail(client, MOREAU_INTERNAL, NULL, "the server returned %zu ids for %zu things",
                        reply->message->world_add->n_ids, count);
    }
    if (status == MOREAU_OK && ids != NULL && count > 0) {
        memcpy(ids, reply->message->world_add->ids, count * sizeof(*ids));
    }
    moreau_reply_free(reply);
    return status;
}

static void fill_material(const MoreauMaterials *from, size_t index, Moreau__V1__Material *to) {
    moreau__v1__material__init(to);
    to->name = from->name != NULL ? (char *)from->name[index] : NULL;
    to->has_friction = from->friction != NULL;
    to->friction = from->friction != NULL ? from->friction[index] : 0.0;
    to->has_restitution = from->restitution != NULL;
    to->restitution = from->restitution != NULL ? from->restitution[index] : 0.0;
    to->has_stiffness = from->stiffness != NULL && !isinf(from->stiffness[index]);
    to->stiffness = to->has_stiffness ? from->stiffness[index] : 0.0;
    to->has_dissipation_time = from->dissipation_time != NULL;
    to->dissipation_time = from->dissipation_time != NULL ? from->dissipation_time[index] : 0.0;
    to->has_damping = from->damping != NULL;
    to->damping = from->damping != NULL ? from->damping[index] : 0.0;
    to->has_hertz_exponent = from->hertz_exponent != NULL;
    to->hertz_exponent = from->hertz_exponent != NULL ? from->hertz_exponent[index] : 0.0;
    to->has_priority = from->priority != NULL;
    to->priority = from->priority != NULL ? from->priority[index] : 0.0;
}

MoreauStatus moreau_world_add_materials(MoreauClient *client, uint64_t world,
                                        const MoreauMaterials *materials, uint64_t *ids) {
    size_t count = materials->count;
    Moreau__V1__Material *item = calloc(count > 0 ? count : 1, sizeof(*item));
    Moreau__V1__Material **list = calloc(count > 0 ? count : 1, sizeof(void *));
    MoreauStatus status;
    if (item == NULL || list == NULL) {
        status = client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for %zu materials",
                             count);
    } else {
        for (size_t i = 0; i < count; i++) {
            fill_material(materials, i, &item[i]);
            list[i] = &item[i];
        }
        Moreau__V1__WorldAddMaterials add = MOREAU__V1__WORLD_ADD_MATERIALS__INIT;
        add.has_world = 1;
        add.world = world;
        add.n_materials = count;
        add.materials = list;
        Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_ADD_MATERIALS);
        request.world_add_materials = &add;
        status = add_things(client, &request, count, ids);
    }
    free(list);
    free(item);
    return status;
}

// A hull as a message, with its faces in the memory given.
static void put_hull(const MoreauHull *hull, Moreau__V1__Hull *m, Moreau__V1__HullFace *face,
                     Moreau__V1__HullFace **faces) {
    const uint32_t *corner = hull->corner;
    moreau__v1__hull__init(m);
    for (size_t i = 0; i < hull->face_count; i++) {
        moreau__v1__hull_face__init(&face[i]);
        face[i].n_points = hull->corner_count[i];
        face[i].points = (uint32_t *)(uintptr_t)corner; // only read
        corner += hull->corner_count[i];
        faces[i] = &face[i];
    }
    m->n_points = 3 * hull->point_count;
    m->points = (double *)(uintptr_t)hull->point;
    m->n_faces = hull->face_count;
    m->faces = faces;
}

static MoreauStatus add_geometries(MoreauClient *client, uint64_t world,
                                   Moreau__V1__WorldAddGeometries *add, size_t count,
                                   uint64_t *ids) {
    add->has_world = 1;
    add->world = world;
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_ADD_GEOMETRIES);
    request.world_add_geometries = add;
    return add_things(client, &request, count, ids);
}

MoreauStatus moreau_world_add_hulls(MoreauClient *client, uint64_t world, const MoreauHull *hulls,
                                    size_t count, uint64_t *ids) {
    size_t face_count = 0;
    for (size_t i = 0; i < count; i++) {
        face_count += hulls[i].face_count;
    }
    Moreau__V1__Hull *item = calloc(count + 1, sizeof(*item)),
                     **list = calloc(count + 1, sizeof(*list));
    Moreau__V1__HullFace *face = calloc(face_count + 1, sizeof(*face)),
                         **faces = calloc(face_count + 1, sizeof(*faces));
    MoreauStatus status;
    if (item != NULL && list != NULL && face != NULL && faces != NULL) {
        size_t at = 0;
        for (size_t i = 0; i < count; i++) {
            put_hull(&hulls[i], &item[i], face + at, faces + at);
            list[i] = &item[i];
            at += hulls[i].face_count;
        }
        Moreau__V1__WorldAddGeometries add = MOREAU__V1__WORLD_ADD_GEOMETRIES__INIT;
        add.n_hulls = count;
        add.hulls = list;
        status = add_geometries(client, world, &add, count, ids);
    } else {
        status =
            client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for %zu hulls", count);
    }
    free(item);
    free(list);
    free(face);
    free(faces);
    return status;
}

static void put_mesh(const MoreauMesh *mesh, Moreau__V1__Mesh *m) {
    moreau__v1__mesh__init(m);
    m->n_points = 3 * mesh->point_count;
    m->points = (double *)(uintptr_t)mesh->point; // only read
    m->n_triangles = 3 * mesh->triangle_count;
    m->triangles = (uint32_t *)(uintptr_t)mesh->corner;
    m->has_two_sided = mesh->is_two_sided;
    m->two_sided = mesh->is_two_sided;
    m->n_patches = mesh->patch == NULL ? 0 : mesh->triangle_count;
    m->patches = (uint32_t *)(uintptr_t)mesh->patch;
}

MoreauStatus moreau_world_add_meshes(MoreauClient *client, uint64_t world, const MoreauMesh *meshes,
                                     size_t count, uint64_t *ids) {
    Moreau__V1__Mesh *item = calloc(count + 1, sizeof(*item)),
                     **list = calloc(count + 1, sizeof(*list));
    MoreauStatus status;
    if (item != NULL && list != NULL) {
        for (size_t i = 0; i < count; i++) {
            put_mesh(&meshes[i], &item[i]);
            list[i] = &item[i];
        }
        Moreau__V1__WorldAddGeometries add = MOREAU__V1__WORLD_ADD_GEOMETRIES__INIT;
        add.n_meshes = count;
        add.meshes = list;
        status = add_geometries(client, world, &add, count, ids);
    } else {
        status =
            client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL, "no memory for %zu meshes", count);
    }
    free(item);
    free(list);
    return status;
}

static void put_heights(const MoreauHeightField *field, Moreau__V1__HeightField *m) {
    moreau__v1__height_field__init(m);
    m->has_columns = m->has_rows = 1;
    m->columns = field->columns;
    m->rows = field->rows;
    m->n_spacing = 2;
    m->spacing = (double *)(uintptr_t)field->spacing; // only read
    m->n_heights = (size_t)field->columns * field->rows;
    m->heights = (double *)(uintptr_t)field->height;
    const bool has_cells = field->patch != NULL && field->columns > 0 && field->rows > 0;
    m->n_patches = has_cells ? (size_t)(field->columns - 1) * (field->rows - 1) : 0;
    m->patches = (uint32_t *)(uintptr_t)field->patch;
}

MoreauStatus moreau_world_add_height_fields(MoreauClient *client, uint64_t world,
                                            const MoreauHeightField *fields, size_t count,
                                            uint64_t *ids) {
    Moreau__V1__HeightField *item = calloc(count + 1, sizeof(*item)),
                            **list = calloc(count + 1, sizeof(*list));
    MoreauStatus status;
    if (item != NULL && list != NULL) {
        for (size_t i = 0; i < count; i++) {
            put_heights(&fields[i], &item[i]);
            list[i] = &item[i];
        }
        Moreau__V1__WorldAddGeometries add = MOREAU__V1__WORLD_ADD_GEOMETRIES__INIT;
        add.n_height_fields = count;
        add.height_fields = list;
        status = add_geometries(client, world, &add, count, ids);
    } else {
        status = client_fail(client, MOREAU_RESOURCE_EXHAUSTED, NULL,
                             "no memory for %zu height fields", count);
    }
    free(item);
    free(list);
    return status;
}

MoreauStatus moreau_world_add_shapes(MoreauClient *client, uint64_t world,
                                     const MoreauShapes *shapes, uint64_t *ids) {
    Moreau__V1__WorldAddShapes add = MOREAU__V1__WORLD_ADD_SHAPES__INIT;
    size_t total = shapes->primitive_total;
    add.has_world = 1;
    add.world = world;
    PUT_COLUMN(add, primitive_count, shapes->primitive_count, shapes->count);
    PUT_COLUMN(add, kind, shapes->kind, total);
    PUT_COLUMN(add, size, shapes->size, 3 * total);
    PUT_COLUMN(add, pose, shapes->pose, 7 * total);
    PUT_COLUMN(add, material, shapes->material, total);
    PUT_COLUMN(add, density, shapes->density, total);
    PUT_COLUMN(add, foundation_face, shapes->foundation_face, total);
    PUT_COLUMN(add, foundation_cells, shapes->foundation_cells, 2 * total);
    PUT_COLUMN(add, foundation_modulus, shapes->foundation_modulus, total);
    PUT_COLUMN(add, foundation_depth, shapes->foundation_depth, total);
    PUT_COLUMN(add, foundation_damping, shapes->foundation_damping, total);
    PUT_COLUMN(add, group, shapes->group, total);
    PUT_COLUMN(add, mask, shapes->mask, total);
    PUT_COLUMN(add, geometry, shapes->geometry, total);
    PUT_COLUMN(add, patch_material, shapes->patch_material, 7 * total);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_ADD_SHAPES);
    request.world_add_shapes = &add;
    return add_things(client, &request, shapes->count, ids);
}

MoreauStatus moreau_world_add_bodies(MoreauClient *client, uint64_t world,
                                     const MoreauBodies *bodies, uint64_t *ids) {
    Moreau__V1__WorldAddBodies add = MOREAU__V1__WORLD_ADD_BODIES__INIT;
    size_t count = bodies->count;
    add.has_world = 1;
    add.world = world;
    PUT_COLUMN(add, pose, bodies->pose, 7 * count);
    PUT_COLUMN(add, velocity, bodies->velocity, 6 * count);
    PUT_COLUMN(add, kind, bodies->kind, count);
    PUT_COLUMN(add, shape, bodies->shape, count);
    PUT_COLUMN(add, mass, bodies->mass, count);
    PUT_COLUMN(add, inertia, bodies->inertia, 6 * count);
    PUT_COLUMN(add, center_of_mass, bodies->center_of_mass, 3 * count);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_ADD_BODIES);
    request.world_add_bodies = &add;
    return add_things(client, &request, count, ids);
}

static void put_axes(Moreau__V1__WorldAddJoints *add, const MoreauJoints *joints) {
    const size_t axes = joints->axis_count;
    PUT_COLUMN(*add, low, joints->low, axes);
    PUT_COLUMN(*add, high, joints->high, axes);
    PUT_COLUMN(*add, stiffness, joints->stiffness, axes);
    PUT_COLUMN(*add, rest, joints->rest, axes);
    PUT_COLUMN(*add, damping, joints->damping, axes);
    PUT_COLUMN(*add, friction, joints->friction, axes);
    PUT_COLUMN(*add, armature, joints->armature, axes);
    PUT_COLUMN(*add, drive_stiffness, joints->drive_stiffness, axes);
    PUT_COLUMN(*add, drive_damping, joints->drive_damping, axes);
    PUT_COLUMN(*add, effort_max, joints->effort_max, axes);
    PUT_COLUMN(*add, stall_effort, joints->stall_effort, axes);
    PUT_COLUMN(*add, no_load_speed, joints->no_load_speed, axes);
    PUT_COLUMN(*add, lag_time, joints->lag_time, axes);
    PUT_COLUMN(*add, delay_steps, joints->delay_steps, axes);
    PUT_COLUMN(*add, velocity, joints->velocity, axes);
    PUT_COLUMN(*add, target, joints->target, axes);
    PUT_COLUMN(*add, target_velocity, joints->target_velocity, axes);
    PUT_COLUMN(*add, effort, joints->effort, axes);
    PUT_COLUMN(*add, position, joints->position, joints->position_count);
}

MoreauStatus moreau_world_add_joints(MoreauClient *client, uint64_t world,
                                     const MoreauJoints *joints, uint64_t *ids) {
    Moreau__V1__WorldAddJoints add = MOREAU__V1__WORLD_ADD_JOINTS__INIT;
    const size_t count = joints->count;
    add.has_world = 1;
    add.world = world;
    PUT_COLUMN(add, kind, joints->kind, count);
    PUT_COLUMN(add, body_a, joints->body_a, count);
    PUT_COLUMN(add, body_b, joints->body_b, count);
    PUT_COLUMN(add, axes, joints->axes, count);
    PUT_COLUMN(add, frame_a, joints->frame_a, 7 * count);
    PUT_COLUMN(add, frame_b, joints->frame_b, 7 * count);
    PUT_COLUMN(add, as_rows, joints->as_rows, count);
    PUT_COLUMN(add, collides, joints->collides, count);
    PUT_COLUMN(add, joint_a, joints->joint_a, count);
    PUT_COLUMN(add, joint_b, joints->joint_b, count);
    PUT_COLUMN(add, coupled_count, joints->coupled_count, count);
    PUT_COLUMN(add, coupled, joints->coupled, joints->coupling_count);
    PUT_COLUMN(add, coupled_axes, joints->coupled_axes, joints->coupling_count);
    PUT_COLUMN(add, coefficients, joints->coefficients, joints->coupling_count);
    PUT_COLUMN(add, ratio, joints->ratio, count);
    PUT_COLUMN(add, length, joints->length, count);
    PUT_COLUMN(add, break_force, joints->break_force, count);
    PUT_COLUMN(add, break_torque, joints->break_torque, count);
    PUT_COLUMN(add, names, joints->names, count);
    put_axes(&add, joints);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_ADD_JOINTS);
    request.world_add_joints = &add;
    return add_things(client, &request, count, ids);
}

MoreauStatus moreau_world_set_joints(MoreauClient *client, uint64_t world,
                                     const MoreauJointState *state) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    const size_t axes = state->axis_count;
    set.has_world = 1;
    set.world = world;
    PUT_COLUMN(set, joints, state->joints, state->count);
    PUT_COLUMN(set, joint_position, state->position, state->position_count);
    PUT_COLUMN(set, joint_velocity, state->velocity, axes);
    PUT_COLUMN(set, joint_target, state->target, axes);
    PUT_COLUMN(set, joint_target_velocity, state->target_velocity, axes);
    PUT_COLUMN(set, joint_effort, state->effort, axes);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_SET);
    request.world_set = &set;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_SET, &reply);
    moreau_reply_free(reply);
    return status;
}

static MoreauStatus remove_things(MoreauClient *client, Moreau__V1__WorldRemove *remove,
                                  uint64_t world) {
    remove->has_world = 1;
    remove->world = world;
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_REMOVE);
    request.world_remove = remove;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_REMOVE, &reply);
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_world_remove(MoreauClient *client, uint64_t world, size_t body_count,
                                 const uint64_t *bodies, size_t shape_count,
                                 const uint64_t *shapes) {
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    PUT_COLUMN(remove, bodies, bodies, body_count);
    PUT_COLUMN(remove, shapes, shapes, shape_count);
    return remove_things(client, &remove, world);
}

MoreauStatus moreau_world_remove_joints(MoreauClient *client, uint64_t world, size_t count,
                                        const uint64_t *joints) {
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    PUT_COLUMN(remove, joints, joints, count);
    return remove_things(client, &remove, world);
}

MoreauStatus moreau_world_remove_geometries(MoreauClient *client, uint64_t world, size_t count,
                                            const uint64_t *geometries) {
    Moreau__V1__WorldRemove remove = MOREAU__V1__WORLD_REMOVE__INIT;
    PUT_COLUMN(remove, geometries, geometries, count);
    return remove_things(client, &remove, world);
}

MoreauStatus moreau_world_set(MoreauClient *client, uint64_t world, const MoreauSettings *settings,
                              size_t count, const uint64_t *ids, const double *pose,
                              const double *velocity) {
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.has_world = 1;
    set.world = world;
    PUT_COLUMN(set, ids, ids, count);
    PUT_COLUMN(set, pose, pose, 7 * count);
    PUT_COLUMN(set, velocity, velocity, 6 * count);
    Moreau__V1__WorldSettings message = MOREAU__V1__WORLD_SETTINGS__INIT;
    if (settings != NULL) {
        MoreauStatus status = settings_init(client, settings, &message);
        if (status != MOREAU_OK) {
            settings_deinit(&message);
            return status;
        }
        set.settings = &message;
    }
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_SET);
    request.world_set = &set;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_SET, &reply);
    moreau_reply_free(reply);
    settings_deinit(&message);
    return status;
}

MoreauStatus moreau_world_hash(MoreauClient *client, size_t count, const uint64_t *worlds,
                               uint64_t *hash, uint64_t *step) {
    Moreau__V1__WorldHash ask = MOREAU__V1__WORLD_HASH__INIT;
    PUT_COLUMN(ask, worlds, worlds, count);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_HASH);
    request.world_hash = &ask;
    MoreauReply *reply;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_HASH, &reply);
    if (status == MOREAU_OK) {
        const Moreau__V1__WorldHashReply *result = reply->message->world_hash;
        if (result->n_hash != count || (step != NULL && result->n_step != count)) {
            status =
                client_fail(client, MOREAU_INTERNAL, NULL,
                            "the server returned %zu hashes for %zu worlds", result->n_hash, count);
        } else if (count > 0) {
            memcpy(hash, result->hash, count * sizeof(*hash));
            if (step != NULL) {
                memcpy(step, result->step, count * sizeof(*step));
            }
        }
        if (status == MOREAU_OK && result->n_failures > 0) {
            error_from_status(&client->error, result->failures[0]);
            status = client->error.status;
        }
    }
    moreau_reply_free(reply);
    return status;
}

MoreauStatus moreau_world_ray_cast(MoreauClient *client, uint64_t world, const MoreauRays *rays,
                                   MoreauReply **reply, MoreauRayHits *hits) {
    Moreau__V1__WorldRayCast cast = MOREAU__V1__WORLD_RAY_CAST__INIT;
    PUT_COLUMN(cast, worlds, &world, 1);
    PUT_COLUMN(cast, origin, rays->origin, 3 * rays->count);
    PUT_COLUMN(cast, way, rays->way, 3 * rays->count);
    PUT_COLUMN(cast, group, rays->group, rays->count);
    PUT_COLUMN(cast, mask, rays->mask, rays->count);
    Moreau__V1__Request request = make_request(MOREAU__V1__REQUEST__CALL_WORLD_RAY_CAST);
    request.world_ray_cast = &cast;
    MoreauStatus status =
        call_message(client, &request, MOREAU__V1__REPLY__RESULT_WORLD_RAY_CAST, reply);
    if (status != MOREAU_OK) {
        return status;
    }
    const Moreau__V1__WorldRayCastReply *met = (*reply)->message->world_ray_cast;
    const size_t n = rays->count;
    const bool is_whole = met->n_body == n && met->n_primitive == n && met->n_fraction == n &&
                          met->n_point == 3 * n && met->n_normal == 3 * n;
    if (met->n_failures > 0 || !is_whole) {
        if (met->n_failures > 0) {
            error_from_status(&client->error, met->failures[0]);
        } else {
            client_fail(client, MOREAU_INTERNAL, NULL, "the server returned %zu rows for %zu rays",
                        met->n_body, n);
        }
        moreau_reply_free(*reply);
        *reply = NULL;
        return client->error.status;
    }
    *hits = (MoreauRayHits){.count = n,
                            .body = met->body,
                            .primitive = met->primitive,
                            .fraction = met->fraction,
                            .point = met->point,
                            .normal = met->normal};
    return MOREAU_OK;
}
