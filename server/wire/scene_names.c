// SPDX-License-Identifier: MIT
#include "wire/scene_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACE_BYTES = 48 };

typedef struct Entry {
    const char *name;
    size_t index;
} Entry;

static int compare(const void *a, const void *b) {
    const Entry *left = a, *right = b;
    const int order = strcmp(left->name, right->name);
    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const Entry *)a)->name, ((const Entry *)b)->name);
}

static bool is_taken(const Entry *entries, size_t count, const char *name) {
    const Entry wanted = {.name = name};
    return count > 0 && bsearch(&wanted, entries, count, sizeof(*entries), compare_names) != NULL;
}

static char *keep(const char *text, Arena *arena) {
    const size_t bytes = strlen(text) + 1;
    char *kept = arena_take(arena, bytes);
    return kept == NULL ? NULL : memcpy(kept, text, bytes);
}

// "what-3" of the fourth; or a number that no other thing comes to, as all count on by `things`.
static char *generate(const Entry *entries, size_t count, const char *what, size_t index,
                      size_t things, Arena *arena) {
    char text[PLACE_BYTES];
    do {
        snprintf(text, sizeof(text), "%.16s-%zu", what, index);
        index += things;
    } while (is_taken(entries, count, text));
    return keep(text, arena);
}

static char *place(size_t index, char text[PLACE_BYTES]) {
    snprintf(text, PLACE_BYTES, "#%zu", index);
    return text;
}

bool scene_names_make(const char **names, size_t count, const bool *needs, const char *what,
                      Arena *arena) {
    Entry *entries = arena_take_array(arena, count, sizeof(*entries));
    if (entries == NULL) {
        return false;
    }
    size_t named = 0;
    for (size_t i = 0; i < count; i++) {
        if (names[i] != NULL && names[i][0] != '\0') {
            entries[named++] = (Entry){names[i], i};
        }
    }
    qsort(entries, named, sizeof(*entries), compare);
    for (size_t i = 0; i < count; i++) {
        char text[PLACE_BYTES];
        const bool is_nameless = names[i] == NULL || names[i][0] == '\0';
        const bool must = (needs != NULL && needs[i]) || is_taken(entries, named, place(i, text));
        if (is_nameless) {
            names[i] = must ? generate(entries, named, what, i, count, arena) : NULL;
        }
        if (is_nameless && must && names[i] == NULL) {
            return false;
        }
    }
    for (size_t i = 1; i < named; i++) {
        if (compare_names(&entries[i - 1], &entries[i]) == 0) {
            const size_t index = entries[i].index;
            names[index] = generate(entries, named, what, index, count, arena);
            if (names[index] == NULL) {
                return false;
            }
        }
    }
    return true;
}

char *scene_names_refer(const char *name, size_t index, Arena *arena) {
    char text[PLACE_BYTES];
    return keep(name != NULL ? name : place(index, text), arena);
}
