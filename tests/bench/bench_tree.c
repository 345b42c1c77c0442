// SPDX-License-Identifier: MIT
// Trees of joints in worlds, a step with all that belongs to it. Beside other engines: a chain of
// twenty hinges let go 30 degrees off the vertical and from the horizontal (the whip), a cart-pole,
// an ant and a humanoid with contacts. By ourselves: how a chain grows with its links, as a tree
// and as rows, and the five solvers on ant and humanoid.
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/rods.h"
#include "bench/tree_contest.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 9, STEPS = 240 };
#define LEANS 0.5235987755982988 // 30 degrees
#define LEVEL 1.5707963267948966

static void add_figure(const BenchRun *run, const char *what, double value, const char *unit) {
    BenchRow row = {.value = value, .unit = unit};
    snprintf(row.figure, sizeof(row.figure), "%s", what);
    bench_add(run, &row);
}

// ---- beside others

// Times are asked to be at most `aim` of each peer's; 0: not asked.
static void add_contest(const BenchRun *run, const char *name, const TreeContest *contest,
                        double aim) {
    const TreeContestant *ours = &contest->of[0];
    char figure[80];
    for (uint32_t i = 0; i < contest->count; i++) {
        const TreeContestant *of = &contest->of[i];
        BenchRow row = {.value = 1e-3 * ours->step_ns, .unit = "us"};
        if (i > 0) {
            row.peer = of->name;
            row.peer_value = 1e-3 * of->step_ns;
            row.aim_kind = aim > 0.0 ? AIM_RATIO_MAX : AIM_NONE;
            row.aim = aim;
        }
        snprintf(row.figure, sizeof(row.figure), "%s: step", name);
        if (i > 0 || contest->count == 1) {
            bench_add(run, &row);
        }
    }
    for (uint32_t i = 0; i < contest->count; i++) {
        const TreeContestant *of = &contest->of[i];
        snprintf(figure, sizeof(figure), "%s: energy off by, %s", name, of->name);
        add_figure(run, figure, of->drift, "J");
        snprintf(figure, sizeof(figure), "%s: energy gained, %s", name, of->name);
        add_figure(run, figure, of->gain, "J");
        if (of->contacts > 0.0) {
            snprintf(figure, sizeof(figure), "%s: contacts, %s", name, of->name);
            add_figure(run, figure, of->contacts, "");
        }
        if (of->faults > 0.0) {
            snprintf(figure, sizeof(figure), "%s: began anew, %s", name, of->name);
            add_figure(run, figure, of->faults, "steps");
        }
    }
}

static void contest_chain(const BenchRun *run, const char *name, double angle, double aim) {
    enum { TURNS = 10 };
    Scene scene = scene_create();
    rods_add(&scene, 20, angle, false);
    const TreeContest contest = tree_contest_run(&scene, TURNS, STEPS);
    add_contest(run, name, &contest, aim);
    scene_destroy(&scene);
}

static Scene load_joints(const char *name) {
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/joints/%s.json", name);
    return load_scene(path);
}

static void contest_scene(const BenchRun *run, const char *name, uint32_t steps, double aim) {
    enum { TURNS = 21 };
    Scene scene = load_joints(name);
    WorldSettings settings = scene.world->settings;
    settings.integrator = INTEGRATOR_SYMPLECTIC; // as MuJoCo's Euler
    world_set_settings(scene.world, &settings);
    const TreeContest contest = tree_contest_run(&scene, TURNS, steps);
    add_contest(run, name, &contest, aim);
    scene_destroy(&scene);
}

// ---- by ourselves

// CPU time of a step, the median of the samples [ns].
static double time_steps(Scene *scene, int steps) {
    double times[SAMPLES];
    scene_step(scene); // memory is there
    for (int k = 0; k < SAMPLES; k++) {
        const double begun = bench_cpu_ns();
        for (int i = 0; i < steps; i++) {
            scene_step(scene);
        }
        times[k] = (bench_cpu_ns() - begun) / steps;
    }
    return bench_percentile(times, SAMPLES, 0.5);
}

static void grow(const BenchRun *run, bool as_rows) {
    static const uint32_t counts[] = {10, 20, 50, 100, 300, 1000};
    double of_ten = 0.0;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        Scene scene = scene_create();
        rods_add(&scene, counts[i], LEANS, as_rows);
        const double time = time_steps(&scene, counts[i] < 100 ? STEPS : STEPS / 10);
        of_ten = i == 0 ? time / counts[i] : of_ten;
        BenchRow row = {.value = 1e-3 * time,
                        .unit = "us",
                        .peer = "at 10's per link",
                        .peer_value = 1e-3 * of_ten * counts[i],
                        .aim_kind = AIM_RATIO_MAX,
                        .aim = 2.0};
        snprintf(row.figure, sizeof(row.figure), "chain of %u hinges as %s: step", counts[i],
                 as_rows ? "rows" : "a tree");
        bench_add(run, &row);
        scene_destroy(&scene);
    }
}

static void solve_figure(const BenchRun *run, const char *name) {
    enum { FIGURE_STEPS = 200 };
    for (SolverKind kind = 0; kind < SOLVER_COUNT; kind++) {
        Scene scene = load_joints(name);
        WorldSettings settings = scene.world->settings;
        const SolverSettings solver = solver_default(kind);
        step_set_solver(&settings, &solver);
        world_set_settings(scene.world, &settings);
        double times[FIGURE_STEPS], converged = 0.0, contacts = 0.0, own = 0.0;
        for (int i = 0; i < FIGURE_STEPS; i++) {
            const double begun = bench_cpu_ns();
            scene_step(&scene);
            times[i] = bench_cpu_ns() - begun;
            converged += scene.report.certificate.converged;
            contacts += scene.report.contact_count;
            own = fmax(own, scene.report.certificate.entry[CERTIFICATE_OWN]);
        }
        BenchRow row = {.value = 1e-3 * bench_percentile(times, FIGURE_STEPS, 0.5),
                        .unit = "us",
                        .has_certificate = true,
                        .e_own = own};
        snprintf(row.figure, sizeof(row.figure), "%s: %s step, %.0f %% converged, %.1f contacts",
                 name, solver_get(kind)->name, 100.0 * converged / FIGURE_STEPS,
                 contacts / FIGURE_STEPS);
        bench_add(run, &row);
        scene_destroy(&scene);
    }
}

void bench_tree(const BenchRun *run) {
    contest_chain(run, "chain of 20", LEANS, 1.0);
    contest_chain(run, "whip", LEVEL, 0.0);
    contest_scene(run, "cart_pole", 1000, 0.5);
    contest_scene(run, "ant", 200, 0.8);
    contest_scene(run, "humanoid_stairs", 100, 0.0);
    grow(run, false);
    grow(run, true);
    solve_figure(run, "ant");
    solve_figure(run, "humanoid_stairs");
}
