// SPDX-License-Identifier: MIT
#include "cli/json_write.h"

#include "cli/base64.h"
#include "cli/json_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_DIGITS = 17, LINE_COLUMNS = 150 };

// ---- message to JSON

static json_t *write_real(double number) {
    // JSON knows no infinity; a server sends none
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *write_unsigned(uint64_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRIu64, number);
    return json_string(digits);
}

static json_t *write_signed(int64_t number) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    return json_string(digits);
}

static json_t *write_enum(const ProtobufCEnumDescriptor *descriptor, int number) {
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
    return value != NULL ? json_string(value->name) : json_integer(number);
}

static json_t *write_narrow(const ProtobufCFieldDescriptor *field, const void *member) {
    uint32_t bits;
    memcpy(&bits, member, sizeof(bits));
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT: {
        float number;
        memcpy(&number, member, sizeof(number));
        return write_real((double)number);
    }
    case PROTOBUF_C_TYPE_BOOL:
        return json_boolean(bits != 0);
    case PROTOBUF_C_TYPE_ENUM:
        return write_enum(field->descriptor, (int)bits);
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
        return json_integer((json_int_t)bits);
    default:
        return json_integer((json_int_t)(int32_t)bits);
    }
}

static json_t *write_wide(const ProtobufCFieldDescriptor *field, const void *member) {
    uint64_t bits;
    memcpy(&bits, member, sizeof(bits));
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE: {
        double number;
        memcpy(&number, member, sizeof(number));
        return write_real(number);
    }
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        return write_unsigned(bits);
    default:
        return write_signed((int64_t)bits);
    }
}

static json_t *write_bytes(const void *member) {
    ProtobufCBinaryData bytes;
    memcpy(&bytes, member, sizeof(bytes));
    char *text = base64_write(bytes.data, bytes.len);
    json_t *string = json_string(text);
    free(text);
    return string;
}

static json_t *write_value(const ProtobufCFieldDescriptor *field, const void *member) {
    const void *pointer;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        memcpy(&pointer, member, sizeof(pointer));
        return json_write_message(pointer);
    case PROTOBUF_C_TYPE_STRING:
        memcpy(&pointer, member, sizeof(pointer));
        return json_string(pointer);
    case PROTOBUF_C_TYPE_BYTES:
        return write_bytes(member);
    default:
        return json_type_bytes(field->type) == 8 ? write_wide(field, member)
                                                 : write_narrow(field, member);
    }
}

static json_t *write_repeated(const ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field) {
    size_t count;
    const uint8_t *items;
    memcpy(&count, (const uint8_t *)message + field->quantifier_offset, sizeof(count));
    memcpy(&items, (const uint8_t *)message + field->offset, sizeof(items));
    if (count == 0) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list, write_value(field, items + i * json_type_bytes(field->type)));
    }
    return list;
}

json_t *json_write_message(const ProtobufCMessage *message) {
    json_t *object = json_object();
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        json_t *value = NULL;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            value = write_repeated(message, field);
        } else if (json_has_field(message, field)) {
            value = write_value(field, (const uint8_t *)message + field->offset);
        }
        if (value != NULL) {
            json_object_set_new(object, field->name, value);
        }
    }
    return object;
}

// ---- JSON to text

static size_t print_flags(void) {
    return JSON_ENCODE_ANY | JSON_REAL_PRECISION(REAL_DIGITS);
}

static bool is_plain(const json_t *value) {
    return !json_is_object(value) && !json_is_array(value);
}

// A list, or an object, of plain values only.
static bool is_flat(const json_t *value) {
    size_t index;
    const char *key;
    json_t *each;
    json_array_foreach((json_t *)value, index, each) {
        if (!is_plain(each)) {
            return false;
        }
    }
    json_object_foreach((json_t *)value, key, each) {
        if (!is_plain(each)) {
            return false;
        }
    }
    return true;
}

// A line of its own is short enough, or cannot be broken: a column of numbers is one line however
// long.
static bool fits_line(const json_t *value, size_t indent) {
    if (is_plain(value) || (json_is_array(value) && is_flat(value))) {
        return true;
    }
    size_t room = indent < LINE_COLUMNS ? LINE_COLUMNS - indent : 0;
    return json_dumpb(value, NULL, 0, print_flags()) <= room &&
           (is_flat(value) || json_is_array(value));
}

static void print_value(FILE *out, const json_t *value, size_t indent);

static void print_string(FILE *out, const char *text) {
    json_t *string = json_string(text);
    json_dumpf(string, out, print_flags());
    json_decref(string);
}

static void begin_line(FILE *out, bool first, size_t indent) {
    fprintf(out, "%s\n%*s", first ? "" : ",", (int)indent, "");
}

static void print_items(FILE *out, const json_t *value, size_t indent) {
    size_t index;
    const char *key;
    json_t *each;
    bool first = true;
    json_array_foreach((json_t *)value, index, each) {
        begin_line(out, first, indent);
        print_value(out, each, indent);
        first = false;
    }
    json_object_foreach((json_t *)value, key, each) {
        begin_line(out, first, indent);
        print_string(out, key);
        fputs(": ", out);
        print_value(out, each, indent);
        first = false;
    }
}

static void print_value(FILE *out, const json_t *value, size_t indent) {
    if (fits_line(value, indent)) {
        json_dumpf(value, out, print_flags());
        return;
    }
    bool is_list = json_is_array(value);
    fputc(is_list ? '[' : '{', out);
    print_items(out, value, indent + 1);
    fprintf(out, "\n%*s%c", (int)indent, "", is_list ? ']' : '}');
}

void json_print(FILE *out, const json_t *value) {
    print_value(out, value, 0);
    fputc('\n', out);
}

void json_print_line(FILE *out, const json_t *value) {
    json_dumpf(value, out, print_flags());
    fputc('\n', out);
}
