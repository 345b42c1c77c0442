// SPDX-License-Identifier: MIT
// The rows of a step's problem: a list that grows, and what they start from. Rows come in the order
// of their joints and parts, as does what the world remembers of them.
#include "step/rows/rows.h"

#include "base/assert.h"
#include "base/array.h"

#include <string.h>

// Keys rise.
static bool is_behind(const Stepper *stepper, uint32_t joint, uint32_t part) {
    const StepRow *last = &stepper->row_key[stepper->row_count - 1];
    return last->joint < joint || (last->joint == joint && last->part < part);
}

ProblemRow *rows_add(StepState *state, uint32_t joint, uint32_t part) {
    ASSERT(joint < state->world->joint_count);
    ASSERT(state->stepper->row_count == 0 || is_behind(state->stepper, joint, part));
    Stepper *stepper = state->stepper;
    const size_t count = (size_t)stepper->row_count + 1;
    if ((count > stepper->row_capacity && stepper_bytes(stepper) > stepper->bytes_max) ||
        !ARRAY_RESERVE(stepper->row, stepper->row_capacity, count) ||
        !ARRAY_RESERVE(stepper->row_key, stepper->row_key_capacity, count) ||
        !ARRAY_RESERVE(stepper->row_impulse, stepper->row_impulse_capacity, 2 * count)) {
        return NULL;
    }
    ProblemRow *row = &stepper->row[stepper->row_count];
    *row = (ProblemRow){.block_first = stepper->row_block_count,
                        .stiffness = PROBLEM_INFINITE_STIFFNESS};
    stepper->row_key[stepper->row_count++] = (StepRow){.joint = joint, .part = part};
    return row;
}

StepRow *rows_last(const StepState *state) {
    ASSERT(state->stepper->row_count > 0);
    return &state->stepper->row_key[state->stepper->row_count - 1];
}

double *rows_add_block(StepState *state, ProblemRow *row, uint32_t tree) {
    ASSERT(tree < state->tree_count);
    ASSERT(row == &state->stepper->row[state->stepper->row_count - 1]);
    Stepper *stepper = state->stepper;
    const size_t width = state->tree[tree].width, count = stepper->number_count + width;
    if (count > UINT32_MAX ||
        !ARRAY_RESERVE(stepper->row_block, stepper->row_block_capacity,
                       (size_t)stepper->row_block_count + 1) ||
        !ARRAY_RESERVE(stepper->number, stepper->number_capacity, count)) {
        return NULL;
    }
    double *block = stepper->number + stepper->number_count;
    stepper->row_block[stepper->row_block_count++] =
        (RowBlock){.tree = tree, .jacobian = (uint32_t)stepper->number_count};
    stepper->number_count = count;
    row->block_count++;
    return memset(block, 0, width * sizeof(double));
}

void rows_limit(const StepState *state, ProblemRow *row, double gap) {
    const double wanted =
        state->solver_row->bias(state->stepper->solver.parameter, state->input->time_step, gap);
    row->is_position = true;
    row->high = HUGE_VAL;
    row->gap = gap;
    row->bias = fmax(wanted, -state->world->settings.recovery_speed);
}

// Both lists are sorted alike.
static void recall(const StepState *state, double *warm) {
    const World *world = state->world;
    const Stepper *stepper = state->stepper;
    size_t next = 0;
    for (uint32_t i = 0; i < stepper->row_count; i++) {
        const StepRow key = stepper->row_key[i];
        const JointMemory *memory = world->joint_memory;
        while (next < world->joint_memory_count &&
               (memory[next].joint < key.joint ||
                (memory[next].joint == key.joint && memory[next].part < key.part))) {
            next++;
        }
        const bool is_known = next < world->joint_memory_count && memory[next].joint == key.joint &&
                              memory[next].part == key.part;
        // what a drive or dry friction gave last time may be more than it can now
        const ProblemRow *row = &stepper->row[i];
        warm[i] = is_known ? fmin(fmax(memory[next].impulse, row->low), row->high) : 0.0;
    }
}

void rows_assemble(StepState *state) {
    ASSERT(state->stepper->number_count <= state->stepper->number_capacity);
    Stepper *stepper = state->stepper;
    ContactProblem *problem = &stepper->problem;
    problem->number = stepper->number;
    problem->number_count = stepper->number_count;
    problem->row = stepper->row;
    problem->row_block = stepper->row_block;
    problem->row_count = stepper->row_count;
    problem->row_block_count = stepper->row_block_count;
    if (stepper->row_count > 0) {
        problem->warm_row = stepper->row_impulse + stepper->row_count;
        recall(state, stepper->row_impulse + stepper->row_count);
    }
}

