// SPDX-License-Identifier: MIT
#include "cli/text/fold.h"

#include "cli/text/shown.h"
#include "cli/text/terminal.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_COLUMNS = 80, HANG = 4, HANG_BELOW = 6, LINE_BYTES = 16384 };

// What of `text` is no text but a change of style: the bytes of one at its beginning.
static size_t style_bytes(const char *text) {
    return text[0] == '\033' && text[1] == '[' ? strcspn(text, "m") + 1 : 0;
}

// The columns of so many bytes of a line, styles aside.
static unsigned width_of(const char *text, size_t bytes) {
    static char plain[LINE_BYTES];
    assert(bytes < LINE_BYTES);
    size_t used = 0;
    for (size_t i = 0; i < bytes;) {
        const size_t style = style_bytes(text + i);
        if (style == 0) {
            plain[used++] = text[i++];
        }
        i += style;
    }
    plain[used] = '\0';
    return shown_width(plain);
}

// Where the second column of a line begins that is indented and has one, in bytes; 0: nowhere.
static size_t second_column(const char *line) {
    const size_t indent = strspn(line, " ");
    const char *gap = strstr(line + indent, "  ");
    if (indent == 0 || gap == NULL) {
        return 0;
    }
    const size_t at = (size_t)(gap - line) + strspn(gap, " ");
    return line[at] != '\0' ? at : 0;
}

static size_t lines; // that came out

size_t fold_lines(void) {
    return lines;
}

typedef struct Folding {
    unsigned columns, column, hang;
} Folding;

static void begin_line(Folding *folding, unsigned indent) {
    printf("\n%*s", (int)indent, "");
    folding->column = indent;
    lines++;
}

// Blanks and the word behind them; the blanks go where a new line begins. A word too long for what
// is right of the indentation begins further left, if that helps.
static void put_word(Folding *folding, const char *text, size_t blanks, size_t bytes) {
    const unsigned width = width_of(text + blanks, bytes - blanks);
    const bool has_room = folding->column + blanks + width <= folding->columns;
    const bool fits = folding->hang + width <= folding->columns;
    const unsigned indent = fits || folding->hang < HANG ? folding->hang : HANG;
    if (!has_room && folding->column > indent) {
        begin_line(folding, indent);
        text += blanks, bytes -= blanks, blanks = 0;
    }
    fwrite(text, 1, bytes, stdout);
    folding->column += (unsigned)blanks + width;
}

static void put_words(Folding *folding, const char *text, const char *end) {
    while (text < end) {
        const size_t blanks = strspn(text, " ");
        const size_t bytes = blanks + strcspn(text + blanks, " ");
        const size_t left = (size_t)(end - text);
        put_word(folding, text, blanks < left ? blanks : left, bytes < left ? bytes : left);
        text += bytes < left ? bytes : left;
    }
}

static void put_line(const char *line) {
    lines++;
    const unsigned columns = terminal_is_watched(stdout) ? terminal_columns(stdout) : UINT_MAX;
    if (width_of(line, strlen(line)) <= columns) {
        puts(line);
        return;
    }
    const size_t second = second_column(line);
    Folding folding = {.columns = columns, .hang = HANG};
    if (second == 0) {
        folding.hang = strstr(line, "  ") == NULL ? 0 : HANG; // prose, or a row of a table
        put_words(&folding, line, line + strlen(line));
    } else if (width_of(line, second) <= columns / 2) {
        folding.hang = width_of(line, second);
        put_words(&folding, line, line + strlen(line));
    } else { // too far right for words: they go below
        const char *end = line + second;
        while (end[-1] == ' ') {
            end--;
        }
        put_words(&folding, line, end);
        folding.hang = HANG_BELOW;
        begin_line(&folding, HANG_BELOW);
        put_words(&folding, line + second, line + strlen(line));
    }
    putchar('\n');
}

// ---- lines

// What has come of a line that is not whole yet. One that is longer than any terminal is wide is
// not folded.
static struct {
    char text[LINE_BYTES];
    size_t count;
} begun;

static void add(const char *text, size_t count) {
    if (begun.count + count >= LINE_BYTES) {
        fwrite(begun.text, 1, begun.count, stdout);
        fwrite(text, 1, count, stdout);
        begun.count = count = 0;
    }
    memcpy(begun.text + begun.count, text, count);
    begun.count += count;
    begun.text[begun.count] = '\0';
}

static void add_text(const char *text) {
    for (const char *end = strchr(text, '\n'); end != NULL; end = strchr(text, '\n')) {
        add(text, (size_t)(end - text));
        put_line(begun.text);
        begun.count = 0;
        text = end + 1;
    }
    add(text, strlen(text));
}

void fold_printf(const char *format, ...) {
    static char text[LINE_BYTES];
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    if (vsnprintf(text, sizeof(text), format, arguments) < LINE_BYTES) {
        add_text(text);
    } else {
        fwrite(begun.text, 1, begun.count, stdout);
        begun.count = 0;
        vprintf(format, again);
    }
    va_end(again);
    va_end(arguments);
}

// ---- pages

// Whether `next` goes on with the words of `line`: as prose at the left, or below the second
// column.
static bool goes_on(const char *line, const char *next) {
    const size_t indent = strspn(next, " ");
    if (next[0] == '\n' || next[0] == '\0' || line[0] == '\n') {
        return false;
    }
    return indent == 0 ? line[0] != ' ' : indent > HANG + 2 && line[0] == ' ';
}

void fold_page(const char *text) {
    if (!terminal_is_watched(stdout) || terminal_columns(stdout) >= PAGE_COLUMNS) {
        add_text(text);
        return;
    }
    while (*text != '\0') {
        const size_t count = strcspn(text, "\n");
        const char *next = text[count] == '\n' ? text + count + 1 : text + count;
        add(text, count);
        text = next;
        if (goes_on(text - count - 1, next)) {
            add(" ", 1);
            text += strspn(next, " ");
        } else {
            add_text("\n");
        }
    }
}
