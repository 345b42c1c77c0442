// SPDX-License-Identifier: MIT
// Castro, Permenter and Han, "An unconstrained convex formulation of compliant contact", and the
// two-stage scheme that it serves: island after island, each a strictly convex problem in its
// velocities (solve/descent/island.h), then velocities anew from all impulses, which the
// certificate judges.
#include "solve/sap/sap.h"

#include "base/assert.h"
#include "solve/judge.h"
#include "solve/sap/gap.h"
#include "solve/descent/impulse.h"

#include <string.h>

// 4 pi^2
#define FOUR_PI_SQUARED 39.47841760435743
// R is never less of w than this, nor more: beyond, doubles do not tell it from nothing.
#define SHARE_MIN 1e-12
#define SHARE_MAX 1e100
// how much finer the gradient is asked for after the certificate refused
#define TIGHTENING    0.1
#define TOLERANCE_MIN 1e-16

// About: of sparse factors and products, for the most part.
#define BUDGET_DEFAULT 5e9

static const char *const friction_choices[] = {"convex", "lagged", NULL};
static const char *const method_choices[] = {"auto", "newton", NULL};

const ParameterRow sap_parameters[SAP_PARAMETER_COUNT] = {
    [SAP_TOLERANCE] =
        {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
         "largest gradient, as a share of momentum, and own residual, as a share of V"},
    [SAP_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 100.0, 1000.0, NULL,
                            "Newton steps after which the solver stops with an island"},
    [SAP_FRICTION] = {"friction", PARAMETER_CHOICE, "", 0.0, 1.0, SAP_CONVEX, SAP_CONVEX,
                      friction_choices,
                      "convex, the paper's: what slides glides above the ground; lagged: bounded "
                      "by the step before"},
    [SAP_BETA] = {"beta", PARAMETER_NUMBER, "", 0.0, 100.0, 1.0, 1.0, NULL,
                  "a contact stiffer than a step can tell is made to swing once in beta steps"},
    [SAP_SIGMA] = {"sigma", PARAMETER_NUMBER, "", 1e-10, 1.0, 1e-3, 1e-3, NULL,
                   "how far friction that sticks creeps, as a share of what it held back"},
    [SAP_ROW_BETA] = {"row_beta", PARAMETER_NUMBER, "", 0.0, 100.0, 0.1, 0.1, NULL,
                      "beta of joints, limits and motors"},
    [SAP_STIFFNESS_DEFAULT] = {"stiffness_default", PARAMETER_NUMBER, "N/m", 0.0, 1e18, 0.0, 0.0,
                               NULL, "of contacts that bring none; 0: as stiff as beta allows"},
    [SAP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "start from the step before, where that is better"},
    [SAP_METHOD] = {"method", PARAMETER_CHOICE, "", 0.0, 1.0, SAP_AUTO, SAP_AUTO, method_choices,
                    "newton: the paper's, in velocities; auto: in impulses first"},
    [SAP_BUDGET] = {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_DEFAULT, NULL,
                    "operations of a step, about, of which small islands have their share first"},
};

// The certificate's, which measures an overlap against leaving it in one step.
double sap_bias(const double *parameter, double time_step, double gap) {
    (void)parameter;
    return problem_gap_bias(time_step, gap, 1.0);
}

double sap_time(const double *parameter, double stiffness, double dissipation_time,
                double damping) {
    (void)parameter;
    (void)stiffness;
    (void)damping;
    return dissipation_time;
}

// What one solve carries from part to part.
typedef struct Work {
    const ContactProblem *problem;
    const double *parameter;
    Judge judge;
    SapLaw *contact_law; // [contact_count]
    SapLaw *row_law;     // [row_count]
    const Context *context;
    Arena *arena;
    SolveResult *result;
    Error *error;
    uint32_t iterations; // of the island with the most
} Work;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the answer.");
}

// ---- what contacts obey

// max(beta^2 w / 4 pi^2, 1 / (h k (h + tau))), and whether the first of them rules
static double compliance(double beta, double w, double h, double stiffness, double time,
                         bool *is_near_rigid) {
    double least = beta * beta * w / FOUR_PI_SQUARED, own = 1.0 / (h * stiffness * (h + time));
    *is_near_rigid = !(own > least);
    double r = *is_near_rigid ? least : own;
    r = r < SHARE_MIN * w ? SHARE_MIN * w : r;
    return r > SHARE_MAX * w ? SHARE_MAX * w : r;
}

