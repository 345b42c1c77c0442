// SPDX-License-Identifier: MIT
#include "solve/mdp/newton.h"

#include "base/assert.h"
#include "solve/newton/newton.h"

// What is met by this share of what is asked for is met by velocities that are made anew, which
// round elsewhere.
#define SURELY 0.5
// the longest curve that has been followed to its end took nine tenths of it
#define FACTORISATIONS_MAX 6000.0

static NewtonTask task_of(const Judge *judge, const MdpNewton *budget) {
    double enough = SURELY * judge->tolerance, most = budget->iterations_max;
    return (NewtonTask){.problem = judge->problem,
                        .mass = &judge->mass,
                        .islands = &judge->islands,
                        .law = judge->result->answer.relation,
                        .enough = enough,
                        .tolerance = budget->tolerance < enough ? budget->tolerance : enough,
                        .factorisations_max =
                            (uint32_t)(most < FACTORISATIONS_MAX ? most : FACTORISATIONS_MAX),
                        .least = budget->least,
                        .iterations = judge->result->iterations};
}

static EndReason reason_of(const NewtonTask *task, const NewtonResult *result) {
    if (result->is_too_dear || result->is_spent) {
        return END_BUDGET;
    }
    return result->factorisations >= task->factorisations_max ? END_ITERATIONS : END_STALLED;
}

// What is done, of islands after each other.
typedef struct Work {
    Judge *judge;
    const MdpNewton *budget;
    NewtonTask task;
    Asker asker;
    uint32_t most; // factorisations of one island
    MdpSpent spent;
} Work;

// One island, whose impulses may have been judged before.
static Status solve_island(void *solver, uint32_t share, uint32_t island) {
    Work *work = solver;
    Judge *judge = work->judge;
    NewtonTask *task = &work->task;
    Answer *answer = &judge->result->answer;
    NewtonResult result;
    task->island = island;
    task->asker = &work->asker;
    task->v_scale = judge->scale.v_scale[island];
    task->operations_max = judge_take(judge);
    if (judge->island[island].best < HUGE_VAL) {
        judge_go_on(judge, island);
    }
    Status status = newton_solve(task, judge->context, judge->arena, answer->contact_impulse,
                                 answer->row_impulse, &result, judge->error);
    judge_give(judge, result.operations);
    work->most = result.factorisations > work->most ? result.factorisations : work->most;
    judge->island[island].reason = reason_of(task, &result);
    if (work->budget->is_left != NULL) {
        work->budget->is_left[island] = result.is_too_dear;
    }
    if (status == STATUS_OK || judge_is_late(judge, status)) {
        status = judge_island(judge, share, island);
    }
    work->spent.all += result.operations;
    work->spent.vain += judge->island[island].is_met ? 0.0 : result.operations;
    return status;
}

// A history ends with what all islands came to, also those that were met before.
static void note_end(const Judge *judge) {
    if (judge->context->history == NULL) {
        return;
    }
    double most = 0.0;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        double own = judge_own(judge, i);
        most = own > most || own != own ? own : most;
    }
    history_note(judge->context->history, judge->result->iterations, most);
}

Status mdp_newton(Judge *judge, const MdpNewton *budget, MdpSpent *spent) {
    ASSERT(budget != NULL);
    Work work = {.judge = judge,
                 .budget = budget,
                 .task = task_of(judge, budget),
                 .asker = {.stop = judge->context->stop}};
    double budget_before = judge->budget;
    Allowance before = judge->allowance;
    judge->budget = budget->operations_max;
    Status status = judge_each_open(judge, budget->is_asked, solve_island, &work);
    judge->budget = budget_before;
    judge->allowance = before;
    judge->result->iterations += work.most;
    *spent = work.spent;
    if (status == STATUS_OK && work.most > 0) {
        note_end(judge);
    }
    return status;
}
