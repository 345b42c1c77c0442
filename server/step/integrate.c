// SPDX-License-Identifier: MIT
// The end of a step: positions move with the new velocities, orientations by the one rotation
// update of the product (Cayley),
//
//     q <- normalise((1, h w/2) q)          w in world axes
//
// and only when every number can be told (fault.c) does the world take them over.
#include "step/stages.h"

#include "base/assert.h"
#include "base/array.h"

#include <string.h>

static void move_body(const double *pose, const double *velocity, double h, double *moved) {
    Pose old = pose_load(pose);
    Vec3 w = vec3_load(velocity + 3);
    double half = 0.5 * h;
    Pose now = {.position = vec3_add_scaled(old.position, h, vec3_load(velocity)),
                .orientation = old.orientation};
    if (w.x != 0.0 || w.y != 0.0 || w.z != 0.0) {
        Quat turn = {1.0, half * w.x, half * w.y, half * w.z};
        now.orientation = quat_normalize(quat_mul(turn, old.orientation));
    }
    pose_store(moved, now);
}

// The velocity that a body ends the step with.
static const double *new_velocity(const StepState *state, uint32_t body) {
    uint32_t tree = state->stepper->tree_of_body[body];
    return tree == PROBLEM_NO_TREE ? state->world->velocity + 6 * (size_t)body
                                   : state->stepper->v + 6 * (size_t)tree;
}

Status integrate_run(StepState *state) {
    ASSERT(state->stepper->problem.tree_count == state->world->dynamic_count);
    ASSERT(state->stepper->problem.contact_count == state->stepper->contact_count);
    const World *world = state->world;
    state->pose_new = arena_take_array(state->scratch, world->body_count, 7 * sizeof(double));
    if (state->pose_new == NULL) {
        return error_set(state->error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while moving %u bodies: raise --memory-bytes-max.",
                         world->body_count);
    }
    for (uint32_t body = 0; body < world->body_count; body++) {
        const double *velocity = new_velocity(state, body);
        double *pose = state->pose_new + 7 * (size_t)body;
        if (world->kind[body] == BODY_STATIC) {
            memcpy(pose, world->pose + 7 * (size_t)body, 7 * sizeof(double));
            continue;
        }
        move_body(world->pose + 7 * (size_t)body, velocity, state->input->time_step, pose);
        if (!numbers_fit_float(velocity, 6)) {
            return fault_body(state, body, "velocity");
        }
        // a spin whose square overflows leaves no orientation at all: nothing, not NaN
        bool has_orientation = pose[3] != 0.0 || pose[4] != 0.0 || pose[5] != 0.0 || pose[6] != 0.0;
        if (!numbers_fit_float(pose, 7) || !has_orientation) {
            return fault_body(state, body, "pose");
        }
    }
    return fault_check_impulses(state);
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
        memcpy(world->velocity + 6 * (size_t)state->body_of_tree[tree],
               state->stepper->v + 6 * (size_t)tree, 6 * sizeof(double));
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
