// SPDX-License-Identifier: MIT
// What a validator finds: the first thing of a structure that is not as its header says, by name
// and index, and what is wrong with it. Validators look at all there is and change nothing; they
// stand beside what they judge, in files of their own (world/world_valid.h and the like). Dev
// builds ask them after every input and every step, the histories' campaign in all builds.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct Defect {
    const char *thing; // "body"; NULL: none was found
    size_t index;
    const char *what; // "its orientation is no unit quaternion"
} Defect;

// Notes the defect and says false, so that a check reads: return defect_set(…).
bool defect_set(Defect *defect, const char *thing, size_t index, const char *what);

// Prints the place and the defect, then aborts, as an assertion does.
_Noreturn void defect_stop(const char *file, int line, const Defect *defect);

// Asks a validator, with what it takes before the defect, in the builds in which VALIDATE is on.
#ifdef MOREAU_VALIDATE
#define VALIDATE_WHOLE(validator, ...)                                                             \
    do {                                                                                           \
        Defect defect_found = {0};                                                                 \
        if (!validator(__VA_ARGS__, &defect_found)) {                                              \
            defect_stop(__FILE__, __LINE__, &defect_found);                                        \
        }                                                                                          \
    } while (0)
#else
#define VALIDATE_WHOLE(validator, ...) ((void)0)
#endif
