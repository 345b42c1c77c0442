// SPDX-License-Identifier: MIT
// A balanced effort, and a fast one. Every island may take so many sweeps, with momentum held
// (momentum.h), and leaves when it is met.
// Nothing beats sweeps below some five hundred of them where more than ten bodies lean on each
// other, so there is no other method but for two cases: what rests is solved by Newton's method
// once, on credit, and then stays solved for as good as nothing; and what small islands have left
// over of their sweeps goes to the island that is furthest from its tolerance.
#include "solve/mdp/mdp.h"

#include "base/assert.h"
#include "solve/mdp/newton.h"
#include "solve/mdp/work.h"

enum {
    FAST_SWEEPS = 8,
    BALANCED_SWEEPS = 100,
    AIM_SWEEPS = 5,     // that an aim at a small island's linear system takes as long as, about
    SETTLING = 4,       // without momentum, at the end: leaves a tenth less
    FACTORISATIONS = 30 // of Newton's method: as many must fit, and so many are borrowed
};

// An island whose contacts move no faster than this many g h without impulses is at rest.
#define REST_FALLS 4.0

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
                      .settling = work->sweep_share > FAST_SWEEPS ? SETTLING : 0};
}

uint32_t mdp_anytime_look(const MdpWork *work) {
    return work->sweep_share > FAST_SWEEPS ? FAST_SWEEPS : 0;
}

// ---- after the last

static double size_of(const MdpWork *work, uint32_t i) {
    IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    return (double)(range.contact_end - range.contact_begin) +
           (double)(range.row_end - range.row_begin);
}

static bool is_open(const MdpWork *work, uint32_t i) {
    return !work->judge.island[i].is_met && mdp_pack_sweeps(&work->pack, i);
}

// What islands have not taken of their shares, in sweeps over one contact.
static double left_over(const MdpWork *work) {
    double left = 0.0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        const MdpIsland *island = &work->pack.island[i];
        uint32_t taken = island->sweeps + island->aims_paid;
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
        bool may_go_on = is_open(work, i) && work->pack.island[i].sweep_max < work->sweep_max &&
                         judge->island[i].reason == END_ITERATIONS;
        if (may_go_on &&
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
        uint32_t before = work->pack.island[worst].sweeps + work->pack.island[worst].aims_paid;
        uint32_t room = work->sweep_max - work->pack.island[worst].sweep_max;
        double most = left / size_of(work, worst);
        more[worst] = most < room ? (uint32_t)most : room;
        status = mdp_sweep_more(work, more);
        more[worst] = 0;
        left -= (work->pack.island[worst].sweeps + work->pack.island[worst].aims_paid - before) *
                size_of(work, worst);
        worst = find_worst(work);
    }
    return status;
}

// What rests is solved on credit.
static Status borrow(MdpWork *work, bool *is_asked, double budget) {
    Judge *judge = &work->judge;
    bool is_any = false;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        is_asked[i] = is_open(work, i) && mdp_anytime_rests(judge, i);
        is_any = is_any || is_asked[i];
    }
    if (!is_any) {
        return STATUS_OK;
    }
    const MdpNewton newton = {.tolerance = work->tolerance,
                              .iterations_max = FACTORISATIONS,
                              .operations_max = budget,
                              .least = 1.0,
                              .is_asked = is_asked};
    double vain;
    Status status = mdp_newton(judge, &newton, &vain);
    judge->result->has_borrowed = true;
    judge->result->is_in_vain = vain > 0.0;
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
    if (status != STATUS_OK || judge->is_late || judge->is_spent) {
        return status;
    }
    size_t count = judge->islands.count;
    uint32_t *more = arena_take_zeroed(judge->arena, count, sizeof(*more));
    bool *is_asked = arena_take_zeroed(judge->arena, count, sizeof(*is_asked));
    if (more == NULL || is_asked == NULL) {
        return error_set(judge->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for what sweeps have left.");
    }
    if (effort->kind == EFFORT_BALANCED) {
        status = spend_left_over(work, more);
        status = judge_is_late(judge, status) ? mdp_judge_open(work) : status;
    }
    if (status == STATUS_OK && effort->may_borrow && effort->kind == EFFORT_BALANCED &&
        !judge->is_late && !judge->is_spent) {
        status = borrow(work, is_asked, budget);
    }
    say_why(work);
    return status;
}
