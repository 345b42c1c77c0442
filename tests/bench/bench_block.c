// SPDX-License-Identifier: MIT
// Nanoseconds for one contact block by the branch that answers it. Blocks are random, of spheres or
// of a condition that contacts of boxes have; heavy against light is where A^-1 is refined.
#include "bench/bench.h"

#include "solve/block.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { BLOCKS = 512, ROUNDS = 40, SAMPLES = 25, TRIES = 200000 };

typedef enum Shape { SHAPE_SPHERE, SHAPE_BODY, SHAPE_HEAVY } Shape;

// What is timed: blocks of one shape that one branch answers, from nothing or from where the last
// sweep ended.
typedef struct Branch {
    const char *name;
    Shape shape;
    MdpBranch branch;
    bool goes_on, is_coulomb;
    double mu_max;
} Branch;

static const Branch branches[] = {
    {"open", SHAPE_BODY, MDP_OPEN, false, true, 1.0},
    {"no friction", SHAPE_BODY, MDP_FRICTIONLESS, false, true, 0.0},
    {"stick", SHAPE_BODY, MDP_STICK, false, true, 1.0},
    {"stick, refined", SHAPE_HEAVY, MDP_STICK, false, true, 1.0},
    {"slide of a sphere", SHAPE_SPHERE, MDP_SLIDE, false, true, 1.0},
    {"slide, Coulomb, goes on", SHAPE_BODY, MDP_SLIDE, true, true, 1.0},
    {"slide, Coulomb, from nothing", SHAPE_BODY, MDP_SLIDE, false, true, 1.0},
    {"slide, Coulomb, mu to 10, from nothing", SHAPE_BODY, MDP_SLIDE, false, true, 10.0},
    {"slide, Coulomb, refined, from nothing", SHAPE_HEAVY, MDP_SLIDE, false, true, 1.0},
    {"slide, dissipation, goes on", SHAPE_BODY, MDP_SLIDE, true, false, 1.0},
    {"slide, dissipation, from nothing", SHAPE_BODY, MDP_SLIDE, false, false, 1.0},
};

static volatile double kept; // so that nothing is left out

static double random_number(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return 2.0 * ((double)(*state >> 11) * 0x1p-53) - 1.0;
}

// As of a contact at an arm: E / m + R (1 / i) R^T, with i a tenth of m; between heavy and light,
// one direction is ten thousand times as hard to move.
static MdpBlock random_block(uint64_t *state, const Branch *of) {
    double mu = of->mu_max * (0.5 + 0.5 * fabs(random_number(state)));
    if (of->shape == SHAPE_SPHERE) {
        return (MdpBlock){1.0, 0.0, 0.0, 3.5, 0.0, 3.5, mu};
    }
    double x = random_number(state), y = random_number(state), z = random_number(state);
    double turn = of->shape == SHAPE_HEAVY ? 1e4 : 3.0;
    double self = of->shape == SHAPE_HEAVY ? 1e-2 : 1.0;
    return (MdpBlock){self + turn * (y * y + z * z),
                      -turn * x * y,
                      -turn * x * z,
                      self + turn * (x * x + z * z),
                      -turn * y * z,
                      self + turn * (x * x + y * y),
                      mu};
}

typedef struct Sample {
    MdpPlan plan;
    double b[3], start[3];
} Sample;

static MdpBranch solve(const Sample *sample, bool is_coulomb, double x[3]) {
    return mdp_plan_solve(&sample->plan, is_coulomb, sample->b, x);
}

static void fill(const Branch *of, Sample *sample) {
    uint64_t state = 0x9e3779b97f4a7c15u;
    int count = 0;
    for (int i = 0; i < TRIES && count < BLOCKS; i++) {
        Sample *at = &sample[count];
        MdpBlock block = random_block(&state, of);
        mdp_block_plan(&block, &at->plan);
        for (int k = 0; k < 3; k++) {
            at->b[k] = random_number(&state);
            at->start[k] = 0.0;
        }
        double x[3] = {0.0, 0.0, 0.0};
        if (solve(at, of->is_coulomb, x) != of->branch) {
            continue;
        }
        // the sweep before had nearly the same b
        at->start[0] = of->goes_on ? 1.001 * x[0] : 0.0;
        at->start[1] = of->goes_on ? 0.999 * x[1] + 1e-3 * x[2] : 0.0;
        at->start[2] = of->goes_on ? 1.001 * x[2] - 1e-3 * x[1] : 0.0;
        count++;
    }
    if (count < BLOCKS) {
        bench_fail("too few blocks take the branch: %s", of->name);
    }
}

static double time_blocks(const Branch *of, const Sample *sample) {
    double sum = 0.0, begun = bench_cpu_ns();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            double x[3] = {sample[i].start[0], sample[i].start[1], sample[i].start[2]};
            // as a sweep does it
            if (!mdp_plan_is_easy(&sample[i].plan, sample[i].b, x)) {
                (void)solve(&sample[i], of->is_coulomb, x);
            }
            sum += x[0];
        }
    }
    kept = sum;
    return (bench_cpu_ns() - begun) / (double)(ROUNDS * BLOCKS);
}

static double time_plans(const Sample *sample) {
    double sum = 0.0, begun = bench_cpu_ns();
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < BLOCKS; i++) {
            MdpPlan plan;
            mdp_block_plan(&sample[i].plan.block, &plan);
            sum += plan.h11;
        }
    }
    kept = sum;
    return (bench_cpu_ns() - begun) / (double)(ROUNDS * BLOCKS);
}

static void add_row(const BenchRun *run, const char *figure, double *times) {
    BenchRow row = {.value = bench_percentile(times, SAMPLES, 0.5), .unit = "ns"};
    snprintf(row.figure, sizeof(row.figure), "%s", figure);
    bench_add(run, &row);
}

void bench_block(const BenchRun *run) {
    static Sample sample[BLOCKS];
    double times[SAMPLES];
    for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
        const Branch *of = &branches[i];
        fill(of, sample);
        for (int k = 0; k < SAMPLES; k++) {
            times[k] = time_blocks(of, sample);
        }
        add_row(run, of->name, times);
        bool is_new = i == 2 || i == 3; // of each shape once
        for (int k = 0; k < SAMPLES && is_new; k++) {
            times[k] = time_plans(sample);
        }
        if (is_new) {
            add_row(run, i == 2 ? "plan" : "plan, with twice the digits", times);
        }
    }
}
