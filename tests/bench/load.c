// SPDX-License-Identifier: MIT
#include "bench/load.h"

#include "wire/problem/codec.h"
#include "wire/scene/scene.h"
#include "bench/bench.h"
#include "cli/json/read.h"
#include "cli/problems/problem.h"
#include "run/worlds/apply.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_MAX ((size_t)1 << 33)

static JsonText read_text(const char *path) {
    JsonText json;
    JsonError error = {0};
    if (!json_text_load(&json, path, &error)) {
        bench_fail("%s", error.message);
    }
    return json;
}

static bool is_scene(const char *path) {
    JsonText json = read_text(path);
    bool has_bodies = json_object_get(json.root, "bodies") != NULL;
    json_text_free(&json);
    return has_bodies;
}

static bool add_file(const char *folder, const char *entry, LoadFile *file) {
    const char *dot = strrchr(entry, '.');
    if (dot == NULL || strcmp(dot, ".json") != 0) {
        return false;
    }
    snprintf(file->path, sizeof(file->path), "%s/%s", folder, entry);
    snprintf(file->name, sizeof(file->name), "%.*s", (int)(dot - entry), entry);
    file->is_scene = is_scene(file->path);
    return true;
}

size_t load_folder(const char *folder, LoadFile *file, size_t count, size_t capacity) {
    struct dirent **entry;
    int found = scandir(folder, &entry, NULL, alphasort);
    if (found < 0) {
        bench_fail("cannot read the folder %s", folder);
    }
    for (int i = 0; i < found; i++) {
        if (count < capacity && add_file(folder, entry[i]->d_name, &file[count])) {
            count++;
        }
        free(entry[i]);
    }
    free(entry);
    return count;
}

void load_problem(const char *path, LoadProblem *loaded) {
    JsonText json = read_text(path);
    ProblemSolver solver = {0};
    JsonError refusal = {0};
    loaded->message = problem_read(&json, &solver, &refusal);
    problem_solver_free(&solver);
    json_text_free(&json);
    if (loaded->message == NULL) {
        bench_fail("%s", refusal.message);
    }
    Error error = {0};
    arena_init(&loaded->arena, MEMORY_MAX);
    if (problem_codec_read(loaded->message, &loaded->arena, &loaded->problem, &error) !=
        STATUS_OK) {
        bench_fail("%s: %s: %s", path, error.field, error.message);
    }
    loaded->problem.warm_contact = loaded->problem.warm_row = NULL;
}

void load_problem_free(LoadProblem *loaded) {
    arena_deinit(&loaded->arena);
    moreau__v1__contact_problem__free_unpacked(loaded->message, NULL);
}

static void make_bodies(const Moreau__V1__Scene *message, Scene *scene) {
    ScenePlan plan;
    Error error = {0};
    if (scene_plan(message, NULL, &scene->scratch, &plan, &error) != STATUS_OK) {
        bench_fail("%s: %s", error.field, error.message);
    }
    for (size_t i = 0; i < plan.input_count; i++) {
        if (apply_change(scene->world, scene->stepper, &plan.input[i], &scene->scratch, NULL, NULL,
                         &error) != STATUS_OK) {
            bench_fail("%s: %s", error.field, error.message);
        }
    }
}

Moreau__V1__Scene *load_scene_message(const char *path) {
    JsonText json = read_text(path);
    JsonError refusal = {0};
    Moreau__V1__Scene *message = (Moreau__V1__Scene *)(void *)json_read_message(
        &json, json.root, "", &moreau__v1__scene__descriptor, &refusal);
    if (message == NULL) {
        bench_fail("%s", refusal.message);
    }
    json_text_free(&json);
    return message;
}

Scene load_scene_of(const Moreau__V1__Scene *message) {
    const WorldLimits limits = {
        .body_count_max = 1000000, .bytes_max = MEMORY_MAX, .shelf = scene_shelf()};
    Scene scene = {.world = NULL};
    Error error = {0};
    if (apply_create(&limits, &scene.world, &scene.stepper, &error) != STATUS_OK) {
        bench_fail("%s", error.message);
    }
    stepper_limit(scene.stepper, MEMORY_MAX);
    arena_init(&scene.scratch, MEMORY_MAX);
    make_bodies(message, &scene);
    arena_reset(&scene.scratch); // a step finds it empty
    return scene;
}

Scene load_scene(const char *path) {
    Moreau__V1__Scene *message = load_scene_message(path);
    Scene scene = load_scene_of(message);
    moreau__v1__scene__free_unpacked(message, NULL);
    return scene;
}

World *load_scene_world(const Moreau__V1__Scene *message) {
    Scene scene = load_scene_of(message);
    World *world = scene.world;
    scene.world = NULL;
    scene_destroy(&scene);
    return world;
}
