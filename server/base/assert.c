// SPDX-License-Identifier: MIT
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>

void assert_failed(const char *file, int line, const char *condition) {
    fprintf(stderr, "moreau: assertion failed at %s:%d: %s\n", file, line, condition);
    abort();
}
