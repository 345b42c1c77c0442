// SPDX-License-Identifier: MIT
#include "support/lab.h"

#include "step/snapshot/snapshot.h"

#include <check.h>
#include <string.h>

// more than any test needs, on machines whose addresses have 32 bits as well
#define LAB_BYTES_MAX ((size_t)1 << (sizeof(size_t) == 8 ? 33 : 31))

Lab lab_create(double gravity, double time_step) {
    GeometryShelf *shelf = geometry_shelf_create();
    ck_assert_ptr_nonnull(shelf);
    WorldLimits limits = {.body_count_max = 1000000, .bytes_max = LAB_BYTES_MAX, .shelf = shelf};
    Lab lab = {
        .shelf = shelf, .world = world_create(&limits), .stepper = stepper_create(LAB_BYTES_MAX)};
    ck_assert_ptr_nonnull(lab.world);
    ck_assert_ptr_nonnull(lab.stepper);
    arena_init(&lab.scratch, LAB_BYTES_MAX);
    WorldSettings settings = settings_default();
    settings.gravity = vec3(0.0, 0.0, -gravity);
    settings.time_step = time_step;
    settings.margin = 0.0;
    SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&settings, &solver);
    world_set_settings(lab.world, &settings);
    return lab;
}

void lab_destroy(Lab *lab) {
    world_destroy(lab->world);
    stepper_destroy(lab->stepper);
    arena_deinit(&lab->scratch);
    geometry_shelf_destroy(lab->shelf);
}

void lab_set(Lab *lab, const char *parameter, double value) {
    WorldSettings settings = lab->world->settings;
    SolverSettings solver = step_solver(&settings);
    Error error = {0};
    ck_assert_msg(solver_set(&solver, parameter, value, &error) == STATUS_OK, "%s", error.message);
    step_set_solver(&settings, &solver);
    world_set_settings(lab->world, &settings);
}

void lab_divide(Lab *lab, uint32_t substeps) {
    WorldSettings settings = lab->world->settings;
    settings.substeps = substeps;
    world_set_settings(lab->world, &settings);
}

Id lab_material(Lab *lab, double friction, double restitution) {
    Material material = material_default();
    material.friction = friction;
    material.restitution = restitution;
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_materials(lab->world, &material, 1, &id, &error) == STATUS_OK, "%s",
                  error.message);
    return id;
}

// A shape of one primitive that wears a geometry, which the lab's shelf gave; it is dropped.
static Id worn_shape(Lab *lab, PrimitiveKind kind, const Geometry *geometry, Id material) {
    Id number, id = 0;
    Error error = {0};
    Status status = world_add_geometries(lab->world, &geometry, 1, &number, &error);
    geometry_drop(geometry);
    const double sizes[3] = {0.0, 0.0, 0.0};
    const uint32_t kinds[1] = {(uint32_t)kind};
    const ShapeColumns columns = {.shape_count = 1,
                                  .primitive_count = 1,
                                  .kind = kinds,
                                  .size = sizes,
                                  .material = &material,
                                  .geometry = &number,
                                  .patch_material =
                                      kind == PRIMITIVE_HULL ? NULL : lab->patch_material};
    status = STATUS_THEN(status, world_add_shapes(lab->world, &columns, &id, &error));
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
    return id;
}

Id lab_hull(Lab *lab, const HullForm *form, Id material) {
    static const HullNames names = {"hull.points", "hull.faces"};
    const Geometry *geometry = NULL;
    Error error = {0};
    Status status = geometry_of_hull(lab->shelf, form, form->face_first[form->face_count], &names,
                                     &geometry, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return worn_shape(lab, PRIMITIVE_HULL, geometry, material);
}

void lab_set_patches(Lab *lab, const Id material[MESH_PATCHES_MAX - 1]) {
    memcpy(lab->patch_material, material, sizeof(lab->patch_material));
}

Id lab_mesh(Lab *lab, const MeshForm *form, Id material) {
    static const MeshNames names = {"mesh.points", "mesh.triangles", "mesh.patches"};
    const Geometry *geometry = NULL;
    Error error = {0};
    Status status = geometry_of_mesh(lab->shelf, form, &names, &geometry, &error);
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
    return worn_shape(lab, PRIMITIVE_MESH, geometry, material);
}

Id lab_heights(Lab *lab, const HeightForm *form, Id material) {
    static const MeshNames names = {"height_field.heights", "height_field.spacing",
                                    "height_field.patches"};
    const Geometry *geometry = NULL;
    Error error = {0};
    Status status = geometry_of_heights(lab->shelf, form, &names, &geometry, &error);
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
    return worn_shape(lab, PRIMITIVE_HEIGHT_FIELD, geometry, material);
}

Id lab_shape(Lab *lab, PrimitiveKind kind, Vec3 size, Id material) {
    uint32_t kinds[1] = {(uint32_t)kind};
    double sizes[3] = {size.x, size.y, size.z};
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = 1,
                            .kind = kinds,
                            .size = sizes,
                            .material = &material};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_shapes(lab->world, &columns, &id, &error) == STATUS_OK, "%s",
                  error.message);
    return id;
}

