// SPDX-License-Identifier: MIT
// moreau episodes EPISODE --touches: which bodies touched in an episode, as a table.
#pragma once

#include "cli/cli.h"

// At most `limit` rows. An exit status, after a sentence when it is refused.
int touches_show(Cli *cli, const char *episode, uint64_t limit);
