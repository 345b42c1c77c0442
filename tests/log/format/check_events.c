// SPDX-License-Identifier: MIT
// Events are read as they were written, and nothing that cannot be is read at all.
#include "log/format/events.h"

#include "support/suite.h"

#include <math.h>
#include <string.h>

enum { LAST_STEP = 100, ROOM = 1024 };

// Two that changed, one of them over; one that did not; two names.
static size_t write(uint8_t bytes[ROOM], bool is_complete) {
    const Touch changed[] = {{.body = 3,
                              .other = 4,
                              .first_step = 10,
                              .last_step = 20,
                              .is_over = true,
                              .hardest_step = 12,
                              .approach = 1.5,
                              .first_impulse = 0.25,
                              .hardest = 0.5},
                             {.body = 1,
                              .other = 3,
                              .first_step = 99,
                              .last_step = 99,
                              .hardest_step = 99,
                              .first_impulse = 2.0,
                              .hardest = 2.0}};
    const Touch unchanged[] = {
        {.body = 1, .other = 2, .first_step = 1, .last_step = 100, .hardest_step = 1}};
    const TouchName names[] = {{.body = 1, .text = "ground", .bytes = 6},
                               {.body = 3, .text = "b", .bytes = 1}};
    const EventsBody body = {.is_complete = is_complete,
                             .changed = changed,
                             .changed_count = 2,
                             .unchanged = unchanged,
                             .unchanged_count = is_complete ? 1 : 0,
                             .names = names,
                             .name_count = 2};
    const size_t count = events_write(&body, NULL);
    ck_assert_uint_le(count, ROOM);
    ck_assert_uint_eq(events_write(&body, bytes), count);
    return count;
}

static Status open(const uint8_t *bytes, size_t count, EventsChunk *events, Error *error) {
    const Chunk chunk = {
        .kind = CHUNK_EVENTS, .last_step = LAST_STEP, .body = bytes, .body_bytes = count};
    return events_open(&chunk, events, error);
}

START_TEST(events_are_read_as_they_were_written) {
    uint8_t bytes[ROOM], again[ROOM];
    const bool is_complete = _i == 1;
    const size_t count = write(bytes, is_complete);
    EventsChunk events;
    ck_assert_int_eq(open(bytes, count, &events, NULL), STATUS_OK);
    ck_assert_uint_eq(events.changed_count, 2);
    ck_assert_uint_eq(events.unchanged_count, is_complete ? 1 : 0);
    ck_assert(events.is_complete == is_complete);
    Touch touches[3];
    for (size_t i = 0; i < events.changed_count + events.unchanged_count; i++) {
        touches[i] = events_get(&events, i);
    }
    ck_assert(touches[0].is_over && touches[0].last_step == 20 && touches[0].hardest == 0.5);
    ck_assert(touches[0].approach == 1.5 && touches[0].first_impulse == 0.25);
    ck_assert(touches[1].body == 1 && touches[1].other == 3 && touches[1].hardest_step == 99);
    TouchName names[3];
    size_t at = 0, name_count = 0;
    while (events_next_name(&events, &at, &names[name_count])) {
        name_count++;
    }
    ck_assert_uint_eq(name_count, 2);
    ck_assert(names[0].body == 1 && names[0].bytes == 6 && memcmp(names[0].text, "ground", 6) == 0);
    const EventsBody body = {.is_complete = is_complete,
                             .changed = touches,
                             .changed_count = 2,
                             .unchanged = touches + 2,
                             .unchanged_count = events.unchanged_count,
                             .names = names,
                             .name_count = 2};
    ck_assert_uint_eq(events_write(&body, again), count);
    ck_assert_mem_eq(bytes, again, count);
}
END_TEST

START_TEST(any_cut_and_any_byte_more_is_found) {
    uint8_t bytes[ROOM] = {0};
    const size_t count = write(bytes, true);
    EventsChunk events;
    Error error = {0};
    for (size_t cut = 0; cut < count; cut++) {
        ck_assert_msg(open(bytes, cut, &events, &error) == STATUS_DATA_LOSS, "%zu bytes", cut);
        ck_assert_str_ne(error.message, "");
    }
    ck_assert_int_eq(open(bytes, count + 8, &events, &error), STATUS_DATA_LOSS);
}
END_TEST

