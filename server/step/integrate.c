// SPDX-License-Identifier: MIT
// The end of a step: positions move with the velocity that the integrator names, orientations with
// the same one, by the one rotation update of the product (Cayley),
//
//     q <- normalise((1, h w/2) q)          w in world axes
//
// and only when every number can be told (fault.c) does the world take them over. Under midpoint
// and explicit, a contact brings v1 to where the gap closes, and the bodies move otherwise: what
// the contact solvers promise about gaps holds for v1 only.
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"

#include <string.h>

// The velocity that moves positions and orientations.
static Vec3 moving_velocity(uint32_t integrator, const double *before, const double *after) {
    switch ((Integrator)integrator) {
    case INTEGRATOR_EXPLICIT:
        return vec3_load(before);
    case INTEGRATOR_MIDPOINT:
        return vec3_scale(0.5, vec3_add(vec3_load(before), vec3_load(after)));
    case INTEGRATOR_SYMPLECTIC:
    case INTEGRATOR_IMPLICIT:
    case INTEGRATOR_COUNT:
        break;
    }
    return vec3_load(after);
}

// The velocity that a body ends the step with.
static const double *new_velocity(const StepState *state, uint32_t body) {
    uint32_t tree = state->stepper->tree_of_body[body];
    return tree == PROBLEM_NO_TREE ? state->world->velocity + 6 * (size_t)body
                                   : state->stepper->v + 6 * (size_t)tree;
}

// The spin of a body in the axes that it had before, `after`, as the body carries it along: what is
// kept is its rate in the body's own axes. A round body has none: its spin is the world's.
static void carry_spin(const StepState *state, uint32_t body, const double *after, Vec3 spin) {
    double *velocity = state->velocity_new + 6 * (size_t)body;
    memcpy(velocity, after, 6 * sizeof(double));
    if (state->world->kind[body] == BODY_DYNAMIC && !state->world->mass[body].is_round) {
        vec3_store(velocity + 3, vec3_turn(vec3_load(after + 3), spin, state->input->time_step));
    }
}

static Status move_body(StepState *state, uint32_t body) {
    const World *world = state->world;
    const double *before = world->velocity + 6 * (size_t)body, *after = new_velocity(state, body);
    double *pose = state->pose_new + 7 * (size_t)body;
    uint32_t integrator = world->settings.integrator;
    double h = state->input->time_step;
    Pose old = pose_load(world->pose + 7 * (size_t)body);
    Vec3 velocity = moving_velocity(integrator, before, after),
         spin = moving_velocity(integrator, before + 3, after + 3);
    pose_store(pose, (Pose){.position = vec3_add_scaled(old.position, h, velocity),
                            .orientation = quat_turn(old.orientation, spin, h)});
    if (state->velocity_new != NULL) {
        carry_spin(state, body, after, spin);
        after = state->velocity_new + 6 * (size_t)body;
    }
    if (!numbers_fit_float(after, 6)) {
        return fault_body(state, body, "velocity");
    }
    // a spin whose square overflows leaves no orientation at all: nothing, not NaN
    bool has_orientation = pose[3] != 0.0 || pose[4] != 0.0 || pose[5] != 0.0 || pose[6] != 0.0;
    return numbers_fit_float(pose, 7) && has_orientation ? STATUS_OK
                                                         : fault_body(state, body, "pose");
}

// Memory for the new state. A rotation about the spin itself changes no spin: only where another
// velocity moves the body does the state differ from the answer.
static bool take_state(StepState *state) {
    const World *world = state->world;
    bool is_own = world->settings.integrator == INTEGRATOR_SYMPLECTIC ||
                  world->settings.integrator == INTEGRATOR_IMPLICIT;
    state->pose_new = arena_take_array(state->scratch, world->body_count, 7 * sizeof(double));
    if (state->pose_new == NULL || is_own) {
        return state->pose_new != NULL;
    }
    state->velocity_new = arena_take_array(state->scratch, world->body_count, 6 * sizeof(double));
    return state->velocity_new != NULL;
}

Status integrate_run(StepState *state) {
    ASSERT(state->stepper->problem.tree_count == state->world->dynamic_count);
    ASSERT(state->stepper->problem.contact_count == state->stepper->contact_count);
    const World *world = state->world;
    if (!take_state(state)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while moving %u bodies: raise --memory-bytes-max.",
                         world->body_count);
    }
    Status status = STATUS_OK;
    for (uint32_t body = 0; status == STATUS_OK && body < world->body_count; body++) {
        if (world->kind[body] == BODY_STATIC) {
            memcpy(state->pose_new + 7 * (size_t)body, world->pose + 7 * (size_t)body,
                   7 * sizeof(double));
        } else {
            status = move_body(state, body);
        }
    }
    return status == STATUS_OK ? fault_check_impulses(state) : status;
}

static void remember_impulses(StepState *state) {
    World *world = state->world;
    const Stepper *stepper = state->stepper;
    size_t kept = 0;
    for (uint32_t i = 0; i < stepper->contact_count; i++) {
        const double *impulse = stepper->impulse + 3 * (size_t)i;
        if (impulse[0] == 0.0 && impulse[1] == 0.0 && impulse[2] == 0.0) {
            continue;
        }
        const ProblemContact *contact = &stepper->problem_contact[i];
        Vec3 world_impulse = vec3_scale(impulse[0], contact->normal);
        world_impulse = vec3_add_scaled(world_impulse, impulse[1], contact->tangent[0]);
        world_impulse = vec3_add_scaled(world_impulse, impulse[2], contact->tangent[1]);
        ContactMemory *memory = &world->memory[kept++];
        *memory = (ContactMemory){.a = stepper->contact[i].a,
                                  .b = stepper->contact[i].b,
                                  .feature = stepper->contact[i].feature};
        vec3_store(memory->impulse, world_impulse);
    }
    world->memory_count = kept;
}

Status integrate_commit(StepState *state) {
    ASSERT(state->pose_new != NULL);
    World *world = state->world;
    if (!ARRAY_RESERVE(world->memory, world->memory_capacity, state->stepper->contact_count)) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while keeping %u contacts: raise --memory-bytes-max.",
                         state->stepper->contact_count);
    }
    for (uint32_t tree = 0; tree < world->dynamic_count; tree++) {
        uint32_t body = state->body_of_tree[tree];
        const double *velocity = state->velocity_new != NULL
                                     ? state->velocity_new + 6 * (size_t)body
                                     : state->stepper->v + 6 * (size_t)tree;
        memcpy(world->velocity + 6 * (size_t)body, velocity, 6 * sizeof(double));
    }
    if (world->body_count > 0) {
        memcpy(world->pose, state->pose_new, 7 * (size_t)world->body_count * sizeof(double));
    }
    remember_impulses(state);
    world->step++;
    world->time = sum_add(world->time, state->input->time_step);
    world->faulted = false;
    return STATUS_OK;
}
