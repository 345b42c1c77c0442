// SPDX-License-Identifier: MIT
// A balanced effort, and a fast one. An island may take so many sweeps, with momentum held while it
// moves (momentum.h), and leaves when it is met. Nothing beats sweeps below some five hundred of
// them where more than ten bodies lean on each other, and what small islands leave over of theirs
// goes to the island that is furthest from its tolerance. Newton's method, of which one
// factorisation takes as long as a dozen sweeps, is for two cases: what is small is handed over to
// it after as many sweeps as an exact effort gives; and what rests is solved once, on credit, and
// then stays solved for as good as nothing.
#include "solve/mdp/mdp.h"

#include "base/assert.h"
#include "solve/mdp/newton.h"
#include "solve/mdp/work.h"

enum {
    FAST_SWEEPS = 8,
    BALANCED_SWEEPS = 100,
    AIM_AFTER = 28,      // sweeps of an island that is on the move: what slides lets it miss
    AIM_SWEEPS = 5,      // that an aim at a small island's linear system takes as long as, about
    SETTLING = 4,        // without momentum, at the end: leaves a tenth less
    FACTORISATIONS = 30, // of Newton's method, that an island may have
    OWED_MAX = 64
};

// A sweep over one contact takes as long as so many multiplications of Newton's method: 54 to 110
// ns beside 2.0 to 2.2 of them in a nanosecond, from 5 to 450 contacts.
#define SWEEP_MULTIPLICATIONS 150.0
// Contacts and rows of an island that is small, and the multiplications of a step for all of those:
// ten milliseconds. A dozen bodies of a heap take 14 factorisations where the step before was
// solved, and hundreds where it was left open.
#define SMALL_SIZE            128.0
#define SMALL_MULTIPLICATIONS 2e7
// What Newton's method aims at, of the tolerance: the next step starts with what is left.
#define AIM 1e-2

// An island whose contacts move no faster than this many g h without impulses is at rest.
#define REST_FALLS 4.0

static double size_of(const MdpWork *work, uint32_t i) {
    IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    return (double)(range.contact_end - range.contact_begin) +
           (double)(range.row_end - range.row_begin);
}

bool mdp_anytime_is_small(const MdpWork *work, uint32_t island) {
    return size_of(work, island) <= SMALL_SIZE;
}

uint32_t mdp_anytime_share(EffortKind effort) {
    ASSERT((unsigned)effort < EFFORT_COUNT);
    static const uint32_t sweeps[EFFORT_COUNT] = {
        [EFFORT_BALANCED] = BALANCED_SWEEPS, [EFFORT_FAST] = FAST_SWEEPS};
    return sweeps[effort];
}

bool mdp_anytime_rests(const Judge *judge, uint32_t island) {
    return judge->scale.v_scale[island] <= REST_FALLS * certificate_scale_least(judge->problem);
}

// A fast effort is where a balanced one is after as many sweeps, so its aims count for nothing.
MdpCount mdp_anytime_count(const MdpWork *work) {
    return (MdpCount){.aim = work->sweep_share > FAST_SWEEPS ? AIM_SWEEPS : 0,
                      .wait = work->sweep_share > 0 ? AIM_AFTER : 0,
                      .settling = work->sweep_share > FAST_SWEEPS ? SETTLING : 0};
}

uint32_t mdp_anytime_look(const MdpWork *work) {
    return work->sweep_share > FAST_SWEEPS ? FAST_SWEEPS : 0;
}

// ---- after the last

static bool is_open(const MdpWork *work, uint32_t i) {
    return !work->judge.island[i].is_met && mdp_pack_sweeps(&work->pack, i);
}

static bool may_go_on(const MdpWork *work, Status status) {
    return status == STATUS_OK && !work->judge.is_late && !work->judge.is_spent;
}

// What islands have not taken of their shares, in sweeps over one contact.
static double left_over(const MdpWork *work) {
    double left = 0.0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        const MdpIsland *island = &work->pack.island[i];
        uint32_t taken = mdp_island_taken(island);
        left += taken < work->sweep_share ? (work->sweep_share - taken) * size_of(work, i) : 0.0;
    }
    return left;
}

