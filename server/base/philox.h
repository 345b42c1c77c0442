// SPDX-License-Identifier: MIT
// Random streams: Philox 4x64 with ten rounds (Salmon and others 2011, "Parallel random numbers: as
// easy as 1, 2, 3"). A stream is a pure function of its key and of where in it one stands: nothing
// is handed from one draw to the next, so any episode's numbers can be drawn again alone, in any
// order, by anyone. NumPy draws the same words:
//
//     numpy.random.Philox(key=[seed, world], counter=[0, 0, episode, 0]).random_raw(n)
//
// and the same uniform numbers: numpy.random.Generator(...).random(n).
#pragma once

#include <stdint.h>

enum { PHILOX_WORDS = 4 };

typedef struct Philox {
    uint64_t key[2];
    uint64_t counter[PHILOX_WORDS]; // of the block that was made last
    uint64_t block[PHILOX_WORDS];
    uint32_t used; // words of it
} Philox;

// World `world` of a group with that seed, in its episode `episode`; both counted from 0.
Philox philox_stream(uint64_t seed, uint64_t world, uint64_t episode);

uint64_t philox_word(Philox *stream);

// In [0, 1): 53 bits of a word.
double philox_uniform(Philox *stream);

// The block of a counter alone, ten rounds.
void philox_block(const uint64_t counter[PHILOX_WORDS], const uint64_t key[2],
                  uint64_t block[PHILOX_WORDS]);
