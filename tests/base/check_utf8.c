// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

typedef struct Text {
    const char *bytes;
    bool is_utf8;
} Text;

static const Text texts[] = {
    {"", true},
    {"plain", true},
    {"\x7f", true},
    {"\xc2\x80", true}, // the least of two bytes …
    {"\xdf\xbf", true}, // … and the largest
    {"\xe0\xa0\x80", true},
    {"\xed\x9f\xbf", true}, // the last before the surrogates
    {"\xee\x80\x80", true}, // the first behind them
    {"\xef\xbf\xbf", true},
    {"\xf0\x90\x80\x80", true},
    {"\xf4\x8f\xbf\xbf", true}, // U+10FFFF
    {"\x80", false},            // a byte that only follows
    {"\xc0\x80", false},        // overlong
    {"\xc1\xbf", false},
    {"\xe0\x9f\xbf", false},
    {"\xf0\x8f\xbf\xbf", false},
    {"\xed\xa0\x80", false}, // a surrogate
    {"\xed\xbf\xbf", false},
    {"\xf4\x90\x80\x80", false}, // above U+10FFFF
    {"\xf5\x80\x80\x80", false},
    {"\xff", false},
    {"\xc2", false}, // cut off
    {"a\xe2\x82", false},
    {"\xf0\x9f\x98", false},
    {"\xc2\x41", false}, // the second byte does not follow
    {"\xe2\x82\x41", false},
};

START_TEST(utf8_is_told_from_what_is_not) {
    const Text *text = &texts[_i];
    const size_t bytes = strlen(text->bytes);
    ck_assert_int_eq(utf8_count((const uint8_t *)text->bytes, bytes) == bytes, text->is_utf8);
    char copy[16];
    snprintf(copy, sizeof(copy), "%s", text->bytes);
    ck_assert_int_eq(utf8_mend(copy), !text->is_utf8);
    ck_assert_uint_eq(strlen(copy), bytes);
    ck_assert_uint_eq(utf8_count((const uint8_t *)copy, bytes), bytes);
    ck_assert(!utf8_mend(copy));
}
END_TEST

START_TEST(what_belongs_to_no_character_is_replaced) {
    char text[] = "a\xff\xc3\xa9\xe2\x82z\x80";
    ck_assert_uint_eq(utf8_count((const uint8_t *)text, strlen(text)), 1);
    ck_assert(utf8_mend(text));
    ck_assert_str_eq(text, "a?\xc3\xa9??z?");
}
END_TEST

static TCase *case_utf8(void) {
    TCase *tcase = tcase_create("utf8");
    tcase_add_loop_test(tcase, utf8_is_told_from_what_is_not, 0, sizeof(texts) / sizeof(texts[0]));
    tcase_add_test(tcase, what_belongs_to_no_character_is_replaced);
    return tcase;
}

SUITE_MAIN("base/utf8", case_utf8)
