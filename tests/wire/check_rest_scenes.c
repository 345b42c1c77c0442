// SPDX-License-Identifier: MIT
// Scenes that come to rest, and stay there for as good as nothing: what touches is the same from
// step to step, so that a step's start is its end.
#include "wire/scene/scene.h"

#include "support/scene_world.h"
#include "support/suite.h"

#include <math.h>

static void set_effort(Stage *stage, WorldEffort effort) {
    WorldSettings settings = stage->world->settings;
    settings.effort = (uint8_t)effort;
    world_set_settings(stage->world, &settings);
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
    Stage stage = stage_open_file("heap-12");
    set_effort(&stage, WORLD_EXACT);
    for (int i = 0; i < 400; i++) {
        step(&stage);
    }
    assert_rests(&stage, 60);
    set_effort(&stage, WORLD_BALANCED);
    assert_rests(&stage, 60);
    stage_close(&stage);
}
END_TEST

static TCase *case_rest(void) {
    TCase *tcase = tcase_create("rest");
    tcase_add_test(tcase, a_heap_comes_to_rest_and_a_sweep_a_step_keeps_it);
    tcase_set_timeout(tcase, 240);
    return tcase;
}

SUITE_MAIN("wire/rest_scenes", case_rest)
