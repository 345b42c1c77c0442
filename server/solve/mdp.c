// SPDX-License-Identifier: MIT
// Maximum dissipation principle with Gauss-Seidel over contacts: Preclik, Eibl, Ruede, "The maximum
// dissipation principle in rigid-body dynamics with inelastic impacts". Sweeps, with momentum from
// one to the next, go on until the largest change of an impulse, as a velocity, is small beside the
// island's scale V; then the certificate judges velocities made anew from the impulses. Where it
// says no, the test is tightened.
#include "solve/mdp.h"

#include "base/assert.h"
#include "solve/mdp_direct.h"
#include "solve/mdp_momentum.h"
#include "solve/mdp_pack.h"

#include <string.h>

// how much smaller a change is asked for after the certificate refused the one before
#define TIGHTENING 0.1
// a change of this many V in one sweep: the problem has no solution and its impulses run away
#define RUNAWAY 1e12
// what an aim may leave of what is enough: what it leaves, the next step would start with
#define FINE 1e-3

// contacts that stay in the first cache while all that can be said of each is
enum { RANGE = 64 };

static const char *const friction_choices[] = {"maximum_dissipation", "coulomb", NULL};

const ParameterRow mdp_parameters[MDP_PARAMETER_COUNT] = {
    [MDP_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                       "largest own residual of a converged answer, as a share of the velocity "
                       "scale V"},
    [MDP_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 200.0, 100000.0, NULL,
                            "sweeps after which the solver stops, converged or not"},
    [MDP_FRICTION] = {"friction", PARAMETER_CHOICE, "", 0.0, 1.0, MDP_COULOMB, MDP_COULOMB,
                      friction_choices,
                      "the law of a sliding contact: exact Coulomb, or the paper's maximum "
                      "dissipation on the plane of maximum compression, under which a cube slides "
                      "at 0.98 of its friction angle"},
    [MDP_OVERLAP_CORRECTION] = {"overlap_correction", PARAMETER_NUMBER, "", 0.0, 1.0, 0.2, 0.2,
                                NULL, "share of an overlap that one step asks to remove"},
    [MDP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "start from the impulses of the step before"},
};

double mdp_bias(const double *parameter, double time_step, double gap) {
    return problem_gap_bias(time_step, gap, parameter[MDP_OVERLAP_CORRECTION]);
}

// What one solve carries from part to part.
typedef struct Work {
    const ContactProblem *problem;
    const double *parameter;
    const Context *context;
    Arena *arena;
    ProblemMass mass;
    CertificateScale scale;
    MdpPack pack;
    bool is_planned; // pack.direct
    SolveResult *result;
    Error *error;
} Work;

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for the answer.");
}

// the arrays of the answer, and what it promises
static Status declare(Work *work) {
    const ContactProblem *problem = work->problem;
    Arena *arena = work->arena;
    Answer *answer = &work->result->answer;
    bool coulomb = work->parameter[MDP_FRICTION] == MDP_COULOMB;
    *answer = (Answer){.relation = coulomb ? RELATION_CONE : RELATION_DISSIPATION,
                       .v = arena_take_array(arena, problem->velocity_count, sizeof(double)),
                       .momentum = arena_take_array(arena, problem->velocity_count, sizeof(double)),
                       .contact_impulse =
                           arena_take_array(arena, problem->contact_count, 3 * sizeof(double)),
                       .row_impulse = arena_take_zeroed(arena, problem->row_count, sizeof(double)),
                       .row = arena_take_zeroed(arena, problem->row_count, sizeof(RowRelation))};
    work->result->residual = arena_take_array(arena, problem->contact_count, sizeof(double));
    if (answer->v == NULL || answer->momentum == NULL || answer->contact_impulse == NULL ||
        answer->row_impulse == NULL || answer->row == NULL || work->result->residual == NULL) {
        return no_memory(work->error);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        const ProblemRow *row = &problem->row[i];
        answer->row[i] = (RowRelation){.bias = row->bias,
                                       .compliance = row->has_compliance ? row->compliance : 0.0,
                                       .low = row->low,
                                       .high = row->high};
    }
    return STATUS_OK;
}

// where the sweeps start
static void warm_up(Work *work) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    bool is_warm = work->parameter[MDP_WARM_START] != 0.0;
    size_t contact_bytes = 3 * (size_t)problem->contact_count * sizeof(double);
    if (is_warm && problem->warm_contact != NULL) {
        memcpy(answer->contact_impulse, problem->warm_contact, contact_bytes);
    } else {
        memset(answer->contact_impulse, 0, contact_bytes);
    }
    if (is_warm && problem->warm_row != NULL) {
        memcpy(answer->row_impulse, problem->warm_row, problem->row_count * sizeof(double));
    }
}

// v = v_free + M^-1 (J^T gamma + G^T r), from scratch, so that a momentum error is one of rounding
static void make_velocities(Work *work) {
    const ContactProblem *problem = work->problem;
    double *restrict v = work->result->answer.v;
    memcpy(v, work->result->answer.momentum, problem->velocity_count * sizeof(double));
    mass_solve(&work->mass, v);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        v[i] += problem->v_free[i];
    }
}

// the end of a range that begins there
static uint32_t range_end(const ContactProblem *problem, uint32_t begin) {
    return problem->contact_count - begin > RANGE ? begin + RANGE : problem->contact_count;
}

