// SPDX-License-Identifier: MIT
// What the parts of prove.h share: the one world of a module's instance.
#pragma once

#include "base/arena.h"
#include "log/format/chunk.h"
#include "log/format/entries.h"
#include "run/worlds/apply.h"
#include "web/prove.h"

// Whose contact, of which parts, and which feature.
typedef struct ProveContact {
    uint64_t a, b, part_a, part_b, feature;
} ProveContact;

// What was stepped last, which is what is looked at. Borrowed.
typedef struct ProveShown {
    const World *world; // NULL: there is none
    const Stepper *stepper;
    const StepReport *report; // NULL: nothing was stepped
    uint64_t step;            // of the recording
} ProveShown;

// What a step begins with that is to be tried in other ways, and its order.
typedef struct ProveHeld {
    uint8_t *snapshot;
    size_t snapshot_bytes;
    Input order;
    SolverSettings own;
    uint64_t expected; // hash of the state behind it
} ProveHeld;

typedef struct Prover {
    uint8_t *buffer;
    size_t capacity;
    World *world; // NULL: there was no key-frame yet
    Stepper *stepper;
    uint64_t step; // of the recording
    Chunk inputs;  // body NULL: none
    size_t at;     // of the next entry in it
    Entry entry;   // being carried out, while has_run
    Input order;
    StepRun run;
    uint32_t hash_at; // of the next step's hash in the entry
    bool has_run, has_arenas;
    Arena entry_arena, scratch;
    Error error;
    ProveShown shown;
} Prover;

// What a page may take of a person's memory.
extern WorldLimits prove_limits; // once prove_end_world was called

Prover *prove_state(void);

// The inputs are over; PROVE_FAILED.
int prove_fail(void);

// Carries out what stands before the next step, and begins its order. PROVE_STEP: it is there.
ProveNext prove_ready(void);

// The chunk in the buffer, of one kind.
Status prove_open_chunk(size_t count, ChunkKind kind, Chunk *chunk);

// Nothing is there any more that could be stepped.
void prove_end_world(void);

// Of the last step. false: it had none that moved anything, or memory ended.
bool prove_worst_contact(const World *world, const Stepper *stepper, const Certificate *certificate,
                         Arena *arena, ProveContact *contact);

// ---- prove_group.c

struct Substeps;

void prove_end_group(void);
bool prove_is_group(void);
const struct Group *prove_group_made(void); // NULL: it is no group
int prove_group_keyframe(size_t count);
int prove_group_inputs(void); // a chunk of them has come
int prove_group_compare(size_t count);
ProveNext prove_group_next(void);
const struct Substeps *prove_group_substeps(void); // NULL: it is no group

// Holds the next step's substep, in the arena.
ProveNext prove_group_hold(uint32_t substep, Arena *memory, ProveHeld *held);
