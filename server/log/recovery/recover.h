// SPDX-License-Identifier: MIT
// `moreau-server --recover FILE`: mends what a crash or a failing disk left, and says what it
// found. What is true stands in the sealed chunks; rows that say something else are made again from
// them.
#pragma once

#include "base/status.h"

#include <stdio.h>

// Rolls a hot journal back, takes the write-ahead log in, marks open recordings `interrupted` at
// their last committed step, reads every chunk and says which are damaged, makes rows right that
// say something else than the chunks, gives recordings without an episode theirs again, and leaves
// one file in rollback-journal mode. Indexes that miss rows are built anew. A file that SQLite
// itself finds damaged (cut short, a page or the header changed) is not touched: what can be read
// of it, through SQLite or page by page, is copied into `FILE.recovered`, and mended there. A
// sentence per find, and a summary, go to `out`.
// FAILED_PRECONDITION: the file is of a newer version, or too old, and nothing was written.
// DATA_LOSS when something was lost; other statuses when nothing could be done.
Status recover_file(const char *path, FILE *out, Error *error);
