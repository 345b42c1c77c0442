// SPDX-License-Identifier: MIT
#include "base/history.h"

#include "base/assert.h"

#include <float.h>
#include <math.h>

void history_init(IterationHistory *history, double *value, size_t capacity) {
    ASSERT(capacity >= 2);
    ASSERT(capacity % 2 == 0);
    *history = (IterationHistory){.value = value, .capacity = capacity, .stride = 1};
}

static void thin_out(IterationHistory *history) {
    history->count /= 2;
    history->stride *= 2;
    for (size_t i = 0; i < history->count; i++) {
        history->value[i] = history->value[2 * i + 1];
    }
}

void history_note(IterationHistory *history, uint64_t iteration, double value) {
    ASSERT(iteration > 0);
    if (iteration % history->stride != 0) {
        return;
    }
    uint64_t index = iteration / history->stride - 1;
    if (index == history->capacity) {
        thin_out(history); // the iteration is an odd number of old strides: not one to take now
        return;
    }
    ASSERT(index <= history->count);
    double finite = isfinite(value) ? value : DBL_MAX;
    if (index == history->count) {
        history->value[history->count++] = finite;
    } else if (finite > history->value[index]) {
        history->value[index] = finite;
    }
}
