// SPDX-License-Identifier: MIT
// What a chain of twenty hinges, let go 30 degrees off the vertical, is wrong by after a second,
// over the CPU time of that second: by our integrators and by MuJoCo's RK4, at four lengths of the
// step; and our time beside MuJoCo's where both are wrong by as much. The truth is our RK4's at a
// fine step, to which MuJoCo's comes as near.
#include "bench/bench.h"
#include "bench/rods.h"
#include "bench/tree_contest.h"

#include <math.h>
#include <stdio.h>

enum { LINKS = 20, LENGTHS = 4, RUNS = 5, FINE = 7680 };
#define LEANS 0.5235987755982988 // 30 degrees

static const int hertz[LENGTHS] = {120, 240, 480, 960};

static const struct {
    Integrator integrator;
    const char *name;
} schemes[] = {{INTEGRATOR_SYMPLECTIC, "symplectic"},
               {INTEGRATOR_MIDPOINT, "midpoint"},
               {INTEGRATOR_VERLET, "verlet"},
               {INTEGRATOR_RK4, "rk4"}};
enum { SCHEMES = sizeof(schemes) / sizeof(schemes[0]) };

// A second at one length of the step.
typedef struct Second {
    double off, us; // [m] of the end of the chain; CPU
} Second;

static Scene make_chain(Integrator integrator, int steps) {
    Scene scene = scene_create();
    WorldSettings settings = scene.world->settings;
    settings.integrator = (uint8_t)integrator;
    settings.time_step = 1.0 / steps;
    world_set_settings(scene.world, &settings);
    rods_add(&scene, LINKS, LEANS, false);
    return scene;
}

static Vec3 run_ours(Integrator integrator, int steps, double *us) {
    Vec3 place = vec3(0.0, 0.0, 0.0);
    for (int run = 0; run < RUNS; run++) {
        Scene scene = make_chain(integrator, steps);
        const double begun = bench_cpu_ns();
        for (int i = 0; i < steps; i++) {
            scene_step(&scene);
        }
        const double taken = 1e-3 * (bench_cpu_ns() - begun);
        *us = run == 0 ? taken : fmin(*us, taken);
        place = vec3_load(scene.world->pose + 7 * (size_t)(LINKS - 1));
        scene_destroy(&scene);
    }
    return place;
}

// false: the peer is not there.
static bool run_peer(uint32_t peer, int steps, Vec3 truth, Second *second, const char **name) {
    Scene scene = make_chain(INTEGRATOR_RK4, steps);
    bool is_there = true;
    for (int run = 0; run < RUNS && is_there; run++) {
        TreePeerAnswer answer;
        is_there = tree_contest_ask(&scene, peer, (uint32_t)steps, &answer, name);
        if (is_there) {
            const double us = 1e-3 * answer.ns;
            second->us = run == 0 ? us : fmin(second->us, us);
            second->off = vec3_norm(vec3_sub(vec3_load(answer.place), truth));
        }
    }
    scene_destroy(&scene);
    return is_there;
}

static void add_second(const BenchRun *run, const char *name, int steps, const Second *second) {
    BenchRow row = {.value = second->us, .unit = "us"};
    snprintf(row.figure, sizeof(row.figure), "%.32s at 1/%d s, off by %.2g m: a second", name,
             steps, second->off);
    bench_add(run, &row);
}

// The time at which it is wrong by as much, on the line between two lengths of the step, as both
// are powers of it.
static double time_at(const Second *of, double off) {
    int i = 0;
    while (i + 2 < LENGTHS && of[i + 1].off > off) {
        i++;
    }
    const double slope = log(of[i + 1].us / of[i].us) / log(of[i + 1].off / of[i].off);
    return of[i].us * exp(slope * log(off / of[i].off));
}

static void compare(const BenchRun *run, Second ours[SCHEMES][LENGTHS], const Second *peer,
                    const char *name) {
    for (size_t k = 1; k < SCHEMES; k++) { // the first order is far away
        for (int i = 1; i < LENGTHS; i++) {
            BenchRow row = {.value = time_at(ours[k], peer[i].off),
                            .unit = "us",
                            .peer = name,
                            .peer_value = peer[i].us,
                            .aim_kind =
                                schemes[k].integrator == INTEGRATOR_RK4 ? AIM_RATIO_MAX : AIM_NONE,
                            .aim = 1.0};
            snprintf(row.figure, sizeof(row.figure), "%s, a second as well as by RK4 at 1/%d s",
                     schemes[k].name, hertz[i]);
            bench_add(run, &row);
        }
    }
}

void bench_order(const BenchRun *run) {
    Second ours[SCHEMES][LENGTHS], theirs[LENGTHS];
    double unasked;
    const Vec3 truth = run_ours(INTEGRATOR_RK4, FINE, &unasked);
    for (size_t k = 0; k < SCHEMES; k++) {
        for (int i = 0; i < LENGTHS; i++) {
            const Vec3 place = run_ours(schemes[k].integrator, hertz[i], &ours[k][i].us);
            ours[k][i].off = vec3_norm(vec3_sub(place, truth));
            add_second(run, schemes[k].name, hertz[i], &ours[k][i]);
        }
    }
    for (uint32_t peer = 0; peer < TREE_CONTEST_MUJOCO; peer++) {
        const char *name = "";
        bool is_there = true;
        for (int i = 0; i < LENGTHS && is_there; i++) {
            is_there = run_peer(peer, hertz[i], truth, &theirs[i], &name);
            if (is_there) {
                char figure[40];
                snprintf(figure, sizeof(figure), "%.30s's RK4", name);
                add_second(run, figure, hertz[i], &theirs[i]);
            }
        }
        if (is_there) {
            compare(run, ours, theirs, name);
        }
    }
}
