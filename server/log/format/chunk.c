// SPDX-License-Identifier: MIT
#include "log/format/chunk.h"

#include "base/assert.h"
#include "base/hex.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const uint8_t magic[8] = {'M', 'O', 'R', 'E', 'A', 'U', 'C', 'K'};

// The checksum is the last number of the header.
enum { CHECKED_HEADER_BYTES = CHUNK_HEADER_BYTES - 8 };

void uid_text(const uint8_t uid[UID_BYTES], char text[UID_TEXT_BYTES]) {
    hex_text(uid, UID_BYTES, text);
}

bool uid_read(const char *text, uint8_t uid[UID_BYTES]) {
    return strlen(text) == 2 * (size_t)UID_BYTES && hex_read(text, UID_BYTES, uid);
}

void uid_of_episode(const uint8_t recording[UID_BYTES], uint32_t number, uint8_t uid[UID_BYTES]) {
    memcpy(uid, recording, UID_BYTES - 4);
    for (int i = 0; i < 4; i++) {
        uid[UID_BYTES - 4 + i] = (uint8_t)(number >> (24 - 8 * i));
    }
}

const char *chunk_kind_name(uint32_t kind) {
    static const char *const names[CHUNK_KIND_COUNT] = {"unknown",
#define X(upper, name) name,
                                                        CHUNK_KIND_MAP(X)
#undef X
    };
    return kind < CHUNK_KIND_COUNT ? names[kind] : names[CHUNK_NONE];
}

bool chunk_kind_is_common(ChunkKind kind) {
    return kind == CHUNK_DEFINITION || kind == CHUNK_SEAL || kind == CHUNK_EPISODES ||
           kind == CHUNK_SCENE || kind == CHUNK_GEOMETRIES || kind == CHUNK_SIGNATURE;
}

// ---- figures

static void take_larger(double *value, uint64_t *step, double other, uint64_t other_step) {
    if (other > *value) {
        *value = other;
        *step = other_step;
    }
}

void step_figures_add(StepFigures *figures, const StepFigures *more) {
    figures->unconverged_steps += more->unconverged_steps;
    if (more->worst_own > figures->worst_own) {
        figures->worst_own = more->worst_own;
    }
    if (more->worst_penetration > figures->worst_penetration) {
        figures->worst_penetration = more->worst_penetration;
    }
    if (more->contacts_max > figures->contacts_max) {
        figures->contacts_max = more->contacts_max;
    }
    take_larger(&figures->hardest_impact, &figures->hardest_impact_step, more->hardest_impact,
                more->hardest_impact_step);
    take_larger(&figures->energy_gain, &figures->energy_gain_step, more->energy_gain,
                more->energy_gain_step);
    figures->has_gain |= more->has_gain;
    gain_add(&figures->gain, &more->gain);
}

void sink_figures(Sink *sink, const StepFigures *figures) {
    sink_u64(sink, figures->unconverged_steps);
    sink_double(sink, figures->worst_own);
    sink_double(sink, figures->worst_penetration);
    sink_u64(sink, figures->contacts_max);
    sink_double(sink, figures->hardest_impact);
    sink_u64(sink, figures->hardest_impact_step);
    sink_double(sink, figures->energy_gain);
    sink_u64(sink, figures->energy_gain_step);
}

void source_figures(Source *source, StepFigures *figures) {
    figures->unconverged_steps = source_u64(source);
    figures->worst_own = source_double(source);
    figures->worst_penetration = source_double(source);
    figures->contacts_max = source_u64(source);
    figures->hardest_impact = source_double(source);
    figures->hardest_impact_step = source_u64(source);
    figures->energy_gain = source_double(source);
    figures->energy_gain_step = source_u64(source);
}

void sink_gain(Sink *sink, const StepFigures *figures) {
    sink_double(sink, figures->gain.sum);
    sink_double(sink, figures->gain.scale);
    sink_double(sink, figures->gain.step);
}

