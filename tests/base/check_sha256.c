// SPDX-License-Identifier: MIT
// The examples of FIPS 180-4 and its lengths around a block's end.
#include "base/sha256.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *text;
    const char *digest;
} examples[] = {
    {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    {("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
      "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
     "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
};

static void expect_digest(const void *bytes, size_t count, const char *expected) {
    uint8_t digest[SHA256_BYTES];
    char text[SHA256_TEXT_BYTES];
    sha256(bytes, count, digest);
    sha256_text(digest, text);
    ck_assert_str_eq(text, expected);
}

START_TEST(examples_give_their_digests) {
    expect_digest(examples[_i].text, strlen(examples[_i].text), examples[_i].digest);
}
END_TEST

START_TEST(a_million_letters_give_theirs) {
    enum { COUNT = 1000000 };
    char *letters = malloc(COUNT);
    ck_assert_ptr_nonnull(letters);
    memset(letters, 'a', COUNT);
    expect_digest(letters, COUNT,
                  "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(letters);
}
END_TEST

// 55 bytes are the most that fit into one block with the length, 63 the most that need another.
START_TEST(lengths_around_the_end_of_a_block_differ) {
    uint8_t bytes[130] = {0}, seen[130][SHA256_BYTES];
    for (size_t count = 0; count < sizeof(bytes); count++) {
        sha256(bytes, count, seen[count]);
        for (size_t i = 0; i < count; i++) {
            ck_assert_mem_ne(seen[i], seen[count], SHA256_BYTES);
        }
    }
}
END_TEST

static TCase *case_sha256(void) {
    TCase *tcase = tcase_create("sha256");
    tcase_add_loop_test(tcase, examples_give_their_digests, 0,
                        sizeof(examples) / sizeof(examples[0]));
    tcase_add_test(tcase, a_million_letters_give_theirs);
    tcase_add_test(tcase, lengths_around_the_end_of_a_block_differ);
    return tcase;
}

SUITE_MAIN("base/sha256", case_sha256)
