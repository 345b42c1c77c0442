// SPDX-License-Identifier: MIT
// Sums and products of doubles with twice their digits, for the few places where digits are lost:
// a number as the sum of two doubles, the second no larger than the rounding of the first. What is
// lost by one operation is found by others, exactly, without fused multiply-add, and the same on
// every machine; compilers must not reorder (they do not: -ffp-contract=off, no fast math).
// Numbers beyond 1e150 or so, and below 1e-145, are outside its range.
#pragma once

typedef struct Twofold {
    double high, low;
} Twofold;

// a + b
static inline Twofold twofold_sum(double a, double b) {
    double sum = a + b, of_b = sum - a;
    return (Twofold){sum, (a - (sum - of_b)) + (b - of_b)};
}

// a b, by halves of 26 bits each
static inline Twofold twofold_product(double a, double b) {
    const double split = 134217729.0; // 2^27 + 1
    double at = split * a, bt = split * b;
    double ah = at - (at - a), bh = bt - (bt - b), al = a - ah, bl = b - bh;
    double product = a * b;
    return (Twofold){product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

// sum + a b; the low part takes what the high one rounds off
static inline Twofold twofold_add_product(Twofold sum, double a, double b) {
    Twofold product = twofold_product(a, b), high = twofold_sum(sum.high, product.high);
    return (Twofold){high.high, sum.low + (high.low + product.low)};
}

static inline double twofold_round(Twofold a) {
    return a.high + a.low;
}

// a d - b c, to the last digit or two, also where the products nearly are the same
static inline double twofold_determinant(double a, double b, double c, double d) {
    return twofold_round(twofold_add_product(twofold_product(a, d), -b, c));
}
