// SPDX-License-Identifier: MIT
// Our solvers on contact problems and scenes from files, beside other codes' solvers of exact
// Coulomb friction on the same problems.
//
// Every answer to a problem is judged by one certificate, and the time is that of the CPU from a
// cold start to e_DS (polyhedral friction: e_own) of 1e-6 and of 1e-8; a value that is missing was
// not reached in the time that --seconds gives to each attempt. Of a scene every step counts.
#include "bench/bench.h"
#include "bench/contact_peer_process.h"
#include "bench/load.h"
#include "bench/knobs.h"
#include "bench/walk.h"
#include "solve/solver.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILES_MAX = 4096, REPEATS = 5, TARGETS = 2 };

// of the fastest peer's time
#define AIM_EXACT  0.3
#define AIM_CONVEX 0.5

#define REPEAT_MS 20.0 // what takes longer is not measured again

static const double targets[TARGETS] = {1e-6, 1e-8};
static const char *const target_names[TARGETS] = {"1e-6", "1e-8"};

// A solver and its parameters, as "method=newton tolerance=1e-8". One that this build does not have
// is left out.
typedef struct Method {
    const char *name, *solver, *parameters;
    bool is_relaxed; // does not aim at exact Coulomb: its own residual counts
    bool is_convex;  // … and is the convex relaxation
} Method;

static const Method methods[] = {
    {"mdp", "mdp", "", false, false}, // as worlds take it
    {"gauss_seidel", "mdp", "method=gauss_seidel", false, false},
    {"paper", "mdp", "method=gauss_seidel acceleration=off", false, false},
    {"newton", "mdp", "method=newton", false, false},
    {"lcp", "lcp", "", true, false},
    {"ccp", "ccp", "", true, true},
    {"ccp gauss_seidel", "ccp", "method=gauss_seidel", true, true},
    {"ccp apgd", "ccp", "method=apgd", true, true},
    {"ccp barzilai", "ccp", "method=barzilai_borwein", true, true},
    {"ccp exact", "ccp", "coulomb=exact", false, false},
    {"sap", "sap", "", true, false}, // near-rigid where a problem brings no stiffness
    {"compliant", "compliant", "", true, false},
};
enum { METHOD_COUNT = sizeof(methods) / sizeof(methods[0]) };

// ---- settings from a method

static bool make_settings(const Method *method, SolverSettings (*defaults)(SolverKind),
                          SolverSettings *settings) {
    SolverKind kind;
    if (!solver_find(method->solver, &kind)) {
        return false;
    }
    *settings = defaults(kind);
    return knobs_set(settings, method->parameters);
}

// ---- problems

// What came of one method on one problem and one target.
typedef struct Attempt {
    double ms; // INFINITY: not reached
    double iterations, e_own, e_ds;
} Attempt;

static const Attempt nothing = {INFINITY, 0.0, NAN, NAN}; // no answer

static bool is_late(void *context) {
    return bench_cpu_ns() > *(const double *)context;
}

static Attempt solve_once(const Method *method, const SolverSettings *settings,
                          const ContactProblem *problem, double seconds, Arena *arena) {
    double begun = bench_cpu_ns(), until = begun + seconds * 1e9;
    Stop stop = {.asked = is_late, .context = &until};
    Context context = {.stop = &stop};
    SolveResult result;
    Error error = {0};
    arena_reset(arena);
    Status status = solver_solve(settings, problem, &context, arena, &result, &error);
    double ms = (bench_cpu_ns() - begun) * 1e-6;
    if (status != STATUS_OK) {
        return nothing;
    }
    const double *entry = result.certificate.entry;
    double reached = method->is_relaxed ? entry[CERTIFICATE_OWN]
                                        : fmax(entry[CERTIFICATE_DS], entry[CERTIFICATE_ROW]);
    return (Attempt){.ms = reached <= settings->parameter[SOLVER_TOLERANCE] ? ms : INFINITY,
                     .iterations = result.iterations,
                     .e_own = entry[CERTIFICATE_OWN],
                     .e_ds = entry[CERTIFICATE_DS]};
}

// The fastest of some, where one is short.
static Attempt solve(const Method *method, const SolverSettings *settings,
                     const ContactProblem *problem, double seconds, Arena *arena) {
    Attempt best = solve_once(method, settings, problem, seconds, arena);
    for (int i = 1; i < REPEATS && best.ms < REPEAT_MS; i++) {
        best.ms = fmin(best.ms, solve_once(method, settings, problem, seconds, arena).ms);
    }
    return best;
}

