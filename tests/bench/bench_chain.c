// SPDX-License-Identifier: MIT
// Chains. As trees of links: what the mass costs that is never written down, beside the same tree
// as a dense block, against the number of links. Held together by rows: every solver on a hanging
// chain against the number of rods, from a cold start; sweeps that take all joints at once stand
// beside the paper's, which take them one by one.
#include "bench/bench.h"

#include "solve/mass.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TIME_STEP 0.01
#define FALL      (9.81 * TIME_STEP)
#define SAMPLE_NS 2e6 // of what is shorter, several are one sample

enum { SAMPLES = 9, LINKS_MAX = 1000 };

static volatile double kept; // so that nothing is left out

// ---- trees

// A chain of hinges about x, y and z in turns, as links and as a matrix.
typedef struct Tree {
    ProblemTree tree;
    ProblemLink *link;
    double *number, *v_free;
    ContactProblem problem;
    Arena arena;
    ProblemMass mass;
} Tree;

static void make_links(Tree *tree, uint32_t count) {
    tree->link = bench_memory(count, sizeof(*tree->link));
    tree->v_free = bench_memory(count, sizeof(double));
    tree->number = bench_memory(7 * (size_t)count, sizeof(double));
    for (uint32_t i = 0; i < count; i++) {
        // the hinge is half a metre before the centre of mass, which it moves across x
        static const double motion[3][6] = {{0.0, 0.0, 0.0, 1.0, 0.0, 0.0},
                                            {0.0, 0.0, -0.5, 0.0, 1.0, 0.0},
                                            {0.0, 0.5, 0.0, 0.0, 0.0, 1.0}};
        memcpy(tree->number + 6 * (size_t)i, motion[i % 3], sizeof(motion[0]));
        tree->number[6 * (size_t)count + i] = 0.01;
        tree->link[i] = (ProblemLink){.parent = i == 0 ? PROBLEM_NO_LINK : i - 1,
                                      .first = i,
                                      .count = 1,
                                      .mass = 1.0,
                                      .inertia = {0.01, 0.09, 0.09, 0.0, 0.0, 0.0},
                                      .center = vec3(i, 0.0, 0.0),
                                      .motion = 6 * (size_t)i,
                                      .added = 6 * (size_t)count + i};
    }
    tree->tree = (ProblemTree){.width = count, .link_count = count};
    tree->problem = (ContactProblem){.time_step = TIME_STEP,
                                     .tree_count = 1,
                                     .velocity_count = count,
                                     .tree = &tree->tree,
                                     .link = tree->link,
                                     .link_count = count,
                                     .v_free = tree->v_free,
                                     .number = tree->number,
                                     .number_count = 7 * (size_t)count};
}

static void factor(Tree *tree) {
    arena_reset(&tree->arena);
    if (mass_init(&tree->mass, &tree->problem, NULL, &tree->arena, NULL) != STATUS_OK) {
        bench_fail("memory ended");
    }
}

static void make_dense(const Tree *links, Tree *dense) {
    uint32_t width = links->tree.width;
    dense->number = bench_memory((size_t)width * width, sizeof(double));
    dense->v_free = bench_memory(width, sizeof(double));
    mass_tree_matrix(&links->mass, 0, dense->number);
    dense->tree = (ProblemTree){.width = width};
    dense->problem = (ContactProblem){.time_step = TIME_STEP,
                                      .tree_count = 1,
                                      .velocity_count = width,
                                      .tree = &dense->tree,
                                      .v_free = dense->v_free,
                                      .number = dense->number,
                                      .number_count = (size_t)width * width};
}

static void free_tree(Tree *tree) {
    arena_deinit(&tree->arena);
    free(tree->link);
    free(tree->number);
    free(tree->v_free);
}

static void solve_once(Tree *tree) {
    static double p[LINKS_MAX];
    for (uint32_t i = 0; i < tree->tree.width; i++) {
        p[i] = 1.0;
    }
    mass_solve(&tree->mass, p);
    kept = p[0];
}

