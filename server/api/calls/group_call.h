// SPDX-License-Identifier: MIT
// Calls on the worlds of a group (GroupReset, GroupStep, GroupSend): cut along the group's blocks,
// one job per block in that block's own strand, so that calls on one world are in order; joined by
// a counter, the last block to finish makes the reply. A block gives its lane to others between two
// worlds.
#pragma once

#include "api/calls/group_run.h"
#include "wire/group_codec.h"

// Which worlds a call names.
typedef struct GroupMask {
    bool is_given;
    const uint8_t *bytes;
    size_t count;
} GroupMask;

static inline GroupMask group_mask(bool is_given, ProtobufCBinaryData mask) {
    return (GroupMask){.is_given = is_given, .bytes = mask.data, .count = mask.len};
}

// Finds the group and the worlds. From here on the request releases what the run holds.
Status group_run_prepare(Request *request, uint64_t group, GroupMask mask, GroupRun **run,
                         Error *error);

// Judges the length of a column of so many numbers per world.
Status group_run_check_column(const GroupRun *run, size_t length, size_t columns, const char *name,
                              Error *error);

// What is said of a row of this world that failed; the error's texts are borrowed.
void group_fill_failure(const Error *error, uint32_t world, Moreau__V1__Status *status);

// Why the entry's recording ended before it, in the arena. NULL: it has not, there is none, or
// memory ended.
const char *group_recording_ended(const GroupEntry *entry, Arena *arena);

// What a reply says of these rows of the entry, with their failures, in the arena, as far as a
// frame has room. false: memory ended.
bool group_run_list_failures(const Request *request, const GroupEntry *entry, GroupRows *rows,
                             Arena *arena);

// Actions of one kind or the other, which stay the caller's; blames their columns.
Status group_run_take_actions(GroupRun *run, size_t count, const float *action, size_t double_count,
                              const double *action_double, Error *error);

Status group_check_returns(const GroupEntry *entry, const GroupReturns *returns, Error *error);
Status group_run_take_returns(GroupRun *run, GroupReturns returns, Error *error);

// When the call is filled: judges it, and takes what memory it needs, for rows as well where it has
// none yet.
Status group_run_reserve(GroupRun *run, bool wants_rows, Error *error);

// Then submits every part: from here on the run answers and ends by itself.
void group_run_start(GroupRun *run);
