// SPDX-License-Identifier: MIT
// A running sum that does not drift: the double nearest to it, and what that leaves out.
//
//     value + rest = the sum,   |rest| <= half an ulp of value
//
// A plain sum of n equal numbers is off by up to n/2 ulps. Here every addition is exact but for one
// rounding of the rest, 2^-53 of half an ulp: 10^9 additions leave the value within half an ulp of
// the true sum (Knuth's two-sum, Dekker's renormalisation). Both numbers are state: who goes on
// from the value alone goes on from another sum.
#pragma once

#include <stdbool.h>

typedef struct Sum {
    double value, rest;
} Sum;

// value and rest of a + b, exactly
static inline Sum sum_of_two(double a, double b) {
    double value = a + b;
    double b_taken = value - a;
    double a_taken = value - b_taken;
    return (Sum){value, (a - a_taken) + (b - b_taken)};
}

static inline Sum sum_add(Sum sum, double more) {
    Sum added = sum_of_two(sum.value, more);
    return sum_of_two(added.value, added.rest + sum.rest);
}

// Whether the two numbers are such a sum, and finite.
static inline bool sum_is_sound(Sum sum) {
    // an infinity or NaN leaves NaN as the rest, which equals nothing
    Sum made = sum_of_two(sum.value, sum.rest);
    return made.value == sum.value && made.rest == sum.rest;
}
