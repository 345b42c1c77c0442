// SPDX-License-Identifier: MIT
// Rows of benchmarks as a table of 100 columns, or as one JSON document.
#pragma once

#include "bench/bench.h"

#include <stdio.h>

void table_print(FILE *out, const BenchRow *rows, size_t count);

// One line of the list of benches, which is a JSON list.
void table_print_name(FILE *out, const char *name, const char *about, bool is_first, bool is_last);

// {"error": {"message"}}
void table_print_error(FILE *out, const char *sentence);

void table_print_json(FILE *out, const BenchRow *rows, size_t count, double seconds);
