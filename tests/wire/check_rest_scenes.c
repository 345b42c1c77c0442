// SPDX-License-Identifier: MIT
// Scenes that come to rest, and stay there for as good as nothing: what touches is the same from
// step to step, so that a step's start is its end.
#include "wire/scene/scene.h"

#include "support/campaign.h"
#include "support/scene_world.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

// Steps until it has been solved, with as many contacts, for so many; fails where it never is.
static void settle(Stage *stage, int steps, int most) {
    uint32_t contacts = 0;
    for (int i = 0, still = 0; still < steps; i++) {
        ck_assert_int_lt(i, most);
        step(stage);
        const StepReport *report = &stage->report;
        still = report->certificate.converged && report->contact_count == contacts ? still + 1 : 0;
        contacts = report->contact_count;
    }
}

static double farthest(const World *world, const double *from) {
    double square = 0.0;
    for (size_t body = 0; body < world->body_count; body++) {
        Vec3 way = vec3_sub(vec3_load(world->pose + 7 * body), vec3_load(from + 7 * body));
        square = fmax(square, vec3_dot(way, way));
    }
    return sqrt(square);
}

// 125 boxes that fell, by the sweeps that a world has by default: of what touches nothing comes and
// goes any more, and no box creeps by more than what a tolerance leaves, 1e-6 g h: 0.4 um in ten
// seconds, and ten times that where levers are long.
START_TEST(a_heap_of_125_comes_to_rest_under_a_balanced_effort) {
    Stage stage = stage_open_file("large/heap-125");
    set_effort(&stage, WORLD_BALANCED);
    settle(&stage, 240, 6000);
    const World *world = stage.world;
    const uint32_t contacts = stage.report.contact_count;
    const double h = world->settings.time_step, fall = 9.81 * h * h; // [m] in a step
    double *from = calloc(world->body_count, 7 * sizeof(double));
    ck_assert_ptr_nonnull(from);
    memcpy(from, world->pose, world->body_count * 7 * sizeof(double));
    for (int i = 0, campaign = campaign_count(2400); i < campaign; i++) {
        step(&stage);
        ck_assert_uint_eq(stage.report.contact_count, contacts);
        ck_assert_double_le(stage.report.certificate.entry[CERTIFICATE_OWN], 1e-3);
        ck_assert_double_lt(farthest(world, from), 10.0 * 1e-6 * fall * (i + 240));
    }
    free(from);
    stage_close(&stage);
}
END_TEST

static TCase *case_rest(void) {
    TCase *tcase = tcase_create("rest");
    tcase_add_test(tcase, a_heap_of_125_comes_to_rest_under_a_balanced_effort);
    tcase_add_test(tcase, a_heap_comes_to_rest_and_a_sweep_a_step_keeps_it);
    tcase_set_timeout(tcase, 240);
    return tcase;
}

SUITE_MAIN("wire/rest_scenes", case_rest)
