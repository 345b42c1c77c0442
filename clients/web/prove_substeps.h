// SPDX-License-Identifier: MIT
// What the substeps of one step of a group amount to: their certificates, and the state before the
// one that is asked for, to be tried in other ways.
#pragma once

#include "run/groups/group.h"
#include "web/prove_parts.h"

typedef struct Substeps {
    StepReport last; // the group's report
    uint32_t count;
    uint32_t unconverged;
    uint32_t worst; // the one with the largest residual, as the report has it
    bool is_doubtful;
    StepReport report; // the worst of each number; contacts and rows are those of the last one
    bool has_contact;
    ProveContact contact; // the worst of the worst
    // held NULL: none is asked for
    ProveHeld *held; // gets the state before substep `held_at`, in the arena
    uint32_t held_at;
    Arena *memory;
    Arena scratch; // of one look
    Status status; // of holding
    Error error;
} Substeps;

void substeps_init(Substeps *substeps);
void substeps_deinit(Substeps *substeps);

// Before a step; before each of its substeps; when that was taken.
void substeps_begin(Substeps *substeps);
void substeps_before(Substeps *substeps, const Group *group);
void substeps_after(Substeps *substeps, const Group *group);
