// SPDX-License-Identifier: MIT
// Where bodies would go without contacts: v* = v + h M^-1 F, the same under every integrator, as
// gravity and wrenches are constant for a step. The spin of a body that is not round also changes
// by itself (spin.c). World axes at the old orientation.
#include "step/stages.h"

#include "base/array.h"
#include "base/assert.h"

static FreeMass place_mass(const BodyMass *mass, Quat orientation) {
    VALIDATE(mass->mass > 0.0);
    if (mass->is_round) { // and so does its inverse
        return (FreeMass){mass->mass, 1.0 / mass->mass, mass->inertia, mass->inverse_inertia};
    }
    const Mat3 turn = quat_to_mat3(orientation);
    return problem_free_mass(mass->mass, tree_body_inertia(mass, &turn));
}

static Status take_memory(StepState *state) {
    const World *world = state->world;
    Stepper *stepper = state->stepper;
    size_t bodies = world->body_count, trees = state->tree_count;
    const size_t tree_bytes = sizeof(FreeMass) + sizeof(ProblemTree) + sizeof(uint32_t);
    size_t places = places_bytes(state);
    const size_t links = state->wide_link_count;
    const size_t turning =
        world->settings.integrator == INTEGRATOR_RK4 ? 3 * (size_t)state->free_count : 0;
    size_t bytes = places + links * sizeof(ProblemLink) + trees * tree_bytes +
                   (2 * state->velocity_count + turning) * sizeof(double) +
                   bodies * sizeof(uint32_t);
    if (bytes > stepper->bytes_max ||
        !ARRAY_RESERVE(stepper->memory, stepper->memory_capacity, bytes + (bytes == 0))) {
        return error_set(
            state->error, STATUS_RESOURCE_EXHAUSTED, "",
            "The memory budget (option --memory-bytes-max) does not hold a step of %zu bodies.",
            bodies);
    }
    // the widest numbers first, so that all are aligned
    places_take(state, stepper->memory);
    unsigned char *at = stepper->memory + places;
    stepper->v = stage_take_part(&at, state->velocity_count, sizeof(double));
    state->v_free = stage_take_part(&at, state->velocity_count, sizeof(double));
    double *of_free = stage_take_part(&at, turning, sizeof(double));
    state->turning = turning > 0 ? of_free : NULL;
    state->problem_link = stage_take_part(&at, links, sizeof(ProblemLink));
    state->free = stage_take_part(&at, trees, sizeof(FreeMass));
    state->tree = stage_take_part(&at, trees, sizeof(ProblemTree));
    stepper->tree_of_body = stage_take_part(&at, bodies, sizeof(uint32_t));
    state->body_of_tree = stage_take_part(&at, trees, sizeof(uint32_t));
    return STATUS_OK;
}

// adds h M^-1 of the wrenches to the free velocities of their bodies
static void add_wrenches(StepState *state) {
    const StepInput *input = state->input;
    for (size_t i = 0; i < input->wrench_count; i++) {
        uint32_t body = input->wrench_body[i];
        uint32_t tree = state->stepper->tree_of_body[body];
        if (tree >= state->free_count) {
            continue; // kinematic and static bodies do not feel forces, and sleepers but none;
                      // trees of joints have felt them already
        }
        const double *wrench = input->wrench + 6 * i;
        double *v = state->v_free + 6 * (size_t)tree;
        const FreeMass *mass = &state->free[tree];
        double h = input->time_step;
        vec3_store(v, vec3_add_scaled(vec3_load(v), h * mass->inverse_mass, vec3_load(wrench)));
        vec3_store(v + 3,
                   vec3_add_scaled(vec3_load(v + 3), h,
                                   sym3_mul_vec(mass->inverse_inertia, vec3_load(wrench + 3))));
    }
}

static void fly_block(void *work, uint32_t block) {
    const StepState *state = work;
    const World *world = state->world;
    double h = state->input->time_step;
    uint32_t end = stage_block_end(block, state->free_count);
    for (uint32_t tree = block * STAGE_BLOCK; tree < end; tree++) {
        uint32_t body = state->body_of_tree[tree];
        const double *velocity = world->velocity + 6 * (size_t)body;
        double *v = state->v_free + 6 * (size_t)tree;
        state->tree[tree] = (ProblemTree){.first = 6 * tree, .width = 6, .is_free = true};
        state->free[tree] =
            place_mass(&world->mass[body], pose_load(world->pose + 7 * (size_t)body).orientation);
        vec3_store(v, vec3_add_scaled(vec3_load(velocity), h, world->settings.gravity));
        vec3_store(v + 3, vec3_load(velocity + 3));
    }
}

// once the wrenches have kicked them
static void spin_block(void *work, uint32_t block) {
    const StepState *state = work;
    const World *world = state->world;
    const double h = state->input->time_step;
    uint32_t end = stage_block_end(block, state->free_count);
    for (uint32_t tree = block * STAGE_BLOCK; tree < end; tree++) {
        uint32_t body = state->body_of_tree[tree];
        if (world->mass[body].is_round && state->turning == NULL) {
            continue; // w x I w = 0
        }
        const Vec3 before = vec3_load(world->velocity + 6 * (size_t)body + 3);
        double *w = state->v_free + 6 * (size_t)tree + 3;
        if (state->turning != NULL) {
            const SpinFlight flight =
                spin_by_stages(&world->settings, &state->free[tree], h, before, vec3_load(w));
            if (!world->mass[body].is_round) { // whose spin is the world's
                vec3_store(w, flight.after);
            }
            vec3_store(state->turning + 3 * (size_t)tree, flight.turning);
        } else {
            vec3_store(w, spin_free(&world->settings, &state->free[tree], h, before, vec3_load(w)));
        }
    }
}

static void list_trees(StepState *state) {
    const World *world = state->world;
    uint32_t tree = 0;
    for (uint32_t body = 0; body < world->body_count; body++) {
        bool is_tree = world->kind[body] == BODY_DYNAMIC && !stage_is_still(state, body);
        const StepTree *articulated = stage_tree(state, body);
        if (articulated != NULL) {
            state->stepper->tree_of_body[body] = articulated->problem;
            continue;
        }
        state->stepper->tree_of_body[body] = is_tree ? tree : PROBLEM_NO_TREE;
        if (is_tree) {
            state->body_of_tree[tree++] = body;
        }
    }
    ASSERT(tree == state->free_count);
}

Status free_motion_run(StepState *state) {
    ASSERT(state->free_count <= state->world->dynamic_count);
    ASSERT(state->input->time_step > 0.0);
    Status status = articulate_begin(state);
    status = STATUS_THEN(status, take_memory(state));
    if (status != STATUS_OK) {
        return status;
    }
    const Tasks *tasks = state->input->context.tasks;
    uint32_t block_count = tasks_blocks(state->free_count, STAGE_BLOCK);
    list_trees(state);
    tasks_run(tasks, fly_block, state, block_count);
    add_wrenches(state);
    tasks_run(tasks, spin_block, state, block_count);
    ASSERT(state->free_count <= state->tree_count);
    ASSERT(state->velocity_count >= 6 * (size_t)state->free_count);
    state->stepper->number_count = 0; // those of the step before are not looked at any more
    return state->articulated_count == 0 ? STATUS_OK : articulate_fly(state);
}
