// SPDX-License-Identifier: MIT
// Maximum dissipation principle with Gauss-Seidel over contacts: Preclik, Eibl, Ruede, "The maximum
// dissipation principle in rigid-body dynamics with inelastic impacts". Sweeps, with momentum from
// one to the next, go on until the largest change of an impulse, as a velocity, is small beside the
// island's scale V; then the certificate judges velocities made anew from the impulses. Where it
// says no, the test is tightened.
#include "solve/mdp.h"

#include "base/assert.h"
#include "solve/mdp_direct.h"
#include "solve/mdp_momentum.h"
#include "solve/mdp_newton.h"
#include "solve/mdp_pack.h"
#include "solve/mdp_plain.h"
#include "solve/mdp_plain.h"

// how much smaller a change is asked for after the certificate refused the one before
#define TIGHTENING 0.1
// a change of this many V in one sweep: the problem has no solution and its impulses run away
#define RUNAWAY 1e12
// what an aim may leave of what is enough: what it leaves, the next step would start with
#define FINE 1e-3

// the operations of several groups between two questions whether to stop
#define ROUND_OPERATIONS 1e6

// an island that takes so many sweeps is judged on the way, and at each doubling
enum { LOOK = 64 };

// What auto gives an island before it hands it over: so many sweeps over points, or over balls
// alone so many more as are as dear. Newton's method takes 5 to 20 factorisations at best, and
// one of them as long as 10 sweeps over points: no more than that is spent in vain before it
// begins.
enum { AUTO_SWEEPS = 30, BALLS_PER_POINT = 8 };
// An island is not begun where the budget does not suffice for so many factorisations: of those
// that succeed, half take no more. It goes on with sweeps.
#define AUTO_LEAST 20.0
// What it aims at is finer than what is asked for, as the next step starts with what is left.
#define AUTO_SHARE 1e-2
// Multiplications, about: a step that spends them all takes a tenth or two of a second, a solve
// half of the minute that a server has for it.
#define BUDGET_DEFAULT       3e8
#define BUDGET_SOLVE_DEFAULT 5e10

static const char *const friction_choices[] = {"maximum_dissipation", "coulomb", NULL};
static const char *const method_choices[] = {"gauss_seidel", "newton", "auto", NULL};

const ParameterRow mdp_parameters[MDP_PARAMETER_COUNT] = {
    [MDP_TOLERANCE] = {"tolerance", PARAMETER_NUMBER, "", 1e-15, 1.0, 1e-6, 1e-6, NULL,
                       "largest own residual of a converged answer, as a share of the velocity "
                       "scale V"},
    [MDP_MAX_ITERATIONS] =
        {"max_iterations", PARAMETER_COUNT, "", 1.0, 1e7, 200.0, 100000.0, NULL,
         "sweeps after which the solver stops with an island, converged or not; newton: "
         "factorisations, and never more than 1000; auto: sweeps of an island that its budget is "
         "too small for"},
    [MDP_FRICTION] = {"friction", PARAMETER_CHOICE, "", 0.0, 1.0, MDP_COULOMB, MDP_COULOMB,
                      friction_choices,
                      "the law of a sliding contact: exact Coulomb, or the paper's maximum "
                      "dissipation on the plane of maximum compression, under which a cube slides "
                      "at 0.98 of its friction angle"},
    [MDP_OVERLAP_CORRECTION] = {"overlap_correction", PARAMETER_NUMBER, "", 0.0, 1.0, 0.2, 0.2,
                                NULL, "share of an overlap that one step asks to remove"},
    [MDP_WARM_START] = {"warm_start", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
                        "start from the impulses of the step before"},
    [MDP_METHOD] =
        {"method", PARAMETER_CHOICE, "", 0.0, 2.0, MDP_AUTO, MDP_AUTO, method_choices,
         "how contacts are solved: gauss_seidel, one after the other, in sweeps; newton, "
         "those of an island together, by factorisations of a sparse system, to any "
         "tolerance where it succeeds; auto, at most 30 sweeps (240 where only balls touch), "
         "then by newton, within the budget, what has not come"},
    [MDP_ACCELERATION] =
        {"acceleration", PARAMETER_BOOL, "", 0.0, 1.0, 1.0, 1.0, NULL,
         "sweeps in coloured order, with momentum from one to the next and leaps; off: the paper's "
         "own, contact after contact in the order of the problem, and nothing between two sweeps"},
    [MDP_PARTITIONS] =
        {"partitions", PARAMETER_COUNT, "", 1.0, 1e6, 1.0, 1.0, NULL,
         "with acceleration off: parts that an island is cut into, no more than it has bodies; "
         "Gauss-Seidel inside a part, Jacobi between parts"},
    [MDP_RELAXATION] =
        {"relaxation", PARAMETER_NUMBER, "", 0.01, 1.0, 0.75, 0.75, NULL,
         "with acceleration off: the share of a sweep's change that an island of several parts "
         "takes"},
    [MDP_BUDGET] = {"budget", PARAMETER_NUMBER, "", 0.0, 1e15, BUDGET_DEFAULT, BUDGET_SOLVE_DEFAULT,
                    NULL,
                    "auto: multiplications, about, that newton may take in one step for all "
                    "islands, the small ones first; one that it does not suffice for, 20 "
                    "factorisations at least, goes on with sweeps"},
};

