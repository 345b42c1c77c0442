// SPDX-License-Identifier: MIT
// Any bytes as a mesh of a few triangles, and a body that flies at it: the mesh is refused, or the
// world steps; its numbers stay finite or the step says what is wrong, and its snapshot is taken
// back.
#include "base/assert.h"
#include "step/snapshot/snapshot.h"
#include "step/step.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

enum { POINTS = 10, TRIANGLES = 12, STEPS = 4, BYTES_MAX = 1 << 26 };

typedef struct Bytes {
    const uint8_t *at;
    size_t count;
} Bytes;

static uint32_t take(Bytes *bytes) {
    if (bytes->count == 0) {
        return 0;
    }
    bytes->count--;
    return *bytes->at++;
}

// A multiple of 1/32 within 4, often a multiple of 1/2, so that edges lie along each other.
static double take_number(Bytes *bytes) {
    const double value = (double)take(bytes) - 128.0;
    return (take(bytes) & 1u) != 0 ? value / 32.0 : trunc(value / 16.0) / 2.0;
}

static Vec3 take_vec(Bytes *bytes) {
    const double x = take_number(bytes), y = take_number(bytes);
    return vec3(x, y, take_number(bytes));
}

static Status take_surface(Bytes *from, GeometryShelf *shelf, const Geometry **geometry) {
    static const MeshNames names = {"points", "triangles", "patches"};
    static Vec3 point[POINTS];
    static uint32_t corner[3 * TRIANGLES];
    static double height[16];
    Error error = {0};
    Status status;
    const uint32_t kind = take(from);
    if ((kind & 1u) != 0) {
        const HeightForm form = {2 + take(from) % 3, 2 + take(from) % 3, {0.5, 1.0}, height, NULL};
        for (int i = 0; i < 16; i++) {
            height[i] = take_number(from);
        }
        status = geometry_of_heights(shelf, &form, &names, geometry, &error);
    } else {
        const MeshForm form = {point,
                               take(from) % (POINTS + 1),
                               corner,
                               take(from) % (TRIANGLES + 1),
                               (kind & 2u) != 0,
                               NULL};
        for (int i = 0; i < POINTS; i++) {
            point[i] = take_vec(from);
        }
        for (int i = 0; i < 3 * TRIANGLES; i++) {
            corner[i] = take(from) % POINTS;
        }
        status = geometry_of_mesh(shelf, &form, &names, geometry, &error);
    }
    ASSERT(status == STATUS_OK || (status == STATUS_INVALID_ARGUMENT && error.message[0] != '\0'));
    return status;
}

static Id add_shape(World *world, PrimitiveKind kind, Vec3 size, Id geometry) {
    const uint32_t kinds[1] = {(uint32_t)kind};
    double sizes[3];
    vec3_store(sizes, size);
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 1,
                                  .kind = kinds,
                                  .size = sizes,
                                  .geometry = &geometry};
    Id id = 0;
    const Status status = world_add_shapes(world, &columns, &id, NULL);
    ASSERT(status == STATUS_OK);
    return id;
}

static void add_body(World *world, Id shape, BodyKind kind, Pose pose, const double *velocity) {
    double packed[7];
    const uint32_t kinds[1] = {(uint32_t)kind};
    pose_store(packed, pose);
    const BodyColumns columns = {
        .count = 1, .pose = packed, .kind = kinds, .shape = &shape, .velocity = velocity};
    Id id = 0;
    const Status status = world_add_bodies(world, &columns, &id, NULL);
    ASSERT(status == STATUS_OK);
}

static void add_flyer(Bytes *from, World *world) {
    static const PrimitiveKind kinds[4] = {PRIMITIVE_SPHERE, PRIMITIVE_BOX, PRIMITIVE_CAPSULE,
                                           PRIMITIVE_CYLINDER};
    const Vec3 size =
        vec3(0.1 + take(from) / 256.0, 0.1 + take(from) / 256.0, 0.1 + take(from) / 256.0);
    const Id shape = add_shape(world, kinds[take(from) % 4], size, 0);
    const Vec3 at = take_vec(from), turn = take_vec(from), v = take_vec(from);
    const double fast = (take(from) & 7u) == 0 ? 300.0 : 1.0;
    double velocity[6];
    vec3_store(velocity, vec3_scale(fast, v));
    vec3_store(velocity + 3, take_vec(from));
    const Pose pose = {at, quat_normalize((Quat){4.5, turn.x, turn.y, turn.z})};
    add_body(world, shape, BODY_DYNAMIC, pose, velocity);
}

static void step(World *world, const WorldLimits *limits) {
    Stepper *stepper = stepper_create(BYTES_MAX);
    Arena scratch;
    arena_init(&scratch, BYTES_MAX);
    const StepInput input = {.time_step = world->settings.time_step};
    Status status = STATUS_OK;
    for (int i = 0; status == STATUS_OK && i < STEPS; i++) {
        StepReport report;
        Error error = {0};
        status = stepper_run(stepper, world, &input, &scratch, NULL, &report, &error);
        ASSERT(status == STATUS_OK || error.message[0] != '\0');
    }
    uint8_t *bytes;
    size_t count;
    World *again = NULL;
    arena_reset(&scratch);
    status = snapshot_write(world, &scratch, &bytes, &count, NULL);
    ASSERT(status == STATUS_OK);
    status = snapshot_read(bytes, count, limits, &again, NULL);
    ASSERT(status == STATUS_OK && snapshot_hash(again) == snapshot_hash(world));
    world_destroy(again);
    stepper_destroy(stepper);
    arena_deinit(&scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    Bytes from = {bytes, count};
    GeometryShelf *shelf = geometry_shelf_create();
    const Geometry *geometry = NULL;
    if (take_surface(&from, shelf, &geometry) == STATUS_OK) {
        const WorldLimits limits = {.body_count_max = 16, .bytes_max = BYTES_MAX, .shelf = shelf};
        World *world = world_create(&limits);
        WorldSettings settings = settings_default();
        const SolverSettings solver = solver_default((SolverKind)(take(&from) % SOLVER_COUNT));
        step_set_solver(&settings, &solver);
        world_set_settings(world, &settings);
        Id number = 0;
        const Status status = world_add_geometries(world, &geometry, 1, &number, NULL);
        ASSERT(status == STATUS_OK);
        const PrimitiveKind kind =
            geometry->kind == GEOMETRY_MESH ? PRIMITIVE_MESH : PRIMITIVE_HEIGHT_FIELD;
        geometry_drop(geometry);
        const Vec3 turn = take_vec(&from);
        const Pose pose = {vec3(0.0, 0.0, 0.0),
                           quat_normalize((Quat){4.5, turn.x, turn.y, turn.z})};
        add_body(world, add_shape(world, kind, vec3(0.0, 0.0, 0.0), number), BODY_STATIC, pose,
                 NULL);
        add_flyer(&from, world);
        step(world, &limits);
        world_destroy(world);
    }
    geometry_shelf_destroy(shelf);
    return 0;
}
