// SPDX-License-Identifier: MIT
// Removing bodies, joints, shapes and geometries from outside.
#include "world/world.h"

#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Which of the world's things are named, and their indices, rising.
typedef struct Named {
    uint8_t *is_named; // per thing
    uint32_t *index;
    uint32_t count;
} Named;

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while removing.");
}

static Status blame(Error *error, Status status, const char *column, size_t entry, const char *why,
                    uint64_t id) {
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, status, field, why, (unsigned long long)id);
}

static Status name_body(const World *world, uint64_t id, size_t entry, uint32_t *index,
                        Error *error) {
    char field[64];
    if (world_find_body(world, id, index)) {
        return STATUS_OK;
    }
    snprintf(field, sizeof(field), "bodies[%zu]", entry);
    return world_blame_body(world, id, field, error);
}

static Status name_shape(const World *world, uint64_t id, size_t entry, uint32_t *index,
                         Error *error) {
    return world_find_shape(world, id, index)
               ? STATUS_OK
               : blame(error, STATUS_NOT_FOUND, "shapes", entry,
                       "No shape has the id %llu in this world.", id);
}

static Status name_geometry(const World *world, uint64_t id, size_t entry, uint32_t *index,
                            Error *error) {
    char field[64];
    snprintf(field, sizeof(field), "geometries[%zu]", entry);
    return world_find_geometry(world, id, index) ? STATUS_OK
                                                 : world_blame_geometry(world, id, field, error);
}

static Status name_joint(const World *world, uint64_t id, size_t entry, uint32_t *index,
                         Error *error) {
    char field[64];
    if (world_find_joint(world, id, index)) {
        return STATUS_OK;
    }
    snprintf(field, sizeof(field), "joints[%zu]", entry);
    return world_blame_joint(world, id, field, error);
}

typedef Status NameProc(const World *world, uint64_t id, size_t entry, uint32_t *index,
                        Error *error);

