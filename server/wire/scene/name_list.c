// SPDX-License-Identifier: MIT
#include "wire/scene/name_list.h"

#include <stdlib.h>
#include <string.h>

bool name_list_begin(NameList *list, size_t most, Arena *arena) {
    *list = (NameList){.entry = arena_take_array(arena, most, sizeof(NameEntry))};
    return list->entry != NULL;
}

void name_list_add(NameList *list, const char *name, size_t index) {
    if (name != NULL && name[0] != '\0') {
        list->entry[list->count++] = (NameEntry){name, index};
    }
}

static int compare_names(const void *a, const void *b) {
    const NameEntry *left = a, *right = b;
    return strcmp(left->name, right->name);
}

static int compare(const void *a, const void *b) {
    const NameEntry *left = a, *right = b;
    const int order = compare_names(left, right);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

void name_list_sort(NameList *list) {
    qsort(list->entry, list->count, sizeof(*list->entry), compare);
}

const NameEntry *name_list_find(const NameList *list, const char *name) {
    const NameEntry wanted = {.name = name};
    return list->count == 0
               ? NULL
               : bsearch(&wanted, list->entry, list->count, sizeof(wanted), compare_names);
}

bool name_list_repeats(const NameList *list, size_t entry) {
    return compare_names(&list->entry[entry - 1], &list->entry[entry]) == 0;
}

const NameEntry *name_list_double(const NameList *list) {
    for (size_t i = 1; i < list->count; i++) {
        if (name_list_repeats(list, i)) {
            return &list->entry[i];
        }
    }
    return NULL;
}
