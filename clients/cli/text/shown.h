// SPDX-License-Identifier: MIT
// Text of others on a terminal: names, labels and sentences that somebody else may have chosen.
//
// What steers a terminal, or turns the direction of what is read, is shown as \x1b or \u202e and
// does nothing. What fits no column is cut between graphemes, as people see characters, and counted
// in columns: a letter is one, a sign of Chinese or most emoji are two, an accent is none. Widths
// are glibc's wcwidth in its locale C.UTF-8; what is cut together is decided here, from widths and
// a few rules (joiners, modifiers of skin, pairs of regional letters): no library is needed.
#pragma once

#include <stddef.h>

enum { SHOWN_COLUMN_BYTES = 1024 };

// Escaped, in `out`, which is returned; what has no room is cut between characters.
char *shown_text(const char *text, char *out, size_t out_bytes);

// In so many columns at most: escaped, and cut with … where it is too wide.
char *shown_cut(const char *text, unsigned columns, char out[SHOWN_COLUMN_BYTES]);

// In just so many: the same, filled with spaces.
char *shown_column(const char *text, unsigned columns, char out[SHOWN_COLUMN_BYTES]);

// How many columns a text takes that is escaped already.
unsigned shown_width(const char *text);
