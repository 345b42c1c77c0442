// SPDX-License-Identifier: MIT
// Normal numbers out of uniform ones, by the rule of Box and Muller (1958, "A note on the
// generation of random normal deviates"), of which only the cosine is taken, so that each number
// costs two uniform ones and depends on nothing before it:
//
//     sqrt(-2 ln(1 - u)) cos(2 pi v),   u and v in [0, 1)
//
// No number is larger than sqrt(-2 ln 2^-53) = 8.6. NumPy gives the same but for its own roundings:
//
//     u, v = generator.random(2); numpy.sqrt(-2 * numpy.log1p(-u)) * numpy.cos(2 * numpy.pi * v)
#pragma once

#include "base/philox.h"

// The natural logarithm of a normal number x > 0, to some 2^-52 of itself.
double gaussian_ln(double x);

double gaussian_of(double u, double v);

// Takes two numbers of the stream.
double gaussian_draw(Philox *stream);
