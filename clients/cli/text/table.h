// SPDX-License-Identifier: MIT
// A table that fits the terminal: where there is no room for all columns, those leave that matter
// least, and where there is more, the one that grows takes it. Elsewhere than on a terminal all are
// there, as wide as they are told to be.
#pragma once

#include "cli/text/terminal.h"

#include <stddef.h>

enum { TABLE_COLUMNS_MAX = 16 };

typedef enum TableKind {
    TABLE_RIGHT,
    TABLE_LEFT,
    TABLE_GROWS, // at the left; takes what room there is
    TABLE_NAME,  // the same, with two blanks before it, as behind a number
} TableKind;

typedef struct TableColumn {
    const char *head;
    const char *unit; // Nullable: below the head
    unsigned columns; // a blank stands before each
    unsigned rank;    // the highest leave first; 0: stays
    TableKind kind;
} TableColumn;

typedef struct Table {
    const TableColumn *column; // borrowed
    size_t count;
    unsigned indent;
    unsigned width[TABLE_COLUMNS_MAX]; // 0: left out
    unsigned printed;                  // in this row
} Table;

// `tail` is how many columns what stands behind the last one needs.
Table table_fit(const TableColumn *column, size_t count, unsigned indent, unsigned tail);

// The heads, and `tail` behind them (Nullable), as a line.
void table_print_head(Table *table, const char *tail);

// The units below the heads, where the columns have them, and `tail`, Nullable.
void table_print_units(Table *table, const char *tail);

// The index-th cell of a row, in order; the first, of rank 0, begins it. What is at the left is cut
// where it is too wide, escaped; a number never is. What stands behind the last one, and the end of
// the line, are printed with fold_printf.
void table_cell(Table *table, size_t index, TerminalStyle style, const char *text);
void table_printf(Table *table, size_t index, TerminalStyle style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
