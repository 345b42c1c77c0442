// SPDX-License-Identifier: MIT
// What is said to who has something of another version of the dynamics.
#include "step/snapshot/release.h"
#include "step/snapshot/snapshot.h"

#include "support/suite.h"

#include <string.h>

START_TEST(who_has_an_older_recording_is_told_which_release_proves_it) {
    char text[RELEASE_ADVICE_BYTES];
    ck_assert_str_eq(release_advice(8, text),
                     " Release 0.1.0 has it: pip install moreau-sim==0.1.0 brings its server, and "
                     "its moreau verify.");
}
END_TEST

START_TEST(what_no_release_had_is_said) {
    char text[RELEASE_ADVICE_BYTES];
    ck_assert_str_eq(release_advice(1, text), " No release had it.");
    ck_assert_ptr_nonnull(strstr(release_advice(DYNAMICS_VERSION + 1, text), "--upgrade"));
    ck_assert_ptr_nonnull(strstr(release_advice(UINT64_MAX, text), "--upgrade"));
}
END_TEST

START_TEST(the_version_of_now_has_a_release) {
    char text[RELEASE_ADVICE_BYTES];
    ck_assert_ptr_nonnull(strstr(release_advice(DYNAMICS_VERSION, text), "pip install"));
}
END_TEST

static TCase *case_releases(void) {
    TCase *tcase = tcase_create("releases");
    tcase_add_test(tcase, who_has_an_older_recording_is_told_which_release_proves_it);
    tcase_add_test(tcase, what_no_release_had_is_said);
    tcase_add_test(tcase, the_version_of_now_has_a_release);
    return tcase;
}

SUITE_MAIN("step/release", case_releases)
