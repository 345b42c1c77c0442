// SPDX-License-Identifier: MIT
#include "problems/campaign_misses.h"

#include "bench/bench.h"
#include "bench/load.h"
#include "solve/mass.h"
#include "solve/mdp.h"
#include "support/problem_build.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

// how many times the factorisations that it had, and how many Newton's method has from elsewhere
#define LONGER    4.0
#define ELSEWHERE 1000.0
#define SWEEPS    20000.0
// from random impulses first so many sweeps
#define START_SWEEPS 1000.0
enum { STARTS = 2 };

#define X(upper, text) text,
static const char *const kind_text[CAMPAIGN_MISS_COUNT] = {CAMPAIGN_MISS_MAP(X)};
#undef X

static const char *const reason_text[END_REASON_COUNT] = {
    "converged", "iterations", "budget", "stalled", "diverged", "time", "not finite"};

typedef struct CampaignMiss {
    const char *name;
    const ContactProblem *problem;
    SolveResult result;
    IterationHistory history;
    double factorisations; // that the problem had
} CampaignMiss;

// ---- how it moves

// Contacts that push, by how fast they slide as a share of V.
static void print_slip(const CampaignMiss *miss) {
    enum { CLASSES = 4 };
    static const double limit[CLASSES - 1] = {1e-6, 1e-4, 1e-2};
    uint32_t idle = 0, by_slip[CLASSES] = {0};
    const Answer *answer = &miss->result.answer;
    for (uint32_t i = 0; i < miss->problem->contact_count; i++) {
        double u[3];
        if (answer->contact_impulse[3 * (size_t)i] == 0.0) {
            idle++;
            continue;
        }
        problem_contact_velocity(miss->problem, i, answer->v, u);
        double slip = sqrt(u[1] * u[1] + u[2] * u[2]) / miss->result.certificate.scale;
        int class = 0;
        while (class < CLASSES - 1 && slip > limit[class]) {
            class ++;
        }
        by_slip[class]++;
    }
    printf("idle %u, slip/V <1e-6 %u, <1e-4 %u, <1e-2 %u, more %u", idle, by_slip[0], by_slip[1],
           by_slip[2], by_slip[3]);
}

static void weigh(const ContactProblem *problem, Arena *arena, ProblemMass *mass) {
    Error error = {0};
    double *scratch = NULL;
    if (mass_init(mass, problem, NULL, arena, &error) == STATUS_OK) {
        scratch = arena_take_array(arena, 3 * (size_t)mass->width_max, sizeof(double));
    }
    if (scratch == NULL) {
        bench_fail("no memory for the mass of a problem");
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        mass_add_contact(mass, i, scratch);
    }
}

