// SPDX-License-Identifier: MIT
// The rows of a step's problem.
#pragma once

#include "step/state/state.h"

// A row that constrains nothing yet, with no blocks, of a part of a joint; good until the next is
// added. NULL: memory ends. Keys must rise.
ProblemRow *rows_add(StepState *state, uint32_t joint, uint32_t part);

// Whose work that row's is, and what moves it.
StepRow *rows_last(const StepState *state);

// A block of it, of zeros, good until anything is added. NULL: memory ends.
double *rows_add_block(StepState *state, ProblemRow *row, uint32_t tree);

// Makes it the row of a limit that is so far away: it pushes only, and lets what is beyond come
// back at recovery_speed at most.
void rows_limit(const StepState *state, ProblemRow *row, double gap);

// What a unit impulse of a row changes its own rate by, where nothing holds its trees but those of
// the rows from `first` on, `count` of them, all before it.
double row_mobility(const StepState *state, uint32_t row, uint32_t first, uint32_t count);

// Once all are there.
void rows_assemble(StepState *state);

void rows_book(const StepState *state, StepEnergy *energy);
bool rows_reserve_memory(StepState *state);
void rows_remember(StepState *state);
