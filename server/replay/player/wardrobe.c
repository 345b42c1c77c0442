// SPDX-License-Identifier: MIT
#include "replay/player/wardrobe.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>

void wardrobe_empty(Wardrobe *wardrobe) {
    for (size_t i = 0; i < wardrobe->count; i++) {
        geometry_drop(wardrobe->geometry[i]);
    }
    free(wardrobe->geometry);
    *wardrobe = (Wardrobe){0};
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                     "Memory ended while reading the geometries of an episode.");
}

static void note_lack(Wardrobe *wardrobe, const Error *why) {
    if (wardrobe->lacks.status == STATUS_OK) {
        error_set(&wardrobe->lacks, STATUS_DATA_LOSS, "", "%s", why->message);
    }
}

static Status take_one(Wardrobe *wardrobe, LogReader *reader, const uint8_t name[SHA256_BYTES],
                       GeometryShelf *shelf, Arena *arena, Error *error) {
    if (!ARRAY_RESERVE(wardrobe->geometry, wardrobe->capacity, wardrobe->count + 1)) {
        return out_of_memory(error);
    }
    const Geometry *found = geometry_find(shelf, name);
    Status status = STATUS_OK;
    Error why = {0};
    if (found == NULL) {
        LogGeometry stored;
        status = log_reader_geometry(reader, name, arena, &stored, &why);
        status = STATUS_THEN(
            status, geometry_open(shelf, stored.bytes, stored.byte_count, "", &found, &why));
    }
    if (status == STATUS_OK) {
        wardrobe->geometry[wardrobe->count++] = found;
    } else if (status == STATUS_NOT_FOUND || status == STATUS_DATA_LOSS ||
               status == STATUS_INVALID_ARGUMENT) {
        note_lack(wardrobe, &why);
        status = STATUS_OK;
    } else {
        *error = why;
    }
    return status;
}

static Status take_named(Wardrobe *wardrobe, LogReader *reader, const Chunk *names,
                         GeometryShelf *shelf, Arena *arena, Error *error) {
    size_t count = 0;
    Error why = {0};
    if (geometries_open(names, &count, &why) != STATUS_OK) {
        note_lack(wardrobe, &why);
        return STATUS_OK;
    }
    Status status = STATUS_OK;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const LogGeometry named = geometries_get(names, i);
        const ArenaMark mark = arena_mark(arena);
        status = take_one(wardrobe, reader, named.name, shelf, arena, error);
        arena_reset_to(arena, mark);
    }
    return status;
}

// The next chunk of names; NOT_FOUND: there is none. One that is damaged is passed over, and noted.
static Status take_next(Wardrobe *wardrobe, LogReader *reader, const EpisodeRow *episode,
                        GeometryShelf *shelf, Arena *arena, Error *error) {
    LogChunk names = {0};
    Error why = {0};
    Status status =
        log_reader_next(reader, episode, CHUNK_GEOMETRIES,
                        wardrobe->has_place ? &wardrobe->place : NULL, arena, &names, &why);
    if (status == STATUS_OK || (status == STATUS_DATA_LOSS && names.id != 0)) {
        wardrobe->has_place = true;
        wardrobe->place = chunk_place(&names.chunk);
    }
    if (status == STATUS_DATA_LOSS && names.id != 0) {
        note_lack(wardrobe, &why);
        return STATUS_OK;
    }
    if (status != STATUS_OK) {
        *error = why;
        return status;
    }
    return take_named(wardrobe, reader, &names.chunk, shelf, arena, error);
}

Status wardrobe_fill(Wardrobe *wardrobe, LogReader *reader, const EpisodeRow *episode,
                     const WorldLimits *limits, Error *error) {
    if (limits->shelf == NULL) {
        return STATUS_OK; // what wears something is refused
    }
    Arena arena;
    arena_init(&arena, limits->bytes_max);
    Status status = STATUS_OK;
    Error why = {0};
    while (status == STATUS_OK) {
        arena_reset(&arena);
        status = take_next(wardrobe, reader, episode, limits->shelf, &arena, &why);
    }
    arena_deinit(&arena);
    if (status != STATUS_NOT_FOUND) {
        *error = why;
        return status;
    }
    return STATUS_OK;
}

void wardrobe_explain(const Wardrobe *wardrobe, Error *refusal) {
    if (refusal->status == STATUS_FAILED_PRECONDITION && wardrobe->lacks.status != STATUS_OK) {
        *refusal = wardrobe->lacks;
    }
}