uint32_t lab_body(Lab *lab, Id shape, BodyKind kind, Pose pose, const double velocity[6],
                  double mass, const double *inertia) {
    double packed[7];
    uint32_t kinds[1] = {(uint32_t)kind};
    pose_store(packed, pose);
    BodyColumns columns = {.count = 1,
                           .pose = packed,
                           .velocity = velocity,
                           .kind = kinds,
                           .shape = &shape,
                           .mass = mass > 0.0 ? &mass : NULL,
                           .inertia = inertia};
    Id id = 0;
    Error error = {0};
    ck_assert_msg(world_add_bodies(lab->world, &columns, &id, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    return lab->world->body_count - 1;
}

Id lab_joints(Lab *lab, const JointColumns *columns) {
    Id ids[8];
    Error error = {0};
    ck_assert_uint_le(columns->count, sizeof(ids) / sizeof(ids[0]));
    ck_assert_msg(world_add_joints(lab->world, columns, ids, &error) == STATUS_OK, "%s: %s",
                  error.field, error.message);
    return ids[0];
}

void lab_cable(Lab *lab, const Id hinge[2]) {
    const uint32_t kind = JOINT_TENDON, count = 2;
    const double coefficients[2] = {0.5, -0.3}, stiffness = 20.0, damping = 1.0, target = 0.4;
    lab_joints(lab, &(JointColumns){.count = 1,
                                    .axis_count = 1,
                                    .position_count = 1,
                                    .coupling_count = 2,
                                    .kind = &kind,
                                    .coupled_count = &count,
                                    .coupled = hinge,
                                    .coefficients = coefficients,
                                    .drive_stiffness = &stiffness,
                                    .drive_damping = &damping,
                                    .target = &target});
}

uint32_t lab_ground(Lab *lab, Id material) {
    Id plane = lab_shape(lab, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0), material);
    return lab_body(lab, plane, BODY_STATIC, (Pose){.orientation = quat_identity()}, NULL, 0.0,
                    NULL);
}

void lab_step(Lab *lab, int count) {
    StepInput input = {.time_step = lab->world->settings.time_step, .context = lab->context};
    for (int i = 0; i < count; i++) {
        Error error = {0};
        Status status = stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL,
                                    &lab->report, &error);
        ck_assert_msg(status == STATUS_OK, "%s", error.message);
    }
}

void lab_step_pushed(Lab *lab, uint32_t body, const double wrench[6]) {
    StepInput input = {.time_step = lab->world->settings.time_step,
                       .wrench_count = 1,
                       .wrench_body = &body,
                       .wrench = wrench,
                       .context = lab->context};
    Error error = {0};
    ck_assert_msg(stepper_run(lab->stepper, lab->world, &input, &lab->scratch, NULL, &lab->report,
                              &error) == STATUS_OK,
                  "%s", error.message);
}

World *lab_copy(Lab *lab) {
    const WorldLimits limits = {
        .body_count_max = 1000000, .bytes_max = LAB_BYTES_MAX, .shelf = lab->shelf};
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    World *world = NULL;
    Status status = snapshot_write(lab->world, &lab->scratch, &bytes, &count, &error);
    if (status == STATUS_OK) {
        status = snapshot_read(bytes, count, &limits, &world, &error);
    }
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    arena_reset(&lab->scratch);
    return world;
}

void lab_restore(Lab *lab) {
    World *world = lab_copy(lab);
    world_destroy(lab->world);
    stepper_destroy(lab->stepper);
    lab->world = world;
    lab->stepper = stepper_create(LAB_BYTES_MAX);
}

Vec3 lab_position(const Lab *lab, uint32_t body) {
    return vec3_load(lab->world->pose + 7 * (size_t)body);
}

Quat lab_orientation(const Lab *lab, uint32_t body) {
    return pose_load(lab->world->pose + 7 * (size_t)body).orientation;
}

Vec3 lab_velocity(const Lab *lab, uint32_t body) {
    return vec3_load(lab->world->velocity + 6 * (size_t)body);
}

Vec3 lab_spin(const Lab *lab, uint32_t body) {
    return vec3_load(lab->world->velocity + 6 * (size_t)body + 3);
}

double lab_random(uint64_t *seed, double low, double high) {
    // splitmix64: a counter through a mixer, good enough to scatter bodies
    uint64_t x = *seed += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return low + (high - low) * ((double)(x >> 11) * 0x1p-53);
}
