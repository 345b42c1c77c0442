// SPDX-License-Identifier: MIT
#include "histories/scene_same.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t item_bytes(ProtobufCType type) {
    switch (type) {
    case PROTOBUF_C_TYPE_DOUBLE:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
        return 8;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    default:
        return 4; // numbers of 32 bits, enumerations, booleans
    }
}

static double slack_of(const ProtobufCFieldDescriptor *field, const SceneSlack *slack) {
    static const char *const velocities[] = {"linear_velocity", "angular_velocity", "velocity"};
    for (size_t i = 0; i < sizeof(velocities) / sizeof(velocities[0]); i++) {
        if (strcmp(field->name, velocities[i]) == 0) {
            return slack->velocity;
        }
    }
    return slack->place;
}

static bool are_same_items(const ProtobufCFieldDescriptor *field, const void *a, const void *b,
                           const SceneSlack *slack, char *where, size_t where_bytes) {
    const void *left, *right;
    if (field->type == PROTOBUF_C_TYPE_DOUBLE) {
        const double x = *(const double *)a, y = *(const double *)b;
        if (x != y && !(fabs(x - y) <= slack_of(field, slack))) {
            snprintf(where, where_bytes, " %.17g %.17g", x, y);
            return false;
        }
        return true;
    }
    if (field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return memcmp(a, b, item_bytes(field->type)) == 0;
    }
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    if (left == NULL || right == NULL) {
        return left == right;
    }
    return field->type == PROTOBUF_C_TYPE_STRING
               ? strcmp(left, right) == 0
               : scene_is_same(left, right, slack, where, where_bytes);
}

// Quaternions, whose length says nothing: it is chosen so that they are read to the bit.
static bool are_same_turns(const void *a, const void *b, const SceneSlack *slack, char *where,
                           size_t where_bytes) {
    const double *x = a, *y = b;
    double length[2] = {0.0, 0.0};
    for (int i = 0; i < 4; i++) {
        length[0] += x[i] * x[i];
        length[1] += y[i] * y[i];
    }
    for (int i = 0; i < 4; i++) {
        const double left = x[i] / sqrt(length[0]), right = y[i] / sqrt(length[1]);
        if (!(fabs(left - right) <= slack->place)) {
            snprintf(where, where_bytes, " %.17g %.17g", left, right);
            return false;
        }
    }
    return true;
}

static bool is_same_single(const ProtobufCFieldDescriptor *field, const char *a, const char *b,
                           const SceneSlack *slack, char *where, size_t where_bytes) {
    // whether it is there, or which of several is: pointers say so themselves
    const bool is_pointer =
        field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_MESSAGE;
    const bool is_choice = (field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0;
    if ((is_choice || !is_pointer) &&
        memcmp(a + field->quantifier_offset, b + field->quantifier_offset, sizeof(int)) != 0) {
        return false;
    }
    if (is_choice && *(const uint32_t *)(const void *)(a + field->quantifier_offset) != field->id) {
        return true;
    }
    return are_same_items(field, a + field->offset, b + field->offset, slack, where, where_bytes);
}

static bool are_same_numbers(const ProtobufCFieldDescriptor *field, const char *a, const char *b,
                             size_t count, const SceneSlack *slack, char *where,
                             size_t where_bytes) {
    const size_t bytes = item_bytes(field->type);
    for (size_t i = 0; i < count; i++) {
        if (!are_same_items(field, a + i * bytes, b + i * bytes, slack, where, where_bytes)) {
            const size_t used = strlen(where);
            snprintf(where + used, where_bytes - used, " [%zu]", i);
            return false;
        }
    }
    return true;
}

// Whether the last four are, or may be, a quaternion: of frames, and of joints that turn about all.
static bool ends_in_turn(const char *name, size_t count) {
    return (count == 7 && (strcmp(name, "frame_a") == 0 || strcmp(name, "frame_b") == 0)) ||
           (count >= 4 && strcmp(name, "position") == 0);
}

static bool is_same_field(const ProtobufCFieldDescriptor *field, const char *a, const char *b,
                          const SceneSlack *slack, char *where, size_t where_bytes) {
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        return is_same_single(field, a, b, slack, where, where_bytes);
    }
    size_t count[2];
    const char *items[2];
    memcpy(&count[0], a + field->quantifier_offset, sizeof(size_t));
    memcpy(&count[1], b + field->quantifier_offset, sizeof(size_t));
    memcpy(&items[0], a + field->offset, sizeof(char *));
    memcpy(&items[1], b + field->offset, sizeof(char *));
    if (strcmp(field->name, "orientation") == 0) {
        static const double none[4] = {1.0, 0.0, 0.0, 0.0}; // as it is left out
        return are_same_turns(count[0] == 4 ? (const void *)items[0] : none,
                              count[1] == 4 ? (const void *)items[1] : none, slack, where,
                              where_bytes);
    }
    if (strcmp(field->name, "position") == 0 && count[0] + count[1] == 3 &&
        (count[0] == 0 || count[1] == 0)) {
        static const double origin[3] = {0.0, 0.0, 0.0}; // likewise
        return are_same_numbers(field, count[0] == 0 ? (const void *)origin : items[0],
                                count[1] == 0 ? (const void *)origin : items[1], 3, slack, where,
                                where_bytes);
    }
    if (count[0] != count[1]) {
        return false;
    }
    if (are_same_numbers(field, items[0], items[1], count[0], slack, where, where_bytes)) {
        return true;
    }
    const size_t first = count[0] - 4, bytes = item_bytes(field->type);
    char said[160] = "";
    if (!ends_in_turn(field->name, count[0]) ||
        !are_same_numbers(field, items[0], items[1], first, slack, said, sizeof(said)) ||
        !are_same_turns(items[0] + first * bytes, items[1] + first * bytes, slack, said,
                        sizeof(said))) {
        return false;
    }
    where[0] = '\0';
    return true;
}

bool scene_is_same(const ProtobufCMessage *a, const ProtobufCMessage *b, const SceneSlack *slack,
                   char *where, size_t where_bytes) {
    for (unsigned i = 0; i < a->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &a->descriptor->fields[i];
        if (!is_same_field(field, (const char *)a, (const char *)b, slack, where, where_bytes)) {
            char deeper[128];
            snprintf(deeper, sizeof(deeper), "%.120s", where);
            snprintf(where, where_bytes, "%.30s%s%s", field->name,
                     deeper[0] == '\0' || deeper[0] == ' ' ? "" : ".", deeper);
            return false;
        }
    }
    return true;
}
