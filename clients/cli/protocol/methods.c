// SPDX-License-Identifier: MIT
#include "cli/protocol/methods.h"

#include "cli/text/number.h"
#include "cli/text/terminal.h"
#include "cli/text/wrap.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LIST_COLUMNS = 19, FIELD_COLUMNS = 28 }; // where what stands behind a name begins

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

void method_nearest(const char *name, const Schema *schema, char hint[NEAREST_HINT_BYTES]) {
    // schema names, and so those of calls, are strings of the descriptors: they stay
    Nearest nearest = {.typed = name};
    for (size_t i = 0; schema != NULL && i < schema->message_count; i++) {
        nearest_offer(&nearest, schema_name(schema->message[i]->name));
    }
    for (size_t i = 0; schema != NULL && i < schema->enum_count; i++) {
        nearest_offer(&nearest, schema_name(schema->enumeration[i]->name));
    }
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (unsigned i = 0; i < request->n_fields; i++) {
        if (is_method(&request->fields[i])) {
            nearest_offer(&nearest, schema_type(&request->fields[i]));
        }
    }
    nearest_hint(&nearest, hint);
}

// ---- one call, message or enum

static void put_default(Wrap *wrap, const ProtobufCFieldDescriptor *field) {
    if (field->default_value == NULL) {
        return;
    }
    uint32_t narrow = 0;
    uint64_t wide = 0;
    double number = 0.0;
    char text[64] = "";
    memcpy(&narrow, field->default_value, sizeof(narrow));
    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *value =
            protobuf_c_enum_descriptor_get_value(field->descriptor, (int)narrow);
        snprintf(text, sizeof(text), "%s", value != NULL ? value->name : "");
        break;
    }
    case PROTOBUF_C_TYPE_BOOL:
        snprintf(text, sizeof(text), "%s", narrow != 0 ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_UINT32:
        snprintf(text, sizeof(text), "%" PRIu32, narrow);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(&wide, field->default_value, sizeof(wide));
        snprintf(text, sizeof(text), "%" PRIu64, wide);
        break;
    case PROTOBUF_C_TYPE_DOUBLE:
        memcpy(&number, field->default_value, sizeof(number));
        number_write(number, text);
        break;
    default:
        break;
    }
    if (text[0] != '\0') {
        wrap_text(wrap, "default");
        wrap_word(wrap, text, "");
    }
}

static void put_enum(Wrap *wrap, const ProtobufCEnumDescriptor *descriptor, const char *end) {
    wrap_text(wrap, "one of");
    for (unsigned i = 0; i < descriptor->n_values; i++) {
        wrap_word(wrap, descriptor->values[i].name, i + 1 < descriptor->n_values ? "," : end);
    }
}

static void print_fields(const ProtobufCMessageDescriptor *message, int indent, bool deeper) {
    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        printf("%*s%-*s", indent, "", FIELD_COLUMNS - indent, field->name);
        Wrap wrap = {FIELD_COLUMNS, FIELD_COLUMNS};
        wrap_text(&wrap, field->label == PROTOBUF_C_LABEL_REPEATED ? "list of" : "");
        bool is_enum = field->type == PROTOBUF_C_TYPE_ENUM;
        const char *end = field->default_value != NULL ? ";" : "";
        wrap_word(&wrap, schema_type(field), is_enum ? ":" : end);
        if (is_enum) {
            put_enum(&wrap, field->descriptor, end);
        }
        put_default(&wrap, field);
        putchar('\n');
        if (deeper && field->type == PROTOBUF_C_TYPE_MESSAGE) {
            print_fields(field->descriptor, indent + 4, false);
        }
    }
}

static void explain_fields(const ProtobufCMessageDescriptor *message) {
    if (message->n_fields == 0) {
        puts("It has no fields.");
        return;
    }
    puts("Fields, all optional (what absence means: moreau.proto):");
    print_fields(message, 2, true);
    for (unsigned i = 0; i < message->n_fields; i++) {
        if (message->fields[i].type == PROTOBUF_C_TYPE_MESSAGE) {
            printf("\nmoreau call %s --help goes on with what lies deeper.\n",
                   schema_type(&message->fields[i]));
            return;
        }
    }
}

void method_explain(const ProtobufCFieldDescriptor *method) {
    char name[64];
    printf("moreau call %s ['{...}' | @FILE | -]\n\n", method_name(method, name));
    explain_fields(method->descriptor);
}

// Where a message or enum is used: "Used by: Scene.bodies, ..."
static void print_users(const Schema *schema, const void *descriptor) {
    Wrap wrap = {0, 0};
    bool is_used = false;
    for (size_t i = 0; i < schema->message_count; i++) {
        const ProtobufCMessageDescriptor *message = schema->message[i];
        for (unsigned k = 0; k < message->n_fields; k++) {
            if (message->fields[k].descriptor == descriptor) {
                char user[128];
                snprintf(user, sizeof(user), "%s.%s", schema_name(message->name),
                         message->fields[k].name);
                if (!is_used) {
                    wrap.column = printf("\nUsed by:") - 1;
                }
                is_used = true;
                wrap_word(&wrap, user, "");
            }
        }
    }
    if (is_used) {
        putchar('\n');
    }
}

// The enums that stand inside a message.
static void print_enums(const Schema *schema, const ProtobufCMessageDescriptor *message) {
    size_t count = strlen(message->name);
    for (size_t i = 0; i < schema->enum_count; i++) {
        const char *name = schema->enumeration[i]->name;
        if (strncmp(name, message->name, count) == 0 && name[count] == '.') {
            printf("\nmoreau call %s --help shows the values of its enum.\n", schema_name(name));
        }
    }
}

void method_explain_message(const Schema *schema, const ProtobufCMessageDescriptor *message) {
    printf("%s, a message of the protocol\n\n", schema_name(message->name));
    explain_fields(message);
    print_enums(schema, message);
    print_users(schema, message);
}

void method_explain_enum(const Schema *schema, const ProtobufCEnumDescriptor *enumeration) {
    printf("%s, an enum of the protocol\n\nValues, in JSON by name (in any case) or by number:\n",
           schema_name(enumeration->name));
    for (unsigned i = 0; i < enumeration->n_values; i++) {
        printf("  %-*s %d\n", FIELD_COLUMNS - 2, enumeration->values[i].name,
               enumeration->values[i].value);
    }
    print_users(schema, enumeration);
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

static void list_method(const ProtobufCFieldDescriptor *field,
                        const Moreau__V1__DescribeReply *describe) {
    char name[64];
    const char *meaning = find_meaning(describe, method_name(field, name));
    const ProtobufCMessageDescriptor *message = field->descriptor;
    printf("%s%-*s%s", terminal_style(stdout, STYLE_BOLD), LIST_COLUMNS, name,
           terminal_style(stdout, STYLE_PLAIN));
    Wrap wrap = {LIST_COLUMNS, LIST_COLUMNS};
    if (meaning != NULL) {
        wrap_text(&wrap, meaning);
        wrap_line(&wrap);
    }
    fputs(terminal_style(stdout, STYLE_DIM), stdout);
    for (unsigned i = 0; i < message->n_fields; i++) {
        wrap_word(&wrap, message->fields[i].name, i + 1 < message->n_fields ? "," : "");
    }
    if (message->n_fields == 0) {
        wrap_text(&wrap, "(no fields)");
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
                    schema_type(&message->fields[k])));
        }
        json_object_set_new(call, "fields", fields);
        json_array_append_new(list, call);
    }
    return list;
}
