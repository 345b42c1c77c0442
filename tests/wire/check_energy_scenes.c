// SPDX-License-Identifier: MIT
// The energy book of every scene of tests/scenes by every solver and integrator: what it does not
// explain is rounding of what happened in the step, and its entries are the change of energy; also
// where a step is divided.
#include "wire/scene/scene.h"

#include "base/assert.h"
#include "support/campaign.h"
#include "support/scene_list.h"
#include "support/scene_world.h"
#include "support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 12 };
// of a step: the book is of what the solver has come to, solved or not
#define BUDGET 2e7

static SceneList scenes;

static void list_scenes(void) {
    scene_list_add(&scenes, "");
    scene_list_add(&scenes, "joints/");
}

// ---- a world

static Stage open_stage(const char *name, SolverKind kind, Integrator integrator,
                        uint32_t substeps) {
    Stage stage = stage_open_file(name);
    Error error = {0};
    SolverSettings solver = solver_default(kind);
    ck_assert_int_eq(solver_set(&solver, "budget", BUDGET, &error), STATUS_OK);
    WorldSettings settings = stage.world->settings;
    settings.integrator = (uint8_t)integrator;
    settings.substeps = substeps;
    step_set_solver(&settings, &solver);
    world_set_settings(stage.world, &settings);
    return stage;
}

// The entries are the change up to the rounding of the energies themselves, which is of where the
// scene stands: some hundred bodies' products, each a few times.
static void judge_entries(const Stage *stage, const char *name) {
    const StepEnergy *e = &stage->report.energy;
    const double entries = e->contact + e->row + e->applied + e->drive + e->scheme,
                 sizes = fabs(e->before) + fabs(e->after) + fabs(e->contact) + fabs(e->row) +
                         fabs(e->applied) + fabs(e->drive) + fabs(e->scheme);
    ck_assert_msg(fabs(e->after - e->before - entries - e->unexplained) <=
                      1e-12 * (e->scale + sizes),
                  "%s, step %llu: %g of %g", name, (unsigned long long)stage->world->step,
                  e->after - e->before - entries, e->scale);
}

static void play(const char *name, SolverKind kind, Integrator integrator, uint32_t substeps) {
    Stage stage = open_stage(name, kind, integrator, substeps);
    const StepInput input = {.time_step = stage.world->settings.time_step};
    double worst = 0.0;
    StepTally tally = {0};
    for (int n = 0; n < STEPS; n++) {
        Error error = {0};
        arena_reset(&stage.arena);
        if (stepper_run(stage.stepper, stage.world, &input, &stage.arena, NULL, &stage.report,
                        &error) != STATUS_OK) {
            break; // what gains under explicit may end: tests of faults judge that
        }
        const StepEnergy *e = &stage.report.energy;
        judge_entries(&stage, name);
        worst = fmax(worst, fabs(e->unexplained) / e->scale);
        tally_add(&tally, &stage.report, stage.world->step);
    }
    ck_assert_msg(worst <= 1e-12, "%s: %g", name, worst);
    // what the scenes are played with gains nothing
    ck_assert_msg(integrator != INTEGRATOR_SYMPLECTIC || tally.gained == 0.0, "%s: %g", name,
                  tally.gained);
    stage_close(&stage);
}

// Under the sanitizers each solver with one integrator, another one from scene to scene.
static bool is_played(int scene, int kind, int integrator) {
    return campaign_count(4) >= 4 || integrator == (scene + kind) % INTEGRATOR_COUNT;
}

START_TEST(what_is_not_explained_is_rounding) {
    for (int kind = 0; kind < SOLVER_COUNT; kind++) {
        for (int integrator = 0; integrator < INTEGRATOR_COUNT; integrator++) {
            if (is_played(_i, kind, integrator)) {
                play(scenes.name[_i], (SolverKind)kind, (Integrator)integrator, 1);
            }
        }
    }
}
END_TEST

// Each solver with one integrator and one division, others from scene to scene.
START_TEST(nor_is_what_substeps_do) {
    for (int kind = 0; kind < SOLVER_COUNT; kind++) {
        play(scenes.name[_i], (SolverKind)kind, (Integrator)((_i + kind) % INTEGRATOR_COUNT),
             2 + (uint32_t)(2 * _i + kind) % 4);
    }
}
END_TEST

// ---- what is told

static StepReport gaining(double scheme) {
    return (StepReport){.energy = {.scheme = scheme, .scale = 1.0}};
}

// Of many steps it is the sum, of one that is large that; what comes back is none.
START_TEST(a_call_tells_what_it_gained) {
    StepTally slow = {0}, sudden = {0}, swinging = {0};
    for (uint64_t step = 1; step <= 4; step++) {
        const StepReport little = gaining(0.004), there = gaining(step % 2 == 1 ? 0.004 : -0.004),
                         once = gaining(step == 2   ? 0.02
                                        : step == 3 ? -0.02
                                                    : 0.0);
        tally_add(&slow, &little, step);
        tally_add(&sudden, &once, step);
        tally_add(&swinging, &there, step);
    }
    ck_assert_double_eq_tol(slow.gained, 0.016, 1e-15);
    ck_assert_double_eq(sudden.gained, 0.02);
    ck_assert_double_eq(swinging.gained, 0.0);
}
END_TEST

static TCase *case_energy(void) {
    TCase *tcase = tcase_create("energy");
    list_scenes();
    tcase_set_timeout(tcase, 300.0);
    tcase_add_loop_test(tcase, what_is_not_explained_is_rounding, 0, scenes.count);
    tcase_add_loop_test(tcase, nor_is_what_substeps_do, 0, scenes.count);
    tcase_add_test(tcase, a_call_tells_what_it_gained);
    return tcase;
}

SUITE_MAIN("wire/energy_scenes", case_energy)
