// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "numbers are copied as they lie in memory: a big-endian machine needs swapping here"
#endif

void sink_bytes(Sink *sink, const void *bytes, size_t count) {
    if (count == 0) {
        return;
    }
    if (sink->hash != NULL) {
        hash_add(sink->hash, bytes, count);
    }
    if (sink->bytes != NULL) {
        memcpy(sink->bytes + sink->count, bytes, count);
    }
    sink->count += count;
}

void sink_u32(Sink *sink, uint32_t value) {
    sink_bytes(sink, &value, sizeof(value));
}

void sink_u64(Sink *sink, uint64_t value) {
    sink_bytes(sink, &value, sizeof(value));
}

void sink_double(Sink *sink, double value) {
    sink_bytes(sink, &value, sizeof(value));
}

void sink_doubles(Sink *sink, const double *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

void sink_u32s(Sink *sink, const uint32_t *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

void sink_u64s(Sink *sink, const uint64_t *values, size_t count) {
    sink_bytes(sink, values, count * sizeof(*values));
}

void sink_text(Sink *sink, const char *text) {
    size_t length = text == NULL ? 0 : strlen(text);
    sink_u64(sink, length);
    sink_bytes(sink, text, length);
}

void sink_pad(Sink *sink) {
    static const uint8_t zeros[8] = {0};
    sink_bytes(sink, zeros, (8 - sink->count % 8) % 8);
}

const uint8_t *source_bytes(Source *source, size_t count) {
    if (source->failed || count > source->count - source->used) {
        source->failed = true;
        return NULL;
    }
    const uint8_t *bytes = source->bytes + source->used;
    source->used += count;
    return bytes;
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

uint32_t source_u32(Source *source) {
    uint32_t value;
    take(source, &value, 1, sizeof(value));
    return value;
}

uint64_t source_u64(Source *source) {
    uint64_t value;
    take(source, &value, 1, sizeof(value));
    return value;
}

double source_double(Source *source) {
    double value;
    take(source, &value, 1, sizeof(value));
    return value;
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

size_t source_count(Source *source, size_t item_bytes) {
    uint64_t count = source_u64(source);
    if (source->failed || count > (source->count - source->used) / item_bytes) {
        source->failed = true;
        return 0;
    }
    return (size_t)count;
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
