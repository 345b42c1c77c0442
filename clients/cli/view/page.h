// SPDX-License-Identifier: MIT
// The page that shows episodes and worlds: where it is, and what to say where it is not.
#pragma once

#include "cli/cli.h"

#include <stddef.h>

typedef struct Page {
    char *text; // owned
    size_t count;
} Page;

// `path` is what was typed; NULL: the page that came with this program. EXIT_DONE, or says why not
// and returns the status to end with; then there is nothing to free.
int page_load(Cli *cli, const char *path, Page *page);
void page_free(Page *page);
