// SPDX-License-Identifier: MIT
// Lines that fit the terminal: what is too wide goes on in the next line, below where its words
// began. Elsewhere than on a terminal lines stay as long as they are, for programs that read them.
#pragma once

#include <stddef.h>

// As printf on standard output; a line comes out once it is whole. What is printed of it by other
// means in between comes before it.
void fold_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Lines that came out so far, folded.
size_t fold_lines(void);

// A text of lines: paragraphs that begin at the left are set anew where the terminal is narrower
// than 80 columns, and lines that are indented go on below their second column.
void fold_page(const char *text);
