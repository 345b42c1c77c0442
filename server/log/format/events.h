// SPDX-License-Identifier: MIT
// The body of a chunk of events: which bodies touched, since when, how hard. A chunk says how it is
// with those touches that have changed since the chunk before (begun, pushed harder than ever, or
// ended), so that of two that name a touch the later one counts; what is not over in the last one
// was not over when the recording ended. In front of every key-frame stands a chunk that is
// *complete*: it lists every touch that is not over then, so that whoever steps on from that
// key-frame knows them.
//
//   events = flags (1: complete), number of touches that have changed c, of those that have not n
//            (0 unless complete), number of names k (u64 each),
//            touch … (c, then n): body, other body, first step, last step, is over, step of the
//              hardest push (u64 each), approach [m/s], first impulse [N s], hardest impulse [N s]
//              (f64 each),
//            name … (k, by rising id, each once): id of a body that began a touch since the chunk
//              before (u64), text (a length and bytes, 1 at least); all padded to 8
//
// Of a touch the smaller id comes first. It is the one that it was by its bodies and first step; of
// the open ones of a chunk, none has the bodies of another, and they rise by their bodies.
#pragma once

#include "log/format/chunk.h"

typedef struct Touch {
    uint64_t body, other; // ids, body < other
    uint64_t first_step;
    uint64_t last_step; // so far, unless it is over
    bool is_over;
    uint64_t hardest_step; // the first that pushed as hard as `hardest`
    double approach;       // [m/s] before the first step, >= 0
    double first_impulse;  // [N s] along the normals, of the first step
    double hardest;        // [N s] of a step
} Touch;

enum { EVENTS_HEAD_BYTES = 32, TOUCH_BYTES = 72 };

// A name that a body had as it began a touch.
typedef struct TouchName {
    uint64_t body;
    const char *text; // borrowed; with no zero at its end where it was read
    size_t bytes;
} TouchName;

// Everything in a chunk, to be written.
typedef struct EventsBody {
    bool is_complete;
    const Touch *changed, *unchanged;
    size_t changed_count, unchanged_count;
    const TouchName *names;
    size_t name_count;
} EventsBody;

// With `bytes` NULL it only counts. Returns the number of bytes.
size_t events_write(const EventsBody *body, uint8_t *bytes);

// What was found in a chunk; read one by one.
typedef struct EventsChunk {
    bool is_complete;
    size_t changed_count, unchanged_count, name_count;
    const uint8_t *touches; // borrowed
    const uint8_t *names;
    size_t name_bytes;
} EventsChunk;

// Whether the body is events, down to every number of it: DATA_LOSS when it is not.
Status events_open(const Chunk *chunk, EventsChunk *events, Error *error);

// The changed ones, then the others.
Touch events_get(const EventsChunk *events, size_t index);

// The name at `*at` (0: the first), and moves on. false: there was none left.
bool events_next_name(const EventsChunk *events, size_t *at, TouchName *name);

// -1, 0, 1: by the bodies.
static inline int touch_compare(const Touch *a, const Touch *b) {
    if (a->body != b->body) {
        return a->body < b->body ? -1 : 1;
    }
    return a->other < b->other ? -1 : a->other > b->other;
}
