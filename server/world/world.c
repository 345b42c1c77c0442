// SPDX-License-Identifier: MIT
#include "world/world.h"

#include "base/array.h"
#include "base/assert.h"
#include "world/sleep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

World *world_create(const WorldLimits *limits) {
    World *world = calloc(1, sizeof(*world));
    if (world == NULL) {
        return NULL;
    }
    world->limits = *limits;
    world->settings = settings_default();
    world->body_id_next = 1;
    world->joint_id_next = 1;
    world->shape_id_next = world->geometry_id_next = 1;
    if (!ARRAY_RESERVE(world->material, world->material_capacity, 1)) {
        free(world);
        return NULL;
    }
    world->material[0] = material_default();
    world->material_count = 1;
    world->friction_max = world->material[0].friction;
    return world;
}

static void drop_geometries(World *world) {
    for (size_t i = 0; i < world->geometry_count; i++) {
        geometry_drop(world->geometry[i].geometry);
    }
    free(world->geometry);
}

void world_destroy(World *world) {
    if (world == NULL) {
        return;
    }
    for (uint32_t i = 0; i < world->body_count; i++) {
        free(world->body_name[i]);
    }
    free(world->body_block);
    free(world->material);
    free(world->material_pair);
    drop_geometries(world);
    free(world->primitive);
    free(world->shape);
    free(world->memory);
    world_free_joints(world);
    world_free_trees(world);
    free(world->joint_memory);
    sleep_forget(world);
    free(world);
}

enum {
    COLUMN_BYTES = sizeof(Id) + sizeof(char *) + sizeof(uint8_t) + sizeof(uint32_t) +
                   sizeof(BodyMass) + 13 * sizeof(double)
};

size_t world_bytes(const World *world) {
    return sizeof(*world) + world->material_capacity * sizeof(Material) +
           world->material_pair_capacity * sizeof(MaterialPair) +
           world->geometry_capacity * sizeof(WorldGeometry) +
           world->primitive_capacity * sizeof(Primitive) + world->shape_capacity * sizeof(Shape) +
           world->body_capacity * (size_t)COLUMN_BYTES +
           world->memory_capacity * sizeof(ContactMemory) + sleep_bytes(world) +
           world_joint_bytes(world) + world_tree_bytes(world) +
           world->joint_memory_capacity * sizeof(JointMemory) + world->name_bytes;
}

char *world_keep_name(World *world, const char *name) {
    char *copy = strdup(name);
    world->name_bytes += copy == NULL ? 0 : strlen(copy) + 1;
    return copy;
}

void world_drop_name(World *world, char *name) {
    world->name_bytes -= name == NULL ? 0 : strlen(name) + 1;
    free(name);
}

static Status out_of_memory(const World *world, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "The memory budget of %zu bytes (option --memory-bytes-max) is used up.",
                     world->limits.bytes_max);
}

void world_set_settings(World *world, const WorldSettings *settings) {
    if (!settings_are_same(settings, &world->settings)) {
        sleep_wake_all(world);
        world->solver_failures = world->solver_wait = 0;
    }
    if (settings->sleep_speed == 0.0) {
        sleep_close(world);
    }
    world->settings = *settings;
    world_settle_friction(world);
    world->definition_is_hashed = false;
}

