// SPDX-License-Identifier: MIT
#include "log/format/events.h"

#include "base/assert.h"

#include <inttypes.h>
#include <math.h>

enum { COMPLETE = 1 };

// ---- writing

static void write_touches(Sink *sink, const Touch *touches, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const Touch *touch = &touches[i];
        sink_u64(sink, touch->body);
        sink_u64(sink, touch->other);
        sink_u64(sink, touch->first_step);
        sink_u64(sink, touch->last_step);
        sink_u64(sink, touch->is_over);
        sink_u64(sink, touch->hardest_step);
        sink_double(sink, touch->approach);
        sink_double(sink, touch->first_impulse);
        sink_double(sink, touch->hardest);
    }
}

size_t events_write(const EventsBody *body, uint8_t *bytes) {
    ASSERT(body->is_complete || body->unchanged_count == 0);
    Sink sink = {.bytes = bytes};
    sink_u64(&sink, body->is_complete ? COMPLETE : 0);
    sink_u64(&sink, body->changed_count);
    sink_u64(&sink, body->unchanged_count);
    sink_u64(&sink, body->name_count);
    write_touches(&sink, body->changed, body->changed_count);
    write_touches(&sink, body->unchanged, body->unchanged_count);
    for (size_t i = 0; i < body->name_count; i++) {
        sink_u64(&sink, body->names[i].body);
        sink_u64(&sink, body->names[i].bytes);
        sink_bytes(&sink, body->names[i].text, body->names[i].bytes);
    }
    sink_pad(&sink);
    return sink.count;
}

// ---- reading

Touch events_get(const EventsChunk *events, size_t index) {
    ASSERT(index < events->changed_count + events->unchanged_count);
    Source source = {.bytes = events->touches + TOUCH_BYTES * index, .count = TOUCH_BYTES};
    Touch touch = {.body = source_u64(&source)};
    touch.other = source_u64(&source);
    touch.first_step = source_u64(&source);
    touch.last_step = source_u64(&source);
    touch.is_over = source_u64(&source) != 0;
    touch.hardest_step = source_u64(&source);
    touch.approach = source_double(&source);
    touch.first_impulse = source_double(&source);
    touch.hardest = source_double(&source);
    return touch;
}

bool events_next_name(const EventsChunk *events, size_t *at, TouchName *name) {
    Source source = {.bytes = events->names, .count = events->name_bytes, .used = *at};
    name->body = source_u64(&source);
    name->bytes = source_count(&source, 1);
    name->text = (const char *)source_bytes(&source, name->bytes);
    *at = source.used;
    return !source.failed;
}

static bool is_finite_positive(double value) {
    return value >= 0.0 && value < INFINITY; // NaN is neither
}

static bool is_sound(const Touch *touch, const Chunk *chunk) {
    return touch->body > 0 && touch->body < touch->other && touch->other <= INT64_MAX &&
           touch->first_step > 0 && touch->last_step <= INT64_MAX &&
           touch->first_step <= touch->hardest_step && touch->hardest_step <= touch->last_step &&
           touch->last_step <= chunk->last_step && is_finite_positive(touch->approach) &&
           is_finite_positive(touch->first_impulse) && is_finite_positive(touch->hardest);
}

// What is open rises by its bodies, among those that have changed as among the others.
static const char *check_touches(const Chunk *chunk, const EventsChunk *events) {
    Touch before = {0};
    for (size_t i = 0; i < events->changed_count + events->unchanged_count; i++) {
        const Touch touch = events_get(events, i);
        if (i == events->changed_count) {
            before = (Touch){0};
        }
        if (!is_sound(&touch, chunk)) {
            return "a touch that cannot be";
        }
        if (!touch.is_over && touch_compare(&before, &touch) >= 0) {
            return "touches in no order";
        }
        if (touch.is_over && i >= events->changed_count) {
            return "a touch that ended and did not change";
        }
        before = touch.is_over ? before : touch;
    }
    return NULL;
}

// Reads all names, behind which nothing but padding may stand.
static const char *check_names(EventsChunk *events, Source *source) {
    size_t begin = source->used;
    uint64_t before = 0;
    events->names = source->bytes + begin;
    events->name_bytes = source->count - begin;
    size_t at = 0;
    for (size_t i = 0; i < events->name_count; i++) {
        TouchName name;
        if (!events_next_name(events, &at, &name) || name.bytes == 0 || name.body <= before ||
            memchr(name.text, '\0', name.bytes) != NULL) {
            return "a name that cannot be";
        }
        before = name.body;
    }
    events->name_bytes = at;
    source->used += at;
    bool is_whole = source_pad(source) && !source->failed && source->used == source->count;
    return is_whole ? NULL : "something behind its names";
}

Status events_open(const Chunk *chunk, EventsChunk *events, Error *error) {
    enum { NAME_BYTES_MIN = 17 };
    Source source = {.bytes = chunk->body, .count = chunk->body_bytes};
    uint64_t flags = source_u64(&source);
    EventsChunk found = {.is_complete = (flags & COMPLETE) != 0};
    found.changed_count = source_count(&source, TOUCH_BYTES);
    found.unchanged_count = source_count(&source, TOUCH_BYTES);
    found.name_count = source_count(&source, NAME_BYTES_MIN);
    size_t count = found.changed_count + found.unchanged_count; // of both no more than bytes
    const char *odd = NULL;
    found.touches = source_bytes(&source, TOUCH_BYTES * count);
    if (source.failed || flags > COMPLETE || (!found.is_complete && found.unchanged_count > 0)) {
        odd = "no events";
    }
    odd = odd == NULL ? check_touches(chunk, &found) : odd;
    odd = odd == NULL ? check_names(&found, &source) : odd;
    if (odd != NULL) {
        return error_set(error, STATUS_DATA_LOSS, NULL, "its %zu bytes are %s%s", chunk->body_bytes,
                         strcmp(odd, "no events") == 0 ? "" : "no events: there is ", odd);
    }
    *events = found;
    return STATUS_OK;
}
