// SPDX-License-Identifier: MIT
// The main function of every test program: SUITE_MAIN("net/frame", case_decode, case_limits) runs
// the named cases, each a function that returns a TCase. Check forks every test; CK_FORK=no turns
// that off for a debugger.
#pragma once

#include <check.h>
#include <stdlib.h>

// Check writes every assertion that holds into a file, and reads them all again, to say after which
// one a test ended by a signal. In a loop of a million that takes longer than what is tested; here
// a line that was just written is not written again.
static inline void suite_mark_point(const char *file, int line) {
    enum { LINES = 64 };                     // those of a loop
    static _Thread_local int written[LINES]; // threads assert, too
    if (written[line % LINES] != line) {
        written[line % LINES] = line;
        _mark_point(file, line);
    }
}
#define _mark_point(file, line) suite_mark_point(file, line)

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
