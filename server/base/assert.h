// SPDX-License-Identifier: MIT
// A bug stops the process: ASSERT is on in every build and is only for what our own code can break.
// Nothing a client can send may reach one. VALIDATE is for checks dearer than the work they guard;
// it is on in the sanitizer builds.
#pragma once

// Prints the place and the broken condition, then aborts.
_Noreturn void assert_failed(const char *file, int line, const char *condition);

#define ASSERT(condition)                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!(condition), 0)) {                                                   \
            assert_failed(__FILE__, __LINE__, #condition);                                         \
        }                                                                                          \
    } while (0)

#ifdef MOREAU_VALIDATE
#define VALIDATE(condition) ASSERT(condition)
#else
#define VALIDATE(condition) ((void)0)
#endif
