// SPDX-License-Identifier: MIT
#include "log/chunk.h"

#include "base/assert.h"
#include "base/bytes.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'C', 'K'};

// The checksum is the last number of the header.
enum { CHECKED_HEADER_BYTES = CHUNK_HEADER_BYTES - 8 };

static const char *const kind_names[] = {
    [CHUNK_KEYFRAME] = "key-frame", [CHUNK_INPUTS] = "inputs", [CHUNK_FRAMES] = "frames",
    [CHUNK_CONTACTS] = "contacts",  [CHUNK_GAP] = "gap",
};

void uid_text(const uint8_t uid[UID_BYTES], char text[UID_TEXT_BYTES]) {
    for (size_t i = 0; i < UID_BYTES; i++) {
        snprintf(text + 2 * i, 3, "%02x", uid[i]);
    }
}

const char *chunk_kind_name(uint32_t kind) {
    return kind >= CHUNK_KEYFRAME && kind <= CHUNK_GAP ? kind_names[kind] : "unknown";
}

static uint64_t checksum(const uint8_t *bytes, size_t count) {
    Hash hash;
    hash_init(&hash, 0);
    hash_add(&hash, bytes, CHECKED_HEADER_BYTES);
    hash_add(&hash, bytes + CHUNK_HEADER_BYTES, count - CHUNK_HEADER_BYTES);
    return hash_value(&hash);
}

void chunk_seal(uint8_t *bytes, size_t count, ChunkKind kind, const uint8_t uid[UID_BYTES],
                uint64_t first_step, uint64_t last_step) {
    ASSERT(count >= CHUNK_HEADER_BYTES);
    ASSERT(kind >= CHUNK_KEYFRAME && kind <= CHUNK_GAP);
    ASSERT(first_step <= last_step);
    ASSERT(kind != CHUNK_KEYFRAME || first_step == last_step);
    ASSERT(kind != CHUNK_GAP || count == CHUNK_HEADER_BYTES);

    Sink sink = {.bytes = bytes};
    sink_bytes(&sink, magic, sizeof(magic));
    sink_u32(&sink, CHUNK_FORMAT_VERSION);
    sink_u32(&sink, (uint32_t)kind);
    sink_bytes(&sink, uid, UID_BYTES);
    sink_u64(&sink, first_step);
    sink_u64(&sink, last_step);
    sink_u64(&sink, count - CHUNK_HEADER_BYTES);
    ASSERT(sink.count == CHECKED_HEADER_BYTES);
    sink_u64(&sink, checksum(bytes, count));
}

typedef struct Header {
    const uint8_t *magic, *uid; // borrowed
    uint32_t version, kind;
    uint64_t first_step, last_step, body_bytes, checksum;
} Header;

static Header read_header(const uint8_t *bytes) {
    Source source = {.bytes = bytes, .count = CHUNK_HEADER_BYTES};
    Header header;
    header.magic = source_bytes(&source, sizeof(magic));
    header.version = source_u32(&source);
    header.kind = source_u32(&source);
    header.uid = source_bytes(&source, UID_BYTES);
    header.first_step = source_u64(&source);
    header.last_step = source_u64(&source);
    header.body_bytes = source_u64(&source);
    header.checksum = source_u64(&source);
    ASSERT(!source.failed && source.used == CHUNK_HEADER_BYTES);
    return header;
}

// Whether these are the bytes that somebody sealed.
static Status check_bytes(const Header *header, const uint8_t *bytes, size_t count, Error *error) {
    if (memcmp(header->magic, magic, sizeof(magic)) != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it does not begin as a chunk does");
    }
    if (header->version != CHUNK_FORMAT_VERSION) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its format version is %" PRIu32 ", and this program reads version %d",
                         header->version, CHUNK_FORMAT_VERSION);
    }
    size_t body_bytes = count - CHUNK_HEADER_BYTES;
    if (header->body_bytes != body_bytes) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is %s: its body has %zu bytes instead of %" PRIu64,
                         header->body_bytes > body_bytes ? "cut short" : "too long", body_bytes,
                         header->body_bytes);
    }
    uint64_t found = checksum(bytes, count);
    if (header->checksum != found) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its checksum is wrong: 0x%016" PRIx64 " instead of 0x%016" PRIx64, found,
                         header->checksum);
    }
    return STATUS_OK;
}

// Whether what was sealed makes sense, and here.
static Status check_place(const Header *header, const uint8_t *uid, Error *error) {
    if (uid != NULL && memcmp(header->uid, uid, UID_BYTES) != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it belongs to another recording");
    }
    if (header->kind < CHUNK_KEYFRAME || header->kind > CHUNK_GAP) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its kind, %" PRIu32 ", is unknown",
                         header->kind);
    }
    if (header->first_step > header->last_step) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its first step, %" PRIu64 ", comes after its last, %" PRIu64,
                         header->first_step, header->last_step);
    }
    if (header->kind == CHUNK_KEYFRAME && header->first_step != header->last_step) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is a key-frame of more than one step: %" PRIu64 " to %" PRIu64,
                         header->first_step, header->last_step);
    }
    if (header->kind == CHUNK_GAP && header->body_bytes != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is a gap and has a body of %" PRIu64 " bytes", header->body_bytes);
    }
    return STATUS_OK;
}

Status chunk_open(const uint8_t *bytes, size_t count, const uint8_t *uid, Chunk *chunk,
                  Error *error) {
    if (count < CHUNK_HEADER_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is cut short: %zu bytes of a header of %d", count, CHUNK_HEADER_BYTES);
    }
    Header header = read_header(bytes);
    Status status = check_bytes(&header, bytes, count, error);
    if (status == STATUS_OK) {
        status = check_place(&header, uid, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    *chunk = (Chunk){.kind = (ChunkKind)header.kind,
                     .first_step = header.first_step,
                     .last_step = header.last_step,
                     .body = bytes + CHUNK_HEADER_BYTES,
                     .body_bytes = count - CHUNK_HEADER_BYTES};
    return STATUS_OK;
}
