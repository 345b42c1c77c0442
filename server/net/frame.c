// SPDX-License-Identifier: MIT
#include "net/frame.h"

#include "base/assert.h"

#include <string.h>

FrameState frame_decode(const uint8_t *bytes, size_t count, size_t body_bytes_max, Frame *frame) {
    if (count < FRAME_HEADER_BYTES) {
        return FRAME_PARTIAL;
    }
    frame->body_bytes =
        (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
    if (frame->body_bytes > body_bytes_max) {
        return FRAME_TOO_LONG;
    }
    if (count - FRAME_HEADER_BYTES < frame->body_bytes) {
        return FRAME_PARTIAL;
    }
    frame->body = bytes + FRAME_HEADER_BYTES;
    return FRAME_WHOLE;
}

bool frame_is_http(const uint8_t header[FRAME_HEADER_BYTES]) {
    // the last one begins HTTP/2
    static const char methods[][FRAME_HEADER_BYTES + 1] = {"GET ", "HEAD", "POST", "PUT ", "DELE",
                                                           "OPTI", "PATC", "CONN", "TRAC", "PRI "};
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
        if (memcmp(header, methods[i], FRAME_HEADER_BYTES) == 0) {
            return true;
        }
    }
    return false;
}

void frame_header(uint8_t header[FRAME_HEADER_BYTES], size_t body_bytes) {
    ASSERT(body_bytes <= UINT32_MAX);
    header[0] = (uint8_t)(body_bytes >> 24);
    header[1] = (uint8_t)(body_bytes >> 16);
    header[2] = (uint8_t)(body_bytes >> 8);
    header[3] = (uint8_t)body_bytes;
}
