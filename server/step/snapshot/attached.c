// SPDX-License-Identifier: MIT
#include "step/snapshot/attached.h"

#include "base/assert.h"

#include <stdlib.h>

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

// Steps over sections, whatever is in them. false: there are none attached, or what is there is no
// sections, which whoever reads them will say.
static bool find_attached(Source *source) {
    while (!source->failed && source->used < source->count) {
        Source head = *source;
        const uint32_t kind = source_u32(&head);
        source_u32(&head);
        const size_t length = source_count(&head, 1);
        if (head.failed) {
            return false;
        }
        if (kind == SNAPSHOT_ATTACHED) {
            return true;
        }
        source_bytes(&head, length);
        source_pad(&head);
        *source = head;
    }
    return false;
}

static Status open_attached(Source *source, GeometryShelf *shelf, Attached *attached,
                            Error *error) {
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
        Status status =
            geometry_open(shelf, bytes, count, "", &attached->geometry[attached->count], error);
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
    if (!find_attached(&found)) {
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
    source->count = sections_end;
    return open_attached(&found, shelf, attached, error);
}

void snapshot_drop_attached(Attached *attached) {
    for (size_t i = 0; i < attached->count; i++) {
        geometry_drop(attached->geometry[i]);
    }
    free(attached->geometry);
    *attached = (Attached){0};
}
