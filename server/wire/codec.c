// SPDX-License-Identifier: MIT
#include "wire/codec.h"

#include "base/utf8.h"

#include "base/vec.h"
#include "wire/problem/key.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct ArenaAllocator {
    ProtobufCAllocator allocator;
    Arena *arena;
    bool exhausted;
} ArenaAllocator;

static void *take_from_arena(void *data, size_t bytes) {
    ArenaAllocator *self = data;
    void *piece = arena_take(self->arena, bytes);
    self->exhausted = self->exhausted || piece == NULL;
    return piece;
}

static void leave_in_arena(void *data, void *piece) {
    (void)data;
    (void)piece;
}

ProtobufCMessage *codec_unpack(const ProtobufCMessageDescriptor *descriptor, Arena *arena,
                               const uint8_t *bytes, size_t count, bool *exhausted) {
    ArenaAllocator self = {.allocator = {.alloc = take_from_arena, .free = leave_in_arena},
                           .arena = arena};
    self.allocator.allocator_data = &self;
    ProtobufCMessage *message =
        protobuf_c_message_unpack(descriptor, &self.allocator, count, bytes);
    *exhausted = self.exhausted;
    return message;
}

// Where the walk is: a chain of names, so that the path is only written when there is something to
// blame.
typedef struct Place {
    const struct Place *parent;
    const char *field;
    int64_t index; // < 0: not repeated
} Place;

static size_t write_path(const Place *place, char *text, size_t capacity) {
    size_t used = 0;
    if (place->parent != NULL) {
        used = write_path(place->parent, text, capacity);
        used += (size_t)snprintf(text + used, capacity - used, ".");
    }
    if (used < capacity) {
        used += (size_t)snprintf(text + used, capacity - used, "%s", place->field);
    }
    if (place->index >= 0 && used < capacity) {
        used += (size_t)snprintf(text + used, capacity - used, "[%lld]", (long long)place->index);
    }
    return used < capacity ? used : capacity - 1;
}

static Status blame(const Place *place, Error *error, const char *why) {
    char path[sizeof(error->field)];
    write_path(place, path, sizeof(path));
    return error_set(error, STATUS_INVALID_ARGUMENT, path, "%s", why);
}

static Status check_message(const ProtobufCMessage *message, const Place *parent, Error *error);

static Status check_text(const char *text, const Place *place, Error *error) {
    size_t length = strlen(text);
    size_t limit =
        strcmp(place->field, "about") == 0 ? CODEC_ABOUT_BYTES_MAX : CODEC_TEXT_BYTES_MAX;
    if (length > limit) {
        return blame(place, error, "This text is too long: at most 255 bytes.");
    }
    return utf8_count((const uint8_t *)text, length) == length
               ? STATUS_OK
               : blame(place, error, "This text is not UTF-8.");
}

// A number of a contact problem goes by the key of the problem's file.
static Status blame_problem(const ProtobufCMessage *message, const Place *place, Error *error) {
    char key[sizeof(error->field)], path[sizeof(error->field)];
    if (place->index < 0 || !problem_key((const Moreau__V1__ContactProblem *)(const void *)message,
                                         place->field, (size_t)place->index, key, sizeof(key))) {
        return error->status;
    }
    const Place named = {.parent = place->parent, .field = key, .index = -1};
    write_path(&named, path, sizeof(path));
    memcpy(error->field, path, sizeof(path));
    return error->status;
}

static Status check_number(double value, const Place *place, Error *error) {
    return isfinite(value)
               ? STATUS_OK
               : blame(place, error, "Every number must be finite: NaN and infinity are refused.");
}

static Status check_enum(const ProtobufCFieldDescriptor *field, int value, const Place *place,
                         Error *error) {
    if (protobuf_c_enum_descriptor_get_value(field->descriptor, value) != NULL) {
        return STATUS_OK;
    }
    return blame(place, error, "This number is no value of the field's enum.");
}

// One value of a field, at `member`.
static Status check_value(const ProtobufCFieldDescriptor *field, const void *member,
                          const Place *place, Error *error) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        return check_number(*(const double *)member, place, error);
    case PROTOBUF_C_TYPE_FLOAT:
        return check_number((double)*(const float *)member, place, error);
    case PROTOBUF_C_TYPE_ENUM:
        return check_enum(field, *(const int *)member, place, error);
    case PROTOBUF_C_TYPE_STRING:
        return check_text(*(char *const *)member, place, error);
    case PROTOBUF_C_TYPE_MESSAGE:
        return check_message(*(ProtobufCMessage *const *)member, place, error);
    default:
        return STATUS_OK; // integers and booleans have no wrong values here
    }
}

static size_t value_bytes(const ProtobufCFieldDescriptor *field) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        return sizeof(double);
    case PROTOBUF_C_TYPE_FLOAT:
        return sizeof(float);
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(int);
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 0;
    }
}

static Status check_repeated(const ProtobufCFieldDescriptor *field, const char *base, Place *place,
                             Error *error) {
    size_t count = *(const size_t *)(const void *)(base + field->quantifier_offset);
    const char *items = *(char *const *)(const void *)(base + field->offset);
    size_t bytes = value_bytes(field);
    if (count == 0 || bytes == 0 ||
        (field->type == PROTOBUF_C_TYPE_DOUBLE &&
         numbers_are_finite((const double *)(const void *)items, count))) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < count; i++) {
        place->index = (int64_t)i;
        Status status = check_value(field, items + i * bytes, place, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}

static bool is_present(const ProtobufCFieldDescriptor *field, const char *base) {
    const void *quantifier = base + field->quantifier_offset;
    if (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) {
        return *(const uint32_t *)quantifier == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE) {
        const void *value = *(void *const *)(const void *)(base + field->offset);
        return value != NULL && value != field->default_value;
    }
    return *(const protobuf_c_boolean *)quantifier;
}

static Status check_message(const ProtobufCMessage *message, const Place *parent, Error *error) {
    const char *base = (const char *)message;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        Place place = {.parent = parent, .field = field->name, .index = -1};
        Status status = STATUS_OK;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            status = check_repeated(field, base, &place, error);
        } else if (is_present(field, base)) {
            status = check_value(field, base + field->offset, &place, error);
        }
        if (status != STATUS_OK) {
            bool is_problem = message->descriptor == &moreau__v1__contact_problem__descriptor;
            return is_problem ? blame_problem(message, &place, error) : status;
        }
    }
    return STATUS_OK;
}

Status codec_check(const ProtobufCMessage *message, Error *error) {
    return check_message(message, NULL, error);
}
