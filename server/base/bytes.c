// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <string.h>

void sink_text(Sink *sink, const char *text) {
    size_t length = text == NULL ? 0 : strlen(text);
    sink_u64(sink, length);
    sink_bytes(sink, text, length);
}

void sink_pad(Sink *sink) {
    static const uint8_t zeros[8] = {0};
    sink_bytes(sink, zeros, (8 - sink->count % 8) % 8);
}

static void take(Source *source, void *values, size_t count, size_t item_bytes) {
    if (count == 0) {
        return;
    }
    const uint8_t *bytes =
        count > SIZE_MAX / item_bytes ? NULL : source_bytes(source, count * item_bytes);
    if (bytes == NULL) {
        source->failed = true;
        memset(values, 0, count * item_bytes);
        return;
    }
    memcpy(values, bytes, count * item_bytes);
}

void source_doubles(Source *source, double *values, size_t count) {
    take(source, values, count, sizeof(*values));
}

void source_u32s(Source *source, uint32_t *values, size_t count) {
    take(source, values, count, sizeof(*values));
}

void source_u64s(Source *source, uint64_t *values, size_t count) {
    take(source, values, count, sizeof(*values));
}

bool source_text(Source *source, char *text, size_t capacity) {
    size_t length = source_count(source, 1);
    const uint8_t *bytes = source_bytes(source, length);
    if (bytes == NULL || length >= capacity || memchr(bytes, 0, length) != NULL) {
        source->failed = true;
        text[0] = '\0';
        return false;
    }
    memcpy(text, bytes, length);
    text[length] = '\0';
    return true;
}

bool source_pad(Source *source) {
    size_t count = (8 - source->used % 8) % 8;
    const uint8_t *bytes = source_bytes(source, count);
    for (size_t i = 0; bytes != NULL && i < count; i++) {
        if (bytes[i] != 0) {
            source->failed = true;
        }
    }
    return !source->failed;
}
