// SPDX-License-Identifier: MIT
#include "cli/json/write.h"

#include "cli/json/base64.h"
#include "cli/json/read.h"
#include "cli/base/memory.h"
#include "cli/text/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_COLUMNS = 150 };

// How 64-bit integers are written.
typedef enum WideStyle {
    WIDE_PROTOBUF, // as text, as protobuf's JSON has them
    WIDE_OURS,     // as numbers; hashes (fixed64) as text
} WideStyle;

// ---- message to JSON

static json_t *write_message(const ProtobufCMessage *message, WideStyle style);

static json_t *write_real(double number, WideStyle style) {
    // JSON knows no infinity; a server sends none. A sign of zero is kept where bits matter.
    return style == WIDE_OURS || !isfinite(number) ? number_json(number) : json_real(number);
}

static json_t *write_signed(int64_t number, WideStyle style) {
    char digits[24];
    snprintf(digits, sizeof(digits), "%" PRId64, number);
    return style == WIDE_OURS ? json_integer(number) : json_string(digits);
}

static json_t *write_enum(const ProtobufCEnumDescriptor *descriptor, int number) {
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(descriptor, number);
    return value != NULL ? json_string(value->name) : json_integer(number);
}

static json_t *write_narrow(const ProtobufCFieldDescriptor *field, const void *member,
                            WideStyle style) {
    uint32_t bits;
    memcpy(&bits, member, sizeof(bits));
    switch (field->type) {
    case PROTOBUF_C_TYPE_FLOAT: {
        float number;
        memcpy(&number, member, sizeof(number));
        return write_real(number_of_single(number), style);
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

static json_t *write_wide(const ProtobufCFieldDescriptor *field, const void *member,
                          WideStyle style) {
    uint64_t bits;
    memcpy(&bits, member, sizeof(bits));
    switch (field->type) {
    case PROTOBUF_C_TYPE_DOUBLE: {
        double number;
        memcpy(&number, member, sizeof(number));
        return write_real(number, style);
    }
    case PROTOBUF_C_TYPE_FIXED64:
        return number_json_hash(bits);
    case PROTOBUF_C_TYPE_UINT64:
        return style == WIDE_OURS ? number_json_whole(bits) : number_json_hash(bits);
    default:
        return write_signed((int64_t)bits, style);
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

static json_t *write_value(const ProtobufCFieldDescriptor *field, const void *member,
                           WideStyle style) {
    const void *pointer;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        memcpy(&pointer, member, sizeof(pointer));
        return write_message(pointer, style);
    case PROTOBUF_C_TYPE_STRING:
        memcpy(&pointer, member, sizeof(pointer));
        return json_string(pointer);
    case PROTOBUF_C_TYPE_BYTES:
        return write_bytes(member);
    default:
        return json_type_bytes(field->type) == 8 ? write_wide(field, member, style)
                                                 : write_narrow(field, member, style);
    }
}

static json_t *write_repeated(const ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field, WideStyle style) {
    size_t count;
    const uint8_t *items;
    memcpy(&count, (const uint8_t *)message + field->quantifier_offset, sizeof(count));
    memcpy(&items, (const uint8_t *)message + field->offset, sizeof(items));
    if (count == 0) {
        return NULL;
    }
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_array_append_new(list,
                              write_value(field, items + i * json_type_bytes(field->type), style));
    }
    return list;
}

static json_t *write_message(const ProtobufCMessage *message, WideStyle style) {
    json_t *object = json_object();
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        json_t *value = NULL;
        if (field->label == PROTOBUF_C_LABEL_REPEATED) {
            value = write_repeated(message, field, style);
        } else if (json_has_field(message, field)) {
            value = write_value(field, (const uint8_t *)message + field->offset, style);
        }
        if (value != NULL) {
            json_object_set_new(object, field->name, value);
        }
    }
    return object;
}

json_t *json_write_message(const ProtobufCMessage *message) {
    return write_message(message, WIDE_PROTOBUF);
}

json_t *json_write_ours(const ProtobufCMessage *message) {
    return write_message(message, WIDE_OURS);
}

// ---- JSON to text

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

// Writes to `out`, or, when that is NULL, nowhere; returns how many bytes it takes.
static size_t put(FILE *out, const char *text) {
    if (out != NULL) {
        fputs(text, out);
    }
    return strlen(text);
}

// A string, a whole number or a word, as jansson writes it.
static size_t put_plain(FILE *out, const json_t *value) {
    if (json_is_real(value)) {
        char text[NUMBER_BYTES];
        return put(out, number_write(json_real_value(value), text));
    }
    char *text = memory_must(json_dumps(value, JSON_ENCODE_ANY));
    size_t bytes = put(out, text);
    free(text);
    return bytes;
}

static size_t put_string(FILE *out, const char *text) {
    json_t *string = json_string(text);
    size_t bytes = put_plain(out, string);
    json_decref(string);
    return bytes;
}

// Any value on one line.
static size_t put_line(FILE *out, const json_t *value) {
    if (is_plain(value)) {
        return put_plain(out, value);
    }
    size_t index;
    const char *key;
    json_t *each;
    const char *gap = "";
    size_t bytes = put(out, json_is_array(value) ? "[" : "{");
    json_array_foreach((json_t *)value, index, each) {
        bytes += put(out, gap) + put_line(out, each);
        gap = ", ";
    }
    json_object_foreach((json_t *)value, key, each) {
        bytes += put(out, gap) + put_string(out, key) + put(out, ": ") + put_line(out, each);
        gap = ", ";
    }
    return bytes + put(out, json_is_array(value) ? "]" : "}");
}

// A line of its own is short enough, or cannot be broken: a column of numbers is one line however
// long.
static bool fits_line(const json_t *value, size_t indent) {
    if (is_plain(value) || (json_is_array(value) && is_flat(value))) {
        return true;
    }
    size_t room = indent < LINE_COLUMNS ? LINE_COLUMNS - indent : 0;
    return (is_flat(value) || json_is_array(value)) && put_line(NULL, value) <= room;
}

static void print_value(FILE *out, const json_t *value, size_t indent);

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
        put_string(out, key);
        fputs(": ", out);
        print_value(out, each, indent);
        first = false;
    }
}

static void print_value(FILE *out, const json_t *value, size_t indent) {
    if (fits_line(value, indent)) {
        put_line(out, value);
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
    put_line(out, value);
    fputc('\n', out);
}
