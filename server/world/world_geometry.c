// SPDX-License-Identifier: MIT
// The geometries of a world, which its primitives wear: by id, as they come and go.
#include "world/world.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdio.h>
#include <string.h>

Status world_add_geometries(World *world, const Geometry *const *geometries, size_t count, Id *ids,
                            Error *error) {
    if (count > GEOMETRY_COUNT_MAX - world->geometry_count) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "geometries",
                         "A world has at most %d geometries, which no option changes.",
                         GEOMETRY_COUNT_MAX);
    }
    if (count > UINT32_MAX - world->geometry_id_next) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "geometries",
                         "A world has at most %u geometries in its life, which no option changes.",
                         UINT32_MAX - 1);
    }
    size_t capacity = world->geometry_capacity;
    const bool has_room = ARRAY_RESERVE(world->geometry, capacity, world->geometry_count + count);
    world->geometry_capacity = (uint32_t)capacity;
    if (!has_room) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while adding geometries.");
    }
    for (size_t i = 0; i < count; i++) {
        WorldGeometry *own = &world->geometry[world->geometry_count++];
        *own = (WorldGeometry){.id = world->geometry_id_next++,
                               .geometry = geometry_hold(geometries[i])};
        memcpy(own->digest, geometries[i]->digest, sizeof(own->digest));
        ids[i] = own->id;
    }
    world->definition_is_hashed = false;
    return STATUS_OK;
}

bool world_find_geometry(const World *world, uint64_t id, uint32_t *geometry) {
    size_t low = 0, high = world->geometry_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (world->geometry[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *geometry = (uint32_t)low;
    return low < world->geometry_count && world->geometry[low].id == id;
}

Status world_blame_geometry(const World *world, uint64_t id, const char *field, Error *error) {
    return error_set(error, STATUS_NOT_FOUND, field,
                     id > 0 && id < world->geometry_id_next
                         ? "Geometry %llu was removed from this world, which has %zu now."
                         : "No geometry has the id %llu in this world, which has %zu.",
                     (unsigned long long)id, world->geometry_count);
}

void world_remove_geometries(World *world, const uint32_t *geometries, uint32_t count) {
    size_t kept = 0;
    for (uint32_t i = 0; i < world->geometry_count; i++) {
        bool is_gone;
        world_count_below(geometries, count, i, &is_gone);
        if (is_gone) {
            geometry_drop(world->geometry[i].geometry);
        } else {
            world->geometry[kept++] = world->geometry[i];
        }
    }
    world->geometry_count = kept;
    for (size_t i = 0; i < world->primitive_count; i++) {
        uint32_t *number = &world->primitive[i].geometry_number;
        if (*number != 0) {
            bool is_gone;
            *number -= world_count_below(geometries, count, *number - 1, &is_gone);
            ASSERT(!is_gone);
        }
    }
    world->definition_is_hashed = false;
}