static bool name_is_taken(const World *world, const Material *materials, size_t count,
                          const char *name) {
    for (size_t i = 1; i < world->material_count; i++) {
        if (strcmp(world->material[i].name, name) == 0) {
            return true;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(materials[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

Status world_add_materials(World *world, const Material *materials, size_t count, Id *ids,
                           Error *error) {
    if (count > MATERIAL_COUNT_MAX + 1 - world->material_count) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "materials",
                         "A world has at most %d materials, which no option changes.",
                         MATERIAL_COUNT_MAX);
    }
    for (size_t i = 0; i < count; i++) {
        Status status = material_check(&materials[i], i, error);
        if (status != STATUS_OK) {
            return status;
        }
        if (materials[i].name[0] != '\0' && name_is_taken(world, materials, i, materials[i].name)) {
            return error_set(error, STATUS_ALREADY_EXISTS, "materials",
                             "The name %s is taken by another material.", materials[i].name);
        }
    }
    if (!ARRAY_RESERVE(world->material, world->material_capacity, world->material_count + count)) {
        return out_of_memory(world, error);
    }
    for (size_t i = 0; i < count; i++) {
        ids[i] = world->material_count; // the built-in one is 0, so the first is 1
        world->material[world->material_count] = materials[i];
        world->friction_max =
            fmax(world->friction_max, world_own_friction(world, world->material_count++));
    }
    world->definition_is_hashed = false;
    return STATUS_OK;
}

static Foundation load_foundation(const ShapeColumns *columns, uint32_t i) {
    if (columns->foundation_face[i] == 0) {
        return (Foundation){0};
    }
    const uint32_t *cells = columns->foundation_cells + 2 * (size_t)i;
    return (Foundation){
        .face = columns->foundation_face[i],
        .cells = {cells[0], cells[1]},
        .modulus = columns->foundation_modulus[i],
        .depth = columns->foundation_depth[i],
        .damping = columns->foundation_damping == NULL ? 0.0 : columns->foundation_damping[i]};
}

static Status blame_kind(const char *field, Error *error) {
    char known[256] = "";
    for (int i = 0; i < PRIMITIVE_COUNT; i++) {
        const size_t used = strlen(known);
        snprintf(known + used, sizeof(known) - used, "%s%s %d", i == 0 ? "" : ", ",
                 primitive_rows[i].name, i);
    }
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "No such primitive: %s.", known);
}

static Status take_geometry(const World *world, const ShapeColumns *columns, uint32_t i,
                            Primitive *primitive, Error *error) {
    const uint64_t id = columns->geometry == NULL ? 0 : columns->geometry[i];
    uint32_t index;
    if (id == 0) {
        return STATUS_OK;
    }
    if (!world_find_geometry(world, id, &index)) {
        char field[64];
        snprintf(field, sizeof(field), "geometry[%u]", i);
        return world_blame_geometry(world, id, field, error);
    }
    primitive->geometry_number = index + 1;
    primitive->geometry = world->geometry[index].geometry;
    return STATUS_OK;
}

static Status check_material(const World *world, uint64_t id, const char *column, size_t entry,
                             Error *error) {
    char field[64];
    if (id < world->material_count) {
        return STATUS_OK;
    }
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, STATUS_NOT_FOUND, field, "No material has the id %llu in this world.",
                     (unsigned long long)id);
}

static Status take_materials(const World *world, const ShapeColumns *columns, uint32_t i,
                             Primitive *primitive, Error *error) {
    const uint64_t id = columns->material == NULL ? 0 : columns->material[i];
    Status status = check_material(world, id, "material", i, error);
    primitive->material = status == STATUS_OK ? (uint32_t)id : 0;
    enum { OTHERS = MESH_PATCHES_MAX - 1 };
    for (size_t k = 0; columns->patch_material != NULL && k < OTHERS; k++) {
        const size_t entry = OTHERS * (size_t)i + k;
        const uint64_t own = columns->patch_material[entry];
        status = STATUS_THEN(status, check_material(world, own, "patch_material", entry, error));
        if (status == STATUS_OK && own != 0 && !primitive_is_surface(primitive->kind)) {
            char field[64];
            snprintf(field, sizeof(field), "patch_material[%zu]", entry);
            status = error_set(error, STATUS_INVALID_ARGUMENT, field,
                               "Meshes and height fields alone have patches; give others 0, and "
                               "their material as material.");
        }
        primitive->patch_material[k] = own == 0 ? 0 : (uint32_t)own + 1;
    }
    return status;
}

static Status load_primitive(const World *world, const ShapeColumns *columns, uint32_t i,
                             Primitive *primitive, Error *error) {
    *primitive = (Primitive){
        .density = 1000.0,
        .local = {.orientation = quat_identity()},
        .group = columns->group == NULL ? PRIMITIVE_GROUP_DEFAULT : columns->group[i],
        .mask = columns->mask == NULL ? PRIMITIVE_MASK_DEFAULT : columns->mask[i],
    };
    char field[64];
    if (columns->kind[i] >= PRIMITIVE_COUNT) {
        snprintf(field, sizeof(field), "kind[%u]", i);
        return blame_kind(field, error);
    }
    primitive->kind = (PrimitiveKind)columns->kind[i];
    primitive->size = vec3_load(columns->size + 3 * (size_t)i);
    if (columns->pose != NULL) {
        const double *pose = columns->pose + 7 * (size_t)i;
        Status status = body_check_pose(pose, i, error);
        if (status != STATUS_OK) {
            return status;
        }
        primitive->local = pose_load(pose);
        primitive->local.orientation = quat_normalize(primitive->local.orientation);
    }
    if (columns->density != NULL) {
        primitive->density = columns->density[i];
    }
    if (columns->foundation_face != NULL) {
        primitive->foundation = load_foundation(columns, i);
    }
    Status status = take_materials(world, columns, i, primitive, error);
    status = STATUS_THEN(status, take_geometry(world, columns, i, primitive, error));
    status = STATUS_THEN(status, primitive_check(primitive, i, error));
    if (status == STATUS_OK) {
        primitive_forget_sizes(primitive);
    }
    return status;
}

enum { PRIMITIVES_PER_SHAPE_MAX = 4096 };

static Status check_shape_sizes(const ShapeColumns *columns, Error *error) {
    uint64_t total = 0;
    for (size_t i = 0; i < columns->shape_count; i++) {
        uint32_t count = columns->primitives_of_shape == NULL ? 1 : columns->primitives_of_shape[i];
        if (count < 1 || count > PRIMITIVES_PER_SHAPE_MAX) {
            char field[64];
            snprintf(field, sizeof(field), "primitive_count[%zu]", i);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "A shape has 1 to %d primitives, not %u.", PRIMITIVES_PER_SHAPE_MAX,
                             count);
        }
        total += count;
    }
    if (total != columns->primitive_count) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "primitive_count",
                         "The shapes ask for %llu primitives, but column kind has %zu.",
                         (unsigned long long)total, columns->primitive_count);
    }
    return STATUS_OK;
}

