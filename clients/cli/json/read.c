// SPDX-License-Identifier: MIT
#include "cli/json/read.h"

#include "cli/json/base64.h"
#include "cli/base/memory.h"
#include "cli/text/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// What a walk carries along.
typedef struct Reading {
    const JsonText *json;
    JsonPath path;
    JsonError *error;
} Reading;

#define REFUSE(reading, ...)                                                                       \
    json_text_refuse((reading)->json, (reading)->path.text, (reading)->error, __VA_ARGS__)

#define REFUSE_VALUE(reading, needed, value)                                                       \
    json_text_refuse_value((reading)->json, (reading)->path.text, (reading)->error, needed, value)

// key is name in camelCase: each underscore is left out, and the letter after it large
static bool is_camel_case(const char *key, const char *name) {
    while (*name != '\0') {
        char expected = *name++;
        if (expected == '_') {
            expected = (char)toupper((unsigned char)*name++);
        }
        if (*key++ != expected) {
            return false;
        }
    }
    return *key == '\0';
}

const ProtobufCFieldDescriptor *json_find_field(const ProtobufCMessageDescriptor *descriptor,
                                                const char *key) {
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        const char *name = descriptor->fields[i].name;
        if (strcmp(name, key) == 0 || is_camel_case(key, name)) {
            return &descriptor->fields[i];
        }
    }
    return NULL;
}

const ProtobufCEnumValue *json_find_enum(const ProtobufCEnumDescriptor *descriptor,
                                         const char *name) {
    char *end;
    errno = 0;
    long number = strtol(name, &end, 10);
    bool is_number = end != name && *end == '\0' && errno == 0;
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        const ProtobufCEnumValue *value = &descriptor->values[i];
        if (is_number ? value->value == number : strcasecmp(value->name, name) == 0) {
            return value;
        }
    }
    return NULL;
}

bool json_has_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    const uint8_t *base = (const uint8_t *)message;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        uint32_t chosen;
        memcpy(&chosen, base + field->quantifier_offset, sizeof(chosen));
        return chosen == field->id;
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE || field->type == PROTOBUF_C_TYPE_STRING) {
        const void *pointer;
        memcpy(&pointer, base + field->offset, sizeof(pointer));
        return pointer != NULL;
    }
    protobuf_c_boolean there;
    memcpy(&there, base + field->quantifier_offset, sizeof(there));
    return there != 0;
}

void json_mark_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field) {
    uint8_t *base = (uint8_t *)message;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        memcpy(base + field->quantifier_offset, &field->id, sizeof(field->id));
    } else if (field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_STRING) {
        protobuf_c_boolean there = 1;
        memcpy(base + field->quantifier_offset, &there, sizeof(there));
    }
}

size_t json_type_bytes(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return 8;
    case PROTOBUF_C_TYPE_MESSAGE:
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    default:
        return 4;
    }
}

// ---- scalars

static bool read_double(Reading *reading, const json_t *value, double *number) {
    if (!json_is_number(value)) {
        return REFUSE_VALUE(reading, "a number", value);
    }
    *number = json_number_value(value);
    return true;
}

static bool read_float(Reading *reading, const json_t *value, float *number) {
    double wide = 0.0;
    if (!read_double(reading, value, &wide)) {
        return false;
    }
    // what is closer to FLT_MAX than to the next that a float would have is FLT_MAX
    if (!(fabs(wide) < 0x1.ffffffp127)) {
        return REFUSE(reading, "%g does not fit a 32-bit float", wide);
    }
    *number = (float)wide;
    return true;
}

// A whole number from digits, with an optional sign.
static bool parse_digits(const char *text, bool *negative, uint64_t *size) {
    *negative = text[0] == '-';
    const char *digits = text + (*negative ? 1 : 0);
    if (digits[0] < '0' || digits[0] > '9') {
        return false;
    }
    char *end;
    errno = 0;
    *size = strtoull(digits, &end, 10);
    return *end == '\0' && errno == 0;
}