void source_gain(Source *source, StepFigures *figures) {
    figures->has_gain = 1;
    figures->gain.sum = source_double(source);
    figures->gain.scale = source_double(source);
    figures->gain.step = source_double(source);
}

bool chunk_has_gain(const Chunk *chunk) {
    return chunk->kind == CHUNK_INPUTS && chunk_version(chunk) >= CHUNK_FORMAT_GAINS;
}

// ---- sealing

static uint64_t checksum(const uint8_t *bytes, size_t count) {
    Hash hash;
    hash_init(&hash, 0);
    hash_add(&hash, bytes, CHECKED_HEADER_BYTES);
    hash_add(&hash, bytes + CHUNK_HEADER_BYTES, count - CHUNK_HEADER_BYTES);
    return hash_value(&hash);
}

uint64_t chunk_seal(uint8_t *bytes, size_t count, const Chunk *chunk) {
    ASSERT(count >= chunk_body_offset(chunk));
    ASSERT(chunk->kind > CHUNK_NONE && chunk->kind < CHUNK_KIND_COUNT);
    ASSERT(chunk->first_step <= chunk->last_step);
    ASSERT(chunk->kind != CHUNK_KEYFRAME || chunk->first_step == chunk->last_step);
    ASSERT(chunk->kind != CHUNK_GAP || count == CHUNK_HEADER_BYTES);
    ASSERT(chunk->world_count > 0);

    Sink sink = {.bytes = bytes};
    sink_bytes(&sink, magic, sizeof(magic));
    sink_u32(&sink, chunk_version(chunk));
    sink_u32(&sink, (uint32_t)chunk->kind);
    sink_bytes(&sink, chunk->uid, UID_BYTES);
    sink_u64(&sink, chunk->sequence);
    sink_u32(&sink, chunk->first_world);
    sink_u32(&sink, chunk->world_count);
    sink_u64(&sink, chunk->first_step);
    sink_u64(&sink, chunk->last_step);
    sink_double(&sink, chunk->time);
    sink_u64(&sink, chunk->written_ns);
    sink_figures(&sink, &chunk->figures);
    sink_bytes(&sink, chunk->solver, CHUNK_SOLVER_BYTES);
    sink_u32(&sink, chunk->flags);
    sink_u32(&sink, 0);
    sink_u64(&sink, chunk->predecessor);
    sink_u64(&sink, count - CHUNK_HEADER_BYTES);
    ASSERT(sink.count == CHECKED_HEADER_BYTES);
    if (chunk_has_gain(chunk)) {
        sink_gain(&(Sink){.bytes = bytes + CHUNK_HEADER_BYTES}, &chunk->figures);
    }
    uint64_t value = checksum(bytes, count);
    sink_u64(&sink, value);
    return value;
}

// ---- opening

Status chunk_read_head(const uint8_t *bytes, size_t count, Chunk *chunk, Error *error) {
    *chunk = (Chunk){0};
    if (count < CHUNK_HEADER_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is cut short: %zu bytes of a header of %d", count, CHUNK_HEADER_BYTES);
    }
    Source source = {.bytes = bytes, .count = CHUNK_HEADER_BYTES};
    if (memcmp(source_bytes(&source, sizeof(magic)), magic, sizeof(magic)) != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it does not begin as a chunk does");
    }
    uint32_t version = source_u32(&source);
    if (version < CHUNK_FORMAT_OLDEST || version > CHUNK_FORMAT_VERSION) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its format version is %" PRIu32
                         ", and this program reads versions %d to %d",
                         version, CHUNK_FORMAT_OLDEST, CHUNK_FORMAT_VERSION);
    }
    *chunk = (Chunk){.kind = (ChunkKind)source_u32(&source), .version = version};
    source_copy(&source, chunk->uid, UID_BYTES);
    chunk->sequence = source_u64(&source);
    chunk->first_world = source_u32(&source);
    chunk->world_count = source_u32(&source);
    chunk->first_step = source_u64(&source);
    chunk->last_step = source_u64(&source);
    chunk->time = source_double(&source);
    chunk->written_ns = source_u64(&source);
    source_figures(&source, &chunk->figures);
    source_copy(&source, chunk->solver, CHUNK_SOLVER_BYTES);
    chunk->solver[CHUNK_SOLVER_BYTES - 1] = '\0';
    chunk->flags = source_u32(&source);
    source_u32(&source);
    chunk->predecessor = source_u64(&source);
    uint64_t body_bytes = source_u64(&source);
    chunk->body_bytes = body_bytes < SIZE_MAX ? (size_t)body_bytes : SIZE_MAX;
    chunk->checksum = source_u64(&source);
    ASSERT(!source.failed && source.used == CHUNK_HEADER_BYTES);
    if (chunk_has_gain(chunk) && count >= CHUNK_HEAD_BYTES_MAX) {
        Source gain = {.bytes = bytes + CHUNK_HEADER_BYTES, .count = CHUNK_GAIN_BYTES};
        source_gain(&gain, &chunk->figures);
    }
    return STATUS_OK;
}