Status world_add_shapes(World *world, const ShapeColumns *columns, Id *ids, Error *error) {
    Status status = check_shape_sizes(columns, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (columns->shape_count > UINT32_MAX - world->shape_id_next) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "kind",
                         "A world has at most %u shapes in its life, which no option changes.",
                         UINT32_MAX - 1);
    }
    for (uint32_t i = 0; i < columns->primitive_count; i++) {
        Primitive primitive;
        status = load_primitive(world, columns, i, &primitive, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (!ARRAY_RESERVE(world->primitive, world->primitive_capacity,
                       world->primitive_count + columns->primitive_count) ||
        !ARRAY_RESERVE(world->shape, world->shape_capacity,
                       world->shape_count + columns->shape_count)) {
        return out_of_memory(world, error);
    }
    for (uint32_t i = 0; i < columns->primitive_count; i++) {
        status =
            load_primitive(world, columns, i, &world->primitive[world->primitive_count + i], error);
        ASSERT(status == STATUS_OK);
    }
    for (size_t i = 0; i < columns->shape_count; i++) {
        Shape *shape = &world->shape[world->shape_count];
        *shape =
            (Shape){.primitive_first = (uint32_t)world->primitive_count,
                    .primitive_count =
                        columns->primitives_of_shape == NULL ? 1 : columns->primitives_of_shape[i]};
        shape_measure(shape, world->primitive);
        world->primitive_count += shape->primitive_count;
        ids[i] = shape->id = world->shape_id_next++;
        world->shape_count++;
    }
    world->definition_is_hashed = false;
    return STATUS_OK;
}

// The columns of bodies, the widest items first.
typedef struct Column {
    void **items;
    size_t bytes; // of one
} Column;

enum { COLUMN_COUNT = 7 };

static void list_columns(World *world, Column columns[COLUMN_COUNT]) {
    const Column all[COLUMN_COUNT] = {
        {(void **)&world->pose, 7 * sizeof(double)},
        {(void **)&world->velocity, 6 * sizeof(double)},
        {(void **)&world->mass, sizeof(BodyMass)},
        {(void **)&world->body_id, sizeof(Id)},
        {(void **)&world->body_name, sizeof(char *)},
        {(void **)&world->body_shape, sizeof(uint32_t)},
        {(void **)&world->kind, sizeof(uint8_t)},
    };
    memcpy(columns, all, sizeof(all));
}

// All columns stand in one block, one behind the other, so that all are aligned.
static bool grow_bodies(World *world, size_t total) {
    if (total <= world->body_capacity) {
        return true;
    }
    size_t capacity = (size_t)world->body_capacity + world->body_capacity / 2;
    if (capacity < total || capacity > UINT32_MAX) {
        capacity = total;
    }
    unsigned char *block = malloc(capacity * COLUMN_BYTES);
    if (block == NULL) {
        return false;
    }
    Column columns[COLUMN_COUNT];
    list_columns(world, columns);
    unsigned char *at = block;
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        if (world->body_count > 0) {
            memcpy(at, *columns[i].items, world->body_count * columns[i].bytes);
        }
        *columns[i].items = at;
        at += capacity * columns[i].bytes;
    }
    ASSERT(at == block + capacity * COLUMN_BYTES);
    free(world->body_block);
    world->body_block = block;
    world->body_capacity = (uint32_t)capacity;
    return true;
}

