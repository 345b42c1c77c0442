// SPDX-License-Identifier: MIT
// The page that a server shows: a file, read once, when it starts.
#pragma once

#include "base/status.h"

// The text, which the caller frees. INVALID_ARGUMENT names the option: the file cannot be read, has
// a zero in it, or is longer than PAGE_FILE_BYTES_MAX.
enum { PAGE_FILE_BYTES_MAX = 64 << 20 };
Status page_file_read(const char *path, char **text, Error *error);
