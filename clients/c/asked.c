// SPDX-License-Identifier: MIT
#include "asked.h"

#include <stdlib.h>

enum { CAPACITY_MIN = 16 };

void asked_deinit(AskedList *list) {
    for (size_t i = list->first; i < list->end; i++) {
        free(list->item[i].frame);
    }
    free(list->item);
    *list = (AskedList){0};
}

static void drop_over(AskedList *list) {
    size_t kept = 0;
    for (size_t i = list->first; i < list->end; i++) {
        if (!list->item[i].is_over) {
            list->item[kept++] = list->item[i];
        }
    }
    list->first = 0;
    list->end = kept;
}

// Those that are over are dropped once they are half of the room, so that as many come before it
// happens again.
bool asked_reserve(AskedList *list) {
    if (list->end < list->capacity) {
        return true;
    }
    if (2 * list->count <= list->capacity && list->capacity > 0) {
        drop_over(list);
        return true;
    }
    const size_t capacity = list->capacity > 0 ? 2 * list->capacity : CAPACITY_MIN;
    Asked *grown = realloc(list->item, capacity * sizeof(*grown));
    if (grown == NULL) {
        return false;
    }
    list->item = grown;
    list->capacity = capacity;
    return true;
}

void asked_add(AskedList *list, uint64_t id, uint8_t *frame, size_t frame_bytes) {
    list->item[list->end++] = (Asked){.id = id, .frame = frame, .frame_bytes = frame_bytes};
    list->count++;
}

Asked *asked_find(const AskedList *list, uint64_t id) {
    size_t first = list->first, end = list->end;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        if (list->item[middle].id < id) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first < list->end && list->item[first].id == id && !list->item[first].is_over
               ? &list->item[first]
               : NULL;
}

void asked_forget(AskedList *list, Asked *asked) {
    free(asked->frame);
    asked->frame = NULL;
    asked->is_over = true;
    list->count--;
    while (list->first < list->end && list->item[list->first].is_over) {
        list->first++;
    }
    if (list->first == list->end) {
        list->first = list->end = 0;
    }
}
