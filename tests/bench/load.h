// SPDX-License-Identifier: MIT
// Problems and scenes from files, as the command line reads them and a server takes them, for
// benches that need no server. What cannot be read ends the program with its sentence.
#pragma once

#include "bench/scene.h"

#include "moreau.pb-c.h"

enum { LOAD_PATH_BYTES = 512 };

// One JSON file of a folder.
typedef struct LoadFile {
    char path[LOAD_PATH_BYTES];
    char name[64]; // of the file, without its ending
    bool is_scene; // otherwise a contact problem
} LoadFile;

// Those of a folder by name, added to `file`, which holds `capacity`. Returns how many there are
// then.
size_t load_folder(const char *folder, LoadFile *file, size_t count, size_t capacity);

typedef struct LoadProblem {
    ContactProblem problem;              // cold: without impulses to start from
    Moreau__V1__ContactProblem *message; // owned; the problem borrows its numbers
    Arena arena;                         // owned
} LoadProblem;

void load_problem(const char *path, LoadProblem *loaded);
void load_problem_free(LoadProblem *loaded);

// moreau__v1__scene__free_unpacked ends it.
Moreau__V1__Scene *load_scene_message(const char *path);

// scene_destroy ends them.
Scene load_scene_of(const Moreau__V1__Scene *message);
Scene load_scene(const char *path);

// Only its world, the caller's.
World *load_scene_world(const Moreau__V1__Scene *message);
