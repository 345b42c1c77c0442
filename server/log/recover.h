// SPDX-License-Identifier: MIT
// `moreau-server --recover FILE`: mends what a crash left, and says what it found.
#pragma once

#include "base/status.h"

#include <stdio.h>

// Takes the write-ahead log in, marks open recordings `interrupted` at their last committed step,
// reads every chunk and says which are damaged, and leaves one file in rollback-journal mode. A
// file that SQLite itself finds damaged (cut short, say) is not touched: what can be read of it is
// copied into `FILE.recovered`. A sentence per find, and a summary, go to `out`. DATA_LOSS when
// something was lost; other statuses when nothing could be done.
Status recover_file(const char *path, FILE *out, Error *error);