// A peer measures itself in its own way: it is asked for more and more until our measure is met.
static Attempt ask_peer(ContactPeerIndex index, const Delassus *delassus,
                        const ContactProblem *problem, double target, double seconds,
                        Arena *arena) {
    Attempt attempt = nothing;
    double *impulse = bench_memory(3 * (size_t)problem->contact_count, sizeof(*impulse));
    // along a central path our measure falls with the root of what such a method measures itself
    double least = contact_peer_is_relaxed(index) ? 0.5 * target * 1e-3 : 5e-4;
    for (double share = 1.0; share > least && isinf(attempt.ms); share *= 0.1) {
        ContactPeerRun run = {.tolerance = share * target, .seconds = seconds};
        ContactPeerAnswer answer;
        if (!contact_peer_solve(index, delassus, problem->contact_count, &run, &answer, impulse)) {
            break;
        }
        bool is_relaxed = contact_peer_is_relaxed(index);
        Certificate certificate = delassus_judge(problem, impulse, is_relaxed, arena);
        attempt.e_ds = certificate.entry[CERTIFICATE_DS];
        attempt.e_own = is_relaxed ? certificate.entry[CERTIFICATE_OWN] : attempt.e_ds;
        attempt.iterations = answer.iterations;
        attempt.ms = attempt.e_own <= target ? answer.ns * 1e-6 : INFINITY;
    }
    free(impulse);
    return attempt;
}

typedef struct Fastest {
    const char *name; // NULL: none reached it
    double ms;
} Fastest;

// Of the peers, each law's own.
typedef struct Ranking {
    Fastest exact, convex;
} Ranking;

// Nullable: whom a method is measured beside.
static const Fastest *rival(const Method *method, const Ranking *ranking) {
    return method->is_convex ? &ranking->convex : method->is_relaxed ? NULL : &ranking->exact;
}

static void add_attempt(const BenchRun *run, const char *problem, const char *target,
                        const char *name, const Attempt *attempt, const Fastest *best, double aim) {
    BenchRow row = {.value = attempt->ms,
                    .unit = "ms",
                    .iterations = attempt->iterations,
                    .has_certificate = true,
                    .e_own = attempt->e_own,
                    .e_ds = attempt->e_ds};
    if (best != NULL && best->name != NULL) {
        row.peer = best->name;
        row.peer_value = best->ms;
        row.aim_kind = AIM_RATIO_MAX;
        row.aim = aim;
    }
    snprintf(row.figure, sizeof(row.figure), "%s %s: %s", problem, target, name);
    bench_add(run, &row);
}

// Of how many problems each method, and then each peer, reached which target.
typedef struct Score {
    double asked[METHOD_COUNT + CONTACT_PEER_COUNT][TARGETS];
    double reached[METHOD_COUNT + CONTACT_PEER_COUNT][TARGETS];
} Score;

static void count(Score *score, size_t method, int target, const Attempt *attempt) {
    score->asked[method][target] += 1.0;
    score->reached[method][target] += isfinite(attempt->ms) ? 1.0 : 0.0;
}

static Ranking ask_peers(const BenchRun *run, const char *name, const LoadProblem *loaded, int k,
                         Arena *arena, Score *score) {
    Ranking best = {.exact.ms = INFINITY, .convex.ms = INFINITY};
    if (loaded->problem.row_count > 0) {
        return best; // which they do not take
    }
    Delassus delassus = delassus_make(&loaded->problem, arena);
    for (ContactPeerIndex i = 0; i < CONTACT_PEER_COUNT; i++) {
        if (!contact_peer_is_there(i)) {
            continue;
        }
        Attempt attempt = ask_peer(i, &delassus, &loaded->problem, targets[k], run->seconds, arena);
        if (!contact_peer_is_there(i)) {
            continue; // as only its answer said
        }
        add_attempt(run, name, target_names[k], contact_peer_name(i), &attempt, NULL, 0.0);
        count(score, METHOD_COUNT + i, k, &attempt);
        Fastest *of = contact_peer_is_relaxed(i) ? &best.convex : &best.exact;
        if (attempt.ms < of->ms) {
            *of = (Fastest){contact_peer_name(i), attempt.ms};
        }
    }
    delassus_free(&delassus);
    return best;
}

