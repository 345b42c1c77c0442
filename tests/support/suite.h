// SPDX-License-Identifier: MIT
// The main function of every test program: SUITE_MAIN("net/frame", case_decode, case_limits) runs
// the named cases, each a function that returns a TCase. Check forks every test; CK_FORK=no turns
// that off for a debugger.
#pragma once

#include <check.h>
#include <stdlib.h>

typedef TCase *SuiteCase(void);

static inline int suite_run(const char *name, SuiteCase *const *cases, size_t case_count) {
    Suite *suite = suite_create(name);
    for (size_t i = 0; i < case_count; i++) {
        suite_add_tcase(suite, cases[i]());
    }
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#define SUITE_MAIN(name, ...)                                                                      \
    int main(void) {                                                                               \
        SuiteCase *const cases[] = {__VA_ARGS__};                                                  \
        return suite_run(name, cases, sizeof(cases) / sizeof(cases[0]));                           \
    }
