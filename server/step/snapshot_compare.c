// SPDX-License-Identifier: MIT
#include "step/snapshot_compare.h"

#include "base/bytes.h"

#include <stdio.h>
#include <string.h>

// The layout of sections is snapshot_sections.c's; here are the names of what stands in them.
enum { HEADER_BYTES = 16, COUNT_BYTES = 8 };
enum {
    SECTION_SETTINGS = 1,
    SECTION_MATERIALS = 2,
    SECTION_SHAPES = 3,
    SECTION_BODIES = 4,
    SECTION_NAMES = 5,
    SECTION_STATE = 6,
    SECTION_MEMORY = 7
};

typedef enum FieldType { FIELD_U32, FIELD_U64, FIELD_DOUBLE } FieldType;

typedef struct Field {
    size_t offset; // in its record
    FieldType type;
    const char *name;
} Field;

// Records, each ended by the offset of the next one.
static const Field settings_fields[] = {{0, FIELD_DOUBLE, "gravity.x"},
                                        {8, FIELD_DOUBLE, "gravity.y"},
                                        {16, FIELD_DOUBLE, "gravity.z"},
                                        {24, FIELD_DOUBLE, "time_step"},
                                        {32, FIELD_DOUBLE, "margin"},
                                        {40, FIELD_DOUBLE, "restitution_threshold"},
                                        {48, FIELD_U64, NULL}};
static const Field body_fields[] = {
    {0, FIELD_U32, "kind"},
    {4, FIELD_U32, "shape"},
    {8, FIELD_U64, "id"},
    {16, FIELD_DOUBLE, "mass"},
    {24, FIELD_DOUBLE, "center_of_mass.x"},
    {32, FIELD_DOUBLE, "center_of_mass.y"},
    {40, FIELD_DOUBLE, "center_of_mass.z"},
    {48, FIELD_DOUBLE, "inertia.xx"},
    {56, FIELD_DOUBLE, "inertia.yy"},
    {64, FIELD_DOUBLE, "inertia.zz"},
    {72, FIELD_DOUBLE, "inertia.xy"},
    {80, FIELD_DOUBLE, "inertia.xz"},
    {88, FIELD_DOUBLE, "inertia.yz"},
    {96, FIELD_U64, NULL},
};
static const Field state_fields[] = {{0, FIELD_U64, "step"},
                                     {8, FIELD_DOUBLE, "time"},
                                     {16, FIELD_U64, "faulted"},
                                     {24, FIELD_U64, NULL}};
static const Field pose_fields[] = {
    {0, FIELD_DOUBLE, "position.x"},     {8, FIELD_DOUBLE, "position.y"},
    {16, FIELD_DOUBLE, "position.z"},    {24, FIELD_DOUBLE, "orientation.w"},
    {32, FIELD_DOUBLE, "orientation.x"}, {40, FIELD_DOUBLE, "orientation.y"},
    {48, FIELD_DOUBLE, "orientation.z"}, {56, FIELD_U64, NULL}};
static const Field velocity_fields[] = {{0, FIELD_DOUBLE, "velocity.vx"},
                                        {8, FIELD_DOUBLE, "velocity.vy"},
                                        {16, FIELD_DOUBLE, "velocity.vz"},
                                        {24, FIELD_DOUBLE, "velocity.wx"},
                                        {32, FIELD_DOUBLE, "velocity.wy"},
                                        {40, FIELD_DOUBLE, "velocity.wz"},
                                        {48, FIELD_U64, NULL}};
static const Field memory_fields[] = {{0, FIELD_U32, "impulse.body_a"},
                                      {4, FIELD_U32, "impulse.body_b"},
                                      {8, FIELD_U64, "impulse.feature"},
                                      {16, FIELD_DOUBLE, "impulse.x"},
                                      {24, FIELD_DOUBLE, "impulse.y"},
                                      {32, FIELD_DOUBLE, "impulse.z"},
                                      {40, FIELD_U64, NULL}};

typedef struct Span {
    const uint8_t *bytes; // borrowed
    size_t count;
} Span;

typedef struct Section {
    uint32_t kind, version;
    Span body;
} Section;

// What is compared, with the bodies of the snapshot that was found, whose ids name the others.
typedef struct Comparison {
    Section expected, found;
    Span bodies;
    size_t at; // first byte of the section that differs
    SnapshotDifference *difference;
} Comparison;

static Section read_section(Source *source) {
    Section section = {.kind = source_u32(source), .version = source_u32(source)};
    section.body.count = source_count(source, 1);
    section.body.bytes = source_bytes(source, section.body.count);
    source_pad(source);
    return section;
}

static size_t first_difference(Span a, Span b) {
    size_t shorter = a.count < b.count ? a.count : b.count;
    for (size_t at = 0; at < shorter; at++) {
        if (a.bytes[at] != b.bytes[at]) {
            return at;
        }
    }
    return shorter;
}

static double read_number(Span span, size_t at, FieldType type) {
    Source source = {.bytes = span.bytes, .count = span.count, .used = at};
    if (at > span.count) {
        return 0.0;
    }
    switch (type) {
    case FIELD_U32:
        return source_u32(&source);
    case FIELD_U64:
        return (double)source_u64(&source);
    case FIELD_DOUBLE:
        return source_double(&source);
    }
    return 0.0;
}

static void name(Comparison *comparison, const char *quantity) {
    snprintf(comparison->difference->quantity, sizeof(comparison->difference->quantity), "%s",
             quantity);
}

static void show(Comparison *comparison, const char *quantity, size_t at, FieldType type) {
    name(comparison, quantity);
    comparison->difference->expected = read_number(comparison->expected.body, at, type);
    comparison->difference->found = read_number(comparison->found.body, at, type);
}

