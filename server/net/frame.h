// SPDX-License-Identifier: MIT
// Framing: a 4-byte big-endian length, then so many bytes. Pure functions.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_HEADER_BYTES = 4 };

typedef enum FrameState {
    FRAME_WHOLE,   // frame.body and frame.body_bytes are set
    FRAME_PARTIAL, // wait for more bytes; frame.body_bytes is set once the header is there
    FRAME_TOO_LONG // the announced length is above the limit; frame.body_bytes says it
} FrameState;

typedef struct Frame {
    const uint8_t *body; // borrowed from the bytes given
    size_t body_bytes;
} Frame;

// Looks at the start of `bytes`. The announced length is judged before its bytes are waited for.
FrameState frame_decode(const uint8_t *bytes, size_t count, size_t body_bytes_max, Frame *frame);

// Whether a header is the start of a request of HTTP: as a length more than 1 GiB, above any limit.
bool frame_is_http(const uint8_t header[FRAME_HEADER_BYTES]);

// The header of a frame.
void frame_header(uint8_t header[FRAME_HEADER_BYTES], size_t body_bytes);
