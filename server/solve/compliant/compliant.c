// SPDX-License-Identifier: MIT
// Drumwright, "An unconditionally stable first-order constraint solver for multibody systems":
// every contact and row pushes as its spring and damper do at the end of the step. Island after
// island (island.h), then velocities anew from all impulses, which the certificate
// judges.
#include "solve/compliant/compliant.h"

#include "base/assert.h"
#include "solve/compliant/gdot.h"
#include "solve/compliant/island.h"
#include "solve/compliant/program.h"
#include "solve/descent/work.h"

#include <stdio.h>

// R is never less of w than this: beyond, doubles do not tell it from nothing.
#define SHARE_MIN 1e-15
// The certificate's residual of a contact is no more than this many times the largest number of e
// (the projection of a natural map moves each of its numbers by no more), with room.
#define RESIDUAL_SHARE 0.25
// how much less of e is asked for after the certificate refused
#define TIGHTENING    0.01
#define TOLERANCE_MIN 1e-17
// The path: how stiff the next answer is beside the one before, at first, and when strides are too
// short to go on; to which share of V answers on the way are made; and when the rest is one stride.
#define STRIDE         0.0625
#define STRIDE_MAX     0.9
#define PATH_TOLERANCE 1e-3
#define SHARE_SOFT_MIN 1e-8
// to which sweeps are made
#define SWEEP_TOLERANCE 1e-9
// how many are tried at once, at most, where a path came to its end
#define SWEEPS_NEAR 4
// what does not overlap under activation = contact would have to close faster than this [m/s]
#define NEVER 1e30

// About: of sparse factors and products, for the most part.
#define BUDGET_DEFAULT 5e9

static const char *const activation_choices[] = {"predictive", "contact", NULL};
static const char *const friction_choices[] = {"coulomb", "printed", NULL};
static const char *const gdot_choices[] = {"off", "on", NULL};

const ParameterRow compliant_parameters[COMPLIANT_PARAMETER_COUNT] = {
    [COMPLIANT_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                             "largest own residual of a converged answer, as a share of V"},
    [COMPLIANT_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 500.0, 2000.0,
                                  NULL, "Newton steps, with those of staggered sweeps"},
    [COMPLIANT_TANGENTIAL_DAMPING] = {"tangential_damping", PARAMETER_NUMBER, "N s/m", 1e-6, 1e18,
                                      1e8, 1e8, NULL,
                                      "friction that holds is a damper of this strength, so it "
                                      "creeps"},
    [COMPLIANT_STIFFNESS_DEFAULT] = {"stiffness_default", PARAMETER_NUMBER, "N/m", 0.0, 1e18, 1e9,
                                     0.0, NULL,
                                     "of contacts and joints that bring none; 0: they must"},
    [COMPLIANT_ACTIVATION] = {"activation", PARAMETER_CHOICE, "", 0.0, 1.0, COMPLIANT_PREDICTIVE,
                              COMPLIANT_PREDICTIVE, activation_choices,
                              "what may push: predictive, by the step's end; contact, the paper's, "
                              "what overlaps at its start"},
    [COMPLIANT_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                              "start from the step before, where that is better"},
    [COMPLIANT_GDOT] = {"gdot", PARAMETER_CHOICE, "", 0.0, 1.0, COMPLIANT_GDOT_OFF,
                        COMPLIANT_GDOT_OFF, gdot_choices,
                        "on: the paper's terms of a changing Jacobian, literally"},
    [COMPLIANT_FRICTION] = {"friction", PARAMETER_CHOICE, "", 0.0, 1.0, COMPLIANT_COULOMB,
                            COMPLIANT_COULOMB, friction_choices,
                            "printed: the paper's friction program, literally, which is not "
                            "Coulomb's law and lifts what slides"},
    [COMPLIANT_ZETA] = {"zeta", PARAMETER_NUMBER, "", 0.0, 1e30, 0.0, 0.0, NULL,
                        "what normal forces weigh in the printed program; 0: 1 / time_step, as "
                        "printed"},
    [COMPLIANT_BUDGET] =
        {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_DEFAULT, NULL,
         "operations of a step, about, of which small islands have their share first"},
};

// The certificate's, which measures an overlap against leaving it in one step.
double compliant_bias(const double *parameter, double time_step, double gap) {
    VALIDATE(!(time_step <= 0.0));
    (void)parameter;
    return problem_gap_bias(time_step, gap, 1.0);
}

