// SPDX-License-Identifier: MIT
#include "base/hex.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

START_TEST(every_byte_is_written_in_two_digits_and_read_in_either_case) {
    uint8_t bytes[256], again[256];
    char text[2 * 256 + 1];
    for (size_t i = 0; i < 256; i++) {
        bytes[i] = (uint8_t)i;
    }
    memset(text, 'x', sizeof(text));
    hex_text(bytes, 256, text);
    ck_assert_uint_eq(strlen(text), 512);
    for (size_t i = 0; i < 256; i++) {
        char two[3];
        snprintf(two, sizeof(two), "%02x", (unsigned)i);
        ck_assert_mem_eq(text + 2 * i, two, 2);
    }
    ck_assert(hex_read(text, 256, again));
    ck_assert_mem_eq(again, bytes, 256);
    ck_assert(hex_read("fFaBCd", 3, again));
    ck_assert_mem_eq(again, "\xff\xab\xcd", 3);
    hex_text(bytes, 0, text);
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(what_is_no_digit_has_no_value) {
    uint8_t bytes[2];
    for (int c = 0; c < 256; c++) {
        const char digit = (char)c, *found = memchr("0123456789abcdefABCDEF", c, 22);
        ck_assert_msg((hex_digit(digit) >= 0) == (found != NULL), "byte %d", c);
    }
    static const char *const wrong[] = {"",     "0",    "00",   "00a", "0g00",
                                        "g000", "00 0", "-100", "0x00"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        ck_assert_msg(!hex_read(wrong[i], 2, bytes), "\"%s\"", wrong[i]);
    }
}
END_TEST

static TCase *case_hex(void) {
    TCase *tcase = tcase_create("hex");
    tcase_add_test(tcase, every_byte_is_written_in_two_digits_and_read_in_either_case);
    tcase_add_test(tcase, what_is_no_digit_has_no_value);
    return tcase;
}

SUITE_MAIN("base/hex", case_hex)
