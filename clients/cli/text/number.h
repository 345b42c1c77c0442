// SPDX-License-Identifier: MIT
// Numbers as text: the shortest that reads back as the same number (9.81, not 9.8100000000000005).
#pragma once

#include <jansson.h>
#include <stdint.h>

enum { NUMBER_BYTES = 32 };

// The fewest digits that give the same double back, and no exponent that can be left out. Writes
// into `text`, returns it.
char *number_write(double number, char text[NUMBER_BYTES]);

// The double whose shortest text is that of a float: 0.1f is 0.1, not 0.10000000149011612.
double number_of_single(float single);

// For our own documents: no zero with a sign, and null for what JSON does not know. A new
// reference.
json_t *number_json(double number);
json_t *number_json_list(const double *numbers, size_t count);

// A count, a step, an id. What 63 bits do not hold becomes a string of digits: no reader of JSON
// would keep it.
json_t *number_json_whole(uint64_t number);

// A state hash uses all 64 bits, of which many readers of JSON keep 53: it is a string of digits.
json_t *number_json_hash(uint64_t hash);
