// SPDX-License-Identifier: MIT
#include "step/snapshot.h"

#include "solve/solver.h"
#include "step/snapshot_sections.h"

#include <string.h>

static const char magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'S', 'N'};

// ---- writing

static void sink_section(Sink *sink, const World *world, const SnapshotSection *section) {
    // the length comes first, so the body is walked once to count it
    Sink counter = {0};
    section->write(&counter, world);
    sink_u32(sink, section->kind);
    sink_u32(sink, section->version);
    sink_u64(sink, counter.count);
    section->write(sink, world);
    sink_pad(sink); // magic and section heads are multiples of 8, so this pads the body
}

static void sink_world(Sink *sink, const World *world) {
    sink_bytes(sink, magic, sizeof(magic));
    sink_u64(sink, DYNAMICS_VERSION);
    for (size_t i = 0; i < snapshot_section_count; i++) {
        sink_section(sink, world, &snapshot_sections[i]);
    }
}

Status snapshot_write(const World *world, Arena *arena, uint8_t **bytes, size_t *count,
                      Error *error) {
    Sink counter = {0};
    sink_world(&counter, world);
    uint8_t *memory = arena_take(arena, counter.count);
    if (memory == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "A snapshot of %zu bytes does not fit into memory.", counter.count);
    }
    Sink writer = {.bytes = memory};
    sink_world(&writer, world);
    *bytes = memory;
    *count = writer.count;
    return STATUS_OK;
}

static uint64_t hash_sections(const World *world, bool definition) {
    Hash hash;
    hash_init(&hash, DYNAMICS_VERSION);
    Sink sink = {.hash = &hash};
    for (size_t i = 0; i < snapshot_section_count; i++) {
        if (snapshot_sections[i].is_definition == definition) {
            sink_section(&sink, world, &snapshot_sections[i]);
        }
    }
    return hash_value(&hash);
}

uint64_t snapshot_hash(World *world) {
    if (!world->definition_is_hashed) {
        world->definition_hash = hash_sections(world, true);
        world->definition_is_hashed = true;
    }
    uint64_t parts[2] = {world->definition_hash, hash_sections(world, false)};
    Hash hash;
    hash_init(&hash, DYNAMICS_VERSION);
    Sink sink = {.hash = &hash};
    sink_u64(&sink, parts[0]);
    sink_u64(&sink, parts[1]);
    return hash_value(&hash);
}

// ---- reading

static Status damaged(Error *error, const char *what) {
    return error_set(error, STATUS_DATA_LOSS, "", "The snapshot is damaged: %s.", what);
}

static Status read_section(Source *source, World *world, size_t expected, Error *error) {
    const SnapshotSection *section = &snapshot_sections[expected];
    uint32_t kind = source_u32(source), version = source_u32(source);
    size_t length = source_count(source, 1);
    if (source->failed) {
        return damaged(error, "it ends early");
    }
    if (kind != section->kind || version != section->version) {
        return error_set(
            error, STATUS_FAILED_PRECONDITION, "",
            "The snapshot has section %u version %u where this server knows %u version %u.", kind,
            version, section->kind, section->version);
    }
    Source body = {.bytes = source->bytes + source->used, .count = length};
    Status status = section->read(&body, world, error);
    if (status != STATUS_OK) {
        return status;
    }
    if (body.failed || body.used != length) {
        return damaged(error, "a section's length does not fit its content");
    }
    source_bytes(source, length);
    if (!source_pad(source)) {
        return damaged(error, "its padding is not zero, or it ends early");
    }
    return STATUS_OK;
}

static Status read_head(Source *source, Error *error) {
    const uint8_t *start = source_bytes(source, sizeof(magic));
    if (start == NULL || memcmp(start, magic, sizeof(magic)) != 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "", "These bytes are no snapshot.");
    }
    uint64_t version = source_u64(source);
    if (!source->failed && version != DYNAMICS_VERSION) {
        return error_set(error, STATUS_FAILED_PRECONDITION, "",
                         "The snapshot is of dynamics version %llu, this server's is %d.",
                         (unsigned long long)version, DYNAMICS_VERSION);
    }
    return source->failed ? damaged(error, "it ends early") : STATUS_OK;
}

Status snapshot_check_head(const uint8_t *bytes, size_t count, Error *error) {
    Source source = {.bytes = bytes, .count = count};
    return read_head(&source, error);
}

static Status read_world(Source *source, World *world, Error *error) {
    Status head = read_head(source, error);
    if (head != STATUS_OK) {
        return head;
    }
    for (size_t i = 0; i < snapshot_section_count; i++) {
        Status status = read_section(source, world, i, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return source->used == source->count ? STATUS_OK
                                         : damaged(error, "bytes follow the last section");
}

Status snapshot_read(const uint8_t *bytes, size_t count, const WorldLimits *limits, World **world,
                     Error *error) {
    World *fresh = world_create(limits);
    if (fresh == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "",
                         "Memory ended while reading a snapshot.");
    }
    Source source = {.bytes = bytes, .count = count};
    Status status = read_world(&source, fresh, error);
    if (status != STATUS_OK) {
        world_destroy(fresh);
        return status;
    }
    *world = fresh;
    return STATUS_OK;
}
