// SPDX-License-Identifier: MIT
#include "solve/mdp/momentum.h"

#include "base/assert.h"
#include "solve/mdp/direct.h"

#include <string.h>

#define GAP_MIN     1e-3 // a ratio of 0.999 remembers a thousand sweeps
#define GAP_GROWTH  2.0  // after a momentum that brought nothing
#define GAP_DECAY   0.7  // after one that did
#define GROWTH_MAX  4.0  // of the squared residual over its least, before a momentum ends
#define RATIO_HELD  0.8  // where sweeps are counted; from 0.7 to 0.85 is alike
#define GROWTH_HELD 16.0 // of the same, before a momentum that is held begins anew
#define NEAR        1e4  // of the square of what is enough: so small a change is near its end
#define FINE        1e-6 // of the same: an island that changes less has nothing left to aim at
#define WELL        1e-4 // of the squared residual: an aim that took so much may take more
#define SLOW        0.95 // the share of a change that the next one repeats, from which a leap pays

enum {
    LEAP_AFTER = 4, // plain sweeps, after which only the slowest change is left
    LEAP_OVER = LEAP_AFTER + 1,
    // carries from an aim that failed to the next, and how many times as many to the one after it:
    // a cold start soon knows which contacts push, and what still slides then does so for long
    AIM_WAIT = 2,
    AIM_WAIT_GROWTH = 4,
    NO_MORE = 1 << 30, // carries: of a share of sweeps, what is held has one aim
    AIM_PRICE = 3,     // sweeps of what is on the move, for every one that an aim took as long as
    HELD_SWEEPS = 150  // of an island, with momentum held
};

void mdp_momentum_begin(MdpPack *pack, uint32_t i) {
    ASSERT(i < pack->judge->islands.count);
    MdpIsland *island = &pack->island[i];
    island->gap = island->gap > GAP_MIN ? island->gap : GAP_MIN;
    island->age = 1.0;
    island->plain = 0;
    island->wait = island->wait_first;
    island->wait_next = AIM_WAIT;
    island->leaps = island->aims = false;
    island->is_fresh = true;
    island->residual_least = island->residual_last = HUGE_VAL;
    pack->sum[i].ratio = 0.0;
}

// Where it leapt to is better than where it came from, or the next carry goes back there.
static void land(MdpIsland *island, MdpSum *sum) {
    bool is_better = sum->residual < island->residual_plain;
    island->leaps = island->aims = false;
    island->plain = is_better ? 0 : LEAP_OVER;
    sum->ratio = is_better ? 0.0 : -1.0;
    island->age = 1.0;
    island->residual_least = island->residual_last = HUGE_VAL;
}

// A leap to the solution of a small island's linear system, when it is time for one.
static bool aim(MdpPack *pack, const MdpGroup *group, uint32_t i, double enough) {
    MdpIsland *island = &pack->island[i];
    MdpSum *sum = &pack->sum[i];
    if (sum->residual <= FINE * enough || !mdp_direct_can_aim(pack, group, i)) {
        return false;
    }
    if (island->wait > 0) {
        island->wait--;
        return false;
    }
    double took;
    const bool does_aim = mdp_direct_aim(pack, group, i, &took);
    const uint32_t price = island->wait_first > 0 ? (uint32_t)(AIM_PRICE * took) : 0;
    const uint32_t next = price > island->wait_next ? price : island->wait_next;
    island->wait = island->is_held && pack->count.aim > 0 ? NO_MORE : next;
    island->wait_next *= AIM_WAIT_GROWTH;
    island->aims_paid += pack->count.aim;
    if (!does_aim) {
        return false;
    }
    island->residual_plain = sum->residual;
    island->leaps = island->aims = true;
    sum->ratio = 1.0;
    return true;
}

// An aim that landed well is followed by another at once: the first brings the island so near that
// the linear system is exact.
static void land_aim(MdpPack *pack, const MdpGroup *group, uint32_t i, double enough) {
    MdpIsland *island = &pack->island[i];
    bool is_well = pack->sum[i].residual < WELL * island->residual_plain;
    land(island, &pack->sum[i]);
    if (is_well) {
        island->wait = 0;
        island->wait_next = AIM_WAIT;
        (void)aim(pack, group, i, enough);
    }
}

