// SPDX-License-Identifier: MIT
// The worlds of a server, and its groups of worlds, page by page.
#pragma once

#include "cli/cli.h"

enum { WORLD_PAGE_ROWS = 1000, GROUP_PAGE_ROWS = 1000 };

// The reply with up to WORLD_PAGE_ROWS worlds from the first-th on, which is the caller's to free;
// NULL, after a sentence on standard error, when it is refused: then *status is what to return.
Moreau__V1__Reply *world_page_fetch(Cli *cli, uint64_t first, int *status);

// Likewise, with up to GROUP_PAGE_ROWS groups.
Moreau__V1__Reply *group_page_fetch(Cli *cli, uint64_t first, int *status);
