// SPDX-License-Identifier: MIT
// Which geometry a body wears, of those that its world has: another terrain, without another world.
#include "world/world.h"

#include "base/assert.h"
#include "base/hash.h"
#include "world/sleep.h"

bool world_find_worn(const World *world, uint32_t body, uint32_t *primitive) {
    ASSERT(body < world->body_count);
    if (world->body_shape[body] == UINT32_MAX) {
        return false;
    }
    const Shape *shape = &world->shape[world->body_shape[body]];
    uint32_t found = 0;
    for (uint32_t i = 0; i < shape->primitive_count; i++) {
        if (world->primitive[shape->primitive_first + i].geometry_number != 0) {
            *primitive = shape->primitive_first + i;
            found++;
        }
    }
    return found == 1;
}

static Status check_kind(const Primitive *primitive, const Geometry *geometry, uint64_t id,
                         Error *error) {
    const PrimitiveRow *row = &primitive_rows[primitive->kind];
    return row->geometry == geometry->kind
               ? STATUS_OK
               : error_set(error, STATUS_INVALID_ARGUMENT, "geometry",
                           "The primitive is of kind %s, and geometry %llu is of another.",
                           row->name, (unsigned long long)id);
}

// What contacts bore says nothing about other surfaces, and what lay still may lie on nothing.
static void change(World *world, uint32_t body, const Primitive *worn, uint32_t primitive) {
    sleep_wake_all(world);
    world->memory_count = 0;
    world->primitive[primitive] = *worn;
    shape_measure(&world->shape[world->body_shape[body]], world->primitive);
    world->definition_is_hashed = false;
    world->bodies_moved = true;
}

// The primitive as it would be.
static Status try_on(const World *world, uint32_t body, uint64_t id, uint32_t *primitive,
                     Primitive *worn, Error *error) {
    uint32_t index;
    const bool has_one = world_find_worn(world, body, primitive);
    ASSERT(has_one);
    if (!world_find_geometry(world, id, &index)) {
        return world_blame_geometry(world, id, "geometry", error);
    }
    *worn = world->primitive[*primitive];
    worn->geometry_number = index + 1;
    worn->geometry = world->geometry[index].geometry;
    Status status = check_kind(worn, worn->geometry, id, error);
    return STATUS_THEN(status, primitive_check(worn, *primitive, error));
}

Status world_check_wear(const World *world, uint32_t body, uint64_t id, Error *error) {
    uint32_t primitive;
    Primitive worn;
    return try_on(world, body, id, &primitive, &worn, error);
}

Status world_wear(World *world, uint32_t body, uint64_t id, Error *error) {
    uint32_t primitive = 0;
    Primitive worn = {0};
    Status status = try_on(world, body, id, &primitive, &worn, error);
    if (status == STATUS_OK &&
        worn.geometry_number != world->primitive[primitive].geometry_number) {
        change(world, body, &worn, primitive);
    }
    return status;
}

uint64_t world_worn_hash(const World *world) {
    Hash hash;
    if (world->geometry_count == 0) {
        return 0;
    }
    hash_init(&hash, 0);
    for (size_t i = 0; i < world->primitive_count; i++) {
        hash_add(&hash, &world->primitive[i].geometry_number, sizeof(uint32_t));
    }
    return hash_value(&hash);
}

void world_copy_worn(World *to, const World *from) {
    ASSERT(to->geometry_count == from->geometry_count);
    ASSERT(to->primitive_count == from->primitive_count && to->shape_count == from->shape_count);
    bool differ = false;
    for (size_t i = 0; i < to->primitive_count; i++) {
        Primitive *own = &to->primitive[i];
        if (own->geometry_number != from->primitive[i].geometry_number) {
            own->geometry_number = from->primitive[i].geometry_number;
            own->geometry = to->geometry[own->geometry_number - 1].geometry;
            differ = true;
        }
    }
    for (size_t i = 0; differ && i < to->shape_count; i++) {
        shape_measure(&to->shape[i], to->primitive);
    }
    to->definition_is_hashed = to->definition_is_hashed && !differ;
}