static void run_problem(const BenchRun *run, const LoadFile *file, Score *score) {
    LoadProblem loaded;
    load_problem(file->path, &loaded);
    Arena arena;
    arena_init(&arena, (size_t)1 << 33);
    for (int k = 0; k < TARGETS; k++) {
        Ranking best = ask_peers(run, file->name, &loaded, k, &arena, score);
        for (size_t i = 0; i < METHOD_COUNT; i++) {
            SolverSettings settings;
            if (!make_settings(&methods[i], solver_solve_default, &settings)) {
                continue;
            }
            settings.parameter[SOLVER_TOLERANCE] = targets[k];
            Attempt attempt = solve(&methods[i], &settings, &loaded.problem, run->seconds, &arena);
            add_attempt(run, file->name, target_names[k], methods[i].name, &attempt,
                        rival(&methods[i], &best), methods[i].is_convex ? AIM_CONVEX : AIM_EXACT);
            count(score, i, k, &attempt);
        }
    }
    arena_deinit(&arena);
    load_problem_free(&loaded);
}

static void add_score(const BenchRun *run, const Score *score) {
    for (size_t i = 0; i < METHOD_COUNT + CONTACT_PEER_COUNT; i++) {
        for (int k = 0; k < TARGETS && score->asked[i][k] > 0.0; k++) {
            BenchRow row = {.value = score->reached[i][k],
                            .unit = "solved",
                            .peer = "problems",
                            .peer_value = score->asked[i][k]};
            snprintf(row.figure, sizeof(row.figure), "all %s: %s", target_names[k],
                     i < METHOD_COUNT ? methods[i].name
                                      : contact_peer_name((ContactPeerIndex)(i - METHOD_COUNT)));
            bench_add(run, &row);
        }
    }
}

// ---- scenes

static void add_walk(const BenchRun *run, const char *scene, const char *method, Walk *walk) {
    double sum = 0.0;
    for (uint32_t i = 0; i < walk->steps; i++) {
        sum += walk->ms[i];
    }
    double median = bench_percentile(walk->ms, walk->steps, 0.5);
    double worst = bench_percentile(walk->ms, walk->steps, 1.0);
    const WalkFigure figures[] = {
        {"median step", "ms", median},
        {"mean step", "ms", sum / walk->steps},
        {"worst step", "ms", worst},
    };
    walk_report(run, scene, method, walk, figures, sizeof(figures) / sizeof(figures[0]));
}

static void run_scene(const BenchRun *run, const LoadFile *file) {
    for (size_t i = 0; i < METHOD_COUNT; i++) {
        SolverSettings solver;
        if (!make_settings(&methods[i], solver_default, &solver)) {
            continue;
        }
        Scene scene = load_scene(file->path);
        WorldSettings settings = scene.world->settings;
        step_set_solver(&settings, &solver);
        world_set_settings(scene.world, &settings);
        Walk walked = walk_scene(&scene, run->seconds);
        if (walked.error.status != STATUS_OK) {
            fprintf(stderr, "  step %u: %s\n", walked.steps + 1, walked.error.message);
        }
        if (walked.steps > 0) {
            add_walk(run, file->name, methods[i].name, &walked);
        }
        scene_destroy(&scene);
    }
}

void bench_solvers(const BenchRun *run) {
    static LoadFile files[FILES_MAX];
    static const char *const folders[] = {"problems", "problems/atlas", "scenes", "scenes/large"};
    size_t file_count = 0;
    if (run->files != NULL) {
        file_count = load_folder(run->files, files, 0, FILES_MAX);
    }
    if (run->files == NULL) {
        bench_scenes(run);
    }
    for (size_t i = 0; run->files == NULL && i < sizeof(folders) / sizeof(folders[0]); i++) {
        char folder[LOAD_PATH_BYTES];
        snprintf(folder, sizeof(folder), MOREAU_SOURCE_DIR "/tests/%s", folders[i]);
        file_count = load_folder(folder, files, file_count, FILES_MAX);
    }
    Score score = {0};
    for (size_t i = 0; i < file_count; i++) {
        fprintf(stderr, "  %s\n", files[i].name);
        if (files[i].is_scene) {
            run_scene(run, &files[i]);
        } else {
            run_problem(run, &files[i], &score);
        }
    }
    add_score(run, &score);
}
