// SPDX-License-Identifier: MIT
#include "cli/view/webm.h"

#include "cli/base/memory.h"

#include <stdlib.h>
#include <string.h>

// Elements, by their ids; what an element's size takes is always SIZE_BYTES, so that it is filled
// in when the element ends.
enum {
    EBML = 0x1A45DFA3,
    EBML_VERSION = 0x4286,
    EBML_READ_VERSION = 0x42F7,
    EBML_ID_BYTES = 0x42F2,
    EBML_SIZE_BYTES = 0x42F3,
    DOC_TYPE = 0x4282,
    DOC_VERSION = 0x4287,
    DOC_READ_VERSION = 0x4285,
    SEGMENT = 0x18538067,
    INFO = 0x1549A966,
    TIME_SCALE = 0x2AD7B1,
    DURATION = 0x4489,
    MUXING_APP = 0x4D80,
    WRITING_APP = 0x5741,
    TRACKS = 0x1654AE6B,
    TRACK = 0xAE,
    TRACK_NUMBER = 0xD7,
    TRACK_UID = 0x73C5,
    TRACK_TYPE = 0x83,
    TRACK_LACING = 0x9C,
    CODEC = 0x86,
    VIDEO = 0xE0,
    PIXEL_WIDTH = 0xB0,
    PIXEL_HEIGHT = 0xBA,
    CLUSTER = 0x1F43B675,
    CLUSTER_TIME = 0xE7,
    BLOCK = 0xA3,
    CUES = 0x1C53BB6B,
    CUE = 0xBB,
    CUE_TIME = 0xB3,
    CUE_PLACE = 0xB7,
    CUE_TRACK = 0xF7,
    CUE_CLUSTER = 0xF1
};
enum { SIZE_BYTES = 8, TYPE_VIDEO = 1, THE_TRACK = 1, NS_PER_TICK = 1000000, TICKS = 1000 };
enum { CLUSTER_TICKS_MAX = 30000 }; // a block's time is 16 bits from its cluster's

typedef struct Out {
    uint8_t *bytes; // owned
    size_t count, capacity;
} Out;

static void put(Out *out, const void *bytes, size_t count) {
    if (out->capacity - out->count < count) {
        out->capacity = 2 * out->capacity + count;
        out->bytes = memory_grow(out->bytes, out->capacity, 1);
    }
    memcpy(out->bytes + out->count, bytes, count);
    out->count += count;
}

// Big-endian, in so many bytes.
static void put_number(Out *out, uint64_t number, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0;) {
        const uint8_t byte = (uint8_t)(number >> (8 * i));
        put(out, &byte, 1);
    }
}

static void put_id(Out *out, uint32_t id) {
    const unsigned bytes = id > 0xFFFFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1;
    put_number(out, id, bytes);
}

static void put_size(Out *out, uint64_t size) {
    put_number(out, UINT64_C(1) << 56 | size, SIZE_BYTES);
}

// Returns where its content begins, which end() is told.
static size_t begin(Out *out, uint32_t id) {
    put_id(out, id);
    put_size(out, 0);
    return out->count;
}

static void end(Out *out, size_t content) {
    const size_t whole = out->count;
    const uint64_t size = whole - content;
    out->count = content - SIZE_BYTES;
    put_size(out, size);
    out->count = whole;
}

static void put_whole(Out *out, uint32_t id, uint64_t number) {
    put_id(out, id);
    put_size(out, sizeof(number));
    put_number(out, number, sizeof(number));
}

static void put_real(Out *out, uint32_t id, double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof(bits));
    put_whole(out, id, bits);
}

static void put_text(Out *out, uint32_t id, const char *text) {
    put_id(out, id);
    put_size(out, strlen(text));
    put(out, text, strlen(text));
}

static void put_head(Out *out) {
    const size_t head = begin(out, EBML);
    put_whole(out, EBML_VERSION, 1);
    put_whole(out, EBML_READ_VERSION, 1);
    put_whole(out, EBML_ID_BYTES, 4);
    put_whole(out, EBML_SIZE_BYTES, SIZE_BYTES);
    put_text(out, DOC_TYPE, "webm");
    put_whole(out, DOC_VERSION, 2);
    put_whole(out, DOC_READ_VERSION, 2);
    end(out, head);
}

static void put_track(Out *out, const WebmDef *def) {
    const size_t info = begin(out, INFO);
    put_whole(out, TIME_SCALE, NS_PER_TICK);
    put_real(out, DURATION, def->duration * TICKS);
    put_text(out, MUXING_APP, "moreau");
    put_text(out, WRITING_APP, "moreau");
    end(out, info);
    const size_t tracks = begin(out, TRACKS), track = begin(out, TRACK);
    put_whole(out, TRACK_NUMBER, THE_TRACK);
    put_whole(out, TRACK_UID, THE_TRACK);
    put_whole(out, TRACK_TYPE, TYPE_VIDEO);
    put_whole(out, TRACK_LACING, 0);
    put_text(out, CODEC, def->codec);
    const size_t video = begin(out, VIDEO);
    put_whole(out, PIXEL_WIDTH, def->width);
    put_whole(out, PIXEL_HEIGHT, def->height);
    end(out, video), end(out, track), end(out, tracks);
}

static uint64_t ticks_of(const WebmFrame *frame) {
    return (uint64_t)(frame->time * TICKS + 0.5);
}

static void put_block(Out *out, const WebmFrame *frame, uint64_t cluster_ticks) {
    enum { TRACK_AS_SIZE = 0x80 | THE_TRACK, KEY = 0x80 };
    const size_t block = begin(out, BLOCK);
    put_number(out, TRACK_AS_SIZE, 1);
    put_number(out, ticks_of(frame) - cluster_ticks, 2);
    put_number(out, frame->is_key ? KEY : 0, 1);
    put(out, frame->bytes, frame->count);
    end(out, block);
}

static void put_cue(Out *cues, uint64_t ticks, uint64_t place) {
    const size_t cue = begin(cues, CUE);
    put_whole(cues, CUE_TIME, ticks);
    const size_t at = begin(cues, CUE_PLACE);
    put_whole(cues, CUE_TRACK, THE_TRACK);
    put_whole(cues, CUE_CLUSTER, place);
    end(cues, at), end(cues, cue);
}

// A cluster begins with every key, which a player may jump to.
static void put_clusters(Out *out, size_t segment, const WebmFrame *frames, size_t frame_count,
                         Out *cues) {
    size_t cluster = 0;
    uint64_t first = 0;
    for (size_t i = 0; i < frame_count; i++) {
        const uint64_t ticks = ticks_of(&frames[i]);
        if (i == 0 || frames[i].is_key || ticks - first > CLUSTER_TICKS_MAX) {
            if (i > 0) {
                end(out, cluster);
            }
            put_cue(cues, ticks, out->count - segment);
            cluster = begin(out, CLUSTER);
            first = ticks;
            put_whole(out, CLUSTER_TIME, ticks);
        }
        put_block(out, &frames[i], first);
    }
    if (frame_count > 0) {
        end(out, cluster);
    }
}

uint8_t *webm_write(const WebmDef *def, const WebmFrame *frames, size_t frame_count,
                    size_t *count) {
    Out out = {0}, cues = {0};
    put_head(&out);
    const size_t segment = begin(&out, SEGMENT);
    put_track(&out, def);
    const size_t list = begin(&cues, CUES);
    put_clusters(&out, segment, frames, frame_count, &cues);
    end(&cues, list);
    put(&out, cues.bytes, cues.count);
    end(&out, segment);
    free(cues.bytes);
    *count = out.count;
    return out.bytes;
}
