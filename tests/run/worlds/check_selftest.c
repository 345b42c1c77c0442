// SPDX-License-Identifier: MIT
// The server's own test gives the golden bits in every build that is tested, and in one whose
// compiler fuses multiplications and additions it gives others.
#include "run/worlds/selftest.h"

#include "support/suite.h"

#include <inttypes.h>
#include <stdio.h>

START_TEST(this_build_computes_the_golden_bits) {
    uint64_t hash = selftest_hash();
    if (getenv("MOREAU_PRINT_GOLDEN") != NULL) {
        printf("the server's own test: 0x%016" PRIx64 "u\n", hash);
    } else {
        ck_assert_msg(hash == selftest_golden(),
                      "it gives 0x%016" PRIx64 ", golden is 0x%016" PRIx64, hash,
                      selftest_golden());
    }
}
END_TEST

START_TEST(it_gives_the_same_twice) {
    ck_assert_uint_eq(selftest_hash(), selftest_hash());
}
END_TEST

static TCase *case_selftest(void) {
    TCase *tcase = tcase_create("selftest");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, this_build_computes_the_golden_bits);
    tcase_add_test(tcase, it_gives_the_same_twice);
    return tcase;
}

SUITE_MAIN("run/selftest", case_selftest)
