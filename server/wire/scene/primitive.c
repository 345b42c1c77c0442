// SPDX-License-Identifier: MIT
#include "wire/scene/primitive.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

// A list of numbers in a message, as protobuf-c lays it out: how many, and where.
typedef struct List {
    size_t count;
    double *numbers;
} List;

static const ProtobufCFieldDescriptor *field_of(const ProtobufCMessageDescriptor *message,
                                                const char *name) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message, name);
    ASSERT(field != NULL);
    return field;
}

static List list_of(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const char *base = (const char *)message;
    return (List){*(const size_t *)(const void *)(base + field->quantifier_offset),
                  *(double *const *)(const void *)(base + field->offset)};
}

static double number_of(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    return *(const double *)(const void *)((const char *)message + field->offset);
}

const ProtobufCMessage *scene_primitive_of(const Moreau__V1__ScenePrimitive *primitive,
                                           PrimitiveKind *kind) {
    for (int i = 0; i < PRIMITIVE_COUNT && primitive->shape_case != 0; i++) {
        const ProtobufCFieldDescriptor *field =
            field_of(primitive->base.descriptor, primitive_rows[i].key);
        if (field->id == (uint32_t)primitive->shape_case) {
            *kind = (PrimitiveKind)i;
            return *(ProtobufCMessage *const *)(const void *)((const char *)primitive +
                                                              field->offset);
        }
    }
    return NULL;
}

void scene_primitive_name(PrimitiveKind kind, size_t part, char *name, size_t room) {
    const PrimitiveRow *row = &primitive_rows[kind];
    ASSERT(part < row->size_count);
    const int used = snprintf(name, room, "%s.%s", row->key, row->size[part].name);
    if (row->is_list) {
        snprintf(name + used, room - (size_t)used, "[%zu]", part);
    }
}

static Status read_list(const ProtobufCMessage *of, const PrimitiveRow *row, const char *path,
                        double size[3], Error *error) {
    const List list = list_of(of, field_of(of->descriptor, row->size[0].name));
    if (list.count == row->size_count) {
        memcpy(size, list.numbers, list.count * sizeof(double));
        return STATUS_OK;
    }
    char field[192];
    snprintf(field, sizeof(field), "%.128s.%s.%s", path, row->key, row->size[0].name);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "This %s %u numbers, got %zu.",
                     list.count == 0 ? "is required and needs" : "needs", row->size_count,
                     list.count);
}

Status scene_primitive_read(const ProtobufCMessage *of, PrimitiveKind kind, const char *path,
                            double size[3], Error *error) {
    const PrimitiveRow *row = &primitive_rows[kind];
    if (row->is_list) {
        return read_list(of, row, path, size, error);
    }
    for (uint32_t k = 0; k < row->size_count; k++) {
        size[k] = number_of(of, field_of(of->descriptor, row->size[k].name));
    }
    return STATUS_OK;
}

static bool put_list(ProtobufCMessage *of, const PrimitiveRow *row, const double size[3],
                     Arena *arena) {
    const ProtobufCFieldDescriptor *field = field_of(of->descriptor, row->size[0].name);
    double *numbers = arena_take_array(arena, row->size_count, sizeof(double));
    if (numbers == NULL) {
        return false;
    }
    memcpy(numbers, size, row->size_count * sizeof(double));
    *(size_t *)(void *)((char *)of + field->quantifier_offset) = row->size_count;
    *(double **)(void *)((char *)of + field->offset) = numbers;
    return true;
}

bool scene_primitive_put(PrimitiveKind kind, const double size[3], Arena *arena,
                         Moreau__V1__ScenePrimitive *primitive) {
    const PrimitiveRow *row = &primitive_rows[kind];
    const ProtobufCFieldDescriptor *member = field_of(primitive->base.descriptor, row->key);
    const ProtobufCMessageDescriptor *message = member->descriptor;
    ProtobufCMessage *of = arena_take(arena, message->sizeof_message);
    if (of == NULL) {
        return false;
    }
    message->message_init(of);
    primitive->shape_case = (Moreau__V1__ScenePrimitive__ShapeCase)member->id;
    *(ProtobufCMessage **)(void *)((char *)primitive + member->offset) = of;
    if (row->is_list) {
        return put_list(of, row, size, arena);
    }
    for (uint32_t k = 0; k < row->size_count; k++) {
        const ProtobufCFieldDescriptor *field = field_of(message, row->size[k].name);
        *(protobuf_c_boolean *)(void *)((char *)of + field->quantifier_offset) = 1;
        *(double *)(void *)((char *)of + field->offset) = size[k];
    }
    return true;
}