// The median of several samples [ns].
static double time_of(Tree *tree, void (*act)(Tree *tree)) {
    double times[SAMPLES];
    double begun = bench_cpu_ns();
    act(tree);
    double once = bench_cpu_ns() - begun;
    int count = once < SAMPLE_NS ? (int)(SAMPLE_NS / (once + 1.0)) : 1;
    for (int k = 0; k < SAMPLES; k++) {
        begun = bench_cpu_ns();
        for (int i = 0; i < count; i++) {
            act(tree);
        }
        times[k] = (bench_cpu_ns() - begun) / count;
    }
    return bench_percentile(times, SAMPLES, 0.5);
}

static void add_times(const BenchRun *run, const char *what, uint32_t count, double links,
                      double dense) {
    BenchRow row = {
        .value = 1e-3 * links, .unit = "us", .peer = "dense", .peer_value = 1e-3 * dense};
    snprintf(row.figure, sizeof(row.figure), "%s, %u links", what, count);
    bench_add(run, &row);
}

static void bench_trees(const BenchRun *run) {
    static const uint32_t counts[] = {6, 30, 100, 300, LINKS_MAX};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        Tree links = {0}, dense = {0};
        arena_init(&links.arena, (size_t)1 << 30);
        arena_init(&dense.arena, (size_t)1 << 30);
        make_links(&links, counts[i]);
        factor(&links);
        make_dense(&links, &dense);
        factor(&dense);
        double links_factor = time_of(&links, factor), dense_factor = time_of(&dense, factor);
        double links_solve = time_of(&links, solve_once), dense_solve = time_of(&dense, solve_once);
        add_times(run, "factor", counts[i], links_factor, dense_factor);
        add_times(run, "M^-1 p", counts[i], links_solve, dense_solve);
        free_tree(&links);
        free_tree(&dense);
    }
}

// ---- rows

// A hanging chain of rods, 1 kg and 1 m, joined at their ends by three rows each.
typedef struct Chain {
    ProblemTree *tree;
    FreeMass *free;
    double *v_free, *number;
    ProblemRow *row;
    RowBlock *block;
    ContactProblem problem;
} Chain;

// The row that holds `axis` of the point at `arm` of a rod, with a sign.
static void add_block(Chain *chain, uint32_t rod, int axis, double sign, double arm) {
    ContactProblem *problem = &chain->problem;
    double *jacobian = chain->number + problem->number_count;
    Vec3 along = vec3(axis == 0 ? sign : 0.0, axis == 1 ? sign : 0.0, axis == 2 ? sign : 0.0);
    vec3_store(jacobian, along);
    vec3_store(jacobian + 3, vec3_cross(vec3(0.0, 0.0, arm), along));
    chain->block[problem->row_block_count++] = (RowBlock){rod, (uint32_t)problem->number_count};
    problem->number_count += 6;
}

static void add_joint(Chain *chain, uint32_t rod) {
    ContactProblem *problem = &chain->problem;
    for (int axis = 0; axis < 3; axis++) {
        ProblemRow *row = &chain->row[problem->row_count++];
        *row = (ProblemRow){.block_first = problem->row_block_count,
                            .block_count = rod > 0 ? 2 : 1,
                            .group = rod + 1,
                            .is_position = true,
                            .low = -HUGE_VAL,
                            .high = HUGE_VAL,
                            .stiffness = 1e7,
                            .dissipation_time = 0.002,
                            .damping = 1e4};
        if (rod > 0) {
            add_block(chain, rod - 1, axis, -1.0, -0.5);
        }
        add_block(chain, rod, axis, 1.0, 0.5);
    }
}

