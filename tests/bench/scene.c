// SPDX-License-Identifier: MIT
#include "bench/scene.h"

#include "bench/bench.h"

#include <math.h>

#define TIME_STEP (1.0 / 240.0)
#define RADIUS    0.05

enum { SIZE_COUNT = 16 };    // different radii in a pile
enum { SETTLE_STEPS = 480 }; // 2 s
enum { SETTLE_SWEEPS = 60 };
enum { STACK_BOXES = 10 };
enum { WALL_COURSES = 15, WALL_BOXES_BELOW = 42 };

GeometryShelf *scene_shelf(void) {
    static GeometryShelf *shelf;
    shelf = shelf == NULL ? geometry_shelf_create() : shelf;
    if (shelf == NULL) {
        bench_fail("memory ended");
    }
    return shelf;
}

Scene scene_create(void) {
    WorldLimits limits = {
        .body_count_max = 1000000, .bytes_max = (size_t)1 << 33, .shelf = scene_shelf()};
    Scene scene = {.world = world_create(&limits), .stepper = stepper_create((size_t)1 << 33)};
    if (scene.world == NULL || scene.stepper == NULL) {
        bench_fail("memory ended");
    }
    arena_init(&scene.scratch, (size_t)1 << 33);
    WorldSettings settings = settings_default();
    settings.time_step = TIME_STEP;
    SolverSettings solver = solver_default(SOLVER_MDP);
    step_set_solver(&settings, &solver);
    world_set_settings(scene.world, &settings);

    Material material = material_default();
    material.friction = 0.5;
    material.restitution = 0.0;
    Error error = {0};
    if (world_add_materials(scene.world, &material, 1, &scene.material, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return scene;
}

void scene_destroy(Scene *scene) {
    world_destroy(scene->world);
    stepper_destroy(scene->stepper);
    arena_deinit(&scene->scratch);
}

void scene_set(Scene *scene, const char *parameter, double value) {
    WorldSettings settings = scene->world->settings;
    SolverSettings solver = step_solver(&settings);
    Error error = {0};
    if (solver_set(&solver, parameter, value, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    step_set_solver(&settings, &solver);
    world_set_settings(scene->world, &settings);
}

Id scene_shape(Scene *scene, PrimitiveKind kind, Vec3 size) {
    uint32_t kinds[] = {(uint32_t)kind};
    double sizes[] = {size.x, size.y, size.z};
    ShapeColumns columns = {.shape_count = 1,
                            .primitive_count = 1,
                            .kind = kinds,
                            .size = sizes,
                            .material = &scene->material};
    Id id = 0;
    Error error = {0};
    if (world_add_shapes(scene->world, &columns, &id, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    return id;
}

void scene_body(Scene *scene, Id shape, BodyKind kind, Pose pose) {
    double packed[7];
    pose_store(packed, pose);
    uint32_t kinds[] = {(uint32_t)kind};
    BodyColumns columns = {.count = 1, .pose = packed, .kind = kinds, .shape = &shape};
    Id id = 0;
    Error error = {0};
    if (world_add_bodies(scene->world, &columns, &id, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
}

Status scene_try_step(Scene *scene, Error *error) {
    StepInput input = {.time_step = scene->world->settings.time_step, .context = scene->context};
    return stepper_run(scene->stepper, scene->world, &input, &scene->scratch, NULL, &scene->report,
                       error);
}

void scene_step(Scene *scene) {
    Error error = {0};
    if (scene_try_step(scene, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
}

static Pose upright(double x, double y, double z) {
    return (Pose){.position = vec3(x, y, z), .orientation = quat_identity()};
}

Scene scene_fall(uint32_t count) {
    Scene scene = scene_create();
    Id shape = scene_shape(&scene, PRIMITIVE_SPHERE, vec3(RADIUS, 0.0, 0.0));
    for (uint32_t i = 0; i < count; i++) {
        scene_body(&scene, shape, BODY_DYNAMIC, upright(i, 0.1 * i, 1.0));
    }
    return scene;
}

// A floor and four walls that look inwards, around the square from 0 to `width`.
static void add_box(Scene *scene, double width) {
    static const double half = 0.70710678118654752; // a quarter turn
    Id plane = scene_shape(scene, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0));
    scene_body(scene, plane, BODY_STATIC, upright(0.0, 0.0, 0.0));
    const Pose walls[] = {
        {vec3(0.0, 0.0, 0.0), {half, 0.0, half, 0.0}},    // z turned to  x
        {vec3(width, 0.0, 0.0), {half, 0.0, -half, 0.0}}, // z turned to -x
        {vec3(0.0, 0.0, 0.0), {half, -half, 0.0, 0.0}},   // z turned to  y
        {vec3(0.0, width, 0.0), {half, half, 0.0, 0.0}},  // z turned to -y
    };
    for (int i = 0; i < 4; i++) {
        scene_body(scene, plane, BODY_STATIC, walls[i]);
    }
}

// splitmix64
double scene_scatter(uint64_t *seed) {
    uint64_t x = *seed += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
    return (double)(x >> 11) * 0x1p-53;
}

Scene scene_pile(uint32_t count) {
    Scene scene = scene_create();
    scene_set(&scene, "max_iterations", SETTLE_SWEEPS);
    double pitch = 2.25 * RADIUS; // room for the largest sphere and the scatter
    uint32_t per_side = (uint32_t)ceil(cbrt((double)count));
    add_box(&scene, per_side * pitch);
    Id shape[SIZE_COUNT];
    for (int i = 0; i < SIZE_COUNT; i++) {
        double radius = RADIUS * (0.9 + 0.2 * i / (SIZE_COUNT - 1));
        shape[i] = scene_shape(&scene, PRIMITIVE_SPHERE, vec3(radius, 0.0, 0.0));
    }
    uint64_t seed = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t layer = i / (per_side * per_side), column = i % (per_side * per_side);
        uint32_t row = column / per_side;
        double jitter = 0.02 * RADIUS;
        Pose pose =
            upright(pitch * (column % per_side + 0.5) + jitter * scene_scatter(&seed),
                    pitch * (row + 0.5) + jitter * scene_scatter(&seed), pitch * (layer + 0.5));
        Id size = shape[(int)(SIZE_COUNT * scene_scatter(&seed))];
        scene_body(&scene, size, BODY_DYNAMIC, pose);
    }
    for (int i = 0; i < SETTLE_STEPS; i++) {
        scene_step(&scene);
    }
    return scene;
}

Scene scene_stack(void) {
    return scene_stacks(1, STACK_BOXES);
}

Scene scene_stacks(uint32_t count, uint32_t boxes) {
    Scene scene = scene_create();
    Id plane = scene_shape(&scene, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0));
    Id box = scene_shape(&scene, PRIMITIVE_BOX, vec3(0.1, 0.1, 0.1));
    scene_body(&scene, plane, BODY_STATIC, upright(0.0, 0.0, 0.0));
    uint32_t per_side = (uint32_t)ceil(sqrt((double)count));
    double pitch = 0.6;
    for (uint32_t stack = 0; stack < count; stack++) {
        double x = pitch * (stack % per_side), y = pitch * (stack / per_side);
        for (uint32_t i = 0; i < boxes; i++) {
            scene_body(&scene, box, BODY_DYNAMIC, upright(x, y, 0.1 + 0.2 * i));
        }
    }
    return scene;
}

Scene scene_wall(void) {
    Scene scene = scene_create();
    Id plane = scene_shape(&scene, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0));
    Id box = scene_shape(&scene, PRIMITIVE_BOX, vec3(0.2, 0.1, 0.1));
    scene_body(&scene, plane, BODY_STATIC, upright(0.0, 0.0, 0.0));
    double pitch = 0.44;
    for (int course = 0; course < WALL_COURSES; course++) {
        int count = WALL_BOXES_BELOW - course;
        for (int i = 0; i < count; i++) {
            Pose pose = upright(pitch * (i + 0.5 * course), 0.0, 0.1 + 0.2 * course);
            scene_body(&scene, box, BODY_DYNAMIC, pose);
        }
    }
    return scene;
}