static Status check_body_count(const World *world, size_t count, Error *error) {
    return count <= world->limits.body_count_max &&
                   world->body_count <= world->limits.body_count_max - count
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, "pose",
                           "A world holds at most %u bodies (option --bodies-max); it has %u and "
                           "was asked to take %zu more.",
                           world->limits.body_count_max, world->body_count, count);
}

static Status reserve_bodies(World *world, size_t count, Error *error) {
    size_t total = world->body_count + count;
    if (world_bytes(world) +
            (total > world->body_capacity ? (total - world->body_capacity) * COLUMN_BYTES : 0) >
        world->limits.bytes_max) {
        return out_of_memory(world, error);
    }
    return grow_bodies(world, total) && world_reserve_trees(world, total, world->joint_count)
               ? STATUS_OK
               : out_of_memory(world, error);
}

const Shape *world_body_shape(const World *world, uint32_t body) {
    uint32_t shape = world->body_shape[body];
    return shape == UINT32_MAX ? NULL : &world->shape[shape];
}

void world_body_pose(const World *world, uint32_t body, double pose[7]) {
    Pose placed = pose_load(world->pose + 7 * (size_t)body);
    placed.position =
        vec3_sub(placed.position, quat_rotate(placed.orientation, world->mass[body].center));
    pose_store(pose, placed);
}

void world_place_body(World *world, uint32_t body, const double pose[7]) {
    Pose placed = pose_load(pose);
    placed.orientation = quat_normalize(placed.orientation);
    placed.position = pose_apply(placed, world->mass[body].center);
    pose_store(world->pose + 7 * (size_t)body, placed);
}

void world_move_body(World *world, uint32_t body, const double velocity[6]) {
    for (size_t i = 0; i < 6; i++) {
        const bool is_free = world->kind[body] == BODY_DYNAMIC;
        world->velocity[6 * (size_t)body + i] = is_free ? velocity[i] : velocity[i] + 0.0;
    }
}

