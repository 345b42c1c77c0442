// SPDX-License-Identifier: MIT
// Contacts and rows as one cone complementarity problem (Negrut, Serban, Tasora), island after
// island.
#include "solve/ccp/ccp.h"

#include "base/assert.h"

#include "solve/ccp/descent.h"
#include "solve/ccp/exact.h"
#include "solve/ccp/finish.h"
#include "solve/ccp/interior.h"
#include "solve/ccp/probe.h"
#include "solve/ccp/soften.h"
#include "solve/ccp/sweep.h"
#include "solve/judge.h"
#include "solve/newton/newton.h"

// m that may already do: this much of tolerance V^2
#define NEAR 10.0
// From m / V^2 on the last digits are tried, and again where it is so much less; to so much of the
// tolerance; and for so many iterations. On piles, where m is 1e-4 states still change, and all of
// them are in vain.
#define FINISH_M     1e-7
#define FINISH_NEXT  1e-2
#define FINISH_SHARE 0.1
enum { FINISH_ITERATIONS = 10 };
// Methods that factor nothing are judged after so many iterations at the latest.
enum { JUDGE_EVERY = 20 };
// Exact friction: passes, each to this share of the tolerance, as long as each comes half as near;
// then Newton's method, to this share, in so many factorisations, or max_iterations. Where it does
// not apply, or not come, passes go on until so many have not come half as near.
enum { PASSES_HASTE = 1, PASSES_PATIENCE = 10, EXACT_NEWTON = 1000 };
#define PASS_SHARE   0.1
#define EXACT_SURELY 0.5
// What it starts from is near with no more than this, as a share of V.
#define WARM_MAX 0.1
// Patient, it bears so many rounds that do not come half as near.
enum { FINISH_PATIENCE = 3 };

// About: of sparse factors and products, for the most part.
#define BUDGET_DEFAULT 5e9

static const char *const coulomb_choices[] = {"relaxed", "exact", NULL};
static const char *const method_choices[] = {"interior_point", "gauss_seidel", "apgd",
                                             "barzilai_borwein", NULL};

const ParameterRow ccp_parameters[CCP_PARAMETER_COUNT] = {
    [CCP_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                       "e_own at which a step counts as converged"},
    [CCP_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 100.0, 10000.0, NULL,
                            "factorisations for one island, sweeps, or gradients"},
    [CCP_COMPLIANCE] = {"compliance", PARAMETER_NUMBER, "m/N", 0.0, 1e6, 0.0, 0.0, NULL,
                        "alpha of contacts: alpha / h^2 on the diagonal"},
    [CCP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "start from the step before"},
    [CCP_METHOD] = {"method", PARAMETER_CHOICE, "", 0.0, 3.0, CCP_INTERIOR_POINT,
                    CCP_INTERIOR_POINT, method_choices,
                    "interior_point factors, and its last digits are Newton's; the others do not"},
    [CCP_COULOMB] = {"coulomb", PARAMETER_CHOICE, "", 0.0, 1.0, CCP_RELAXED, CCP_RELAXED,
                     coulomb_choices,
                     "relaxed: convex; exact: by one convex problem after another"},
    [CCP_BUDGET] = {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_DEFAULT, NULL,
                    "operations of a step, about, of which small islands have their share first"},
};

// An overlap is to be gone after the step, as far as the world's recovery speed lets it.
double ccp_bias(const double *parameter, double time_step, double gap) {
    VALIDATE(!(time_step <= 0.0));
    (void)parameter;
    return problem_gap_bias(time_step, gap, 1.0);
}

// What one solve carries from part to part.
typedef struct Work {
    const ContactProblem *problem;
    const double *parameter;
    Judge judge;
    double compliance; // R of contacts [1/kg]
    Arena *arena;
    SolveResult *result;
    Error *error;
    uint32_t iterations; // of the island with the most
} Work;

