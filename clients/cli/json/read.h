// SPDX-License-Identifier: MIT
// JSON into a protobuf message, by reflection over its descriptor: any message of the protocol, now
// and later.
//
// Keys are the proto's field names; camelCase is accepted too. Enums by name (any case) or number,
// 64-bit integers as numbers or strings, bytes as base64, null as absence. An unknown key, a value
// of the wrong type or outside of its type's range is refused with line and path.
#pragma once

#include "cli/json/text.h"

#include <protobuf-c/protobuf-c.h>

// A new message from the value at `path` in json (the document when `value` is its root); freed
// with protobuf_c_message_free_unpacked(message, NULL). NULL, with `error` filled, when it is
// refused.
ProtobufCMessage *json_read_message(const JsonText *json, const json_t *value, const char *path,
                                    const ProtobufCMessageDescriptor *descriptor, JsonError *error);

// The field that a key names; NULL: none.
const ProtobufCFieldDescriptor *json_find_field(const ProtobufCMessageDescriptor *descriptor,
                                                const char *key);

// The value that a name (any case) or a number in digits means; NULL: none.
const ProtobufCEnumValue *json_find_enum(const ProtobufCEnumDescriptor *descriptor,
                                         const char *name);

// Whether a singular field is there.
bool json_has_field(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

// Marks a singular field as there: has_ or the oneof's case.
void json_mark_field(ProtobufCMessage *message, const ProtobufCFieldDescriptor *field);

// Bytes of one value of this type in a message.
size_t json_type_bytes(ProtobufCType type);