// the impulses of the answer, and its momentum
static void store(Work *work) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    certificate_momentum_begin(problem, answer);
    for (uint32_t begin = 0, end; begin < problem->contact_count; begin = end) {
        end = range_end(problem, begin);
        mdp_pack_store_contacts(&work->pack, begin, end, answer);
        certificate_momentum_add(problem, begin, end, answer);
    }
    mdp_pack_store_rows(&work->pack, answer);
    certificate_momentum_end(problem, answer);
}

static Status judge(Work *work) {
    make_velocities(work);
    return certificate_measure(work->problem, &work->mass, &work->scale, &work->result->answer,
                               work->parameter[MDP_TOLERANCE], work->arena, work->result->residual,
                               &work->result->certificate, work->error);
}

// The residual after a sweep, for whoever asked; what it takes beside the sweeps is given back.
static Status note(Work *work, uint32_t sweep) {
    if (work->context->history == NULL) {
        return STATUS_OK;
    }
    ArenaMark mark = arena_mark(work->arena);
    store(work);
    Status status = judge(work);
    if (status == STATUS_OK) {
        history_note(work->context->history, sweep,
                     work->result->certificate.entry[CERTIFICATE_OWN]);
    }
    arena_reset_to(work->arena, mark);
    return status;
}

// A question may cost as much as the sweep of a small problem, so only every eighth sweep is
// preceded by one.
static bool is_asked_to_stop(const Work *work, uint32_t sweep) {
    return sweep % 8 == 7 && stop_is_asked(work->context->stop);
}

// Most solves of a world at rest end before anything is carried: only then is the plan made.
static Status carry(Work *work, double change, double enough) {
    if (!work->is_planned) {
        Status status =
            mdp_direct_plan(&work->pack, FINE * FINE * enough, work->arena, work->error);
        if (status != STATUS_OK) {
            return status;
        }
        work->is_planned = true;
    }
    mdp_momentum_carry(&work->pack, change, enough);
    return STATUS_OK;
}

static Status sweep_until_certified(Work *work) {
    ASSERT(work->parameter[MDP_TOLERANCE] > 0.0);
    ASSERT(work->parameter[MDP_MAX_ITERATIONS] >= 1.0);
    bool coulomb = work->parameter[MDP_FRICTION] == MDP_COULOMB;
    uint32_t sweep_max = (uint32_t)work->parameter[MDP_MAX_ITERATIONS];
    double enough = work->parameter[MDP_TOLERANCE];
    uint32_t sweep = 0;
    for (;;) {
        if (is_asked_to_stop(work, sweep)) {
            return error_set(work->error, STATUS_ABORTED, "",
                             "The solve was given up after %u sweeps.", sweep);
        }
        double change = mdp_sweep(&work->pack, coulomb);
        sweep++;
        Status status = note(work, sweep);
        if (status != STATUS_OK) {
            return status;
        }
        // written so that what is not a number does not go on
        bool is_bounded = change < RUNAWAY * RUNAWAY;
        double limit = work->pack.has_aimed ? FINE * enough : enough;
        if (change > limit * limit && sweep < sweep_max && is_bounded) {
            status = carry(work, change, enough * enough);
            if (status != STATUS_OK) {
                return status;
            }
            continue;
        }
        store(work);
        status = judge(work);
        // a fixed point to the last bit, or numbers that run away, will not get better
        bool is_stuck = change == 0.0 || !is_bounded;
        if (status != STATUS_OK || work->result->certificate.converged || is_stuck ||
            sweep == sweep_max) {
            work->result->iterations = sweep;
            return status;
        }
        enough *= TIGHTENING;
        mdp_pack_load(&work->pack, work->result->answer.v);
        mdp_momentum_begin(&work->pack);
    }
}

// What every contact says by itself, before their order and islands are known.
static Status survey(Work *work) {
    const ContactProblem *problem = work->problem;
    Status status = mass_init(&work->mass, problem, work->arena, work->error);
    if (status == STATUS_OK) {
        status = certificate_scale_begin(problem, work->arena, &work->scale, work->error);
    }
    if (status == STATUS_OK) {
        status = mdp_pack_begin(problem, &work->mass, work->arena, &work->pack, work->error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    const Answer *answer = &work->result->answer;
    for (uint32_t begin = 0, end; begin < problem->contact_count; begin = end) {
        end = range_end(problem, begin);
        mass_add_contacts(&work->mass, begin, end);
        certificate_scale_add(problem, answer, begin, end, &work->scale);
        mdp_pack_survey(&work->pack, begin, end);
    }
    certificate_scale_end(problem, answer, &work->scale);
    return STATUS_OK;
}

static Status run(Work *work) {
    Status status = declare(work);
    if (status == STATUS_OK) {
        status = survey(work);
    }
    if (status != STATUS_OK) {
        return status;
    }
    Answer *answer = &work->result->answer;
    certificate_momentum_begin(work->problem, answer);
    warm_up(work);
    status =
        mdp_pack_end(&work->scale, answer, answer->momentum, work->arena, &work->pack, work->error);
    if (status != STATUS_OK) {
        return status;
    }
    certificate_momentum_end(work->problem, answer);
    make_velocities(work);
    mdp_pack_load(&work->pack, work->result->answer.v);
    mdp_momentum_begin(&work->pack);
    return sweep_until_certified(work);
}

Status mdp_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    *result = (SolveResult){0};
    Work work = {.problem = problem,
                 .parameter = settings->parameter,
                 .context = context,
                 .arena = arena,
                 .result = result,
                 .error = error};
    return run(&work);
}