// Whether these are the bytes that somebody sealed.
static Status check_bytes(const Chunk *chunk, const uint8_t *bytes, size_t count, Error *error) {
    size_t body_bytes = count - CHUNK_HEADER_BYTES;
    if (chunk->body_bytes != body_bytes) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is %s: its body has %zu bytes instead of %zu",
                         chunk->body_bytes > body_bytes ? "cut short" : "too long", body_bytes,
                         chunk->body_bytes);
    }
    uint64_t found = checksum(bytes, count);
    if (chunk->checksum != found) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its checksum is wrong: 0x%016" PRIx64 " instead of 0x%016" PRIx64, found,
                         chunk->checksum);
    }
    return STATUS_OK;
}

static Status check_steps(const Chunk *chunk, Error *error) {
    if (chunk->first_step > chunk->last_step) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its first step, %" PRIu64 ", comes after its last, %" PRIu64,
                         chunk->first_step, chunk->last_step);
    }
    if (chunk->kind == CHUNK_KEYFRAME && chunk->first_step != chunk->last_step) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it is a key-frame of more than one step: %" PRIu64 " to %" PRIu64,
                         chunk->first_step, chunk->last_step);
    }
    return STATUS_OK;
}

// Whether what was sealed makes sense, and here.
static Status check_place(const Chunk *chunk, const uint8_t *uid, Error *error) {
    if (uid != NULL && memcmp(chunk->uid, uid, UID_BYTES) != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it belongs to another recording");
    }
    if (chunk->kind == CHUNK_NONE || chunk->kind >= CHUNK_KIND_COUNT) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its kind, %d, is unknown",
                         (int)chunk->kind);
    }
    if (chunk->flags != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it has flags that this program does not "
                         "know (0x%" PRIx32 "): a newer one wrote it",
                         chunk->flags);
    }
    if (chunk->world_count == 0 || chunk->first_world > UINT32_MAX - chunk->world_count) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "its range of worlds, %" PRIu32 " from %" PRIu32 " on, cannot be",
                         chunk->world_count, chunk->first_world);
    }
    if (chunk->kind == CHUNK_GAP && chunk->body_bytes != 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "it is a gap and has a body of %zu bytes",
                         chunk->body_bytes);
    }
    if (chunk_has_gain(chunk) && chunk->body_bytes < CHUNK_GAIN_BYTES) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "it does not say what energy was gained: its body has %zu bytes",
                         chunk->body_bytes);
    }
    return check_steps(chunk, error);
}

Status chunk_open(const uint8_t *bytes, size_t count, const uint8_t *uid, Chunk *chunk,
                  Error *error) {
    Chunk found;
    Status status = chunk_read_head(bytes, count, &found, error);
    status = STATUS_THEN(status, check_bytes(&found, bytes, count, error));
    status = STATUS_THEN(status, check_place(&found, uid, error));
    if (status != STATUS_OK) {
        return status;
    }
    found.body = bytes + chunk_body_offset(&found);
    found.body_bytes = count - chunk_body_offset(&found);
    *chunk = found;
    return STATUS_OK;
}
