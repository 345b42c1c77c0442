// SPDX-License-Identifier: MIT
#include "problems/campaign_misses.h"

#include "bench/bench.h"
#include "bench/load.h"
#include "solve/judge.h"
#include "solve/mdp/mdp.h"
#include "solve/newton/newton.h"
#include "solve/solver.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

// what else is tried: so many sweeps, then Newton's method from where they end
#define SWEEPS 5000.0
#define AFTER  1000.0

#define X(upper, text) text,
static const char *const kind_text[CAMPAIGN_MISS_COUNT] = {CAMPAIGN_MISS_MAP(X)};
static const char *const end_text[NEWTON_CURVE_END_COUNT] = {NEWTON_CURVE_MAP(X)};
#undef X

typedef struct CampaignMiss {
    const char *name;
    const ContactProblem *problem;
    Judge judge;
    SolveResult result;
    NewtonResult newton; // of the island that is furthest from being solved
    uint32_t island_contacts;
} CampaignMiss;

// ---- Newton's method, whose result tells of its curves

static Status solve_island(void *user, uint32_t share, uint32_t island) {
    CampaignMiss *miss = user;
    Judge *judge = &miss->judge;
    const uint32_t *first = judge->islands.contact_first + island;
    Asker asker = {0};
    const NewtonTask task = {.problem = miss->problem,
                             .mass = &judge->mass,
                             .islands = &judge->islands,
                             .island = island,
                             .law = RELATION_CONE,
                             .v_scale = judge->scale.v_scale[island],
                             .enough = 0.5 * CAMPAIGN_TOLERANCE, // as mdp has it
                             .tolerance = 0.5 * CAMPAIGN_TOLERANCE,
                             .factorisations_max = (uint32_t)campaign_factorisations(miss->name),
                             .operations_max = HUGE_VAL,
                             .least = 1.0,
                             .asker = &asker};
    NewtonResult newton = {0};
    Status status =
        newton_solve(&task, judge->context, judge->arena, miss->result.answer.contact_impulse,
                     miss->result.answer.row_impulse, &newton, judge->error);
    // infinite: nothing holds the island
    if (status == STATUS_OK && newton.residual < HUGE_VAL &&
        newton.residual >= miss->newton.residual) {
        miss->newton = newton;
        miss->island_contacts = first[1] - first[0];
    }
    return status == STATUS_OK ? judge_island(judge, share, island) : status;
}

static void solve(CampaignMiss *miss, Arena *arena) {
    const Context context = {0};
    Error error = {0};
    Judge *judge = &miss->judge;
    if (judge_begin(judge, miss->problem, RELATION_CONE, CAMPAIGN_TOLERANCE, false, &context, arena,
                    &miss->result, &error) != STATUS_OK ||
        judge_survey(judge, NULL, NULL) != STATUS_OK ||
        judge_each(judge, solve_island, miss) != STATUS_OK || judge_end(judge) != STATUS_OK) {
        bench_fail("%s: %s", miss->name, error.message);
    }
}

static void print_curves(const NewtonResult *newton) {
    for (uint32_t i = 0; i < newton->curve_count; i++) {
        const NewtonCurve *c = &newton->curve[i];
        printf("\n    curve %u: %u folds in %u factorisations, to kappa %.1e, best %.1e, %s", i,
               c->folds, c->factorisations, c->kappa, c->residual, end_text[c->end]);
    }
}

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

// The largest w |gamma| / V: times the rounding of a double it is what no method gets rid of.
static double largest_push(const CampaignMiss *miss) {
    double most = 0.0;
    for (uint32_t i = 0; i < miss->problem->contact_count; i++) {
        const double *g = miss->result.answer.contact_impulse + 3 * (size_t)i;
        double w = mass_block_weight(mass_contact_block(&miss->judge.mass, i));
        most = fmax(most, w * sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]));
    }
    return most / miss->result.certificate.scale;
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

static CampaignMissKind classify(const NewtonResult *newton, double rounding, double after) {
    if (newton->residual <= CAMPAIGN_TOLERANCE) {
        return CAMPAIGN_MISS_SOLVED;
    }
    if (rounding > CAMPAIGN_TOLERANCE) {
        return CAMPAIGN_MISS_ROUNDING;
    }
    if (after <= CAMPAIGN_TOLERANCE) {
        return CAMPAIGN_MISS_START;
    }
    CampaignMissKind kind = CAMPAIGN_MISS_LOST;
    for (uint32_t i = 0; i < newton->curve_count; i++) {
        if (newton->curve[i].end == NEWTON_CURVE_SPENT) {
            return CAMPAIGN_MISS_BUDGET;
        }
        kind = newton->curve[i].end == NEWTON_CURVE_LOST ? kind : CAMPAIGN_MISS_END;
    }
    return kind;
}

static CampaignMissKind explain(CampaignMiss *miss, Arena *arena) {
    solve(miss, arena);
    const NewtonResult *newton = &miss->newton;
    double rounding = DBL_EPSILON * largest_push(miss);
    printf("%s: e_own %.1e after %u; %u of %u contacts in its island; rounding %.0e; ", miss->name,
           newton->residual, newton->factorisations, miss->island_contacts,
           miss->problem->contact_count, rounding);
    print_slip(miss);
    print_curves(newton);
    fflush(stdout);
    double *impulse =
        arena_take_zeroed(arena, 3 * (size_t)miss->problem->contact_count, sizeof(double));
    if (impulse == NULL) {
        bench_fail("no memory for the impulses of a problem");
    }
    double swept = try_it(miss->problem, &(Try){MDP_GAUSS_SEIDEL, SWEEPS, impulse});
    double after = try_it(miss->problem, &(Try){MDP_NEWTON, AFTER, impulse});
    CampaignMissKind kind = classify(newton, rounding, after);
    printf("\n    %g sweeps %.1e, newton from there %.1e -> %s\n", SWEEPS, swept, after,
           kind_text[kind]);
    return kind;
}

// ---- a folder of them

enum { FILES_MAX = 1024 };

static CampaignMissKind explain_file(const LoadFile *file) {
    LoadProblem loaded;
    Arena arena;
    load_problem(file->path, &loaded);
    CampaignMiss miss = {.name = file->name, .problem = &loaded.problem};
    arena_init(&arena, (size_t)1 << 33);
    CampaignMissKind kind = explain(&miss, &arena);
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
