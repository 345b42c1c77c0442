// SPDX-License-Identifier: MIT
// Pairs of primitives of every two kinds that touch, apart by a centimetre, touching and a
// centimetre deep: the narrow phase alone, and what a whole step takes of a pair, beside the same
// bodies where nothing is near. Peers are asked for the same pairs by peers/shapes.py, to which
// `--write` leaves them. With --scene FILE: how deep what that scene has lies in each other.
#include "bench/bench.h"
#include "bench/kinds.h"
#include "bench/load.h"
#include "collide/narrow.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAIRS = 256, PER_SIDE = 16, ROUNDS = 9, STEPS = 8, DISTANCES = 3 };

#define REACH        0.02 // [m] of the narrow phase, and the world's margin
#define PITCH        4.0  // [m] between pairs
#define GROUND_PITCH 2.0

static const struct {
    const char *name;
    double gap; // [m]
} distances[DISTANCES] = {{"apart", 0.01}, {"touching", -1e-6}, {"deep", -0.05}};

typedef struct Trial {
    PrimitiveKind a, b;
    int distance;
    KindPair pair[PAIRS];
} Trial;

// ---- the narrow phase

static double time_narrow(const Trial *trial) {
    const Primitive a = kind_primitive(trial->a), b = kind_primitive(trial->b);
    double ns[ROUNDS];
    Manifold manifold;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t points = 0;
        const double begun = bench_cpu_ns();
        for (int i = 0; i < PAIRS; i++) {
            narrow_collide_at(&a, &trial->pair[i].a, &b, &trial->pair[i].b, REACH, &manifold);
            points += manifold.count;
        }
        ns[round] = (bench_cpu_ns() - begun) / PAIRS;
        if (points < PAIRS) {
            bench_fail("a pair has no contact");
        }
    }
    return bench_percentile(ns, ROUNDS, 0.5);
}

// ---- whole steps

static Vec3 place_of(const Trial *trial, int i) {
    const double pitch = kind_is_ground(trial->a) ? GROUND_PITCH : PITCH;
    return vec3(pitch * (i % PER_SIDE - 0.5 * (PER_SIDE - 1)),
                pitch * (i / PER_SIDE - 0.5 * (PER_SIDE - 1)), 0.0);
}

// Nothing moves: no gravity, and what overlaps stays.
static Scene make_world(const Trial *trial, double away) {
    Scene scene = scene_create();
    WorldSettings settings = scene.world->settings;
    settings.gravity = vec3(0.0, 0.0, 0.0);
    settings.margin = REACH;
    settings.recovery_speed = 0.0;
    world_set_settings(scene.world, &settings);
    const Id a = kind_shape(&scene, trial->a), b = kind_shape(&scene, trial->b);
    if (kind_is_ground(trial->a)) {
        scene_body(&scene, a, BODY_STATIC, trial->pair[0].a);
    }
    for (int i = 0; i < PAIRS; i++) {
        const KindPair *pair = &trial->pair[i];
        Pose first = pair->a, second = pair->b;
        second.position = vec3_add_scaled(second.position, away, pair->away);
        first.position = vec3_add(first.position, place_of(trial, i));
        second.position = vec3_add(second.position, place_of(trial, i));
        if (!kind_is_ground(trial->a)) {
            scene_body(&scene, a, BODY_DYNAMIC, first);
        }
        scene_body(&scene, b, BODY_DYNAMIC, second);
    }
    return scene;
}

static double time_steps(Scene *scene) {
    const double begun = bench_cpu_ns();
    for (int i = 0; i < STEPS; i++) {
        scene_step(scene);
    }
    return (bench_cpu_ns() - begun) / (STEPS * PAIRS);
}

// Of a pair [ns], in turns with what its bodies take alone.
static double time_pair(const Trial *trial) {
    Scene near = make_world(trial, 0.0), far = make_world(trial, 1.0);
    double ns[ROUNDS], alone[ROUNDS];
    time_steps(&near); // takes its memory
    time_steps(&far);
    for (int round = 0; round < ROUNDS; round++) {
        ns[round] = time_steps(&near);
        alone[round] = time_steps(&far);
    }
    if (near.report.contact_count < PAIRS || far.report.contact_count > 0) {
        bench_fail("%u contacts, and %u where nothing is near", near.report.contact_count,
                   far.report.contact_count);
    }
    scene_destroy(&near);
    scene_destroy(&far);
    return bench_percentile(ns, ROUNDS, 0.5) - bench_percentile(alone, ROUNDS, 0.5);
}

