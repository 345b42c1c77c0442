// SPDX-License-Identifier: MIT
// Chance that repeats: a stream of numbers that depends on its seed alone (splitmix64). Everything
// that a simulated run decides has a stream of its own, so that one more decision in one place does
// not change all others.
#pragma once

#include <stdbool.h>
#include <stdint.h>

typedef struct Dice {
    uint64_t state;
} Dice;

static inline uint64_t dice_bits(Dice *dice) {
    uint64_t x = dice->state += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

// The stream number `stream` of a seed.
static inline Dice dice_make(uint64_t seed, uint64_t stream) {
    Dice dice = {seed * 0xd1342543de82ef95u + stream};
    dice.state = dice_bits(&dice) ^ stream;
    return dice;
}

// Uniform in 0 … sides - 1.
static inline uint64_t dice_roll(Dice *dice, uint64_t sides) {
    return dice_bits(dice) % sides;
}

static inline bool dice_chance(Dice *dice, uint64_t percent) {
    return dice_roll(dice, 100) < percent;
}

// 1 … about 2^bits, each order of magnitude as likely as the next.
static inline uint64_t dice_magnitude(Dice *dice, uint64_t bits) {
    uint64_t top = UINT64_C(1) << dice_roll(dice, bits);
    return top + dice_roll(dice, top);
}
