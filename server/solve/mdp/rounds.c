// SPDX-License-Identifier: MIT
#include "solve/mdp/direct.h"

#include "base/assert.h"
#include "solve/mdp/work.h"

// the operations of several groups between two questions whether to stop
#define ROUND_OPERATIONS 1e6

// Most solves of a world at rest end with the first sweep: only others carry anything, and aim.
static Status mdp_begin_aims(MdpWork *work) {
    bool is_begun = work->pack.is_plain || work->pack.direct != NULL;
    return is_begun ? STATUS_OK : mdp_direct_begin(&work->judge, &work->pack);
}

// Of groups [begin, end).
static Status mdp_plan_aims(MdpWork *work, uint32_t begin, uint32_t end) {
    ASSERT(begin < end);
    ASSERT(end <= work->pack.group_count);
    return work->pack.is_plain ? STATUS_OK : mdp_direct_plan(&work->judge, &work->pack, begin, end);
}

// Large islands one by one.
static Status solve_large(MdpWork *work, uint32_t index) {
    ASSERT(index < work->pack.group_count);
    ASSERT(work->pack.group[index].is_large);
    MdpGroup *group = &work->pack.group[index];
    Status status = mdp_group_begin(work, group);
    status = STATUS_THEN(status, mdp_group_sweep(work, group));
    if (status == STATUS_OK && group->open > 0) {
        status = mdp_begin_aims(work);
    }
    if (status == STATUS_OK && group->open > 0) {
        status = mdp_plan_aims(work, index, index + 1);
    }
    while (status == STATUS_OK && group->open > 0) {
        status = mdp_group_sweep(work, group);
    }
    return status;
}

// Groups of small islands that are solved at once, each by a task.
typedef struct Round {
    MdpWork *work;
    uint32_t first, count;
    uint32_t sweeps; // that each may take
} Round;

static void begin_small(void *data, uint32_t block) {
    const Round *round = data;
    MdpGroup *group = &round->work->pack.group[round->first + block];
    (void)mdp_group_begin(round->work, group);
    (void)mdp_group_sweep(round->work, group);
}

static void go_on_small(void *data, uint32_t block) {
    const Round *round = data;
    MdpGroup *group = &round->work->pack.group[round->first + block];
    for (uint32_t i = 0; i < round->sweeps && group->open > 0; i++) {
        (void)mdp_group_sweep(round->work, group);
    }
}

// the operations of a sweep over what is open; 0: all are done
static double open_operations(const Round *round) {
    double operations = 0.0;
    for (uint32_t i = 0; i < round->count; i++) {
        const MdpGroup *group = &round->work->pack.group[round->first + i];
        operations += group->open > 0 ? group->operations : 0.0;
    }
    return operations;
}

// after the sweeps that groups have taken
static Status ask(const Round *round) {
    double operations = 0.0;
    for (uint32_t i = 0; i < round->count; i++) {
        MdpGroup *group = &round->work->pack.group[round->first + i];
        operations += group->operations * group->sweeps;
        group->sweeps = 0;
    }
    return judge_ask(&round->work->judge, operations);
}

// Groups after their first sweep. So that the thread that began the solve asks whether to stop,
// they come back to it now and then.
static Status finish_small(Round *round) {
    ASSERT(round->count > 0);
    MdpWork *work = round->work;
    Judge *judge = &work->judge;
    Status status = mdp_plan_aims(work, round->first, round->first + round->count);
    double operations = open_operations(round);
    while (status == STATUS_OK && operations > 0.0) {
        round->sweeps =
            operations < ROUND_OPERATIONS ? (uint32_t)(ROUND_OPERATIONS / operations) : 1;
        tasks_run(judge->context->tasks, go_on_small, round, round->count);
        status = ask(round);
        operations = open_operations(round);
    }
    return status;
}

static Status solve_small(MdpWork *work, uint32_t first, uint32_t count) {
    ASSERT(first + count <= work->pack.group_count);
    Judge *judge = &work->judge;
    Round round = {work, first, count, 1};
    tasks_run(judge->context->tasks, begin_small, &round, count);
    Status status = ask(&round);
    if (status != STATUS_OK || open_operations(&round) == 0.0) {
        return status;
    }
    status = mdp_begin_aims(work);
    if (status == STATUS_OK) {
        // what they aim with is the next groups' afterwards
        ArenaMark mark = arena_mark(judge->arena);
        status = finish_small(&round);
        arena_reset_to(judge->arena, mark);
    }
    return status;
}

Status mdp_sweep_on(MdpWork *work, uint32_t index) {
    ASSERT(index < work->pack.group_count);
    MdpGroup *group = &work->pack.group[index];
    if (group->open == 0) {
        return STATUS_OK;
    }
    Judge *judge = &work->judge;
    Status status = mdp_begin_aims(work);
    ArenaMark mark = arena_mark(judge->arena);
    if (status == STATUS_OK && group->is_large) {
        status = mdp_plan_aims(work, index, index + 1);
        while (status == STATUS_OK && group->open > 0) {
            status = mdp_group_sweep(work, group);
        }
    } else if (status == STATUS_OK) {
        Round round = {work, index, 1, 1};
        status = finish_small(&round);
    }
    arena_reset_to(judge->arena, mark);
    return status;
}

