// SPDX-License-Identifier: MIT
// Castro, Permenter and Han, "An unconstrained convex formulation of compliant contact", and the
// two-stage scheme that it serves: island after island, each a strictly convex problem in its
// velocities (solve/descent/island.h), then velocities anew from all impulses, which the
// certificate judges.
#include "solve/sap/sap.h"

#include "base/assert.h"
#include "solve/descent/impulse.h"
#include "solve/descent/work.h"
#include "solve/sap/gap.h"

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
    VALIDATE(!(time_step <= 0.0));
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

static void make_contact(DescentWork *work, uint32_t index) {
    const ContactProblem *problem = work->problem;
    const ProblemContact *contact = &problem->contact[index];
    const ContactLaw *law = &problem->law[index];
    const double *parameter = work->parameter;
    ContactRelation *relation = &work->result->answer.contact[index];
    double h = problem->time_step, stiffness = law->stiffness;
    if (isinf(stiffness) && parameter[SAP_STIFFNESS_DEFAULT] > 0.0) {
        stiffness = parameter[SAP_STIFFNESS_DEFAULT];
    }
    SapLaw *contact_law = (SapLaw *)work->contact_law + index;
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
        *contact_law = sap_law_lagged(still, r_n, r_t, relation->bound);
    } else {
        *contact_law = sap_law_cone(still, r_n, r_t, contact->mu);
    }
}

// ---- what rows obey

// The bias comes first, as the scales are made of it. What only the regularisation resists comes
// back no faster than the row's own bias says.
static void declare_row(DescentWork *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    if (row->is_position && !row->has_compliance) {
        double wanted = row->gap / (work->problem->time_step + row->dissipation_time);
        bool is_bounded = isinf(row->stiffness) && fabs(wanted) > fabs(row->bias);
        relation->bias = is_bounded ? row->bias : wanted;
    }
}

static void make_row(DescentWork *work, uint32_t index) {
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
    ((SapLaw *)work->row_law)[index] = sap_law_row(-relation->bias, r, row->low, row->high);
}

// ---- islands

typedef struct IslandWork {
    DescentIsland one; // first: what steps it is of this
    SapIsland velocities;
    SapImpulse impulses;
} IslandWork;

static void store(DescentIsland *one) {
    Answer *answer = &one->work->result->answer;
    sap_island_store(&((IslandWork *)one)->velocities, answer->contact_impulse,
                     answer->row_impulse);
}

static SapOutcome step_velocities(DescentIsland *one, double tolerance, uint32_t most) {
    return sap_island_minimise(&((IslandWork *)one)->velocities, tolerance, most);
}

static SapOutcome step_impulses(DescentIsland *one, double tolerance, uint32_t most) {
    double velocity = tolerance * one->work->judge.scale.v_scale[one->island];
    return sap_impulse_minimise(&((IslandWork *)one)->impulses, tolerance, velocity, most);
}

static void end_impulses(DescentIsland *one, SapOutcome outcome) {
    if (outcome != SAP_MET) {
        sap_impulse_end(&((IslandWork *)one)->impulses);
    }
}

// To a smaller gradient each time.
static bool descend(IslandWork *work, bool by_impulses) {
    double tolerance = work->one.work->parameter[SAP_TOLERANCE];
    return descent_descend(&work->one, by_impulses ? step_impulses : step_velocities, tolerance,
                           TIGHTENING, TOLERANCE_MIN, by_impulses ? end_impulses : NULL);
}

// In impulses, which mostly come; then in velocities, which always do, as far as doubles go; then
// in impulses the last digits.
static Status improve(IslandWork *work) {
    const DescentWork *of = work->one.work;
    bool is_done = false;
    sap_island_load(&work->velocities, of->result->answer.contact_impulse,
                    of->result->answer.row_impulse);
    if (of->parameter[SAP_METHOD] == SAP_AUTO) {
        sap_impulse_begin(&work->impulses);
        is_done = descend(work, true);
    }
    if (is_done) {
        return work->one.status;
    }
    sap_island_start(&work->velocities);
    if (!descend(work, false)) {
        sap_impulse_take_over(&work->impulses);
        descend(work, true);
    }
    return work->one.status;
}

static Status open_island(IslandWork *island) {
    DescentWork *work = island->one.work;
    NewtonIsland layout;
    double operations;
    Status status = descent_lay_out(work, island->one.island, &layout, &operations);
    status = STATUS_THEN(status, sap_island_init(&island->velocities, &layout, work->contact_law,
                                                 work->row_law, work->judge.context->stop,
                                                 work->arena, work->error));
    status = STATUS_THEN(status, judge_ask(&work->judge, operations));
    return status != STATUS_OK
               ? status
               : sap_impulse_init(&island->impulses, &island->velocities, work->arena, work->error);
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    DescentWork *work = solver;
    IslandWork one = {.one = {.work = work,
                              .store = store,
                              .share = share,
                              .island = island,
                              .most = (uint32_t)work->parameter[SAP_MAX_ITERATIONS]}};
    one.one.steps = &one.velocities;
    Status status = open_island(&one);
    return STATUS_THEN(status, descent_end(&one.one, improve(&one)));
}

static RelationKind relation_of(const DescentWork *work) {
    return work->parameter[SAP_FRICTION] == SAP_LAGGED ? RELATION_LAGGED : RELATION_CONE;
}

static const DescentSolver descent = {.law_bytes = sizeof(SapLaw),
                                      .warm_start = SAP_WARM_START,
                                      .budget = SAP_BUDGET,
                                      .relation = relation_of,
                                      .make_contact = make_contact,
                                      .declare_row = declare_row,
                                      .make_row = make_row,
                                      .solve_island = solve_island};

Status sap_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    DescentWork work = {.problem = problem,
                        .parameter = settings->parameter,
                        .context = context,
                        .arena = arena,
                        .result = result,
                        .error = error};
    Status status = descent_solve(&work, &descent);
    // nobody asks it of a step
    if (status == STATUS_OK && context->geometry == NULL) {
        status = sap_gap(&work.judge, work.contact_law, work.row_law, &result->cost_gap);
        result->has_cost_gap = status == STATUS_OK;
        status = judge_is_now_late(&work.judge, status) ? STATUS_OK : status;
    }
    return status;
}
