// SPDX-License-Identifier: MIT
#include "step/snapshot/attached.h"

#include "base/assert.h"
#include "step/snapshot/sections.h"

#include <stdlib.h>
#include <string.h>

enum { ATTACHED_VERSION = 1 };

size_t snapshot_attached_bytes(const World *world) {
    size_t bytes = world->geometry_count == 0 ? 0 : SNAPSHOT_SECTION_HEAD_BYTES;
    for (size_t i = 0; i < world->geometry_count; i++) {
        bytes += sizeof(uint64_t) + world->geometry[i].geometry->byte_count;
    }
    return bytes;
}

void snapshot_attach(Sink *sink, const World *world) {
    const size_t bytes = snapshot_attached_bytes(world), begun = sink->count;
    if (bytes == 0) {
        return;
    }
    sink_u32(sink, SNAPSHOT_ATTACHED);
    sink_u32(sink, ATTACHED_VERSION);
    sink_u64(sink, bytes - SNAPSHOT_SECTION_HEAD_BYTES);
    for (size_t i = 0; i < world->geometry_count; i++) {
        const Geometry *geometry = world->geometry[i].geometry;
        sink_u64(sink, geometry->byte_count); // a multiple of 8
        sink_bytes(sink, geometry->bytes, geometry->byte_count);
    }
    ASSERT(sink->count == begun + bytes);
}

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The snapshot is damaged: %s.", what);
}

bool snapshot_find_section(Source *source, uint32_t wanted) {
    ASSERT(source->used <= source->count);
    while (!source->failed && source->used < source->count) {
        Source head = *source;
        const uint32_t kind = source_u32(&head);
        source_u32(&head);
        const size_t length = source_count(&head, 1);
        if (head.failed) {
            return false;
        }
        if (kind == wanted) {
            return true;
        }
        source_bytes(&head, length);
        source_pad(&head);
        *source = head;
    }
    return false;
}

// The names in the section of geometries, which begins a sections' `source`. NULL: there are none.
static const uint8_t *find_names(Source source, size_t *count) {
    *count = 0;
    if (!snapshot_find_section(&source, SNAPSHOT_GEOMETRIES)) {
        return NULL;
    }
    source_u64(&source); // kind and version
    source_count(&source, 1);
    const size_t found = source_count(&source, SHA256_BYTES);
    const uint8_t *names = source_bytes(&source, found * SHA256_BYTES);
    *count = names == NULL ? 0 : found;
    return names;
}

// The one of these bytes: where the one of that name (Nullable) is on the shelf and has them,
// nothing is hashed, as worlds of a group read theirs often.
static Status open_one(GeometryShelf *shelf, const uint8_t *name, const uint8_t *bytes,
                       size_t count, const Geometry **geometry, Error *error) {
    const Geometry *there = name == NULL ? NULL : geometry_find(shelf, name);
    if (there != NULL && there->byte_count == count && memcmp(there->bytes, bytes, count) == 0) {
        *geometry = there;
        return STATUS_OK;
    }
    geometry_drop(there);
    return geometry_open(shelf, bytes, count, "", geometry, error);
}

static Status open_attached(Source *source, const uint8_t *names, size_t name_count,
                            GeometryShelf *shelf, Attached *attached, Error *error) {
    while (source->used < source->count) {
        const size_t count = source_count(source, 1);
        const uint8_t *bytes = source_bytes(source, count);
        if (bytes == NULL) {
            return damaged(error, "its geometries end early");
        }
        const Geometry **more =
            realloc(attached->geometry, (attached->count + 1) * sizeof(*more)); // a few
        if (more == NULL) {
            return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                             "Memory ended while reading a snapshot's geometries.");
        }
        attached->geometry = more;
        const uint8_t *name =
            attached->count < name_count ? names + attached->count * SHA256_BYTES : NULL;
        Status status =
            open_one(shelf, name, bytes, count, &attached->geometry[attached->count], error);
        if (status != STATUS_OK) {
            return status;
        }
        attached->count++;
    }
    return STATUS_OK;
}

Status snapshot_detach(Source *source, GeometryShelf *shelf, Attached *attached, Error *error) {
    *attached = (Attached){0};
    Source found = *source;
    if (!snapshot_find_section(&found, SNAPSHOT_ATTACHED)) {
        return STATUS_OK;
    }
    const size_t sections_end = found.used;
    source_u32(&found);
    const uint32_t version = source_u32(&found);
    const size_t length = source_count(&found, 1);
    if (shelf == NULL || version != ATTACHED_VERSION || length == 0 ||
        length != found.count - found.used) {
        return damaged(error, "geometries that this server does not know");
    }
    size_t name_count;
    const uint8_t *names = find_names(*source, &name_count);
    source->count = sections_end;
    return open_attached(&found, names, name_count, shelf, attached, error);
}

void snapshot_drop_attached(Attached *attached) {
    for (size_t i = 0; i < attached->count; i++) {
        geometry_drop(attached->geometry[i]);
    }
    free(attached->geometry);
    *attached = (Attached){0};
}
