// SPDX-License-Identifier: MIT
// The episode of a run: begun before the first step, ended after the last.
#pragma once

#include "cli/cli.h"

typedef struct RecordingOptions {
    const char *content; // Nullable: nothing is recorded; "": inputs
    const char *name;    // Nullable
    uint64_t stride;     // 0: not given
    OptionList labels;
    bool lossy, events;
} RecordingOptions;

// What the options say is not sensible is a usage error, after a sentence.
int recording_check(Cli *cli, const RecordingOptions *options);

// Both do nothing when nothing is recorded, and say on standard error why they fail. The answer
// holds what was recorded, and is the caller's to free; NULL: there is none.
int recording_start(Cli *cli, const RecordingOptions *options, uint64_t world);
int recording_stop(Cli *cli, const RecordingOptions *options, uint64_t world,
                   Moreau__V1__Reply **reply);

// One line: which episode it is, and what can be done with it.
void recording_print(const Moreau__V1__EpisodeInfo *episode);
