// SPDX-License-Identifier: MIT
#include "solve/mdp_newton.h"

#include "solve/newton.h"

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
                        .operations_max = budget->operations_max,
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
    double vain;   // operations for islands that stay open
} Work;

// One island, whose impulses may have been judged before.
static Status solve_island(Work *work, uint32_t share, uint32_t island) {
    Judge *judge = work->judge;
    NewtonTask *task = &work->task;
    Answer *answer = &judge->result->answer;
    ArenaMark mark = arena_mark(judge->arena);
    NewtonResult result;
    task->island = island;
    task->asker = &work->asker;
    task->v_scale = judge->scale.v_scale[island];
    if (judge->island[island].best < HUGE_VAL) {
        judge_go_on(judge, island);
    }
    Status status = newton_solve(task, judge->context, judge->arena, answer->contact_impulse,
                                 answer->row_impulse, &result, judge->error);
    arena_reset_to(judge->arena, mark);
    task->operations_max -= result.operations;
    work->most = result.factorisations > work->most ? result.factorisations : work->most;
    judge->island[island].reason = reason_of(task, &result);
    if (work->budget->is_left != NULL) {
        work->budget->is_left[island] = result.is_too_dear;
    }
    if (status == STATUS_OK || judge_is_late(judge, status)) {
        status = judge_island(judge, share, island);
    }
    work->vain += judge->island[island].is_met ? 0.0 : result.operations;
    return status;
}

static uint32_t size_of(const Islands *islands, uint32_t island) {
    return islands->contact_first[island + 1] - islands->contact_first[island] +
           islands->row_first[island + 1] - islands->row_first[island];
}

// Open islands of sizes [least, end); `next` is the smallest size from `end` on.
static Status solve_sizes(Work *work, uint32_t least, uint32_t end, uint32_t *next) {
    Judge *judge = work->judge;
    const Islands *islands = &judge->islands;
    Status status = STATUS_OK;
    *next = UINT32_MAX;
    for (uint32_t share = 0; share < islands->share_count; share += judge_pieces(judge, share)) {
        const IslandShare *of = &islands->share[share];
        for (uint32_t i = of->island_begin; i < of->island_end && status == STATUS_OK; i++) {
            uint32_t size = size_of(islands, i);
            if (judge->is_late || judge->island[i].is_met || size < least) {
                continue;
            }
            if (size >= end) {
                *next = size < *next ? size : *next;
            } else {
                status = solve_island(work, share, i);
            }
        }
    }
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

// Sizes grow by this from one pass over the islands to the next, so that what a few large ones
// spend is not missed by many small ones.
enum { SIZE_GROWTH = 4 };

Status mdp_newton(Judge *judge, const MdpNewton *budget, double *vain) {
    Work work = {.judge = judge,
                 .budget = budget,
                 .task = task_of(judge, budget),
                 .asker = {.stop = judge->context->stop}};
    Status status = STATUS_OK;
    for (uint32_t size = 0, next = 0; next < UINT32_MAX && status == STATUS_OK; size = next) {
        uint32_t end = size < UINT32_MAX / SIZE_GROWTH ? SIZE_GROWTH * size + 1 : UINT32_MAX;
        status = solve_sizes(&work, size, end, &next);
    }
    judge->result->iterations += work.most;
    if (vain != NULL) {
        *vain = work.vain;
    }
    if (status == STATUS_OK && work.most > 0) {
        note_end(judge);
    }
    return status;
}
