// SPDX-License-Identifier: MIT
// What recovery finds.
#pragma once

#include <stdint.h>
#include <stdio.h>

typedef struct Finds {
    FILE *out; // where a sentence per find goes
    uint64_t episodes, interrupted, chunks, damaged, mended, doubled, remade;
} Finds;
