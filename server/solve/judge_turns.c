// SPDX-License-Identifier: MIT
// Whose turn it is, and what it may spend: sizes grow from pass to pass over the islands. Half of
// the budget is kept for islands by their sizes, each its share until its turn has come; of what is
// left beside, also by those that took less, any island may take half, and the last all.
#include "solve/judge.h"

#include "base/assert.h"

// Sizes of one pass: so many times its smallest at most. Islands of a pass have their turns in
// their own order.
enum { SIZE_GROWTH = 4 };
#define KEPT_SHARE 0.5
// about what it takes to pass an island over
#define LOOK_OPERATIONS 10.0

// What is done, of islands after each other.
typedef struct Turns {
    Judge *judge;
    JudgeEach *solve;
    void *solver;
    bool is_of_open;      // islands that are met are left out …
    const bool *is_asked; // … and those that are not asked; [islands], Nullable: all are
    double size;          // of all islands that have their turns …
    double ahead;         // … and of those that had not yet
    double kept;          // of the budget, for each of them by its size
} Turns;

// contacts and rows
static uint32_t size_of(const Islands *islands, uint32_t island) {
    return islands->contact_first[island + 1] - islands->contact_first[island] +
           islands->row_first[island + 1] - islands->row_first[island];
}

static bool has_turn(const Turns *turns, uint32_t island) {
    return !turns->is_of_open || (!turns->judge->island[island].is_met &&
                                  (turns->is_asked == NULL || turns->is_asked[island]));
}

// What an island of that size may spend now.
static double allowance_of(const Turns *turns, double size) {
    if (!(turns->size > 0.0)) {
        return turns->judge->budget;
    }
    double kept = turns->kept * size / turns->size;
    double beside = turns->judge->budget - turns->kept * turns->ahead / turns->size;
    bool is_last = size >= turns->ahead;
    return kept + (is_last ? beside : 0.5 * beside);
}

// Once is enough: judged again without judge_go_on, it would be taken for another answer.
static Status judge_at_least(Judge *judge, uint32_t share, uint32_t island) {
    judge->allowance.most = HUGE_VAL;
    return judge->island[island].best < HUGE_VAL ? STATUS_OK : judge_island(judge, share, island);
}

static Status take_turn(Turns *turns, uint32_t share, uint32_t island, uint32_t size) {
    Judge *judge = turns->judge;
    ArenaMark mark = arena_mark(judge->arena);
    bool has_some = judge->budget > 0.0;
    judge->allowance = (Allowance){.most = allowance_of(turns, size)};
    judge->is_spent = !has_some;
    Status status = has_some ? turns->solve(turns->solver, share, island)
                             : judge_at_least(judge, share, island);
    arena_reset_to(judge->arena, mark);
    if (judge->is_spent) {
        judge->island[island].reason = END_BUDGET;
    }
    judge->is_spent = false; // what comes after the last turn is nobody's turn
    judge->budget -= judge->allowance.spent;
    judge->allowance = (Allowance){.most = HUGE_VAL}; // between two turns
    turns->ahead -= size;
    return status;
}

// Islands of sizes [least, end); `next` is the smallest size from `end` on.
static Status take_turns(Turns *turns, uint32_t least, uint32_t end, uint32_t *next) {
    Judge *judge = turns->judge;
    const Islands *islands = &judge->islands;
    Status status = STATUS_OK;
    *next = UINT32_MAX;
    for (uint32_t share = 0; share < islands->share_count; share += judge_pieces(judge, share)) {
        const IslandShare *of = &islands->share[share];
        if (status == STATUS_OK) {
            status = judge_ask(judge, LOOK_OPERATIONS * (of->island_end - of->island_begin));
            status = judge_is_now_late(judge, status) ? STATUS_OK : status;
        }
        for (uint32_t i = of->island_begin;
             i < of->island_end && status == STATUS_OK && !judge->is_late; i++) {
            uint32_t size = size_of(islands, i);
            if (size < least || !has_turn(turns, i)) {
                continue;
            }
            if (size >= end) {
                *next = size < *next ? size : *next;
            } else {
                status = take_turn(turns, share, i, size);
            }
        }
    }
    return status;
}

static Status have_turns(Turns *turns) {
    const Islands *islands = &turns->judge->islands;
    uint32_t count = islands->count;
    for (uint32_t i = 0; i < count && turns->is_of_open; i++) {
        turns->size += has_turn(turns, i) ? size_of(islands, i) : 0;
    }
    if (!turns->is_of_open) {
        turns->size = (double)islands->contact_first[count] + islands->row_first[count];
    }
    turns->ahead = turns->size;
    turns->kept = KEPT_SHARE * turns->judge->budget;
    Status status = STATUS_OK;
    for (uint32_t size = 0, next = 0; next < UINT32_MAX && status == STATUS_OK; size = next) {
        uint32_t end = size < UINT32_MAX / SIZE_GROWTH ? SIZE_GROWTH * size + 1 : UINT32_MAX;
        status = take_turns(turns, size, end, &next);
    }
    return status;
}

Status judge_each(Judge *judge, JudgeEach *solve, void *solver) {
    ASSERT(solve != NULL);
    Turns turns = {.judge = judge, .solve = solve, .solver = solver};
    return have_turns(&turns);
}

Status judge_each_open(Judge *judge, const bool *is_asked, JudgeEach *solve, void *solver) {
    ASSERT(solve != NULL);
    Turns turns = {
        .judge = judge, .solve = solve, .solver = solver, .is_of_open = true, .is_asked = is_asked};
    return have_turns(&turns);
}

typedef struct Held {
    Judge *judge;
    JudgeEach *solve;
    void *solver;
} Held;

static Status solve_held(void *data, uint32_t share, uint32_t island) {
    const Held *held = data;
    Judge *judge = held->judge;
    if (size_of(&judge->islands, island) == 0) {
        return judge_island(judge, share, island);
    }
    Status status = held->solve(held->solver, share, island);
    if (!judge_is_now_late(judge, status)) {
        return status;
    }
    return judge_at_least(judge, share, island);
}

Status judge_each_held(Judge *judge, JudgeEach *solve, void *solver) {
    ASSERT(solve != NULL);
    Held held = {judge, solve, solver};
    return judge_each(judge, solve_held, &held);
}
