// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 // wcwidth
#include "cli/text/shown.h"

#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

enum { ESCAPED_BYTES = 12, JOINER = 0x200D };

// ---- characters

// The character at `text`, and its bytes; a byte that belongs to none is one by itself, and -1.
static int32_t take(const char *text, size_t *bytes) {
    static const int32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const uint8_t *at = (const uint8_t *)text;
    const size_t count = at[0] < 0x80 ? 1 : at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
    int32_t code = count == 1 ? at[0] : at[0] & (0x7F >> count);
    *bytes = 1;
    for (size_t i = 1; i < count; i++) {
        if ((at[i] & 0xC0) != 0x80) {
            return -1;
        }
        code = code << 6 | (at[i] & 0x3F);
    }
    if ((count > 1 && (at[0] < 0xC2 || at[0] > 0xF4)) || code < least[count] || code > 0x10FFFF ||
        (code >= 0xD800 && code < 0xE000)) {
        return -1;
    }
    *bytes = count;
    return code;
}

// It does something to the terminal, to the order of what stands there, or to the line.
static bool is_steering(int32_t code) {
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x061C || code == 0x200E ||
           code == 0x200F || (code >= 0x2028 && code <= 0x202E) ||
           (code >= 0x2066 && code <= 0x206F) || code == 0xFEFF;
}

// Whether a regional letter, two of which are a flag.
static bool is_regional(int32_t code) {
    return code >= 0x1F1E6 && code <= 0x1F1FF;
}

static bool is_modifier(int32_t code) {
    return code >= 0x1F3FB && code <= 0x1F3FF;
}

static unsigned width_of(int32_t code) {
    static locale_t unicode;
    if (unicode == (locale_t)0) {
        unicode = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    }
    if (unicode == (locale_t)0 || code < 0x80) {
        return 1;
    }
    const locale_t before = uselocale(unicode);
    const int width = wcwidth((wchar_t)code);
    uselocale(before);
    return width < 0 ? 1 : (unsigned)width;
}

// The grapheme at `text`, which is not empty: its bytes, and its columns.
static size_t take_grapheme(const char *text, unsigned *columns) {
    size_t bytes, used;
    const int32_t first = take(text, &used);
    bool joins = false, may_pair = is_regional(first);
    *columns = first < 0 ? 1 : width_of(first);
    while (text[used] != '\0') {
        const int32_t next = take(text + used, &bytes);
        const bool belongs = next >= 0x80 && (joins || is_modifier(next) || width_of(next) == 0 ||
                                              (may_pair && is_regional(next)));
        if (!belongs) {
            break;
        }
        joins = next == JOINER;
        may_pair = false;
        // an emoji that is drawn as one
        *columns = is_regional(next) || next == 0xFE0F ? 2 : *columns;
        used += bytes;
    }
    return used;
}

// ---- texts

static size_t escape(const char *text, size_t *bytes, char out[ESCAPED_BYTES]) {
    const int32_t code = take(text, bytes);
    if (code < 0 || (is_steering(code) && code < 0x100)) {
        return (size_t)snprintf(out, ESCAPED_BYTES, "\\x%02x",
                                code < 0 ? (unsigned)(uint8_t)text[0] : (unsigned)code);
    }
    if (is_steering(code)) {
        return (size_t)snprintf(out, ESCAPED_BYTES, "\\u%04x", (unsigned)code);
    }
    memcpy(out, text, *bytes);
    return *bytes;
}

char *shown_text(const char *text, char *out, size_t out_bytes) {
    size_t used = 0, bytes;
    while (text != NULL && *text != '\0') {
        char escaped[ESCAPED_BYTES];
        const size_t count = escape(text, &bytes, escaped);
        if (used + count >= out_bytes) {
            break;
        }
        memcpy(out + used, escaped, count);
        used += count;
        text += bytes;
    }
    out[used] = '\0';
    return out;
}

unsigned shown_width(const char *text) {
    unsigned width = 0;
    while (*text != '\0') {
        unsigned columns;
        text += take_grapheme(text, &columns);
        width += columns;
    }
    return width;
}

char *shown_cut(const char *text, unsigned columns, char out[SHOWN_COLUMN_BYTES]) {
    static const char cut[] = "\u2026";
    char whole[SHOWN_COLUMN_BYTES - sizeof(cut)];
    shown_text(text, whole, sizeof(whole));
    const bool is_cut = shown_width(whole) > columns;
    unsigned width = 0, one;
    size_t used = 0;
    while (whole[used] != '\0') {
        const size_t bytes = take_grapheme(whole + used, &one);
        width += one;
        if (width + (is_cut ? 1 : 0) > columns) {
            break;
        }
        used += bytes;
    }
    memcpy(out, whole, used);
    memcpy(out + used, is_cut ? cut : "", is_cut ? sizeof(cut) : 1);
    return out;
}

char *shown_column(const char *text, unsigned columns, char out[SHOWN_COLUMN_BYTES]) {
    shown_cut(text, columns, out);
    unsigned width = shown_width(out);
    for (size_t used = strlen(out); width < columns && used + 1 < SHOWN_COLUMN_BYTES; width++) {
        out[used++] = ' ';
        out[used] = '\0';
    }
    return out;
}
