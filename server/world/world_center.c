// SPDX-License-Identifier: MIT
// Where a body's mass has its centre, moved within the body. All that a person sees of it stays:
// its origin with its shapes, the frames of its joints, and how its points move. What stands here
// from the centre on, positions, velocities and frames of joints, is said anew.
#include "world/world.h"

#include "base/assert.h"
#include "world/range.h"
#include "world/sleep.h"

static bool is_same(Vec3 a, Vec3 b) {
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

// The state of a body that is as it was, told of a centre that lies `shift` further, in its axes.
static void tell_from(World *world, uint32_t body, Vec3 shift) {
    double *pose = world->pose + 7 * (size_t)body, *velocity = world->velocity + 6 * (size_t)body;
    const Vec3 arm = quat_rotate(pose_load(pose).orientation, shift);
    vec3_store(pose, vec3_add(vec3_load(pose), arm));
    vec3_store(velocity, vec3_add(vec3_load(velocity), vec3_cross(vec3_load(velocity + 3), arm)));
}

static void keep_frames(World *world, uint32_t body, Vec3 shift) {
    for (size_t i = 0; i < world->joint_count; i++) {
        Joint *joint = &world->joint[i];
        for (int side = 0; side < 2; side++) {
            if (joint->body[side] == body) {
                joint->frame[side].position = vec3_sub(joint->frame[side].position, shift);
            }
        }
    }
}

static Status check(const World *world, uint32_t body, const double center[3], Error *error) {
    if (world->kind[body] != BODY_DYNAMIC) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "center_of_mass",
                         "Body %llu is %s: only dynamic bodies have a mass.",
                         (unsigned long long)world->body_id[body],
                         world->kind[body] == BODY_STATIC ? "static" : "kinematic");
    }
    Status status = STATUS_OK;
    for (int i = 0; i < 3; i++) {
        status =
            STATUS_THEN(status, range_check(RANGE_POSITION, center[i], "center_of_mass", i, error));
    }
    return status;
}

Status world_move_center(World *world, uint32_t body, const double center[3], Error *error) {
    ASSERT(body < world->body_count);
    Status status = check(world, body, center, error);
    const Vec3 shift = vec3_sub(vec3_load(center), world->mass[body].center);
    if (status != STATUS_OK || is_same(shift, vec3(0.0, 0.0, 0.0))) {
        return status;
    }
    sleep_disturb(world, &body, 1, false);
    world->mass[body].center = vec3_load(center);
    tell_from(world, body, shift);
    keep_frames(world, body, shift);
    world->has_center = true; // also where it is the origin again: that is slower alone
    world->definition_is_hashed = false;
    world->bodies_moved = true;
    world->faulted = false;
    world_settle_joints(world);
    return STATUS_OK;
}

void world_keep_origins(World *to, const World *from) {
    ASSERT(world_is_alike(to, from));
    bool differ = false;
    for (uint32_t i = 0; (to->has_center || from->has_center) && i < to->body_count; i++) {
        const Vec3 own = to->mass[i].center, of = from->mass[i].center;
        if (!is_same(own, of)) {
            tell_from(to, i, vec3_sub(own, of));
            differ = true;
        }
    }
    if (differ) {
        world_settle_joints(to); // links of trees stand where their joints' numbers put them
    }
}
