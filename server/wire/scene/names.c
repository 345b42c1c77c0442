// SPDX-License-Identifier: MIT
#include "wire/scene/names.h"

#include "wire/scene/name_list.h"

#include <stdio.h>
#include <string.h>

enum { PLACE_BYTES = 48 };

static char *keep(const char *text, Arena *arena) {
    const size_t bytes = strlen(text) + 1;
    char *kept = arena_take(arena, bytes);
    return kept == NULL ? NULL : memcpy(kept, text, bytes);
}

// "what-3" of the fourth; or a number that no other thing comes to, as all count on by `things`.
static char *generate(const NameList *list, const char *what, size_t index, size_t things,
                      Arena *arena) {
    char text[PLACE_BYTES];
    do {
        snprintf(text, sizeof(text), "%.16s-%zu", what, index);
        index += things;
    } while (name_list_find(list, text) != NULL);
    return keep(text, arena);
}

static char *place(size_t index, char text[PLACE_BYTES]) {
    snprintf(text, PLACE_BYTES, "#%zu", index);
    return text;
}

bool scene_names_make(const char **names, size_t count, const bool *needs, const char *what,
                      Arena *arena) {
    NameList list;
    if (!name_list_begin(&list, count, arena)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        name_list_add(&list, names[i], i);
    }
    name_list_sort(&list);
    for (size_t i = 0; i < count; i++) {
        char text[PLACE_BYTES];
        const bool is_nameless = names[i] == NULL || names[i][0] == '\0';
        const bool must =
            (needs != NULL && needs[i]) || name_list_find(&list, place(i, text)) != NULL;
        if (is_nameless) {
            names[i] = must ? generate(&list, what, i, count, arena) : NULL;
        }
        if (is_nameless && must && names[i] == NULL) {
            return false;
        }
    }
    for (size_t i = 1; i < list.count; i++) {
        if (name_list_repeats(&list, i)) {
            const size_t index = list.entry[i].index;
            names[index] = generate(&list, what, index, count, arena);
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