// The largest w |gamma| / V: times the rounding of a double it is what no method gets rid of.
static double largest_push(const CampaignMiss *miss, const ProblemMass *mass) {
    double most = 0.0;
    for (uint32_t i = 0; i < miss->problem->contact_count; i++) {
        const double *g = miss->result.answer.contact_impulse + 3 * (size_t)i;
        double w = mass_block_weight(mass_contact_block(mass, i));
        most = fmax(most, w * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
    }
    return most / miss->result.certificate.scale;
}

// The first iteration whose residual is within a factor of two of the last.
static uint64_t gained_last(const IterationHistory *history) {
    size_t at = history->count;
    while (at > 1 && history->value[at - 2] <= 2.0 * history->value[history->count - 1]) {
        at--;
    }
    return at * history->stride;
}

// ---- what else there is

typedef struct Try {
    MdpMethod method;
    double iterations;
    double *impulse; // to start from, and what came
} Try;

static double try_it(const ContactProblem *of, const Try *way) {
    ContactProblem problem = *of;
    SolverSettings settings = campaign_solver(way->iterations);
    Arena arena;
    SolveResult result;
    Error error = {0};
    problem.warm_contact = way->impulse;
    problem.warm_row = NULL;
    settings.parameter[MDP_METHOD] = way->method;
    arena_init(&arena, (size_t)1 << 33);
    if (solver_solve(&settings, &problem, &(Context){0}, &arena, &result, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    for (size_t k = 0; k < 3 * (size_t)of->contact_count; k++) {
        way->impulse[k] = result.answer.contact_impulse[k];
    }
    double own = result.certificate.entry[CERTIFICATE_OWN];
    arena_deinit(&arena);
    return own;
}

// Impulses in [-1, 1) V / w, which the solver brings to their cones; the first start is nothing.
static void scatter(const CampaignMiss *miss, const ProblemMass *mass, int start, double *impulse) {
    uint64_t state = (uint64_t)start;
    double size = start * miss->result.certificate.scale;
    for (uint32_t i = 0; i < miss->problem->contact_count; i++) {
        double w = mass_block_weight(mass_contact_block(mass, i));
        for (size_t k = 0; k < 3; k++) {
            double share = problem_build_random(&state);
            impulse[3 * (size_t)i + k] = w > 0.0 ? share * size / w : 0.0;
        }
    }
}

enum { LONGER_ON, SWEPT, AFTER_SWEEPS, STARTED, WAYS = STARTED + STARTS };

// One way after the other, until one solves it. How many were tried; their residuals are stored.
static int try_all(const CampaignMiss *miss, const ProblemMass *mass, double *impulse,
                   double own[WAYS]) {
    double most = fmin(miss->factorisations, ELSEWHERE);
    for (int way = 0; way < WAYS; way++) {
        Try next = {MDP_NEWTON, most, impulse};
        if (way == LONGER_ON) {
            next.iterations = LONGER * miss->factorisations;
        } else if (way == SWEPT) {
            next = (Try){MDP_GAUSS_SEIDEL, SWEEPS, impulse};
        }
        if (way != AFTER_SWEEPS) { // which goes on
            scatter(miss, mass, way < STARTED ? 0 : way - STARTED + 1, impulse);
        }
        if (way >= STARTED) {
            try_it(miss->problem, &(Try){MDP_GAUSS_SEIDEL, START_SWEEPS, impulse});
        }
        own[way] = try_it(miss->problem, &next);
        if (own[way] <= CAMPAIGN_TOLERANCE) {
            return way + 1;
        }
    }
    return WAYS;
}

static CampaignMissKind classify(const CampaignMiss *miss, const double *own, int tried,
                                 double rounding) {
    if (own[tried - 1] <= CAMPAIGN_TOLERANCE) {
        return tried - 1 == LONGER_ON ? CAMPAIGN_MISS_BUDGET : CAMPAIGN_MISS_START;
    }
    if (rounding > CAMPAIGN_TOLERANCE) {
        return CAMPAIGN_MISS_ROUNDING;
    }
    double best = miss->result.certificate.entry[CERTIFICATE_OWN];
    for (int way = 0; way < tried; way++) {
        best = fmin(best, own[way]);
    }
    return best <= CAMPAIGN_NEAR ? CAMPAIGN_MISS_NEAR : CAMPAIGN_MISS_OPEN;
}

static void print_tried(const double *own, int tried) {
    static const char *const text[STARTED + 1] = {"with more", "20,000 sweeps", "after them",
                                                  "from elsewhere"};
    printf("\n          ");
    for (int way = 0; way < tried; way++) {
        printf("%s%s %.1e", way > 0 ? ", " : "", text[way < STARTED ? way : STARTED], own[way]);
    }
}

static CampaignMissKind explain(const CampaignMiss *miss) {
    Arena arena;
    ProblemMass mass;
    arena_init(&arena, (size_t)1 << 33);
    double *impulse =
        arena_take_array(&arena, 3 * (size_t)miss->problem->contact_count, sizeof(double));
    if (impulse == NULL) {
        bench_fail("no memory for the impulses of a problem");
    }
    weigh(miss->problem, &arena, &mass);
    const Certificate *of = &miss->result.certificate;
    double rounding = DBL_EPSILON * largest_push(miss, &mass);
    printf("%s: e_own %.1e after %u (%s), no better than twice that from %lu on; "
           "%u of %u contacts in its island; rounding %.0e; ",
           miss->name, of->entry[CERTIFICATE_OWN], miss->result.iterations,
           reason_text[of->worst_open.reason], (unsigned long)gained_last(&miss->history),
           of->worst_open.contacts, miss->problem->contact_count, rounding);
    print_slip(miss);
    double own[WAYS];
    int tried = try_all(miss, &mass, impulse, own);
    CampaignMissKind kind = classify(miss, own, tried, rounding);
    print_tried(own, tried);
    printf(" -> %s\n", kind_text[kind]);
    arena_deinit(&arena);
    return kind;
}

// ---- a folder of them

enum { FILES_MAX = 1024, HISTORY = 8192 };

static CampaignMissKind explain_file(const LoadFile *file) {
    double value[HISTORY];
    LoadProblem loaded;
    Arena arena;
    Error error = {0};
    load_problem(file->path, &loaded);
    CampaignMiss miss = {.name = file->name,
                         .problem = &loaded.problem,
                         .factorisations = campaign_factorisations(file->name)};
    SolverSettings settings = campaign_solver(miss.factorisations);
    history_init(&miss.history, value, HISTORY);
    const Context context = {.history = &miss.history};
    arena_init(&arena, (size_t)1 << 33);
    if (solver_solve(&settings, miss.problem, &context, &arena, &miss.result, &error) !=
        STATUS_OK) {
        bench_fail("%s: %s", file->name, error.message);
    }
    CampaignMissKind kind = explain(&miss);
    arena_deinit(&arena);
    load_problem_free(&loaded);
    fflush(stdout);
    return kind;
}

void campaign_explain(const char *folder) {
    static LoadFile file[FILES_MAX];
    size_t count = load_folder(folder, file, 0, FILES_MAX);
    uint32_t of_kind[CAMPAIGN_MISS_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        of_kind[explain_file(&file[i])]++;
    }
    for (int i = 0; i < CAMPAIGN_MISS_COUNT; i++) {
        printf("%5u %s\n", of_kind[i], kind_text[i]);
    }
}
