// SPDX-License-Identifier: MIT
#include "cli/json/text.h"

#include "cli/base/memory.h"
#include "cli/text/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX ((size_t)1 << 30)

// ---- where in a document that is none

enum { PLACE_DEPTH_MAX = 16, PLACE_BYTES = 256 };

// An object's newest key, or a list's newest index.
typedef struct PlacePart {
    const char *key; // NULL: of a list
    size_t count;    // letters of the key, or the index
    bool is_list;
} PlacePart;

typedef struct PlaceWalk {
    PlacePart part[PLACE_DEPTH_MAX];
    size_t depth; // may be more than are kept
    bool wants_key;
} PlaceWalk;

static void place_take(PlaceWalk *walk, char sign) {
    PlacePart *top =
        walk->depth > 0 && walk->depth <= PLACE_DEPTH_MAX ? &walk->part[walk->depth - 1] : NULL;
    if (sign == '{' || sign == '[') {
        if (walk->depth++ < PLACE_DEPTH_MAX) {
            walk->part[walk->depth - 1] = (PlacePart){.is_list = sign == '['};
        }
    } else if ((sign == '}' || sign == ']') && walk->depth > 0) {
        walk->depth--;
    } else if (sign == ',' && top != NULL && top->is_list) {
        top->count++;
    }
    bool is_object =
        walk->depth > 0 && walk->depth <= PLACE_DEPTH_MAX && !walk->part[walk->depth - 1].is_list;
    walk->wants_key = is_object && (sign == '{' || sign == ',');
}

// The path of what stands before text[end], as contacts[0].mu; "" where it is in no list or object.
static void place_write(const char *text, size_t end, char path[PLACE_BYTES]) {
    PlaceWalk walk = {.depth = 0};
    for (size_t at = 0; at < end; at++) {
        if (text[at] != '"') {
            if (strchr("{}[],", text[at]) != NULL && text[at] != '\0') {
                place_take(&walk, text[at]);
            }
            continue;
        }
        size_t begin = ++at;
        for (; at < end && text[at] != '"'; at += text[at] == '\\' ? 2 : 1) {
        }
        if (walk.wants_key) {
            walk.part[walk.depth - 1].key = text + begin;
            walk.part[walk.depth - 1].count = at - begin;
            walk.wants_key = false;
        }
    }
    size_t used = 0;
    path[0] = '\0';
    for (size_t i = 0; i < walk.depth && i < PLACE_DEPTH_MAX && used < PLACE_BYTES; i++) {
        const PlacePart *part = &walk.part[i];
        if (part->is_list) {
            used += (size_t)snprintf(path + used, PLACE_BYTES - used, "[%zu]", part->count);
        } else if (part->key != NULL) {
            int count = part->count < PLACE_BYTES ? (int)part->count : PLACE_BYTES;
            used += (size_t)snprintf(path + used, PLACE_BYTES - used, "%s%.*s", i > 0 ? "." : "",
                                     count, part->key);
        }
    }
}

// What a text that people and editors write has that JSON has not. "": nothing of these.
static const char *advise(const char *text, size_t bytes, const json_error_t *failure) {
    static const char mark[] = "\xEF\xBB\xBF";
    if (bytes >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0) {
        return "; the text begins with a byte-order mark: save it as UTF-8 without one";
    }
    // where it was read to: the last sign of what was not expected
    size_t at = failure->position > 0 ? (size_t)failure->position : 0;
    at = at < bytes ? at : bytes;
    if (at == 0 || (text[at - 1] != ']' && text[at - 1] != '}')) {
        return "";
    }
    for (at--; at > 0 && strchr(" \t\r\n", text[at - 1]) != NULL; at--) {
    }
    return at > 0 && text[at - 1] == ','
               ? "; there is a comma in front of it: behind the last one of a list stands none"
               : "";
}

// A value that JSON does not have, as NaN, or that no double holds, goes by its path.
static void say_failure(const char *name, const char *text, size_t bytes,
                        const json_error_t *failure, JsonError *error) {
    bool is_value = strncmp(failure->text, "real number overflow", 20) == 0 ||
                    strncmp(failure->text, "too big", 7) == 0 ||
                    strncmp(failure->text, "invalid token", 13) == 0;
    char path[PLACE_BYTES] = "";
    if (is_value && failure->position > 0) {
        place_write(text, (size_t)failure->position < bytes ? (size_t)failure->position : bytes,
                    path);
    }
    snprintf(error->message, sizeof(error->message), "%s:%d: %s%s%s%s", name,
             failure->line > 0 ? failure->line : 1, path, path[0] != '\0' ? ": " : "",
             failure->text, advise(text, bytes, failure));
}

