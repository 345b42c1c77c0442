// SPDX-License-Identifier: MIT
// Rows of benchmarks as a table of 100 columns, or as one JSON document.
#pragma once

#include "bench/bench.h"

#include <stdio.h>

void table_print(FILE *out, const BenchRow *rows, size_t count);

void table_print_json(FILE *out, const BenchRow *rows, size_t count, double seconds);
