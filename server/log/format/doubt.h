// SPDX-License-Identifier: MIT
// Doubtful steps of episodes, as SQL: how episodes rank by them, and the index that has that order.
#pragma once

// What of an episode's return was earned in doubtful steps, as a share of both of its parts,
// whatever their signs: -1 to 1. NULL: nobody said it.
#define DOUBTFUL_SHARE_SQL                                                                         \
    "return_doubtful / max(abs(return_doubtful) + abs(return_sum - return_doubtful), 1e-300)"

#define EPISODE_BY_DOUBT_SQL                                                                       \
    "CREATE INDEX episode_by_doubt ON episode(" DOUBTFUL_SHARE_SQL ")\n"                           \
    "  WHERE return_doubtful IS NOT NULL"
