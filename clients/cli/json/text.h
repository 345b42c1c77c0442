// SPDX-License-Identifier: MIT
// JSON as people write it: a text with a name, parsed by jansson, and the line on which any of its
// values stands.
//
// A *path* names a value as bodies[3].shapes[0].sphere.radius; "" is the document. jansson keeps no
// positions, so a line is found by walking the text along the path, which happens only when there
// is something to complain about.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { JSON_PATH_BYTES = 512, JSON_MESSAGE_BYTES = 1024 };

typedef struct JsonText {
    char *name; // owned; of the file, or "argument", "standard input"
    char *text; // owned
    size_t bytes;
    json_t *root; // owned
} JsonText;

// What is wrong with a text: "scene.json:12: bodies[3].mass: expected a number".
typedef struct JsonError {
    char message[JSON_MESSAGE_BYTES];
    bool is_unreadable; // there is no text to judge
} JsonError;

// Takes a copy of `text`. Syntax errors and duplicate keys are refused with their line.
bool json_text_parse(JsonText *json, const char *name, const char *text, size_t bytes,
                     JsonError *error);

// A file, or standard input when `file` is "-".
bool json_text_load(JsonText *json, const char *file, JsonError *error);
void json_text_free(JsonText *json);

// The line, from 1, of the value at `path`; of the deepest part that exists where the path leads
// nowhere. Keys are compared without regard to case and underscores, so that a server's time_step
// finds a person's timeStep.
size_t json_text_line(const JsonText *json, const char *path);

// Fills `error` with name, line, path and a sentence; returns false, so that a check reads: return
// json_text_refuse(...).
bool json_text_refuse(const JsonText *json, const char *path, JsonError *error, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));

// The same, saying what was needed, as "a number", and what came: "needs a number, got "big"".
bool json_text_refuse_value(const JsonText *json, const char *path, JsonError *error,
                            const char *needed, const json_t *value);

// Two keys mean the same field: time_step and timeStep.
bool json_key_equal(const char *a, size_t a_count, const char *b, size_t b_count);

// A path that grows and shrinks while a document is walked.
typedef struct JsonPath {
    char text[JSON_PATH_BYTES];
    size_t count;
} JsonPath;

// Both return the length to go back to with json_path_leave.
size_t json_path_enter(JsonPath *path, const char *key);
size_t json_path_enter_index(JsonPath *path, size_t index);
void json_path_leave(JsonPath *path, size_t count);
