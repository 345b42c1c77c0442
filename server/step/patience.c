// SPDX-License-Identifier: MIT
// What a world does about a problem that its solver tries in vain, step after step: after the
// fourth failure on end it tries less hard for one step, after the next for two, then four, and so
// on. What is easy is solved meanwhile as ever, and a step that was spent well ends it.
#include "step/stages.h"

#include "base/assert.h"

enum { FREE_FAILURES = SOLVER_FAILURES_MAX - 6 }; // then 1, 2, 4, … 64 steps

void patience_begin(StepState *state) {
    ASSERT(state->world->solver_wait <= SOLVER_WAIT_MAX);
    ASSERT(state->world->solver_failures <= SOLVER_FAILURES_MAX);
    if (state->world->solver_wait > 0) {
        solver_ease(&state->stepper->solver);
    }
}

void patience_commit(StepState *state) {
    World *world = state->world;
    if (world->solver_wait > 0) {
        world->solver_wait--;
        return;
    }
    if (!state->result.is_in_vain) {
        world->solver_failures = 0;
        return;
    }
    if (world->solver_failures < SOLVER_FAILURES_MAX) {
        world->solver_failures++;
    }
    if (world->solver_failures >= FREE_FAILURES) {
        world->solver_wait = (uint8_t)(1u << (world->solver_failures - FREE_FAILURES));
    }
    ASSERT(state->world->solver_wait <= SOLVER_WAIT_MAX);
    ASSERT(state->world->solver_failures <= SOLVER_FAILURES_MAX);
}
