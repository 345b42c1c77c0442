// SPDX-License-Identifier: MIT
#include "log/format/geometries.h"

#include "base/assert.h"

#include <string.h>

enum { HEAD_BYTES = 8, NAME_BYTES = SHA256_BYTES + 8 };

size_t geometries_write(const LogGeometry *list, size_t count, uint8_t *bytes) {
    ASSERT(count > 0);
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, count);
    for (size_t i = 0; i < count; i++) {
        sink_bytes(&sink, list[i].name, SHA256_BYTES);
        sink_u64(&sink, list[i].byte_count);
    }
    return sink.count;
}

Status geometries_open(const Chunk *chunk, size_t *count, Error *error) {
    ASSERT(chunk->kind == CHUNK_GEOMETRIES);
    Source source = {.bytes = chunk->body, .count = chunk->body_bytes};
    const size_t found = source_count(&source, NAME_BYTES);
    if (source.failed || found == 0 || chunk->body_bytes != HEAD_BYTES + found * NAME_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its body is no names of geometries");
    }
    *count = found;
    return STATUS_OK;
}

LogGeometry geometries_get(const Chunk *chunk, size_t index) {
    Source source = {.bytes = chunk->body, .count = chunk->body_bytes};
    source_bytes(&source, HEAD_BYTES + index * NAME_BYTES);
    LogGeometry found = {0};
    source_copy(&source, found.name, SHA256_BYTES);
    found.byte_count = (size_t)source_u64(&source);
    ASSERT(!source.failed);
    return found;
}

size_t geometry_chunk_bytes(const LogGeometry *geometry) {
    return CHUNK_HEADER_BYTES + geometry->byte_count;
}

void geometry_chunk_write(const LogGeometry *geometry, uint8_t *bytes) {
    ASSERT(geometry->bytes != NULL);
    Chunk chunk = {.kind = CHUNK_GEOMETRY, .version = CHUNK_FORMAT_GEOMETRIES, .world_count = 1};
    memcpy(chunk.uid, geometry->name, UID_BYTES);
    memcpy(bytes + CHUNK_HEADER_BYTES, geometry->bytes, geometry->byte_count);
    chunk_seal(bytes, geometry_chunk_bytes(geometry), &chunk);
}

Status geometry_chunk_open(const uint8_t *bytes, size_t count, const uint8_t *name,
                           LogGeometry *geometry, Error *error) {
    Chunk chunk;
    Status status = chunk_open(bytes, count, NULL, &chunk, error);
    if (status != STATUS_OK) {
        return status;
    }
    LogGeometry found = {.bytes = chunk.body, .byte_count = chunk.body_bytes};
    if (chunk.kind != CHUNK_GEOMETRY) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it is no geometry");
    }
    sha256(found.bytes, found.byte_count, found.name);
    if (memcmp(chunk.uid, found.name, UID_BYTES) != 0 ||
        (name != NULL && memcmp(name, found.name, SHA256_BYTES) != 0)) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its bytes are not those of its name");
    }
    *geometry = found;
    return STATUS_OK;
}
