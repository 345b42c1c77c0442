// SPDX-License-Identifier: MIT
// Residual over time: what a step of a scene leaves open, by how long it takes. Of each scene a
// sequence of steps is recorded, stepped with ten sweeps at 1/240 s, as exact steps would leave
// easier ones; each of its problems is solved by each of our ways from the impulses that its step
// started from. Peers step the scene themselves, with so much work a step as theirs; what they
// leave open is judged by the same certificate.
#include "bench/bench.h"
#include "bench/curve/peers.h"
#include "bench/curve/record.h"
#include "bench/curve/rows.h"
#include "bench/curve/show.h"
#include "bench/curve/verdict.h"
#include "bench/curve/ways.h"
#include "bench/load.h"

#include <stdlib.h>
#include <string.h>

static uint32_t count_moving(const World *world) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->body_count; i++) {
        count += world->kind[i] == BODY_DYNAMIC;
    }
    return count;
}

static CurveScene run_row(const BenchRun *run, const CurveRow *row) {
    Scene scene = curve_row_load(row);
    CurveScene curve = {.name = row->name, .about = row->about};
    curve.bodies = count_moving(scene.world);
    Recording recording = record_scene(&scene, row->first, row->count);
    if (recording.count == 0) {
        bench_fail("nothing touches in %s", row->scene);
    }
    curve.contacts = recording.contacts;
    curve.outside_ns = recording.outside_ns;
    ways_run(&recording, run->seconds, &curve);
    record_free(&recording);
    scene_destroy(&scene);
    scene = curve_row_load(row);
    peers_run(&scene, row->first, row->count, &curve);
    scene_destroy(&scene);
    return curve;
}

static void add_point(const BenchRun *run, const CurveScene *scene, const CurveLine *line,
                      const CurvePoint *point) {
    const struct {
        const char *figure, *unit;
        double value;
    } figures[] = {{"step p50", "ms", point->ns * 1e-6},
                   {"step worst", "ms", point->ns_worst * 1e-6},
                   {"e_DS p50", "", point->ds},
                   {"e_DS worst", "", point->ds_worst}};
    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        BenchRow row = {.value = figures[i].value, .unit = figures[i].unit};
        snprintf(row.figure, sizeof(row.figure), "%s: %.20s %.15s: %s", scene->name, line->name,
                 point->name, figures[i].figure);
        bench_add(run, &row);
    }
}

// Of a document, which is read by programs: the table is printed as the scenes come.
static void add_rows(const BenchRun *run, const CurveScene *scene) {
    for (size_t i = 0; i < scene->count; i++) {
        for (size_t k = 0; k < scene->line[i].count; k++) {
            add_point(run, scene, &scene->line[i], &scene->line[i].point[k]);
        }
    }
}

static void write_file(const BenchRun *run, const char *name,
                       void (*show)(FILE *out, const CurveScene *scene, size_t count),
                       const CurveScene *scene, size_t count) {
    char path[LOAD_PATH_BYTES];
    snprintf(path, sizeof(path), "%s/%s", run->write, name);
    FILE *out = fopen(path, "w");
    if (out != NULL) {
        show(out, scene, count);
    }
    if (out == NULL || fclose(out) != 0) {
        bench_fail("cannot write %s", path);
    }
}

// After every scene, so that a run that is cut short has left what it came to.
static void write_files(const BenchRun *run, const CurveScene *scene, size_t count) {
    if (run->write != NULL) {
        write_file(run, "curve.md", show_markdown, scene, count);
        write_file(run, "curve.svg", show_picture, scene, count);
    }
}

void bench_curve(const BenchRun *run) {
    CurveScene *curves = bench_memory(CURVE_ROW_COUNT, sizeof(*curves));
    size_t count = 0;
    for (size_t i = 0; i < CURVE_ROW_COUNT; i++) {
        if (run->scene != NULL && strcmp(run->scene, curve_row[i].name) != 0) {
            continue;
        }
        fprintf(stderr, "  %s\n", curve_row[i].name);
        curves[count] = run_row(run, &curve_row[i]);
        if (run->json) {
            add_rows(run, &curves[count]);
        } else {
            show_table(stdout, &curves[count]);
        }
        count++;
        write_files(run, curves, count);
    }
    if (count == 0) {
        bench_fail("curve has no scene %s", run->scene);
    }
    free(curves);
}
