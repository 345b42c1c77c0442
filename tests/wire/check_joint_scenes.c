// SPDX-License-Identifier: MIT
// The scenes of tests/scenes/joints under every solver: each plays, its steps are converged, what a
// solver is handed is as the problem files want it, nothing comes apart, and what is printed of it
// makes the same world again. The gripper holds its box.
#include "wire/scene/scene.h"

#include "solve/problem.h"
#include "solve/solver.h"
#include "support/sanitizers.h"
#include "support/scene_world.h"
#include "support/suite.h"
#include "wire/scene/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100 };

static const char *const scenes[] = {
    "double_pendulum", "four_bar_linkage", "slider_crank", "chain20",
    "chain20_rows",    "cart_pole",        "ant",          "gripper",
    "vehicle",         "humanoid_stairs",  "motors",       "finger"};
enum { SCENES = sizeof(scenes) / sizeof(scenes[0]) };

// ---- worlds

static Moreau__V1__Scene *load_joints(const char *name) {
    char path[64];
    snprintf(path, sizeof(path), "joints/%s", name);
    return scene_file_load(path);
}

static Stage open_stage(const Moreau__V1__Scene *scene, SolverKind kind) {
    Stage stage = stage_open(scene);
    const SolverSettings solver = solver_default(kind);
    WorldSettings settings = stage.world->settings;
    step_set_solver(&settings, &solver);
    world_set_settings(stage.world, &settings);
    return stage;
}

// ---- what is asserted

// The largest gap that a joint has where it leaves no move free.
static double largest_gap(const World *world) {
    double largest = 0.0;
    for (size_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if ((joint->axes & JOINT_MOVES) == 0 && !joint_kind_is_rows((JointKind)joint->kind)) {
            const Vec3 a = world_joint_frame(world, joint, 0).position,
                       b = world_joint_frame(world, joint, 1).position;
            largest = fmax(largest, vec3_norm(vec3_sub(b, a)));
        }
    }
    return largest;
}

