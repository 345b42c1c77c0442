// SPDX-License-Identifier: MIT
// What a snapshot is made of, as data: sections of groups of records of fields. The table
// (sections.c) says of each field where the world keeps it and how it stands in the bytes;
// writing, hashing, reading and comparing walk that table and know no field by name.
//
//   section = kind, version, length, body                            one row of the table
//   body    = groups, one behind the other
//   group   = number of its records (u64) where it is_counted, records
//   record  = fields, then the records of the group inside it, if any
#pragma once

#include "base/bytes.h"
#include "base/status.h"
#include "world/world.h"

// How a field lies in memory, and as what it is written. Numbers may be several in a row.
typedef enum FieldType {
    FIELD_DOUBLE,
    FIELD_U32,
    FIELD_U64,
    FIELD_ID,     // u64: the id of the body that the record is of
    FIELD_BODY,   // u32: a body's index
    FIELD_BYTE,   // uint8_t, as u32
    FIELD_FLAG,   // bool, as u64: 0 or 1
    FIELD_SOLVER, // uint32_t with a SolverKind, as text: its name
    FIELD_TEXT,   // char[], as text
    FIELD_NAME    // char *, Nullable, as text
} FieldType;

enum { FIELD_NAME_BYTES = 256 }; // with its zero: longer names are refused at the door

typedef struct SnapshotField {
    const char *name; // "mass", "position": as a difference is told
    FieldType type;
    uint32_t count;          // of numbers in a row; of a text[]: its capacity
    const char *const *part; // what the numbers are called, as "x"; NULL: by their index
    size_t array;  // offset of the pointer to the records in World; NO_ARRAY: it is in World itself
    size_t stride; // from one record to the next
    size_t offset; // in the record, or in World
    bool is_of_sleep; // the pointer is in what world->sleep points to
} SnapshotField;

#define NO_ARRAY SIZE_MAX

// A field of the world itself; of the records of one of its arrays; a whole item of an array.
#define OF_WORLD(name, type, count, part, member)                                                  \
    { name, type, count, part, NO_ARRAY, 0, offsetof(World, member), false }
#define OF_RECORD(name, type, count, part, array, record, member)                                  \
    {                                                                                              \
        name, type, count, part, offsetof(World, array), sizeof(record), offsetof(record, member), \
            false                                                                                  \
    }
#define OF_COLUMN(name, type, count, part, array, item_bytes)                                      \
    { name, type, count, part, offsetof(World, array), item_bytes, 0, false }
// Of the records of an array of world->sleep; a whole item of one.
#define OF_SLEEP(name, type, count, part, array, record, member)                                   \
    {                                                                                              \
        name, type, count, part, offsetof(WorldSleep, array), sizeof(record),                      \
            offsetof(record, member), true                                                         \
    }
#define OF_SLEEP_COLUMN(name, type, array, item_bytes)                                             \
    { name, type, 1, NULL, offsetof(WorldSleep, array), item_bytes, 0, true }
#define FIELDS(list) .fields = (list), .field_count = sizeof(list) / sizeof((list)[0])

typedef struct SnapshotGroup SnapshotGroup;

struct SnapshotGroup {
    const char *name; // of the number of records, as a difference is told
    // How many there are; NULL: one. Groups of the same things have the same function. `parent` is
    // the index of the record that they are in.
    size_t (*count)(const World *world, size_t parent);
    size_t (*first)(const World *world, size_t parent); // index in their arrays; NULL: 0
    bool is_counted;
    bool is_packed; // the records lie in memory as they are written: they go all at once
    const SnapshotField *fields;
    size_t field_count;
    const SnapshotGroup *inner; // Nullable
    // Reading: makes room for `count` records, which are read into their places and judged by the
    // section's `settle`. NULL: they are there.
    Status (*open)(World *world, size_t count, Error *error);
    // Reading: takes the one record that was read, as the first of the stage's arrays, into the
    // world. NULL: records are read into their places.
    Status (*accept)(World *world, const World *stage, size_t index, Error *error);
};

typedef struct SnapshotSection {
    uint32_t kind, version;
    bool is_definition; // changes only when the world is defined anew, or bodies go
    // Whether there is anything to say. NULL: always. A section that says what is so without it is
    // not written, and refused.
    bool (*is_there)(const World *world);
    const SnapshotGroup *groups;
    size_t group_count;
    Status (*settle)(World *world, Error *error); // judges what was read into its place. Nullable
    bool is_of_setting; // then it is there where that is not what it is by default
    SettingKind setting;
} SnapshotSection;

// Whether a snapshot of the world has the section; whether the one that is being read does.
bool section_is_written(const SnapshotSection *section, const World *world);
bool section_is_next(const SnapshotSection *section, Source source);

// Where the field of a record is.
void *field_at(const World *world, const SnapshotField *field, size_t index);

// What a record takes in the bytes; where there are texts or an inner group, at the least.
size_t group_record_bytes(const SnapshotGroup *group);
bool group_is_fixed(const SnapshotGroup *group); // there are none
size_t field_bytes(const SnapshotField *field);  // of a text: with nothing in it

void field_write(Sink *sink, const SnapshotField *field, const void *at);

// False: the bytes end, or say what cannot be.
bool field_read(Source *source, const SnapshotField *field, void *at);

// Whether it is written as it lies in memory.
bool field_is_plain(const SnapshotField *field);

// Whether it is numbers, not a text. Then number `index` of those that begin at `bytes` is …
bool field_is_number(const SnapshotField *field);
double field_number(const SnapshotField *field, const uint8_t *bytes, size_t index);
