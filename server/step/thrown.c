// SPDX-License-Identifier: MIT
// Whom a step throws farther than anybody has looked: the far end of a row that a fast body hits,
// and what hangs on that by joints. How they are pushed is known only once the step is solved; then
// what is in the way of that is looked for, and the step is solved again with the contacts that
// they have there. Nothing of the world has changed by then. Where nobody moves by as much as it is
// thick, which is nearly always, nobody is thrown.
#include "step/stages.h"

#include "base/array.h"
#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

// Each round finds whom those of the round before have pushed; after so many it is as it is.
enum { ROUNDS_MAX = 8 };

// of rounding, with room
#define WAY_SLACK 1.001

void thrown_begin(StepState *state) {
    ASSERT(state->substep == 0);
    state->has_woken = false;
    state->solves = (StepSolves){.launch = {.contact = -1}};
}

// How a body came from where it was: its centre of mass, and the square of the angle by which it
// has turned.
typedef struct Flown {
    Vec3 way;
    double square;
} Flown;

static inline Flown flown(const StepState *state, const double *before, uint32_t body) {
    const double *from = before + 7 * (size_t)body, *to = state->pose_new + 7 * (size_t)body;
    const double w = to[3] - from[3], x = to[4] - from[4], y = to[5] - from[5], z = to[6] - from[6];
    return (Flown){vec3_sub(vec3_load(to), vec3_load(from)), 4.0 * (w * w + x * x + y * y + z * z)};
}

// Whether the body was looked for where it has come to, or so near that nothing fits in between.
static bool is_looked_for(const StepState *state, uint32_t body, const Flown *of) {
    const StepPushes *pushes = state->pushes;
    const StepBall *ball = &state->ball[body];
    const double own = pushes == NULL ? state->reach[body] : pushes->own_reach[body];
    const double radius = ball->radius - state->reach[body];
    const double thick = reach_thickness(state->world, body);
    const double turned = sqrt(of->square) * (radius - thick); // of what is no ball
    const Vec3 end = vec3_add(ball->center, of->way);
    bool is = vec3_norm(of->way) + turned <= WAY_SLACK * (own + thick);
    for (uint32_t i = pushes == NULL ? STEP_NO_PUSH : pushes->first[body]; i != STEP_NO_PUSH && !is;
         i = pushes->push[i].next) {
        const StepBall *to = &pushes->push[i].to;
        is = vec3_norm(vec3_sub(end, to->center)) + radius <= WAY_SLACK * (to->radius + thick);
    }
    return is;
}

static bool is_bounded(const World *world, uint32_t body) {
    const Shape *shape = world_body_shape(world, body);
    return shape != NULL && !shape->is_unbounded;
}

// Whether it has moved by more than half of what is thinnest, which most have not: nothing else is
// asked of those.
static inline bool is_far(const StepState *state, const double *before, uint32_t body, double far) {
    if (state->world->kind[body] != BODY_DYNAMIC || stage_is_still(state, body)) {
        return false;
    }
    const Flown of = flown(state, before, body);
    const double way = vec3_dot(of.way, of.way), radius = state->ball[body].radius;
    return way > far || of.square * (radius * radius) > far;
}

Status thrown_find(StepState *state, const double *before, bool *is_any) {
    const uint32_t bodies = state->world->body_count;
    ASSERT(state->pose_new != NULL || bodies == 0);
    *is_any = false;
    const Stepper *stepper = state->stepper;
    const bool is_pushed = stepper->contact_count > 0 || stepper->row_count > 0,
               is_alone = state->spin_reach == NULL; // nobody may meet anybody
    if (!is_pushed || is_alone || state->world->settings.contact_plane != CONTACT_PLANE_APPROACH ||
        state->thrown_rounds == ROUNDS_MAX) {
        return STATUS_OK;
    }
    const double far = 0.25 * state->thinnest * state->thinnest;
    for (uint32_t body = 0; body < bodies; body++) {
        if (!is_far(state, before, body, far)) {
            continue;
        }
        const Flown of = flown(state, before, body);
        if (!is_bounded(state->world, body) || is_looked_for(state, body, &of)) {
            continue;
        }
        if (!ARRAY_RESERVE(state->thrown, state->thrown_capacity, state->thrown_count + 1)) {
            return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while looking for what bodies are thrown at: raise "
                             "--memory-bytes-max.");
        }
        state->thrown[state->thrown_count++] = (StepThrow){body, of.way};
        *is_any = true;
    }
    state->thrown_rounds += *is_any;
    return STATUS_OK;
}

void thrown_end(StepState *state) {
    if (state->thrown != NULL) {
        free(state->thrown);
        state->thrown = NULL;
        state->thrown_count = 0;
    }
}
