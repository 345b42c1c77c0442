// SPDX-License-Identifier: MIT
// Reference numbers of tests/reference/*.json.
#pragma once

#include <jansson.h>
#include <stddef.h>

// The file, parsed; fails the test when it cannot be read. The caller's reference.
json_t *reference_open(const char *file);

// A member, which must be there; borrowed.
json_t *reference_get(json_t *object, const char *key);

// `count` numbers of an array.
void reference_numbers(json_t *object, const char *key, double *numbers, size_t count);