// |A_ii|_F / 3
static double block_size(const MassBlock *b) {
    return sqrt(b->nn * b->nn + b->tt * b->tt + b->oo * b->oo +
                2.0 * (b->nt * b->nt + b->no * b->no + b->to * b->to)) /
           3.0;
}

// The target of v_n. A spring gives back what it holds; an overlap that only the regularisation
// resists leaves no faster than the contact's bias says.
static double target_of(const ProblemContact *contact, double time, bool is_near_rigid) {
    double target = -contact->gap / time;
    bool is_bounded = is_near_rigid && contact->gap < 0.0 && target > -contact->bias;
    return is_bounded ? relation_max(-contact->bias, 0.0) : target;
}

static void make_contact(Work *work, uint32_t index) {
    const ContactProblem *problem = work->problem;
    const ProblemContact *contact = &problem->contact[index];
    const ContactLaw *law = &problem->law[index];
    const double *parameter = work->parameter;
    ContactRelation *relation = &work->result->answer.contact[index];
    double h = problem->time_step, stiffness = law->stiffness;
    if (isinf(stiffness) && parameter[SAP_STIFFNESS_DEFAULT] > 0.0) {
        stiffness = parameter[SAP_STIFFNESS_DEFAULT];
    }
    double w = block_size(mass_contact_block(&work->judge.mass, index));
    bool is_near_rigid;
    double r_n =
        compliance(parameter[SAP_BETA], w, h, stiffness, law->dissipation_time, &is_near_rigid);
    double r_t = parameter[SAP_SIGMA] * w;
    double target = target_of(contact, h + law->dissipation_time, is_near_rigid);
    const double still[3] = {target - contact->motion[0], -contact->motion[1], -contact->motion[2]};
    relation->normal_compliance = r_n;
    relation->tangent_compliance = r_t;
    relation->shift = relation->bias + target;
    if (parameter[SAP_FRICTION] == SAP_LAGGED) {
        double last =
            problem->warm_contact == NULL ? 0.0 : problem->warm_contact[3 * (size_t)index];
        relation->bound = last > 0.0 ? contact->mu * last : 0.0;
        work->contact_law[index] = sap_law_lagged(still, r_n, r_t, relation->bound);
    } else {
        work->contact_law[index] = sap_law_cone(still, r_n, r_t, contact->mu);
    }
}

static void make_contacts(void *solver, uint32_t begin, uint32_t end) {
    Work *work = solver;
    for (uint32_t i = begin; i < end; i++) {
        make_contact(work, work->judge.islands.contact[i]);
    }
}

// ---- what rows obey

// The bias comes first, as the scales are made of it. What only the regularisation resists comes
// back no faster than the row's own bias says.
static void declare_row(Work *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    if (row->is_position && !row->has_compliance) {
        double wanted = row->gap / (work->problem->time_step + row->dissipation_time);
        bool is_bounded = isinf(row->stiffness) && fabs(wanted) > fabs(row->bias);
        relation->bias = is_bounded ? row->bias : wanted;
    }
}

static void make_row(Work *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    double w = mass_row_weight(&work->judge.mass, index, work->judge.scratch);
    double r = row->compliance < SHARE_MIN * w ? SHARE_MIN * w : row->compliance;
    if (!row->has_compliance) {
        bool is_near_rigid;
        double stiffness = row->is_position ? row->stiffness : HUGE_VAL;
        r = compliance(work->parameter[SAP_ROW_BETA], w, work->problem->time_step, stiffness,
                       row->dissipation_time, &is_near_rigid);
        relation->compliance = r;
    }
    work->row_law[index] = sap_law_row(-relation->bias, r, row->low, row->high);
}

// ---- before the islands

