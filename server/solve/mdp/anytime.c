// SPDX-License-Identifier: MIT
// A balanced effort, and a fast one. An island may take so many sweeps, with momentum held while it
// moves (momentum.h), and leaves when it is met. Nothing beats sweeps below some five hundred of
// them where more than ten bodies lean on each other, and what small islands leave over of theirs
// goes to the island that is furthest from its tolerance. Newton's method, of which one
// factorisation takes as long as a dozen sweeps, is for two cases: what is small is handed over to
// it after as many sweeps as an exact effort gives, and borrows what that takes beyond its sweeps
// as long as not much is owed; and what rests is solved once, on credit where nothing is owed, and
// then stays solved for as good as nothing.
#include "solve/mdp/mdp.h"

#include "base/assert.h"
#include "solve/mdp/newton.h"
#include "solve/mdp/work.h"

#include <string.h>

enum {
    FAST_SWEEPS = 8,
    BALANCED_SWEEPS = 100,
    AIM_AFTER = 28,      // sweeps of an island that is on the move: what slides lets it miss
    AIM_SWEEPS = 5,      // that an aim at a small island's linear system takes as long as, about
    SETTLING = 4,        // without momentum, at the end: leaves a tenth less
    FACTORISATIONS = 30, // of Newton's method, that an island which rests may borrow
    WORTHWHILE = 10,     // of them: where less is left, sweeps take an island further
    OWED_SMALL = 32,     // steps: as long as less is owed, what is small may borrow
    OWED_MAX = 64
};

// What goes with a factorisation, for each of them, as newton_cost_of_constraints has it.
#define FACTORISATION_MULTIPLICATIONS 1500.0
// Contacts and rows of an island that is small, and the multiplications that all of those may
// borrow in a step: ten milliseconds. A dozen bodies of a heap take 14 factorisations where the
// step before was solved, and hundreds where it was left open.
#define SMALL_SIZE            128.0
#define SMALL_MULTIPLICATIONS 2e7
// What is owed for is a step of so many multiplications at least, a quarter of a millisecond: who
// has a few contacts owes for no longer than who has some forty.
#define STEP_LEAST 5e5
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

bool mdp_anytime_counts(const MdpWork *work) {
    return work->sweep_share > 0 || !work->is_auto;
}

// A fast effort is where a balanced one is after as many sweeps, so its aims count for nothing.
MdpCount mdp_anytime_count(const MdpWork *work) {
    return (MdpCount){.aim = work->sweep_share > FAST_SWEEPS ? AIM_SWEEPS : 0,
                      .wait = AIM_AFTER,
                      .settling = work->sweep_share > FAST_SWEEPS ? SETTLING : 0};
}

uint32_t mdp_anytime_look(const MdpWork *work) {
    return work->sweep_share > FAST_SWEEPS ? FAST_SWEEPS : 0;
}

// ---- after the last

static Status no_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL,
                     "The solver's memory is too small for what sweeps have left.");
}

static bool is_open(const MdpWork *work, uint32_t i) {
    return !work->judge.island[i].is_met && mdp_pack_sweeps(&work->pack, i);
}

static bool may_go_on(const MdpWork *work, Status status) {
    return status == STATUS_OK && !work->judge.is_late && !work->judge.is_spent;
}

// What an island has not taken of its share.
static uint32_t sweeps_left(const MdpWork *work, uint32_t i) {
    uint32_t taken = mdp_island_taken(&work->pack.island[i]);
    return taken < work->sweep_share ? work->sweep_share - taken : 0;
}

// The same of all islands, in sweeps over one contact that is no ball's.
static double left_over(const MdpWork *work) {
    double left = 0.0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        left += sweeps_left(work, i) * mdp_pack_points(&work->pack, i);
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
static Status spend_left_over(MdpWork *work, uint32_t *more, double left) {
    const Judge *judge = &work->judge;
    Status status = STATUS_OK;
    uint32_t worst = find_worst(work);
    while (status == STATUS_OK && worst < judge->islands.count &&
           left >= mdp_pack_points(&work->pack, worst)) {
        const MdpIsland *island = &work->pack.island[worst];
        uint32_t before = mdp_island_taken(island), room = work->sweep_max - island->sweep_max;
        double most = left / mdp_pack_points(&work->pack, worst);
        more[worst] = most < room ? (uint32_t)most : room;
        status = mdp_sweep_more(work, more);
        more[worst] = 0;
        left -= (mdp_island_taken(island) - before) * mdp_pack_points(&work->pack, worst);
        worst = find_worst(work);
    }
    return status;
}

// What Newton's method may have.
typedef struct Loan {
    double budget; // multiplications
    double most;   // factorisations of an island
    double least;  // of these: an island that is left less is not begun
    bool *is_left; // Nullable: which those are
} Loan;

// Newton's method for the islands that are asked, if any is, from where their sweeps ended.
static Status solve_asked(MdpWork *work, const bool *is_asked, const Loan *loan, MdpSpent *spent) {
    const MdpNewton newton = {.tolerance = AIM * work->tolerance,
                              .iterations_max = loan->most,
                              .operations_max = loan->budget,
                              .least = loan->least,
                              .is_left = loan->is_left,
                              .is_asked = is_asked};
    bool is_any = false;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        is_any = is_any || is_asked[i];
    }
    *spent = (MdpSpent){0};
    return is_any ? mdp_newton(&work->judge, &newton, spent) : STATUS_OK;
}