// ---- what is told

static void write_pose(FILE *file, Pose pose) {
    double number[7];
    pose_store(number, pose);
    for (int k = 0; k < 7; k++) {
        fprintf(file, "%s%.17g", k == 0 ? "[" : ", ", number[k]);
    }
    fputc(']', file);
}

static void write_trial(FILE *file, const Trial *trial, double narrow, double step) {
    fprintf(file,
            "{\"a\": \"%s\", \"b\": \"%s\", \"distance\": \"%s\", \"narrow_ns\": %.1f, "
            "\"step_ns\": %.1f,",
            primitive_rows[trial->a].key, primitive_rows[trial->b].key,
            distances[trial->distance].name, narrow, step);
    fputs(" \"pairs\": [", file);
    for (int i = 0; i < PAIRS; i++) {
        fputs(i == 0 ? "[" : ",\n [", file);
        write_pose(file, trial->pair[i].a);
        fputs(", ", file);
        write_pose(file, trial->pair[i].b);
        fputc(']', file);
    }
    fputs("]}\n", file);
}

static void add_row(const BenchRun *run, const Trial *trial, const char *what, double ns) {
    BenchRow row = {.value = ns, .unit = "ns"};
    snprintf(row.figure, sizeof(row.figure), "%s and %s, %s: %s", primitive_rows[trial->a].key,
             primitive_rows[trial->b].key, distances[trial->distance].name, what);
    bench_add(run, &row);
}

static void run_trial(const BenchRun *run, PrimitiveKind a, PrimitiveKind b, FILE *file) {
    for (int k = 0; k < DISTANCES; k++) {
        Trial trial = {.a = a, .b = b, .distance = k};
        uint64_t seed = 1;
        for (int i = 0; i < PAIRS; i++) {
            trial.pair[i] = kind_pair(a, b, distances[k].gap, &seed);
        }
        const double narrow = primitive_is_surface(a) ? 0.0 : time_narrow(&trial);
        const double step = time_pair(&trial);
        if (narrow > 0.0) {
            add_row(run, &trial, "narrow phase", narrow);
        }
        add_row(run, &trial, "in a step", step);
        if (file != NULL) {
            write_trial(file, &trial, narrow, step);
        }
    }
}

// A line of JSON for each trial.
static FILE *open_file(const BenchRun *run) {
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), "%s/shapes.jsonl", run->write);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        bench_fail("%s: %s", path, strerror(errno));
    }
    return file;
}

// ---- how deep

static void judge(const BenchRun *run) {
    Scene scene = load_scene(run->scene);
    scene_step(&scene);
    double deepest = 0.0, sum = 0.0, touching = 0.0;
    for (uint32_t i = 0; i < scene.stepper->contact_count; i++) {
        const double depth = -scene.stepper->problem.contact[i].gap; // as the step began
        deepest = fmax(deepest, depth);
        sum += fmax(depth, 0.0);
        touching += depth >= 0.0;
    }
    const BenchRow rows[] = {
        {.figure = "deepest overlap", .value = deepest * 1e3, .unit = "mm"},
        {.figure = "mean overlap", .value = sum / fmax(touching, 1.0) * 1e3, .unit = "mm"},
        {.figure = "touching", .value = touching, .unit = ""}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        bench_add(run, &rows[i]);
    }
    scene_destroy(&scene);
}

void bench_shapes(const BenchRun *run) {
    if (run->scene != NULL) {
        judge(run);
        return;
    }
    FILE *file = run->write == NULL ? NULL : open_file(run);
    for (int a = 0; a < KIND_SOLIDS; a++) {
        for (int b = a; b < KIND_SOLIDS; b++) {
            run_trial(run, kind_solid[a], kind_solid[b], file);
        }
    }
    for (int a = 0; a < KIND_GROUNDS; a++) {
        for (int b = 0; b < KIND_SOLIDS; b++) {
            run_trial(run, kind_ground[a], kind_solid[b], file);
        }
    }
    if (file != NULL && fclose(file) != 0) {
        bench_fail("%s/shapes.jsonl: %s", run->write, strerror(errno));
    }
}
