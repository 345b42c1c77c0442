// SPDX-License-Identifier: MIT
#include "run/worlds/spaces.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>

void spaces_deinit(Spaces *spaces) {
    for (size_t i = 0; i < spaces->count; i++) {
        free(spaces->list[i].item);
    }
    free(spaces->list);
    *spaces = (Spaces){0};
}

bool spaces_reserve(Spaces *spaces, uint32_t space) {
    ASSERT(space != SPACE_ALL);
    if (!ARRAY_RESERVE(spaces->list, spaces->capacity, (size_t)space + 1)) {
        return false;
    }
    while (spaces->count <= space) {
        spaces->list[spaces->count++] = (SpaceList){0};
    }
    SpaceList *list = &spaces->list[space];
    return ARRAY_RESERVE(list->item, list->capacity, (size_t)list->count + 1);
}

uint32_t spaces_add(Spaces *spaces, uint32_t space, void *item) {
    ASSERT(space < spaces->count);
    SpaceList *list = &spaces->list[space];
    ASSERT(list->count < list->capacity);
    list->item[list->count] = item;
    return list->count++;
}

void *spaces_remove(Spaces *spaces, uint32_t space, uint32_t index) {
    ASSERT(space < spaces->count);
    SpaceList *list = &spaces->list[space];
    ASSERT(index < list->count);
    list->count--;
    if (index == list->count) {
        return NULL;
    }
    list->item[index] = list->item[list->count];
    return list->item[index];
}

uint32_t spaces_count(const Spaces *spaces, uint32_t space) {
    return space < spaces->count ? spaces->list[space].count : 0;
}

void *spaces_at(const Spaces *spaces, uint32_t space, uint32_t index) {
    return index < spaces_count(spaces, space) ? spaces->list[space].item[index] : NULL;
}
