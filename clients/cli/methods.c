// SPDX-License-Identifier: MIT
#include "cli/methods.h"

#include "cli/terminal.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WRAP_COLUMNS = 78, LIST_INDENT = 20 };

static bool is_method(const ProtobufCFieldDescriptor *field) {
    return (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
}

const ProtobufCFieldDescriptor *method_find(const char *name) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &request->fields[i];
        if (is_method(field) &&
            json_key_equal(field->name, strlen(field->name), name, strlen(name))) {
            return field;
        }
    }
    return NULL;
}

char *method_name(const ProtobufCFieldDescriptor *field, char name[64]) {
    size_t count = 0;
    bool large = true;
    for (const char *each = field->name; *each != '\0' && count < 63; each++) {
        if (*each == '_') {
            large = true;
            continue;
        }
        name[count++] = large ? (char)toupper((unsigned char)*each) : *each;
        large = false;
    }
    name[count] = '\0';
    return name;
}

static const char *type_name(const ProtobufCFieldDescriptor *field) {
    static const char *const names[] = {
        [PROTOBUF_C_TYPE_INT32] = "int32",    [PROTOBUF_C_TYPE_SINT32] = "int32",
        [PROTOBUF_C_TYPE_SFIXED32] = "int32", [PROTOBUF_C_TYPE_INT64] = "int64",
        [PROTOBUF_C_TYPE_SINT64] = "int64",   [PROTOBUF_C_TYPE_SFIXED64] = "int64",
        [PROTOBUF_C_TYPE_UINT32] = "uint32",  [PROTOBUF_C_TYPE_FIXED32] = "uint32",
        [PROTOBUF_C_TYPE_UINT64] = "uint64",  [PROTOBUF_C_TYPE_FIXED64] = "uint64",
        [PROTOBUF_C_TYPE_FLOAT] = "float",    [PROTOBUF_C_TYPE_DOUBLE] = "double",
        [PROTOBUF_C_TYPE_BOOL] = "bool",      [PROTOBUF_C_TYPE_STRING] = "string",
        [PROTOBUF_C_TYPE_BYTES] = "bytes",
    };
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        return ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name;
    }
    if (field->type == PROTOBUF_C_TYPE_ENUM) {
        return ((const ProtobufCEnumDescriptor *)field->descriptor)->short_name;
    }
    return names[field->type];
}

// ---- one call

static void print_default(const ProtobufCFieldDescriptor *field) {
    if (field->default_value == NULL) {
        return;
    }
    uint32_t narrow = 0;
    uint64_t wide = 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM: {
        memcpy(&narrow, field->default_value, sizeof(narrow));
        const ProtobufCEnumValue *value =
            protobuf_c_enum_descriptor_get_value(field->descriptor, (int)narrow);
        printf("  default %s", value != NULL ? value->name : "?");
        break;
    }
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(&narrow, field->default_value, sizeof(narrow));
        printf("  default %s", narrow != 0 ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(&wide, field->default_value, sizeof(wide));
        printf("  default %" PRIu64, wide);
        break;
    case PROTOBUF_C_TYPE_DOUBLE: {
        double number;
        memcpy(&number, field->default_value, sizeof(number));
        printf("  default %g", number);
        break;
    }
    default:
        break;
    }
}

static void print_enum(const ProtobufCEnumDescriptor *descriptor) {
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        printf("%s%s", i == 0 ? "  one of " : ", ", descriptor->values[i].name);
    }
}

static void print_fields(const ProtobufCMessageDescriptor *message, int indent, bool deeper) {
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        bool is_list = field->label == PROTOBUF_C_LABEL_REPEATED;
        printf("%*s%-*s %s%s", indent, "", 28 - indent, field->name, is_list ? "list of " : "",
               type_name(field));
        if (field->type == PROTOBUF_C_TYPE_ENUM) {
            print_enum(field->descriptor);
        }
        print_default(field);
        putchar('\n');
        if (deeper && field->type == PROTOBUF_C_TYPE_MESSAGE) {
            print_fields(field->descriptor, indent + 4, false);
        }
    }
}

