// SPDX-License-Identifier: MIT
// What all solvers share, so that a solver is only its method:
//
//   judge_begin     the arrays of the answer, and what it promises of rows
//   (the solver)    declares what it promises of contacts, where that is not the problem's bias
//   judge_survey    islands, mass matrix, scales V, and the impulses to start from
//   (the solver)    finds impulses, island by island, and has them judged with judge_islands, or
//                   judge_large, as often as it likes
//   judge_end       the answer is of every island the best that was judged, with its certificate
//
// To judge an island is to make its momentum and velocities anew from its impulses, and to measure
// both. Of an island that is not met, the impulses with the least own residual are kept, so that
// what ends early, or runs away, ends at the best that was judged, not at the last.
//
// A context may have limits of time, and a solver has a budget of operations. It lets them count
// with judge_limit, once it has impulses that can be judged: from then on whatever asks whether to
// stop asks for them too, and is ABORTED when one is met. judge_is_late says whether that was it.
// Where time is over the solve ends, with what it has, as any other, and islands that nobody has
// judged are judged by judge_end; where an island has spent what it may, the next has its turn.
//
// Islands have their turns by size, the small ones first (judge_turns.c), and of the budget each
// has a share kept for it, by its size: nothing that is hard takes what others need, in
// operations or in time.
//
// Whoever goes on with an island that was judged says so with judge_go_on, before it stores other
// impulses.
//
// Small islands are judged by whoever works at their share, several at once; large ones by the
// thread that began the solve, in pieces, with the tasks of its context. All memory is taken by
// judge_begin and judge_survey.
#pragma once

#include "base/context.h"
#include "solve/certificate.h"
#include "solve/method.h"

// As many shares that follow each other may be worked at at once.
enum { JUDGE_WINDOW = 16 };

typedef struct JudgeIsland {
    double best;      // the least own residual over V so far
    bool is_kept;     // it is of impulses before the last, which are kept
    bool is_met;      // the last are converged
    bool was_far;     // what was judged on the way is no better than no impulses (judge_look_back)
    EndReason reason; // of an island that is not met, as its solver has it: END_ITERATIONS, at
                      // first
} JudgeIsland;

typedef struct Judge {
    const ContactProblem *problem; // borrowed, as context and result
    const Context *context;
    SolveResult *result;
    Arena *arena;
    Error *error;
    double tolerance;
    bool is_warm;
    Islands islands;
    ProblemMass mass;
    CertificateScale scale;
    JudgeIsland *island;             // [islands.count]
    IslandMeasure *measure;          // [islands.count] of the impulses judged last
    IslandMeasure *piece;            // [islands.share_count] of large islands
    double *scratch;                 // [3 mass.width_max] for each share of a window
    double *kept_contact, *kept_row; // the impulses that are kept, as in the answer
    double operations;               // since it was last asked whether to stop
    // where limits count: the context without them, and what asks for all of them
    const Context *unlimited;
    Context limited;
    Stop any;
    Allowance allowance; // of operations, until it is over
    double budget;       // what is left of it for islands that have not had their turn
    bool is_spent;       // the island whose turn it is has no more
    bool is_given_up;    // the context's `stop` said so
    bool is_late;        // a limit of time is met …
    EndReason late;      // … and whose
} Judge;

// Contacts at places [begin, end) of the list of islands, while they are at hand; of one share, on
// any thread.
typedef void JudgeSurvey(void *solver, uint32_t begin, uint32_t end);

// `result` is filled but for contact relations, which are NULL: rigid. Fails with
// RESOURCE_EXHAUSTED only.
Status judge_begin(Judge *judge, const ContactProblem *problem, RelationKind relation,
                   double tolerance, bool is_warm, const Context *context, Arena *arena,
                   SolveResult *result, Error *error);

// Afterwards the answer's impulses are those to start from. `survey` is Nullable; what it is called
// with has its mass blocks A_ii.
Status judge_survey(Judge *judge, JudgeSurvey *survey, void *solver);

// From now on the context's limits count, if it has any, and so does the budget [operations]. The
// judge must stay where it is.
void judge_limit(Judge *judge, double budget);

// After a solve ended with `status`: true when it met its limit, or the island what it may spend,
// which counts no more. It is to end with what it has.
bool judge_is_late(Judge *judge, Status status);
// The same, but once: later only a stop can end anything.
bool judge_is_now_late(Judge *judge, Status status);

// ABORTED when the solve is to be given up: called by the thread that began it, after so many
// operations, whatever they are. Asks about once in a million of them.
Status judge_ask(Judge *judge, double operations);

// What the island whose turn it is may still spend.
double judge_left(const Judge *judge);

// The same, of a solver that counts for itself, and says afterwards what it has spent.
double judge_take(Judge *judge);
void judge_give(Judge *judge, double spent);

// Does `block` for shares [begin, end), as tasks, and asks now and then.
Status judge_shares(Judge *judge, TaskBlock *block, void *work, uint32_t begin, uint32_t end);

// Measures the impulses of small islands [begin, end) of one share; of one large island, from its
// first share. Nothing comes of it.
void judge_measure(const Judge *judge, uint32_t share, uint32_t begin, uint32_t end);
Status judge_measure_large(Judge *judge, uint32_t share);

// Judges them: measures, and says what comes of it.
void judge_islands(const Judge *judge, uint32_t share, uint32_t begin, uint32_t end);
Status judge_large(Judge *judge, uint32_t share);
// Either, as the island is; from its first share.
Status judge_island(Judge *judge, uint32_t share, uint32_t island);

// Has one island after the other solved, by turns, until one fails or a limit of time is met. An
// island that spends what it may has END_BUDGET for its reason if it is not met; one that finds
// nothing left is judged with what it started from. What `solve` takes of the arena is given back.
typedef Status JudgeEach(void *solver, uint32_t share, uint32_t island);
Status judge_each(Judge *judge, JudgeEach *solve, void *solver);

// The same of islands that something holds; the others are judged at once. One that a limit ended
// before it was judged is judged with what it started from.
Status judge_each_held(Judge *judge, JudgeEach *solve, void *solver);

// The same of islands that are not met, of those that are asked: the others have no turn, and
// nothing is kept for them. `is_asked` [islands] is Nullable: all are.
Status judge_each_open(Judge *judge, const bool *is_asked, JudgeEach *solve, void *solver);

// The solver goes on with an island that was judged and is not met.
void judge_go_on(const Judge *judge, uint32_t island);

// Of an island that has been judged on the way: whoever ends here offers it no impulses at all
// where they have run away. So does the end, then, as it is to be no worse.
void judge_look_back(const Judge *judge, uint32_t island);

// What an island was judged by no longer holds, as its solver has changed what it declares.
void judge_forget(const Judge *judge, uint32_t island);

// Puts the impulses of an island back to where the solve starts, for what ran away.
void judge_start_again(const Judge *judge, uint32_t island);

Status judge_end(Judge *judge);

// The own residual over V of the island, had the solve ended with what was measured last.
double judge_own(const Judge *judge, uint32_t island);

// How many shares the island of a share has.
static inline uint32_t judge_pieces(const Judge *judge, uint32_t share) {
    const Islands *islands = &judge->islands;
    uint32_t end = share + 1;
    while (islands->share[share].is_piece && end < islands->share_count &&
           islands->share[end].island_begin == islands->share[share].island_begin) {
        end++;
    }
    return end - share;
}
