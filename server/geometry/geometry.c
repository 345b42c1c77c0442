// SPDX-License-Identifier: MIT
#include "geometry/geometry.h"

#include "base/assert.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HULL_VERSION = 1, BUCKETS = 256, HEAD_BYTES = 16, ROOM_FOR_ALIGNMENT = 16 };

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

// Someone else may have put the same one there in between: then that one.
static const Geometry *put(GeometryShelf *shelf, Geometry *made) {
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
        free(mine);
    }
}

// ---- bytes

size_t geometry_hull_bytes(const HullForm *form, size_t corner_count) {
    const size_t bytes = HEAD_BYTES + 3 * sizeof(double) * (size_t)form->point_count +
                         sizeof(uint32_t) * ((size_t)form->face_count + 1 + corner_count);
    return (bytes + 7) & ~(size_t)7;
}

void geometry_write_hull(const HullForm *form, size_t corner_count, Sink *sink) {
    ASSERT(form->point_count <= HULL_VERTICES_MAX && form->face_count <= HULL_FACES_MAX);
    sink_u32(sink, GEOMETRY_HULL);
    sink_u32(sink, HULL_VERSION);
    sink_u32(sink, form->point_count);
    sink_u32(sink, form->face_count);
    sink_doubles(sink, &form->point[0].x, 3 * (size_t)form->point_count);
    sink_u32s(sink, form->face_first, (size_t)form->face_count + 1);
    sink_u32s(sink, form->corner, corner_count);
    sink_pad(sink);
}

static Status out_of_memory(const char *field, Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, field, "Memory ended for a geometry.");
}

// Of a form that was judged.
static Status make_hull(GeometryShelf *shelf, const HullForm *form, const char *field,
                        const Geometry **geometry, Error *error) {
    const size_t hull = (hull_bytes(form) + 15) & ~(size_t)15;
    const size_t corners = form->face_first[form->face_count];
    const size_t bytes = geometry_hull_bytes(form, corners);
    const size_t head = (sizeof(Geometry) + 15) & ~(size_t)15;
    unsigned char *block = malloc(head + hull + bytes);
    if (block == NULL) {
        return out_of_memory(field, error);
    }
    Sink sink = {.bytes = block + head + hull};
    geometry_write_hull(form, corners, &sink);
    ASSERT(sink.count == bytes);
    Geometry *made = (Geometry *)(void *)block;
    *made = (Geometry){.kind = GEOMETRY_HULL,
                       .bytes = sink.bytes,
                       .byte_count = bytes,
                       .hull = hull_open(form, block + head),
                       .shelf = shelf,
                       .holders = 1,
                       .memory_bytes = head + hull + bytes};
    sha256(made->bytes, bytes, made->digest);
    *geometry = put(shelf, made);
    return STATUS_OK;
}

Status geometry_of_hull(GeometryShelf *shelf, const HullForm *form, size_t corner_count,
                        const HullNames *names, const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL);
    Status status = hull_check(form, corner_count, names, error);
    return STATUS_THEN(status, make_hull(shelf, form, names->points, geometry, error));
}

static Status refuse(const char *field, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "The bytes are no geometry: %s.", why);
}

// What a hull's bytes hold, in the order of their widths; on the stack.
typedef struct HullRead {
    Vec3 point[HULL_VERTICES_MAX];
    uint32_t face_first[HULL_FACES_MAX + 1];
    uint32_t corner[HULL_CORNERS_MAX];
} HullRead;

static Status open_hull(GeometryShelf *shelf, Source *source, const char *field,
                        const Geometry **geometry, Error *error) {
    HullRead read;
    const uint32_t points = source_u32(source), faces = source_u32(source);
    if (source->failed || points > HULL_VERTICES_MAX || faces > HULL_FACES_MAX) {
        return refuse(field, "a hull of more points or faces than one may have", error);
    }
    source_doubles(source, &read.point[0].x, 3 * (size_t)points);
    source_u32s(source, read.face_first, (size_t)faces + 1);
    const uint32_t corners = source->failed ? 0 : read.face_first[faces];
    if (source->failed || corners > HULL_CORNERS_MAX) {
        return refuse(field, "it ends early, or has more corners than a hull may have", error);
    }
    source_u32s(source, read.corner, corners);
    if (!source_pad(source) || source->failed || source->used != source->count) {
        return refuse(field, "its length does not fit its content", error);
    }
    const HullForm form = {read.point, points, read.face_first, faces, read.corner};
    char points_field[160], faces_field[160];
    const char *dot = field[0] == '\0' ? "" : ".";
    snprintf(points_field, sizeof(points_field), "%.128s%spoints", field, dot);
    snprintf(faces_field, sizeof(faces_field), "%.128s%sfaces", field, dot);
    const HullNames names = {points_field, faces_field};
    return geometry_of_hull(shelf, &form, corners, &names, geometry, error);
}

Status geometry_open(GeometryShelf *shelf, const uint8_t *bytes, size_t count, const char *field,
                     const Geometry **geometry, Error *error) {
    ASSERT(shelf != NULL && (bytes != NULL || count == 0));
    if (count > GEOMETRY_BYTES_MAX) {
        return refuse(field, "they are too many", error);
    }
    uint8_t digest[SHA256_BYTES];
    sha256(bytes, count, digest);
    const Geometry *there = geometry_find(shelf, digest);
    if (there != NULL) {
        *geometry = there;
        return STATUS_OK;
    }
    Source source = {.bytes = bytes, .count = count};
    const uint32_t kind = source_u32(&source), version = source_u32(&source);
    if (source.failed || kind != GEOMETRY_HULL || version != HULL_VERSION) {
        return refuse(field, "this server knows none of their kind and version", error);
    }
    return open_hull(shelf, &source, field, geometry, error);
}
