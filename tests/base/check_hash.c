// SPDX-License-Identifier: MIT
#include "base/hash.h"

#include "support/suite.h"

#include <string.h>

enum { BYTE_COUNT = 300 };

static void fill(unsigned char *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bytes[i] = (unsigned char)(i * 131 + 17);
    }
}

START_TEST(pieces_give_the_value_of_the_whole) {
    unsigned char bytes[BYTE_COUNT];
    fill(bytes, sizeof(bytes));
    uint64_t whole = hash_bytes(bytes, sizeof(bytes), 5);
    for (size_t cut = 0; cut <= sizeof(bytes); cut++) {
        Hash hash;
        hash_init(&hash, 5);
        hash_add(&hash, bytes, cut);
        hash_value(&hash); // asking in between changes nothing
        hash_add(&hash, bytes + cut, sizeof(bytes) - cut);
        ck_assert_uint_eq(hash_value(&hash), whole);
    }
    Hash hash;
    hash_init(&hash, 5);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        hash_add(&hash, &bytes[i], 1);
    }
    ck_assert_uint_eq(hash_value(&hash), whole);
}
END_TEST

START_TEST(every_bit_counts) {
    unsigned char bytes[BYTE_COUNT];
    fill(bytes, sizeof(bytes));
    uint64_t whole = hash_bytes(bytes, sizeof(bytes), 0);
    uint64_t turned = 0;
    for (size_t i = 0; i < 8 * sizeof(bytes); i++) {
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        uint64_t other = hash_bytes(bytes, sizeof(bytes), 0);
        bytes[i / 8] ^= (unsigned char)(1u << i % 8);
        ck_assert_uint_ne(other, whole);
        turned += (uint64_t)__builtin_popcountll(other ^ whole);
    }
    // on average half of 64 bits turn: 2400 samples of 32 +- 4 have a mean within 1 of it by twelve
    // deviations
    double mean = (double)turned / (8.0 * sizeof(bytes));
    ck_assert_double_eq_tol(mean, 32.0, 1.0);
}
END_TEST

START_TEST(length_and_seed_count) {
    static const unsigned char zeros[BYTE_COUNT] = {0};
    uint64_t value[BYTE_COUNT];
    for (size_t count = 0; count < BYTE_COUNT; count++) {
        value[count] = hash_bytes(zeros, count, 0);
        for (size_t k = 0; k < count; k++) {
            ck_assert_uint_ne(value[count], value[k]);
        }
        ck_assert_uint_ne(hash_bytes(zeros, count, 1), value[count]);
    }
}
END_TEST

START_TEST(blocks_that_change_places_are_noticed) {
    unsigned char bytes[4 * HASH_BLOCK_BYTES], swapped[4 * HASH_BLOCK_BYTES];
    for (size_t i = 0; i < sizeof(bytes); i++) {
        bytes[i] = (unsigned char)(i / 16);
    }
    for (size_t from = 0; from < 16; from++) {
        for (size_t to = 0; to < from; to++) {
            memcpy(swapped, bytes, sizeof(bytes));
            memcpy(swapped + 16 * from, bytes + 16 * to, 16);
            memcpy(swapped + 16 * to, bytes + 16 * from, 16);
            ck_assert_uint_ne(hash_bytes(bytes, sizeof(bytes), 0),
                              hash_bytes(swapped, sizeof(bytes), 0));
        }
    }
}
END_TEST

static TCase *case_hash(void) {
    TCase *tcase = tcase_create("hash");
    tcase_add_test(tcase, pieces_give_the_value_of_the_whole);
    tcase_add_test(tcase, every_bit_counts);
    tcase_add_test(tcase, length_and_seed_count);
    tcase_add_test(tcase, blocks_that_change_places_are_noticed);
    return tcase;
}

SUITE_MAIN("base/hash", case_hash)