static Status name_all(const World *world, const uint64_t *id, size_t count, size_t thing_count,
                       NameProc *name, const char *column, Named *named, Error *error) {
    if (count == 0) {
        return STATUS_OK;
    }
    // no more than there are can be named without naming one twice
    size_t room = count < thing_count ? count : thing_count;
    named->is_named = calloc(thing_count + 1, 1);
    named->index = malloc((room + 1) * sizeof(uint32_t));
    if (named->is_named == NULL || named->index == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        uint32_t index;
        Status status = name(world, id[i], i, &index, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (named->is_named[index]) {
            return blame(error, STATUS_INVALID_ARGUMENT, column, i, "The id %llu stands twice.",
                         id[i]);
        }
        named->is_named[index] = 1;
    }
    for (uint32_t index = 0; index < thing_count; index++) {
        if (named->is_named[index]) {
            named->index[named->count++] = index;
        }
    }
    return STATUS_OK;
}

// A shape may go when every body that has it goes as well.
static Status check_users(const World *world, const RemoveOrder *order, const Named *bodies,
                          const Named *shapes, Error *error) {
    for (uint32_t body = 0; shapes->count > 0 && body < world->body_count; body++) {
        uint32_t shape = world->body_shape[body];
        bool stays = bodies->count == 0 || !bodies->is_named[body];
        if (!stays || shape == UINT32_MAX || !shapes->is_named[shape]) {
            continue;
        }
        size_t entry = 0;
        while (order->shape[entry] != world->shape[shape].id) {
            entry++;
        }
        return blame(error, STATUS_FAILED_PRECONDITION, "shapes", entry,
                     "Body %llu has this shape: remove it first, or in the same call.",
                     world->body_id[body]);
    }
    return STATUS_OK;
}

// A geometry may go when every shape that wears it goes as well.
static Status check_wearers(const World *world, const RemoveOrder *order, const Named *shapes,
                            const Named *geometries, Error *error) {
    for (uint32_t i = 0; geometries->count > 0 && i < world->shape_count; i++) {
        const Shape *shape = &world->shape[i];
        for (uint32_t k = 0; k < shape->primitive_count; k++) {
            const uint32_t number = world->primitive[shape->primitive_first + k].geometry_number;
            if (number == 0 || !geometries->is_named[number - 1] ||
                (shapes->count > 0 && shapes->is_named[i])) {
                continue;
            }
            size_t entry = 0;
            while (order->geometry[entry] != world->geometry[number - 1].id) {
                entry++;
            }
            return blame(error, STATUS_FAILED_PRECONDITION, "geometries", entry,
                         "Shape %llu wears this geometry: remove it first, or in the same call.",
                         shape->id);
        }
    }
    return STATUS_OK;
}

// A body that a joint holds stays, unless that goes as well.
static Status check_joints(const World *world, const RemoveOrder *order, const Named *bodies,
                           const Named *joints, Error *error) {
    for (size_t i = 0; bodies->count > 0 && i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (joints->count > 0 && joints->is_named[i]) {
            continue;
        }
        for (int side = 0; side < 2; side++) {
            uint32_t body = joint->body[side];
            if (body == JOINT_NO_BODY || !bodies->is_named[body]) {
                continue;
            }
            size_t entry = 0;
            while (order->body[entry] != world->body_id[body]) {
                entry++;
            }
            return blame(error, STATUS_FAILED_PRECONDITION, "bodies", entry,
                         "Joint %llu holds this body: remove it first, or in the same call.",
                         joint->id);
        }
    }
    return STATUS_OK;
}

// Those that stay move down, with their primitives, and keep their order.
static void remove_shapes(World *world, const Named *shapes) {
    size_t primitives = 0, kept = 0;
    for (uint32_t i = 0; i < world->shape_count; i++) {
        Shape shape = world->shape[i];
        if (shapes->is_named[i]) {
            continue;
        }
        memmove(world->primitive + primitives, world->primitive + shape.primitive_first,
                shape.primitive_count * sizeof(Primitive));
        shape.primitive_first = (uint32_t)primitives;
        primitives += shape.primitive_count;
        world->shape[kept++] = shape;
    }
    world->primitive_count = primitives;
    world->shape_count = kept;
    for (uint32_t body = 0; body < world->body_count; body++) {
        if (world->body_shape[body] != UINT32_MAX) {
            bool is_gone;
            world->body_shape[body] -=
                world_count_below(shapes->index, shapes->count, world->body_shape[body], &is_gone);
            ASSERT(!is_gone);
        }
    }
    world->definition_is_hashed = false;
}

typedef struct RemovePlan {
    Named bodies, shapes, joints, geometries;
} RemovePlan;

static Status judge(const World *world, const RemoveOrder *order, RemovePlan *plan, Error *error) {
    Status status = name_all(world, order->body, order->body_count, world->body_count, name_body,
                             "bodies", &plan->bodies, error);
    status =
        STATUS_THEN(status, name_all(world, order->shape, order->shape_count, world->shape_count,
                                     name_shape, "shapes", &plan->shapes, error));
    status = STATUS_THEN(status, check_users(world, order, &plan->bodies, &plan->shapes, error));
    status =
        STATUS_THEN(status, name_all(world, order->joint, order->joint_count, world->joint_count,
                                     name_joint, "joints", &plan->joints, error));
    status = STATUS_THEN(status, check_joints(world, order, &plan->bodies, &plan->joints, error));
    status = STATUS_THEN(status, name_all(world, order->geometry, order->geometry_count,
                                          world->geometry_count, name_geometry, "geometries",
                                          &plan->geometries, error));
    return STATUS_THEN(status,
                       check_wearers(world, order, &plan->shapes, &plan->geometries, error));
}

static void forget(Named *named) {
    free(named->is_named);
    free(named->index);
}

Status world_remove(World *world, const RemoveOrder *order, Error *error) {
    RemovePlan plan = {0};
    Status status = judge(world, order, &plan, error);
    if (status == STATUS_OK) {
        world_remove_joints(world, plan.joints.index, plan.joints.count);
    }
    if (status == STATUS_OK && plan.bodies.count > 0) {
        world_remove_bodies(world, plan.bodies.index, plan.bodies.count);
        world->faulted = false;
    }
    if (status == STATUS_OK && plan.shapes.count > 0) {
        remove_shapes(world, &plan.shapes);
    }
    if (status == STATUS_OK && plan.geometries.count > 0) {
        world_remove_geometries(world, plan.geometries.index, plan.geometries.count);
    }
    forget(&plan.bodies);
    forget(&plan.shapes);
    forget(&plan.joints);
    forget(&plan.geometries);
    return status;
}