void method_explain(const ProtobufCFieldDescriptor *method) {
    char name[64];
    const ProtobufCMessageDescriptor *message = method->descriptor;
    printf("moreau call %s ['{...}' | @FILE | -]\n\n", method_name(method, name));
    if (message->n_fields == 0) {
        puts("It takes no fields.");
        return;
    }
    puts("Fields, all optional (what absence means: moreau.proto):");
    print_fields(message, 2, true);
}

// ---- all calls

static const char *find_meaning(const Moreau__V1__DescribeReply *describe, const char *name) {
    for (size_t i = 0; describe != NULL && i < describe->n_calls; i++) {
        const Moreau__V1__CallInfo *call = describe->calls[i];
        if (call->name != NULL && call->meaning != NULL && strcmp(call->name, name) == 0) {
            return call->meaning;
        }
    }
    return NULL;
}

// Words in the column behind the calls' names, wrapped.
typedef struct Wrap {
    int column;
} Wrap;

static void put_word(Wrap *wrap, const char *word, const char *end) {
    int count = (int)(strlen(word) + strlen(end));
    if (wrap->column + 1 + count > WRAP_COLUMNS) {
        printf("\n%*s", LIST_INDENT - 1, "");
        wrap->column = LIST_INDENT - 1;
    }
    printf(" %s%s", word, end);
    wrap->column += 1 + count;
}

static void put_text(Wrap *wrap, const char *text) {
    while (*text != '\0') {
        char word[80];
        size_t count = strcspn(text, " ");
        snprintf(word, sizeof(word), "%.*s", (int)count, text);
        put_word(wrap, word, "");
        text += count;
        text += strspn(text, " ");
    }
}

static void list_method(const ProtobufCFieldDescriptor *field,
                        const Moreau__V1__DescribeReply *describe) {
    char name[64];
    const char *meaning = find_meaning(describe, method_name(field, name));
    const ProtobufCMessageDescriptor *message = field->descriptor;
    printf("%s%-*s%s", terminal_style(stdout, STYLE_BOLD), LIST_INDENT - 1, name,
           terminal_style(stdout, STYLE_PLAIN));
    Wrap wrap = {LIST_INDENT - 1};
    if (meaning != NULL) {
        put_text(&wrap, meaning);
        printf("\n%*s", LIST_INDENT - 1, "");
        wrap.column = LIST_INDENT - 1;
    }
    fputs(terminal_style(stdout, STYLE_DIM), stdout);
    for (unsigned i = 0; i < message->n_fields; i++) {
        put_word(&wrap, message->fields[i].name, i + 1 < message->n_fields ? "," : "");
    }
    if (message->n_fields == 0) {
        put_text(&wrap, "(no fields)");
    }
    printf("%s\n", terminal_style(stdout, STYLE_PLAIN));
}

void method_list(const Moreau__V1__DescribeReply *describe) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        if (is_method(&request->fields[i])) {
            list_method(&request->fields[i], describe);
        }
    }
}

json_t *method_write_list(const Moreau__V1__DescribeReply *describe) {
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    json_t *list = json_array();
    for (unsigned i = 0; i < request->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &request->fields[i];
        if (!is_method(field)) {
            continue;
        }
        char name[64];
        const ProtobufCMessageDescriptor *message = field->descriptor;
        json_t *call = json_object();
        json_object_set_new(call, "name", json_string(method_name(field, name)));
        const char *meaning = find_meaning(describe, name);
        if (meaning != NULL) {
            json_object_set_new(call, "meaning", json_string(meaning));
        }
        json_t *fields = json_object();
        for (unsigned k = 0; k < message->n_fields; k++) {
            json_object_set_new(
                fields, message->fields[k].name,
                json_sprintf(
                    "%s%s", message->fields[k].label == PROTOBUF_C_LABEL_REPEATED ? "list of " : "",
                    type_name(&message->fields[k])));
        }
        json_object_set_new(call, "fields", fields);
        json_array_append_new(list, call);
    }
    return list;
}
