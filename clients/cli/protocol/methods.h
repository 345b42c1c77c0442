// SPDX-License-Identifier: MIT
// The calls of the protocol, by reflection over Request: what `moreau call` lists, explains and
// sends.
#pragma once

#include "cli/cli.h"
#include "cli/text/nearest.h"
#include "cli/protocol/schema.h"

// The field of Request that METHOD (WorldStep, or world_step) names; NULL: none.
const ProtobufCFieldDescriptor *method_find(const char *name);

// "WorldStep" for the field world_step.
char *method_name(const ProtobufCFieldDescriptor *field, char name[64]);

// " (did you mean WorldStep?)" or "": the call that NAME is nearest to; with a schema (Nullable)
// also the message or enum.
void method_nearest(const char *name, const Schema *schema, char hint[NEAREST_HINT_BYTES]);

// The fields of a call's message with their types, messages inside it one level deep, and the
// values of enums.
void method_explain(const ProtobufCFieldDescriptor *method);

// The same of any message, or the values of an enum, and where it is used.
void method_explain_message(const Schema *schema, const ProtobufCMessageDescriptor *message);
void method_explain_enum(const Schema *schema, const ProtobufCEnumDescriptor *enumeration);

// All calls with their fields, and what each means where `describe` (Nullable) says it.
void method_list(const Moreau__V1__DescribeReply *describe);

// The same as a JSON list; a new reference.
json_t *method_write_list(const Moreau__V1__DescribeReply *describe);