bool compliant_wants_gdot(const double *parameter) {
    return parameter[COMPLIANT_GDOT] == COMPLIANT_GDOT_ON;
}

double compliant_time(const double *parameter, double stiffness, double dissipation_time,
                      double damping) {
    (void)dissipation_time;
    double of = isinf(stiffness) ? parameter[COMPLIANT_STIFFNESS_DEFAULT] : stiffness;
    return damping == 0.0 ? 0.0 : damping / of;
}

// ---- what contacts obey

// What may push at all: what is within reach, or what overlaps.
static bool is_active(const DescentWork *work, double gap) {
    return work->parameter[COMPLIANT_ACTIVATION] == COMPLIANT_PREDICTIVE || gap <= 0.0;
}

static double compliance(double h, double stiffness, double damping, double w) {
    double r = 1.0 / (h * (h * stiffness + damping)), least = SHARE_MIN * w;
    return r < least ? least : r;
}

// The target of v_n. A spring gives back what it holds; an overlap of things that have none of
// their own leaves no faster than the contact's bias says.
static double target_of(const DescentWork *work, uint32_t index, double stiffness) {
    const ProblemContact *contact = &work->problem->contact[index];
    const ContactLaw *law = &work->problem->law[index];
    bool has_own = !isinf(law->stiffness);
    double force = has_own ? law->force : -stiffness * contact->gap;
    double target = force / (work->problem->time_step * stiffness + law->damping);
    bool is_bounded = !has_own && contact->gap < 0.0 && target > -contact->bias;
    return is_bounded ? relation_max(-contact->bias, 0.0) : target;
}

static void make_contact(DescentWork *work, uint32_t index) {
    const ContactProblem *problem = work->problem;
    const ProblemContact *contact = &problem->contact[index];
    const ContactLaw *law = &problem->law[index];
    ContactRelation *relation = &work->result->answer.contact[index];
    const MassBlock *block = mass_contact_block(&work->judge.mass, index);
    double w = (block->nn + block->tt + block->oo) / 3.0, h = problem->time_step;
    double stiffness =
        isinf(law->stiffness) ? work->parameter[COMPLIANT_STIFFNESS_DEFAULT] : law->stiffness;
    double target = is_active(work, contact->gap) ? target_of(work, index, stiffness) : -NEVER;
    relation->normal_compliance = compliance(h, stiffness, law->damping, w);
    relation->tangent_compliance =
        compliance(h, 0.0, work->parameter[COMPLIANT_TANGENTIAL_DAMPING], w);
    relation->shift = relation->bias + target;
    relation->s = 1.0;
    ((CompliantLaw *)work->contact_law)[index] = (CompliantLaw){
        .target = {target - contact->motion[0], -contact->motion[1], -contact->motion[2]},
        .normal = relation->normal_compliance,
        .tangent = relation->tangent_compliance,
        .mu = contact->mu};
}

// ---- what rows obey

// What a row's spring and damper are: a row without a gap has a damper alone.
typedef struct RowSpring {
    double stiffness, damping;
} RowSpring;

static RowSpring spring_of(const DescentWork *work, const ProblemRow *row) {
    RowSpring spring = {row->is_position ? row->stiffness : 0.0, row->damping};
    bool has_none = isinf(spring.stiffness) || (spring.stiffness == 0.0 && spring.damping == 0.0);
    spring.stiffness = has_none ? work->parameter[COMPLIANT_STIFFNESS_DEFAULT] : spring.stiffness;
    return spring;
}

// The bias comes first, as the scales are made of it: y = G v + bias + R r. What has no spring of
// its own comes back no faster than the row's own bias says.
static void declare_row(DescentWork *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    bool is_limit = row->low == 0.0 || row->high == 0.0;
    if (row->is_position && !row->has_compliance) {
        RowSpring spring = spring_of(work, row);
        double speed = work->problem->time_step * spring.stiffness + spring.damping;
        double wanted = spring.stiffness * row->gap / speed;
        bool is_bounded = isinf(row->stiffness) && fabs(wanted) > fabs(row->bias);
        relation->bias = is_bounded ? row->bias : wanted;
    }
    double sign = row->low == 0.0 ? 1.0 : -1.0;
    if (row->is_position && is_limit && !is_active(work, sign * row->gap)) {
        relation->bias = sign * NEVER;
    }
}

