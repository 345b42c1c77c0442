// SPDX-License-Identifier: MIT
// Files of tokens: what is read, and what is refused as a whole, with the line and the reason.
#include "access/token_file.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "# moreau tokens 1\n"
#define A63  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define A64  A63 "a"
#define B64  "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define A    "sha256:" A64
#define B    "sha256:" B64
#define N16  "nnnnnnnnnnnnnnnn"

// What is wrong is said; "": nothing is.
static const struct {
    const char *text, *says;
} rows[] = {
    {HEAD "# end 0\n", ""},
    {HEAD "# end 0", ""},
    {HEAD "alice " A " watch\n# end 1\n", ""},
    {HEAD "\n# a remark\n  alice\t" A "  watch,step   namespace=lab  \n# end 1\n", ""},
    {HEAD "alice " A " none\nuid:1000 - admin\nuid:0 - watch\n# end 3\n", ""},
    {"", "first line"},
    {"# moreau tokens 2\n# end 0\n", "first line"},
    {"alice " A " watch\n# end 1\n", "first line"},
    {HEAD, "half of it is missing"},
    {HEAD "alice " A " watch\n", "half of it is missing"},
    {HEAD "alice " A " wat", "half of it is missing"},
    {HEAD "alice " A " watch\n# end 2\n", "says 2 tokens, and it holds 1"},
    {HEAD "alice " A " watch\nbob " B " watch\n# end 1\n", "says 1 tokens, and it holds 2"},
    {HEAD "# end 0\nalice " A " watch\n", "Line 2 ends the file, and more follows"},
    {HEAD "# end 0\n\n", "more follows"},
    {HEAD "# end 00\n", "half of it is missing"},
    {HEAD "# end 99999999999999999999\n", "half of it is missing"},
    {HEAD "alice " A " watch\nalice " B " step\n# end 2\n", "A name stands in it twice"},
    {HEAD "alice " A " watch\nbob " A " step\n# end 2\n", "A token stands in it twice"},
    {HEAD "uid:7 - watch\nuid:7 - step\n# end 2\n", "A name stands in it twice"},
    {HEAD "alice " A "\n# end 1\n", "Line 2 has no rights"},
    {HEAD "alice " A " watch,\n# end 1\n", "no rights"},
    {HEAD "alice " A " watch,watch\n# end 1\n", "no rights"},
    {HEAD "alice " A " Watch\n# end 1\n", "no rights"},
    {HEAD "alice " A " none,watch\n# end 1\n", "no rights"},
    {HEAD "alice\n# end 1\n", "no sha256:"},
    {HEAD "alice secret watch\n# end 1\n", "no sha256:"},
    {HEAD "alice sha256:abc watch\n# end 1\n", "no sha256:"},
    {HEAD "alice " A "a watch\n# end 1\n", "no sha256:"},
    {HEAD "alice sha256:A" A63 " watch\n# end 1\n", "lower case"},
    {HEAD "alice - watch\n# end 1\n", "no sha256:"},
    {HEAD "uid:7 " A " watch\n# end 1\n", "must have -"},
    {HEAD "uid: - watch\n# end 1\n", "a name of other signs"},
    {HEAD "uid:07 - watch\n# end 1\n", "a name of other signs"},
    {HEAD "uid:4294967295 - watch\n# end 1\n", "a name of other signs"},
    {HEAD "al/ice " A " watch\n# end 1\n", "a name of other signs"},
    {HEAD ".alice " A " watch\n# end 1\n", "a name of other signs"},
    {HEAD N16 N16 N16 N16 " " A " watch\n# end 1\n", "no name of at most 63"},
    {HEAD "alice " A " watch colour=red\n# end 1\n", "does not know"},
    {HEAD "alice " A " watch namespace=\n# end 1\n", "a namespace of other"},
    {HEAD "alice " A " watch worlds=4096 bytes=8G requests=1 namespace=a\n# end 1\n", ""},
    {HEAD "alice " A " watch worlds=0\n# end 1\n", "no number from 1 to 2^60 behind worlds="},
    {HEAD "alice " A " watch worlds=8K\n# end 1\n", "no number from 1 to 2^60 behind worlds="},
    {HEAD "alice " A " watch bytes=G\n# end 1\n", "behind bytes= (which may end in"},
    {HEAD "alice " A " watch bytes=1073741825G\n# end 1\n", "behind bytes="},
    {HEAD "alice " A " watch requests=-1\n# end 1\n", "behind requests="},
    {HEAD "alice " A " watch weight=100\n# end 1\n", ""},
    {HEAD "alice " A " watch lanes=255 weight=3\n# end 1\n", ""},
    {HEAD "alice " A " watch lanes=256\n# end 1\n", "no number from 1 to 255 behind lanes="},
    {HEAD "alice " A " watch lanes=1 lanes=1\n# end 1\n", "has lanes= twice"},
    {HEAD "alice " A " watch weight=101\n# end 1\n", "no number from 1 to 100 behind weight="},
    {HEAD "alice " A " watch worlds=1 worlds=2\n# end 1\n", "worlds= twice"},
    {HEAD "alice " A " watch namespace=a namespace=b\n# end 1\n", "namespace= twice"},
    {HEAD "alice " A " watch namespace=a/b\n# end 1\n", "a namespace of other signs"},
    {HEAD "alice " A " watch\r\n# end 1\r\n", "carriage return"},
};

