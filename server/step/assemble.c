// SPDX-License-Identifier: MIT
// The contact problem of the step: what free motion and collision left, with the impulses of the
// step before to start from.
#include "step/joints/rows.h"
#include "step/rows/loops.h"
#include "step/rows/rows.h"
#include "step/stages.h"

#include "base/assert.h"

#include <string.h>

static int compare_keys(const StepContact *contact, const ContactMemory *memory) {
    if (contact->a != memory->a) {
        return contact->a < memory->a ? -1 : 1;
    }
    if (contact->b != memory->b) {
        return contact->b < memory->b ? -1 : 1;
    }
    if (contact->part_a != memory->part_a) {
        return contact->part_a < memory->part_a ? -1 : 1;
    }
    if (contact->part_b != memory->part_b) {
        return contact->part_b < memory->part_b ? -1 : 1;
    }
    if (contact->feature != memory->feature) {
        return contact->feature < memory->feature ? -1 : 1;
    }
    return 0;
}

// The first that is not before the contact.
static size_t find_memory(const StepState *state, const StepContact *contact) {
    ASSERT(contact->a < contact->b);
    size_t low = 0, high = state->memory_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_keys(contact, &state->memory[middle]) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Both lists are sorted alike, so one walk finds every contact that was there before.
void assemble_recall(const StepState *state, uint32_t first, uint32_t count) {
    ASSERT(first + count <= state->stepper->contact_capacity);
    const Stepper *stepper = state->stepper;
    size_t next = count == 0 ? 0 : find_memory(state, &stepper->contact[first]);
    for (uint32_t i = first; i < first + count; i++) {
        const ProblemContact *contact = &stepper->problem_contact[i];
        double *warm = stepper->warm + 3 * (size_t)i;
        int order = 1;
        while (next < state->memory_count &&
               (order = compare_keys(&stepper->contact[i], &state->memory[next])) > 0) {
            next++;
        }
        if (next < state->memory_count && order == 0) {
            Vec3 impulse = vec3_load(state->memory[next].impulse);
            warm[0] = vec3_dot(contact->normal, impulse);
            warm[1] = vec3_dot(contact->tangent[0], impulse);
            warm[2] = vec3_dot(contact->tangent[1], impulse);
        } else {
            memset(warm, 0, 3 * sizeof(double));
        }
    }
}

// The rows of joints, in their order.
static bool add_rows(StepState *state) {
    const World *world = state->world;
    state->ranked = NULL;
    if (!row_loops_find(state)) {
        return false;
    }
    for (uint32_t i = 0; i < world->joint_count; i++) {
        const Joint *joint = &world->joint[i];
        if (state->asleep_count > 0 && stage_joint_sleeps(state, joint)) {
            continue;
        }
        if (joint->is_rows ? !joint_rows_add(state, i)
                           : joint->axes != 0 && !tree_rows_add(state, i)) {
            return false;
        }
    }
    return true;
}

static Status assemble_joints(StepState *state) {
    Status status = articulate_assemble(state);
    if (status == STATUS_OK && !add_rows(state)) {
        status = error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                           "The rows of the joints of this step do not fit the memory budget "
                           "(option --memory-bytes-max).");
    }
    if (status == STATUS_OK) {
        rows_assemble(state);
    }
    return status;
}

Status assemble_run(StepState *state) {
    ASSERT(state->stepper->contact_count <= state->stepper->contact_capacity);
    Stepper *stepper = state->stepper;
    const World *world = state->world;
    stepper->row_count = stepper->row_block_count = stepper->idle_row_count = 0;
    stepper->problem = (ContactProblem){
        .time_step = state->input->time_step,
        .gravity = vec3_norm(world->settings.gravity),
        .told_over =
            state->substep_count == 1 ? 0.0 : state->step_time * vec3_norm(world->settings.gravity),
        .tree_count = state->tree_count,
        .contact_count = stepper->contact_count,
        .velocity_count = (uint32_t)state->velocity_count,
        .all_free = state->tree_count == state->free_count,
        .tree = state->tree,
        .free = state->free,
        .link = state->problem_link,
        .link_count = state->wide_link_count,
        .v_free = state->v_free,
        .contact = stepper->problem_contact,
        .law = stepper->law,
        .warm_contact = stepper->warm,
    };
    return state->world->joint_count == 0 ? STATUS_OK : assemble_joints(state);
}
