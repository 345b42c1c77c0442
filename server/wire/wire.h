// SPDX-License-Identifier: MIT
// Protobuf's wire format, written and read by hand where a message is too common to be built as a
// struct first. Each writer takes where to write and returns where it ended; that there is room is
// the caller's business (WIRE_*_BYTES_MAX). Pure functions.
//
// A part of unknown length is written behind room for the length that is expected; when the guess
// was wrong, the part is moved. So nothing is measured before it is written.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "fixed-width numbers are copied as they lie in memory: a big-endian machine needs swapping"
#endif

typedef enum WireType { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2 } WireType;

enum { WIRE_VARINT_BYTES_MAX = 10 };
enum { WIRE_HEAD_BYTES_MAX = 5 + WIRE_VARINT_BYTES_MAX }; // key and length of a part

static inline size_t wire_varint_bytes(uint64_t value) {
    // bits, divided by 7 and rounded up
    return value < 0x80 ? 1 : (size_t)(70 - __builtin_clzll(value)) / 7;
}

static inline uint8_t *wire_varint(uint8_t *at, uint64_t value) {
    for (; value >= 0x80; value >>= 7) {
        *at++ = (uint8_t)(value | 0x80);
    }
    *at++ = (uint8_t)value;
    return at;
}

static inline uint8_t *wire_key(uint8_t *at, uint32_t field, WireType type) {
    return wire_varint(at, (uint64_t)field << 3 | type);
}

static inline uint8_t *wire_number(uint8_t *at, uint32_t field, uint64_t value) {
    return wire_varint(wire_key(at, field, WIRE_VARINT), value);
}

// A part of a known length: its bytes go where this ends.
static inline uint8_t *wire_head(uint8_t *at, uint32_t field, size_t length) {
    return wire_varint(wire_key(at, field, WIRE_BYTES), length);
}

// A part of about the length expected: where its bytes begin. wire_part_end says where it ends.
static inline uint8_t *wire_part_begin(uint8_t *at, uint32_t field, size_t expected) {
    return wire_key(at, field, WIRE_BYTES) + wire_varint_bytes(expected);
}

static inline uint8_t *wire_part_end(uint8_t *begin, size_t expected, uint8_t *end) {
    size_t length = (size_t)(end - begin), room = wire_varint_bytes(expected),
           needed = wire_varint_bytes(length);
    uint8_t *head = begin - room;
    if (needed != room) {
        memmove(head + needed, begin, length);
    }
    wire_varint(head, length);
    return head + needed + length;
}

// ---- reading

// The bytes not yet read. A read past the end, or of what protobuf would read in a way of its own
// (a varint above 64 bits), fails and stays failed.
typedef struct WireCursor {
    const uint8_t *at, *end; // borrowed
    bool failed;
} WireCursor;

static inline uint64_t wire_read_varint(WireCursor *cursor) {
    if (cursor->at < cursor->end && *cursor->at < 0x80) {
        return *cursor->at++; // as most are
    }
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64 && cursor->at < cursor->end; shift += 7) {
        uint64_t byte = *cursor->at++;
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->failed = cursor->failed || (shift == 63 && byte > 1);
            return value;
        }
    }
    cursor->failed = true;
    return 0;
}

// The next part, with its length in front.
static inline WireCursor wire_read_part(WireCursor *cursor) {
    uint64_t length = wire_read_varint(cursor);
    if (cursor->failed || length > (size_t)(cursor->end - cursor->at)) {
        cursor->failed = true;
        return (WireCursor){.failed = true};
    }
    WireCursor part = {.at = cursor->at, .end = cursor->at + length};
    cursor->at = part.end;
    return part;
}

// How many varints are packed in what is left.
static inline size_t wire_count_varints(const WireCursor *cursor) {
    size_t count = 0;
    for (const uint8_t *at = cursor->at; at < cursor->end; at++) {
        count += *at < 0x80;
    }
    return count;
}
