// SPDX-License-Identifier: MIT
// What inputs are made of: every column of every input as a row of one table, so that whoever
// prints, reads, spoils or shortens inputs has one loop and forgets none.
#pragma once

#include "histories/history.h"

typedef enum ColumnType { COLUMN_U32, COLUMN_ID, COLUMN_NUMBER, COLUMN_TEXT } ColumnType;

// How many things a column is of.
typedef enum ColumnOf {
    OF_MATERIALS,
    OF_SHAPES,
    OF_PRIMITIVES,
    OF_BODIES,
    OF_JOINTS,
    OF_AXES,
    OF_POSITIONS,
    OF_COUPLINGS,
    OF_SET_BODIES,
    OF_SET_JOINTS,
    OF_SET_AXES,
    OF_SET_POSITIONS,
    OF_SET_MATERIALS,
    OF_SET_SHAPES,
    OF_SET_PRIMITIVES,
    OF_SET_PAIRS,
    OF_WRENCHES,
    OF_REMOVED_BODIES,
    OF_REMOVED_SHAPES,
    OF_REMOVED_JOINTS,
    OF_REMOVED_GEOMETRIES,
    OF_COUNT
} ColumnOf;

typedef struct Column {
    InputKind kind;
    const char *name; // as "bodies.pose" of INPUT_SET
    ColumnType type;
    ColumnOf of;
    uint32_t width; // numbers of each
    size_t offset;  // of the pointer, in Input
} Column;

extern const Column table_columns[];
extern const size_t table_column_count;

size_t table_count(const Input *input, ColumnOf of);
void table_set_count(Input *input, ColumnOf of, size_t count);

size_t column_item_bytes(ColumnType type);
// NULL: the input has no such column.
const void *column_of(const Input *input, const Column *column);
void column_set(Input *input, const Column *column, const void *values);
