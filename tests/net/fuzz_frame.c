// SPDX-License-Identifier: MIT
// Any bytes as a stream of frames: no frame reaches beyond the bytes, and none is longer than the
// limit.
#include "net/frame.h"

#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    const size_t limit = 4096;
    Frame frame;
    while (frame_decode(bytes, count, limit, &frame) == FRAME_WHOLE) {
        ASSERT(frame.body_bytes <= limit);
        ASSERT(frame.body == bytes + FRAME_HEADER_BYTES &&
               FRAME_HEADER_BYTES + frame.body_bytes <= count);
        bytes += FRAME_HEADER_BYTES + frame.body_bytes;
        count -= FRAME_HEADER_BYTES + frame.body_bytes;
    }
    return 0;
}