bool json_text_parse(JsonText *json, const char *name, const char *text, size_t bytes,
                     JsonError *error) {
    *json = (JsonText){.name = memory_copy(name), .bytes = bytes};
    error->is_unreadable = false;
    json->text = memory_take(bytes + 1, 1);
    memcpy(json->text, text, bytes);
    json_error_t failure;
    json->root = json_loadb(json->text, bytes, JSON_REJECT_DUPLICATES, &failure);
    if (json->root == NULL) {
        say_failure(name, json->text, bytes, &failure, error);
        json_text_free(json);
        return false;
    }
    return true;
}

static char *read_all(FILE *file, size_t *count) {
    size_t capacity = 1 << 16;
    char *text = memory_take(capacity, 1);
    size_t used = 0;
    for (;;) {
        used += fread(text + used, 1, capacity - used, file);
        if (used < capacity || used >= TEXT_BYTES_MAX) {
            break;
        }
        capacity *= 2;
        text = memory_grow(text, capacity, 1);
    }
    *count = used;
    return text;
}

bool json_text_load(JsonText *json, const char *file, JsonError *error) {
    *json = (JsonText){0};
    error->is_unreadable = true;
    bool standard = strcmp(file, "-") == 0;
    FILE *stream = standard ? stdin : fopen(file, "rb");
    if (stream == NULL) {
        snprintf(error->message, sizeof(error->message), "cannot read %s: %s",
                 file[0] != '\0' ? file : "\"\"", strerror(errno));
        return false;
    }
    errno = 0;
    size_t bytes;
    char *text = read_all(stream, &bytes);
    bool failed = ferror(stream) != 0;
    if (!standard) {
        fclose(stream);
    }
    bool done = false;
    if (failed || bytes >= TEXT_BYTES_MAX) {
        snprintf(error->message, sizeof(error->message), "cannot read %s: %s", file,
                 failed ? strerror(errno) : "it is larger than 1 GiB");
    } else {
        done = json_text_parse(json, standard ? "standard input" : file, text, bytes, error);
    }
    free(text);
    return done;
}

void json_text_free(JsonText *json) {
    json_decref(json->root);
    free(json->text);
    free(json->name);
    *json = (JsonText){0};
}

bool json_key_equal(const char *a, size_t a_count, const char *b, size_t b_count) {
    size_t i = 0;
    size_t j = 0;
    for (;;) {
        while (i < a_count && a[i] == '_') {
            i++;
        }
        while (j < b_count && b[j] == '_') {
            j++;
        }
        if (i == a_count || j == b_count) {
            return i == a_count && j == b_count;
        }
        if (tolower((unsigned char)a[i++]) != tolower((unsigned char)b[j++])) {
            return false;
        }
    }
}

// ---- the walk: `at` is always inside a text that jansson has found to be right

static const char *skip_space(const char *at) {
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r') {
        at++;
    }
    return at;
}

// From an opening quote to behind the closing one.
static const char *skip_string(const char *at) {
    for (at++; *at != '"' && *at != '\0'; at++) {
        if (*at == '\\') {
            at++;
        }
    }
    return at + 1;
}

static const char *skip_value(const char *at) {
    size_t depth = 0;
    do {
        if (*at == '"') {
            at = skip_string(at);
            continue;
        }
        if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            depth--;
        } else if (depth == 0 && (*at == ',' || isspace((unsigned char)*at))) {
            break;
        }
        at++;
        // a bare number or word ends where its container goes on
    } while (*at != '\0' && (depth > 0 || (*at != ',' && *at != '}' && *at != ']')));
    return at;
}

typedef bool KeyMatch(const char *a, size_t a_count, const char *b, size_t b_count);

static bool is_same_text(const char *a, size_t a_count, const char *b, size_t b_count) {
    return a_count == b_count && memcmp(a, b, a_count) == 0;
}

