// SPDX-License-Identifier: MIT
#include "api/audit.h"

#include "os/clock.h"
#include "os/trail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { IDS_MAX = 16 }; // of a list of worlds; how many there are is said

// A text of the protocol is at most 255 bytes, each at most six here.
enum { LINE_BYTES = 16384 };

typedef struct Line {
    char text[LINE_BYTES];
    size_t used;
} Line;

// ---- JSON

static void put(Line *line, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(Line *line, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    const int length =
        vsnprintf(line->text + line->used, sizeof(line->text) - line->used, format, arguments);
    va_end(arguments);
    line->used +=
        length > 0 && (size_t)length < sizeof(line->text) - line->used ? (size_t)length : 0;
}

// With a comma and the key before it.
static void put_text(Line *line, const char *key, const char *text) {
    put(line, ",\"%s\":\"", key);
    for (const char *at = text; *at != '\0'; at++) {
        const unsigned char c = (unsigned char)*at;
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f) {
            put(line, "\\u%04x", c);
        } else if (line->used + 1 < sizeof(line->text)) {
            line->text[line->used++] = (char)c; // some hundred a line: printf would take 2 us
        }
    }
    put(line, "\"");
}

static void put_time(Line *line) {
    const uint64_t now_ns = clock_wall_ns();
    const time_t seconds = (time_t)(now_ns / 1000000000u);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    put(line, "{\"time\":\"%04d-%02d-%02dT%02d:%02d:%02d.%06uZ\"", utc.tm_year + 1900,
        utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
        (unsigned)(now_ns % 1000000000u / 1000u));
}

// ---- what it was about

static void put_ids(Line *line, const char *key, const uint64_t *ids, size_t count) {
    put(line, ",\"%s\":[", key);
    for (size_t i = 0; i < count && i < IDS_MAX; i++) {
        put(line, "%s%" PRIu64, i > 0 ? "," : "", ids[i]);
    }
    put(line, "]");
    if (count > IDS_MAX) {
        put(line, ",\"%s_count\":%zu", key, count);
    }
}

// As `name` in the message, as `key` in the line.
static void put_field(Line *line, const ProtobufCMessage *call, const char *name, const char *key) {
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(call->descriptor, name);
    const char *at = (const char *)call;
    if (field == NULL) {
        return;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING && field->label == PROTOBUF_C_LABEL_OPTIONAL) {
        const char *text = *(char *const *)(const void *)(at + field->offset);
        if (text != NULL && text[0] != '\0') {
            put_text(line, key, text);
        }
    } else if (field->type == PROTOBUF_C_TYPE_UINT64 && field->label == PROTOBUF_C_LABEL_REPEATED) {
        put_ids(line, key, *(uint64_t *const *)(const void *)(at + field->offset),
                *(const size_t *)(const void *)(at + field->quantifier_offset));
    } else if (field->type == PROTOBUF_C_TYPE_UINT64 &&
               *(const protobuf_c_boolean *)(const void *)(at + field->quantifier_offset)) {
        put(line, ",\"%s\":%" PRIu64, key, *(const uint64_t *)(const void *)(at + field->offset));
    }
}

static void put_objects(Line *line, const Request *request) {
    static const char *const names[] = {"world",   "worlds",    "group", "snapshot",
                                        "episode", "recording", "name",  "steps"};
    const ProtobufCMessage *call = request_call(request);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        put_field(line, call, names[i], names[i]);
    }
    put(line, "%s", request->made == NULL ? "" : request->made);
    // what it made: its id was not asked for
    if (request->world != NULL && request->command->place == PLACE_OWN &&
        (request->command->flags & COMMAND_LIST) == 0) {
        put(line, ",\"made\":%" PRIu64, request->world->id);
    }
}

// ---- what it made

static bool is_noted(const Request *request) {
    return request->api->def.audit != NULL && request->command != NULL &&
           request->message != NULL &&
           (request->command->flags & (COMMAND_MUTATES | COMMAND_CHANGES)) != 0;
}

// NULL: none.
static const ProtobufCMessage *result_of(const Moreau__V1__Reply *reply) {
    const ProtobufCFieldDescriptor *field = protobuf_c_message_descriptor_get_field(
        reply->base.descriptor, (unsigned)reply->result_case);
    return field == NULL || reply->result_case == MOREAU__V1__REPLY__RESULT__NOT_SET
               ? NULL
               : *(ProtobufCMessage *const *)(const void *)((const char *)reply + field->offset);
}

// What the call named itself it did not make.
static bool is_named(const ProtobufCMessage *call, const char *name) {
    Line line;
    line.used = 0;
    put_field(&line, call, name, name);
    return line.used > 0;
}

void audit_gather(Request *request, const Moreau__V1__Reply *reply) {
    static const char *const names[][2] = {{"group", "made_group"},
                                           {"worlds", "made_worlds"},
                                           {"snapshot", "made_snapshot"},
                                           {"episode", "made_episode"},
                                           {"recording", "made_recording"}};
    const ProtobufCMessage *result = is_noted(request) ? result_of(reply) : NULL;
    Line line;
    line.used = 0;
    if (result == NULL) {
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (!is_named(request_call(request), names[i][0])) {
            put_field(&line, result, names[i][0], names[i][1]);
        }
    }
    request->made = line.used == 0 ? NULL : arena_take(&request->arena, line.used + 1);
    if (request->made != NULL) {
        memcpy(request->made, line.text, line.used + 1);
    }
}

// ---- the line

static void put_person(Line *line, const Request *request) {
    const Session *session = request->peer.calls->data(request->peer.handle);
    session = request->session != NULL ? request->session : session;
    if (session != NULL && session->use != NULL) {
        put_text(line, "token", session->held->name);
        put_text(line, "namespace", session->held->space);
    }
    if (session != NULL) {
        put(line, ",\"session\":%" PRIu64, session->number);
        put_text(line, "client", session->client);
    }
    put_text(line, "peer", request->peer.calls->name(request->peer.handle));
}

void audit_note(Api *api, const Request *request) {
    if (!is_noted(request)) {
        return;
    }
    Line line;
    line.used = 0;
    put_time(&line);
    put_person(&line, request);
    put(&line, ",\"request\":%" PRIu64, request->id);
    put_text(&line, "call", request->command->name);
    put_objects(&line, request);
    put_text(&line, "status", status_name(request->status));
    put(&line, ",\"ms\":%.3f}\n", (double)request->server_ns * 1e-6);
    trail_add(api->def.audit, line.text, line.used);
}

void audit_write(Api *api) {
    uint64_t lost = 0;
    const char *why = "";
    const uint64_t now_ns = clock_now_ns();
    if (api->def.audit == NULL || !trail_is_due(api->def.audit, now_ns)) {
        return;
    }
    switch (trail_write(api->def.audit, now_ns, &lost, &why)) {
    case TRAIL_FAILS:
        report_line(api->def.report, REPORT_ERROR, "audit_failed",
                    "why=\"%s\" kept=\"lines wait, up to 1 MiB; nothing else does\"", why);
        break;
    case TRAIL_WORKS:
        report_line(api->def.report, REPORT_WARN, "audit_again", "lost=%" PRIu64, lost);
        break;
    case TRAIL_NOTHING_NEW:
        break;
    }
}