double mdp_bias(const double *parameter, double time_step, double gap) {
    return problem_gap_bias(time_step, gap, parameter[MDP_OVERLAP_CORRECTION]);
}

// What one solve carries from part to part.
typedef struct Work {
    Judge judge;
    MdpPack pack;
    double tolerance;
    uint32_t sweep_max;
    bool coulomb, is_auto;
    bool is_plain; // without acceleration
    MdpBlend blend;
} Work;

// ---- in and out of a group, by share

static void load_share(void *data, uint32_t share) {
    Work *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_pack_load(&work->pack, work->judge.problem->v_free, range->tree_begin, range->tree_end);
}

static void stay_share(void *data, uint32_t share) {
    Work *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_momentum_stay(&work->pack, range->tree_begin, range->tree_end);
}

static void carry_share(void *data, uint32_t share) {
    Work *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_momentum_carry(&work->pack, range->tree_begin, range->tree_end);
}

static void reload_share(void *data, uint32_t share) {
    Work *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_pack_load(&work->pack, work->judge.result->answer.v, range->tree_begin, range->tree_end);
    mdp_momentum_stay(&work->pack, range->tree_begin, range->tree_end);
}

static void store_share(void *data, uint32_t share) {
    Work *work = data;
    const IslandRange *range = &work->judge.islands.share[share].range;
    mdp_pack_store_contacts(&work->pack, range->contact_begin, range->contact_end);
}

// Of a small group at once, of a large one as tasks. Only large ones are ever given up.
static Status for_shares(Work *work, const MdpGroup *group, TaskBlock *block) {
    if (group->is_large) {
        return judge_shares(&work->judge, block, work, group->share,
                            group->share + group->share_count);
    }
    block(work, group->share);
    return STATUS_OK;
}

// ---- islands

// The impulses of islands [begin, end) of a group become the answer's.
static Status store_answer(Work *work, const MdpGroup *group, uint32_t begin, uint32_t end) {
    const Islands *islands = &work->judge.islands;
    mdp_pack_store_rows(&work->pack, group, begin, end);
    if (group->is_large) {
        return for_shares(work, group, store_share);
    }
    mdp_pack_store_contacts(&work->pack, islands->contact_first[begin],
                            islands->contact_first[end]);
    return STATUS_OK;
}

