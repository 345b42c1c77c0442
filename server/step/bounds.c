// SPDX-License-Identifier: MIT
// The last part of a step of a world with bounds: dynamic bodies whose centre of mass has left them
// are removed, in the order of their indices, and with them the joints that hold one. It depends on
// nothing but the state that the step makes, so who steps a recording again removes the same ones.
//
// The step's contacts still tell of them by their old indices: the stepper keeps the ids that the
// bodies had, until the next step.
#include "step/stages.h"

#include "base/assert.h"

#include "base/array.h"

#include <string.h>

static bool is_outside(const WorldSettings *settings, const double *position) {
    Vec3 lower = settings->bounds_lower, upper = settings->bounds_upper;
    return position[0] < lower.x || position[0] > upper.x || position[1] < lower.y ||
           position[1] > upper.y || position[2] < lower.z || position[2] > upper.z;
}

static Status out_of_memory(StepState *state) {
    return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while removing bodies that left the bounds of a world of %u: "
                     "raise --memory-bytes-max.",
                     state->world->body_count);
}

// A tree of joints leaves as one, when its root does. Sleepers were inside before they fell asleep:
// new bounds wake them.
static bool has_left(const StepState *state, uint32_t body) {
    ASSERT(body < state->world->body_count);
    const World *world = state->world;
    const StepTree *tree = stage_tree(state, body);
    const bool is_free = state->stepper->tree_of_body[body] < state->free_count;
    const uint32_t of = tree != NULL ? tree->flight.view.link[0].body : body;
    return (is_free || tree != NULL) &&
           is_outside(&world->settings, state->pose_new + 7 * (size_t)of);
}

static uint32_t list_left(const StepState *state, uint32_t *left) {
    uint32_t count = 0;
    for (uint32_t body = 0; body < state->world->body_count; body++) {
        if (has_left(state, body)) {
            if (left != NULL) {
                left[count] = body;
            }
            count++;
        }
    }
    return count;
}

Status bounds_find(StepState *state) {
    const World *world = state->world;
    Stepper *stepper = state->stepper;
    state->left_count = world->settings.has_bounds ? list_left(state, NULL) : 0;
    if (state->left_count == 0) {
        return STATUS_OK;
    }
    state->left = arena_take_array(state->scratch, state->left_count, sizeof(uint32_t));
    if (state->left == NULL ||
        !ARRAY_RESERVE(stepper->old_id, stepper->old_id_capacity, world->body_count)) {
        return out_of_memory(state);
    }
    list_left(state, state->left);
    ASSERT(state->left[0] < world->body_count);
    return STATUS_OK;
}

void bounds_remove(StepState *state) {
    ASSERT(state->left_count <= state->world->body_count);
    World *world = state->world;
    Stepper *stepper = state->stepper;
    if (state->left_count == 0) {
        return;
    }
    memcpy(stepper->old_id, world->body_id, world->body_count * sizeof(Id));
    stepper->has_old_ids = true;
    world_remove_bodies(world, state->left, state->left_count);
}
