// SPDX-License-Identifier: MIT
// What is written for AVX2 gives the bits of what every machine has.
#include "support/suite.h"

#if defined(__x86_64__)

#define SIMD_COUNT 4
#define SIMD_AVX2
#include "base/simd.h"

static const double values[] = {0.0,   -0.0,     2.0,       -1.5, 5e-324,
                                1e308, INFINITY, -INFINITY, NAN,  0x1.fffffffffffffp-3};

enum { COUNT = sizeof(values) / sizeof(values[0]) };

static void expect_bits(double found, double expected) {
    ck_assert(isnan(expected) ? isnan(found) : found == expected);
    ck_assert(isnan(expected) || !signbit(found) == !signbit(expected));
}

// Every choice of places, of every pair of numbers.
static __attribute__((target("avx2"))) void expect_choices(double a, double b) {
    for (unsigned bits = 0; bits < 1u << 4; bits++) {
        const SimdMask mask = -(SimdMask){bits & 1u, bits >> 1 & 1u, bits >> 2 & 1u, bits >> 3};
        ck_assert_uint_eq(simd_bits(mask), bits);
        ck_assert_int_eq(simd_any(mask), bits != 0);
        const Simd of = simd_choose(mask, (Simd){a, a, a, a}, (Simd){b, b, b, b});
        for (unsigned place = 0; place < 4; place++) {
            expect_bits(of[place], (bits >> place & 1u) != 0 ? a : b);
        }
    }
}

START_TEST(choices_are_those_of_each_place) {
    for (int i = 0; i < COUNT * COUNT && __builtin_cpu_supports("avx2"); i++) {
        expect_choices(values[i / COUNT], values[i % COUNT]);
    }
}
END_TEST

static void add_tests(TCase *tcase) {
    tcase_add_test(tcase, choices_are_those_of_each_place);
}

#else

static void add_tests(TCase *tcase) {
    (void)tcase; // there is none
}

#endif

static TCase *case_simd(void) {
    TCase *tcase = tcase_create("simd");
    add_tests(tcase);
    return tcase;
}

SUITE_MAIN("base/simd_avx2", case_simd)
