// SPDX-License-Identifier: MIT
// Scenes that come to rest, and stay there for as good as nothing: what touches is the same from
// step to step, so that a step's start is its end.
#include "wire/scene/scene.h"

#include "run/worlds/apply.h"
#include "support/scene_file.h"
#include "support/suite.h"

#include <math.h>

typedef struct Stage {
    World *world;
    Stepper *stepper;
    Arena arena;
    StepReport report;
} Stage;

static void set_effort(Stage *stage, WorldEffort effort) {
    WorldSettings settings = stage->world->settings;
    settings.effort = (uint8_t)effort;
    world_set_settings(stage->world, &settings);
}

static Stage open_stage(const char *name) {
    const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 28};
    Moreau__V1__Scene *scene = scene_file_load(name);
    Stage stage = {0};
    Error error = {0};
    ScenePlan plan;
    arena_init(&stage.arena, (size_t)1 << 30);
    ck_assert_int_eq(apply_create(&limits, &stage.world, &stage.stepper, &error), STATUS_OK);
    Status status = scene_plan(scene, NULL, &stage.arena, &plan, &error);
    for (size_t i = 0; status == STATUS_OK && i < plan.input_count; i++) {
        status = apply_change(stage.world, stage.stepper, &plan.input[i], &stage.arena, NULL, NULL,
                              &error);
    }
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
    moreau__v1__scene__free_unpacked(scene, NULL);
    return stage;
}

static void close_stage(Stage *stage) {
    world_destroy(stage->world);
    stepper_destroy(stage->stepper);
    arena_deinit(&stage->arena);
}

static void step(Stage *stage) {
    const StepInput input = {.time_step = stage->world->settings.time_step};
    Error error = {0};
    arena_reset(&stage->arena);
    ck_assert_int_eq(stepper_run(stage->stepper, stage->world, &input, &stage->arena, NULL,
                                 &stage->report, &error),
                     STATUS_OK);
}

static void assert_rests(Stage *stage, int steps) {
    for (int i = 0; i < steps; i++) {
        step(stage);
        ck_assert(stage->report.certificate.converged);
        ck_assert_uint_le(stage->report.iterations, 2);
    }
}

// Twelve boxes that fell into a narrow box, some of them with an edge along another's face, some
// with corners that bear by a hair.
START_TEST(a_heap_comes_to_rest_and_a_sweep_a_step_keeps_it) {
    Stage stage = open_stage("heap-12");
    set_effort(&stage, WORLD_EXACT);
    for (int i = 0; i < 400; i++) {
        step(&stage);
    }
    assert_rests(&stage, 60);
    set_effort(&stage, WORLD_BALANCED);
    assert_rests(&stage, 60);
    close_stage(&stage);
}
END_TEST

static TCase *case_rest(void) {
    TCase *tcase = tcase_create("rest");
    tcase_add_test(tcase, a_heap_comes_to_rest_and_a_sweep_a_step_keeps_it);
    tcase_set_timeout(tcase, 240);
    return tcase;
}

SUITE_MAIN("wire/rest_scenes", case_rest)