// What a row makes of the velocities before the step, and of those after it.
static void rates_of(const StepState *state, const ProblemRow *row, double *before, double *after) {
    const Stepper *stepper = state->stepper;
    *before = *after = 0.0;
    for (uint32_t b = row->block_first; b < row->block_first + row->block_count; b++) {
        const RowBlock *block = &stepper->row_block[b];
        const ProblemTree *tree = &state->tree[block->tree];
        const double *v1 = stepper->v + tree->first,
                     *v0 = stage_velocities_before(state, block->tree),
                     *jacobian = stepper->number + block->jacobian;
        for (uint32_t k = 0; k < tree->width; k++) {
            *before += jacobian[k] * v0[k];
            *after += jacobian[k] * v1[k];
        }
    }
}

// Of a spring where it keeps its energy: h/2 k x v - h^2/8 k v^2 (spring.h).
static double spring_swing(const StepRow *key, double h, double stretch, double rate) {
    return (1.0 - key->old) * 0.5 * h * key->stiffness * rate * (stretch - 0.25 * h * rate);
}

// The work of a spring is the scheme's, as what it holds is part of the energy; a damper's is
// applied. What holds its other end from where nothing can push it, moves it.
static void book_spring(const StepState *state, const StepRow *key, double before, double after,
                        double impulse, StepEnergy *energy) {
    const double rate = 0.5 * (before + after) + key->motion;
    const double damping = -key->damper * (before + key->share * (after - before) + key->motion);
    energy->applied += damping * rate;
    energy->scheme += (impulse - damping) * rate;
    energy->drive -= impulse * key->motion;
    if (integrator_of_pushed(state->world->settings.integrator) == INTEGRATOR_SYMPLECTIC) {
        const double h = state->input->time_step, w0 = before + key->motion,
                     w1 = after + key->motion;
        energy->swing += spring_swing(key, h, key->stretch + h * w1, w1) -
                         spring_swing(key, h, key->stretch, w0);
    }
}

// The work of rows, by the mean of the velocities before and after: out of what contacts and rows
// did together.
void rows_book(const StepState *state, StepEnergy *energy) {
    const Stepper *stepper = state->stepper;
    for (uint32_t i = 0; i < stepper->row_count; i++) {
        const StepRow *key = &stepper->row_key[i];
        const double impulse = state->result.answer.row_impulse[i];
        double before, after;
        rates_of(state, &stepper->row[i], &before, &after);
        const double work = 0.5 * (before + after) * impulse;
        energy->contact -= work;
        switch (key->kind) {
        case STEP_ROW_HOLDS:
            energy->row += work + impulse * key->motion;
            energy->drive -= impulse * key->motion;
            break;
        case STEP_ROW_DRIVES:
            energy->drive += work;
            break;
        case STEP_ROW_SPRINGS:
            book_spring(state, key, before, after, impulse, energy);
            break;
        }
    }
}

bool rows_reserve_memory(StepState *state) {
    World *world = state->world;
    return ARRAY_RESERVE(world->joint_memory, world->joint_memory_capacity,
                         world->joint_memory_count + state->stepper->row_count);
}

// What joints of sleepers bore is theirs to start from when they wake.
static size_t keep_of_sleepers(const StepState *state) {
    const World *world = state->world;
    size_t kept = 0;
    for (size_t i = 0; state->asleep_count > 0 && i < world->joint_memory_count; i++) {
        const JointMemory memory = world->joint_memory[i];
        if (stage_joint_sleeps(state, &world->joint[memory.joint])) {
            world->joint_memory[kept++] = memory;
        }
    }
    return kept;
}

void rows_remember(StepState *state) {
    World *world = state->world;
    const Stepper *stepper = state->stepper;
    size_t kept = keep_of_sleepers(state), at = kept;
    for (uint32_t i = 0; i < stepper->row_count; i++) {
        at += stepper->row_impulse[i] != 0.0;
    }
    // from behind, so that nothing is written over that is still to be moved
    world->joint_memory_count = at;
    for (uint32_t i = stepper->row_count; i > 0; i--) {
        const StepRow key = stepper->row_key[i - 1];
        const double impulse = stepper->row_impulse[i - 1];
        if (impulse == 0.0) {
            continue;
        }
        while (kept > 0 && world->joint_memory[kept - 1].joint > key.joint) {
            world->joint_memory[--at] = world->joint_memory[--kept];
        }
        world->joint_memory[--at] =
            (JointMemory){.joint = key.joint, .part = key.part, .impulse = impulse};
    }
}