static void make_row(DescentWork *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    double w = mass_row_weight(&work->judge.mass, index, work->judge.scratch);
    if (!row->has_compliance) {
        RowSpring spring = spring_of(work, row);
        relation->compliance =
            compliance(work->problem->time_step, spring.stiffness, spring.damping, w);
    }
    double r = relation->compliance < SHARE_MIN * w ? SHARE_MIN * w : relation->compliance;
    ((CompliantLaw *)work->row_law)[index] = (CompliantLaw){.is_row = true,
                                                            .target = {-relation->bias},
                                                            .normal = r,
                                                            .low = row->low,
                                                            .high = row->high};
}

// ---- before the islands

static bool is_printed(const DescentWork *work) {
    return work->parameter[COMPLIANT_FRICTION] == COMPLIANT_PRINTED;
}

static Status lacks(DescentWork *work, const char *list, uint32_t index) {
    char field[48];
    snprintf(field, sizeof(field), "%s[%u].stiffness", list, index);
    return error_set(work->error, STATUS_INVALID_ARGUMENT, field,
                     "%s is absent, and so is stiffness_default: solver compliant needs one of "
                     "them.",
                     field);
}

// A spring that is infinitely stiff has no law.
static Status check(DescentWork *work) {
    const ContactProblem *problem = work->problem;
    if (work->parameter[COMPLIANT_STIFFNESS_DEFAULT] > 0.0) {
        return STATUS_OK;
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const ContactLaw *law = &problem->law[i];
        if (isinf(law->stiffness) || (law->stiffness == 0.0 && law->damping == 0.0)) {
            return lacks(work, "contacts", i);
        }
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        RowSpring spring = spring_of(work, &problem->row[i]);
        if (!problem->row[i].has_compliance && spring.stiffness == 0.0 && spring.damping == 0.0) {
            return lacks(work, "rows", i);
        }
    }
    return STATUS_OK;
}

// ---- islands

typedef struct IslandWork {
    DescentIsland one; // first: what steps it is of this
    CompliantIsland method;
    bool is_at_end; // the path came to the laws as they are
} IslandWork;

static void store(DescentIsland *one) {
    Answer *answer = &one->work->result->answer;
    compliant_island_store(&((IslandWork *)one)->method, answer->contact_impulse,
                           answer->row_impulse);
}

static uint32_t steps(const IslandWork *work) {
    return work->method.sweep.iterations;
}

// Newton's, to a share of V.
static SapOutcome step_newton(DescentIsland *one, double share, uint32_t most) {
    double velocity = share * one->work->judge.scale.v_scale[one->island];
    return compliant_island_newton(&((IslandWork *)one)->method, velocity, most);
}

static void go_back(DescentIsland *one, SapOutcome outcome) {
    if (outcome == SAP_SPENT || outcome == SAP_STALLED) {
        compliant_island_back(&((IslandWork *)one)->method);
    }
}

// To less of e each time.
static bool descend(IslandWork *work) {
    double share = RESIDUAL_SHARE * work->one.work->parameter[COMPLIANT_TOLERANCE];
    return descent_descend(&work->one, step_newton, share, TIGHTENING, TOLERANCE_MIN, go_back);
}

// The path of softened laws, in strides that are shorter where Newton's steps do not come. True: it
// is met, or nothing more is to be had.
static bool follow(IslandWork *work) {
    DescentIsland *one = &work->one;
    CompliantIsland *p = &work->method;
    double last = 1.0 / STRIDE, stride = STRIDE, share = 1.0;
    compliant_island_keep(p);
    while (stride < STRIDE_MAX && steps(work) < one->most && one->status == STATUS_OK) {
        compliant_island_restore(p);
        compliant_island_soften(p, share);
        one->ended = descent_minimise(one, step_newton, PATH_TOLERANCE);
        if (one->ended == SAP_STOPPED) {
            return descent_is_met(one);
        }
        if (one->ended == SAP_MET) {
            if (share == 0.0) {
                work->is_at_end = true;
                return descend(work);
            }
            compliant_island_keep(p);
            last = share;
        }
        bool is_longer = one->ended == SAP_MET && stride > STRIDE;
        stride = is_longer ? stride * stride : one->ended == SAP_MET ? stride : sqrt(stride);
        share = last * stride < SHARE_SOFT_MIN ? 0.0 : last * stride;
    }
    compliant_island_restore(p);
    compliant_island_soften(p, 0.0);
    return one->status != STATUS_OK;
}

