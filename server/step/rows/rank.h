// SPDX-License-Identifier: MIT
// Which of the rows that joints lock between trees of joints say what no other says. A hinge that
// closes a loop of coordinates has five rows for the two or three velocities that the loop has: the
// others depend on these, and as soon as positions are off by a solver's residual, differences of
// rows hold what nothing should, by levers of that size and gaps that are rounding. So what is left
// of a row when all others are taken out of it must be a lever, not the error of one: RANK_LEVER of
// those that it is made of. What a row below that might hold comes in by second order: a motion
// that gives it the lever opens its gap by half the square, 5e-11 of the levers' lengths.
//
// What is a lever, though, may be a small one, and rows that all but repeat each other be at
// odds: a body that two distances push against each other along one line leaves it by a motion
// that meets both, as fast as the line is straight: 2 m/s over 1e-3 of lever. What is off is to
// leave at recovery_speed. So what the recovery of a row asks of the motion that none before it
// sees is at most RANK_HASTE recovery_speed, at the levers that it is made of: its target gives
// way to those. What bodies that no force moves ask for is left as it is.
//
// Rows are compared along their trees' velocities, with those of the same one or two trees. Those
// of free bodies are not: of these no joint's rows are dependent by themselves, and two joints that
// hold one body share what they bear.
#pragma once

#include "step/state/state.h"

#define RANK_LEVER 1e-5
#define RANK_HASTE 10.0

// The rows that a joint locks, the last of the problem.
typedef struct RowRanking {
    uint32_t row_first, count;
    double square[6];   // of the levers of each
    double recovery[6]; // the part of the bias of each that takes back what is off
} RowRanking;

// Takes out of the problem those that say nothing, and counts them as idle. false: memory ends.
bool row_rank_keep(StepState *state, const RowRanking *ranking);