static Status declare(Work *work) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    answer->contact =
        arena_take_zeroed(work->arena, problem->contact_count, sizeof(ContactRelation));
    work->contact_law = arena_take_zeroed(work->arena, problem->contact_count, sizeof(SapLaw));
    work->row_law = arena_take_zeroed(work->arena, problem->row_count, sizeof(SapLaw));
    if (answer->contact == NULL || work->contact_law == NULL || work->row_law == NULL) {
        return no_memory(work->error);
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        answer->contact[i].bias = problem->contact[i].gap / problem->time_step;
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        declare_row(work, i);
    }
    return STATUS_OK;
}

static Status prepare(Work *work) {
    const double *parameter = work->parameter;
    RelationKind relation = parameter[SAP_FRICTION] == SAP_LAGGED ? RELATION_LAGGED : RELATION_CONE;
    Status status = judge_begin(&work->judge, work->problem, relation, parameter[SAP_TOLERANCE],
                                parameter[SAP_WARM_START] != 0.0, work->context, work->arena,
                                work->result, work->error);
    if (status == STATUS_OK) {
        status = declare(work);
    }
    if (status == STATUS_OK) {
        status = judge_survey(&work->judge, make_contacts, work);
    }
    for (uint32_t i = 0; i < work->problem->row_count && status == STATUS_OK; i++) {
        make_row(work, i);
    }
    return status;
}

// ---- islands

// One island at work.
typedef struct IslandWork {
    Work *work;
    SapIsland velocities;
    SapImpulse impulses;
    uint32_t share, island;
    uint32_t most;    // steps
    SapOutcome ended; // the newest of them
    Status status;
} IslandWork;

// So far, to the answer.
static void store(IslandWork *one) {
    Answer *answer = &one->work->result->answer;
    sap_island_store(&one->velocities, answer->contact_impulse, answer->row_impulse);
}

// For whoever asked for a history, what the judge would say now.
static void note(IslandWork *one) {
    Judge *judge = &one->work->judge;
    store(one);
    if (judge->islands.share[one->share].is_piece) {
        one->status = judge_measure_large(judge, one->share);
    } else {
        judge_measure(judge, one->share, one->island, one->island + 1);
    }
    if (one->status == STATUS_OK) {
        double own = certificate_measure_own(&judge->measure[one->island],
                                             judge->scale.v_scale[one->island]);
        history_note(one->work->context->history, one->velocities.iterations, own);
    }
}

// Steps in velocities, or in impulses, until there are so many.
static SapOutcome step_to(IslandWork *one, bool by_impulses, double tolerance, uint32_t most) {
    double velocity = tolerance * one->work->judge.scale.v_scale[one->island];
    return by_impulses ? sap_impulse_minimise(&one->impulses, tolerance, velocity, most)
                       : sap_island_minimise(&one->velocities, tolerance, most);
}

// The same, one by one where each is noted.
static SapOutcome minimise(IslandWork *one, bool by_impulses, double tolerance) {
    if (one->work->context->history == NULL) {
        return step_to(one, by_impulses, tolerance, one->most);
    }
    SapOutcome outcome;
    const uint32_t *done = &one->velocities.iterations;
    do {
        uint32_t before = *done;
        outcome = step_to(one, by_impulses, tolerance, before < one->most ? before + 1 : one->most);
        if (*done > before && outcome != SAP_STOPPED) {
            note(one);
        }
    } while (one->status == STATUS_OK && outcome == SAP_SPENT && *done < one->most);
    return outcome;
}

// Stores, and judges; whether it is met.
static bool is_met(IslandWork *one) {
    Judge *judge = &one->work->judge;
    if (one->velocities.is_stopped) {
        one->status = error_set(one->work->error, STATUS_ABORTED, "", "The solve was given up.");
    }
    if (one->status == STATUS_OK) {
        store(one);
        one->status = judge_island(judge, one->share, one->island);
    }
    if (one->status != STATUS_OK || judge->island[one->island].is_met) {
        return true;
    }
    judge_go_on(judge, one->island);
    return false;
}

// Steps and judgements in turn, the steps to a smaller gradient where the judge says no. True: it
// is met, or nothing more is to be had.
static bool descend(IslandWork *one, bool by_impulses) {
    double tolerance = one->work->parameter[SAP_TOLERANCE];
    SapOutcome outcome = SAP_MET;
    for (; outcome == SAP_MET && tolerance >= TOLERANCE_MIN; tolerance *= TIGHTENING) {
        outcome = one->ended = minimise(one, by_impulses, tolerance);
        if (by_impulses && outcome != SAP_MET) {
            sap_impulse_end(&one->impulses);
        }
        if (one->status != STATUS_OK || is_met(one)) {
            return true;
        }
    }
    return outcome == SAP_SPENT;
}