// What nobody writes, at the offset of a number; those of a touch come behind the head.
enum { AT_FLAGS = 0, AT_CHANGED = 8, AT_UNCHANGED = 16, AT_NAMES = 24 };
enum { BODY = 0, OTHER = 8, FIRST = 16, LAST = 24, OVER = 32, HARDEST_STEP = 40 };
enum { APPROACH = 48, IMPULSE = 56, HARDEST = 64, NAME = 0, NAME_BYTES = 8, TEXT = 16 };
#define OF(touch, field) (EVENTS_HEAD_BYTES + TOUCH_BYTES * (touch) + (field))
#define OF_NAME(field)   (EVENTS_HEAD_BYTES + TOUCH_BYTES * 3 + (field))
#define NOT_A_NUMBER     UINT64_C(0x7ff8000000000000)
#define INFINITE         UINT64_C(0x7ff0000000000000)
#define MINUS_ONE        UINT64_C(0xbff0000000000000)

static const struct {
    size_t at;
    uint64_t value;
} nonsense[] = {
    {AT_FLAGS, 2},
    {AT_FLAGS, 0}, // one that has not changed, and not complete
    {AT_CHANGED, UINT64_MAX},
    {AT_CHANGED, UINT64_MAX / TOUCH_BYTES},
    {AT_UNCHANGED, UINT64_C(1) << 62},
    {AT_NAMES, 3},
    {AT_NAMES, 1},
    {OF(0, BODY), 0},
    {OF(0, BODY), 4},
    {OF(0, OTHER), UINT64_MAX},
    {OF(0, FIRST), 0},
    {OF(0, FIRST), 13}, // behind its hardest step
    {OF(0, LAST), 11},  // in front of it
    {OF(1, LAST), LAST_STEP + 1},
    {OF(2, OVER), 1}, // and did not change
    {OF(0, HARDEST_STEP), 9},
    {OF(0, APPROACH), NOT_A_NUMBER},
    {OF(0, APPROACH), MINUS_ONE},
    {OF(0, IMPULSE), INFINITE},
    {OF(0, HARDEST), NOT_A_NUMBER},
    {OF_NAME(NAME), 3},
    {OF_NAME(NAME_BYTES), 0},
    {OF_NAME(NAME_BYTES), UINT64_MAX},
    {OF_NAME(TEXT), 0},
};

START_TEST(nonsense_is_refused) {
    uint8_t bytes[ROOM] = {0};
    const size_t count = write(bytes, true);
    memcpy(bytes + nonsense[_i].at, &nonsense[_i].value, sizeof(nonsense[_i].value));
    EventsChunk events;
    Error error = {0};
    ck_assert_int_eq(open(bytes, count, &events, &error), STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "no events"));
}
END_TEST

// Two that go on between the same bodies, or in the wrong order, cannot be taken up.
START_TEST(what_goes_on_rises_by_its_bodies) {
    uint8_t bytes[ROOM];
    EventsChunk events;
    Error error = {0};
    for (uint64_t body = 1; body <= 2; body++) {
        const Touch touches[] = {{.body = 2, .other = 5, .first_step = 1, .last_step = 3},
                                 {.body = body, .other = 5, .first_step = 2, .last_step = 3}};
        Touch sound[2] = {touches[0], touches[1]};
        sound[0].hardest_step = 1;
        sound[1].hardest_step = 2;
        const EventsBody body_of = {.changed = sound, .changed_count = 2};
        const size_t count = events_write(&body_of, bytes);
        ck_assert_int_eq(open(bytes, count, &events, &error), STATUS_DATA_LOSS);
        ck_assert_ptr_nonnull(strstr(error.message, "in no order"));
        sound[0].is_over = true; // of what is over there may be any number
        ck_assert_uint_eq(events_write(&body_of, bytes), count);
        ck_assert_int_eq(open(bytes, count, &events, &error), STATUS_OK);
    }
}
END_TEST

static TCase *case_events(void) {
    TCase *tcase = tcase_create("events");
    tcase_add_loop_test(tcase, events_are_read_as_they_were_written, 0, 2);
    tcase_add_test(tcase, any_cut_and_any_byte_more_is_found);
    tcase_add_loop_test(tcase, nonsense_is_refused, 0,
                        (int)(sizeof(nonsense) / sizeof(nonsense[0])));
    tcase_add_test(tcase, what_goes_on_rises_by_its_bodies);
    return tcase;
}

SUITE_MAIN("log/events", case_events)
