// SPDX-License-Identifier: MIT
// How long work went on: one number after each iteration, in memory that does not grow. When it is
// full, every second number goes, and from then on only every second is taken.
#pragma once

#include <stddef.h>
#include <stdint.h>

typedef struct IterationHistory {
    double *value; // borrowed [capacity]
    size_t count, capacity;
    uint64_t stride; // value[i] is of iteration (i + 1) stride; a power of two
} IterationHistory;

// `capacity` is even and at least 2.
void history_init(IterationHistory *history, double *value, size_t capacity);

// The number after an iteration, counted from 1, none left out. Parts of the work that go on one
// after the other each begin with 1, and the largest is kept. What is not finite becomes the
// largest number there is.
void history_note(IterationHistory *history, uint64_t iteration, double value);
