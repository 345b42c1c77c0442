// SPDX-License-Identifier: MIT
#include "base/philox.h"

#include "support/suite.h"

#include <string.h>

// The vectors that Salmon and others publish with their code.
START_TEST(blocks_are_the_published_ones) {
    static const uint64_t ones = UINT64_MAX;
    static const struct {
        uint64_t counter[4], key[2], block[4];
    } known[] = {
        {{0, 0, 0, 0},
         {0, 0},
         {0x16554d9eca36314c, 0xdb20fe9d672d0fdc, 0xd7e772cee186176b, 0x7e68b68aec7ba23b}},
        {{ones, ones, ones, ones},
         {ones, ones},
         {0x87b092c3013fe90b, 0x438c3c67be8d0224, 0x9cc7d7c69cd777b6, 0xa09caebf594f0ba0}},
        {{0x243f6a8885a308d3, 0x13198a2e03707344, 0xa4093822299f31d0, 0x082efa98ec4e6c89},
         {0x452821e638d01377, 0xbe5466cf34e90c6c},
         {0xa528f45403e61d95, 0x38c72dbd566e9788, 0xa5a1610e72fd18b5, 0x57bd43b5e52b7fe6}},
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        uint64_t block[PHILOX_WORDS];
        philox_block(known[i].counter, known[i].key, block);
        ck_assert_mem_eq(block, known[i].block, sizeof(block));
    }
}
END_TEST

// numpy.random.Philox(key=[7, 3], counter=[0, 0, 5, 0]), of NumPy 2: its words, then what its
// Generator.random draws
START_TEST(numpy_draws_the_same) {
    static const uint64_t words[] = {0xf1785e7f0abe9fef, 0xf739092e74d978b0, 0xf3289cb8a84d1680,
                                     0x81b9107b9343050b, 0xec45e6e64764c3e0, 0x70937960ab9a5b71};
    static const double numbers[] = {0x1.e2f0bcfe157d3p-1, 0x1.ee72125ce9b2fp-1,
                                     0x1.e6513971509a2p-1};
    Philox stream = philox_stream(7, 3, 5);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        ck_assert_uint_eq(philox_word(&stream), words[i]);
    }
    stream = philox_stream(7, 3, 5);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        ck_assert_double_eq(philox_uniform(&stream), numbers[i]);
    }
}
END_TEST

// likewise Philox(key=[2**64 - 1, 2**64 - 1], counter=[2**64 - 1] * 4)
START_TEST(a_counter_goes_round) {
    static const uint64_t words[PHILOX_WORDS] = {0x44b7493d1acfc229, 0x6636af8e997921dd,
                                                 0x3f73e132b5b3780e, 0x605644dde03b01b1};
    Philox stream = philox_stream(UINT64_MAX, UINT64_MAX, 0);
    memset(stream.counter, 0xff, sizeof(stream.counter));
    for (size_t i = 0; i < PHILOX_WORDS; i++) {
        ck_assert_uint_eq(philox_word(&stream), words[i]);
    }
}
END_TEST

START_TEST(streams_of_worlds_and_episodes_differ) {
    enum { SEEDS = 3, WORLDS = 5, EPISODES = 7, ALL = SEEDS * WORLDS * EPISODES };
    uint64_t first[ALL];
    for (uint64_t i = 0; i < ALL; i++) {
        Philox stream = philox_stream(i / (WORLDS * EPISODES), i / EPISODES % WORLDS, i % EPISODES);
        first[i] = philox_word(&stream);
        for (uint64_t k = 0; k < i; k++) {
            ck_assert_uint_ne(first[i], first[k]);
        }
    }
}
END_TEST

// The mean of n uniform numbers has a deviation of 1/sqrt(12 n): 2.9e-4 for a million, of which 6
// are allowed; the mean of the squares, sqrt(4/45/n) = 3.0e-4, likewise.
START_TEST(uniform_numbers_are_uniform) {
    enum { DRAWS = 1000000 };
    Philox stream = philox_stream(1, 0, 0);
    double sum = 0.0, squares = 0.0;
    for (int i = 0; i < DRAWS; i++) {
        double number = philox_uniform(&stream);
        ck_assert(number >= 0.0 && number < 1.0);
        sum += number;
        squares += number * number;
    }
    ck_assert_double_eq_tol(sum / DRAWS, 0.5, 1.8e-3);
    ck_assert_double_eq_tol(squares / DRAWS, 1.0 / 3.0, 1.8e-3);
}
END_TEST

static TCase *case_philox(void) {
    TCase *tcase = tcase_create("philox");
    tcase_add_test(tcase, blocks_are_the_published_ones);
    tcase_add_test(tcase, numpy_draws_the_same);
    tcase_add_test(tcase, a_counter_goes_round);
    tcase_add_test(tcase, streams_of_worlds_and_episodes_differ);
    tcase_add_test(tcase, uniform_numbers_are_uniform);
    return tcase;
}

SUITE_MAIN("base/philox", case_philox)
