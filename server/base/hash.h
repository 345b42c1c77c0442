// SPDX-License-Identifier: MIT
// A fast 64-bit hash of byte strings, the same on every machine: eight 64-bit words per round into
// four accumulators, each round one 64x64 -> 128 bit multiplication per pair, folded. Not
// cryptographic: it proves equality against accidents, not against forgers. Feeding the same bytes
// in other pieces gives the same value. Words are read as little-endian.
//
// With seed 0 the eighth word of the whole multiplies the seventh as it is: where it is 0, the
// seventh counts for nothing. So what is hashed with seed 0 has no 0 there (a snapshot has its time
// step, a saved group its number of worlds), or is told by something else (a chunk that ends with
// step 0 has begun with it).
#pragma once

#include <stddef.h>
#include <stdint.h>

enum { HASH_BLOCK_BYTES = 64 };

typedef struct Hash {
    uint64_t accumulator[4];
    uint64_t total_bytes;
    unsigned char block[HASH_BLOCK_BYTES]; // the start of a block that is not yet full
} Hash;

void hash_init(Hash *hash, uint64_t seed);
void hash_add(Hash *hash, const void *bytes, size_t count);

// The value so far; more may be added.
uint64_t hash_value(const Hash *hash);

// All at once.
uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed);
