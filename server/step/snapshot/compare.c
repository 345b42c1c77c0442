// SPDX-License-Identifier: MIT
#include "step/snapshot/compare.h"

#include "base/assert.h"
#include "step/snapshot/sections.h"

#include <stdio.h>
#include <string.h>

enum { HEAD_BYTES = 16, COUNTS_MAX = 16 };

// How many of something there are, as said by the group that counts them.
typedef struct Count {
    size_t (*of)(const World *world, size_t parent);
    size_t expected, found;
} Count;

// Both snapshots, walked side by side, and what is known so far.
typedef struct Comparison {
    Source expected, found;
    Count count[COUNTS_MAX];
    size_t count_count;
    const uint8_t *bodies; // records of `found` that have the bodies' ids. Nullable
    const SnapshotGroup *body_group;
    size_t body_count;
    SnapshotDifference *difference;
} Comparison;

// What is wrong is told once; true, so that callers can return it.
static bool tell(Comparison *comparison, const char *quantity) {
    snprintf(comparison->difference->quantity, sizeof(comparison->difference->quantity), "%.31s",
             quantity);
    return true;
}

static bool tell_numbers(Comparison *comparison, const char *quantity, double expected,
                         double found) {
    comparison->difference->expected = expected;
    comparison->difference->found = found;
    return tell(comparison, quantity);
}

// ---- whose field it is

static size_t offset_of(const SnapshotGroup *group, FieldType type) {
    size_t offset = 0;
    for (size_t i = 0; i < group->field_count; i++) {
        if (group->fields[i].type == type) {
            return offset;
        }
        offset += field_bytes(&group->fields[i]);
    }
    return SIZE_MAX;
}

static void name_body(Comparison *comparison, size_t index) {
    if (index >= comparison->body_count) {
        return;
    }
    size_t offset = index * group_record_bytes(comparison->body_group) +
                    offset_of(comparison->body_group, FIELD_ID);
    Source source = {.bytes = comparison->bodies + offset, .count = sizeof(uint64_t)};
    comparison->difference->body = source_u64(&source);
}

// The body that a record is of, or the first of those that it names.
static void name_record(Comparison *comparison, const SnapshotGroup *group, size_t index,
                        Source record) {
    if (comparison->body_group != NULL && group->count == comparison->body_group->count) {
        name_body(comparison, index);
        return;
    }
    size_t offset = offset_of(group, FIELD_BODY);
    if (offset != SIZE_MAX && source_bytes(&record, offset) != NULL) {
        name_body(comparison, source_u32(&record));
    }
}

// ---- field by field

static bool compare_numbers(Comparison *comparison, const SnapshotField *field) {
    size_t bytes = field_bytes(field);
    const uint8_t *expected = source_bytes(&comparison->expected, bytes),
                  *found = source_bytes(&comparison->found, bytes);
    if (expected == NULL || found == NULL) {
        return tell(comparison, field->name);
    }
    if (memcmp(expected, found, bytes) == 0) {
        return false;
    }
    uint32_t i = 0;
    size_t one = bytes / field->count;
    while (memcmp(expected + i * one, found + i * one, one) == 0) {
        i++;
    }
    char quantity[64];
    if (field->part != NULL) {
        snprintf(quantity, sizeof(quantity), "%s.%s", field->name, field->part[i]);
    } else if (field->count > 1) {
        snprintf(quantity, sizeof(quantity), "%s[%u]", field->name, i);
    } else {
        snprintf(quantity, sizeof(quantity), "%s", field->name);
    }
    return tell_numbers(comparison, quantity, field_number(field, expected, i),
                        field_number(field, found, i));
}

static bool compare_text(Comparison *comparison, const SnapshotField *field) {
    size_t expected_bytes = source_count(&comparison->expected, 1),
           found_bytes = source_count(&comparison->found, 1);
    const uint8_t *expected = source_bytes(&comparison->expected, expected_bytes),
                  *found = source_bytes(&comparison->found, found_bytes);
    bool is_same = expected != NULL && found != NULL && expected_bytes == found_bytes &&
                   memcmp(expected, found, found_bytes) == 0;
    return !is_same && tell(comparison, field->name);
}

static bool compare_group(Comparison *comparison, const SnapshotGroup *group);