// ---- for whoever asked for a history

// Measures what goes on, as if it ended here.
static Status measure_open(MdpWork *work, const MdpGroup *group) {
    Status status = STATUS_OK;
    for (uint32_t i = group->island_begin; i < group->island_end && status == STATUS_OK; i++) {
        if (work->pack.sum[i].is_done) {
            continue;
        }
        status = mdp_group_store(work, group, i, i + 1);
        if (status == STATUS_OK && group->is_large) {
            status = judge_measure_large(&work->judge, group->share);
        } else if (status == STATUS_OK) {
            judge_measure(&work->judge, group->share, i, i + 1);
        }
    }
    return status;
}

Status mdp_sweep_watched(MdpWork *work, uint32_t sweep, bool *is_open) {
    ASSERT(sweep >= 1);
    Judge *judge = &work->judge;
    Status status = STATUS_OK;
    *is_open = false;
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        MdpGroup *group = &work->pack.group[i];
        status = sweep == 1 ? mdp_group_begin(work, group) : STATUS_OK;
        if (status == STATUS_OK && group->open > 0) {
            status = mdp_group_sweep(work, group);
        }
        status = STATUS_THEN(status, measure_open(work, group));
        *is_open = *is_open || group->open > 0;
        status = STATUS_THEN(status, judge_ask(judge, group->operations));
    }
    double most = 0.0;
    for (uint32_t i = 0; i < judge->islands.count && status == STATUS_OK; i++) {
        double own = judge_own(judge, i);
        most = own > most || own != own ? own : most;
    }
    if (status == STATUS_OK) {
        history_note(judge->context->history, sweep, most);
    }
    return status;
}

// Islands sweep by sweep, side by side, which changes nothing of what becomes of each.
static Status solve_watched(MdpWork *work) {
    bool is_open;
    Status status = mdp_sweep_watched(work, 1, &is_open);
    if (status == STATUS_OK && is_open) {
        status = mdp_begin_aims(work);
    }
    if (status == STATUS_OK && is_open) {
        status = mdp_plan_aims(work, 0, work->pack.group_count);
    }
    for (uint32_t sweep = 2; status == STATUS_OK && is_open; sweep++) {
        status = mdp_sweep_watched(work, sweep, &is_open);
    }
    return status;
}

// Small islands first: they are done when one that is large meets a limit.
static Status solve_groups(MdpWork *work) {
    const MdpPack *pack = &work->pack;
    Status status = STATUS_OK;
    uint32_t end;
    for (uint32_t i = 0; i < pack->group_count && status == STATUS_OK; i = end) {
        end = i + 1;
        if (pack->group[i].is_large) {
            continue;
        }
        while (end < pack->group_count && end - i < JUDGE_WINDOW && !pack->group[end].is_large) {
            end++;
        }
        status = solve_small(work, i, end - i);
    }
    for (uint32_t i = 0; i < pack->group_count && status == STATUS_OK; i++) {
        status = pack->group[i].is_large ? solve_large(work, i) : STATUS_OK;
    }
    return status;
}

// ---- the whole

uint32_t mdp_most_sweeps(const MdpWork *work) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        uint32_t sweeps = work->pack.island[i].sweeps;
        most = sweeps > most ? sweeps : most;
    }
    return most;
}

static Status lay_out(MdpWork *work) {
    Judge *judge = &work->judge;
    Status status = mdp_pack_begin(judge, work->is_plain, &work->pack);
    work->pack.count = mdp_anytime_count(work);
    status = STATUS_THEN(status, judge_survey(judge, mdp_pack_survey, &work->pack));
    status = STATUS_THEN(status, mdp_pack_end(judge, &work->pack));
    return status == STATUS_OK && work->is_plain ? mdp_plain_begin(judge, &work->pack, &work->blend)
                                                 : status;
}

Status mdp_judge_open(MdpWork *work) {
    ASSERT(work->pack.group_count == 0 || work->pack.group != NULL);
    Status status = STATUS_OK;
    for (uint32_t g = 0; g < work->pack.group_count; g++) {
        const MdpGroup *group = &work->pack.group[g];
        for (uint32_t i = group->island_begin; i < group->island_end && status == STATUS_OK; i++) {
            if (work->pack.sum[i].is_done) {
                continue;
            }
            if (work->judge.island[i].best < HUGE_VAL) {
                judge_go_on(&work->judge, i);
            }
            status = mdp_group_judge(work, group, i, i + 1);
            work->judge.island[i].reason = END_BUDGET; // unless it was time
        }
    }
    return status;
}

Status mdp_sweep_all(MdpWork *work) {
    ASSERT(!(work->tolerance <= 0.0));
    ASSERT(work->sweep_max > 0);
    Judge *judge = &work->judge;
    Status status = lay_out(work);
    if (status != STATUS_OK) {
        return status;
    }
    judge_limit(judge, work->operations_max);
    status = judge->context->history != NULL ? solve_watched(work) : solve_groups(work);
    judge->result->iterations = mdp_most_sweeps(work);
    return judge_is_late(judge, status) ? mdp_judge_open(work) : status;
}
