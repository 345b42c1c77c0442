// SPDX-License-Identifier: MIT
#include "run/groups/push.h"

#include "base/assert.h"
#include "base/philox.h"
#include "base/trig.h"

#include <math.h>
#include <stdio.h>

#define TURN 6.283185307179586

// Sums of as many as can be under way stay below what a wrench may be.
#define SIZE_MAX_NEWTON 1e12

static Status blame(size_t index, const char *field, const char *what, Error *error) {
    char path[64];
    snprintf(path, sizeof(path), "pushes[%zu].%s", index, field);
    return error_set(error, STATUS_INVALID_ARGUMENT, path, "%s", what);
}

static bool are_sizes(double low, double high, double size_max) {
    return low >= 0.0 && low <= high && high <= size_max;
}

Status push_check(const PushDef *def, size_t index, double time, Error *error) {
    // an impulse must not become more than such a force
    const double size_max =
        def->is_impulse && time > 0.0 ? SIZE_MAX_NEWTON * fmin(time, 1.0) : SIZE_MAX_NEWTON;
    if (!(def->probability >= 0.0 && def->probability <= 1.0)) {
        return blame(index, "probability", "A probability is 0 to 1.", error);
    }
    if (def->steps < 1 || def->steps > PUSH_STEPS_MAX) {
        return blame(index, "steps", "A push is held for 1 to 1,000 steps of the group.", error);
    }
    if (def->axes < 1 || def->axes > PUSH_AXES_ALL) {
        return blame(index, "axes", "Say along which axes: a sum of 1, 2 and 4, of x, y and z.",
                     error);
    }
    if (!are_sizes(def->force_low, def->force_high, size_max)) {
        return blame(index, "force_high", "Sizes are 0 <= force_low <= force_high <= 1e12 N.",
                     error);
    }
    if (!are_sizes(def->torque_low, def->torque_high, size_max)) {
        return blame(index, "torque_high", "Sizes are 0 <= torque_low <= torque_high <= 1e12 N m.",
                     error);
    }
    return def->force_high > 0.0 || def->torque_high > 0.0
               ? STATUS_OK
               : blame(index, "force_high", "A push has a force or a torque: say how large.",
                       error);
}

// ---- drawing

// Unit.
static Vec3 draw_direction(uint32_t axes, Philox *stream) {
    if (axes == PUSH_AXES_ALL) {
        const double z = 2.0 * philox_uniform(stream) - 1.0, across = sqrt(1.0 - z * z);
        const SinCos turn = trig_sin_cos(TURN * philox_uniform(stream));
        return vec3(across * turn.cos, across * turn.sin, z);
    }
    double along[3] = {0.0, 0.0, 0.0};
    int axis[2] = {0, 0}, count = 0;
    for (int k = 0; k < 3; k++) {
        if (axes >> k & 1u) {
            axis[count++] = k;
        }
    }
    if (count == 1) {
        along[axis[0]] = philox_uniform(stream) < 0.5 ? -1.0 : 1.0;
    } else {
        const SinCos turn = trig_sin_cos(TURN * philox_uniform(stream));
        along[axis[0]] = turn.cos;
        along[axis[1]] = turn.sin;
    }
    return vec3_load(along);
}

static void add_drawn(double low, double high, uint32_t axes, double share, Philox *stream,
                      double *to) {
    if (high > 0.0) {
        const double size = low + (high - low) * philox_uniform(stream);
        const Vec3 direction = draw_direction(axes, stream);
        vec3_store(to, vec3_add_scaled(vec3_load(to), share * size, direction));
    }
}

// The one that begins in a step, if any does.
static void add_begun(const PushDef *def, size_t n, const PushMoment *moment, uint64_t step,
                      double wrench[6]) {
    Philox stream = {.key = {moment->seed, moment->world},
                     .counter = {0, step, moment->episode, PUSH_STREAM + n},
                     .used = PHILOX_WORDS};
    if (!(philox_uniform(&stream) < def->probability)) {
        return;
    }
    const double share = def->is_impulse ? 1.0 / (def->steps * moment->time) : 1.0;
    add_drawn(def->force_low, def->force_high, def->axes, share, &stream, wrench);
    add_drawn(def->torque_low, def->torque_high, def->axes, share, &stream, wrench + 3);
}

void push_add(const PushDef *def, size_t n, const PushMoment *moment, double wrench[6]) {
    ASSERT(n < PUSH_COUNT_MAX);
    ASSERT(moment->time > 0.0);
    const uint64_t held = moment->step < def->steps ? moment->step : def->steps - 1;
    for (uint64_t step = moment->step - held; step <= moment->step; step++) {
        add_begun(def, n, moment, step, wrench);
    }
}
