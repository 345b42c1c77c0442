// SPDX-License-Identifier: MIT
// Words in a column of their own, behind something that stands to the left of it.
#pragma once

#include <stddef.h>

enum { WRAP_COLUMNS = 78 };

typedef struct Wrap {
    int indent; // where the column begins
    int column; // of the next character; set to `indent` at the start
} Wrap;

// A word and what must stand with it (a comma), after a space or on a line of its own.
void wrap_word(Wrap *wrap, const char *word, const char *end);

// The words of a sentence.
void wrap_text(Wrap *wrap, const char *text);

// A new line of the column.
void wrap_line(Wrap *wrap);
