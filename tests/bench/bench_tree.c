// SPDX-License-Identifier: MIT
// Trees of joints in worlds: a chain of hinges, 2 m long and let go 30 degrees off the vertical,
// against the number of its links. A step is all of it: free motion, the problem, the end of the
// step; nothing touches. The time per link is to stay within twice what it
// is for ten: linear, but that links of a few centimetres turn too far in such a step, and their
// tree is thrown (step/tree_fly.h).
#include "bench/bench.h"
#include "bench/scene.h"

#include <math.h>
#include <stdio.h>

enum { SAMPLES = 9, STEPS = 240 };
#define LENGTH 2.0
#define ANGLE  0.5235987755982988 // 30 degrees

// Rods end to end, from the origin down.
static void add_rods(Scene *scene, uint32_t count) {
    const double length = LENGTH / count, mass = length, across = mass * length * length / 12.0;
    const double inertia[6] = {across, across, 1e-3 * across, 0.0, 0.0, 0.0};
    const double root = sqrt(0.5);
    for (uint32_t i = 0; i < count; i++) {
        const double way = (i + 0.5) * length;
        const double pose[7] = {way * sin(ANGLE),  0.0, -way * cos(ANGLE), cos(0.5 * ANGLE), 0.0,
                                -sin(0.5 * ANGLE), 0.0};
        const double upper[7] = {0.0, 0.0, i == 0 ? 0.0 : -0.5 * length, root, root, 0.0, 0.0},
                     lower[7] = {0.0, 0.0, 0.5 * length, root, root, 0.0, 0.0};
        const BodyColumns body = {.count = 1, .pose = pose, .mass = &mass, .inertia = inertia};
        const uint32_t kind = JOINT_HINGE;
        const uint64_t a = i, b = i + 1; // ids: 0 is the world
        const JointColumns joint = {.count = 1,
                                    .axis_count = 1,
                                    .position_count = 1,
                                    .kind = &kind,
                                    .body_a = &a,
                                    .body_b = &b,
                                    .frame_a = upper,
                                    .frame_b = lower};
        Id id;
        Error error;
        if (world_add_bodies(scene->world, &body, &id, &error) != STATUS_OK ||
            world_add_joints(scene->world, &joint, &id, &error) != STATUS_OK) {
            bench_fail("%s", error.message);
        }
    }
}

// CPU time of a step, the median of the samples [ns].
static double time_chain(uint32_t count, double *drift) {
    Scene scene = scene_create();
    add_rods(&scene, count);
    scene_step(&scene); // memory is there
    const double energy = scene.report.energy.before;
    const int steps = count < 100 ? STEPS : STEPS / 10;
    double times[SAMPLES];
    *drift = 0.0;
    for (int k = 0; k < SAMPLES; k++) {
        const double begun = bench_cpu_ns();
        for (int i = 0; i < steps; i++) {
            scene_step(&scene);
            *drift = fmax(*drift, fabs(scene.report.energy.after - energy));
        }
        times[k] = (bench_cpu_ns() - begun) / steps;
    }
    scene_destroy(&scene);
    return bench_percentile(times, SAMPLES, 0.5);
}

void bench_tree(const BenchRun *run) {
    static const uint32_t counts[] = {10, 20, 50, 100, 300, 1000};
    double of_ten = 0.0;
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        double drift;
        const double time = time_chain(counts[i], &drift);
        of_ten = i == 0 ? time / counts[i] : of_ten;
        BenchRow row = {.value = 1e-3 * time,
                        .unit = "us",
                        .peer = "at 10's per link",
                        .peer_value = 1e-3 * of_ten * counts[i],
                        .aim_kind = AIM_RATIO_MAX,
                        .aim = 2.0};
        snprintf(row.figure, sizeof(row.figure), "step of a chain of %u hinges", counts[i]);
        bench_add(run, &row);
        if (counts[i] <= 20) { // finer ones swing faster than such a step resolves
            BenchRow energy = {.value = drift, .unit = "J"};
            snprintf(energy.figure, sizeof(energy.figure), "its energy's largest error, %u hinges",
                     counts[i]);
            bench_add(run, &energy);
        }
    }
}
