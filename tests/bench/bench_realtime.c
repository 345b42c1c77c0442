// SPDX-License-Identifier: MIT
// Every scene of tests/scenes as it is, at 1/240 s: whether one core keeps up with it, and with
// which of its steps it does not. A table in Markdown as it comes, and the same as rows.
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/walk.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_STEP (1.0 / 240.0)

enum { SCENES_MAX = 128 };

static const char *const folders[] = {"", "joints/", "moving/", "large/"};
enum { FOLDER_COUNT = sizeof(folders) / sizeof(folders[0]) };

// Those that are not kept up with, and why.
typedef struct Excuse {
    const char *scene, *reason;
} Excuse;

static const Excuse excuses[] = {
    {"moving/bowl-mixed-1000",
     "4,200 contacts on triangles: a hundred sweeps are a third, GJK a fifth"},
    {"large/bin-200", "by a hair: 700 contacts of hulls and angles that fall"},
    {"large/hourglass-300",
     "hulls and cylinders in a mesh: GJK is a quarter, a hundred sweeps another"},
    {"moving/heap-mixed-300", "by a hair: up to 1,000 contacts, a hundred sweeps of them"},
    {"moving/ragdolls-100",
     "1,000 contacts of trees of 36 velocities: a hundred sweeps of them are 10 to 20 ms"},
    {"large/pile-1000", "2,700 contacts of balls that fall: a hundred sweeps of them"},
    {"large/wall-105-hit", "by a hair: 800 contacts that slide, a hundred sweeps of them"},
    {"large/wall-525-kicked", "5,000 contacts that slide: a hundred sweeps of them are 20 ms"},
};

static const char *reason_of(const char *name) {
    for (size_t i = 0; i < sizeof(excuses) / sizeof(excuses[0]); i++) {
        if (strcmp(excuses[i].scene, name) == 0) {
            return excuses[i].reason;
        }
    }
    return "no reason is known";
}

typedef struct Pace {
    double p50, worst; // [ms]
    double share;      // of the time that goes by in the world
    uint32_t late;     // steps that took longer than theirs
} Pace;

static Pace pace_of(Walk *walk) {
    Pace pace = {.late = 0};
    for (uint32_t i = 0; i < walk->steps; i++) {
        pace.share += walk->ms[i] * 1e-3 / (TIME_STEP * walk->steps);
        pace.late += walk->ms[i] * 1e-3 > TIME_STEP;
    }
    pace.p50 = bench_percentile(walk->ms, walk->steps, 0.5);
    pace.worst = bench_percentile(walk->ms, walk->steps, 1.0);
    return pace;
}

static uint32_t count_moving(const World *world) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        count += world->kind[i] == BODY_DYNAMIC;
    }
    return count;
}

static void print_line(const char *name, const Scene *scene, const Walk *walk, const Pace *pace) {
    const SolverSettings solver = step_solver(&scene->world->settings);
    printf("| %s | %u | %s | %.3g | %.3g | %.3g %% | %u of %u | %s |\n", name,
           count_moving(scene->world), solver_get(solver.kind)->name, pace->p50, pace->worst,
           100.0 * pace->share, pace->late, walk->steps,
           pace->share <= 1.0 ? "yes" : reason_of(name));
    fflush(stdout);
}

static void add_rows(const BenchRun *run, const char *name, Walk *walk, const Pace *pace) {
    const WalkFigure figures[] = {{"median step", "ms", pace->p50},
                                  {"worst step", "ms", pace->worst},
                                  {"share of real time", "", pace->share},
                                  {"late", "steps", pace->late}};
    walk_report(run, name, "as it is", walk, figures, sizeof(figures) / sizeof(figures[0]));
}

static void run_scene(const BenchRun *run, const char *folder, const LoadFile *file) {
    char name[LOAD_PATH_BYTES];
    snprintf(name, sizeof(name), "%s%s", folder, file->name);
    if (!file->is_scene || (run->scene != NULL && strcmp(run->scene, name) != 0)) {
        return;
    }
    Scene scene = load_scene(file->path);
    WorldSettings settings = scene.world->settings;
    settings.time_step = TIME_STEP;
    world_set_settings(scene.world, &settings);
    Walk walk = walk_scene(&scene, run->seconds);
    if (walk.steps == 0) {
        bench_fail("%s: %s", name, walk.error.message);
    }
    const Pace pace = pace_of(&walk);
    if (run->json) {
        add_rows(run, name, &walk, &pace);
    } else {
        print_line(name, &scene, &walk, &pace);
    }
    scene_destroy(&scene);
}

void bench_realtime(const BenchRun *run) {
    LoadFile *file = bench_memory(SCENES_MAX, sizeof(*file));
    if (!run->json) {
        puts("| scene | bodies | solver | ms a step | worst | of real time | late steps | keeps up "
             "|\n| --- | --- | --- | --- | --- | --- | --- | --- |");
    }
    for (size_t i = 0; i < FOLDER_COUNT; i++) {
        char path[LOAD_PATH_BYTES];
        snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s", folders[i]);
        const size_t count = load_folder(path, file, 0, SCENES_MAX);
        for (size_t k = 0; k < count; k++) {
            run_scene(run, folders[i], &file[k]);
        }
    }
    free(file);
}