static Chain make_chain(uint32_t count) {
    Chain chain = {.tree = bench_memory(count, sizeof(ProblemTree)),
                   .free = bench_memory(count, sizeof(FreeMass)),
                   .v_free = bench_memory(count, 6 * sizeof(double)),
                   .number = bench_memory(count, 36 * sizeof(double)),
                   .row = bench_memory(count, 3 * sizeof(ProblemRow)),
                   .block = bench_memory(count, 6 * sizeof(RowBlock))};
    for (uint32_t i = 0; i < count; i++) {
        chain.tree[i] = (ProblemTree){.first = 6 * i, .width = 6, .is_free = true};
        chain.free[i] =
            problem_free_mass(1.0, (Sym3){1.01 / 12.0, 1.01 / 12.0, 0.005, 0.0, 0.0, 0.0});
        chain.v_free[6 * (size_t)i + 2] = -FALL;
        add_joint(&chain, i);
    }
    ContactProblem *problem = &chain.problem;
    problem->time_step = TIME_STEP;
    problem->gravity = 9.81;
    problem->tree_count = count;
    problem->velocity_count = 6 * count;
    problem->all_free = true;
    problem->tree = chain.tree;
    problem->free = chain.free;
    problem->v_free = chain.v_free;
    problem->row = chain.row;
    problem->row_block = chain.block;
    problem->number = chain.number;
    return chain;
}

static void free_chain(Chain *chain) {
    free(chain->tree);
    free(chain->free);
    free(chain->v_free);
    free(chain->number);
    free(chain->row);
    free(chain->block);
}

// A solver with one parameter set, but for "".
typedef struct Method {
    const char *name, *solver, *parameter;
    double value;
    uint32_t rods_max; // more take minutes, or are refused
} Method;

static const Method methods[] = {
    {"mdp, sweeps joint by joint", "mdp", "acceleration", 0.0, 100},
    {"mdp, sweeps", "mdp", "method", 0.0, 1000},
    {"mdp", "mdp", "", 0.0, 1000},
    {"mdp, newton", "mdp", "method", 1.0, 1000},
    {"ccp", "ccp", "", 0.0, 1000},
    {"ccp, sweeps", "ccp", "method", 1.0, 100},
    {"sap", "sap", "", 0.0, 1000},
    {"compliant", "compliant", "", 0.0, 1000},
    {"lcp", "lcp", "", 0.0, 100},
};

static void solve_chain(const BenchRun *run, const Method *method, const Chain *chain,
                        Arena *arena) {
    SolverKind kind;
    Error error = {0};
    if (!solver_find(method->solver, &kind)) {
        bench_fail("there is no solver %s", method->solver);
    }
    SolverSettings settings = solver_solve_default(kind);
    bool is_joint_by_joint = strcmp(method->parameter, "acceleration") == 0;
    if ((is_joint_by_joint && solver_set(&settings, "method", 0.0, &error) != STATUS_OK) ||
        (method->parameter[0] != '\0' &&
         solver_set(&settings, method->parameter, method->value, &error) != STATUS_OK)) {
        bench_fail("%s", error.message);
    }
    double times[SAMPLES];
    SolveResult result = {0};
    for (int k = 0; k < SAMPLES; k++) {
        arena_reset(arena);
        double begun = bench_cpu_ns();
        if (solver_solve(&settings, &chain->problem, &(Context){0}, arena, &result, &error) !=
            STATUS_OK) {
            bench_fail("%s", error.message);
        }
        times[k] = bench_cpu_ns() - begun;
    }
    BenchRow row = {.value = 1e-6 * bench_percentile(times, SAMPLES, 0.5),
                    .unit = "ms",
                    .iterations = result.iterations,
                    .has_certificate = true,
                    .e_own = result.certificate.entry[CERTIFICATE_OWN],
                    .e_ds = result.certificate.entry[CERTIFICATE_DS]};
    snprintf(row.figure, sizeof(row.figure), "%u rods on rows, %s", chain->problem.tree_count,
             method->name);
    bench_add(run, &row);
}

static void bench_rows(const BenchRun *run) {
    static const uint32_t counts[] = {20, 100, 1000};
    Arena arena;
    arena_init(&arena, (size_t)1 << 30);
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        Chain chain = make_chain(counts[i]);
        for (size_t k = 0; k < sizeof(methods) / sizeof(methods[0]); k++) {
            if (counts[i] <= methods[k].rods_max) {
                solve_chain(run, &methods[k], &chain, &arena);
            }
        }
        free_chain(&chain);
    }
    arena_deinit(&arena);
}

void bench_chain(const BenchRun *run) {
    bench_trees(run);
    bench_rows(run);
}
