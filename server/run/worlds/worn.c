// SPDX-License-Identifier: MIT
#include "run/worlds/worn.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

typedef struct Held {
    LogWorn worn; // first, so that a LogWorn * is a Held *
    const Geometry **geometry;
    LogGeometry list[];
} Held;

static void release(LogWorn *worn) {
    Held *held = (Held *)worn;
    for (size_t i = 0; i < worn->count; i++) {
        geometry_drop(held->geometry[i]);
    }
    free(held->geometry);
    free(held);
}

void worn_names_deinit(WornNames *names) {
    free(names->name);
    *names = (WornNames){0};
}

static bool is_named(const WornNames *names, const uint8_t name[SHA256_BYTES]) {
    for (size_t i = names->count; i > 0; i--) { // mostly one of the last
        if (memcmp(names->name[i - 1], name, SHA256_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

static Held *make(size_t count) {
    Held *held = calloc(1, sizeof(*held) + count * sizeof(held->list[0]));
    if (held != NULL) {
        held->geometry = calloc(count, sizeof(const Geometry *));
    }
    if (held == NULL || held->geometry == NULL) {
        free(held);
        return NULL;
    }
    held->worn = (LogWorn){.release = release, .geometry = held->list};
    return held;
}

static void add(Held *held, const Geometry *geometry) {
    LogGeometry *to = &held->list[held->worn.count];
    *to = (LogGeometry){.bytes = geometry->bytes, .byte_count = geometry->byte_count};
    memcpy(to->name, geometry->digest, SHA256_BYTES);
    held->geometry[held->worn.count++] = geometry_hold(geometry);
}

bool worn_take(Log *log, const World *world, WornNames *names, LogBuffer **buffer) {
    ASSERT(world != NULL);
    *buffer = NULL;
    Held *held = NULL;
    for (size_t i = 0; i < world->geometry_count; i++) {
        const Geometry *geometry = world->geometry[i].geometry;
        if (is_named(names, geometry->digest)) {
            continue;
        }
        held = held == NULL ? make(world->geometry_count - i) : held;
        if (held == NULL || !ARRAY_RESERVE(names->name, names->capacity, names->count + 1)) {
            if (held != NULL) {
                release(&held->worn);
            }
            return false;
        }
        memcpy(names->name[names->count++], geometry->digest, SHA256_BYTES);
        add(held, geometry);
    }
    *buffer = held == NULL ? NULL : log_worn_buffer(log, &held->worn);
    return held == NULL || *buffer != NULL;
}

uint64_t worn_bytes(const LogWorn *worn) {
    ASSERT(worn != NULL);
    uint64_t bytes = 0;
    for (size_t i = 0; i < worn->count; i++) {
        bytes += worn->geometry[i].byte_count;
    }
    return bytes;
}
