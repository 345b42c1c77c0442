// SPDX-License-Identifier: MIT
// Which joints of rows close loops. Joints, of rows and of coordinates, are edges between bodies,
// and all that no force moves is one body, the world; what two ways lead round is a loop (a
// biconnected part of the graph): a linkage, a door on two hinges, a truss, what an arm turns with
// both of its fingers. No row of a joint on no loop can say what another says, so for chains and
// trees of joints each joint's two bodies are looked at, and that is all. What is on a loop is
// compared along the velocities of all its trees of the problem: free bodies, and trees of joints.
//
// Rows between the same trees of joints are compared without a loop (rank.h), where no others are
// on it.
//
// A part of more than ROW_LOOP_TREES_MAX trees, ROW_LOOP_WIDTH_MAX velocities or
// ROW_LOOP_JOINTS_MAX joints of rows counts as none: its rows stay as they are, and what repeats
// itself in a lattice of a thousand bonds is the solver's to find. Loops of free bodies alone that
// are in a part which is too large with its trees count. Each row of a loop takes a product with
// each one before it that it shares bodies with: 60,000 instructions for a linkage of three bodies,
// 460,000 for a ring of ten. What then repeats others may move all bodies of the loop, which
// solvers pay for, too: 8 bodies with 10 bonds take mdp four times as long, and in a lattice of 24
// with 32 it was fifteen times.
#pragma once

#include "step/state/state.h"

#define ROW_LOOP_NONE UINT32_MAX
enum { ROW_LOOP_TREES_MAX = 12, ROW_LOOP_WIDTH_MAX = 72, ROW_LOOP_JOINTS_MAX = 16 };

typedef struct RowLoop {
    uint32_t tree_count, joint_count;   // joints of rows
    uint32_t tree[ROW_LOOP_TREES_MAX];  // of the problem, rising
    uint32_t first[ROW_LOOP_TREES_MAX]; // of the velocities of each, one behind the other
    uint32_t width;                     // of all
    bool turns[ROW_LOOP_WIDTH_MAX];     // of each velocity: it turns, and does not move
    double size;              // the longest way from a centre of mass to a joint, or of a body [m]
    struct RankedRow *ranked; // Nullable: rows that are kept (rank.h), in the scratch
} RowLoop;

typedef struct RowLoops {
    uint32_t count, capacity;
    RowLoop *loop;
    uint32_t *of_joint; // per joint of the world: its loop, or ROW_LOOP_NONE
} RowLoops;

// Those of the joints that are awake, in the scratch memory, as state->loops; NULL where there is
// none. false: memory ends.
bool row_loops_find(StepState *state);

// The loop of a joint; NULL: it is on none.
static inline RowLoop *row_loops_of(const StepState *state, uint32_t joint) {
    const RowLoops *loops = state->loops;
    const uint32_t loop = loops == NULL ? ROW_LOOP_NONE : loops->of_joint[joint];
    return loop == ROW_LOOP_NONE ? NULL : &loops->loop[loop];
}
