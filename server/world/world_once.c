// SPDX-License-Identifier: MIT
// Lists of ids from outside, in which none stands twice.
#include "world/world.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct Entry {
    uint64_t id;
    size_t index;
} Entry;

// By id, of one id by index.
static int compare(const void *a, const void *b) {
    const Entry *left = a, *right = b;
    const int order = (left->id > right->id) - (left->id < right->id);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static bool do_rise(const uint64_t *id, size_t count) {
    for (size_t i = 1; i < count; i++) {
        if (id[i] <= id[i - 1]) {
            return false;
        }
    }
    return true;
}

// The first entry whose id stands before it; count: none.
static size_t find_second(const Entry *entry, size_t count) {
    size_t second = count;
    for (size_t i = 1; i < count; i++) {
        const bool is_second = entry[i].id == entry[i - 1].id;
        second = is_second && entry[i].index < second ? entry[i].index : second;
    }
    return second;
}

Status world_check_once(const uint64_t *id, size_t count, const char *column, Error *error) {
    if (do_rise(id, count)) {
        return STATUS_OK;
    }
    Entry *entry = malloc(count * sizeof(*entry));
    if (entry == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while looking through %zu ids.", count);
    }
    for (size_t i = 0; i < count; i++) {
        entry[i] = (Entry){id[i], i};
    }
    qsort(entry, count, sizeof(*entry), compare);
    const size_t second = find_second(entry, count);
    free(entry);
    if (second == count) {
        return STATUS_OK;
    }
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, second);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "The id %llu stands twice.",
                     (unsigned long long)id[second]);
}
