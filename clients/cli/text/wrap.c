// SPDX-License-Identifier: MIT
#include "cli/text/wrap.h"

#include <stdio.h>
#include <string.h>

void wrap_line(Wrap *wrap) {
    printf("\n%*s", wrap->indent, "");
    wrap->column = wrap->indent;
}

void wrap_word(Wrap *wrap, const char *word, const char *end) {
    int count = (int)(strlen(word) + strlen(end));
    if (wrap->column + 1 + count > WRAP_COLUMNS) {
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
