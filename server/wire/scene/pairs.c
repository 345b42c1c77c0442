// SPDX-License-Identifier: MIT
// Pairs of materials whose friction is their own: from a scene, where they are names, and back.
#include "wire/scene/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading pairs of materials.");
}

static Status find(const NameList *materials, const char *name, size_t index, char side,
                   uint64_t *id, Error *error) {
    *id = 0;
    if (name == NULL || name[0] == '\0') {
        return STATUS_OK; // the built-in one
    }
    const NameEntry *found = name_list_find(materials, name);
    if (found != NULL) {
        *id = found->index + 1; // a fresh world counts its materials from 1
        return STATUS_OK;
    }
    char field[64];
    snprintf(field, sizeof(field), "scene.material_pairs[%zu].%c", index, side);
    return error_set(error, STATUS_NOT_FOUND, field, "The scene has no material called %.64s.",
                     name);
}

Status scene_plan_pairs(const Moreau__V1__Scene *scene, const NameList *materials, Arena *arena,
                        PairUpdate *pairs, Error *error) {
    const size_t count = scene->n_material_pairs;
    uint64_t *a = arena_take_array(arena, count, sizeof(*a));
    uint64_t *b = arena_take_array(arena, count, sizeof(*b));
    double *friction = arena_take_array(arena, count, sizeof(*friction));
    if (a == NULL || b == NULL || friction == NULL) {
        return out_of_memory(error);
    }
    for (size_t i = 0; i < count; i++) {
        const Moreau__V1__MaterialPair *pair = scene->material_pairs[i];
        Status status = find(materials, pair->a, i, 'a', &a[i], error);
        status = STATUS_THEN(status, find(materials, pair->b, i, 'b', &b[i], error));
        if (status != STATUS_OK) {
            return status;
        }
        friction[i] = pair->friction;
    }
    *pairs = (PairUpdate){.count = count, .a = a, .b = b, .friction = friction};
    return STATUS_OK;
}

void scene_translate_pair(const char *name, size_t index, Error *error) {
    snprintf(error->field, sizeof(error->field), "scene.material_pairs[%zu].%s", index,
             name + strlen("pair_"));
}

bool scene_put_pairs(const World *world, const char *const *material, Arena *arena,
                     Moreau__V1__Scene *m) {
    const size_t count = world->material_pair_count;
    Moreau__V1__MaterialPair *pair = arena_take_array(arena, count, sizeof(*pair));
    m->material_pairs = arena_take_array(arena, count, sizeof(*m->material_pairs));
    if (pair == NULL || m->material_pairs == NULL) {
        return count == 0;
    }
    for (size_t i = 0; i < count; i++) {
        const MaterialPair *of = &world->material_pair[i];
        moreau__v1__material_pair__init(&pair[i]);
        pair[i].a = of->low == 0 ? NULL : (char *)material[of->low - 1];
        pair[i].b = of->high == 0 ? NULL : (char *)material[of->high - 1];
        pair[i].has_friction = 1;
        pair[i].friction = of->friction;
        m->material_pairs[m->n_material_pairs++] = &pair[i];
    }
    return true;
}
