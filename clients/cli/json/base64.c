// SPDX-License-Identifier: MIT
#include "cli/json/base64.h"

#include "cli/base/memory.h"

#include <stdlib.h>
#include <string.h>

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_write(const uint8_t *bytes, size_t count) {
    char *text = memory_take((count + 2) / 3 * 4 + 1, 1);
    char *out = text;
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t group = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                         (left > 2 ? (uint32_t)bytes[i + 2] : 0);
        *out++ = letters[group >> 18];
        *out++ = letters[group >> 12 & 63];
        *out++ = '=';
        *out++ = '=';
        if (left > 1) {
            out[-2] = letters[group >> 6 & 63];
        }
        if (left > 2) {
            out[-1] = letters[group & 63];
        }
    }
    return text;
}

bool base64_read(const char *text, uint8_t **bytes, size_t *count) {
    *bytes = NULL;
    *count = 0;
    size_t length = strlen(text);
    size_t padding = length > 0 && text[length - 1] == '=' ? 1 : 0;
    padding += padding > 0 && length > 1 && text[length - 2] == '=' ? 1 : 0;
    if (length % 4 != 0) {
        return false;
    }
    if (length == 0) {
        return true;
    }
    uint8_t *out = memory_take(length / 4 * 3, 1);
    size_t put = 0;
    for (size_t i = 0; i < length; i += 4) {
        uint32_t group = 0;
        for (size_t k = i; k < i + 4; k++) {
            const char *letter = memchr(letters, text[k], sizeof(letters) - 1);
            if (letter == NULL && k < length - padding) {
                free(out);
                return false;
            }
            group = group << 6 | (letter != NULL ? (uint32_t)(letter - letters) : 0);
        }
        out[put++] = (uint8_t)(group >> 16);
        out[put++] = (uint8_t)(group >> 8);
        out[put++] = (uint8_t)group;
    }
    *bytes = out;
    *count = put - padding;
    return true;
}
