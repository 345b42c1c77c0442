// SPDX-License-Identifier: MIT
// What stands between a number of the world and who is told of it: noise that is drawn for each
// row, a bias that is drawn as an episode begins and walks, and a delay of some rows. What is told
// of x is scale (x' + bias + noise) + offset, x' and both as they were `delay` rows ago, or in the
// episode's first row.
//
// Numbers are drawn row by row, of an own stream each (streams of a documented counter, as of
// base/philox.h), so that no state of a stream is kept and any row can be drawn again alone:
//
//     numpy.random.Philox(key=[seed, world], counter=[0, row, episode, 2])    3: of extra
//
// rows counted from 0, which is the one that a reset returns. A channel draws, in the order of the
// layout, in row 0 its delay, one uniform number, where that is not given; then of each column, in
// row 0 its bias and in others its bias' step, a Gaussian each, and its noise, a Gaussian; each
// only where it is not 0.
//
// Its numbers, of a layout of one world:
//
//     rows told so far in this episode; then of each channel that has anything of this: its delay
//     in rows, and of each column its bias and as many numbers as the longest delay and one, a ring
#pragma once

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

// Numbers of a channel of so many columns.
static inline size_t sensor_count(const SensorDef *def, size_t columns) {
    return sensor_is_any(def) ? 1 + columns * (2 + (size_t)def->delay_max) : 0;
}

// An episode begins: no rows were told of it.
static inline void sensor_begin(double *numbers) {
    numbers[0] = 0.0;
}

// Whose row it is that is told.
typedef struct SensorRow {
    uint64_t t;     // which row of the episode
    bool is_new;    // it is measured now, else it was
    double walking; // sqrt of the time between two rows [s]
    Philox stream;
} SensorRow;

// The stream of a row: `which` of the two.
static inline Philox sensor_stream(uint64_t seed, uint64_t world, uint64_t episode, uint64_t row,
                                   uint64_t which) {
    return (Philox){
        .key = {seed, world}, .counter = {0, row, episode, which}, .used = PHILOX_WORDS};
}

// A channel's rows, [columns] numbers that are so: they become what is told. `numbers` are its own;
// `scale` is of each column, `stride` bytes from one to the next.
void sensor_tell(const SensorDef *def, SensorRow *row, size_t columns, const double *scale,
                 size_t stride, double *numbers, double *told);

// Whether stored numbers of a channel, as bytes, may be its own; or so may be a count of rows.
bool sensor_is_sound(const SensorDef *def, const uint8_t *numbers);
bool sensor_count_is_sound(const uint8_t *rows);
