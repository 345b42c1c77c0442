// SPDX-License-Identifier: MIT
// Options of a command as a table: what is parsed and what --help prints are one thing.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPTION_LIST_MAX = 64 };

typedef struct OptionList {
    const char *item[OPTION_LIST_MAX]; // borrowed from argv
    size_t count;
} OptionList;

typedef enum OptionKind {
    OPTION_FLAG,   // bool
    OPTION_TEXT,   // const char *, borrowed from argv
    OPTION_LIST,   // OptionList: may be given many times
    OPTION_COUNT,  // uint64_t, at least 1
    OPTION_INDEX,  // uint64_t, at least 0
    OPTION_NUMBER, // double, finite and positive
    OPTION_FACTOR, // double, finite and not negative
    OPTION_CHOICE, // const char *, borrowed from argv: --name=TEXT, or --name alone: ""
} OptionKind;

typedef struct Option {
    const char *name; // with its dashes
    OptionKind kind;
    void *target;
    const char *argument; // its name in the help; NULL for flags
    const char *meaning;
} Option;

typedef struct OptionTable {
    const Option *option;
    size_t count;
} OptionTable;

// Parses argv[0 .. argc) by several tables. What is no option goes to `positional`; "--" ends the
// options. With `stop_at_word` parsing ends before the first word that is none. Returns how many
// arguments were used, or -1 with a sentence in `message`.
int options_parse(const OptionTable *tables, size_t table_count, int argc, char **argv,
                  bool stop_at_word, OptionList *positional, char *message, size_t message_bytes);

// One line per option, as --help shows them.
void options_print(OptionTable table);
