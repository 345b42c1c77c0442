// SPDX-License-Identifier: MIT
#include "solve/mdp/momentum.h"

#include "base/assert.h"
#include "solve/mdp/work.h"

// how much smaller a change is asked for after the certificate refused the one before
#define TIGHTENING 0.1
// a change of this many V in one sweep: the problem has no solution and its impulses run away
#define RUNAWAY 1e12
// what an aim may leave of what is enough: what it leaves, the next step would start with
#define FINE 1e-3

// an island that takes so many sweeps is judged on the way, and at each doubling
enum { LOOK = 64 };

// ---- in and out of a group, by share

// Velocities of trees at places [begin, end), and of the copies that parts of islands sweep.
static void load(const MdpPack *pack, const double *v, uint32_t begin, uint32_t end) {
    mdp_pack_load(pack, v, begin, end);
    if (pack->plain != NULL) {
        mdp_plain_spread(pack, begin, end);
    }
}

static void load_share(void *data, uint32_t share) {
    MdpWork *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    load(&work->pack, work->judge.problem->v_free, range->tree_begin, range->tree_end);
}

static void stay_share(void *data, uint32_t share) {
    MdpWork *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_momentum_stay(&work->pack, range->tree_begin, range->tree_end);
}

static void carry_share(void *data, uint32_t share) {
    MdpWork *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_momentum_carry(&work->pack, range->tree_begin, range->tree_end);
}

void mdp_reload_share(void *data, uint32_t share) {
    ASSERT(share < ((const MdpWork *)data)->judge.islands.share_count);
    MdpWork *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    load(&work->pack, work->judge.result->answer.v, range->tree_begin, range->tree_end);
    mdp_momentum_stay(&work->pack, range->tree_begin, range->tree_end);
}

static void store_share(void *data, uint32_t share) {
    MdpWork *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_pack_store_contacts(&work->pack, range->contact_begin, range->contact_end);
}

Status mdp_for_shares(MdpWork *work, const MdpGroup *group, TaskBlock *block) {
    ASSERT(group->share + group->share_count <= work->judge.islands.share_count);
    if (group->is_large) {
        return judge_shares(&work->judge, block, work, group->share,
                            group->share + group->share_count);
    }
    block(work, group->share);
    return STATUS_OK;
}

// ---- islands

Status mdp_group_store(MdpWork *work, const MdpGroup *group, uint32_t begin, uint32_t end) {
    ASSERT(begin >= group->island_begin && begin <= end);
    ASSERT(end <= group->island_end);
    const Islands *islands = &work->judge.islands;
    mdp_pack_store_rows(&work->pack, group, begin, end);
    if (group->is_large) {
        return mdp_for_shares(work, group, store_share);
    }
    mdp_pack_store_contacts(&work->pack, islands->contact_first[begin],
                            islands->contact_first[end]);
    return STATUS_OK;
}

Status mdp_group_judge(MdpWork *work, const MdpGroup *group, uint32_t begin, uint32_t end) {
    ASSERT(begin >= group->island_begin && begin < end);
    ASSERT(end <= group->island_end);
    Status status = mdp_group_store(work, group, begin, end);
    if (group->is_large) {
        return STATUS_THEN(status, judge_large(&work->judge, group->share));
    }
    judge_islands(&work->judge, group->share, begin, end);
    return status;
}

// What a sweep has shown of an island.
typedef enum Sight {
    SIGHT_GO_ON,
    SIGHT_LOOK,    // it goes on, and is judged on the way
    SIGHT_ENOUGH,  // it changes so little that it may be met
    SIGHT_LAST,    // it has had all its sweeps, or is a fixed point to the last bit
    SIGHT_RUNAWAY, // it will not get better
} Sight;

static Sight look_at(const MdpWork *work, uint32_t i) {
    const MdpIsland *island = &work->pack.island[i];
    double change = work->pack.sum[i].largest;
    double limit = island->aims ? FINE * island->enough : island->enough;
    // written so that what is not a number does not go on
    if (!(change < RUNAWAY * RUNAWAY)) {
        return SIGHT_RUNAWAY;
    }
    if (change == 0.0 || mdp_island_is_swept(island)) {
        return SIGHT_LAST;
    }
    if (!(change > limit * limit)) {
        return SIGHT_ENOUGH;
    }
    return island->sweeps == island->look ? SIGHT_LOOK : SIGHT_GO_ON;
}

static void end_island(MdpWork *work, MdpGroup *group, uint32_t i, EndReason reason) {
    work->judge.island[i].reason = reason;
    work->pack.sum[i].is_done = true;
    work->pack.sum[i].ratio = 0.0;
    group->open--;
}

// The certificate refused what the sweeps left: they are asked for less, from velocities that are
// made anew.
static Status tighten(MdpWork *work, const MdpGroup *group, uint32_t i) {
    work->pack.island[i].enough *= TIGHTENING;
    mdp_momentum_begin(&work->pack, i);
    if (group->is_large) {
        return mdp_for_shares(work, group, mdp_reload_share);
    }
    IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    load(&work->pack, work->judge.result->answer.v, range.tree_begin, range.tree_end);
    mdp_momentum_stay(&work->pack, range.tree_begin, range.tree_end);
    return STATUS_OK;
}

