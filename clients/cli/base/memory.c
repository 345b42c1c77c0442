// SPDX-License-Identifier: MIT
#include "cli/base/memory.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *memory_must(void *memory) {
    if (memory == NULL) {
        fputs("moreau: the machine has no memory left for this\n", stderr);
        exit(EXIT_FAILURE);
    }
    return memory;
}

void *memory_take(size_t count, size_t item_bytes) {
    return memory_must(calloc(count > 0 ? count : 1, item_bytes > 0 ? item_bytes : 1));
}

void *memory_grow(void *items, size_t count, size_t item_bytes) {
    if (item_bytes > 0 && count > SIZE_MAX / item_bytes) {
        memory_must(NULL);
    }
    return memory_must(realloc(items, count * item_bytes > 0 ? count * item_bytes : 1));
}

char *memory_copy(const char *text) {
    return memory_must(strdup(text));
}
