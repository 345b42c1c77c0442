// SPDX-License-Identifier: MIT
#include "solve/mdp/momentum.h"

#include "base/assert.h"
#include "solve/mdp/mdp.h"
#include "solve/mdp/newton.h"
#include "solve/mdp/work.h"

// What auto gives an island before it hands it over: so many sweeps over points, or over balls
// alone so many more as are as dear. Newton's method takes 5 to 20 factorisations at best, and
// one of them as long as 10 sweeps over points: no more than that is spent in vain before it
// begins.
enum { AUTO_SWEEPS = 30 };
// An island is not begun where the budget does not suffice for so many factorisations: of those
// that succeed, half take no more. It goes on with sweeps.
#define AUTO_LEAST 20.0
// What it aims at is finer than what is asked for, as the next step starts with what is left.
#define AUTO_SHARE 1e-2

uint32_t mdp_auto_sweeps(const MdpWork *work, uint32_t i) {
    ASSERT(i < work->judge.islands.count);
    const IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    uint32_t balls = 0,
             all = range.contact_end - range.contact_begin + range.row_end - range.row_begin;
    for (uint32_t k = range.contact_begin; k < range.contact_end; k++) {
        balls += work->pack.kind[k] == MDP_BALL;
    }
    uint64_t dear = (uint64_t)MDP_BALLS_PER_POINT * all,
             cost = dear - (uint64_t)(MDP_BALLS_PER_POINT - 1) * balls;
    uint32_t sweeps = all == 0 ? AUTO_SWEEPS : (uint32_t)(AUTO_SWEEPS * dear / cost);
    return sweeps < work->sweep_max ? sweeps : work->sweep_max;
}

// Islands of a group go on from where their sweeps ended.
static Status reopen(MdpWork *work, MdpGroup *group, const uint32_t *more) {
    bool is_any = false;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        MdpIsland *island = &work->pack.island[i];
        // what ended before had a reason
        if (more[i] > 0 && mdp_island_is_swept(island)) {
            judge_go_on(&work->judge, i);
            work->pack.sum[i].is_done = false;
            group->open++;
            island->sweep_max += more[i];
            mdp_momentum_begin(&work->pack, i);
            is_any = true;
        }
    }
    return is_any ? mdp_for_shares(work, group, mdp_reload_share) : STATUS_OK;
}

Status mdp_sweep_more(MdpWork *work, const uint32_t *more) {
    ASSERT(more != NULL);
    Judge *judge = &work->judge;
    Status status = STATUS_OK;
    bool is_open = false;
    uint32_t before = mdp_most_sweeps(work);
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        status = reopen(work, &work->pack.group[i], more);
        is_open = is_open || work->pack.group[i].open > 0;
    }
    if (judge->context->history != NULL) {
        for (uint32_t i = judge->result->iterations + 1; status == STATUS_OK && is_open; i++) {
            status = mdp_sweep_watched(work, i, &is_open);
        }
    }
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        status = mdp_sweep_on(work, i);
    }
    judge->result->iterations += mdp_most_sweeps(work) - before;
    return status;
}

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for Newton's method.");
}

// What Newton's method has left goes on with sweeps, and is said to have had too small a budget.
static Status sweep_left(MdpWork *work, const bool *is_left) {
    Judge *judge = &work->judge;
    uint32_t *more = arena_take_zeroed(judge->arena, judge->islands.count, sizeof(*more));
    if (more == NULL) {
        return no_memory(judge->error);
    }
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        uint32_t had = work->pack.island[i].sweep_max;
        more[i] = is_left[i] && had < work->sweep_max ? work->sweep_max - had : 0;
    }
    Status status = mdp_sweep_more(work, more);
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        if (is_left[i]) {
            judge->island[i].reason = END_BUDGET;
        }
    }
    return judge_is_late(judge, status) ? mdp_judge_open(work) : status;
}

static bool is_any_open(const Judge *judge) {
    bool is_any = false;
    for (uint32_t i = 0; i < judge->islands.count && !is_any; i++) {
        is_any = !judge->island[i].is_met;
    }
    return is_any;
}

Status mdp_auto(MdpWork *work, double budget) {
    ASSERT(work->is_auto);
    ASSERT(!(budget < 0.0));
    Judge *judge = &work->judge;
    Status status = mdp_sweep_all(work);
    if (status != STATUS_OK || judge->is_late || judge->is_spent || !is_any_open(judge)) {
        return status;
    }
    bool *is_left = arena_take_zeroed(judge->arena, judge->islands.count, sizeof(*is_left));
    if (is_left == NULL) {
        return no_memory(judge->error);
    }
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        is_left[i] = !judge->island[i].is_met; // those that have no turn, too
    }
    const MdpNewton newton = {.tolerance = work->tolerance * AUTO_SHARE,
                              .iterations_max = HUGE_VAL,
                              .operations_max = budget,
                              .least = AUTO_LEAST,
                              .is_left = is_left};
    MdpSpent spent;
    status = mdp_newton(judge, &newton, &spent);
    judge->result->is_in_vain = spent.vain > MDP_EASY_SHARE * budget;
    return status == STATUS_OK && !judge->is_late ? sweep_left(work, is_left) : status;
}
