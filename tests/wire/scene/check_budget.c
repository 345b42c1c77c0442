// SPDX-License-Identifier: MIT
// Steps of scenes that ask for more digits than there are: what ends them is the answer or the
// budget, counted in operations, and no clock.
#include "wire/scene/scene.h"

#include "run/worlds/door.h"
#include "support/campaign.h"
#include "support/scene_file.h"
#include "support/suite.h"

#include <string.h>

// As little as ends some steps and not others. Of the arch under lcp one took a minute.
static const struct {
    const char *scene;
    SolverKind solver;
    double budget;
} ways[] = {
    {"arch", SOLVER_LCP, 5e7},
    {"arch", SOLVER_CCP, 4e6},
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]), STEPS = 110 };

static const double tolerance = 1e-12;

static void open_scene(const char *name, Door *door, Arena *arena) {
    const WorldLimits limits = {.body_count_max = 1000, .bytes_max = (size_t)1 << 28};
    Moreau__V1__Scene *scene = scene_file_load(name);
    Error error = {0};
    ScenePlan plan;
    arena_init(arena, (size_t)1 << 30);
    ck_assert_int_eq(door_init(door, &limits, &error), STATUS_OK);
    ck_assert_int_eq(scene_plan(scene, NULL, arena, &plan, &error), STATUS_OK);
    for (size_t i = 0; i < plan.input_count; i++) {
        ck_assert_msg(door_change(door, &plan.input[i], arena, NULL, NULL, &error) == STATUS_OK,
                      "%s", error.message);
    }
    moreau__v1__scene__free_unpacked(scene, NULL);
}

static void set_solver(World *world, SolverKind kind, double budget) {
    SolverSettings solver = solver_default(kind);
    WorldSettings settings = world->settings;
    Error error = {0};
    ck_assert_int_eq(solver_set(&solver, "tolerance", tolerance, &error), STATUS_OK);
    ck_assert_int_eq(solver_set(&solver, "budget", budget, &error), STATUS_OK);
    step_set_solver(&settings, &solver);
    world_set_settings(world, &settings);
}

static bool count_question(void *context) {
    uint32_t *questions = context;
    ++*questions;
    return false;
}

START_TEST(a_step_ends_with_its_budget_and_never_by_a_clock) {
    Door door;
    Arena arena;
    open_scene(ways[_i].scene, &door, &arena);
    set_solver(door.world, ways[_i].solver, ways[_i].budget);
    uint32_t questions = 0, most = 0, spent = 0, met = 0;
    const Stop stop = {.asked = count_question, .context = &questions};
    const StepInput input = {.time_step = door.world->settings.time_step,
                             .context = {.stop = &stop}};
    const int length = campaign_count(STEPS), steps = length < STEPS ? length : STEPS;
    for (int step = 1; step <= steps; step++) {
        StepReport report;
        Error error = {0};
        arena_reset(&arena);
        questions = 0;
        ck_assert_msg(stepper_run(door.stepper, door.world, &input, &arena, NULL, &report,
                                  &error) == STATUS_OK,
                      "step %d: %s", step, error.message);
        const Certificate *c = &report.certificate;
        const EndReason reason = c->worst_open.reason;
        ck_assert_msg(c->converged || reason == END_BUDGET, "step %d: reason %d", step,
                      (int)reason);
        spent += !c->converged;
        met += c->converged;
        most = questions > most ? questions : most;
    }
    // one question for 5e5 operations or more, and those that the step asks beside its solver
    ck_assert_double_le(most, 16.0 + ways[_i].budget / 5e5);
    ck_assert_uint_gt(spent, 0);
    ck_assert(met > 0 || steps < STEPS);
    door_deinit(&door);
    arena_deinit(&arena);
}
END_TEST

static TCase *case_budget(void) {
    TCase *tcase = tcase_create("budget");
    tcase_add_loop_test(tcase, a_step_ends_with_its_budget_and_never_by_a_clock, 0, WAYS);
    return tcase;
}

SUITE_MAIN("wire/scene_budget", case_budget)
