// SPDX-License-Identifier: MIT
// The contact problem of the step: what free motion and collision left, with the impulses of the
// step before to start from.
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"

#include <string.h>

static int compare_keys(const StepContact *contact, const ContactMemory *memory) {
    if (contact->a != memory->a) {
        return contact->a < memory->a ? -1 : 1;
    }
    if (contact->b != memory->b) {
        return contact->b < memory->b ? -1 : 1;
    }
    if (contact->feature != memory->feature) {
        return contact->feature < memory->feature ? -1 : 1;
    }
    return 0;
}

// Both lists are sorted alike, so one walk finds every contact that was there before.
static void recall_impulses(StepState *state) {
    const World *world = state->world;
    const Stepper *stepper = state->stepper;
    size_t next = 0;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const ProblemContact *contact = &stepper->problem_contact[i];
        double *warm = stepper->warm + 3 * (size_t)i;
        int order = 1;
        while (next < world->memory_count &&
               (order = compare_keys(&stepper->contact[i], &world->memory[next])) > 0) {
            next++;
        }
        if (next < world->memory_count && order == 0) {
            Vec3 impulse = vec3_load(world->memory[next].impulse);
            warm[0] = vec3_dot(contact->normal, impulse);
            warm[1] = vec3_dot(contact->tangent[0], impulse);
            warm[2] = vec3_dot(contact->tangent[1], impulse);
        } else {
            memset(warm, 0, 3 * sizeof(double));
        }
    }
}

Status assemble_run(StepState *state) {
    ASSERT(state->stepper->contact_count <= state->stepper->contact_capacity);
    Stepper *stepper = state->stepper;
    const World *world = state->world;
    size_t numbers = 3 * (size_t)stepper->contact_count;
    if (!ARRAY_RESERVE(stepper->warm, stepper->warm_capacity, numbers) ||
        !ARRAY_RESERVE(stepper->impulse, stepper->impulse_capacity, numbers) ||
        !ARRAY_RESERVE(stepper->judged, stepper->judged_capacity,
                       2 * (size_t)stepper->contact_count)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while assembling %u contacts: raise --memory-bytes-max.",
                         stepper->contact_count);
    }
    recall_impulses(state);
    stepper->problem = (ContactProblem){
        .time_step = state->input->time_step,
        .gravity = vec3_norm(world->settings.gravity),
        .tree_count = world->dynamic_count,
        .contact_count = stepper->contact_count,
        .velocity_count = 6 * world->dynamic_count,
        .all_free = true,
        .tree = state->tree,
        .free = state->free,
        .v_free = state->v_free,
        .contact = stepper->problem_contact,
        .law = stepper->law,
        .warm_contact = stepper->warm,
    };
    return STATUS_OK;
}