static Status declare(Work *work) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    answer->contact =
        arena_take_zeroed(work->arena, problem->contact_count, sizeof(ContactRelation));
    if (answer->contact == NULL) {
        return error_set(work->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the answer.");
    }
    bool is_exact = work->parameter[CCP_COULOMB] == CCP_EXACT;
    double h = problem->time_step;
    work->compliance = work->parameter[CCP_COMPLIANCE] / (h * h);
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        answer->contact[i] = (ContactRelation){.bias = problem->contact[i].bias,
                                               .normal_compliance = work->compliance,
                                               .tangent_compliance = work->compliance,
                                               .s = is_exact ? 1.0 : 0.0};
    }
    return STATUS_OK;
}

static Status prepare(Work *work, const Context *context) {
    const double *parameter = work->parameter;
    Status status = judge_begin(&work->judge, work->problem, RELATION_CONE,
                                parameter[CCP_TOLERANCE], parameter[CCP_WARM_START] != 0.0, context,
                                work->arena, work->result, work->error);
    status = STATUS_THEN(status, declare(work));
    return STATUS_THEN(status, judge_survey(&work->judge, NULL, NULL));
}

// ---- islands

// One island at work.
typedef struct IslandWork {
    Work *work;
    CcpIsland of;
    uint32_t share, island;
    uint32_t most; // iterations
    CcpOutcome ended;
} IslandWork;

static void store(IslandWork *one) {
    Answer *answer = &one->work->result->answer;
    ccp_island_store(&one->of, answer->contact_impulse, answer->row_impulse);
}

static Status give_up(Error *error) {
    return error_set(error, STATUS_ABORTED, "", "The solve was given up.");
}

// Stores, and judges.
static Status judge_now(IslandWork *one) {
    Judge *judge = &one->work->judge;
    JudgeIsland *island = &judge->island[one->island];
    if (one->of.asker.is_stopped) {
        return give_up(one->work->error);
    }
    if (island->best < HUGE_VAL) {
        judge_go_on(judge, one->island);
    }
    store(one);
    return judge_island(judge, one->share, one->island);
}

static double own_of(const IslandWork *one) {
    const Judge *judge = &one->work->judge;
    return certificate_measure_own(&judge->measure[one->island], judge->scale.v_scale[one->island]);
}

// Whether to go on after something was laid out.
static Status ask(IslandWork *one) {
    const NewtonIsland *n = &one->of.island;
    if (one->of.asker.is_stopped) {
        return give_up(one->work->error);
    }
    return judge_ask(&one->work->judge,
                     CCP_OPERATIONS_LAYOUT * ((double)n->constraint_count + (double)n->tree_count));
}

// The last digits, from where the path is, as far as they come; patient, where it ends.
static Status finish(IslandWork *one, CcpFinish *f, bool is_patient) {
    Judge *judge = &one->work->judge;
    const JudgeIsland *island = &judge->island[one->island];
    double v_scale = judge->scale.v_scale[one->island];
    double velocity = FINISH_SHARE * one->work->parameter[CCP_TOLERANCE] * v_scale;
    uint32_t end = one->of.iterations + FINISH_ITERATIONS;
    end = end < one->most && !is_patient ? end : one->most;
    uint32_t in_vain = 0, in_vain_max = is_patient ? FINISH_PATIENCE : 0;
    double best = HUGE_VAL;
    Status status = STATUS_OK;
    CcpOutcome outcome = CCP_GOES_ON;
    ccp_finish_begin(f);
    while (status == STATUS_OK && !island->is_met && outcome == CCP_GOES_ON &&
           in_vain <= in_vain_max && one->of.iterations < end) {
        outcome = ccp_finish_round(f, velocity, end - one->of.iterations, is_patient);
        status = judge_now(one);
        double own = own_of(one);
        in_vain = own < 0.5 * best ? 0 : in_vain + 1;
        best = own < best ? own : best;
    }
    return status;
}

// Nothing meets the targets: what does is what is solved and judged from now on.
static Status soften(IslandWork *one, CcpFinish *f) {
    Work *work = one->work;
    Judge *judge = &work->judge;
    double *v_scale = &judge->scale.v_scale[one->island];
    Answer *answer = &work->result->answer;
    work->result->softened += ccp_soften(f, answer, work->parameter[CCP_TOLERANCE] * *v_scale);
    const Islands *islands = &judge->islands;
    IslandRange range = islands_range(islands, one->island, one->island + 1);
    double most =
        certificate_scale_contacts(work->problem, islands, answer, range.contact_begin,
                                   range.contact_end, certificate_scale_least(work->problem));
    *v_scale = certificate_scale_rows(work->problem, islands, answer, range.row_begin,
                                      range.row_end, most);
    one->of.island.v_scale = *v_scale;
    judge_forget(judge, one->island);
    // no iteration may be left: what there is counts by what is asked from now on
    Status status = judge_island(judge, one->share, one->island);
    return STATUS_THEN(status, finish(one, f, true));
}

