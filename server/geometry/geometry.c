// SPDX-License-Identifier: MIT
#include "geometry/geometry.h"

#include "base/assert.h"
#include "geometry/geometry_parts.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };

struct GeometryShelf {
    atomic_flag is_locked;
    size_t bytes;
    Geometry *bucket[BUCKETS]; // by the first byte of the digest
};

// ---- the shelf

// For as long as a chain is walked, never while bytes are judged: nobody waits long enough to
// sleep.
static void lock(GeometryShelf *shelf) {
    while (atomic_flag_test_and_set_explicit(&shelf->is_locked, memory_order_acquire)) {
    }
}

static void unlock(GeometryShelf *shelf) {
    atomic_flag_clear_explicit(&shelf->is_locked, memory_order_release);
}

GeometryShelf *geometry_shelf_create(void) {
    GeometryShelf *shelf = calloc(1, sizeof(*shelf));
    if (shelf != NULL) {
        atomic_flag_clear(&shelf->is_locked);
    }
    return shelf;
}

void geometry_shelf_destroy(GeometryShelf *shelf) {
    ASSERT(shelf == NULL || shelf->bytes == 0);
    free(shelf);
}

size_t geometry_shelf_bytes(GeometryShelf *shelf) {
    lock(shelf);
    const size_t bytes = shelf->bytes;
    unlock(shelf);
    return bytes;
}

static Geometry *find_locked(GeometryShelf *shelf, const uint8_t digest[SHA256_BYTES]) {
    Geometry *found = shelf->bucket[digest[0]];
    while (found != NULL && memcmp(found->digest, digest, SHA256_BYTES) != 0) {
        found = found->next;
    }
    return found;
}

const Geometry *geometry_find(GeometryShelf *shelf, const uint8_t digest[SHA256_BYTES]) {
    ASSERT(shelf != NULL);
    lock(shelf);
    Geometry *found = find_locked(shelf, digest);
    if (found != NULL) {
        found->holders++;
    }
    unlock(shelf);
    return found;
}

const Geometry *geometry_put(GeometryShelf *shelf, Geometry *made) {
    ASSERT(made->holders == 1);
    lock(shelf);
    Geometry *there = find_locked(shelf, made->digest);
    if (there != NULL) {
        there->holders++;
    } else {
        made->next = shelf->bucket[made->digest[0]];
        shelf->bucket[made->digest[0]] = made;
        shelf->bytes += made->memory_bytes;
    }
    unlock(shelf);
    if (there != NULL) {
        free(made->heights);
        free(made);
        return there;
    }
    return made;
}

// The shelf may write what all others only read.
static Geometry *of_shelf(const Geometry *geometry) {
    return (Geometry *)(uintptr_t)geometry;
}

const Geometry *geometry_hold(const Geometry *geometry) {
    ASSERT(geometry != NULL && geometry->shelf != NULL);
    lock(geometry->shelf);
    of_shelf(geometry)->holders++;
    unlock(geometry->shelf);
    return geometry;
}

static void take_out(GeometryShelf *shelf, Geometry *geometry) {
    Geometry **at = &shelf->bucket[geometry->digest[0]];
    while (*at != geometry) {
        at = &(*at)->next;
    }
    *at = geometry->next;
    shelf->bytes -= geometry->memory_bytes;
}

void geometry_drop(const Geometry *geometry) {
    if (geometry == NULL) {
        return;
    }
    Geometry *mine = of_shelf(geometry);
    GeometryShelf *shelf = mine->shelf;
    lock(shelf);
    ASSERT(mine->holders > 0);
    const bool is_last = --mine->holders == 0;
    if (is_last) {
        take_out(shelf, mine);
    }
    unlock(shelf);
    if (is_last) {
        free(mine->heights);
        free(mine);
    }
}
