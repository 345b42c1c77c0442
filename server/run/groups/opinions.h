// SPDX-License-Identifier: MIT
// The second opinions of a group: steps that were kept (opinion.h) are solved again by the
// lanes that have nothing better to do, and what they find is told to the client and to the log.
//
//   loop: a call is opened ─► lanes: its rows, some of them kept ─► loop: opinions_add, _close
//         background lanes: opinion_give for each ─► loop: the call is complete, in order ─►
//         what was found: due when the call `lag` behind it is opened
//
// A call is not opened before the call `lag` calls earlier is complete, nor while more is kept than
// OPINIONS_KEPT_MAX bytes: so what waits is bounded, nothing is left out however busy the server
// is, and which reply tells an opinion follows from the order of the calls alone. Who must wait
// does so in the order of the calls. Loop thread.
#pragma once

#include "run/groups/opinion.h"
#include "run/lanes/lane.h"

enum { OPINIONS_KEPT_MAX = 1 << 26 };

typedef struct Opinions Opinions;
typedef struct OpinionWait OpinionWait;

typedef struct OpinionFound {
    uint64_t call;
    uint32_t world, substep;
    uint64_t seed, episode, step; // of the episode, counted from 1
    double gap, e_ds, residual;   // e_ds of the step's own answer; the others: solve/opinion.h
} OpinionFound;

// The same in columns, in the order of the calls, and then of the worlds.
typedef struct OpinionColumns {
    size_t count;
    uint32_t *world, *substep;
    uint64_t *seed, *episode, *step;
    double *gap, *e_ds, *residual;
} OpinionColumns;

// Once for each call, in their order: what was found of its steps.
typedef void OpinionsFound(void *context, uint64_t recorded_call, const OpinionFound *found,
                           size_t count);

typedef struct OpinionsDef {
    Group *group; // borrowed
    Pool *background;
    uint64_t share; // who it is done for, as pool_submit has it
    OpinionsFound *found;
    // of a job under way, which needs the group, and of its memory
    void (*retain)(void *context);
    void (*release)(void *context);
    void (*count_bytes)(void *context, size_t before, size_t after);
    void *context;
} OpinionsDef;

Opinions *opinions_create(const OpinionsDef *def); // NULL: memory ends
void opinions_destroy(Opinions *opinions);         // Nullable. No job is under way

// What is still to be solved is not: nobody wants to know. Any thread.
void opinions_abandon(Opinions *opinions);

// ---- calls

// Whoever waits for its turn.
struct OpinionWait {
    void (*ready)(OpinionWait *wait); // may open a call, or wait again
    bool is_reader;                   // waits until all calls are complete; else to open one
    OpinionWait *next;                // the opinions'; leave it alone
};

// Calls `ready` when its turn has come, which may be now.
void opinions_wait(Opinions *opinions, OpinionWait *wait);
void opinions_stop_waiting(Opinions *opinions, OpinionWait *wait); // one that is not ready yet

// It is ready. Returns what the call is called by.
uint64_t opinions_open_call(Opinions *opinions);
// Cases of a part of it, in a list; they are the opinions' now.
void opinions_add(Opinions *opinions, uint64_t call, GroupCase *list);
// It is over. `recorded_call`: handed to `found`.
void opinions_close_call(Opinions *opinions, uint64_t call, uint64_t recorded_call);

// ---- what was found

// Takes at most so many of those that are due, `all`: of all that are complete. false: memory of
// the arena ended, and they stay.
bool opinions_take(Opinions *opinions, bool all, size_t count_max, Arena *arena,
                   OpinionColumns *taken);
size_t opinions_left(const Opinions *opinions); // that are complete and not taken

typedef struct OpinionFigures {
    uint64_t given, open; // solved again; of these the exact answer was not found
    uint64_t waiting;     // to be solved
} OpinionFigures;

OpinionFigures opinions_figures(const Opinions *opinions);

// ---- going on elsewhere

// What future replies depend on, between two calls that are complete.
typedef struct OpinionsState {
    uint64_t opened; // calls
    uint64_t lost;   // steps, as group->opinions_lost
    size_t count;
    const OpinionFound *found; // that no reply has told, in order
} OpinionsState;

// When a reader is served. What it points to is the arena's. false: memory ended.
bool opinions_save(const Opinions *opinions, Arena *arena, OpinionsState *state);
// Before the first call. false: memory ended.
bool opinions_go_on(Opinions *opinions, const OpinionsState *state);
