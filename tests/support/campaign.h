// SPDX-License-Identifier: MIT
// How much of its campaigns a test runs: random cases, rounds of kills and cuts, simulated seeds.
// One number scales them all: MOREAU_CAMPAIGN_SCALE, from the environment, or else as the build was
// configured: 1 is what a change must pass, sanitizers do with less, deploy/test --all with more.
#pragma once

#include <stdlib.h>

// `count` times the scale; at least 1.
static inline int campaign_count(int count) {
    const char *text = getenv("MOREAU_CAMPAIGN_SCALE");
    double scale = text == NULL ? MOREAU_CAMPAIGN_SCALE : strtod(text, NULL);
    double scaled = (double)count * scale;
    return scaled < 1.0 ? 1 : scaled > 1e9 ? 1000000000 : (int)scaled;
}
