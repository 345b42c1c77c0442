// SPDX-License-Identifier: MIT
#include "solve/descent/work.h"

#include "base/assert.h"

// ---- the whole

typedef struct Making {
    DescentWork *work;
    const DescentSolver *solver;
} Making;

static void make_contacts(void *context, uint32_t begin, uint32_t end) {
    const Making *making = context;
    for (uint32_t i = begin; i < end; i++) {
        making->solver->make_contact(making->work, making->work->judge.islands.contact[i]);
    }
}

static Status declare(DescentWork *work, const DescentSolver *solver) {
    const ContactProblem *problem = work->problem;
    Answer *answer = &work->result->answer;
    answer->contact =
        arena_take_zeroed(work->arena, problem->contact_count, sizeof(ContactRelation));
    work->contact_law = arena_take_zeroed(work->arena, problem->contact_count, solver->law_bytes);
    work->row_law = arena_take_zeroed(work->arena, problem->row_count, solver->law_bytes);
    if (answer->contact == NULL || work->contact_law == NULL || work->row_law == NULL) {
        return error_set(work->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for the answer.");
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        answer->contact[i].bias = problem->contact[i].gap / problem->time_step;
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        solver->declare_row(work, i);
    }
    return STATUS_OK;
}

static Status prepare(DescentWork *work, const DescentSolver *solver) {
    Status status = solver->check == NULL ? STATUS_OK : solver->check(work);
    if (status != STATUS_OK) {
        return status;
    }
    status =
        judge_begin(&work->judge, work->problem, solver->relation(work),
                    work->parameter[SOLVER_TOLERANCE], work->parameter[solver->warm_start] != 0.0,
                    work->context, work->arena, work->result, work->error);
    status = STATUS_THEN(status, declare(work, solver));
    status =
        STATUS_THEN(status, judge_survey(&work->judge, make_contacts, &(Making){work, solver}));
    for (uint32_t i = 0; i < work->problem->row_count && status == STATUS_OK; i++) {
        solver->make_row(work, i);
    }
    return status;
}

Status descent_solve(DescentWork *work, const DescentSolver *solver) {
    ASSERT(solver->solve_island != NULL);
    ASSERT(solver->law_bytes > 0);
    ASSERT(solver_has_work(work->problem));
    Status status = prepare(work, solver);
    if (status != STATUS_OK) {
        return status;
    }
    judge_limit(&work->judge, work->parameter[solver->budget]);
    status = judge_each_held(&work->judge, solver->solve_island, work);
    if (status != STATUS_OK) {
        return status;
    }
    work->result->iterations = work->iterations;
    return judge_end(&work->judge);
}

// ---- one island

Status descent_lay_out(DescentWork *work, uint32_t island, NewtonIsland *layout,
                       double *operations) {
    ASSERT(island < work->judge.islands.count);
    Judge *judge = &work->judge;
    Status status = newton_island_init(layout, work->problem, &judge->mass, &judge->islands, island,
                                       RELATION_CONE, judge->scale.v_scale[island], NULL,
                                       work->arena, work->error);
    if (status != STATUS_OK) {
        return status;
    }
    *operations =
        SAP_OPERATIONS_LAYOUT * ((double)layout->constraint_count + (double)layout->tree_count);
    return judge_ask(judge, *operations);
}

// For whoever asked for a history, what the judge would say now.
static void note(DescentIsland *one) {
    Judge *judge = &one->work->judge;
    one->store(one);
    if (judge->islands.share[one->share].is_piece) {
        one->status = judge_measure_large(judge, one->share);
    } else {
        judge_measure(judge, one->share, one->island, one->island + 1);
    }
    if (one->status == STATUS_OK) {
        double own = certificate_measure_own(&judge->measure[one->island],
                                             judge->scale.v_scale[one->island]);
        history_note(one->work->context->history, one->steps->iterations, own);
    }
}

SapOutcome descent_minimise(DescentIsland *one, DescentStep *step, double share) {
    ASSERT(!(share <= 0.0));
    if (one->work->context->history == NULL) {
        return step(one, share, one->most);
    }
    SapOutcome outcome;
    const uint32_t *done = &one->steps->iterations;
    do {
        uint32_t before = *done;
        outcome = step(one, share, before < one->most ? before + 1 : one->most);
        if (*done > before && outcome != SAP_STOPPED) {
            note(one);
        }
    } while (one->status == STATUS_OK && outcome == SAP_SPENT && *done < one->most);
    return outcome;
}

bool descent_is_met(DescentIsland *one) {
    ASSERT(one->island < one->work->judge.islands.count);
    Judge *judge = &one->work->judge;
    if (one->steps->is_stopped) {
        one->status = error_set(one->work->error, STATUS_ABORTED, "", "The solve was given up.");
    }
    if (one->status == STATUS_OK) {
        one->store(one);
        one->status = judge_island(judge, one->share, one->island);
    }
    if (one->status != STATUS_OK || judge->island[one->island].is_met) {
        return true;
    }
    judge_go_on(judge, one->island);
    return false;
}

bool descent_descend(DescentIsland *one, DescentStep *step, double share, double tightening,
                     double least, void (*settle)(DescentIsland *one, SapOutcome outcome)) {
    ASSERT(!(tightening <= 0.0));
    ASSERT(tightening < 1.0 && least > 0.0);
    SapOutcome outcome = SAP_MET;
    for (; outcome == SAP_MET && share >= least; share *= tightening) {
        outcome = one->ended = descent_minimise(one, step, share);
        if (settle != NULL) {
            settle(one, outcome);
        }
        if (one->status != STATUS_OK || descent_is_met(one)) {
            return true;
        }
    }
    return outcome == SAP_SPENT;
}

static EndReason reason_of(SapOutcome outcome) {
    return outcome == SAP_SPENT        ? END_ITERATIONS
           : outcome == SAP_NOT_FINITE ? END_NOT_FINITE
                                       : END_STALLED;
}

static Status end_late(DescentIsland *one) {
    Judge *judge = &one->work->judge;
    one->store(one);
    Status status = judge_island(judge, one->share, one->island);
    if (status == STATUS_OK && !judge->island[one->island].is_met) {
        judge_start_again(judge, one->island);
        status = judge_island(judge, one->share, one->island);
    }
    return status;
}

Status descent_end(DescentIsland *one, Status status) {
    ASSERT(one->island < one->work->judge.islands.count);
    DescentWork *work = one->work;
    Judge *judge = &work->judge;
    judge->island[one->island].reason = reason_of(one->ended);
    status = judge_is_now_late(judge, status) ? end_late(one) : status;
    // what was counted since it was asked
    status = STATUS_THEN(status, judge_ask(judge, one->steps->asker.operations));
    const uint32_t iterations = one->steps->iterations;
    work->iterations = iterations > work->iterations ? iterations : work->iterations;
    // its answer is made already
    return judge_is_now_late(judge, status) ? STATUS_OK : status;
}
