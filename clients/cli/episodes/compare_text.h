// SPDX-License-Identifier: MIT
// A comparison in words: the runs side by side, and how far they are apart over time.
#pragma once

#include "cli/cli.h"

enum { COMPARE_LABEL_BYTES = 48 };

typedef struct CompareLabel {
    char text[COMPARE_LABEL_BYTES]; // of a run: "recorded", "ccp", "1/480 s"
} CompareLabel;

// Columns that a server may have left out, or made of other lengths, are shown as empty ones.
// `label`: of each of the reply's runs.
void compare_print(const Moreau__V1__EpisodeInfo *episode,
                   const Moreau__V1__EpisodeCompareReply *reply, const CompareLabel *label);