// What it takes to judge one body of the columns; its shape (UINT32_MAX: none) and its mass.
static Status check_body(const World *world, const BodyColumns *columns, uint32_t i,
                         uint32_t *shape, BodyMass *mass, Error *error) {
    uint64_t shape_id = columns->shape == NULL ? 0 : columns->shape[i];
    *shape = UINT32_MAX;
    if (shape_id != 0 && !world_find_shape(world, shape_id, shape)) {
        char field[64];
        snprintf(field, sizeof(field), "shape[%u]", i);
        return error_set(error, STATUS_NOT_FOUND, field, "No shape has the id %llu in this world.",
                         (unsigned long long)shape_id);
    }
    Status status = body_check_pose(columns->pose + 7 * (size_t)i, i, error);
    status = STATUS_THEN_IF(status, columns->velocity != NULL,
                            body_check_velocity(columns->velocity + 6 * (size_t)i, i, error));
    if (status == STATUS_OK) {
        const Shape *of_body = *shape == UINT32_MAX ? NULL : &world->shape[*shape];
        status = body_mass(columns, i, of_body, mass, error);
    }
    return status;
}

// Reads one body, which has passed, into the entry behind the last body.
static void load_body(World *world, const BodyColumns *columns, uint32_t i) {
    uint32_t body = world->body_count + i;
    const Status status =
        check_body(world, columns, i, &world->body_shape[body], &world->mass[body], NULL);
    ASSERT(status == STATUS_OK);
    world->kind[body] = columns->kind == NULL ? BODY_DYNAMIC : (uint8_t)columns->kind[i];
    static const double none[6];
    const bool moves = columns->velocity != NULL && world->kind[body] != BODY_STATIC;
    world_move_body(world, body, moves ? columns->velocity + 6 * (size_t)i : none);
    world_place_body(world, body, columns->pose + 7 * (size_t)i);
    world->body_name[body] = NULL;
}

static bool load_names(World *world, const BodyColumns *columns) {
    for (uint32_t i = 0; columns->name != NULL && i < columns->count; i++) {
        if (columns->name[i] == NULL || columns->name[i][0] == '\0') {
            continue;
        }
        char *copy = world_keep_name(world, columns->name[i]);
        if (copy == NULL) {
            for (uint32_t j = 0; j < i; j++) {
                world_drop_name(world, world->body_name[world->body_count + j]);
            }
            return false;
        }
        world->body_name[world->body_count + i] = copy;
    }
    return true;
}

Status world_add_bodies(World *world, const BodyColumns *columns, Id *ids, Error *error) {
    Status status = check_body_count(world, columns->count, error);
    for (uint32_t i = 0; status == STATUS_OK && i < columns->count; i++) {
        uint32_t shape;
        BodyMass mass;
        status = check_body(world, columns, i, &shape, &mass, error);
    }
    status = STATUS_THEN(status, reserve_bodies(world, columns->count, error));
    if (status != STATUS_OK) {
        return status;
    }
    for (uint32_t i = 0; i < columns->count; i++) {
        load_body(world, columns, i);
    }
    if (!load_names(world, columns)) {
        return out_of_memory(world, error);
    }
    // nothing can fail any more: the entries become bodies
    for (uint32_t i = 0; i < columns->count; i++) {
        uint32_t body = world->body_count++;
        ids[i] = world->body_id[body] = world->body_id_next++;
        world->dynamic_count += world->kind[body] == BODY_DYNAMIC;
        Vec3 center = world->mass[body].center;
        world->has_center =
            world->has_center || center.x != 0.0 || center.y != 0.0 || center.z != 0.0;
    }
    world->definition_is_hashed = false;
    world->bodies_moved = true;
    return STATUS_OK;
}

// ---- removing

uint32_t world_count_below(const uint32_t *bodies, uint32_t count, uint32_t body, bool *is_one) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (bodies[middle] < body) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *is_one = low < count && bodies[low] == body;
    return low;
}

