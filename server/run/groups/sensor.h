// SPDX-License-Identifier: MIT
// What stands between a number of the world and who is told of it: noise that is drawn for each
// row, a bias that is drawn as an episode begins and walks, and a delay of some rows. What is told
// of x is scale (x' + bias + noise) + offset, x' and both as they were `delay` rows ago, or in the
// episode's first row.
//
// Numbers are drawn row by row, of an own stream each (streams of a documented counter, as of
// base/philox.h), so that no state of a stream is kept and any row can be drawn again alone:
//
//     numpy.random.Philox(key=[seed, world], counter=[0, row, episode, 2 of observation, 3 of extra])
//
// rows counted from 0, which is the one that a reset returns. A channel draws, in the order of the
// layout, in row 0 its delay, one uniform number, where that is not given; then of each column, in
// row 0 its bias and in others its bias' step, a Gaussian each, and its noise, a Gaussian; each only
// where it is not 0.
//
// Its numbers, of a layout of one world:
//
//     rows told so far in this episode; then of each channel that has anything of this: its delay
//     in rows, and of each column its bias and as many numbers as the longest delay and one, a ring
#pragma once

#include "base/arena.h"
#include "base/philox.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SENSOR_DELAY_MAX = 1000, SENSOR_STREAM_OBSERVATION = 2, SENSOR_STREAM_EXTRA = 3 };

// All 0: nothing.
typedef struct SensorDef {
    double noise, bias; // standard deviations, in the channel's own units
    double walk;        // likewise, of the bias' change in a second
    uint32_t delay;     // rows …
    uint32_t delay_max; // … up to which it is drawn anew for each episode
} SensorDef;

static inline bool sensor_is_any(const SensorDef *def) {
    return def->noise != 0.0 || def->bias != 0.0 || def->walk != 0.0 || def->delay_max != 0;
}

// What is wrong, and in which field; NULL: nothing.
const char *sensor_wrong(const SensorDef *def, const char **field);

struct Layout;

// Numbers of a channel of so many columns.
static inline size_t sensor_count(const SensorDef *def, size_t columns) {
    return sensor_is_any(def) ? 1 + columns * (2 + (size_t)def->delay_max) : 0;
}

// Whose rows they are.
typedef struct SensorOf {
    uint64_t seed, world, episode, length; // steps of it so far
    uint64_t stream;
    double time_step; // [s] between two rows
} SensorOf;

static inline void sensor_begin(double *numbers) {
    numbers[0] = 0.0; // rows
}

// Whether stored ones, as bytes, may be a layout's.
bool sensor_is_sound(const struct Layout *layout, const uint8_t *numbers);

// `row` is what is so: it becomes what is told, and is kept where `is_new`, it is that of a step
// that has not been told of, or of an episode's begin. Before an episode's first row nothing
// changes.
void sensor_tell(const struct Layout *layout, const SensorOf *of, bool is_new, double *numbers,
                 double *row);
