// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include <string.h>

__extension__ typedef unsigned __int128 Product;

// Odd constants with about as many ones as zeros (fractional parts of the square roots of 2, 3, 5,
// 7, made odd): they keep a zero word from stopping a multiplication.
static const uint64_t key[8] = {0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu,
                                0xa54ff53a5f1d36f1u, 0x510e527fade682d1u, 0x9b05688c2b3e6c1fu,
                                0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};

static uint64_t fold(uint64_t a, uint64_t b) {
    Product product = (Product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t load(const unsigned char *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof(word));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

static void mix_block(uint64_t accumulator[4], const unsigned char *block) {
    for (size_t i = 0; i < 4; i++) {
        // the old value enters by a rotation and an addition, so that a product that happens to be
        // zero loses nothing of the past
        uint64_t product = fold(load(block + 16 * i) ^ key[2 * i],
                                load(block + 16 * i + 8) ^ key[2 * i + 1] ^ accumulator[i]);
        accumulator[i] = (accumulator[i] << 29 | accumulator[i] >> 35) + product;
    }
}

void hash_init(Hash *hash, uint64_t seed) {
    *hash = (Hash){0};
    for (int i = 0; i < 4; i++) {
        hash->accumulator[i] = seed + key[i + 4];
    }
}

void hash_add(Hash *hash, const void *bytes, size_t count) {
    const unsigned char *next = bytes;
    size_t held = hash->total_bytes % HASH_BLOCK_BYTES;
    hash->total_bytes += count;
    if (count == 0) {
        return;
    }
    if (held > 0) {
        size_t piece = HASH_BLOCK_BYTES - held < count ? HASH_BLOCK_BYTES - held : count;
        memcpy(hash->block + held, next, piece);
        next += piece;
        count -= piece;
        if (held + piece < HASH_BLOCK_BYTES) {
            return;
        }
        mix_block(hash->accumulator, hash->block);
    }
    // they live in registers for the long run
    uint64_t accumulator[4] = {hash->accumulator[0], hash->accumulator[1], hash->accumulator[2],
                               hash->accumulator[3]};
    for (; count >= HASH_BLOCK_BYTES; next += HASH_BLOCK_BYTES, count -= HASH_BLOCK_BYTES) {
        mix_block(accumulator, next);
    }
    memcpy(hash->accumulator, accumulator, sizeof(accumulator));
    memcpy(hash->block, next, count);
}

uint64_t hash_value(const Hash *hash) {
    uint64_t accumulator[4] = {hash->accumulator[0], hash->accumulator[1], hash->accumulator[2],
                               hash->accumulator[3]};
    size_t held = hash->total_bytes % HASH_BLOCK_BYTES;
    if (held > 0) {
        unsigned char block[HASH_BLOCK_BYTES] = {0};
        memcpy(block, hash->block, held);
        mix_block(accumulator, block);
    }
    uint64_t value = hash->total_bytes ^ key[0];
    for (int i = 0; i < 4; i++) {
        value = fold(value ^ key[i + 1], accumulator[i] ^ key[7 - i]) +
                (accumulator[i] << 17 | accumulator[i] >> 47);
    }
    value ^= value >> 32;
    value *= key[3];
    value ^= value >> 29;
    return value;
}

uint64_t hash_bytes(const void *bytes, size_t count, uint64_t seed) {
    Hash hash;
    hash_init(&hash, seed);
    hash_add(&hash, bytes, count);
    return hash_value(&hash);
}