START_TEST(every_scene_plays_under_every_solver) {
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    const char *name = scenes[_i / SOLVER_COUNT];
    Moreau__V1__Scene *scene = load_joints(name);
    Stage stage = open_stage(scene, kind);
    for (int i = 0; i < STEPS; i++) {
        const StepInput input = {.time_step = stage.world->settings.time_step};
        Error error = {0};
        arena_reset(&stage.arena);
        ck_assert_msg(stepper_run(stage.stepper, stage.world, &input, &stage.arena, NULL,
                                  &stage.report, &error) == STATUS_OK,
                      "%s by %s, step %d: %s", name, solver_get(kind)->name, i, error.message);
        ck_assert_msg(stage.report.certificate.converged, "%s by %s, step %d: e_own %g", name,
                      solver_get(kind)->name, i, stage.report.certificate.entry[CERTIFICATE_OWN]);
        ck_assert_msg(problem_check(&stage.stepper->problem, &stage.arena, &error) == STATUS_OK,
                      "%s by %s, step %d: %s: %s", name, solver_get(kind)->name, i, error.field,
                      error.message);
        // a rod of 1.5 m at some rad/s, for a step of 2 ms, off by (h w)^2 r/2, and softer solvers
        ck_assert_double_le(largest_gap(stage.world), 2e-3);
    }
    stage_close(&stage);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

// ---- the gripper

// Two answers to the same contacts are the box that stands still and the one that turns about a
// corner of each finger's face, which carries all: it must be the first, in every step of a minute,
// and of a tenth of it where each takes ten times as long. It may slip by 0.1 mm, as a whole and,
// turning, at its corners, which are 0.1 m from its middle.
START_TEST(a_gripper_holds_its_box) {
    static const SolverKind kinds[] = {SOLVER_MDP, SOLVER_LCP};
    const int steps = SANITIZES_ADDRESSES || SANITIZES_THREADS ? 1200 : 12000;
    Moreau__V1__Scene *scene = scene_file_load("joints/gripper");
    Stage stage = open_stage(scene, kinds[_i]);
    const size_t box = 3; // behind the palm and the fingers
    ck_assert_str_eq(stage.world->body_name[box], "box");
    double before[7], after[7];
    world_body_pose(stage.world, (uint32_t)box, before);
    for (int i = 0; i < steps; i++) {
        const StepInput input = {.time_step = stage.world->settings.time_step};
        Error error = {0};
        arena_reset(&stage.arena);
        ck_assert_int_eq(stepper_run(stage.stepper, stage.world, &input, &stage.arena, NULL,
                                     &stage.report, &error),
                         STATUS_OK);
        ck_assert(stage.report.certificate.converged);
    }
    world_body_pose(stage.world, (uint32_t)box, after);
    for (int k = 0; k < 3; k++) {
        ck_assert_double_eq_tol(after[k], before[k], 1e-4);
        // half the angle
        ck_assert_double_eq_tol(after[4 + k], 0.0, 5e-4);
    }
    stage_close(&stage);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

// Frames come back from the centre of mass and to it, with a rounding each way.
static void assert_same(const World *a, const World *b) {
    ck_assert_uint_eq(a->joint_count, b->joint_count);
    ck_assert_uint_eq(a->joint_axis_count, b->joint_axis_count);
    for (size_t i = 0; i < a->joint_count; i++) {
        const Joint *left = &a->joint[i], *right = &b->joint[i];
        ck_assert_uint_eq(left->kind, right->kind);
        ck_assert_uint_eq(left->axes, right->axes);
        ck_assert_uint_eq(left->body[0], right->body[0]);
        ck_assert_uint_eq(left->body[1], right->body[1]);
        ck_assert_int_eq(left->is_rows, right->is_rows);
        ck_assert_str_eq(left->name, right->name);
    }
    for (size_t i = 0; i < a->joint_axis_count; i++) {
        ck_assert_mem_eq(&a->joint_axis[i], &b->joint_axis[i], sizeof(JointAxis));
        ck_assert_double_eq(a->joint_target_velocity[i], b->joint_target_velocity[i]);
        ck_assert_double_eq(a->joint_effort[i], b->joint_effort[i]);
    }
    for (size_t i = 0; i < a->joint_position_count; i++) {
        ck_assert_double_eq_tol(a->joint_position[i], b->joint_position[i], 1e-12);
    }
}

START_TEST(what_is_printed_makes_the_same_joints) {
    Moreau__V1__Scene *scene = load_joints(scenes[_i]);
    Stage stage = open_stage(scene, SOLVER_MDP);
    Sink counter = {0};
    scene_print(stage.world, 0, &counter);
    char *text = calloc(counter.count + 1, 1);
    Sink sink = {.bytes = (uint8_t *)text};
    scene_print(stage.world, 0, &sink);
    JsonText json;
    JsonError error = {0};
    ck_assert_msg(json_text_parse(&json, "printed", text, strlen(text), &error), "%s",
                  error.message);
    Moreau__V1__Scene *again = scene_file_read(&json);
    Stage other = open_stage(again, SOLVER_MDP);
    assert_same(stage.world, other.world);
    stage_close(&stage);
    stage_close(&other);
    free(text);
    moreau__v1__scene__free_unpacked(scene, NULL);
    moreau__v1__scene__free_unpacked(again, NULL);
}
END_TEST

// Where nothing touches, a step in substeps is as many steps, to the bit: the first six scenes.
enum { FREE_SCENES = 6, SUBSTEPS = 3 };

static void take_steps(Stage *stage, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const StepInput input = {.time_step = stage->world->settings.time_step};
        Error error = {0};
        arena_reset(&stage->arena);
        ck_assert_msg(stepper_run(stage->stepper, stage->world, &input, &stage->arena, NULL,
                                  &stage->report, &error) == STATUS_OK,
                      "%s", error.message);
        ck_assert_uint_eq(stage->stepper->contact_count, 0);
    }
}

static void set_division(Stage *stage, uint32_t substeps, double time_step) {
    WorldSettings settings = stage->world->settings;
    settings.substeps = substeps;
    settings.time_step = time_step;
    world_set_settings(stage->world, &settings);
}

START_TEST(substeps_of_joints_are_steps) {
    const SolverKind kind = (SolverKind)(_i % SOLVER_COUNT);
    Moreau__V1__Scene *scene = load_joints(scenes[_i / SOLVER_COUNT]);
    Stage whole = open_stage(scene, kind), small = open_stage(scene, kind);
    const double h = whole.world->settings.time_step;
    set_division(&whole, SUBSTEPS, h);
    set_division(&small, 1, h / SUBSTEPS);
    for (int i = 0; i < STEPS; i++) {
        take_steps(&whole, 1);
        take_steps(&small, SUBSTEPS);
        const World *a = whole.world, *b = small.world;
        ck_assert_mem_eq(a->pose, b->pose, (size_t)7 * a->body_count * sizeof(double));
        ck_assert_mem_eq(a->velocity, b->velocity, (size_t)6 * a->body_count * sizeof(double));
        ck_assert_mem_eq(a->joint_velocity, b->joint_velocity,
                         a->joint_axis_count * sizeof(double));
        ck_assert_mem_eq(a->joint_position, b->joint_position,
                         a->joint_position_count * sizeof(double));
    }
    stage_close(&whole);
    stage_close(&small);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

static TCase *case_scenes(void) {
    TCase *tcase = tcase_create("scenes");
    tcase_set_timeout(tcase, 120.0);
    tcase_add_loop_test(tcase, every_scene_plays_under_every_solver, 0, SCENES * SOLVER_COUNT);
    tcase_add_loop_test(tcase, a_gripper_holds_its_box, 0, 2);
    tcase_add_loop_test(tcase, substeps_of_joints_are_steps, 0, FREE_SCENES * SOLVER_COUNT);
    tcase_add_loop_test(tcase, what_is_printed_makes_the_same_joints, 0, SCENES);
    return tcase;
}

SUITE_MAIN("wire/joint_scenes", case_scenes)
