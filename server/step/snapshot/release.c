// SPDX-License-Identifier: MIT
#include "step/snapshot/release.h"

#include <stdbool.h>
#include <stdio.h>

typedef struct Release {
    uint64_t dynamics_version;
    const char *version;
} Release;

static const Release releases[] = {
    {8, "0.1.0"},
    {10, "0.2.0"},
};

enum { RELEASE_COUNT = sizeof(releases) / sizeof(releases[0]) };

const char *release_advice(uint64_t dynamics_version, char text[RELEASE_ADVICE_BYTES]) {
    for (size_t i = 0; i < RELEASE_COUNT; i++) {
        if (releases[i].dynamics_version == dynamics_version) {
            snprintf(text, RELEASE_ADVICE_BYTES,
                     " Release %s has it: pip install moreau-sim==%s brings its server, and its "
                     "moreau verify.",
                     releases[i].version, releases[i].version);
            return text;
        }
    }
    const bool is_newer = dynamics_version > releases[RELEASE_COUNT - 1].dynamics_version;
    snprintf(text, RELEASE_ADVICE_BYTES, " %s",
             is_newer ? "It is of a newer release: pip install --upgrade moreau-sim."
                      : "No release had it.");
    return text;
}
