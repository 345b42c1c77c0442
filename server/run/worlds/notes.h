// SPDX-License-Identifier: MIT
// What is noted of steps for those who ask later which of them did not converge, hit hardest,
// gained energy, launched something or broke joints. The recorder makes these notes for each chunk
// of inputs, and verification makes them again: they follow from the steps alone.
#pragma once

#include "log/format/definition.h"
#include "step/step.h"

// A step has gained energy when what no applied force explains is more than this share of what
// there was: a thousand times what a solver's tolerance may leave, and far below what is seen.
#define NOTES_GAIN_SHARE 1e-6

enum { NOTES_HIGHLIGHTS_MAX = 65 }; // with which chunks end where they always did

typedef struct Notes {
    StepFigures figures;
    Highlight launch; // the fastest; value 0: none
    Highlight highlight[NOTES_HIGHLIGHTS_MAX];
    size_t count;
    size_t last[HIGHLIGHT_KIND_COUNT]; // 1 + the last one of a kind; 0: none
} Notes;

void notes_clear(Notes *notes);

// `step`: of the recording. The stepper has just taken it.
void notes_add(Notes *notes, const Stepper *stepper, const StepReport *report, uint64_t step);

// One step more might not find room: time to close the chunk.
bool notes_are_full(const Notes *notes);

// Adds the hardest impact and the fastest launch, which are known last.
void notes_finish(Notes *notes);
