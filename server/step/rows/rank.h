// SPDX-License-Identifier: MIT
// Which of the rows that joints lock say what no other says: of those between trees of joints, and
// on a loop (loops.h). A hinge that closes a loop of coordinates has five rows for
// the two or three velocities that the loop has; of a linkage of free bodies in a plane three rows
// repeat what others say. As soon as positions are off by a solver's residual, or numbers by their
// last written digit, differences of rows hold what nothing should, by levers of that size and gaps
// that are rounding. So what is left of a row when all others are taken out of it must be a lever,
// not the error of one: RANK_LEVER of those that it is made of. What a row below that might hold
// comes in by second order: a motion that gives it the lever opens its gap by half the square,
// 5e-11 of the levers' lengths.
//
// What repeats others is left out where trees have coordinates for it, which bear all of it. Free
// bodies, beside trees as well, have nothing else than their rows: two supports share a beam, whose
// weight is not to break the one and then the other. So such a row is made to be, to rounding, what
// the others make together, its levers and what it asks for: without what was left of it, on
// whatever trees of the loop that was. Then the solver has it share what they bear, and nothing is
// held by it alone.
//
// What is a lever, though, may be a small one, and rows that all but repeat each other be at
// odds: a body that two distances push against each other along one line leaves it by a motion
// that meets both, as fast as the line is straight: 2 m/s over 1e-3 of lever. What is off is to
// leave at recovery_speed. So what the recovery of a row asks of the motion that none before it
// sees is at most RANK_HASTE recovery_speed, at the levers that it is made of: its target gives
// way to those. What bodies that no force moves ask for is left as it is. Nor does that weigh
// anything: who hangs on such a motion by a long arm is taken along.
//
// Rows are compared along their trees' velocities, with those of the same one or two trees, or, on
// a loop, along those of all its trees, joint by joint in their order; turns there in units of the
// loop's size, so that what is smaller than 1e-5 of it is no lever.
#pragma once

#include "step/state/state.h"

#define RANK_LEVER 1e-5
#define RANK_HASTE 10.0

// The rows that a joint locks, the last of the problem.
typedef struct RowRanking {
    uint32_t row_first, count;
    double square[6];   // of the levers of each along coordinates, whatever their directions
    double turned[6];   // of those, what turns have
    double recovery[6]; // the part of the bias of each that takes back what is off
    double motion[6];   // and that which bodies that no force moves add
} RowRanking;

// Takes out of the problem those that say nothing, and counts them as idle, or makes them what
// others say. false: memory ends.
bool row_rank_keep(StepState *state, const RowRanking *ranking);