static Status judge_answer(Work *work, const MdpGroup *group, uint32_t begin, uint32_t end) {
    Status status = store_answer(work, group, begin, end);
    if (group->is_large) {
        return status == STATUS_OK ? judge_large(&work->judge, group->share) : status;
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

static Sight look_at(const Work *work, uint32_t i) {
    const MdpIsland *island = &work->pack.island[i];
    double change = work->pack.sum[i].largest;
    double limit = island->aims ? FINE * island->enough : island->enough;
    // written so that what is not a number does not go on
    if (!(change < RUNAWAY * RUNAWAY)) {
        return SIGHT_RUNAWAY;
    }
    if (change == 0.0 || island->sweeps == island->sweep_max) {
        return SIGHT_LAST;
    }
    if (!(change > limit * limit)) {
        return SIGHT_ENOUGH;
    }
    return island->sweeps == island->look ? SIGHT_LOOK : SIGHT_GO_ON;
}

static void end_island(Work *work, MdpGroup *group, uint32_t i, EndReason reason) {
    work->judge.island[i].reason = reason;
    work->pack.sum[i].is_done = true;
    work->pack.sum[i].ratio = 0.0;
    group->open--;
}

// The certificate refused what the sweeps left: they are asked for less, from velocities that are
// made anew.
static Status tighten(Work *work, const MdpGroup *group, uint32_t i) {
    work->pack.island[i].enough *= TIGHTENING;
    mdp_momentum_begin(&work->pack, i);
    if (group->is_large) {
        return for_shares(work, group, reload_share);
    }
    IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    mdp_pack_load(&work->pack, work->judge.result->answer.v, range.tree_begin, range.tree_end);
    mdp_momentum_stay(&work->pack, range.tree_begin, range.tree_end);
    return STATUS_OK;
}

// An island that has been judged ends, or goes on.
static Status follow_verdict(Work *work, MdpGroup *group, uint32_t i, Sight sight) {
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
        work->pack.island[i].look *= 2;
        return STATUS_OK;
    }
    return tighten(work, group, i);
}

// Judges islands [begin, end), which are open and to be judged: several at once, as of small ones a
// few contacts each are measured together.
static Status end_islands(Work *work, MdpGroup *group, uint32_t begin, uint32_t end) {
    Status status = judge_answer(work, group, begin, end);
    for (uint32_t i = begin; i < end && status == STATUS_OK; i++) {
        status = follow_verdict(work, group, i, look_at(work, i));
    }
    return status;
}

static bool is_to_be_judged(const Work *work, uint32_t i) {
    return !work->pack.sum[i].is_done && look_at(work, i) != SIGHT_GO_ON;
}

// ---- groups

// before it is handed over
static uint32_t auto_sweeps(const Work *work, uint32_t i) {
    const IslandRange range = islands_range(&work->judge.islands, i, i + 1);
    uint32_t balls = 0,
             all = range.contact_end - range.contact_begin + range.row_end - range.row_begin;
    for (uint32_t k = range.contact_begin; k < range.contact_end; k++) {
        balls += work->pack.kind[k] == MDP_BALL;
    }
    uint64_t dear = (uint64_t)BALLS_PER_POINT * all,
             cost = dear - (uint64_t)(BALLS_PER_POINT - 1) * balls;
    uint32_t sweeps = all == 0 ? AUTO_SWEEPS : (uint32_t)(AUTO_SWEEPS * dear / cost);
    return sweeps < work->sweep_max ? sweeps : work->sweep_max;
}

static Status begin_group(Work *work, MdpGroup *group) {
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        MdpIsland *island = &work->pack.island[i];
        island->enough = work->tolerance;
        island->sweep_max = work->is_auto ? auto_sweeps(work, i) : work->sweep_max;
        island->look = LOOK;
        mdp_momentum_begin(&work->pack, i);
    }
    group->open = group->island_end - group->island_begin;
    Status status = for_shares(work, group, load_share);
    if (status == STATUS_OK) {
        status = mdp_sweep_start(&work->judge, &work->pack, group);
    }
    return status == STATUS_OK ? for_shares(work, group, stay_share) : status;
}

static Status carry_group(Work *work, const MdpGroup *group) {
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
    return is_any ? for_shares(work, group, carry_share) : STATUS_OK;
}

