// SPDX-License-Identifier: MIT
// The messages and enums of the protocol, by reflection: all that can be reached from a request or
// a reply. Names are those of moreau.proto, as SceneBody or Body.Kind.
#pragma once

#include <protobuf-c/protobuf-c.h>

enum { SCHEMA_MAX = 256 }; // of each; what lies beyond is not found

typedef struct Schema {
    const ProtobufCMessageDescriptor *message[SCHEMA_MAX];
    size_t message_count;
    const ProtobufCEnumDescriptor *enumeration[SCHEMA_MAX];
    size_t enum_count;
} Schema;

void schema_collect(Schema *schema);

// Both take names in any spelling: SceneBody, scene_body. NULL: there is none.
const ProtobufCMessageDescriptor *schema_find_message(const Schema *schema, const char *name);
const ProtobufCEnumDescriptor *schema_find_enum(const Schema *schema, const char *name);

// A descriptor's name without the package.
const char *schema_name(const char *full_name);

// "double", "SceneBody", "Body.Kind"
const char *schema_type(const ProtobufCFieldDescriptor *field);
