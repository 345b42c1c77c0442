// SPDX-License-Identifier: MIT
// Friction of pairs of materials: those of their own, and what the world's rule makes of the rest.
#include "world/world.h"

#include "base/array.h"
#include "base/assert.h"
#include "world/range.h"
#include "world/sleep.h"

#include <stdio.h>
#include <string.h>

double world_own_friction(const World *world, size_t material) {
    const Material *of = &world->material[material];
    return material_combine(of, of, (FrictionRule)world->settings.friction_rule).friction;
}

void world_settle_friction(World *world) {
    double most = 0.0;
    // of two materials no rule makes more than of one of them with itself
    for (size_t i = 0; i < world->material_count; i++) {
        const double own = world_own_friction(world, i);
        most = own > most ? own : most;
    }
    for (size_t i = 0; i < world->material_pair_count; i++) {
        const double own = world->material_pair[i].friction;
        most = own > most ? own : most;
    }
    world->friction_max = most;
}

// The first of those that are kept in order that is not before it.
static size_t find_place(const World *world, uint32_t low, uint32_t high) {
    size_t first = 0, end = world->material_pair_count;
    while (first < end) {
        const size_t middle = first + (end - first) / 2;
        const MaterialPair *pair = &world->material_pair[middle];
        if (pair->low < low || (pair->low == low && pair->high < high)) {
            first = middle + 1;
        } else {
            end = middle;
        }
    }
    return first;
}

static bool is_at(const World *world, size_t place, uint32_t low, uint32_t high) {
    return place < world->material_pair_count && world->material_pair[place].low == low &&
           world->material_pair[place].high == high;
}

Material world_combine_materials(const World *world, uint32_t a, uint32_t b) {
    ASSERT(a < world->material_count && b < world->material_count);
    Material pair = material_combine(&world->material[a], &world->material[b],
                                     (FrictionRule)world->settings.friction_rule);
    if (world->material_pair_count > 0) {
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        const size_t place = find_place(world, low, high);
        pair.friction =
            is_at(world, place, low, high) ? world->material_pair[place].friction : pair.friction;
    }
    return pair;
}

// ---- pairs of their own

static Status check_material(const World *world, uint64_t id, const char *column, size_t entry,
                             Error *error) {
    if (id < world->material_count) {
        return STATUS_OK;
    }
    char field[64];
    snprintf(field, sizeof(field), "%s[%zu]", column, entry);
    return error_set(error, STATUS_NOT_FOUND, field, "No material has the id %llu in this world.",
                     (unsigned long long)id);
}

Status world_check_pair_update(const World *world, const PairUpdate *update, Error *error) {
    for (size_t i = 0; i < update->count; i++) {
        Status status = check_material(world, update->a[i], "pair_a", i, error);
        status = STATUS_THEN(status, check_material(world, update->b[i], "pair_b", i, error));
        status = STATUS_THEN(status, range_check(RANGE_FRICTION, update->friction[i],
                                                 "pair_friction", (int64_t)i, error));
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

Status world_reserve_pairs(World *world, size_t count, Error *error) {
    const size_t total = world->material_pair_count + count;
    if (total > MATERIAL_PAIR_COUNT_MAX) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "pair_a",
                         "A world has at most %d pairs of materials with a friction of their own, "
                         "which no option changes: it has %zu, and %zu may be too many.",
                         MATERIAL_PAIR_COUNT_MAX, world->material_pair_count, count);
    }
    return ARRAY_RESERVE(world->material_pair, world->material_pair_capacity, total)
               ? STATUS_OK
               : error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                           "Memory ended while keeping %zu pairs of materials.", total);
}

static void put_pair(World *world, uint64_t a, uint64_t b, double friction) {
    const uint32_t low = (uint32_t)(a < b ? a : b), high = (uint32_t)(a < b ? b : a);
    const size_t place = find_place(world, low, high);
    MaterialPair *at = &world->material_pair[place];
    if (!is_at(world, place, low, high)) {
        ASSERT(world->material_pair_count < world->material_pair_capacity);
        memmove(at + 1, at, (world->material_pair_count - place) * sizeof(*at));
        world->material_pair_count++;
    }
    *at = (MaterialPair){low, high, friction};
}

void world_update_pairs(World *world, const PairUpdate *update) {
    for (size_t i = 0; i < update->count; i++) {
        put_pair(world, update->a[i], update->b[i], update->friction[i]);
    }
    if (update->count > 0) {
        sleep_wake_all(world);
        world_settle_friction(world);
        world->definition_is_hashed = false;
    }
}