// Indices go down in order, so what was sorted by them still is.
size_t world_renumber_memory(ContactMemory *memory, size_t memory_count, const uint32_t *bodies,
                             uint32_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < memory_count; i++) {
        ContactMemory one = memory[i];
        bool is_gone[2];
        one.a -= world_count_below(bodies, count, one.a, &is_gone[0]);
        one.b -= world_count_below(bodies, count, one.b, &is_gone[1]);
        if (!is_gone[0] && !is_gone[1]) {
            memory[kept++] = one;
        }
    }
    return kept;
}

// Moves what stands between two removed bodies, or behind the last, down to its place.
static void close_gaps(Column column, const uint32_t *bodies, uint32_t count, uint32_t total) {
    unsigned char *items = *column.items;
    for (uint32_t i = 0; i < count; i++) {
        size_t first = (size_t)bodies[i] + 1, end = i + 1 < count ? bodies[i + 1] : total;
        memmove(items + (first - i - 1) * column.bytes, items + first * column.bytes,
                (end - first) * column.bytes);
    }
}

static bool is_any_center_moved(const World *world) {
    for (uint32_t i = 0; i < world->body_count; i++) {
        Vec3 center = world->mass[i].center;
        if (center.x != 0.0 || center.y != 0.0 || center.z != 0.0) {
            return true;
        }
    }
    return false;
}

void world_remove_bodies(World *world, const uint32_t *bodies, uint32_t count) {
    if (count == 0) {
        return;
    }
    sleep_remove_bodies(world, bodies, count);
    world_remove_joints_of(world, bodies, count);
    for (uint32_t i = 0; i < count; i++) {
        ASSERT(bodies[i] < world->body_count);
        ASSERT(i == 0 || bodies[i - 1] < bodies[i]);
        world_drop_name(world, world->body_name[bodies[i]]);
        world->dynamic_count -= world->kind[bodies[i]] == BODY_DYNAMIC;
    }
    world->memory_count = world_renumber_memory(world->memory, world->memory_count, bodies, count);
    Column columns[COLUMN_COUNT];
    list_columns(world, columns);
    for (size_t i = 0; i < COLUMN_COUNT; i++) {
        close_gaps(columns[i], bodies, count, world->body_count);
    }
    world->body_count -= count;
    world->has_center = world->has_center && is_any_center_moved(world);
    world->definition_is_hashed = false;
    world->bodies_moved = true;
    world_joints_changed(world);
}

uint64_t world_removed_count(const World *world) {
    return world->body_id_next - 1 - world->body_count;
}

bool world_find_body(const World *world, Id id, uint32_t *body) {
    // ids begin at 1 and rise, so a body stands at its id - 1, or below where some were removed
    uint32_t low = 0, high = id < world->body_count ? (uint32_t)id : world->body_count;
    if (high > 0 && world->body_id[high - 1] == id) {
        *body = high - 1;
        return true;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (world->body_id[middle] < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == world->body_count || world->body_id[low] != id) {
        return false;
    }
    *body = low;
    return true;
}

bool world_find_shape(const World *world, Id id, uint32_t *shape) {
    // ids begin at 1 and rise, as those of bodies do
    size_t low = 0, high = id < world->shape_count ? (size_t)id : world->shape_count;
    if (high > 0 && world->shape[high - 1].id == id) {
        *shape = (uint32_t)high - 1;
        return true;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (world->shape[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == world->shape_count || world->shape[low].id != id) {
        return false;
    }
    *shape = (uint32_t)low;
    return true;
}

Status world_blame_body(const World *world, Id id, const char *field, Error *error) {
    bool was_there = id > 0 && id < world->body_id_next;
    return error_set(error, STATUS_NOT_FOUND, field,
                     was_there ? "Body %llu is gone: it was removed (WorldRemove), or left the "
                                 "world's bounds (WorldSettings.bounds)."
                               : "No body has the id %llu in this world.",
                     (unsigned long long)id);
}