// It was judged on the way: where a fast effort would have ended, once; else at every doubling.
static void look_back(MdpWork *work, uint32_t i) {
    work->pack.island[i].look *= work->sweep_share > 0 ? 0 : 2;
    if (work->sweep_share > 0) {
        judge_look_back(&work->judge, i);
    }
}

// An island that has been judged ends, or goes on.
static Status follow_verdict(MdpWork *work, MdpGroup *group, uint32_t i, Sight sight) {
    const Judge *judge = &work->judge;
    if (judge->island[i].is_met || sight == SIGHT_LAST) {
        bool is_fixed = work->pack.sum[i].largest == 0.0;
        end_island(work, group, i, is_fixed ? END_STALLED : END_ITERATIONS);
        return STATUS_OK;
    }
    if (sight == SIGHT_RUNAWAY) {
        // where it started may be better than where it is
        end_island(work, group, i, END_DIVERGED);
        judge_start_again(judge, i);
        if (group->is_large) {
            return judge_large(&work->judge, group->share);
        }
        judge_islands(judge, group->share, i, i + 1);
        return STATUS_OK;
    }
    judge_go_on(judge, i);
    if (sight == SIGHT_LOOK) {
        look_back(work, i);
        return STATUS_OK;
    }
    return tighten(work, group, i);
}

// Judges islands [begin, end), which are open and to be judged: several at once, as of small ones a
// few contacts each are measured together.
static Status end_islands(MdpWork *work, MdpGroup *group, uint32_t begin, uint32_t end) {
    Status status = mdp_group_judge(work, group, begin, end);
    for (uint32_t i = begin; i < end && status == STATUS_OK; i++) {
        status = follow_verdict(work, group, i, look_at(work, i));
    }
    return status;
}

static bool is_to_be_judged(const MdpWork *work, uint32_t i) {
    return !work->pack.sum[i].is_done && look_at(work, i) != SIGHT_GO_ON;
}

// ---- groups

// that an island may take, at first
static uint32_t sweeps_of(const MdpWork *work, uint32_t i) {
    if (!work->is_auto) {
        return work->sweep_max;
    }
    const uint32_t before = mdp_auto_sweeps(work, i), share = work->sweep_share;
    const bool is_counted = share > 0 && (share < before || !mdp_anytime_is_small(work, i));
    return is_counted ? share : before;
}

Status mdp_group_begin(MdpWork *work, MdpGroup *group) {
    ASSERT(group->island_begin < group->island_end);
    ASSERT(!(work->tolerance <= 0.0));
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        MdpIsland *island = &work->pack.island[i];
        island->enough = work->tolerance;
        island->sweep_max = sweeps_of(work, i);
        const bool moves = mdp_anytime_counts(work) && !mdp_anytime_rests(&work->judge, i);
        const uint32_t most = work->sweep_share > 0 ? work->sweep_share : work->sweep_max;
        island->is_held = moves && !mdp_anytime_is_small(work, i);
        island->wait_first = moves ? work->pack.count.wait : 0;
        island->has_no_aim = moves && most <= island->wait_first;
        island->look = work->sweep_share > 0 ? mdp_anytime_look(work) : LOOK;
        mdp_momentum_begin(&work->pack, i);
    }
    group->open = group->island_end - group->island_begin;
    Status status = mdp_for_shares(work, group, load_share);
    status = STATUS_THEN(status, mdp_sweep_start(&work->judge, &work->pack, group));
    return STATUS_THEN(status, mdp_for_shares(work, group, stay_share));
}

static Status carry_group(MdpWork *work, const MdpGroup *group) {
    bool is_any = false;
    if (work->pack.is_plain) {
        return STATUS_OK;
    }
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        MdpIsland *island = &work->pack.island[i];
        if (!work->pack.sum[i].is_done && !island->is_fresh) {
            mdp_momentum_decide(&work->pack, group, i, island->enough * island->enough);
            is_any = true;
        }
        island->is_fresh = false;
    }
    return is_any ? mdp_for_shares(work, group, carry_share) : STATUS_OK;
}

Status mdp_group_sweep(MdpWork *work, MdpGroup *group) {
    ASSERT(group->island_begin < group->island_end);
    Status status = carry_group(work, group);
    status = STATUS_THEN(status, mdp_sweep(&work->judge, &work->pack, group, work->coulomb));
    group->sweeps++;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        work->pack.island[i].sweeps += !work->pack.sum[i].is_done;
    }
    for (uint32_t i = group->island_begin, end; i < group->island_end && status == STATUS_OK;
         i = end) {
        end = i;
        while (end < group->island_end && is_to_be_judged(work, end)) {
            end++;
        }
        if (i < end) {
            status = end_islands(work, group, i, end);
        } else {
            end = i + 1;
        }
    }
    return status;
}
