// SPDX-License-Identifier: MIT
#include "histories/ask_disturbed.h"

#include "base/assert.h"
#include "histories/certify.h"
#include "simulate/dice.h"

#include <math.h>
#include <string.h>

// By up to so much of what it is, and of V, a number is disturbed.
static const double disturbance = 1e-3;

static double uniform(Dice *dice) {
    return 2.0 * (double)(dice_bits(dice) >> 11) * 0x1p-53 - 1.0;
}

static double *take(Arena *arena, size_t count) {
    double *numbers = arena_take_zeroed(arena, count, sizeof(double));
    ASSERT(numbers != NULL || count == 0);
    return numbers;
}

// Impulses grow or shrink, so that cones are left as they were; velocities are any.
static Answer disturbed(const ContactProblem *problem, const SolveResult *result, Dice *dice,
                        Arena *arena) {
    Answer answer = result->answer;
    answer.v = take(arena, problem->velocity_count);
    answer.momentum = take(arena, problem->velocity_count);
    answer.contact_impulse = take(arena, 3 * (size_t)problem->contact_count);
    answer.row_impulse = take(arena, problem->row_count);
    for (uint32_t i = 0; i < problem->velocity_count; i++) {
        answer.v[i] = result->answer.v[i] + disturbance * result->certificate.scale * uniform(dice);
    }
    for (uint32_t i = 0; i < problem->contact_count; i++) {
        const double factor = 1.0 + disturbance * uniform(dice);
        for (size_t k = 3 * (size_t)i; k < 3 * (size_t)i + 3; k++) {
            answer.contact_impulse[k] = factor * result->answer.contact_impulse[k];
        }
        problem_contact_momentum(problem, i, answer.contact_impulse + 3 * (size_t)i,
                                 answer.momentum);
    }
    for (uint32_t i = 0; i < problem->row_count; i++) {
        answer.row_impulse[i] = (1.0 + disturbance * uniform(dice)) * result->answer.row_impulse[i];
        problem_row_momentum(problem, i, answer.row_impulse[i], answer.momentum);
    }
    return answer;
}

SolveResult ask_disturbed(const ContactProblem *problem, const SolveResult *result, uint64_t seed,
                          Arena *arena) {
    Dice dice = dice_make(seed, 11);
    SolveResult other = *result;
    other.answer = disturbed(problem, result, &dice, arena);
    other.certificate = certify(problem, &other.answer, result->certificate.tolerance, arena);
    return other;
}