// A tower at rest has one slow way to give, which a good start leaves alone: sweep after sweep
// changes q times what the one before did. The sum of all that follows is q / (1 - q) changes, and
// is taken at once. False: this island is for the common momentum.
static bool leap(MdpPack *pack, const MdpGroup *group, uint32_t i, double enough) {
    MdpIsland *island = &pack->island[i];
    MdpSum *sum = &pack->sum[i];
    bool is_near = sum->largest <= NEAR * enough;
    if (island->aims) {
        land_aim(pack, group, i, enough);
        return true;
    }
    if (island->leaps) {
        land(island, sum);
        return true;
    }
    if (aim(pack, group, i, enough)) {
        return true;
    }
    if (island->plain >= LEAP_OVER || !is_near) {
        island->plain = LEAP_OVER;
        return false;
    }
    double q = sqrt(sum->residual / island->residual_plain);
    island->residual_plain = sum->residual;
    island->plain++;
    island->leaps = island->plain == LEAP_AFTER && q > SLOW && q < 1.0;
    sum->ratio = island->leaps ? q / (1.0 - q) : 0.0;
    return island->leaps || island->plain < LEAP_AFTER;
}

// Nesterov: t' = (1 + sqrt(1 + 4 t^2)) / 2, ratio = (t - 1) / t'
static double next_ratio(MdpIsland *island, double most) {
    double age = 0.5 * (1.0 + sqrt(1.0 + 4.0 * island->age * island->age));
    double ratio = (island->age - 1.0) / age;
    island->age = age;
    return ratio > most ? most : ratio;
}

// how far an island is carried on
static void decide(MdpIsland *island, MdpSum *sum) {
    if (sum->residual < island->residual_least) {
        island->residual_least = sum->residual;
    }
    if (sum->opposition > 0.0 || sum->residual > GROWTH_MAX * island->residual_least) {
        island->gap *= sum->residual > island->residual_last ? GAP_GROWTH : GAP_DECAY;
        island->gap = island->gap > 1.0 ? 1.0 : island->gap < GAP_MIN ? GAP_MIN : island->gap;
        island->residual_last = island->residual_least = sum->residual;
        island->age = 1.0;
        sum->ratio = 0.0;
        return;
    }
    sum->ratio = next_ratio(island, 1.0 - island->gap);
}

// The same where sweeps are counted.
static void decide_held(MdpIsland *island, MdpSum *sum, uint32_t settling) {
    if (sum->residual < island->residual_least) {
        island->residual_least = sum->residual;
    }
    if (sum->residual > GROWTH_HELD * island->residual_least) {
        island->residual_least = sum->residual;
        island->age = 1.0;
        sum->ratio = 0.0;
        return;
    }
    sum->ratio = next_ratio(island, RATIO_HELD);
    if (mdp_island_taken(island) + settling >= island->sweep_max) {
        sum->ratio = settling > 0 ? 0.0 : sum->ratio;
    }
}

void mdp_momentum_decide(MdpPack *pack, const MdpGroup *group, uint32_t island, double enough) {
    ASSERT(enough > 0.0);
    if (leap(pack, group, island, enough)) {
        return;
    }
    if (pack->island[island].is_held && pack->island[island].sweeps < HELD_SWEEPS) {
        decide_held(&pack->island[island], &pack->sum[island], pack->count.settling);
    } else {
        decide(&pack->island[island], &pack->sum[island]);
    }
}

static inline void carry_numbers(double ratio, double *restrict v, double *restrict before,
                                 uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        double z = v[k];
        v[k] = z + ratio * (z - before[k]);
        before[k] = z;
    }
}

void mdp_momentum_carry(const MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    ASSERT(end <= pack->problem->tree_count);
    const ContactProblem *problem = pack->problem;
    const Islands *islands = &pack->judge->islands;
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = islands->tree[i];
        double ratio = pack->sum[islands->of_tree[tree]].ratio;
        if (problem->all_free) {
            carry_numbers(ratio, pack->body[tree].v, pack->v_before + (size_t)6 * tree, 6);
        } else {
            carry_numbers(ratio, mdp_pack_velocity(pack, tree),
                          pack->v_before + problem->tree[tree].first, problem->tree[tree].width);
        }
    }
}

void mdp_momentum_stay(const MdpPack *pack, uint32_t begin, uint32_t end) {
    ASSERT(begin <= end);
    ASSERT(end <= pack->problem->tree_count);
    for (uint32_t i = begin; i < end; i++) {
        uint32_t tree = pack->judge->islands.tree[i];
        const ProblemTree *of = &pack->problem->tree[tree];
        memcpy(pack->v_before + of->first, mdp_pack_velocity(pack, tree),
               of->width * sizeof(double));
    }
}
