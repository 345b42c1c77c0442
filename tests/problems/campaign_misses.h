// SPDX-License-Identifier: MIT
// Why Newton's method did not come to the tolerance: how a problem that it missed moves, when its
// residual fell last, what rounding alone leaves, and whether anything else of ours solves it:
// more factorisations, sweeps, or Newton's method from where sweeps end that began elsewhere.
#pragma once

#include "problems/campaign.h"

#define CAMPAIGN_MISS_MAP(X)                                                                       \
    X(ROUNDING, "rounding: what doubles leave of its impulses is more than the tolerance")         \
    X(BUDGET, "budget: more factorisations solve it")                                              \
    X(START, "start: it is solved from elsewhere")                                                 \
    X(NEAR, "near: 1e-6 and better, but nothing of ours comes to 1e-8")                            \
    X(OPEN, "open: nothing of ours comes to 1e-6")

#define X(upper, text) CAMPAIGN_MISS_##upper,
typedef enum CampaignMissKind { CAMPAIGN_MISS_MAP(X) CAMPAIGN_MISS_COUNT } CampaignMissKind;
#undef X

// Solves each problem of a folder again, tries everything else, and prints what came of it.
void campaign_explain(const char *folder);
