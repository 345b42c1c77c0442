// SPDX-License-Identifier: MIT
// Why Newton's method did not come to the tolerance: how a problem that it missed moves, how each
// of its curves ended, what rounding alone leaves, and whether sweeps do better, or Newton's method
// from where they end.
#pragma once

#include "problems/campaign.h"

#define CAMPAIGN_MISS_MAP(X)                                                                       \
    X(SOLVED, "solved: not missed any more")                                                       \
    X(ROUNDING, "rounding: what doubles leave of its impulses is more than the tolerance")         \
    X(START, "start: Newton's method solves it from where sweeps end")                             \
    X(BUDGET, "budget: a curve was cut off")                                                       \
    X(LOST, "lost: no curve was followed to its end")                                              \
    X(END, "end: a curve was followed to its end, or runs off, and solves nothing")

#define X(upper, text) CAMPAIGN_MISS_##upper,
typedef enum CampaignMissKind { CAMPAIGN_MISS_MAP(X) CAMPAIGN_MISS_COUNT } CampaignMissKind;
#undef X

// Solves each problem of a folder again, tries these, and prints what came of it.
void campaign_explain(const char *folder);
