// SPDX-License-Identifier: MIT
#include "cli/text/wrap.h"

#include "cli/text/terminal.h"

#include <stdio.h>
#include <string.h>

// Of a page, or of a narrower terminal, as long as there is room for words.
static int last_column(const Wrap *wrap) {
    enum { WORDS_COLUMNS_MIN = 16 };
    const int least = wrap->indent + WORDS_COLUMNS_MIN, columns = (int)terminal_columns(stdout) - 2;
    return columns >= WRAP_COLUMNS ? WRAP_COLUMNS : columns > least ? columns : least;
}

void wrap_line(Wrap *wrap) {
    printf("\n%*s", wrap->indent, "");
    wrap->column = wrap->indent;
}

void wrap_word(Wrap *wrap, const char *word, const char *end) {
    int count = (int)(strlen(word) + strlen(end));
    if (wrap->column + 1 + count > last_column(wrap)) {
        wrap_line(wrap);
    }
    printf(" %s%s", word, end);
    wrap->column += 1 + count;
}

void wrap_text(Wrap *wrap, const char *text) {
    while (*text != '\0') {
        char word[80];
        size_t count = strcspn(text, " ");
        snprintf(word, sizeof(word), "%.*s", (int)count, text);
        wrap_word(wrap, word, "");
        text += count;
        text += strspn(text, " ");
    }
}