// The value of a key in the object at `at`; NULL when there is none.
static const char *match_member(const char *at, const char *key, size_t key_count,
                                KeyMatch *match) {
    at = skip_space(at + 1);
    while (*at == '"') {
        const char *name = at + 1;
        const char *end = skip_string(at);
        const char *value = skip_space(skip_space(end) + 1);
        if (match(name, (size_t)(end - 1 - name), key, key_count)) {
            return value;
        }
        at = skip_space(skip_value(value));
        if (*at == ',') {
            at = skip_space(at + 1);
        }
    }
    return NULL;
}

static const char *find_member(const char *at, const char *key, size_t key_count) {
    if (*at != '{') {
        return NULL;
    }
    const char *exact = match_member(at, key, key_count, is_same_text);
    return exact != NULL ? exact : match_member(at, key, key_count, json_key_equal);
}

static const char *find_item(const char *at, size_t index) {
    if (*at != '[') {
        return NULL;
    }
    at = skip_space(at + 1);
    for (size_t i = 0; *at != ']' && *at != '\0'; i++) {
        if (i == index) {
            return at;
        }
        at = skip_space(skip_value(at));
        if (*at == ',') {
            at = skip_space(at + 1);
        }
    }
    return NULL;
}

// One part of the path, key or [index]; NULL when it leads nowhere.
static const char *walk_part(const char *at, const char **path) {
    const char *part = *path;
    if (*part == '[') {
        char *end;
        size_t index = strtoul(part + 1, &end, 10);
        *path = *end == ']' ? end + 1 : end;
        return find_item(at, index);
    }
    size_t count = strcspn(part, ".[");
    *path = part + count;
    return find_member(at, part, count);
}

size_t json_text_line(const JsonText *json, const char *path) {
    const char *at = skip_space(json->text);
    while (*path != '\0') {
        if (*path == '.') {
            path++;
        }
        const char *before = path;
        const char *next = walk_part(at, &path);
        if (next == NULL || path == before) {
            break;
        }
        at = next;
    }
    size_t line = 1;
    for (const char *each = json->text; each < at; each++) {
        line += *each == '\n';
    }
    return line;
}

bool json_text_refuse(const JsonText *json, const char *path, JsonError *error, const char *format,
                      ...) {
    error->is_unreadable = false;
    int used = snprintf(error->message, sizeof(error->message), "%s:%zu: %s%s", json->name,
                        json_text_line(json, path), path, path[0] != '\0' ? ": " : "");
    if (used >= 0 && (size_t)used < sizeof(error->message)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message + used, sizeof(error->message) - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return false;
}

// A value in a few words.
static void describe(const json_t *value, char *text, size_t bytes) {
    char number[NUMBER_BYTES];
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        snprintf(text, bytes, "an object");
        break;
    case JSON_ARRAY:
        snprintf(text, bytes, "a list of %zu", json_array_size(value));
        break;
    case JSON_STRING:
        snprintf(text, bytes, "\"%.40s\"", json_string_value(value));
        break;
    case JSON_INTEGER:
        snprintf(text, bytes, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        break;
    case JSON_REAL:
        snprintf(text, bytes, "%s", number_write(json_real_value(value), number));
        break;
    default:
        snprintf(text, bytes, "%s",
                 json_is_null(value)   ? "null"
                 : json_is_true(value) ? "true"
                                       : "false");
        break;
    }
}

bool json_text_refuse_value(const JsonText *json, const char *path, JsonError *error,
                            const char *needed, const json_t *value) {
    char came[64];
    describe(value, came, sizeof(came));
    return json_text_refuse(json, path, error, "needs %s, got %s", needed, came);
}

// ---- paths

// Text that no longer fits is left out: a path is for people, and its start says most.
static size_t keep(JsonPath *path, int used) {
    size_t before = path->count;
    if (used >= 0 && (size_t)used < sizeof(path->text) - before) {
        path->count += (size_t)used;
    } else {
        path->text[before] = '\0';
    }
    return before;
}

size_t json_path_enter(JsonPath *path, const char *key) {
    return keep(path, snprintf(path->text + path->count, sizeof(path->text) - path->count, "%s%s",
                               path->count > 0 ? "." : "", key));
}

size_t json_path_enter_index(JsonPath *path, size_t index) {
    return keep(
        path, snprintf(path->text + path->count, sizeof(path->text) - path->count, "[%zu]", index));
}

void json_path_leave(JsonPath *path, size_t count) {
    path->count = count;
    path->text[count] = '\0';
}
