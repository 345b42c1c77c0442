// SPDX-License-Identifier: MIT
// A protobuf message into JSON, by reflection, and JSON into text that people can read.
//
// Fields are named as in the proto; what is absent and what is empty is not printed. Enums become
// names, bytes base64.
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

// As protobuf writes JSON: 64-bit integers are strings. For `moreau call`. A new reference.
json_t *json_write_message(const ProtobufCMessage *message);

// As our own documents are: whole numbers are numbers, and zero has no sign; only hashes are
// strings, see number_json_hash. A new reference.
json_t *json_write_ours(const ProtobufCMessage *message);

// Numbers are the shortest text that reads back. Objects and lists of objects are indented; a list
// of plain values, or of such lists that are short, stays on one line. Ends with a newline.
void json_print(FILE *out, const json_t *value);

// The same on one line, whatever it is: for documents that come one after the other.
void json_print_line(FILE *out, const json_t *value);