// From where the solve starts.
static void begin(IslandWork *work) {
    const Answer *answer = &work->one.work->result->answer;
    compliant_island_begin(&work->method, answer->contact_impulse, answer->row_impulse);
}

// Sweeps, twice as many each time and at most so many, and Newton's steps from where they led.
static bool sweep(IslandWork *work, uint32_t most) {
    DescentIsland *one = &work->one;
    bool is_done = false;
    for (uint32_t sweeps = 1; !is_done && sweeps <= most && steps(work) < one->most; sweeps *= 2) {
        uint32_t before = steps(work);
        one->ended = compliant_island_stagger(&work->method, sweeps, SWEEP_TOLERANCE, one->most);
        bool goes_on = one->ended == SAP_MET || one->ended == SAP_STALLED;
        is_done = goes_on ? descend(work) : descent_is_met(one);
        // where not even a step was made, nothing is a number
        is_done = is_done || !goes_on || steps(work) == before;
    }
    return is_done;
}

// Where a path came to its end and sweeps do not soon meet what is there, there may be nothing: a
// fold of the path leaves where it passes what is almost an answer, and sweeps take hundreds to get
// away from it. They are of more use from where all began.
static void sweep_and_return(IslandWork *work) {
    DescentIsland *one = &work->one;
    if (work->is_at_end) {
        if (sweep(work, SWEEPS_NEAR)) {
            return;
        }
        judge_start_again(&one->work->judge, one->island);
        begin(work);
    }
    sweep(work, one->most);
}

// Newton's steps; where they do not come, the path; where that ends, sweeps. Of a foundation with
// friction they never come by themselves, as what holds is a million times as stiff as what it
// stands on; after one sweep, whose friction is within bounds, they do.
static Status improve(IslandWork *work) {
    begin(work);
    bool is_done = work->method.has_rough_bed ? sweep(work, 1) : descend(work);
    if (!is_done && !follow(work)) {
        sweep_and_return(work);
    }
    return work->one.status;
}

// The paper's terms, and V anew, which knows the biases of rows.
static Status add_gdot(IslandWork *of) {
    const DescentIsland *one = &of->one;
    DescentWork *work = one->work;
    const Judge *judge = &work->judge;
    Answer *answer = &work->result->answer;
    Status status = compliant_gdot_add(&of->method.sweep, is_printed(work), work->contact_law,
                                       work->row_law, answer, work->arena, work->error);
    IslandRange range = islands_range(&judge->islands, one->island, one->island + 1);
    double v =
        certificate_scale_contacts(work->problem, &judge->islands, answer, range.contact_begin,
                                   range.contact_end, certificate_scale_least(work->problem));
    judge->scale.v_scale[one->island] = certificate_scale_rows(
        work->problem, &judge->islands, answer, range.row_begin, range.row_end, v);
    return status;
}

// ---- the printed program

static EndReason reason_of_program(ProgramOutcome outcome) {
    return outcome == PROGRAM_SPENT        ? END_ITERATIONS
           : outcome == PROGRAM_NOT_FINITE ? END_NOT_FINITE
                                           : END_STALLED;
}

// Where it stands, and the certificate of that.
static Status judge_program(const DescentIsland *one, CompliantProgram *program) {
    DescentWork *work = one->work;
    Status status =
        compliant_program_store(program, &work->result->answer, work->arena, work->error);
    return STATUS_THEN(status, judge_island(&work->judge, one->share, one->island));
}

static Status note_program(const DescentIsland *one, CompliantProgram *program) {
    Judge *judge = &one->work->judge;
    Status status = compliant_program_store(program, &one->work->result->answer, one->work->arena,
                                            one->work->error);
    if (status == STATUS_OK && judge->islands.share[one->share].is_piece) {
        status = judge_measure_large(judge, one->share);
    } else if (status == STATUS_OK) {
        judge_measure(judge, one->share, one->island, one->island + 1);
    }
    if (status == STATUS_OK) {
        double own = certificate_measure_own(&judge->measure[one->island],
                                             judge->scale.v_scale[one->island]);
        history_note(one->work->context->history, program->iterations, own);
    }
    return status;
}

