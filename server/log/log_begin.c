// SPDX-License-Identifier: MIT
#include "log/log_parts.h"

#include "base/array.h"
#include "base/assert.h"
#include "os/clock.h"

#include <stdlib.h>
#include <string.h>

enum { BUFFER_SEARCH_MAX = 16 }; // free buffers that are looked at for one of the right size

// ---- buffers

// Under the lock. A free buffer that is large enough, or else any.
static LogBuffer *take_free(Log *log, size_t capacity) {
    LogBuffer **fitting = &log->free_buffers;
    LogBuffer **at = &log->free_buffers;
    for (int i = 0; i < BUFFER_SEARCH_MAX && *at != NULL; i++) {
        if ((*at)->capacity >= capacity) {
            fitting = at;
            break;
        }
        at = &(*at)->next;
    }
    LogBuffer *buffer = *fitting;
    if (buffer != NULL) {
        *fitting = buffer->next;
        log->free_bytes -= buffer->capacity;
    }
    return buffer;
}

void log_free_buffers(LogBuffer *buffer) {
    while (buffer != NULL) {
        LogBuffer *next = buffer->next;
        free(buffer->bytes);
        free(buffer);
        buffer = next;
    }
}

void log_keep_buffer(Log *log, LogBuffer *buffer, LogBuffer **surplus) {
    if (buffer->worn != NULL) {
        buffer->worn->release(buffer->worn);
        buffer->worn = NULL;
    }
    bool is_kept = log->free_bytes + buffer->capacity <= log->queue_bytes_max;
    LogBuffer **list = is_kept ? &log->free_buffers : surplus;
    log->free_bytes += is_kept ? buffer->capacity : 0;
    buffer->next = *list;
    *list = buffer;
}

LogBuffer *log_take_buffer(Log *log, size_t capacity) {
    uv_mutex_lock(&log->mutex);
    LogBuffer *buffer = take_free(log, capacity);
    uv_mutex_unlock(&log->mutex);
    if (buffer == NULL) {
        Record *record = calloc(1, sizeof(*record));
        buffer = record != NULL ? &record->buffer : NULL;
    }
    size_t needed = capacity > CHUNK_HEADER_BYTES ? capacity : CHUNK_HEADER_BYTES;
    if (buffer == NULL || !log_buffer_reserve(buffer, needed)) {
        if (buffer != NULL) {
            log_give_buffer(log, buffer);
        }
        return NULL;
    }
    buffer->next = NULL;
    buffer->used = CHUNK_HEADER_BYTES;
    return buffer;
}

bool log_buffer_reserve(LogBuffer *buffer, size_t capacity) {
    return ARRAY_RESERVE(buffer->bytes, buffer->capacity, capacity);
}

void log_give_buffer(Log *log, LogBuffer *buffer) {
    LogBuffer *surplus = NULL;
    uv_mutex_lock(&log->mutex);
    log_keep_buffer(log, buffer, &surplus);
    uv_mutex_unlock(&log->mutex);
    log_free_buffers(surplus);
}

LogBuffer *log_worn_buffer(Log *log, LogWorn *worn) {
    const size_t bytes = geometries_write(worn->geometry, worn->count, NULL);
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + bytes);
    if (buffer == NULL) {
        worn->release(worn);
        return NULL;
    }
    buffer->used += geometries_write(worn->geometry, worn->count, buffer->bytes + buffer->used);
    buffer->worn = worn;
    return buffer;
}

// ---- recordings

static const char *copy_text(char **at, const char *text) {
    size_t bytes = strlen(text) + 1;
    char *copy = memcpy(*at, text, bytes);
    *at += bytes;
    return copy;
}

static LogRecording *copy_def(const RecordingDef *def) {
    const char *const from[] = {def->name,   def->client,         def->world_name,
                                def->solver, def->server_version, def->build};
    enum { TEXT_COUNT = sizeof(from) / sizeof(from[0]) };
    size_t bytes = sizeof(LogRecording) + def->label_count * sizeof(char *);
    size_t texts_at = bytes;
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        bytes += strlen(from[i]) + 1;
    }
    for (size_t i = 0; i < def->label_count; i++) {
        bytes += strlen(def->label[i]) + 1;
    }
    bytes += def->space == NULL ? 0 : strlen(def->space) + 1;
    LogRecording *recording = calloc(1, bytes);
    if (recording == NULL) {
        return NULL;
    }
    char *at = (char *)recording + texts_at;
    RecordingDef *copy = &recording->def;
    *copy = *def;
    const char **const to[] = {&copy->name,   &copy->client,         &copy->world_name,
                               &copy->solver, &copy->server_version, &copy->build};
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        *to[i] = copy_text(&at, from[i]);
    }
    for (size_t i = 0; i < def->label_count; i++) {
        recording->label[i] = copy_text(&at, def->label[i]);
    }
    copy->space = def->space == NULL ? NULL : copy_text(&at, def->space);
    copy->label = recording->label;
    copy->group = NULL; // borrowed: it stands in the definition
    copy->group_bytes = 0;
    return recording;
}

