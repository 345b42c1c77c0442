// SPDX-License-Identifier: MIT
#include "step/snapshot/fields.h"

#include "base/assert.h"
#include "solve/solver.h"

#include <string.h>

void *field_at(const World *world, const SnapshotField *field, size_t index) {
    ASSERT(!field->is_of_sleep || world->sleep != NULL);
    const char *base = (const char *)world;
    if (field->is_of_sleep) {
        base = (const char *)world->sleep;
    }
    if (field->array != NO_ARRAY) {
        memcpy(&base, base + field->array, sizeof(base));
    }
    return (char *)base + index * field->stride + field->offset;
}

// ---- one row per type

static void write_byte(Sink *sink, const SnapshotField *field, const void *at) {
    (void)field;
    sink_u32(sink, *(const uint8_t *)at);
}

static bool read_byte(Source *source, const SnapshotField *field, void *at) {
    (void)field;
    uint32_t value = source_u32(source);
    *(uint8_t *)at = (uint8_t)value;
    return !source->failed && value <= UINT8_MAX;
}

static void write_flag(Sink *sink, const SnapshotField *field, const void *at) {
    (void)field;
    sink_u64(sink, *(const bool *)at);
}

static bool read_flag(Source *source, const SnapshotField *field, void *at) {
    (void)field;
    uint64_t value = source_u64(source);
    *(bool *)at = value == 1;
    return !source->failed && value <= 1;
}

static void write_solver(Sink *sink, const SnapshotField *field, const void *at) {
    (void)field;
    sink_text(sink, solver_get((SolverKind) * (const uint32_t *)at)->name);
}

static bool read_solver(Source *source, const SnapshotField *field, void *at) {
    (void)field;
    char name[64];
    SolverKind kind;
    if (!source_text(source, name, sizeof(name)) || !solver_find(name, &kind)) {
        return false;
    }
    *(uint32_t *)at = (uint32_t)kind;
    return true;
}

static void write_text(Sink *sink, const SnapshotField *field, const void *at) {
    (void)field;
    sink_text(sink, at);
}

static bool read_text(Source *source, const SnapshotField *field, void *at) {
    return source_text(source, at, field->count);
}

static void write_name(Sink *sink, const SnapshotField *field, const void *at) {
    (void)field;
    sink_text(sink, *(char *const *)at);
}

// Into the stage's: a buffer of FIELD_NAME_BYTES.
static bool read_name(Source *source, const SnapshotField *field, void *at) {
    (void)field;
    return source_text(source, *(char **)at, FIELD_NAME_BYTES);
}

typedef enum Number { NUMBER_NONE, NUMBER_DOUBLE, NUMBER_U32, NUMBER_U64 } Number;

static const size_t number_bytes[] = {
    [NUMBER_DOUBLE] = 8,
    [NUMBER_U32] = 4,
    [NUMBER_U64] = 8,
};

typedef struct FieldRow {
    Number number; // as what it is written
    // NULL: it is written as it lies in memory
    void (*write)(Sink *sink, const SnapshotField *field, const void *at);
    bool (*read)(Source *source, const SnapshotField *field, void *at);
} FieldRow;

static const FieldRow rows[] = {
    [FIELD_DOUBLE] = {NUMBER_DOUBLE, NULL, NULL},
    [FIELD_U32] = {NUMBER_U32, NULL, NULL},
    [FIELD_U64] = {NUMBER_U64, NULL, NULL},
    [FIELD_ID] = {NUMBER_U64, NULL, NULL},
    [FIELD_BODY] = {NUMBER_U32, NULL, NULL},
    [FIELD_BYTE] = {NUMBER_U32, write_byte, read_byte},
    [FIELD_FLAG] = {NUMBER_U64, write_flag, read_flag},
    [FIELD_SOLVER] = {NUMBER_NONE, write_solver, read_solver},
    [FIELD_TEXT] = {NUMBER_NONE, write_text, read_text},
    [FIELD_NAME] = {NUMBER_NONE, write_name, read_name},
};

// ---- what callers see

void field_write(Sink *sink, const SnapshotField *field, const void *at) {
    ASSERT(field->count > 0);
    const FieldRow *row = &rows[field->type];
    if (row->write == NULL) {
        sink_bytes(sink, at, field->count * number_bytes[row->number]);
    } else {
        row->write(sink, field, at);
    }
}

bool field_read(Source *source, const SnapshotField *field, void *at) {
    ASSERT(field->count > 0);
    const FieldRow *row = &rows[field->type];
    if (row->read == NULL) {
        source_copy(source, at, field->count * number_bytes[row->number]);
        return !source->failed;
    }
    return row->read(source, field, at);
}

bool field_is_plain(const SnapshotField *field) {
    return rows[field->type].write == NULL;
}

bool field_is_number(const SnapshotField *field) {
    return rows[field->type].number != NUMBER_NONE;
}

bool section_is_written(const SnapshotSection *section, const World *world) {
    return section->is_of_setting
               ? !setting_is_initial(&world->settings, setting_get(section->setting))
               : section->is_there == NULL || section->is_there(world);
}

bool section_is_next(const SnapshotSection *section, Source source) {
    ASSERT(source.used <= source.count);
    const bool is_always = section->is_there == NULL && !section->is_of_setting;
    return is_always ||
           (source_u32(&source) == section->kind && source_u32(&source) == section->version);
}

size_t field_bytes(const SnapshotField *field) {
    return field_is_number(field) ? field->count * number_bytes[rows[field->type].number]
                                  : sizeof(uint64_t);
}

size_t group_record_bytes(const SnapshotGroup *group) {
    size_t bytes = group->inner != NULL ? sizeof(uint64_t) : 0;
    for (size_t i = 0; i < group->field_count; i++) {
        bytes += field_bytes(&group->fields[i]);
    }
    return bytes;
}

bool group_is_fixed(const SnapshotGroup *group) {
    bool is_fixed = group->inner == NULL;
    for (size_t i = 0; i < group->field_count; i++) {
        is_fixed = is_fixed && field_is_number(&group->fields[i]);
    }
    return is_fixed;
}

double field_number(const SnapshotField *field, const uint8_t *bytes, size_t index) {
    ASSERT(field_is_number(field));
    ASSERT(index < field->count);
    Number number = rows[field->type].number;
    Source source = {.bytes = bytes + index * number_bytes[number], .count = number_bytes[number]};
    switch (number) {
    case NUMBER_DOUBLE:
        return source_double(&source);
    case NUMBER_U32:
        return source_u32(&source);
    case NUMBER_U64:
        return (double)source_u64(&source);
    case NUMBER_NONE:
        break;
    }
    return 0.0;
}
