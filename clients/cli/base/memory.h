// SPDX-License-Identifier: MIT
// Memory of a short-lived tool: when there is none left it says so and ends, so that no caller has
// to.
#pragma once

#include <stddef.h>

// What a library's allocating function returned.
void *memory_must(void *memory);

// Zeroed; freed with free.
void *memory_take(size_t count, size_t item_bytes);
void *memory_grow(void *items, size_t count, size_t item_bytes);
char *memory_copy(const char *text);
