// SPDX-License-Identifier: MIT
// A comparison as the reply of EpisodeCompare.
#pragma once

#include "base/arena.h"
#include "moreau.pb-c.h"
#include "replay/compare/compare.h"

// As many samples as a reply of so many bytes holds of each of so many runs.
uint64_t compare_reply_sample_count_max(size_t bytes, size_t runs);

// A run as its message, but for what is known of its recording; in the arena, NULL when it ends. It
// borrows the run. `first`: the step from which the run's own are counted.
Moreau__V1__EpisodeRun *compare_reply_run(const CompareRun *run, uint64_t first, bool is_variant,
                                          Arena *arena);