// A whole number in any of its spellings: 3, "3", 3.0, 3e2. 2^53 is as far as a real is exact.
static bool parse_whole(const json_t *value, bool *negative, uint64_t *size) {
    if (json_is_integer(value)) {
        json_int_t number = json_integer_value(value);
        *negative = number < 0;
        *size = *negative ? 0 - (uint64_t)number : (uint64_t)number;
        return true;
    }
    if (json_is_string(value)) {
        return parse_digits(json_string_value(value), negative, size);
    }
    if (json_is_real(value)) {
        double number = json_real_value(value);
        *negative = number < 0.0;
        *size = (uint64_t)fmin(fabs(number), 0x1p53);
        return number == floor(number) && fabs(number) <= 0x1p53;
    }
    return false;
}

static bool read_whole(Reading *reading, const json_t *value, int bits, bool is_signed,
                       void *number) {
    bool negative = false;
    uint64_t size = 0;
    if (!parse_whole(value, &negative, &size)) {
        return REFUSE_VALUE(reading, "a whole number", value);
    }
    uint64_t positive_max = (is_signed ? UINT64_MAX >> 1 : UINT64_MAX) >> (64 - bits);
    uint64_t limit = !negative ? positive_max : is_signed ? positive_max + 1 : 0;
    if (size > limit) {
        return !is_signed && negative
                   ? REFUSE_VALUE(reading, "a whole number that is not negative", value)
                   : REFUSE(reading, "this whole number does not fit %d bits", bits);
    }
    uint64_t wide = negative ? 0 - size : size;
    uint32_t narrow = (uint32_t)wide;
    memcpy(number, bits == 64 ? (const void *)&wide : (const void *)&narrow, (size_t)bits / 8);
    return true;
}

static bool read_bool(Reading *reading, const json_t *value, protobuf_c_boolean *number) {
    if (!json_is_boolean(value)) {
        return REFUSE_VALUE(reading, "true or false", value);
    }
    *number = json_is_true(value);
    return true;
}

static bool read_enum(Reading *reading, const json_t *value,
                      const ProtobufCEnumDescriptor *descriptor, void *number) {
    if (json_is_integer(value)) {
        return read_whole(reading, value, 32, true, number);
    }
    const ProtobufCEnumValue *found =
        json_is_string(value) ? json_find_enum(descriptor, json_string_value(value)) : NULL;
    if (found != NULL) {
        memcpy(number, &found->value, sizeof(found->value));
        return true;
    }
    char names[256] = "one of ";
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                 descriptor->values[i].name);
    }
    return REFUSE_VALUE(reading, names, value);
}

static bool read_string(Reading *reading, const json_t *value, char **text) {
    if (!json_is_string(value)) {
        return REFUSE_VALUE(reading, "a string", value);
    }
    *text = memory_copy(json_string_value(value));
    return true;
}

static bool read_bytes(Reading *reading, const json_t *value, void *member) {
    ProtobufCBinaryData bytes;
    if (!json_is_string(value) || !base64_read(json_string_value(value), &bytes.data, &bytes.len)) {
        return REFUSE_VALUE(reading, "bytes as base64, in a string", value);
    }
    memcpy(member, &bytes, sizeof(bytes));
    return true;
}

// ---- messages

static ProtobufCMessage *read_message(Reading *reading, const json_t *value,
                                      const ProtobufCMessageDescriptor *descriptor);

// One value into `member`.
static bool read_value(Reading *reading, const json_t *value, const ProtobufCFieldDescriptor *field,
                       void *member) {
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE:
        return read_double(reading, value, member);
    case PROTOBUF_C_TYPE_FLOAT:
        return read_float(reading, value, member);
    case PROTOBUF_C_TYPE_BOOL:
        return read_bool(reading, value, member);
    case PROTOBUF_C_TYPE_ENUM:
        return read_enum(reading, value, field->descriptor, member);
    case PROTOBUF_C_TYPE_STRING:
        return read_string(reading, value, member);
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
        return read_whole(reading, value, 32, true, member);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return read_whole(reading, value, 32, false, member);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return read_whole(reading, value, 64, true, member);
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return read_whole(reading, value, 64, false, member);
    case PROTOBUF_C_TYPE_MESSAGE: {
        ProtobufCMessage *message = read_message(reading, value, field->descriptor);
        memcpy(member, &message, sizeof(void *));
        return message != NULL;
    }
    default:
        return read_bytes(reading, value, member);
    }
}

