// SPDX-License-Identifier: MIT
#include "base/decay.h"

#include "base/assert.h"

#include <math.h>

// ln 2 in two parts, of which whole multiples of the first up to 2^11 are exact
#define LN2_HIGH 0x1.62e42fee00000p-1
#define LN2_LOW  0x1.a39ef35793c76p-33

// exp(-r) - 1 for |r| <= ln(2)/2, by its series: the next term is below 1e-18 of r
static double less_one(double r) {
    double sum = 1.0;
    for (int k = 15; k >= 2; k--) {
        sum = 1.0 - r * sum / k;
    }
    return -r * sum;
}

double decay_share(double x) {
    ASSERT(x >= 0.0);
    if (x > 40.0) { // what is left is below half a unit in the last place
        return 1.0;
    }
    const double halvings = floor(x / (LN2_HIGH + LN2_LOW) + 0.5);
    const double r = (x - halvings * LN2_HIGH) - halvings * LN2_LOW;
    const double left = ldexp(1.0, -(int)halvings);
    return (1.0 - left) - left * less_one(r);
}
