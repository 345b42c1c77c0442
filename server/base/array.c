// SPDX-License-Identifier: MIT
#include "base/array.h"

#include <stdint.h>
#include <stdlib.h>

// From so many items on an array grows by a quarter: what is spare of it counts. Of items, not of
// bytes: columns of one capacity grow alike, whatever an item of each is.
enum { LARGE_ITEMS = 256 };

bool array_reserve(void **items, size_t *capacity, size_t count, size_t item_bytes) {
    if (count <= *capacity) {
        return true;
    }
    size_t wanted = *capacity + *capacity / (*capacity >= LARGE_ITEMS ? 4 : 2);
    if (wanted < count) {
        wanted = count;
    }
    if (wanted > PTRDIFF_MAX / item_bytes) { // no object is larger
        return false;
    }
    void *grown = realloc(*items, wanted * item_bytes);
    if (grown == NULL) {
        return false;
    }
    *items = grown;
    *capacity = wanted;
    return true;
}

void array_give_back(void **items, size_t *capacity, size_t before, size_t item_bytes) {
    if (before >= *capacity) {
        return;
    }
    void *less = NULL;
    if (before == 0) {
        free(*items);
    } else if ((less = realloc(*items, before * item_bytes)) == NULL) {
        return;
    }
    *items = less;
    *capacity = before;
}
