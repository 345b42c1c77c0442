// SPDX-License-Identifier: MIT
#include "cli/text/table.h"

#include "cli/text/fold.h"
#include "cli/text/shown.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>

static unsigned blanks_before(const TableColumn *column) {
    return column->kind == TABLE_NAME ? 2 : 1;
}

static unsigned width_of_all(const Table *table) {
    unsigned width = table->indent;
    for (size_t i = 0; i < table->count; i++) {
        width += table->width[i] > 0 ? table->width[i] + blanks_before(&table->column[i]) : 0;
    }
    return width;
}

// The column that leaves next: of the highest rank, and of these the last. The count: none may.
static size_t find_least(const Table *table) {
    size_t least = table->count;
    unsigned rank = 1;
    for (size_t i = 0; i < table->count; i++) {
        if (table->width[i] > 0 && table->column[i].rank >= rank) {
            rank = table->column[i].rank;
            least = i;
        }
    }
    return least;
}

// A third of what is left for the one that grows, as far as names are read with ease; where too
// little is left, it gives what it can.
static void grow(Table *table, unsigned left, unsigned lacking) {
    enum { GROWN_MAX = 40, SHRUNK_MIN = 8, SHARE = 3 };
    for (size_t i = 0; i < table->count; i++) {
        if (table->width[i] > 0 && table->column[i].kind >= TABLE_GROWS) {
            const unsigned was = table->width[i], wide = was + left / SHARE;
            const unsigned least = was < SHRUNK_MIN ? was : SHRUNK_MIN;
            table->width[i] = lacking > was - least ? least
                              : wide < GROWN_MAX    ? wide - lacking
                                                    : GROWN_MAX;
            return;
        }
    }
}

Table table_fit(const TableColumn *column, size_t count, unsigned indent, unsigned tail) {
    assert(count <= TABLE_COLUMNS_MAX);
    Table table = {.column = column, .count = count, .indent = indent};
    for (size_t i = 0; i < count; i++) {
        table.width[i] = column[i].columns;
    }
    if (!terminal_is_watched(stdout)) {
        return table;
    }
    // the first blank of a row without indentation is left out
    const unsigned columns = terminal_columns(stdout) + 1;
    for (size_t least;
         width_of_all(&table) + tail > columns && (least = find_least(&table)) < count;) {
        table.width[least] = 0;
    }
    const unsigned needed = width_of_all(&table) + tail;
    grow(&table, columns > needed ? columns - needed : 0, needed > columns ? needed - columns : 0);
    return table;
}

void table_cell(Table *table, size_t index, TerminalStyle style, const char *text) {
    const TableColumn *column = &table->column[index];
    const unsigned width = table->width[index];
    const bool is_styled = style != STYLE_PLAIN;
    char cell[SHOWN_COLUMN_BYTES];
    table->printed = index == 0 ? 0 : table->printed;
    if (width == 0) {
        return;
    }
    const unsigned blanks = table->printed++ == 0 ? table->indent : blanks_before(column);
    const unsigned text_width = shown_width(text);
    const unsigned fill =
        column->kind == TABLE_RIGHT && text_width < width ? width - text_width : 0;
    fold_printf("%*s%s%s%s", (int)(blanks + fill), "",
                is_styled ? terminal_style(stdout, style) : "",
                column->kind == TABLE_RIGHT ? text : shown_column(text, width, cell),
                is_styled ? terminal_style(stdout, STYLE_PLAIN) : "");
}

void table_printf(Table *table, size_t index, TerminalStyle style, const char *format, ...) {
    char text[SHOWN_COLUMN_BYTES];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    table_cell(table, index, style, text);
}

static void print_texts(Table *table, bool are_units, const char *tail) {
    const bool is_folded = terminal_is_watched(stdout);
    fold_printf("%s", terminal_style(stdout, STYLE_DIM));
    for (size_t i = 0; i < table->count; i++) {
        const TableColumn *column = &table->column[i];
        const char *unit = column->unit != NULL ? column->unit : "";
        table_cell(table, i, STYLE_PLAIN, are_units ? unit : column->head);
    }
    char cut[SHOWN_COLUMN_BYTES];
    const unsigned columns = terminal_columns(stdout) + 1, width = width_of_all(table);
    const unsigned room = columns > width ? columns - width : 0;
    fold_printf("%s%s\n", shown_cut(tail != NULL ? tail : "", is_folded ? room : UINT_MAX, cut),
                terminal_style(stdout, STYLE_PLAIN));
}

void table_print_head(Table *table, const char *tail) {
    print_texts(table, false, tail);
}

void table_print_units(Table *table, const char *tail) {
    print_texts(table, true, tail);
}
