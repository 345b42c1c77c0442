// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <string.h>

// Bytes of the character that begins here; 0: none does.
static size_t character(const uint8_t *bytes, size_t count) {
    const uint8_t lead = bytes[0];
    if (lead < 0x80) {
        return 1;
    }
    const size_t follow = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : 1;
    if (lead < 0xc2 || lead > 0xf4 || follow >= count) {
        return 0;
    }
    const uint8_t second = bytes[1];
    // overlong forms, surrogates, and what is above U+10FFFF
    if ((lead == 0xe0 && second < 0xa0) || (lead == 0xed && second > 0x9f) ||
        (lead == 0xf0 && second < 0x90) || (lead == 0xf4 && second > 0x8f)) {
        return 0;
    }
    for (size_t k = 1; k <= follow; k++) {
        if ((bytes[k] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return follow + 1;
}

size_t utf8_count(const uint8_t *bytes, size_t count) {
    size_t i = 0, step = 1;
    while (i < count && step > 0) {
        step = character(bytes + i, count - i);
        i += step;
    }
    return i;
}

bool utf8_mend(char *text) {
    const size_t count = strlen(text);
    bool is_mended = false;
    for (size_t i = utf8_count((const uint8_t *)text, count); i < count;
         i += utf8_count((const uint8_t *)text + i, count - i)) {
        text[i] = '?';
        is_mended = true;
    }
    return is_mended;
}