static Status soften_if_due(IslandWork *one, CcpFinish *f) {
    bool is_met = one->work->judge.island[one->island].is_met;
    bool is_due = !is_met && ccp_soften_is_due(f);
    return is_due ? soften(one, f) : STATUS_OK;
}

static Status solve_inside(IslandWork *one) {
    Work *work = one->work;
    Judge *judge = &work->judge;
    double v_scale = judge->scale.v_scale[one->island];
    const JudgeIsland *island = &judge->island[one->island];
    IterationHistory *history = judge->context->history;
    CcpInterior interior;
    CcpFinish f;
    Status status = ccp_finish_init(&f, &one->of, work->arena, work->error);
    status = STATUS_THEN(status, ask(one));
    status = STATUS_THEN(status, ccp_interior_init(&interior, &one->of, &f.velocities.ldlt,
                                                   work->arena, work->error));
    if (status != STATUS_OK) {
        return status;
    }
    if (own_of(one) <= WARM_MAX) {
        status = finish(one, &f, false);
    }
    ccp_interior_begin(&interior, own_of(one) * v_scale);
    double enough = FINISH_M;
    uint32_t noted = 0;
    while (status == STATUS_OK && !island->is_met && one->ended == CCP_GOES_ON &&
           one->of.iterations < one->most) {
        one->ended = ccp_interior_step(&interior);
        double m = interior.m / (v_scale * v_scale);
        bool is_near = m <= NEAR * work->parameter[CCP_TOLERANCE];
        if (is_near || history != NULL || one->ended != CCP_GOES_ON) {
            status = judge_now(one);
        }
        bool is_close = m <= enough && one->ended != CCP_NOT_FINITE;
        if (status == STATUS_OK && !island->is_met && is_close) {
            enough = FINISH_NEXT * m;
            status = finish(one, &f, false);
        }
        for (; history != NULL && status == STATUS_OK && noted < one->of.iterations; noted++) {
            history_note(history, noted + 1, own_of(one));
        }
    }
    status =
        STATUS_THEN_IF(status, !island->is_met && one->ended == CCP_STALLED, finish(one, &f, true));
    return STATUS_THEN(status, soften_if_due(one, &f));
}

// ---- methods that factor nothing

// One of them.
typedef struct Simple {
    CcpSweep sweep;
    CcpDescent descent;
    bool is_sweep;
} Simple;

static Status begin_simple(IslandWork *one, Simple *simple, CcpMethod method) {
    Work *work = one->work;
    simple->is_sweep = method == CCP_GAUSS_SEIDEL;
    if (simple->is_sweep) {
        return ccp_sweep_init(&simple->sweep, &one->of, work->arena, work->error);
    }
    Status status =
        ccp_descent_init(&simple->descent, &one->of, method == CCP_APGD, work->arena, work->error);
    if (status == STATUS_OK) {
        ccp_descent_begin(&simple->descent);
    }
    return status;
}

// Targets are proven to contradict each other: how much is told as interior_point tells it, from
// where it is, by factors, and so is what meets the rest of them.
static Status solve_softened(IslandWork *one) {
    CcpFinish f;
    Status status = ccp_finish_init(&f, &one->of, one->work->arena, one->work->error);
    status = STATUS_THEN(status, ask(one));
    status = STATUS_THEN(status, finish(one, &f, true));
    return STATUS_THEN(status, soften_if_due(one, &f));
}