static bool compare_record(Comparison *comparison, const SnapshotGroup *group, size_t index) {
    Source record = comparison->found;
    for (size_t i = 0; i < group->field_count; i++) {
        const SnapshotField *field = &group->fields[i];
        if (field_is_number(field) ? compare_numbers(comparison, field)
                                   : compare_text(comparison, field)) {
            name_record(comparison, group, index, record);
            return true;
        }
    }
    return group->inner != NULL && compare_group(comparison, group->inner);
}

// ---- group by group

static Count *find_count(Comparison *comparison, const SnapshotGroup *group) {
    size_t i = 0;
    while (i < comparison->count_count && comparison->count[i].of != group->count) {
        i++;
    }
    if (i == comparison->count_count) {
        ASSERT(i < COUNTS_MAX);
        comparison->count[comparison->count_count++] = (Count){.of = group->count};
    }
    return &comparison->count[i];
}

// How many records there are, which is told by the group itself or by one before it.
static Count read_count(Comparison *comparison, const SnapshotGroup *group) {
    if (group->count == NULL) {
        return (Count){.expected = 1, .found = 1};
    }
    Count *count = find_count(comparison, group);
    if (group->is_counted) {
        count->expected = (size_t)source_u64(&comparison->expected);
        count->found = (size_t)source_u64(&comparison->found);
    }
    return *count;
}

static void keep_bodies(Comparison *comparison, const SnapshotGroup *group, size_t count) {
    const Source *found = &comparison->found;
    if (offset_of(group, FIELD_ID) == SIZE_MAX || found->failed) {
        return;
    }
    size_t whole = (found->count - found->used) / group_record_bytes(group);
    comparison->bodies = found->bytes + found->used;
    comparison->body_group = group;
    comparison->body_count = count < whole ? count : whole;
}

static bool compare_group(Comparison *comparison, const SnapshotGroup *group) {
    Count count = read_count(comparison, group);
    keep_bodies(comparison, group, count.found);
    if (count.expected != count.found) {
        return tell_numbers(comparison, group->name, (double)count.expected, (double)count.found);
    }
    for (size_t i = 0; i < count.found; i++) {
        if (comparison->expected.failed || comparison->found.failed) {
            return tell(comparison, group->name);
        }
        if (compare_record(comparison, group, i)) {
            return true;
        }
    }
    return false;
}

// ---- section by section

static bool compare_section(Comparison *comparison, const SnapshotSection *section) {
    Source *expected = &comparison->expected, *found = &comparison->found;
    bool is_expected = section_is_next(section, *expected),
         is_found = section_is_next(section, *found);
    if (is_expected != is_found) {
        return tell(comparison, section->groups[0].name);
    }
    if (!is_found) {
        return false;
    }
    for (int i = 0; i < 2; i++) { // kind, version
        uint32_t wanted = i == 0 ? section->kind : section->version;
        if (source_u32(expected) != wanted || source_u32(found) != wanted) {
            return tell(comparison, "sections");
        }
    }
    size_t lengths[2] = {source_count(expected, 1), source_count(found, 1)};
    size_t ends[2] = {expected->used + lengths[0], found->used + lengths[1]};
    for (size_t i = 0; i < section->group_count; i++) {
        if (compare_group(comparison, &section->groups[i])) {
            return true;
        }
    }
    if (expected->failed || found->failed || expected->used != ends[0] || found->used != ends[1] ||
        !source_pad(expected) || !source_pad(found)) {
        return tell(comparison, "sections");
    }
    return false;
}

bool snapshot_compare(const uint8_t *expected, size_t expected_count, const uint8_t *found,
                      size_t found_count, SnapshotDifference *difference) {
    ASSERT(expected != NULL || expected_count == 0);
    ASSERT(found != NULL || found_count == 0);
    if (expected_count == found_count && memcmp(expected, found, found_count) == 0) {
        return false;
    }
    *difference = (SnapshotDifference){0};
    Comparison comparison = {.expected = {.bytes = expected, .count = expected_count},
                             .found = {.bytes = found, .count = found_count},
                             .difference = difference};
    const uint8_t *head_a = source_bytes(&comparison.expected, HEAD_BYTES),
                  *head_b = source_bytes(&comparison.found, HEAD_BYTES);
    if (head_a == NULL || head_b == NULL || memcmp(head_a, head_b, HEAD_BYTES) != 0) {
        return tell(&comparison, "header");
    }
    for (size_t i = 0; i < snapshot_section_count; i++) {
        if (compare_section(&comparison, &snapshot_sections[i])) {
            return true;
        }
    }
    return tell(&comparison, "checksum");
}
