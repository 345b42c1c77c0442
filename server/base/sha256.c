// SPDX-License-Identifier: MIT
#include "base/sha256.h"

#include "base/assert.h"
#include "base/hex.h"

#include <string.h>

enum { BLOCK = 64, LENGTH_AT = 56, ROUNDS = 64 };

// The first 32 bits of the cube roots of the first 64 primes, behind the point.
static const uint32_t round_constants[ROUNDS] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turn_right(uint32_t x, unsigned by) {
    return x >> by | x << (32 - by);
}

static uint32_t load_big(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void store_big(uint8_t *at, uint32_t x) {
    at[0] = (uint8_t)(x >> 24);
    at[1] = (uint8_t)(x >> 16);
    at[2] = (uint8_t)(x >> 8);
    at[3] = (uint8_t)x;
}

static void schedule(const uint8_t block[BLOCK], uint32_t w[ROUNDS]) {
    for (size_t i = 0; i < 16; i++) {
        w[i] = load_big(block + 4 * i);
    }
    for (size_t i = 16; i < ROUNDS; i++) {
        const uint32_t a = w[i - 15], b = w[i - 2];
        const uint32_t s0 = turn_right(a, 7) ^ turn_right(a, 18) ^ a >> 3;
        const uint32_t s1 = turn_right(b, 17) ^ turn_right(b, 19) ^ b >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
}

static void add_block(uint32_t state[8], const uint8_t block[BLOCK]) {
    uint32_t w[ROUNDS], s[8];
    schedule(block, w);
    memcpy(s, state, sizeof(s));
    for (size_t i = 0; i < ROUNDS; i++) {
        const uint32_t e = s[4], a = s[0];
        const uint32_t t1 = s[7] + (turn_right(e, 6) ^ turn_right(e, 11) ^ turn_right(e, 25)) +
                            ((e & s[5]) ^ (~e & s[6])) + round_constants[i] + w[i];
        const uint32_t t2 = (turn_right(a, 2) ^ turn_right(a, 13) ^ turn_right(a, 22)) +
                            ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof(s[0]));
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (size_t i = 0; i < 8; i++) {
        state[i] += s[i];
    }
}

void sha256(const void *bytes, size_t count, uint8_t digest[SHA256_BYTES]) {
    ASSERT(bytes != NULL || count == 0);
    // those of the square roots of the first eight primes
    uint32_t state[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const uint8_t *at = bytes;
    size_t left = count;
    for (; left >= BLOCK; at += BLOCK, left -= BLOCK) {
        add_block(state, at);
    }
    uint8_t block[BLOCK] = {0};
    if (left > 0) {
        memcpy(block, at, left);
    }
    block[left] = 0x80;
    if (left >= LENGTH_AT) {
        add_block(state, block);
        memset(block, 0, sizeof(block));
    }
    store_big(block + LENGTH_AT, (uint32_t)((uint64_t)count >> 29));
    store_big(block + LENGTH_AT + 4, (uint32_t)((uint64_t)count << 3));
    add_block(state, block);
    for (size_t i = 0; i < 8; i++) {
        store_big(digest + 4 * i, state[i]);
    }
}

void sha256_text(const uint8_t digest[SHA256_BYTES], char text[SHA256_TEXT_BYTES]) {
    hex_text(digest, SHA256_BYTES, text);
}
