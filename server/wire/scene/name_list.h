// SPDX-License-Identifier: MIT
// Names of a scene's things, sorted, so that a scene of many finds one fast.
#pragma once

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct NameEntry {
    const char *name;
    size_t index; // of the thing
} NameEntry;

typedef struct NameList {
    NameEntry *entry; // by name, of one name by index
    size_t count;
} NameList;

// Room for `most` names. false: the arena ends.
bool name_list_begin(NameList *list, size_t most, Arena *arena);

// NULL and "" are no names.
void name_list_add(NameList *list, const char *name, size_t index);

// Once all are added; before any of what follows.
void name_list_sort(NameList *list);

// NULL: nothing is called so.
const NameEntry *name_list_find(const NameList *list, const char *name);

// Whether the entry, of 1 and more, has the name of the one before it.
bool name_list_repeats(const NameList *list, size_t entry);

// The second thing of a name that two have. NULL: none.
const NameEntry *name_list_double(const NameList *list);
