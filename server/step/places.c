// SPDX-License-Identifier: MIT
// The places of a world that sleeps, kept from step to step. A cache: they are what the step would
// make of what is still, and are made anew where the step, gravity, margin or friction are others.

#include "base/assert.h"
#include "step/stages.h"

#include <string.h>

static size_t count_primitives(const StepState *state) {
    const World *world = state->world;
    if (state->stepper->has_places) {
        return ((const StepPlaces *)(const void *)state->stepper->memory)->primitive_count;
    }
    size_t total = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        const Shape *shape = world_body_shape(world, body);
        total += shape == NULL ? 0 : shape->primitive_count;
    }
    return total;
}

// A multiple of 8: what follows is aligned as well.
static size_t bytes_of(size_t bodies, size_t primitives) {
    size_t bytes = sizeof(StepPlaces) + primitives * sizeof(Pose) +
                   bodies * (sizeof(BroadBox) + sizeof(StepBall) + 2 * sizeof(double) +
                             sizeof(uint32_t) + sizeof(uint8_t));
    return (bytes + 7) / 8 * 8;
}

size_t places_bytes(const StepState *state) {
    return state->still == NULL ? 0 : bytes_of(state->world->body_count, count_primitives(state));
}

void places_take(StepState *state, unsigned char *at) {
    ASSERT(at != NULL || state->still == NULL);
    if (state->still == NULL) {
        state->stepper->has_places = false; // others stand where they stood
        return;
    }
    size_t bodies = state->world->body_count, primitives = count_primitives(state);
    state->places = stage_take_part(&at, 1, sizeof(StepPlaces));
    state->placed = stage_take_part(&at, primitives, sizeof(Pose));
    state->box = stage_take_part(&at, bodies, sizeof(BroadBox));
    state->ball = stage_take_part(&at, bodies, sizeof(StepBall));
    state->reach = stage_take_part(&at, bodies, sizeof(double));
    state->height = stage_take_part(&at, bodies, sizeof(double));
    state->placed_first = stage_take_part(&at, bodies, sizeof(uint32_t));
    state->is_placed = stage_take_part(&at, bodies, sizeof(uint8_t));
    state->places->primitive_count = primitives;
}

bool places_begin(StepState *state, double reach_asleep) {
    ASSERT(state->places != NULL);
    ASSERT(!(reach_asleep < 0.0));
    StepPlaces *places = state->places;
    if (state->stepper->has_places && places->margin == state->margin &&
        places->reach_asleep == reach_asleep) {
        return true;
    }
    places->margin = state->margin;
    places->reach_asleep = reach_asleep;
    memset(state->is_placed, 0, state->world->body_count);
    state->stepper->has_places = true;
    return false;
}
