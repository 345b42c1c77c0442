// SPDX-License-Identifier: MIT
#include "base/philox.h"

#include <string.h>

enum { ROUNDS = 10 };

__extension__ typedef unsigned __int128 Wide;

// Multipliers, and what the key grows by in each round (the golden ratio and the root of 3, less
// one), as the paper has them.
static const uint64_t multiplier[2] = {UINT64_C(0xd2e7470ee14c6c93), UINT64_C(0xca5a826395121157)};
static const uint64_t growth[2] = {UINT64_C(0x9e3779b97f4a7c15), UINT64_C(0xbb67ae8584caa73b)};

void philox_block(const uint64_t counter[PHILOX_WORDS], const uint64_t key[2],
                  uint64_t block[PHILOX_WORDS]) {
    uint64_t k[2] = {key[0], key[1]};
    memcpy(block, counter, PHILOX_WORDS * sizeof(*block));
    for (int round = 0; round < ROUNDS; round++) {
        Wide a = (Wide)multiplier[0] * block[0], b = (Wide)multiplier[1] * block[2];
        block[0] = (uint64_t)(b >> 64) ^ block[1] ^ k[0];
        block[1] = (uint64_t)b;
        block[2] = (uint64_t)(a >> 64) ^ block[3] ^ k[1];
        block[3] = (uint64_t)a;
        k[0] += growth[0];
        k[1] += growth[1];
    }
}

Philox philox_stream(uint64_t seed, uint64_t world, uint64_t episode) {
    return (Philox){.key = {seed, world}, .counter = {0, 0, episode, 0}, .used = PHILOX_WORDS};
}

static void next_block(Philox *stream) {
    for (int i = 0; i < PHILOX_WORDS && ++stream->counter[i] == 0; i++) {
    }
    philox_block(stream->counter, stream->key, stream->block);
    stream->used = 0;
}

uint64_t philox_word(Philox *stream) {
    if (stream->used == PHILOX_WORDS) {
        next_block(stream);
    }
    return stream->block[stream->used++];
}

double philox_uniform(Philox *stream) {
    return (double)(philox_word(stream) >> 11) * 0x1p-53;
}