// Carries and sweeps what is open, and judges what comes to an end.
static Status sweep_group(Work *work, MdpGroup *group) {
    Status status = carry_group(work, group);
    if (status == STATUS_OK) {
        status = mdp_sweep(&work->judge, &work->pack, group, work->coulomb);
    }
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

// Most solves of a world at rest end with the first sweep: only others carry anything, and aim.
static Status begin_aims(Work *work) {
    bool is_begun = work->pack.is_plain || work->pack.direct != NULL;
    return is_begun ? STATUS_OK : mdp_direct_begin(&work->judge, &work->pack);
}

// Of groups [begin, end).
static Status plan_aims(Work *work, uint32_t begin, uint32_t end) {
    return work->pack.is_plain ? STATUS_OK : mdp_direct_plan(&work->judge, &work->pack, begin, end);
}

// Large islands one by one.
static Status solve_large(Work *work, uint32_t index) {
    MdpGroup *group = &work->pack.group[index];
    Status status = begin_group(work, group);
    if (status == STATUS_OK) {
        status = sweep_group(work, group);
    }
    if (status == STATUS_OK && group->open > 0) {
        status = begin_aims(work);
    }
    if (status == STATUS_OK && group->open > 0) {
        status = plan_aims(work, index, index + 1);
    }
    while (status == STATUS_OK && group->open > 0) {
        status = sweep_group(work, group);
    }
    return status;
}

// Groups of small islands that are solved at once, each by a task.
typedef struct Round {
    Work *work;
    uint32_t first, count;
    uint32_t sweeps; // that each may take
} Round;

static void begin_small(void *data, uint32_t block) {
    const Round *round = data;
    MdpGroup *group = &round->work->pack.group[round->first + block];
    (void)begin_group(round->work, group);
    (void)sweep_group(round->work, group);
}

static void go_on_small(void *data, uint32_t block) {
    const Round *round = data;
    MdpGroup *group = &round->work->pack.group[round->first + block];
    for (uint32_t i = 0; i < round->sweeps && group->open > 0; i++) {
        (void)sweep_group(round->work, group);
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
    Work *work = round->work;
    Judge *judge = &work->judge;
    Status status = plan_aims(work, round->first, round->first + round->count);
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

static Status solve_small(Work *work, uint32_t first, uint32_t count) {
    Judge *judge = &work->judge;
    Round round = {work, first, count, 1};
    tasks_run(judge->context->tasks, begin_small, &round, count);
    Status status = ask(&round);
    if (status != STATUS_OK || open_operations(&round) == 0.0) {
        return status;
    }
    status = begin_aims(work);
    if (status == STATUS_OK) {
        // what they aim with is the next groups' afterwards
        ArenaMark mark = arena_mark(judge->arena);
        status = finish_small(&round);
        arena_reset_to(judge->arena, mark);
    }
    return status;
}

// ---- for whoever asked for a history

// Measures what goes on, as if it ended here.
static Status measure_open(Work *work, const MdpGroup *group) {
    Status status = STATUS_OK;
    for (uint32_t i = group->island_begin; i < group->island_end && status == STATUS_OK; i++) {
        if (work->pack.sum[i].is_done) {
            continue;
        }
        status = store_answer(work, group, i, i + 1);
        if (status == STATUS_OK && group->is_large) {
            status = judge_measure_large(&work->judge, group->share);
        } else if (status == STATUS_OK) {
            judge_measure(&work->judge, group->share, i, i + 1);
        }
    }
    return status;
}

// One sweep of all groups, or their first.
static Status sweep_watched(Work *work, uint32_t sweep, bool *is_open) {
    Judge *judge = &work->judge;
    Status status = STATUS_OK;
    *is_open = false;
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        MdpGroup *group = &work->pack.group[i];
        status = sweep == 1 ? begin_group(work, group) : STATUS_OK;
        if (status == STATUS_OK && group->open > 0) {
            status = sweep_group(work, group);
        }
        status = status == STATUS_OK ? measure_open(work, group) : status;
        *is_open = *is_open || group->open > 0;
        status = status == STATUS_OK ? judge_ask(judge, group->operations) : status;
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
static Status solve_watched(Work *work) {
    bool is_open;
    Status status = sweep_watched(work, 1, &is_open);
    if (status == STATUS_OK && is_open) {
        status = begin_aims(work);
    }
    if (status == STATUS_OK && is_open) {
        status = plan_aims(work, 0, work->pack.group_count);
    }
    for (uint32_t sweep = 2; status == STATUS_OK && is_open; sweep++) {
        status = sweep_watched(work, sweep, &is_open);
    }
    return status;
}

static Status solve_groups(Work *work) {
    const MdpPack *pack = &work->pack;
    Status status = STATUS_OK;
    uint32_t end;
    for (uint32_t i = 0; i < pack->group_count && status == STATUS_OK; i = end) {
        end = i + 1;
        if (pack->group[i].is_large) {
            status = solve_large(work, i);
            continue;
        }
        while (end < pack->group_count && end - i < JUDGE_WINDOW && !pack->group[end].is_large) {
            end++;
        }
        status = solve_small(work, i, end - i);
    }
    return status;
}

// ---- the whole

static uint32_t most_sweeps(const Work *work) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < work->judge.islands.count; i++) {
        uint32_t sweeps = work->pack.island[i].sweeps;
        most = sweeps > most ? sweeps : most;
    }
    return most;
}

static Status lay_out(Work *work) {
    Judge *judge = &work->judge;
    Status status = mdp_pack_begin(judge, work->is_plain, &work->pack);
    if (status == STATUS_OK) {
        status = judge_survey(judge, mdp_pack_survey, &work->pack);
    }
    if (status == STATUS_OK) {
        status = mdp_pack_end(judge, &work->pack);
    }
    return status == STATUS_OK && work->is_plain ? mdp_plain_begin(judge, &work->pack, &work->blend)
                                                 : status;
}

// The solve has met its limit: what is under way is judged as it stands.
static Status judge_open(Work *work) {
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
            status = judge_answer(work, group, i, i + 1);
        }
    }
    return status;
}

