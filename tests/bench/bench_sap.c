// SPDX-License-Identifier: MIT
// Contact as near-rigid as a step can tell: `sap` beside Drake's solver of that name, whole steps
// of one scene in turns, and how the convex solvers grow with what they are given.
//
// Both have beta = 1, sigma = 1e-3, no dissipation, and the same tolerance of the gradient, 1e-6;
// ours has its certificate to meet as well. w is nearly the same: Drake makes it of the diagonal
// of A alone. Drake's step in Python has some 5 us that are not Drake's.
#include "bench/bench.h"
#include "bench/contest.h"

#include <math.h>
#include <stdio.h>

enum { GROWTH_STEPS = 20, COLUMN_STEPS = 100 };

static const double ratio_pile[PEER_COUNT] = {[PEER_DRAKE] = 0.3},
                    ratio_stack[PEER_COUNT] = {[PEER_DRAKE] = 0.15},
                    ratio_wall[PEER_COUNT] = {[PEER_DRAKE] = 0.1};

static void set_solver(Scene *scene, SolverKind kind) {
    WorldSettings settings = scene->world->settings;
    SolverSettings solver = solver_default(kind);
    step_set_solver(&settings, &solver);
    world_set_settings(scene->world, &settings);
}

// ---- beside Drake

static void compete(const BenchRun *run, const char *name, Scene scene, const ContestPlan *plan,
                    const double *ratio_aim) {
    const ContestRow rows[] = {
        {.figure = "contacts",
         .offset = offsetof(ContestFigures, contacts),
         .scale = 1.0,
         .unit = ""},
        {.figure = "iterations",
         .offset = offsetof(ContestFigures, sweeps),
         .scale = 1.0,
         .unit = "",
         .is_ours = true},
        {.figure = "CPU/step p50",
         .offset = offsetof(ContestFigures, step_ns),
         .scale = 1e-6,
         .unit = "ms",
         .ratio_aim = ratio_aim},
        {.figure = "deepest overlap",
         .offset = offsetof(ContestFigures, overlap_max),
         .scale = 1e3,
         .unit = "mm"},
        {.figure = "sink", .offset = offsetof(ContestFigures, sink), .scale = 1e3, .unit = "mm"},
    };
    set_solver(&scene, SOLVER_SAP);
    Contest contest = contest_run(&scene, plan);
    scene_destroy(&scene);
    contest_add_rows(run, name, &contest, rows, sizeof(rows) / sizeof(rows[0]));
}

// ---- growth

static const struct {
    SolverKind kind;
    const char *name;
} convex[] = {{SOLVER_SAP, "sap"}, {SOLVER_CCP, "ccp"}, {SOLVER_COMPLIANT, "compliant"}};
enum { CONVEX = sizeof(convex) / sizeof(convex[0]) };

// Median time of a step [ns], and the mean of contacts.
static double step_ns(Scene *scene, SolverKind kind, double *contacts) {
    double ns[GROWTH_STEPS];
    set_solver(scene, kind);
    scene_step(scene);
    *contacts = 0.0;
    for (int i = 0; i < GROWTH_STEPS; i++) {
        double begun = bench_cpu_ns();
        scene_step(scene);
        ns[i] = bench_cpu_ns() - begun;
        *contacts += scene->report.contact_count / (double)GROWTH_STEPS;
    }
    return bench_percentile(ns, GROWTH_STEPS, 0.5);
}

static Scene column_of_boxes(uint32_t boxes) {
    return scene_stacks(1, boxes);
}

// The power of contacts that the time of a step grows with; one scene for all, in turns.
static void grow(const BenchRun *run, const char *name, Scene (*make)(uint32_t), uint32_t small,
                 uint32_t large) {
    double contacts[2][CONVEX], ns[2][CONVEX];
    for (int k = 0; k < 2; k++) {
        Scene scene = make(k == 0 ? small : large);
        for (int i = 0; i < CONVEX; i++) {
            ns[k][i] = step_ns(&scene, convex[i].kind, &contacts[k][i]);
            BenchRow row = {.value = ns[k][i] * 1e-6, .unit = "ms"};
            snprintf(row.figure, sizeof(row.figure), "%s of %u: %s CPU/step p50", name,
                     k == 0 ? small : large, convex[i].name);
            bench_add(run, &row);
        }
        scene_destroy(&scene);
    }
    for (int i = 0; i < CONVEX; i++) {
        BenchRow row = {.value = log(ns[1][i] / ns[0][i]) / log(contacts[1][i] / contacts[0][i]),
                        .unit = "",
                        .peer = "linear",
                        .peer_value = 1.0,
                        .aim_kind = AIM_VALUE_MAX,
                        .aim = 1.2};
        snprintf(row.figure, sizeof(row.figure), "%s: %s growth with contacts", name,
                 convex[i].name);
        bench_add(run, &row);
    }
}

// ---- a hundred spheres on each other

static Scene column_of_spheres(void) {
    Scene scene = scene_create();
    WorldSettings settings = scene.world->settings;
    settings.time_step = 0.01;
    world_set_settings(scene.world, &settings);
    Id plane = scene_shape(&scene, PRIMITIVE_PLANE, vec3(0.0, 0.0, 0.0));
    Id ball = scene_shape(&scene, PRIMITIVE_SPHERE, vec3(0.1, 0.0, 0.0));
    scene_body(&scene, plane, BODY_STATIC, (Pose){.orientation = quat_identity()});
    for (int i = 0; i < 100; i++) {
        Pose pose = {.position = vec3(0.0, 0.0, 0.1 + 0.2 * i), .orientation = quat_identity()};
        scene_body(&scene, ball, BODY_DYNAMIC, pose);
    }
    return scene;
}

static void stack_spheres(const BenchRun *run) {
    for (int i = 0; i < CONVEX; i++) {
        Scene scene = column_of_spheres();
        set_solver(&scene, convex[i].kind);
        double begun = bench_cpu_ns(), iterations = 0.0, e_own = 0.0;
        for (int k = 0; k < COLUMN_STEPS; k++) {
            scene_step(&scene);
            iterations += scene.report.iterations / (double)COLUMN_STEPS;
            e_own = fmax(e_own, scene.report.certificate.entry[CERTIFICATE_OWN]);
        }
        BenchRow row = {.value = (bench_cpu_ns() - begun) * 1e-6,
                        .unit = "ms",
                        .iterations = iterations,
                        .has_certificate = true,
                        .e_own = e_own,
                        .e_ds = scene.report.certificate.entry[CERTIFICATE_DS]};
        snprintf(row.figure, sizeof(row.figure), "100 spheres, 1 s at 10 ms: %s", convex[i].name);
        bench_add(run, &row);
        scene_destroy(&scene);
    }
}

void bench_sap(const BenchRun *run) {
    // Drake takes seconds for a step of the large pile
    static const ContestPlan one = {.turns = 2, .steps = 2, .is_convex = true},
                             few = {.turns = 3, .steps = 8, .is_convex = true},
                             many = {.turns = 5, .steps = 48, .is_convex = true};
    compete(run, "pile of 125", scene_pile(125), &many, ratio_pile);
    compete(run, "pile of 1000", scene_pile(1000), &one, ratio_pile);
    compete(run, "ten boxes", scene_stack(), &many, ratio_stack);
    compete(run, "wall of 525", scene_wall(), &few, ratio_wall);
    grow(run, "pile", scene_pile, 125, 1000);
    grow(run, "column", column_of_boxes, 20, 160);
    stack_spheres(run);
}