// In impulses, which mostly come; then in velocities, which always do, as far as doubles go; then
// in impulses the last digits.
static Status improve(IslandWork *one) {
    const Answer *answer = &one->work->result->answer;
    bool is_done = false;
    sap_island_load(&one->velocities, answer->contact_impulse, answer->row_impulse);
    if (one->work->parameter[SAP_METHOD] == SAP_AUTO) {
        sap_impulse_begin(&one->impulses);
        is_done = descend(one, true);
    }
    if (is_done) {
        return one->status;
    }
    sap_island_start(&one->velocities);
    if (!descend(one, false)) {
        sap_impulse_take_over(&one->impulses);
        descend(one, true);
    }
    return one->status;
}

// Of an island that is not met.
static EndReason reason_of(SapOutcome outcome) {
    return outcome == SAP_SPENT        ? END_ITERATIONS
           : outcome == SAP_NOT_FINITE ? END_NOT_FINITE
                                       : END_STALLED;
}

// Time is over: it ends with what it has, or had.
static Status end_late(IslandWork *one) {
    Judge *judge = &one->work->judge;
    store(one);
    Status status = judge_island(judge, one->share, one->island);
    if (status == STATUS_OK && !judge->island[one->island].is_met) {
        judge_start_again(judge, one->island);
        status = judge_island(judge, one->share, one->island);
    }
    return status;
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    Work *work = solver;
    Judge *judge = &work->judge;
    IslandWork one = {.work = work,
                      .share = share,
                      .island = island,
                      .most = (uint32_t)work->parameter[SAP_MAX_ITERATIONS]};
    NewtonIsland layout;
    Status status = newton_island_init(&layout, work->problem, &judge->mass, &judge->islands,
                                       island, RELATION_CONE, judge->scale.v_scale[island], NULL,
                                       work->arena, work->error);
    double layout_operations =
        SAP_OPERATIONS_LAYOUT * ((double)layout.constraint_count + (double)layout.tree_count);
    if (status == STATUS_OK) {
        status = judge_ask(judge, layout_operations);
    }
    if (status == STATUS_OK) {
        status = sap_island_init(&one.velocities, &layout, work->contact_law, work->row_law,
                                 judge->context->stop, work->arena, work->error);
    }
    if (status == STATUS_OK) {
        status = judge_ask(judge, layout_operations);
    }
    if (status == STATUS_OK) {
        status = sap_impulse_init(&one.impulses, &one.velocities, work->arena, work->error);
    }
    if (status == STATUS_OK) {
        status = improve(&one);
        judge->island[island].reason = reason_of(one.ended);
        status = judge_is_now_late(judge, status) ? end_late(&one) : status;
        // what was counted since it was asked
        if (status == STATUS_OK) {
            status = judge_ask(judge, one.velocities.asker.operations);
        }
        // its answer is made already
        status = judge_is_now_late(judge, status) ? STATUS_OK : status;
        uint32_t iterations = one.velocities.iterations;
        work->iterations = iterations > work->iterations ? iterations : work->iterations;
    }
    return status;
}

Status sap_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    Work work = {.problem = problem,
                 .parameter = settings->parameter,
                 .context = context,
                 .arena = arena,
                 .result = result,
                 .error = error};
    Status status = prepare(&work);
    if (status == STATUS_OK) {
        judge_limit(&work.judge, settings->parameter[SAP_BUDGET]);
        status = judge_each_held(&work.judge, solve_island, &work);
    }
    if (status == STATUS_OK) {
        status = judge_end(&work.judge);
        result->iterations = work.iterations;
    }
    // nobody asks it of a step
    if (status == STATUS_OK && context->geometry == NULL) {
        status = sap_gap(&work.judge, work.contact_law, work.row_law, &result->cost_gap);
        result->has_cost_gap = status == STATUS_OK;
        status = judge_is_now_late(&work.judge, status) ? STATUS_OK : status;
    }
    return status;
}
