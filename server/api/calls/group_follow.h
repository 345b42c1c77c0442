// SPDX-License-Identifier: MIT
// Who follows a run: the recorder of a group that is recorded, and the second opinions of one that
// has them.
#pragma once

#include "api/calls/group_run.h"

// Those that the run has, once its call is filled; of one that does nothing no recorder.
void group_follow(GroupRun *run);

// What finished episodes earned, which has passed.
void group_add_returns(GroupRecorder *recorder, uint64_t call, const GroupReturns *returns);

// The row at a place of the run's order.
static inline size_t group_run_row_at(const GroupRun *run, size_t place) {
    return run->order == NULL ? place : run->order[place];
}