static Status sweep_all(Work *work) {
    Judge *judge = &work->judge;
    Status status = lay_out(work);
    if (status != STATUS_OK) {
        return status;
    }
    judge_limit(judge);
    status = judge->context->history != NULL ? solve_watched(work) : solve_groups(work);
    judge->result->iterations = most_sweeps(work);
    return judge_is_late(judge, status) ? judge_open(work) : status;
}

// ---- auto

// Islands of a group go on from where their sweeps ended.
static Status reopen(Work *work, MdpGroup *group, const bool *is_left) {
    bool is_any = false;
    for (uint32_t i = group->island_begin; i < group->island_end; i++) {
        MdpIsland *island = &work->pack.island[i];
        // what ended before had a reason
        if (is_left[i] && island->sweeps == island->sweep_max &&
            island->sweep_max < work->sweep_max) {
            judge_go_on(&work->judge, i);
            work->pack.sum[i].is_done = false;
            group->open++;
            island->sweep_max = work->sweep_max;
            mdp_momentum_begin(&work->pack, i);
            is_any = true;
        }
    }
    return is_any ? for_shares(work, group, reload_share) : STATUS_OK;
}

static Status sweep_on(Work *work, uint32_t index) {
    MdpGroup *group = &work->pack.group[index];
    if (group->open == 0) {
        return STATUS_OK;
    }
    Judge *judge = &work->judge;
    Status status = begin_aims(work);
    ArenaMark mark = arena_mark(judge->arena);
    if (status == STATUS_OK && group->is_large) {
        status = plan_aims(work, index, index + 1);
        while (status == STATUS_OK && group->open > 0) {
            status = sweep_group(work, group);
        }
    } else if (status == STATUS_OK) {
        Round round = {work, index, 1, 1};
        status = finish_small(&round);
    }
    arena_reset_to(judge->arena, mark);
    return status;
}
// What Newton's method has left goes on with sweeps, and is said to have had too small a budget.
static Status sweep_left(Work *work, const bool *is_left) {
    Judge *judge = &work->judge;
    Status status = STATUS_OK;
    bool is_open = false;
    uint32_t before = most_sweeps(work);
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        status = reopen(work, &work->pack.group[i], is_left);
        is_open = is_open || work->pack.group[i].open > 0;
    }
    if (judge->context->history != NULL) {
        for (uint32_t i = judge->result->iterations + 1; status == STATUS_OK && is_open; i++) {
            status = sweep_watched(work, i, &is_open);
        }
    }
    for (uint32_t i = 0; i < work->pack.group_count && status == STATUS_OK; i++) {
        status = sweep_on(work, i);
    }
    judge->result->iterations += most_sweeps(work) - before;
    for (uint32_t i = 0; i < judge->islands.count; i++) {
        if (is_left[i]) {
            judge->island[i].reason = END_BUDGET;
        }
    }
    return judge_is_late(judge, status) ? judge_open(work) : status;
}

