// SPDX-License-Identifier: MIT
#include "cli/protocol/schema.h"

#include "cli/json/text.h"

#include "moreau.pb-c.h"

#include <string.h>

static bool has_message(const Schema *schema, const ProtobufCMessageDescriptor *message) {
    for (size_t i = 0; i < schema->message_count; i++) {
        if (schema->message[i] == message) {
            return true;
        }
    }
    return false;
}

static void add_message(Schema *schema, const ProtobufCMessageDescriptor *message) {
    if (!has_message(schema, message) && schema->message_count < SCHEMA_MAX) {
        schema->message[schema->message_count++] = message;
    }
}

static void add_enum(Schema *schema, const ProtobufCEnumDescriptor *enumeration) {
    for (size_t i = 0; i < schema->enum_count; i++) {
        if (schema->enumeration[i] == enumeration) {
            return;
        }
    }
    if (schema->enum_count < SCHEMA_MAX) {
        schema->enumeration[schema->enum_count++] = enumeration;
    }
}

// What no field is of: messages that only hold an enum, and the bits of masks.
static void add_unreached(Schema *schema) {
    add_message(schema, &moreau__v1__body__descriptor);
    add_message(schema, &moreau__v1__group__descriptor);
    add_message(schema, &moreau__v1__joint__descriptor);
    add_message(schema, &moreau__v1__primitive__descriptor);
    add_message(schema, &moreau__v1__world__descriptor);
    add_message(schema, &moreau__v1__episode__descriptor);
    add_message(schema, &moreau__v1__integrator__descriptor);
    add_message(schema, &moreau__v1__rung__descriptor);
    add_message(schema, &moreau__v1__rotation__descriptor);
    add_message(schema, &moreau__v1__effort__descriptor);
    add_message(schema, &moreau__v1__friction_rule__descriptor);
    add_enum(schema, &moreau__v1__contact_problem__contact_given__descriptor);
    add_enum(schema, &moreau__v1__contact_problem__row_given__descriptor);
}

void schema_collect(Schema *schema) {
    *schema = (Schema){0};
    add_message(schema, &moreau__v1__request__descriptor);
    add_message(schema, &moreau__v1__reply__descriptor);
    add_unreached(schema);
    // the list grows while it is walked, until nothing new is met
    for (size_t i = 0; i < schema->message_count; i++) {
        const ProtobufCMessageDescriptor *message = schema->message[i];
        for (unsigned k = 0; k < message->n_fields; k++) {
            const ProtobufCFieldDescriptor *field = &message->fields[k];
            if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
                add_message(schema, field->descriptor);
            } else if (field->type == PROTOBUF_C_TYPE_ENUM) {
                add_enum(schema, field->descriptor);
            }
        }
    }
}

static bool is_named(const char *full_name, const char *name) {
    const char *own = schema_name(full_name);
    return json_key_equal(own, strlen(own), name, strlen(name));
}

const ProtobufCMessageDescriptor *schema_find_message(const Schema *schema, const char *name) {
    for (size_t i = 0; i < schema->message_count; i++) {
        if (is_named(schema->message[i]->name, name)) {
            return schema->message[i];
        }
    }
    return NULL;
}

const ProtobufCEnumDescriptor *schema_find_enum(const Schema *schema, const char *name) {
    for (size_t i = 0; i < schema->enum_count; i++) {
        if (is_named(schema->enumeration[i]->name, name)) {
            return schema->enumeration[i];
        }
    }
    return NULL;
}

const char *schema_name(const char *full_name) {
    const char *package = moreau__v1__request__descriptor.package_name;
    size_t count = strlen(package);
    bool is_inside = strncmp(full_name, package, count) == 0 && full_name[count] == '.';
    return is_inside ? full_name + count + 1 : full_name;
}

const char *schema_type(const ProtobufCFieldDescriptor *field) {
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
        return schema_name(((const ProtobufCMessageDescriptor *)field->descriptor)->name);
    }
    if (field->type == PROTOBUF_C_TYPE_ENUM) {
        return schema_name(((const ProtobufCEnumDescriptor *)field->descriptor)->name);
    }
    return names[field->type];
}