START_TEST(a_file_is_read_or_refused_with_a_sentence) {
    TokenFile file;
    Error error = {0};
    const size_t bytes = strlen(rows[_i].text);
    const Status status = token_file_parse(rows[_i].text, bytes, &file, &error);
    ck_assert_msg((status == STATUS_OK) == (rows[_i].says[0] == '\0'), "%s", error.message);
    ck_assert_msg(strstr(error.message, rows[_i].says) != NULL, "it says: %s", error.message);
    token_file_free(&file);
}
END_TEST

START_TEST(a_row_says_who_may_do_what) {
    static const char text[] =
        HEAD "bob " B " none\n# x\nalice " A
             " step,admin namespace=lab worlds=3 bytes=2048\nuid:12 - watch,record\n# end 3\n";
    TokenFile file;
    Error error = {0};
    ck_assert_int_eq(token_file_parse(text, sizeof(text) - 1, &file, &error), STATUS_OK);
    ck_assert_uint_eq(file.count, 3);
    const TokenRow *alice = token_file_find(&file, "alice"), *bob = token_file_find(&file, "bob"),
                   *user = token_file_find(&file, "uid:12");
    ck_assert_ptr_nonnull(alice);
    ck_assert_ptr_nonnull(bob);
    ck_assert_ptr_nonnull(user);
    ck_assert_ptr_null(token_file_find(&file, "eve"));
    ck_assert_uint_eq(alice->rights, RIGHT_STEP | RIGHT_ADMIN);
    ck_assert_str_eq(alice->space, "lab");
    ck_assert_uint_eq(alice->digest[31], 0xaa);
    ck_assert_uint_eq(alice->limits.worlds, 3);
    ck_assert_uint_eq(alice->limits.bytes, 2048);
    ck_assert_uint_eq(alice->limits.requests, USE_NO_LIMIT);
    ck_assert_uint_eq(bob->rights, RIGHTS_NONE);
    ck_assert_str_eq(bob->space, TOKEN_SPACE_DEFAULT);
    ck_assert(user->is_uid && !bob->is_uid);
    ck_assert_uint_eq(user->uid, 12);
    char line[TOKEN_LINE_BYTES];
    const size_t bytes = token_file_print(alice, line);
    ck_assert_uint_eq(bytes, alice->end - alice->begin);
    ck_assert_int_eq(memcmp(line, text + alice->begin, bytes), 0);
    token_file_free(&file);
}
END_TEST

START_TEST(a_zero_byte_and_too_much_of_it_are_refused) {
    static const char zero[] = HEAD "al\0ice " A " watch\n# end 1\n";
    TokenFile file;
    Error error = {0};
    ck_assert_int_eq(token_file_parse(zero, sizeof(zero) - 1, &file, &error),
                     STATUS_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "zero byte") != NULL, "%s", error.message);
    enum { MUCH = 10 << 20 };
    char *much = malloc(MUCH);
    ck_assert_ptr_nonnull(much);
    memset(much, '\n', MUCH);
    memcpy(much, HEAD, sizeof(HEAD) - 1);
    ck_assert_int_eq(token_file_parse(much, MUCH, &file, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_msg(strstr(error.message, "longer than 1048576 bytes") != NULL, "%s", error.message);
    free(much);
}
END_TEST

static TCase *case_files(void) {
    TCase *tcase = tcase_create("files");
    tcase_add_loop_test(tcase, a_file_is_read_or_refused_with_a_sentence, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, a_row_says_who_may_do_what);
    tcase_add_test(tcase, a_zero_byte_and_too_much_of_it_are_refused);
    return tcase;
}

SUITE_MAIN("access/token_file", case_files)