// The open island that is furthest from its tolerance and can still be helped; else as many as
// there are.
static uint32_t find_worst(const MdpWork *work) {
    const Judge *judge = &work->judge;
    uint32_t worst = judge->islands.count;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        // one that stalled has sweeps left, though Newton's method came to its end since: it would
        // be asked for ever
        const MdpIsland *island = &work->pack.island[i];
        bool has_room = mdp_island_is_swept(island) && island->sweep_max < work->sweep_max;
        if (has_room && is_open(work, i) && judge->island[i].reason == END_ITERATIONS &&
            (worst == judge->islands.count || judge->island[i].best > judge->island[worst].best)) {
            worst = i;
        }
    }
    return worst;
}

// The worst island goes on with what is left over, until nothing of that is left.
static Status spend_left_over(MdpWork *work, uint32_t *more) {
    const Judge *judge = &work->judge;
    Status status = STATUS_OK;
    double left = left_over(work);
    uint32_t worst = find_worst(work);
    while (status == STATUS_OK && worst < judge->islands.count && left >= size_of(work, worst)) {
        const MdpIsland *island = &work->pack.island[worst];
        uint32_t before = mdp_island_taken(island), room = work->sweep_max - island->sweep_max;
        double most = left / size_of(work, worst);
        more[worst] = most < room ? (uint32_t)most : room;
        status = mdp_sweep_more(work, more);
        more[worst] = 0;
        left -= (mdp_island_taken(island) - before) * size_of(work, worst);
        worst = find_worst(work);
    }
    return status;
}

// Newton's method for the islands that are asked, if any is, from where their sweeps ended.
static Status solve_asked(MdpWork *work, const bool *is_asked, double budget, double most,
                          MdpSpent *spent) {
    const MdpNewton newton = {.tolerance = AIM * work->tolerance,
                              .iterations_max = most,
                              .operations_max = budget,
                              .least = 1.0,
                              .is_asked = is_asked};
    bool is_any = false;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        is_any = is_any || is_asked[i];
    }
    *spent = (MdpSpent){0};
    return is_any ? mdp_newton(&work->judge, &newton, spent) : STATUS_OK;
}

// What is small, without credit.
static Status solve_small(MdpWork *work, bool *is_asked, double budget) {
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        is_asked[i] = is_open(work, i) && mdp_anytime_is_small(work, i);
    }
    MdpSpent spent;
    return solve_asked(work, is_asked, fmin(SMALL_MULTIPLICATIONS, budget), HUGE_VAL, &spent);
}

// What rests, on credit: it is owed for as many steps as it could have had sweeps for.
static Status borrow(MdpWork *work, bool *is_asked, double budget) {
    const Judge *judge = &work->judge;
    double step = 0.0;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        is_asked[i] =
            is_open(work, i) && !mdp_anytime_is_small(work, i) && mdp_anytime_rests(judge, i);
        step += BALANCED_SWEEPS * SWEEP_MULTIPLICATIONS * size_of(work, i);
    }
    MdpSpent spent;
    Status status = solve_asked(work, is_asked, budget, FACTORISATIONS, &spent);
    if (spent.all > 0.0) {
        const double steps = ceil(spent.all / step);
        judge->result->owed = steps < OWED_MAX ? (uint32_t)steps : OWED_MAX;
        judge->result->is_in_vain = spent.vain > 0.0;
    }
    return status;
}

static void say_why(const MdpWork *work) {
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        if (is_open(work, i) && work->judge.island[i].reason == END_ITERATIONS) {
            work->judge.island[i].reason = END_BUDGET;
        }
    }
}

Status mdp_anytime(MdpWork *work, const Effort *effort, double budget) {
    ASSERT(work->sweep_share > 0);
    ASSERT(!(budget < 0.0));
    Judge *judge = &work->judge;
    Status status = mdp_sweep_all(work);
    if (!may_go_on(work, status)) {
        return status;
    }
    size_t count = judge->islands.count;
    uint32_t *more = arena_take_zeroed(judge->arena, count, sizeof(*more));
    bool *is_asked = arena_take_zeroed(judge->arena, count, sizeof(*is_asked));
    if (more == NULL || is_asked == NULL) {
        return error_set(judge->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for what sweeps have left.");
    }
    if (may_go_on(work, status) && effort->kind == EFFORT_BALANCED) {
        status = solve_small(work, is_asked, budget);
    }
    if (may_go_on(work, status) && effort->kind == EFFORT_BALANCED) {
        status = spend_left_over(work, more);
        status = judge_is_late(judge, status) ? mdp_judge_open(work) : status;
    }
    if (may_go_on(work, status) && effort->kind == EFFORT_BALANCED && effort->may_borrow) {
        status = borrow(work, is_asked, budget);
    }
    say_why(work);
    return status;
}
