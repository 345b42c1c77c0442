// SPDX-License-Identifier: MIT
#include "base/defect.h"

#include <stdio.h>
#include <stdlib.h>

bool defect_set(Defect *defect, const char *thing, size_t index, const char *what) {
    *defect = (Defect){.thing = thing, .index = index, .what = what};
    return false;
}

void defect_stop(const char *file, int line, const Defect *defect) {
    fprintf(stderr, "moreau: assertion failed at %s:%d: %s %zu: %s\n", file, line, defect->thing,
            defect->index, defect->what);
    abort();
}