// What was borrowed is owed for as many steps as could have had sweeps for it.
static void owe(const MdpWork *work, double multiplications) {
    double step = 0.0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        step += BALANCED_SWEEPS * MDP_SWEEP_MULTIPLICATIONS * mdp_pack_points(&work->pack, i);
    }
    SolveResult *result = work->judge.result;
    const double steps = result->owed + ceil(multiplications / fmax(step, STEP_LEAST));
    result->owed = steps < OWED_MAX ? (uint32_t)steps : OWED_MAX;
}

// What is small, on credit, but for what all have left over: that is taken.
static Status solve_small(MdpWork *work, bool *is_asked, double budget, double *left) {
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        is_asked[i] = is_open(work, i) && mdp_anytime_is_small(work, i);
    }
    const Loan loan = {fmin(SMALL_MULTIPLICATIONS, budget), HUGE_VAL, 1.0, NULL};
    MdpSpent spent;
    Status status = solve_asked(work, is_asked, &loan, &spent);
    const double own = MDP_SWEEP_MULTIPLICATIONS * *left;
    if (spent.all > own) {
        owe(work, spent.all - own);
    }
    *left = fmax(0.0, *left - spent.all / MDP_SWEEP_MULTIPLICATIONS);
    return status;
}

// What is small and was not for Newton's method takes its share to the end.
static Status sweep_small(MdpWork *work, const bool *is_asked, const bool *is_left, uint32_t *more,
                          double *left) {
    Judge *judge = &work->judge;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        const bool goes_on = is_open(work, i) && mdp_anytime_is_small(work, i) &&
                             (!is_asked[i] || is_left[i]) &&
                             mdp_island_is_swept(&work->pack.island[i]);
        const uint32_t room = work->sweep_max - work->pack.island[i].sweep_max,
                       share = sweeps_left(work, i);
        more[i] = !goes_on ? 0 : share < room ? share : room;
        judge->island[i].reason = more[i] > 0 ? END_ITERATIONS : judge->island[i].reason;
        *left -= more[i] * mdp_pack_points(&work->pack, i);
    }
    Status status = mdp_sweep_more(work, more);
    memset(more, 0, judge->islands.count * sizeof(*more));
    return judge_is_late(judge, status) ? mdp_judge_open(work) : status;
}

// What is small, without credit: of what others have left over, as far as that is for Newton's
// method; else its sweeps go on.
static Status solve_small_within(MdpWork *work, bool *is_asked, uint32_t *more, double budget,
                                 double *left) {
    Judge *judge = &work->judge;
    bool *is_left = arena_take_zeroed(judge->arena, judge->islands.count, sizeof(*is_left));
    if (is_left == NULL) {
        return no_memory(judge->error);
    }
    const double all = fmin(MDP_SWEEP_MULTIPLICATIONS * *left, budget);
    double kept = 0.0; // for those that go on with sweeps
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        is_asked[i] = is_open(work, i) && mdp_anytime_is_small(work, i) &&
                      WORTHWHILE * FACTORISATION_MULTIPLICATIONS * size_of(work, i) <= all;
        kept += is_open(work, i) && !is_asked[i]
                    ? sweeps_left(work, i) * mdp_pack_points(&work->pack, i)
                    : 0.0;
    }
    const Loan loan = {fmax(0.0, all - MDP_SWEEP_MULTIPLICATIONS * kept), FACTORISATIONS,
                       WORTHWHILE, is_left};
    MdpSpent spent;
    Status status = solve_asked(work, is_asked, &loan, &spent);
    *left = fmax(0.0, *left - spent.all / MDP_SWEEP_MULTIPLICATIONS);
    return may_go_on(work, status) ? sweep_small(work, is_asked, is_left, more, left) : status;
}

// What rests, on credit.
static Status borrow(MdpWork *work, bool *is_asked, double budget) {
    const Judge *judge = &work->judge;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        is_asked[i] =
            is_open(work, i) && !mdp_anytime_is_small(work, i) && mdp_anytime_rests(judge, i);
    }
    const Loan loan = {budget, FACTORISATIONS, 1.0, NULL};
    MdpSpent spent;
    Status status = solve_asked(work, is_asked, &loan, &spent);
    if (spent.all > 0.0) {
        owe(work, spent.all);
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

// After the sweeps of a balanced effort, whose share they were.
static Status go_on(MdpWork *work, const Effort *effort, double budget) {
    Judge *judge = &work->judge;
    size_t count = judge->islands.count;
    uint32_t *more = arena_take_zeroed(judge->arena, count, sizeof(*more));
    bool *is_asked = arena_take_zeroed(judge->arena, count, sizeof(*is_asked));
    if (more == NULL || is_asked == NULL) {
        return no_memory(judge->error);
    }
    double left = left_over(work);
    Status status = effort->owed < OWED_SMALL
                        ? solve_small(work, is_asked, budget, &left)
                        : solve_small_within(work, is_asked, more, budget, &left);
    if (may_go_on(work, status)) {
        status = spend_left_over(work, more, left);
        status = judge_is_late(judge, status) ? mdp_judge_open(work) : status;
    }
    return may_go_on(work, status) && effort->owed == 0 ? borrow(work, is_asked, budget) : status;
}

Status mdp_anytime(MdpWork *work, const Effort *effort, double budget) {
    ASSERT(work->sweep_share > 0);
    ASSERT(!(budget < 0.0));
    Status status = mdp_sweep_all(work);
    if (!may_go_on(work, status)) {
        return status;
    }
    status = effort->kind == EFFORT_BALANCED ? go_on(work, effort, budget) : STATUS_OK;
    say_why(work);
    return status;
}
