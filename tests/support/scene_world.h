// SPDX-License-Identifier: MIT
// Worlds that scenes make, as WorldCreate makes them: the scene's inputs, one after the other.
// Fails the test where one is refused.
#pragma once

#include "run/worlds/apply.h"
#include "support/scene_file.h"
#include "wire/scene/scene.h"

#include <check.h>

// In an empty world. The arena keeps the plan.
static inline void scene_world_make(const Moreau__V1__Scene *scene, World *world, Stepper *stepper,
                                    Arena *arena) {
    Error error = {0};
    ScenePlan plan;
    Status status = scene_plan(scene, NULL, arena, &plan, &error);
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        status = apply_change(world, stepper, &plan.input[i], arena, NULL, NULL, &error);
    }
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
}

typedef struct Stage {
    GeometryShelf *shelf;
    World *world;
    Stepper *stepper;
    Arena arena;
    StepReport report; // the caller's
} Stage;

static inline Stage stage_open(const Moreau__V1__Scene *scene) {
    Stage stage = {.shelf = geometry_shelf_create()};
    const WorldLimits limits = {
        .body_count_max = 2000, .bytes_max = (size_t)1 << 28, .shelf = stage.shelf};
    Error error = {0};
    arena_init(&stage.arena, (size_t)1 << 30);
    ck_assert_int_eq(apply_create(&limits, &stage.world, &stage.stepper, &error), STATUS_OK);
    scene_world_make(scene, stage.world, stage.stepper, &stage.arena);
    return stage;
}

// Of a file of tests/scenes.
static inline Stage stage_open_file(const char *name) {
    Moreau__V1__Scene *scene = scene_file_load(name);
    Stage stage = stage_open(scene);
    moreau__v1__scene__free_unpacked(scene, NULL);
    return stage;
}

static inline void stage_close(Stage *stage) {
    world_destroy(stage->world);
    stepper_destroy(stage->stepper);
    arena_deinit(&stage->arena);
    geometry_shelf_destroy(stage->shelf);
}
