// SPDX-License-Identifier: MIT
// Materials of a live world: their numbers, and which shapes have them.
#include "world/world.h"

#include "base/assert.h"
#include "world/sleep.h"

#include <stdio.h>

static Status blame(Error *error, Status status, const char *column, size_t entry, const char *why,
                    uint64_t id) {
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, status, field, why, (unsigned long long)id);
}

static Status check_material_id(const World *world, uint64_t id, const char *column, size_t entry,
                                Error *error) {
    return id < world->material_count ? STATUS_OK
                                      : blame(error, STATUS_NOT_FOUND, column, entry,
                                              "No material has the id %llu in this world.", id);
}

// ---- materials

typedef struct MaterialColumn {
    double *kept;
    const double *given;
} MaterialColumn;

// A material as it would be, from entry `i` of the columns.
static Material merge_material(const MaterialUpdate *update, size_t i, Material material) {
    const MaterialColumn columns[] = {{&material.friction, update->friction},
                                      {&material.restitution, update->restitution},
                                      {&material.stiffness, update->stiffness},
                                      {&material.dissipation_time, update->dissipation_time},
                                      {&material.damping, update->damping},
                                      {&material.hertz_exponent, update->hertz_exponent}};
    for (size_t k = 0; k < sizeof(columns) / sizeof(columns[0]); k++) {
        if (columns[k].given != NULL) {
            *columns[k].kept = columns[k].given[i];
        }
    }
    return material;
}

Status world_check_material_update(const World *world, const MaterialUpdate *update, Error *error) {
    Status once = world_check_once(update->id, update->count, "materials", error);
    if (once != STATUS_OK) {
        return once;
    }
    for (size_t i = 0; i < update->count; i++) {
        const uint64_t id = update->id[i];
        Status status = check_material_id(world, id, "materials", i, error);
        if (status == STATUS_OK && id == 0) {
            status = blame(error, STATUS_INVALID_ARGUMENT, "materials", i,
                           "The built-in material (%llu) stays what it is: add one, and give it to "
                           "the shapes (shapes, shape_material).",
                           id);
        }
        if (status == STATUS_OK) {
            const Material material = merge_material(update, i, world->material[id]);
            status = material_check_entry(&material, i, error);
        }
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

// What touches, and so may begin to move, can be anything.
static void change_surfaces(World *world) {
    sleep_wake_all(world);
    world_settle_friction(world);
    world->definition_is_hashed = false;
}

Status world_update_materials(World *world, const MaterialUpdate *update, Error *error) {
    Status status = world_check_material_update(world, update, error);
    for (size_t i = 0; status == STATUS_OK && i < update->count; i++) {
        Material *material = &world->material[update->id[i]];
        *material = merge_material(update, i, *material);
    }
    if (status == STATUS_OK && update->count > 0) {
        change_surfaces(world);
    }
    return status;
}

// ---- shapes

Status world_check_shape_update(const World *world, const ShapeUpdate *update, Error *error) {
    size_t primitives = 0;
    Status once = world_check_once(update->id, update->count, "shapes", error);
    if (once != STATUS_OK) {
        return once;
    }
    for (size_t i = 0; i < update->count; i++) {
        uint32_t shape;
        if (!world_find_shape(world, update->id[i], &shape)) {
            return blame(error, STATUS_NOT_FOUND, "shapes", i,
                         "No shape has the id %llu in this world.", update->id[i]);
        }
        primitives += world->shape[shape].primitive_count;
    }
    if (primitives != update->primitive_count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "shape_material",
                         "These shapes have %zu primitives; the column has a material for each, "
                         "not %zu.",
                         primitives, update->primitive_count);
    }
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < update->primitive_count; i++) {
        status = check_material_id(world, update->material[i], "shape_material", i, error);
    }
    return status;
}

Status world_update_shapes(World *world, const ShapeUpdate *update, Error *error) {
    Status status = world_check_shape_update(world, update, error);
    const uint64_t *material = update->material;
    for (size_t i = 0; status == STATUS_OK && i < update->count; i++) {
        uint32_t index = 0;
        bool found = world_find_shape(world, update->id[i], &index);
        ASSERT(found);
        const Shape *shape = &world->shape[index];
        for (uint32_t k = 0; k < shape->primitive_count; k++) {
            world->primitive[shape->primitive_first + k].material = (uint32_t)*material++;
        }
    }
    if (status == STATUS_OK && update->count > 0) {
        change_surfaces(world);
    }
    return status;
}