static size_t record_bytes(const Field *fields) {
    while (fields->name != NULL) {
        fields++;
    }
    return fields->offset;
}

// The difference lies in one of the records that begin at `base`. Returns which.
static size_t show_field(Comparison *comparison, size_t base, const Field *fields) {
    size_t bytes = record_bytes(fields);
    size_t record = (comparison->at - base) / bytes, offset = (comparison->at - base) % bytes;
    const Field *field = fields;
    while (field[1].name != NULL && field[1].offset <= offset) {
        field++;
    }
    show(comparison, field->name, base + record * bytes + field->offset, field->type);
    return record;
}

static void name_body(Comparison *comparison, size_t index) {
    Source source = {.bytes = comparison->bodies.bytes, .count = comparison->bodies.count};
    size_t bytes = record_bytes(body_fields);
    if (index < source.count / bytes) {
        source.used = COUNT_BYTES + index * bytes + body_fields[2].offset;
        comparison->difference->body = source_u64(&source);
    }
}

// ---- one function per kind of section

static void show_settings(Comparison *comparison) {
    size_t fixed = record_bytes(settings_fields);
    if (comparison->at < fixed) {
        show_field(comparison, 0, settings_fields);
        return;
    }
    // behind them: the solver's name, with its length in front, and its parameters
    Source text = {.bytes = comparison->found.body.bytes,
                   .count = comparison->found.body.count,
                   .used = fixed};
    size_t name_bytes = source_count(&text, 1);
    size_t first = fixed + COUNT_BYTES + name_bytes;
    if (comparison->at < first) {
        name(comparison, "solver");
        return;
    }
    char quantity[32];
    size_t parameter = (comparison->at - first) / sizeof(double);
    snprintf(quantity, sizeof(quantity), "parameter[%u]", (unsigned)(parameter % 1000));
    show(comparison, quantity, first + parameter * sizeof(double), FIELD_DOUBLE);
}

static void show_bodies(Comparison *comparison) {
    if (comparison->at < COUNT_BYTES) {
        show(comparison, "bodies", 0, FIELD_U64);
    } else {
        name_body(comparison, show_field(comparison, COUNT_BYTES, body_fields));
    }
}

static void show_state(Comparison *comparison) {
    size_t fixed = record_bytes(state_fields), pose_bytes = record_bytes(pose_fields),
           velocity_bytes = record_bytes(velocity_fields);
    size_t bodies = (comparison->found.body.count - fixed) / (pose_bytes + velocity_bytes);
    if (comparison->at < fixed) {
        show_field(comparison, 0, state_fields);
    } else if (comparison->at < fixed + bodies * pose_bytes) {
        name_body(comparison, show_field(comparison, fixed, pose_fields));
    } else {
        name_body(comparison, show_field(comparison, fixed + bodies * pose_bytes, velocity_fields));
    }
}

static void show_memory(Comparison *comparison) {
    if (comparison->at < COUNT_BYTES) {
        show(comparison, "impulses", 0, FIELD_U64);
        return;
    }
    size_t contact = show_field(comparison, COUNT_BYTES, memory_fields);
    size_t at = COUNT_BYTES + contact * record_bytes(memory_fields);
    name_body(comparison, (size_t)read_number(comparison->found.body, at, FIELD_U32));
}

static void show_section(Comparison *comparison) {
    bool same_kind = comparison->expected.kind == comparison->found.kind &&
                     comparison->expected.version == comparison->found.version;
    switch (same_kind ? comparison->found.kind : 0) {
    case SECTION_SETTINGS:
        show_settings(comparison);
        return;
    case SECTION_MATERIALS:
        name(comparison, "materials");
        return;
    case SECTION_SHAPES:
        name(comparison, "shapes");
        return;
    case SECTION_BODIES:
        show_bodies(comparison);
        return;
    case SECTION_NAMES:
        name(comparison, "names");
        return;
    case SECTION_STATE:
        show_state(comparison);
        return;
    case SECTION_MEMORY:
        show_memory(comparison);
        return;
    default:
        name(comparison, "sections");
    }
}

// The first section that differs. False: there is none that is whole in both.
static bool find_section(Comparison *comparison, Source *expected, Source *found) {
    while (found->used < found->count) {
        comparison->expected = read_section(expected);
        comparison->found = read_section(found);
        if (expected->failed || found->failed) {
            return false;
        }
        Span *a = &comparison->expected.body, *b = &comparison->found.body;
        if (comparison->found.kind == SECTION_BODIES) {
            comparison->bodies = *b;
        }
        comparison->at = first_difference(*a, *b);
        if (comparison->expected.kind != comparison->found.kind ||
            comparison->expected.version != comparison->found.version ||
            comparison->at < a->count || comparison->at < b->count) {
            return true;
        }
    }
    return false;
}

bool snapshot_compare(const uint8_t *expected, size_t expected_count, const uint8_t *found,
                      size_t found_count, SnapshotDifference *difference) {
    if (expected_count == found_count && memcmp(expected, found, found_count) == 0) {
        return false;
    }
    *difference = (SnapshotDifference){0};
    Source a = {.bytes = expected, .count = expected_count},
           b = {.bytes = found, .count = found_count};
    Comparison comparison = {.difference = difference};
    const uint8_t *head_a = source_bytes(&a, HEADER_BYTES),
                  *head_b = source_bytes(&b, HEADER_BYTES);
    if (head_a == NULL || head_b == NULL || memcmp(head_a, head_b, HEADER_BYTES) != 0) {
        name(&comparison, "header");
        return true;
    }
    if (find_section(&comparison, &a, &b)) {
        show_section(&comparison);
    } else {
        name(&comparison, "sections");
    }
    return true;
}