// The chain of all, and, of a group, one per range of worlds.
static bool make_chains(LogRecording *recording) {
    const RecordingDef *def = &recording->def;
    RecordingSeal *seal = &recording->so_far;
    seal->chain_count = 1;
    if (recording_is_group(def->world_count, def->world_range)) {
        seal->chain_count += (def->world_count - 1) / def->world_range + 1;
    }
    seal->chain = calloc(seal->chain_count, sizeof(*seal->chain));
    if (seal->chain == NULL) {
        return false;
    }
    seal->chain[0] = (ChainEnd){.world_count = def->world_count};
    for (size_t i = 1; i < seal->chain_count; i++) {
        uint32_t first = (uint32_t)(i - 1) * def->world_range, left = def->world_count - first;
        seal->chain[i] = (ChainEnd){
            .first_world = first, .world_count = left < def->world_range ? left : def->world_range};
    }
    return true;
}

void log_free_recording(LogRecording *recording) {
    if (recording->seal != NULL) {
        log_give_buffer(recording->log, recording->seal);
    }
    log_sign_free(recording);
    free(recording->so_far.chain);
    free(recording);
}

static LogBuffer *make_definition(Log *log, const RecordingDef *def) {
    size_t bytes = definition_write(def, NULL);
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + bytes);
    if (buffer != NULL) {
        buffer->used += definition_write(def, buffer->bytes + CHUNK_HEADER_BYTES);
    }
    return buffer;
}

static Record *chunk_record(LogRecording *recording, LogBuffer *buffer, const Chunk *chunk) {
    Record *record = (Record *)buffer;
    record->kind = RECORD_CHUNK;
    record->recording = recording;
    record->wait = NULL;
    record->chunk = *chunk;
    return record;
}

// A recording that can be begun and ended. NULL when memory ends.
static LogRecording *prepare(Log *log, const RecordingDef *def, LogBuffer **definition) {
    RecordingDef whole = *def;
    whole.begun_ns = clock_wall_ns();
    whole.server_version = def->server_version == NULL ? log->server_version : def->server_version;
    whole.build = def->build == NULL ? log->build : def->build;
    whole.world_count = def->world_count == 0 ? 1 : def->world_count;
    whole.world_range = def->world_range == 0 ? 1 : def->world_range;
    LogRecording *recording = copy_def(&whole);
    if (recording == NULL) {
        return NULL;
    }
    recording->log = log;
    recording->so_far.why = "";
    recording->so_far.figures.has_gain = !recording_is_group(whole.world_count, whole.world_range);
    *definition = NULL;
    if (make_chains(recording) && log_sign_prepare(recording)) {
        *definition = make_definition(log, &whole);
        recording->seal =
            log_take_buffer(log, CHUNK_HEADER_BYTES + seal_write(&recording->so_far, NULL));
    }
    if (recording->seal == NULL || *definition == NULL) {
        if (*definition != NULL) {
            log_give_buffer(log, *definition);
        }
        log_free_recording(recording);
        return NULL;
    }
    return recording;
}

LogRecording *log_begin(Log *log, const RecordingDef *def, LogBuffer *geometries, LogBuffer *scene,
                        LogBuffer *keyframe, LogWait *wait) {
    LogBuffer *definition;
    LogRecording *recording = prepare(log, def, &definition);
    if (recording == NULL) {
        return NULL;
    }
    recording->begin = (Record){.kind = RECORD_BEGIN, .recording = recording, .wait = wait};
    Record *records[5] = {&recording->begin};
    records[1] = chunk_record(
        recording, definition,
        &(Chunk){.kind = CHUNK_DEFINITION, .version = definition_version(&recording->def)});
    size_t count = 2;
    if (geometries != NULL) {
        records[count++] =
            chunk_record(recording, geometries,
                         &(Chunk){.kind = CHUNK_GEOMETRIES, .version = CHUNK_FORMAT_GEOMETRIES});
    }
    if (scene != NULL) {
        records[count++] = chunk_record(recording, scene, &(Chunk){.kind = CHUNK_SCENE});
    }
    if (keyframe != NULL) {
        records[count++] = chunk_record(recording, keyframe, &(Chunk){.kind = CHUNK_KEYFRAME});
    }
    for (size_t i = 1; i < count; i++) {
        recording->begun_bytes += ((LogBuffer *)records[i])->used;
    }
    log_enqueue(log, records, count);
    return recording;
}

uint64_t log_begun_bytes(const LogRecording *recording) {
    return recording->begun_bytes;
}

void log_put(LogRecording *recording, LogBuffer *buffer, const Chunk *chunk) {
    if (atomic_load_explicit(&recording->has_failed, memory_order_acquire)) {
        log_give_buffer(recording->log, buffer);
        return;
    }
    Record *record = chunk_record(recording, buffer, chunk);
    log_enqueue(recording->log, &record, 1);
}

void log_end(LogRecording *recording, const RecordingEnd *end, LogWait *wait) {
    recording->ending = *end;
    recording->end = (Record){.kind = RECORD_END, .recording = recording, .wait = wait};
    Record *record = &recording->end;
    log_enqueue(recording->log, &record, 1);
}

Status log_recording_status(const LogRecording *recording, Error *error) {
    if (!atomic_load_explicit(&recording->has_failed, memory_order_acquire)) {
        return STATUS_OK;
    }
    if (error != NULL) {
        *error = recording->error;
    }
    return recording->error.status;
}
