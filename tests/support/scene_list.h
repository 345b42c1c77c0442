// SPDX-License-Identifier: MIT
// The names of the scenes in folders of tests/scenes, sorted, for tests that take each of them.
#pragma once

#include "base/assert.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SCENE_LIST_MAX = 128 };

typedef struct SceneList {
    char name[SCENE_LIST_MAX][80]; // as "joints/ant"
    int count;
} SceneList;

static inline int scene_list_compare(const void *a, const void *b) {
    return strcmp(a, b);
}

// Those of a folder, as "" or "joints/".
static inline void scene_list_add(SceneList *list, const char *folder) {
    char path[512];
    snprintf(path, sizeof(path), MOREAU_SOURCE_DIR "/tests/scenes/%s", folder);
    DIR *directory = opendir(path);
    ASSERT(directory != NULL);
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        const char *end = strstr(entry->d_name, ".json");
        if (end != NULL) {
            ASSERT(list->count < SCENE_LIST_MAX);
            snprintf(list->name[list->count++], sizeof(list->name[0]), "%.10s%.*s", folder,
                     (int)(end - entry->d_name), entry->d_name);
        }
    }
    closedir(directory);
    qsort(list->name, (size_t)list->count, sizeof(list->name[0]), scene_list_compare);
}
