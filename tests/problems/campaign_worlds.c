// SPDX-License-Identifier: MIT
// Problems of worlds: each scene is stepped with Newton's method from its first frame on, and the
// problems of some of its steps, evenly spread from the first touch to the last step, are solved
// again from nothing.
#include "problems/campaign.h"

#include "cli/json/write.h"
#include "cli/problems/problem.h"
#include "wire/problem/codec.h"
#include "bench/bench.h"
#include "bench/load.h"
#include "solve/mdp/mdp.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// demands on the whole
#define SOLVED_MIN   0.8
#define CONTACTS_MIN 100.0
enum { PROBLEMS_MAX = 150 };

typedef struct CampaignScene {
    const char *name, *file;
    double friction; // of all materials; 0: as in the file
    uint32_t steps, problems;
    double step_most,
        cold_most; // factorisations of an island: of a step, of a problem from nothing
    bool is_quick;
} CampaignScene;

// what the method itself takes at most
#define ALL 6000.0

static const CampaignScene scenes[] = {
    {"arch", "arch", 0.0, 120, 20, 1000.0, ALL, true},
    {"arch-falls", "arch", 0.17, 240, 100, 1000.0, ALL, true},
    {"balls-27", "balls-27", 0.0, 360, 20, 1000.0, ALL, false},
    {"balls-125", "large/balls-125", 0.0, 480, 120, 150.0, ALL, false},
    {"card-house", "card-house", 0.0, 60, 10, 1000.0, ALL, true},
    {"card-house-falls", "card-house", 0.44, 240, 60, 1000.0, ALL, true},
    {"falling", "falling", 0.0, 480, 70, 1000.0, ALL, false},
    {"heap-12", "heap-12", 0.0, 360, 30, 1000.0, ALL, true},
    {"heap-125", "large/heap-125", 0.0, 480, 120, 150.0, ALL, false},
    {"mass-ladder", "mass-ladder", 0.0, 60, 20, 1000.0, ALL, true},
    {"pile-1000", "large/pile-1000", 0.0, 75, 40, 60.0, ALL, false},
    {"pyramid-6-kicked", "pyramid-6-kicked", 0.0, 120, 30, 1000.0, ALL, true},
    {"pyramid-55", "large/pyramid-55", 0.0, 120, 70, 1000.0, ALL, true},
    {"pyramid-55-kicked", "large/pyramid-55-kicked", 0.0, 240, 100, 200.0, ALL, false},
    {"tower-slides", "tower", 0.1, 120, 30, 1000.0, ALL, true},
    {"wall-105-hit", "large/wall-105-hit", 0.0, 240, 100, 200.0, ALL, false},
    {"wall-525", "large/wall-525", 0.0, 60, 50, 300.0, ALL, false},
    {"wall-525-kicked", "large/wall-525-kicked", 0.0, 12, 6, 100.0, 1500.0, false},
    {"wedge-slides", "wedge", 0.2, 120, 30, 1000.0, ALL, true},
};
enum { SCENE_COUNT = sizeof(scenes) / sizeof(scenes[0]) };

// What came of problems, of a scene or of all.
typedef struct Tally {
    uint32_t count, solved, near; // to the two tolerances
    uint32_t steps, steps_met;    // of the world
    double step_factorisations;   // of all those steps
    double contacts[SCENE_COUNT * PROBLEMS_MAX], factorisations[SCENE_COUNT * PROBLEMS_MAX],
        ms[SCENE_COUNT * PROBLEMS_MAX];
} Tally;

// ---- worlds

static Scene open_scene(const CampaignScene *of) {
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s.json", of->file);
    Scene scene = load_scene(path);
    World *world = scene.world;
    WorldSettings settings = world->settings;
    SolverSettings solver = campaign_solver(of->step_most);
    step_set_solver(&settings, &solver);
    world_set_settings(world, &settings);
    for (size_t i = 0; of->friction > 0.0 && i < world->material_count; i++) {
        world->material[i].friction = of->friction;
    }
    return scene;
}

// Whether the problem of a step is one of so many from the first on.
static bool is_chosen(const CampaignScene *of, uint32_t first, uint32_t step, double share) {
    double count = ceil(share * of->problems), of_steps = of->steps - first + 1;
    double at = step - first;
    return step == first || floor(at * count / of_steps) > floor((at - 1.0) * count / of_steps);
}

// ---- problems

static void save_miss(const CampaignOptions *options, const CampaignScene *of, uint32_t step,
                      const ContactProblem *problem, Arena *arena) {
    char path[LOAD_PATH_BYTES], about[128];
    snprintf(path, sizeof(path), "%s/%s-%04u.json", options->misses, of->name, step);
    snprintf(about, sizeof(about), "step %u of %s, stepped with newton", step, of->name);
    Moreau__V1__ContactProblem *message = problem_codec_write(problem, arena);
    json_t *document = message == NULL ? NULL : problem_write(message, about, NULL, NULL);
    FILE *out = fopen(path, "w");
    if (document == NULL || out == NULL) {
        bench_fail("cannot write %s", path);
    }
    json_print(out, document);
    fclose(out);
    json_decref(document);
}

