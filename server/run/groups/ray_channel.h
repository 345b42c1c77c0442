// SPDX-License-Identifier: MIT
// Rays that go with a body, as a channel of what is read: range finders, fans, scans of the ground
// around. Each is a number, the fraction of its way at which it meets something; 1: nothing. The
// body itself they do not see.
#pragma once

#include "collide/raycast.h"

typedef struct ChannelRays {
    size_t count;
    // 3 per ray [m], in the body's axes, from its origin; `origin` NULL: not as many as ways
    const double *origin, *way;
    uint32_t mask; // as of primitives
    bool heading;  // axes that turn with the body about the world's z alone
} ChannelRays;

// What is wrong, and in which field; NULL: nothing.
const char *ray_channel_wrong(const ChannelRays *rays, const char **field);

// Makes it the arena's own. NULL: memory ends.
const ChannelRays *ray_channel_copy(const ChannelRays *rays, Arena *arena);

// Where a body is, for its rays.
Pose ray_channel_pose(const ChannelRays *rays, const World *world, uint32_t body);

double ray_channel_read(const ChannelRays *rays, uint32_t ray, const Pose *pose, uint32_t body,
                        RayCast *cast);