// Judged where little changes any more, and now and then.
static Status solve_simple(IslandWork *one, CcpMethod method) {
    const JudgeIsland *island = &one->work->judge.island[one->island];
    double v_scale = one->work->judge.scale.v_scale[one->island];
    IterationHistory *history = one->work->judge.context->history;
    double aim = one->work->parameter[CCP_TOLERANCE] * v_scale;
    uint32_t judged = 0;
    Simple simple;
    CcpProbe probe;
    bool is_proven = false;
    Status status = begin_simple(one, &simple, method);
    status =
        STATUS_THEN(status, ccp_probe_init(&probe, &one->of, one->work->arena, one->work->error));
    while (status == STATUS_OK && !island->is_met && one->ended == CCP_GOES_ON && !is_proven &&
           one->of.iterations < one->most) {
        double change;
        one->ended = simple.is_sweep ? ccp_sweep_step(&simple.sweep, &change)
                                     : ccp_descent_step(&simple.descent, &change);
        uint32_t now = one->of.iterations;
        bool is_due = change <= aim || now - judged >= JUDGE_EVERY || now == one->most;
        if (is_due || history != NULL || one->ended != CCP_GOES_ON) {
            judged = now;
            status = judge_now(one);
        }
        if (history != NULL && status == STATUS_OK) {
            history_note(history, now, own_of(one));
        }
        status =
            STATUS_THEN_IF(status, !island->is_met,
                           ccp_probe_ask(&probe, one->work->arena, &is_proven, one->work->error));
    }
    return status == STATUS_OK && is_proven ? solve_softened(one) : status;
}

static Status solve_relaxed(IslandWork *one) {
    CcpMethod method = (CcpMethod)one->work->parameter[CCP_METHOD];
    ArenaMark mark = arena_mark(one->work->arena);
    one->ended = CCP_GOES_ON;
    Status status = method == CCP_INTERIOR_POINT ? solve_inside(one) : solve_simple(one, method);
    arena_reset_to(one->work->arena, mark);
    return status;
}

// ---- exact friction

// Pass after pass, each to a share of the tolerance, until the last changed next to nothing, or so
// many have not come half as near; and judges what they came to.
static Status pass_by_pass(IslandWork *one, uint32_t patience) {
    Work *work = one->work;
    Judge *judge = &work->judge;
    Answer *answer = &work->result->answer;
    const JudgeIsland *island = &judge->island[one->island];
    double tolerance = judge->tolerance, v_scale = judge->scale.v_scale[one->island];
    double change = HUGE_VAL, best = HUGE_VAL;
    uint32_t passes = 0, best_at = 0;
    Status status = STATUS_OK;
    judge->tolerance = PASS_SHARE * tolerance;
    while (status == STATUS_OK && passes < best_at + patience && one->of.iterations < one->most &&
           change > PASS_SHARE * tolerance * v_scale) {
        ccp_exact_declare(&one->of, answer, false);
        judge_forget(judge, one->island);
        status = judge_now(one);
        status = STATUS_THEN_IF(status, !island->is_met, solve_relaxed(one));
        passes++;
        if (status != STATUS_OK || !island->is_met) {
            break;
        }
        ccp_island_load(&one->of, answer->contact_impulse, answer->row_impulse);
        change = ccp_exact_lower(&one->of, answer);
        best_at = change < 0.5 * best ? passes : best_at;
        best = change < 0.5 * best ? change : best;
    }
    judge->tolerance = tolerance;
    ccp_exact_declare(&one->of, answer, true);
    judge_forget(judge, one->island);
    work->result->passes = passes > work->result->passes ? passes : work->result->passes;
    return STATUS_THEN(status, judge_now(one));
}

// Where passes do not come: Newton's method for the law itself, from where they ended.
static Status finish_exact(IslandWork *one) {
    Work *work = one->work;
    Judge *judge = &work->judge;
    Answer *answer = &work->result->answer;
    double enough = EXACT_SURELY * judge->tolerance;
    Asker asker = one->of.asker;
    NewtonTask task = {.problem = work->problem,
                       .mass = &judge->mass,
                       .islands = &judge->islands,
                       .island = one->island,
                       .law = RELATION_CONE,
                       .v_scale = judge->scale.v_scale[one->island],
                       .enough = enough,
                       .tolerance = enough,
                       .factorisations_max = one->most < EXACT_NEWTON ? one->most : EXACT_NEWTON,
                       .operations_max = judge_left(judge) - asker.operations,
                       .least = 1.0,
                       .iterations = one->of.iterations,
                       .asker = &asker};
    NewtonResult result;
    judge_go_on(judge, one->island);
    Status status = newton_solve(&task, judge->context, work->arena, answer->contact_impulse,
                                 answer->row_impulse, &result, work->error);
    if (status == STATUS_OK) {
        one->of.iterations += result.factorisations;
        status = judge_island(judge, one->share, one->island);
    }
    return status;
}

