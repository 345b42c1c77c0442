// SPDX-License-Identifier: MIT
#include "solve/mdp_newton.h"

#include "solve/newton.h"

// What is met by this share of what is asked for is met by velocities that are made anew, which
// round elsewhere.
#define SURELY 0.5
// more has not helped any island yet
#define FACTORISATIONS_MAX 1000.0

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
                        .iterations = judge->result->iterations};
}

static Status judge_again(Judge *judge, uint32_t share, uint32_t island) {
    if (judge->islands.share[share].is_piece) {
        return judge_large(judge, share);
    }
    judge_islands(judge, share, island, island + 1);
    return STATUS_OK;
}

// One island, whose impulses may have been judged before.
static Status solve_island(Judge *judge, NewtonTask *task, uint32_t share, uint32_t island,
                           uint32_t *most) {
    Answer *answer = &judge->result->answer;
    ArenaMark mark = arena_mark(judge->arena);
    NewtonResult result;
    task->island = island;
    task->v_scale = judge->scale.v_scale[island];
    if (judge->island[island].best < HUGE_VAL) {
        judge_go_on(judge, island);
    }
    Status status = newton_solve(task, judge->context, judge->arena, answer->contact_impulse,
                                 answer->row_impulse, &result, judge->error);
    arena_reset_to(judge->arena, mark);
    task->operations_max -= result.operations;
    *most = result.factorisations > *most ? result.factorisations : *most;
    return status == STATUS_OK ? judge_again(judge, share, island) : status;
}

Status mdp_newton(Judge *judge, const MdpNewton *budget) {
    const Islands *islands = &judge->islands;
    NewtonTask task = task_of(judge, budget);
    Status status = STATUS_OK;
    uint32_t most = 0;
    for (uint32_t share = 0; share < islands->share_count; share += judge_pieces(judge, share)) {
        const IslandShare *of = &islands->share[share];
        for (uint32_t i = of->island_begin; i < of->island_end && status == STATUS_OK; i++) {
            if (!judge->island[i].is_met) {
                status = solve_island(judge, &task, share, i, &most);
            }
        }
    }
    judge->result->iterations += most;
    return status;
}