static void solve_problem(const CampaignOptions *options, const CampaignScene *of, uint32_t step,
                          const Stepper *stepper, Tally *tally) {
    ContactProblem problem = stepper->problem;
    SolverSettings settings = campaign_solver(of->cold_most);
    Arena arena;
    SolveResult result;
    Error error = {0};
    if (!options->is_warm) {
        problem.warm_contact = problem.warm_row = NULL;
    }
    arena_init(&arena, (size_t)1 << 33);
    double begun = bench_cpu_ns();
    if (solver_solve(&settings, &problem, &(Context){0}, &arena, &result, &error) != STATUS_OK) {
        bench_fail("%s, step %u: %s", of->name, step, error.message);
    }
    uint32_t at = tally->count++;
    tally->ms[at] = (bench_cpu_ns() - begun) * 1e-6;
    tally->contacts[at] = problem.contact_count;
    tally->factorisations[at] = result.iterations;
    double own = result.certificate.entry[CERTIFICATE_OWN];
    tally->solved += own <= CAMPAIGN_TOLERANCE;
    tally->near += own <= CAMPAIGN_NEAR;
    if (!(own <= CAMPAIGN_TOLERANCE)) {
        printf("    miss: %s step %u: e_own %.1e after %u, %u contacts\n", of->name, step, own,
               result.iterations, problem.contact_count);
        fflush(stdout);
        if (options->misses != NULL) {
            save_miss(options, of, step, &stepper->problem, &arena);
        }
    }
    arena_deinit(&arena);
}

static void run_scene(const CampaignOptions *options, const CampaignScene *of, Tally *tally) {
    Scene scene = open_scene(of);
    uint32_t first = 0;
    for (uint32_t step = 1; step <= of->steps; step++) {
        scene_step(&scene);
        if (scene.report.contact_count == 0) {
            continue;
        }
        first = first == 0 ? step : first;
        tally->steps++;
        tally->steps_met += scene.report.certificate.converged;
        tally->step_factorisations += scene.report.iterations;
        if (is_chosen(of, first, step, options->share)) {
            solve_problem(options, of, step, scene.stepper, tally);
        }
    }
    scene_destroy(&scene);
}

// ---- the table

static void print_row(const char *name, Tally *of) {
    size_t n = of->count;
    printf("%-18s %5u  %4.0f %4.0f %4.0f  %5u %5u  %5.0f %5.0f  %8.2f %8.1f  %5u of %u %7.1f\n",
           name, of->count, bench_percentile(of->contacts, n, 0.0),
           bench_percentile(of->contacts, n, 0.5), bench_percentile(of->contacts, n, 1.0), of->near,
           of->solved, bench_percentile(of->factorisations, n, 0.5),
           bench_percentile(of->factorisations, n, 1.0), bench_percentile(of->ms, n, 0.5),
           bench_percentile(of->ms, n, 1.0), of->steps_met, of->steps,
           of->step_factorisations / fmax(of->steps, 1.0));
    fflush(stdout);
}

static void add(Tally *all, const Tally *one) {
    memcpy(all->contacts + all->count, one->contacts, one->count * sizeof(double));
    memcpy(all->factorisations + all->count, one->factorisations, one->count * sizeof(double));
    memcpy(all->ms + all->count, one->ms, one->count * sizeof(double));
    all->count += one->count;
    all->solved += one->solved;
    all->near += one->near;
    all->steps += one->steps;
    all->steps_met += one->steps_met;
    all->step_factorisations += one->step_factorisations;
}

static int demand(bool is_met, const char *what) {
    if (!is_met) {
        printf("NOT MET: %s\n", what);
    }
    return is_met ? 0 : 1;
}

double campaign_factorisations(const char *problem) {
    double most = 0.0;
    size_t length = 0;
    for (size_t i = 0; i < SCENE_COUNT; i++) {
        size_t own = strlen(scenes[i].name);
        if (own > length && strncmp(problem, scenes[i].name, own) == 0) {
            length = own;
            most = scenes[i].cold_most;
        }
    }
    if (length == 0) {
        bench_fail("%s is of no scene", problem);
    }
    return most;
}

int campaign_worlds(const CampaignOptions *options) {
    static Tally all, one;
    uint32_t scene_count = 0;
    printf("%-18s %5s  %14s  %5s %5s  %11s  %17s  %s\n", "scene", "", "contacts", "1e-6", "1e-8",
           "factorised", "ms", "world's steps met, factorisations of one");
    for (size_t i = 0; i < SCENE_COUNT; i++) {
        const CampaignScene *of = &scenes[i];
        bool is_left_out = options->is_quick && !of->is_quick;
        if (is_left_out || (options->scene != NULL && strcmp(options->scene, of->name) != 0)) {
            continue;
        }
        one = (Tally){0};
        run_scene(options, of, &one);
        print_row(of->name, &one);
        add(&all, &one);
        scene_count++;
    }
    print_row("all", &all);
    int failures = demand(all.solved >= SOLVED_MIN * all.count, "80 % of all solved to 1e-8");
    if (scene_count == SCENE_COUNT) {
        failures += demand(bench_percentile(all.contacts, all.count, 0.5) >= CONTACTS_MIN,
                           "a median of 100 contacts");
    }
    return failures;
}