static Status solve_exact(IslandWork *one) {
    Work *work = one->work;
    Judge *judge = &work->judge;
    const Answer *answer = &work->result->answer;
    const JudgeIsland *island = &judge->island[one->island];
    uint32_t softened = work->result->softened;
    Status status = pass_by_pass(one, PASSES_HASTE);
    // it knows the problem's own biases, and no compliance
    bool is_rigid = work->compliance == 0.0 && work->result->softened == softened;
    status = STATUS_THEN_IF(status, !island->is_met && is_rigid, finish_exact(one));
    if (status == STATUS_OK && !island->is_met) {
        ccp_island_load(&one->of, answer->contact_impulse, answer->row_impulse);
        status = pass_by_pass(one, PASSES_PATIENCE);
    }
    return status;
}

// Of an island that is not met.
static EndReason reason_of(CcpOutcome outcome) {
    return outcome == CCP_GOES_ON      ? END_ITERATIONS
           : outcome == CCP_NOT_FINITE ? END_NOT_FINITE
                                       : END_STALLED;
}

// Time is over: it ends with what it has, or had.
static Status end_late(IslandWork *one) {
    one->of.asker.is_stopped = false;
    return judge_now(one);
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    Work *work = solver;
    Judge *judge = &work->judge;
    IslandWork one = {.work = work,
                      .share = share,
                      .island = island,
                      .most = (uint32_t)work->parameter[CCP_MAX_ITERATIONS]};
    // what it starts from may do
    Status status = judge_island(judge, share, island);
    if (status != STATUS_OK || judge->island[island].is_met) {
        return status;
    }
    NewtonIsland layout;
    IslandRange range = islands_range(&judge->islands, island, island + 1);
    double operations = CCP_OPERATIONS_LAYOUT * ((double)(range.contact_end - range.contact_begin) +
                                                 (double)(range.row_end - range.row_begin) +
                                                 (double)(range.tree_end - range.tree_begin));
    status = judge_ask(judge, operations);
    status = STATUS_THEN(status,
                         newton_island_init(&layout, work->problem, &judge->mass, &judge->islands,
                                            island, RELATION_CONE, judge->scale.v_scale[island],
                                            NULL, work->arena, work->error));
    status = STATUS_THEN(status, judge_ask(judge, operations));
    status = STATUS_THEN(status, ccp_island_init(&one.of, &layout, work->compliance,
                                                 judge->context->stop, work->arena, work->error));
    if (status != STATUS_OK) {
        return status;
    }
    const Answer *answer = &work->result->answer;
    status = ask(&one);
    if (status != STATUS_OK) {
        return status;
    }
    ccp_island_load(&one.of, answer->contact_impulse, answer->row_impulse);
    status = work->parameter[CCP_COULOMB] == CCP_EXACT ? solve_exact(&one) : solve_relaxed(&one);
    judge->island[island].reason = reason_of(one.ended);
    status = judge_is_now_late(judge, status) ? end_late(&one) : status;
    // what was counted since it was asked
    status = STATUS_THEN(status, judge_ask(judge, one.of.asker.operations));
    // its answer is made already
    status = judge_is_now_late(judge, status) ? STATUS_OK : status;
    work->iterations = one.of.iterations > work->iterations ? one.of.iterations : work->iterations;
    return status;
}

Status ccp_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    Work work = {.problem = problem,
                 .parameter = settings->parameter,
                 .arena = arena,
                 .result = result,
                 .error = error};
    Status status = prepare(&work, context);
    if (status == STATUS_OK) {
        judge_limit(&work.judge, settings->parameter[CCP_BUDGET]);
        status = judge_each_held(&work.judge, solve_island, &work);
    }
    if (status == STATUS_OK) {
        status = judge_end(&work.judge);
        result->iterations = work.iterations;
    }
    return status;
}
