// SPDX-License-Identifier: MIT
#include "run/groups/ray_channel.h"

#include "base/assert.h"
#include "world/range.h"

#include <string.h>

// Of the body's x: what is less of it beside the vertical is rounding, and no heading.
static const double heading_min = 1e-9;

static bool are_places(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!range_holds(RANGE_POSITION, numbers[i])) {
            return false;
        }
    }
    return true;
}

const char *ray_channel_wrong(const ChannelRays *rays, const char **field) {
    *field = "ray_way";
    if (rays->count == 0) {
        return "Say which rays: three numbers each, where they go to from their origins%s.";
    }
    for (size_t i = 0; i < rays->count; i++) {
        const Vec3 way = vec3_load(rays->way + 3 * i);
        if (!(vec3_dot(way, way) > 0.0)) {
            return "A ray of no length goes nowhere: say how far it looks%s.";
        }
    }
    if (!are_places(rays->way, 3 * rays->count)) {
        return "The ways of rays are -1e9 to 1e9 m%s.";
    }
    *field = "ray_origin";
    if (rays->origin == NULL) {
        return "It needs 3 numbers per ray, or 3 for all%s.";
    }
    if (!are_places(rays->origin, 3 * rays->count)) {
        return "The origins of rays are -1e9 to 1e9 m%s.";
    }
    *field = "ray_mask";
    return rays->mask == 0 ? "Rays with mask 0 meet nothing; leave it out to meet all%s." : NULL;
}

const ChannelRays *ray_channel_copy(const ChannelRays *rays, Arena *arena) {
    ChannelRays *made = arena_take(arena, sizeof(*made));
    double *numbers = arena_take_array(arena, 6 * rays->count, sizeof(double));
    if (made == NULL || numbers == NULL) {
        return NULL;
    }
    *made = *rays;
    made->origin = memcpy(numbers, rays->origin, 3 * rays->count * sizeof(double));
    made->way = memcpy(numbers + 3 * rays->count, rays->way, 3 * rays->count * sizeof(double));
    return made;
}

// The turn about z that brings x to where the body's x goes, seen from above; none where that looks
// straight up or down.
static Quat heading_of(Quat turn) {
    const Vec3 x = quat_to_mat3(turn).c0;
    const double along = sqrt(x.x * x.x + x.y * x.y);
    if (!(along > heading_min)) {
        return quat_identity();
    }
    const double cosine = x.x / along;
    const double half = sqrt(fmax(0.0, 0.5 * (1.0 + cosine))),
                 sine = sqrt(fmax(0.0, 0.5 * (1.0 - cosine)));
    return quat_normalize((Quat){half, 0.0, 0.0, x.y < 0.0 ? -sine : sine});
}

Pose ray_channel_pose(const ChannelRays *rays, const World *world, uint32_t body) {
    ASSERT(body < world->body_count);
    double numbers[7];
    world_body_pose(world, body, numbers);
    Pose pose = pose_load(numbers);
    pose.orientation = rays->heading ? heading_of(pose.orientation) : pose.orientation;
    return pose;
}

double ray_channel_read(const ChannelRays *rays, uint32_t ray, const Pose *pose, uint32_t body,
                        RayCast *cast) {
    ASSERT(ray < rays->count);
    const size_t at = 3 * (size_t)ray;
    const Ray looking = {.origin = pose_apply(*pose, vec3_load(rays->origin + at)),
                         .way = quat_rotate(pose->orientation, vec3_load(rays->way + at)),
                         .group = UINT32_MAX,
                         .mask = rays->mask,
                         .unseen_body = body};
    RayHit hit;
    raycast_ray(cast, &looking, &hit);
    return hit.body == UINT32_MAX ? 1.0 : hit.fraction;
}
