// SPDX-License-Identifier: MIT
// Numbers that fall over many powers of ten, drawn in plain characters.
#pragma once

#include <stddef.h>
#include <stdio.h>

// `value` is what was found in the course of `iterations`, `goal` what was aimed for, drawn as a
// line. 80 columns at most, and no more than a terminal has; nothing when there are no values.
void chart_print(FILE *stream, const double *value, size_t count, double goal,
                 unsigned long iterations);
