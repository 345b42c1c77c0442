// SPDX-License-Identifier: MIT
// Sizes that primitives do not have, as a sphere's second: whatever a snapshot's bytes say for them
// is forgotten by who reads it, and written as 0.
#pragma once

#include "world/world.h"

// How many bytes of a world's snapshot those are: a size that a primitive has is more than 0.
static inline size_t idle_size_bytes(const World *world) {
    size_t count = 0;
    for (uint32_t i = 0; i < world->primitive_count; i++) {
        double size[3];
        vec3_store(size, world->primitive[i].size);
        for (int k = 0; k < 3; k++) {
            count += size[k] == 0.0 ? sizeof(double) : 0;
        }
    }
    return count;
}