static bool read_repeated(Reading *reading, const json_t *value,
                          const ProtobufCFieldDescriptor *field, ProtobufCMessage *message) {
    if (!json_is_array(value)) {
        return REFUSE_VALUE(reading, "a list, as [...]", value);
    }
    size_t count = json_array_size(value);
    if (count == 0) {
        return true;
    }
    // the message owns the list from the start, so that a refusal half-way frees what was read
    size_t item_bytes = json_type_bytes(field->type);
    uint8_t *items = memory_take(count, item_bytes);
    memcpy((uint8_t *)message + field->offset, &items, sizeof(items));
    memcpy((uint8_t *)message + field->quantifier_offset, &count, sizeof(count));
    for (size_t i = 0; i < count; i++) {
        size_t before = json_path_enter_index(&reading->path, i);
        if (!read_value(reading, json_array_get(value, i), field, items + i * item_bytes)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    return true;
}

// The path of the reading ends with the field's key.
static bool read_field(Reading *reading, const json_t *value, const ProtobufCFieldDescriptor *field,
                       ProtobufCMessage *message) {
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        size_t count;
        memcpy(&count, (uint8_t *)message + field->quantifier_offset, sizeof(count));
        return count == 0 ? read_repeated(reading, value, field, message)
                          : REFUSE(reading, "%s is given twice", field->name);
    }
    if (json_has_field(message, field)) {
        return REFUSE(reading, "%s is given twice", field->name);
    }
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0) {
        uint32_t chosen;
        memcpy(&chosen, (uint8_t *)message + field->quantifier_offset, sizeof(chosen));
        const ProtobufCFieldDescriptor *other =
            protobuf_c_message_descriptor_get_field(message->descriptor, chosen);
        if (chosen != 0 && other != NULL) {
            return REFUSE(reading, "only one of %s and %s may be given", other->name, field->name);
        }
    }
    if (!read_value(reading, value, field, (uint8_t *)message + field->offset)) {
        return false;
    }
    json_mark_field(message, field);
    return true;
}

static bool refuse_key(Reading *reading, const ProtobufCMessageDescriptor *descriptor,
                       const char *key) {
    char names[640] = "";
    Nearest nearest = {.typed = key};
    for (unsigned i = 0; i < descriptor->n_fields; i++) {
        nearest_offer(&nearest, descriptor->fields[i].name);
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                 descriptor->fields[i].name);
    }
    char hint[NEAREST_HINT_BYTES];
    nearest_hint(&nearest, hint);
    return descriptor->n_fields > 0
               ? REFUSE(reading, "unknown key%s; %s has %s", hint, descriptor->short_name, names)
               : REFUSE(reading, "unknown key; %s has no fields", descriptor->short_name);
}

static bool read_members(Reading *reading, const json_t *value, ProtobufCMessage *message) {
    const char *key;
    json_t *each;
    // jansson's loop takes a pointer to a changeable object, and changes nothing
    json_object_foreach((json_t *)value, key, each) {
        size_t before = json_path_enter(&reading->path, key);
        const ProtobufCFieldDescriptor *field = json_find_field(message->descriptor, key);
        if (field == NULL) {
            return refuse_key(reading, message->descriptor, key);
        }
        if (!json_is_null(each) && !read_field(reading, each, field, message)) {
            return false;
        }
        json_path_leave(&reading->path, before);
    }
    return true;
}

static ProtobufCMessage *read_message(Reading *reading, const json_t *value,
                                      const ProtobufCMessageDescriptor *descriptor) {
    if (!json_is_object(value)) {
        REFUSE_VALUE(reading, "an object, as {...}", value);
        return NULL;
    }
    ProtobufCMessage *message = memory_take(1, descriptor->sizeof_message);
    protobuf_c_message_init(descriptor, message);
    if (!read_members(reading, value, message)) {
        protobuf_c_message_free_unpacked(message, NULL);
        return NULL;
    }
    return message;
}

ProtobufCMessage *json_read_message(const JsonText *json, const json_t *value, const char *path,
                                    const ProtobufCMessageDescriptor *descriptor,
                                    JsonError *error) {
    Reading reading = {.json = json, .error = error};
    json_path_enter(&reading.path, path);
    return read_message(&reading, value, descriptor);
}
