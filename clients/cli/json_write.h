// SPDX-License-Identifier: MIT
// A protobuf message into JSON, by reflection, and JSON into text that people can read.
//
// Fields are named as in the proto; what is absent and what is empty is not printed. 64-bit
// integers become strings, enums names, bytes base64.
#pragma once

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>

// A new reference.
json_t *json_write_message(const ProtobufCMessage *message);

// Numbers with 17 digits, which is enough to get the same double back. Objects and lists of objects
// are indented; a list of plain values, or of such lists that are short, stays on one line. Ends
// with a newline.
void json_print(FILE *out, const json_t *value);

// The same on one line, whatever it is: for documents that come one after the other.
void json_print_line(FILE *out, const json_t *value);
