// SPDX-License-Identifier: MIT
// The page that a server shows: a file, read once, when it starts.
#pragma once

#include "base/status.h"

#include <stdbool.h>

// The text, which the caller frees. INVALID_ARGUMENT names the option: the file cannot be read, has
// a zero in it, or is longer than PAGE_FILE_BYTES_MAX.
enum { PAGE_FILE_BYTES_MAX = 64 << 20 };
Status page_file_read(const char *path, char **text, Error *error);

// The page that came with this program: in share/moreau beside it, as a build has it, or beside its
// folder, as an installation has it. false: there is none.
enum { PAGE_FILE_PATH_BYTES = 4096 };
bool page_file_find(char path[PAGE_FILE_PATH_BYTES]);
