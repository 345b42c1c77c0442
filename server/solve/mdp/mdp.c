// SPDX-License-Identifier: MIT
// Maximum dissipation principle with Gauss-Seidel over contacts: Preclik, Eibl, Ruede, "The maximum
// dissipation principle in rigid-body dynamics with inelastic impacts". Sweeps, with momentum from
// one to the next, go on until the largest change of an impulse, as a velocity, is small beside the
// island's scale V; then the certificate judges velocities made anew from the impulses. Where it
// says no, the test is tightened.
#include "solve/mdp/mdp.h"

#include "base/assert.h"
#include "solve/mdp/newton.h"
#include "solve/mdp/work.h"

// Multiplications, about: a step that spends them all takes a third of a second or a half, a solve
// half of the minute that a server has for it. Steps that do so in vain do not do so often
// (step/patience.c).
#define BUDGET_DEFAULT       1e9
#define BUDGET_SOLVE_DEFAULT 5e9
// of sweeps, and of Newton's method under its own name, at least
#define BUDGET_LEAST 5e9

static const char *const friction_choices[] = {"maximum_dissipation", "coulomb", NULL};
static const char *const method_choices[] = {"gauss_seidel", "newton", "auto", NULL};

const ParameterRow mdp_parameters[MDP_PARAMETER_COUNT] = {
    [MDP_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                       "largest own residual of a converged answer, as a share of V"},
    [MDP_MAX_ITERATIONS] = {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 200.0, 100000.0, NULL,
                            "sweeps of an island (auto: of one that is too dear); newton: "
                            "factorisations, at most 6000"},
    [MDP_FRICTION] = {"friction", PARAMETER_CHOICE, "", 0.0, 1.0, MDP_COULOMB, MDP_COULOMB,
                      friction_choices,
                      "exact Coulomb, or the paper's maximum dissipation, under which a cube "
                      "slides at 0.98 of its angle"},
    [MDP_OVERLAP_CORRECTION] = {"overlap_correction", PARAMETER_NUMBER, "", 0.0, 1.0, 0.2, 0.2,
                                NULL, "share of an overlap that one step asks to remove"},
    [MDP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "start from the step before"},
    [MDP_METHOD] =
        {"method", PARAMETER_CHOICE, "", 0.0, 2.0, MDP_AUTO, MDP_AUTO, method_choices,
         "gauss_seidel: sweeps; newton: an island at once, by sparse factorisations; "
         "auto: as the effort has it; exact: 30 sweeps (240 of balls alone), then newton within "
         "the budget"},
    [MDP_ACCELERATION] =
        {"acceleration", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
         "momentum between sweeps, in coloured order; off: the paper's own sweeps"},
    [MDP_PARTITIONS] =
        {"partitions", PARAMETER_COUNT, "", 1.0, 1e6, 1.0, 1.0, NULL,
         "acceleration off: parts of an island; Gauss-Seidel inside one, Jacobi between them"},
    [MDP_RELAXATION] = {"relaxation", PARAMETER_NUMBER, "", 0.01, 1.0, 0.75, 0.75, NULL,
                        "acceleration off: share of a sweep's change that several parts take"},
    [MDP_BUDGET] = {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_SOLVE_DEFAULT,
                    NULL,
                    "auto: multiplications of newton in a step, small islands first; less of it "
                    "after four steps in vain; all: operations, if more than 5e9"},
};

double mdp_bias(const double *parameter, double time_step, double gap) {
    VALIDATE(!(time_step <= 0.0));
    return problem_gap_bias(time_step, gap, parameter[MDP_OVERLAP_CORRECTION]);
}

void mdp_ease(double *parameter) {
    ASSERT(!(parameter[MDP_BUDGET] < 0.0));
    parameter[MDP_BUDGET] *= MDP_EASY_SHARE;
}

static Status solve_newton(MdpWork *work, const double *parameter) {
    Judge *judge = &work->judge;
    Status status = judge_survey(judge, NULL, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    judge_limit(judge, work->operations_max);
    const MdpNewton newton = {.tolerance = work->tolerance,
                              .iterations_max = parameter[MDP_MAX_ITERATIONS],
                              .operations_max = work->operations_max,
                              .least = 1.0};
    MdpSpent spent;
    return mdp_newton(judge, &newton, &spent);
}

static Status run(MdpWork *work, const Effort *effort, const double *parameter) {
    Status status = parameter[MDP_METHOD] == MDP_NEWTON ? solve_newton(work, parameter)
                    : work->sweep_share > 0 ? mdp_anytime(work, effort, parameter[MDP_BUDGET])
                    : work->is_auto         ? mdp_auto(work, parameter[MDP_BUDGET])
                                            : mdp_sweep_all(work);
    return STATUS_THEN(status, judge_end(&work->judge));
}

Status mdp_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    const double *parameter = settings->parameter;
    ASSERT(parameter[MDP_MAX_ITERATIONS] >= 1.0);
    bool coulomb = parameter[MDP_FRICTION] == MDP_COULOMB;
    MdpWork work = {.tolerance = parameter[MDP_TOLERANCE],
                    .sweep_max = (uint32_t)parameter[MDP_MAX_ITERATIONS],
                    .coulomb = coulomb,
                    .is_plain = parameter[MDP_ACCELERATION] == 0.0,
                    .blend = {(uint32_t)parameter[MDP_PARTITIONS], parameter[MDP_RELAXATION]},
                    .is_auto = parameter[MDP_METHOD] == MDP_AUTO,
                    .operations_max = parameter[MDP_BUDGET] > BUDGET_LEAST ? parameter[MDP_BUDGET]
                                                                           : BUDGET_LEAST};
    uint32_t share = work.is_auto ? mdp_anytime_share((EffortKind)settings->effort.kind) : 0;
    work.sweep_share = share < work.sweep_max ? share : work.sweep_max;
    Status status = judge_begin(&work.judge, problem,
                                coulomb ? RELATION_CONE : RELATION_DISSIPATION, work.tolerance,
                                parameter[MDP_WARM_START] != 0.0, context, arena, result, error);
    return STATUS_THEN(status, run(&work, &settings->effort, parameter));
}