static Status minimise(const DescentIsland *one, CompliantProgram *program) {
    DescentWork *work = one->work;
    double tolerance = work->parameter[COMPLIANT_TOLERANCE];
    bool is_noted = work->context->history != NULL;
    ProgramOutcome outcome;
    Status status = STATUS_OK;
    do {
        uint32_t most = is_noted ? program->iterations + 1 : one->most;
        outcome = compliant_program_minimise(program, tolerance, most);
        status = is_noted && outcome == PROGRAM_SPENT ? note_program(one, program) : STATUS_OK;
    } while (is_noted && status == STATUS_OK && outcome == PROGRAM_SPENT &&
             program->iterations < one->most);
    work->judge.island[one->island].reason = reason_of_program(outcome);
    if (status == STATUS_OK && outcome == PROGRAM_STOPPED) {
        status = error_set(work->error, STATUS_ABORTED, "", "The solve was given up.");
    }
    if (status == STATUS_OK || judge_is_now_late(&work->judge, status)) {
        status = judge_program(one, program);
    }
    return status;
}

static Status solve_program(const DescentIsland *one, const NewtonIsland *layout) {
    DescentWork *work = one->work;
    const ContactProblem *problem = work->problem;
    double zeta = work->parameter[COMPLIANT_ZETA];
    CompliantProgram program;
    Status status = compliant_program_init(
        &program, layout, work->contact_law, work->row_law,
        zeta > 0.0 ? zeta : 1.0 / problem->time_step,
        1.0 / (problem->time_step * work->parameter[COMPLIANT_TANGENTIAL_DAMPING]),
        work->judge.context->stop, work->arena, work->error);
    if (status == STATUS_OK) {
        status = minimise(one, &program);
        work->iterations =
            program.iterations > work->iterations ? program.iterations : work->iterations;
    }
    if (status == STATUS_OK) {
        status = judge_ask(&work->judge, program.asker.operations);
        status = judge_is_now_late(&work->judge, status) ? STATUS_OK : status;
    }
    return status;
}

// ---- Coulomb's law

static Status solve_coulomb(IslandWork *one) {
    DescentWork *work = one->one.work;
    Status status = compliant_island_init(&one->method, work->contact_law, work->row_law,
                                          work->arena, work->error);
    return STATUS_THEN(status, descent_end(&one->one, improve(one)));
}

static Status open_island(IslandWork *one, NewtonIsland *layout) {
    DescentWork *work = one->one.work;
    bool has_gdot = compliant_wants_gdot(work->parameter);
    double operations;
    Status status = descent_lay_out(work, one->one.island, layout, &operations);
    status =
        STATUS_THEN_IF(status, has_gdot || !is_printed(work),
                       sap_island_lay_out(&one->method.sweep, layout, work->judge.context->stop,
                                          work->arena, work->error));
    status = STATUS_THEN(status, judge_ask(&work->judge, operations));
    return status == STATUS_OK && has_gdot ? add_gdot(one) : status;
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    DescentWork *work = solver;
    IslandWork one = {.one = {.work = work,
                              .store = store,
                              .share = share,
                              .island = island,
                              .most = (uint32_t)work->parameter[COMPLIANT_MAX_ITERATIONS]}};
    NewtonIsland layout;
    one.one.steps = &one.method.sweep;
    Status status = open_island(&one, &layout);
    if (status != STATUS_OK) {
        return status;
    }
    return is_printed(work) ? solve_program(&one.one, &layout) : solve_coulomb(&one);
}

static RelationKind relation_of(const DescentWork *work) {
    return is_printed(work) ? RELATION_PROGRAM : RELATION_CONE;
}

static const DescentSolver descent = {.law_bytes = sizeof(CompliantLaw),
                                      .warm_start = COMPLIANT_WARM_START,
                                      .budget = COMPLIANT_BUDGET,
                                      .check = check,
                                      .relation = relation_of,
                                      .make_contact = make_contact,
                                      .declare_row = declare_row,
                                      .make_row = make_row,
                                      .solve_island = solve_island};

Status compliant_solve(const ContactProblem *problem, const SolverSettings *settings,
                       const Context *context, Arena *arena, SolveResult *result, Error *error) {
    DescentWork work = {.problem = problem,
                        .parameter = settings->parameter,
                        .context = context,
                        .arena = arena,
                        .result = result,
                        .error = error};
    return descent_solve(&work, &descent);
}
