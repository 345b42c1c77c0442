// SPDX-License-Identifier: MIT
// Frames: cut anywhere, judged by their announced length, header and decoder inverse to each other.
#include "net/frame.h"

#include "support/suite.h"

#include <string.h>

enum { LIMIT = 1 << 24 };

static const uint8_t hello[] = {0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0};

START_TEST(decode_waits_for_the_last_byte) {
    size_t count = (size_t)_i;
    uint8_t *bytes = malloc(
        count == 0 ? 1 : count); // of exactly this length, so that a read past the end is seen
    memcpy(bytes, hello, count);
    Frame frame = {.body_bytes = 99};
    ck_assert_int_eq(frame_decode(bytes, count, LIMIT, &frame), FRAME_PARTIAL);
    ck_assert_uint_eq(frame.body_bytes, count < FRAME_HEADER_BYTES ? 99 : 5);
    free(bytes);
}
END_TEST

START_TEST(decode_finds_a_whole_frame_and_leaves_what_follows) {
    Frame frame = {0};
    ck_assert_int_eq(frame_decode(hello, sizeof(hello), LIMIT, &frame), FRAME_WHOLE);
    ck_assert_ptr_eq(frame.body, hello + FRAME_HEADER_BYTES);
    ck_assert_uint_eq(frame.body_bytes, 5);
    // and an empty frame is a frame
    ck_assert_int_eq(frame_decode(hello + 9, 4, LIMIT, &frame), FRAME_WHOLE);
    ck_assert_uint_eq(frame.body_bytes, 0);
}
END_TEST

START_TEST(decode_judges_the_length_by_the_header_alone) {
    static const struct {
        size_t limit;
        FrameState state;
    } cases[] = {{4, FRAME_TOO_LONG}, {5, FRAME_PARTIAL}, {6, FRAME_PARTIAL}, {0, FRAME_TOO_LONG}};
    Frame frame = {0};
    ck_assert_int_eq(frame_decode(hello, FRAME_HEADER_BYTES, cases[_i].limit, &frame),
                     cases[_i].state);
    ck_assert_uint_eq(frame.body_bytes, 5);
}
END_TEST

START_TEST(headers_come_back_as_they_were) {
    static const size_t lengths[] = {0, 1, 255, 256, 65535, 65536, LIMIT, 0x7fffffff, 0xffffffff};
    uint8_t header[FRAME_HEADER_BYTES];
    frame_header(header, lengths[_i]);
    Frame frame = {0};
    FrameState state = frame_decode(header, sizeof(header), SIZE_MAX, &frame);
    ck_assert_int_eq(state, lengths[_i] == 0 ? FRAME_WHOLE : FRAME_PARTIAL);
    ck_assert_uint_eq(frame.body_bytes, lengths[_i]);
    // big-endian: the first byte weighs most
    ck_assert_uint_eq(header[0], lengths[_i] >> 24);
}
END_TEST

START_TEST(requests_of_http_are_told_from_lengths) {
    static const struct {
        const char *start;
        bool is_http;
    } cases[] = {{"GET / HTTP/1.1", true}, {"HEAD", true},   {"POST /", true}, {"PUT /x", true},
                 {"OPTIONS *", true},      {"PRI * ", true}, {"GETS", false},  {"get /", false}};
    uint8_t header[FRAME_HEADER_BYTES];
    memcpy(header, cases[_i].start, sizeof(header));
    ck_assert_int_eq(frame_is_http(header), cases[_i].is_http);
    // no frame that may be sent begins so
    Frame frame = {0};
    ck_assert_int_eq(frame_decode(header, sizeof(header), 1 << 30, &frame), FRAME_TOO_LONG);
}
END_TEST

static TCase *case_decode(void) {
    TCase *tcase = tcase_create("decode");
    tcase_add_loop_test(tcase, decode_waits_for_the_last_byte, 0, 9);
    tcase_add_test(tcase, decode_finds_a_whole_frame_and_leaves_what_follows);
    tcase_add_loop_test(tcase, decode_judges_the_length_by_the_header_alone, 0, 4);
    tcase_add_loop_test(tcase, requests_of_http_are_told_from_lengths, 0, 8);
    tcase_add_loop_test(tcase, headers_come_back_as_they_were, 0, 9);
    return tcase;
}

SUITE_MAIN("net/frame", case_decode)
