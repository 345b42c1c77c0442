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
#include "solve/judge.h"

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
// what does not overlap under activation = contact would have to close faster than this [m/s]
#define NEVER 1e30
// so many operations, about: a constraint laid out
#define OPERATIONS_LAYOUT 2000.0

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

// What one solve carries from part to part.
typedef struct Work {
    const ContactProblem *problem;
    const double *parameter;
    Judge judge;
    CompliantLaw *contact_law; // [contact_count]
    CompliantLaw *row_law;     // [row_count]
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

// What may push at all: what is within reach, or what overlaps.
static bool is_active(const Work *work, double gap) {
    return work->parameter[COMPLIANT_ACTIVATION] == COMPLIANT_PREDICTIVE || gap <= 0.0;
}

static double compliance(double h, double stiffness, double damping, double w) {
    double r = 1.0 / (h * (h * stiffness + damping)), least = SHARE_MIN * w;
    return r < least ? least : r;
}

// The target of v_n. A spring gives back what it holds; an overlap of things that have none of
// their own leaves no faster than the contact's bias says.
static double target_of(const Work *work, uint32_t index, double stiffness) {
    const ProblemContact *contact = &work->problem->contact[index];
    const ContactLaw *law = &work->problem->law[index];
    bool has_own = !isinf(law->stiffness);
    double force = has_own ? law->force : -stiffness * contact->gap;
    double target = force / (work->problem->time_step * stiffness + law->damping);
    bool is_bounded = !has_own && contact->gap < 0.0 && target > -contact->bias;
    return is_bounded ? relation_max(-contact->bias, 0.0) : target;
}

static void make_contact(Work *work, uint32_t index) {
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
    work->contact_law[index] = (CompliantLaw){
        .target = {target - contact->motion[0], -contact->motion[1], -contact->motion[2]},
        .normal = relation->normal_compliance,
        .tangent = relation->tangent_compliance,
        .mu = contact->mu};
}

static void make_contacts(void *solver, uint32_t begin, uint32_t end) {
    Work *work = solver;
    for (uint32_t i = begin; i < end; i++) {
        make_contact(work, work->judge.islands.contact[i]);
    }
}

// ---- what rows obey

// What a row's spring and damper are: a row without a gap has a damper alone.
typedef struct RowSpring {
    double stiffness, damping;
} RowSpring;

static RowSpring spring_of(const Work *work, const ProblemRow *row) {
    RowSpring spring = {row->is_position ? row->stiffness : 0.0, row->damping};
    bool has_none = isinf(spring.stiffness) || (spring.stiffness == 0.0 && spring.damping == 0.0);
    spring.stiffness = has_none ? work->parameter[COMPLIANT_STIFFNESS_DEFAULT] : spring.stiffness;
    return spring;
}

// The bias comes first, as the scales are made of it: y = G v + bias + R r. What has no spring of
// its own comes back no faster than the row's own bias says.
static void declare_row(Work *work, uint32_t index) {
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

static void make_row(Work *work, uint32_t index) {
    const ProblemRow *row = &work->problem->row[index];
    RowRelation *relation = &work->result->answer.row[index];
    double w = mass_row_weight(&work->judge.mass, index, work->judge.scratch);
    if (!row->has_compliance) {
        RowSpring spring = spring_of(work, row);
        relation->compliance =
            compliance(work->problem->time_step, spring.stiffness, spring.damping, w);
    }
    double r = relation->compliance < SHARE_MIN * w ? SHARE_MIN * w : relation->compliance;
    work->row_law[index] = (CompliantLaw){.is_row = true,
                                          .target = {-relation->bias},
                                          .normal = r,
                                          .low = row->low,
                                          .high = row->high};
}

// ---- before the islands

static bool is_printed(const Work *work) {
    return work->parameter[COMPLIANT_FRICTION] == COMPLIANT_PRINTED;
}

static Status lacks(Work *work, const char *list, uint32_t index) {
    char field[48];
    snprintf(field, sizeof(field), "%s[%u].stiffness", list, index);
    return error_set(work->error, STATUS_INVALID_ARGUMENT, field,
                     "%s is absent, and so is stiffness_default: solver compliant needs one of "
                     "them.",
                     field);
}

// A spring that is infinitely stiff has no law.
static Status check(Work *work) {
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

static Status declare(Work *work) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    answer->contact =
        arena_take_zeroed(work->arena, problem->contact_count, sizeof(ContactRelation));
    work->contact_law =
        arena_take_zeroed(work->arena, problem->contact_count, sizeof(CompliantLaw));
    work->row_law = arena_take_zeroed(work->arena, problem->row_count, sizeof(CompliantLaw));
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
    Status status = check(work);
    if (status == STATUS_OK) {
        RelationKind relation = is_printed(work) ? RELATION_PROGRAM : RELATION_CONE;
        status = judge_begin(&work->judge, work->problem, relation, parameter[COMPLIANT_TOLERANCE],
                             parameter[COMPLIANT_WARM_START] != 0.0, work->context, work->arena,
                             work->result, work->error);
    }
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
    CompliantIsland method;
    uint32_t share, island;
    uint32_t most;    // steps
    SapOutcome ended; // the newest of them
    Status status;
} IslandWork;

// So far, to the answer.
static void store(IslandWork *one) {
    Answer *answer = &one->work->result->answer;
    compliant_island_store(&one->method, answer->contact_impulse, answer->row_impulse);
}

static uint32_t steps(const IslandWork *one) {
    return one->method.sweep.iterations;
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
        history_note(one->work->context->history, steps(one), own);
    }
}

// Stores, and judges; whether it is met.
static bool is_met(IslandWork *one) {
    Judge *judge = &one->work->judge;
    if (one->method.sweep.is_stopped) {
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

// Newton's steps until there are so many; one by one where each is noted.
static SapOutcome newton(IslandWork *one, double velocity) {
    if (one->work->context->history == NULL) {
        return compliant_island_newton(&one->method, velocity, one->most);
    }
    SapOutcome outcome;
    do {
        uint32_t before = steps(one);
        outcome = compliant_island_newton(&one->method, velocity,
                                          before < one->most ? before + 1 : one->most);
        if (steps(one) > before && outcome != SAP_STOPPED) {
            note(one);
        }
    } while (one->status == STATUS_OK && outcome == SAP_SPENT && steps(one) < one->most);
    return outcome;
}

// Newton's steps and judgements in turn, the steps to less of e where the judge says no. True: it
// is met, or nothing more is to be had.
static bool descend(IslandWork *one) {
    double share = RESIDUAL_SHARE * one->work->parameter[COMPLIANT_TOLERANCE];
    double v_scale = one->work->judge.scale.v_scale[one->island];
    SapOutcome outcome = SAP_MET;
    for (; outcome == SAP_MET && share >= TOLERANCE_MIN; share *= TIGHTENING) {
        outcome = one->ended = newton(one, share * v_scale);
        if (outcome == SAP_SPENT || outcome == SAP_STALLED) {
            compliant_island_back(&one->method);
        }
        if (one->status != STATUS_OK || is_met(one)) {
            return true;
        }
    }
    return outcome == SAP_SPENT;
}

// The path of softened laws, in strides that are shorter where Newton's steps do not come. True: it
// is met, or nothing more is to be had.
static bool follow(IslandWork *one) {
    CompliantIsland *p = &one->method;
    double velocity = PATH_TOLERANCE * one->work->judge.scale.v_scale[one->island];
    double last = 1.0 / STRIDE, stride = STRIDE, share = 1.0;
    compliant_island_keep(p);
    while (stride < STRIDE_MAX && steps(one) < one->most && one->status == STATUS_OK) {
        compliant_island_restore(p);
        compliant_island_soften(p, share);
        one->ended = newton(one, velocity);
        if (one->ended == SAP_STOPPED) {
            return is_met(one);
        }
        if (one->ended == SAP_MET) {
            if (share == 0.0) {
                return descend(one);
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

// Newton's steps; where they do not come, the path; where that ends, sweeps, twice as many each
// time, and Newton's steps from where they led.
static Status improve(IslandWork *one) {
    const Answer *answer = &one->work->result->answer;
    compliant_island_begin(&one->method, answer->contact_impulse, answer->row_impulse);
    bool is_done = descend(one);
    is_done = is_done || follow(one);
    for (uint32_t sweeps = 1; !is_done && steps(one) < one->most; sweeps *= 2) {
        uint32_t before = steps(one);
        one->ended = compliant_island_stagger(&one->method, sweeps, SWEEP_TOLERANCE, one->most);
        bool goes_on = one->ended == SAP_MET || one->ended == SAP_STALLED;
        is_done = goes_on ? descend(one) : is_met(one);
        // where not even a step was made, nothing is a number
        is_done = is_done || !goes_on || steps(one) == before;
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

// The paper's terms, and V anew, which knows the biases of rows.
static Status add_gdot(IslandWork *one) {
    Work *work = one->work;
    const Judge *judge = &work->judge;
    Answer *answer = &work->result->answer;
    Status status = compliant_gdot_add(&one->method.sweep, is_printed(work), work->contact_law,
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
static Status judge_program(IslandWork *one, CompliantProgram *program) {
    Work *work = one->work;
    Status status =
        compliant_program_store(program, &work->result->answer, work->arena, work->error);
    return status == STATUS_OK ? judge_island(&work->judge, one->share, one->island) : status;
}

static Status note_program(IslandWork *one, CompliantProgram *program) {
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

static Status minimise(IslandWork *one, CompliantProgram *program) {
    Work *work = one->work;
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

static Status solve_program(IslandWork *one, const NewtonIsland *layout) {
    Work *work = one->work;
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
    Work *work = one->work;
    Judge *judge = &work->judge;
    Status status = compliant_island_init(&one->method, work->contact_law, work->row_law,
                                          work->arena, work->error);
    if (status != STATUS_OK) {
        return status;
    }
    status = improve(one);
    judge->island[one->island].reason = reason_of(one->ended);
    status = judge_is_now_late(judge, status) ? end_late(one) : status;
    // what was counted since it was asked
    if (status == STATUS_OK) {
        status = judge_ask(judge, one->method.sweep.asker.operations);
    }
    // its answer is made already
    status = judge_is_now_late(judge, status) ? STATUS_OK : status;
    work->iterations = steps(one) > work->iterations ? steps(one) : work->iterations;
    return status;
}

static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    Work *work = solver;
    Judge *judge = &work->judge;
    IslandWork one = {.work = work,
                      .share = share,
                      .island = island,
                      .most = (uint32_t)work->parameter[COMPLIANT_MAX_ITERATIONS]};
    NewtonIsland layout;
    bool has_gdot = work->parameter[COMPLIANT_GDOT] == COMPLIANT_GDOT_ON;
    Status status = newton_island_init(&layout, work->problem, &judge->mass, &judge->islands,
                                       island, RELATION_CONE, judge->scale.v_scale[island], NULL,
                                       work->arena, work->error);
    double operations =
        OPERATIONS_LAYOUT * ((double)layout.constraint_count + (double)layout.tree_count);
    if (status == STATUS_OK) {
        status = judge_ask(judge, operations);
    }
    if (status == STATUS_OK && (has_gdot || !is_printed(work))) {
        status = sap_island_lay_out(&one.method.sweep, &layout, judge->context->stop, work->arena,
                                    work->error);
    }
    if (status == STATUS_OK) {
        status = judge_ask(judge, operations);
    }
    if (status == STATUS_OK && has_gdot) {
        status = add_gdot(&one);
    }
    if (status == STATUS_OK) {
        status = is_printed(work) ? solve_program(&one, &layout) : solve_coulomb(&one);
    }
    return status;
}

Status compliant_solve(const ContactProblem *problem, const SolverSettings *settings,
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
        judge_limit(&work.judge, settings->parameter[COMPLIANT_BUDGET]);
        status = judge_each_held(&work.judge, solve_island, &work);
    }
    if (status == STATUS_OK) {
        status = judge_end(&work.judge);
        result->iterations = work.iterations;
    }
    return status;
}