static bool is_any_open(const Judge *judge) {
    bool is_any = false;
    for (uint32_t i = 0; i < judge->islands.count && !is_any; i++) {
        is_any = !judge->island[i].is_met;
    }
    return is_any;
}

static Status solve_auto(Work *work, const double *parameter) {
    Judge *judge = &work->judge;
    Status status = sweep_all(work);
    if (status != STATUS_OK || judge->is_late || !is_any_open(judge)) {
        return status;
    }
    bool *is_left = arena_take_zeroed(judge->arena, judge->islands.count, sizeof(*is_left));
    if (is_left == NULL) {
        return error_set(judge->error, STATUS_RESOURCE_EXHAUSTED, NULL,
                         "The solver's memory is too small for Newton's method.");
    }
    const MdpNewton newton = {.tolerance = work->tolerance * AUTO_SHARE,
                              .iterations_max = HUGE_VAL,
                              .operations_max = parameter[MDP_BUDGET],
                              .least = AUTO_LEAST,
                              .is_left = is_left};
    status = mdp_newton(judge, &newton);
    return status == STATUS_OK && !judge->is_late ? sweep_left(work, is_left) : status;
}

static Status solve_newton(Work *work, const double *parameter) {
    Judge *judge = &work->judge;
    Status status = judge_survey(judge, NULL, NULL);
    if (status != STATUS_OK) {
        return status;
    }
    judge_limit(judge);
    const MdpNewton newton = {.tolerance = work->tolerance,
                              .iterations_max = parameter[MDP_MAX_ITERATIONS],
                              .operations_max = HUGE_VAL,
                              .least = 1.0};
    return mdp_newton(judge, &newton);
}

static Status run(Work *work, const double *parameter) {
    Status status = parameter[MDP_METHOD] == MDP_NEWTON ? solve_newton(work, parameter)
                    : work->is_auto                     ? solve_auto(work, parameter)
                                                        : sweep_all(work);
    return status == STATUS_OK ? judge_end(&work->judge) : status;
}

Status mdp_solve(const ContactProblem *problem, const SolverSettings *settings,
                 const Context *context, Arena *arena, SolveResult *result, Error *error) {
    ASSERT(solver_has_work(problem));
    const double *parameter = settings->parameter;
    ASSERT(parameter[MDP_MAX_ITERATIONS] >= 1.0);
    bool coulomb = parameter[MDP_FRICTION] == MDP_COULOMB;
    Work work = {.tolerance = parameter[MDP_TOLERANCE],
                 .sweep_max = (uint32_t)parameter[MDP_MAX_ITERATIONS],
                 .coulomb = coulomb,
                 .is_plain = parameter[MDP_ACCELERATION] == 0.0,
                 .blend = {(uint32_t)parameter[MDP_PARTITIONS], parameter[MDP_RELAXATION]},
                 .is_auto = parameter[MDP_METHOD] == MDP_AUTO};
    Status status = judge_begin(&work.judge, problem,
                                coulomb ? RELATION_CONE : RELATION_DISSIPATION, work.tolerance,
                                parameter[MDP_WARM_START] != 0.0, context, arena, result, error);
    return status == STATUS_OK ? run(&work, parameter) : status;
}
