// SPDX-License-Identifier: MIT
// The state and the masses of a world's bodies, set from outside.
#include "world/world.h"

#include "base/assert.h"
#include "world/sleep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What a body is and does that hangs by a joint of coordinates follows from that joint's numbers.
static Status check_hangs(const World *world, const BodyUpdate *update, size_t i, uint32_t body,
                          Error *error) {
    const uint32_t index = world_joint_of_child(world, body);
    if (index == JOINT_NONE || (update->pose == NULL && update->velocity == NULL)) {
        return STATUS_OK;
    }
    const Joint *joint = &world->joint[index];
    char field[64];
    snprintf(field, sizeof(field), "ids[%zu]", i);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "Body %llu hangs by joint %llu (%.64s), whose numbers make its pose and its "
                     "velocity: set %s of that joint.",
                     (unsigned long long)update->id[i], (unsigned long long)joint->id,
                     joint->name == NULL ? "nameless" : joint->name,
                     update->pose != NULL ? "joint_position" : "joint_velocity");
}

static bool has_mass(const BodyUpdate *update) {
    return update->mass != NULL || update->inertia != NULL;
}

// Its mass as it would be.
static Status merge_mass(const World *world, const BodyUpdate *update, size_t i, uint32_t body,
                         BodyMass *mass, Error *error) {
    return body_change_mass(&world->mass[body], update->mass == NULL ? NULL : update->mass + i,
                            update->inertia == NULL ? NULL : update->inertia + 6 * i, (uint32_t)i,
                            mass, error);
}

static Status check_mass(const World *world, const BodyUpdate *update, size_t i, uint32_t body,
                         Error *error) {
    BodyMass mass;
    if (!has_mass(update)) {
        return STATUS_OK;
    }
    if (world->kind[body] == BODY_DYNAMIC) {
        return merge_mass(world, update, i, body, &mass, error);
    }
    char field[64];
    snprintf(field, sizeof(field), "ids[%zu]", i);
    return error_set(error, STATUS_INVALID_ARGUMENT, field,
                     "Body %llu is %s: only dynamic bodies have a mass.",
                     (unsigned long long)update->id[i],
                     world->kind[body] == BODY_STATIC ? "static" : "kinematic");
}

static Status check_update(const World *world, const BodyUpdate *update, Error *error) {
    Status once = world_check_once(update->id, update->count, "ids", error);
    if (once != STATUS_OK) {
        return once;
    }
    for (size_t i = 0; i < update->count; i++) {
        uint32_t body;
        char field[64];
        if (!world_find_body(world, update->id[i], &body)) {
            snprintf(field, sizeof(field), "ids[%zu]", i);
            return world_blame_body(world, update->id[i], field, error);
        }
        Status status = check_hangs(world, update, i, body, error);
        status = STATUS_THEN_IF(status, update->pose != NULL,
                                body_check_pose(update->pose + 7 * i, (uint32_t)i, error));
        if (status == STATUS_OK && update->velocity != NULL) {
            status = body_check_velocity(update->velocity + 6 * i, (uint32_t)i, error);
            if (status == STATUS_OK && world->kind[body] == BODY_STATIC) {
                snprintf(field, sizeof(field), "ids[%zu]", i);
                status = error_set(
                    error, STATUS_INVALID_ARGUMENT, field,
                    "Body %llu is static and has no velocity; make it kinematic to move it.",
                    (unsigned long long)update->id[i]);
            }
        }
        status = STATUS_THEN(status, check_mass(world, update, i, body, error));
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// Impulses of contacts that a body had before it was put elsewhere say nothing about the new place.
static void forget_memory(World *world, const BodyUpdate *update) {
    uint8_t *moved = calloc(world->body_count, 1);
    if (moved == NULL) {
        world->memory_count = 0; // a cold start is always right
        return;
    }
    for (size_t i = 0; i < update->count; i++) {
        uint32_t body = 0;
        world_find_body(world, update->id[i], &body);
        moved[body] = 1;
    }
    size_t kept = 0;
    for (size_t i = 0; i < world->memory_count; i++) {
        if (!moved[world->memory[i].a] && !moved[world->memory[i].b]) {
            world->memory[kept++] = world->memory[i];
        }
    }
    world->memory_count = kept;
    free(moved);
}

// Before they are changed.
static void disturb(World *world, const BodyUpdate *update) {
    uint32_t body = 0;
    if (world->sleep == NULL) {
        return;
    }
    uint32_t *bodies = calloc(update->count + 1, sizeof(uint32_t));
    if (bodies == NULL) {
        sleep_wake_all(world);
        return;
    }
    for (size_t i = 0; i < update->count; i++) {
        world_find_body(world, update->id[i], &body);
        bodies[i] = body;
    }
    sleep_disturb(world, bodies, update->count, update->pose != NULL);
    free(bodies);
}

static void set_masses(World *world, const BodyUpdate *update) {
    for (size_t i = 0; i < update->count; i++) {
        uint32_t body = 0;
        BodyMass mass = {0};
        world_find_body(world, update->id[i], &body);
        const Status status = merge_mass(world, update, i, body, &mass, NULL);
        ASSERT(status == STATUS_OK);
        world->mass[body] = mass;
    }
    world->definition_is_hashed = false;
}

void world_drive_bodies(World *world, const uint32_t *bodies, size_t count,
                        const double *velocity) {
    sleep_disturb(world, bodies, count, false);
    for (size_t i = 0; i < count; i++) {
        world_move_body(world, bodies[i], velocity + 6 * i);
    }
    if (count > 0) {
        world_settle_joints(world); // what they carry
    }
}

Status world_update_bodies(World *world, const BodyUpdate *update, Error *error) {
    Status status = check_update(world, update, error);
    if (status != STATUS_OK) {
        return status;
    }
    disturb(world, update);
    for (size_t i = 0; i < update->count; i++) {
        uint32_t body = 0;
        bool found = world_find_body(world, update->id[i], &body);
        ASSERT(found);
        if (update->pose != NULL) {
            world_place_body(world, body, update->pose + 7 * i);
        }
        if (update->velocity != NULL) {
            world_move_body(world, body, update->velocity + 6 * i);
        }
    }
    if (has_mass(update) && update->count > 0) {
        set_masses(world, update);
    }
    if (update->pose != NULL && update->count > 0) {
        forget_memory(world, update);
        world->bodies_moved = true;
    }
    if ((update->pose != NULL || update->velocity != NULL) && update->count > 0) {
        world_settle_joints(world); // what they hang on may be among them
    }
    world->faulted = false;
    return STATUS_OK;
}
