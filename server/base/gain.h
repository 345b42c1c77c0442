// SPDX-License-Identifier: MIT
// The energy that steps gained from nothing, as far as there is something to tell of it. What one
// step gains may be a swing of its integrator, which comes back: it counts beside the scale of the
// energy there (StepEnergy), in the sum of the steps or where a step alone is beyond its share.
#pragma once

#include <math.h>

// What is to be told, of the scale: an order above what the default scheme does in its worst scenes
// in a second. log/format/gained.h has it as SQL.
#define GAIN_SHARE 0.01

typedef struct Gain {
    double sum;   // [J] of all steps
    double scale; // [J] of the step that had the largest
    double step;  // [J] the most of a step beyond its own share; 0: none was
} Gain;

static inline void gain_add_step(Gain *gain, double gained, double scale) {
    gain->sum += gained;
    gain->scale = fmax(gain->scale, scale);
    gain->step = gained > GAIN_SHARE * scale ? fmax(gain->step, gained) : gain->step;
}

// Of steps that came behind.
static inline void gain_add(Gain *gain, const Gain *more) {
    gain->sum += more->sum;
    gain->scale = fmax(gain->scale, more->scale);
    gain->step = fmax(gain->step, more->step);
}

// [J] what is to be told: of the sum, or of one step.
static inline double gain_told(const Gain *gain) {
    return fmax(gain->step, gain->sum > GAIN_SHARE * gain->scale ? gain->sum : 0.0);
}
