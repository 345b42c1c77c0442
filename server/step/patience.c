// SPDX-License-Identifier: MIT
// What a world does about a problem that its solver tries in vain, step after step: after the
// fourth failure on end it tries less hard for one step, after the next for two, then four, and so
// on. What is easy is solved meanwhile as ever, and a step that was spent well ends it. One that is
// divided is in vain where one of its solves was, and what they have borrowed together is paid back
// by as many steps as have the solves for it.
#include "step/stages.h"

#include "base/assert.h"

enum {
    FREE_FAILURES = SOLVER_FAILURES_MAX - 6, // then 1, 2, 4, … 64 steps
    OWED_DOUBLINGS = 3
};

void patience_begin(StepState *state) {
    ASSERT(state->world->solver_wait <= SOLVER_WAIT_MAX);
    ASSERT(state->world->solver_failures <= SOLVER_FAILURES_MAX);
    if (state->world->solver_wait > 0) {
        solver_ease(&state->stepper->solver);
        state->stepper->solver.effort.owed = state->world->solver_wait;
    }
}

static void wait_for_turn(World *world, uint32_t steps) {
    ASSERT(steps <= SOLVER_WAIT_MAX);
    world->solver_wait = (uint8_t)steps;
}

// What a balanced effort has borrowed for what rests is paid back before it borrows again; what was
// in vain, twice, then four times, and eight.
static void owe(World *world, bool is_in_vain, uint32_t owed) {
    ASSERT(world->settings.effort == WORLD_BALANCED);
    const uint8_t failures = world->solver_failures < OWED_DOUBLINGS
                                 ? (uint8_t)(world->solver_failures + 1)
                                 : (uint8_t)OWED_DOUBLINGS;
    world->solver_failures = is_in_vain ? failures : 0;
    const uint32_t steps = owed << world->solver_failures;
    wait_for_turn(world, steps < SOLVER_WAIT_MAX ? steps : SOLVER_WAIT_MAX);
    ASSERT(world->solver_wait > 0);
}

void patience_commit(StepState *state) {
    World *world = state->world;
    const bool is_in_vain = state->solves.is_in_vain;
    const uint32_t substeps = state->substep_count,
                   borrowed = (state->solves.owed + substeps - 1) / substeps;
    if (world->solver_wait > 0) {
        // what is small may have borrowed beside what is owed
        const uint32_t owed = world->solver_wait - 1u + borrowed;
        wait_for_turn(world, owed < SOLVER_WAIT_MAX ? owed : SOLVER_WAIT_MAX);
        return;
    }
    if (borrowed > 0) {
        owe(world, is_in_vain, borrowed);
        return;
    }
    if (!is_in_vain) {
        world->solver_failures = 0;
        return;
    }
    if (world->solver_failures < SOLVER_FAILURES_MAX) {
        world->solver_failures++;
    }
    if (world->solver_failures >= FREE_FAILURES) {
        wait_for_turn(world, 1u << (world->solver_failures - FREE_FAILURES));
    }
}
