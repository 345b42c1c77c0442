// SPDX-License-Identifier: MIT
// A group being recorded: turns its calls into chunks of the log, range by range, and its finished
// episodes into rows.
//
//   lane:  rows of a call on one range ──► open chunk of that range ──► log_put
//   loop:  calls, in the order they came ──► finished episodes ──► returns ──► batches ──► log_put
//
// A range is one block of the farm: whoever has the block has its chunk, so that no lock is needed,
// and no range knows of another. What a range's chunks hold depends on the calls alone, and so does
// the order of the episodes: a call's come when all calls before it are over. Where chunks and
// batches are cut depends on time as well: what has waited for a second is handed over.
//
// Steps of a recording are counted in calls on a range: step k is the state right after the k-th
// call there. Each says which call on the group it was: so one knows which of them all ranges have.
//
// Now and then, each at another call, a range writes a key-frame (keyframe.h): from there on
// its episodes, or all of the group, are gone on from without what came before.
//
// It never fails and never blocks: when the log is full, group_recorder_is_ready says so before the
// next call; when the log has failed, what comes is thrown away.
#pragma once

#include "log/log.h"
#include "run/groups/opinions.h"
#include "run/worlds/recorder.h"

// A state is hashed at the beginning of an episode, behind so many of its steps, again and again,
// and at its end: as each state follows from the one before, a hash stands for all steps up to it.
enum { GROUP_HASH_STEPS = 16 };

typedef struct GroupRecorder GroupRecorder;

typedef struct GroupRecorderDef {
    const GroupDef *def;     // what the group was made of
    uint32_t range;          // worlds per range, at most GROUP_RANGE_MAX
    bool wants_returns;      // a finished episode waits for what the client counts
    uint64_t keyframe_steps; // calls on a range between two key-frames
    bool has_parent;         // the group goes on from where a recorded one was …
    uint8_t parent[UID_BYTES];
    uint64_t parent_step; // … behind this call of it
    const char *name;
    size_t label_count;
    const char *const *label;
    const char *client, *group_name;
    const char *space; // Nullable: the namespace that sees it
    Use *use;          // Nullable: whose limit it ends at
    SceneProc *print_scene;
} GroupRecorderDef;

// `wait` is done when the recording is committed. The group has begun no episode, or it has a
// parent, and then each range is begun (group_recorder_begin_range) before its first call.
Status group_recorder_start(Log *log, const GroupRecorderDef *def, Group *group, LogWait *wait,
                            GroupRecorder **recorder, Error *error);

// No call is under way. Ends the recording; nothing is left of it. `wait`: as of log_end.
void group_recorder_stop(GroupRecorder *recorder, RecordingState state, LogWait *wait);

const uint8_t *group_recorder_uid(const GroupRecorder *recorder); // of its first episode
size_t group_recorder_bytes(const GroupRecorder *recorder);       // of memory
Status group_recorder_status(const GroupRecorder *recorder, Error *error);

// Whether a call may go on; else `wait` is done when it may. Any thread.
bool group_recorder_is_ready(GroupRecorder *recorder, LogWait *wait);

// ---- the lane that has the range

// Rows of a call, all of one range.
typedef struct GroupRowsOfRange {
    const GroupCall *call;
    uint64_t number;       // of the call, as group_recorder_open_call gave it …
    uint64_t ranges;       // … and on how many ranges it is
    const uint32_t *order; // [first, end) of these rows; NULL: of the call's themselves
    size_t first, end;
} GroupRowsOfRange;

// They have been carried out. Writes the episodes that are over into `finished`, which has room for
// one per row, and returns how many.
size_t group_recorder_add(GroupRecorder *recorder, uint32_t range, const GroupRowsOfRange *rows,
                          EpisodeRecord *finished);

// What the range's worlds are when a recording with a parent begins: its first key-frame.
void group_recorder_begin_range(GroupRecorder *recorder, uint32_t range);

void group_recorder_flush_range(GroupRecorder *recorder, uint32_t range);
bool group_recorder_has_open_chunk(const GroupRecorder *recorder, uint32_t range); // any thread

// ---- the loop thread

// A call has come; what it is called by below.
uint64_t group_recorder_open_call(GroupRecorder *recorder);
uint64_t group_recorder_calls(const GroupRecorder *recorder); // that have come

// Episodes that the call has finished, of rising rows; then that it is over.
void group_recorder_take(GroupRecorder *recorder, uint64_t call, const EpisodeRecord *finished,
                         size_t count);
void group_recorder_close_call(GroupRecorder *recorder, uint64_t call);

// What a client counted, world by world, and (Nullable) what of it in doubtful steps: of the oldest
// episode of each that waits, among those of calls before this one.
void group_recorder_add_returns(GroupRecorder *recorder, uint64_t call, const uint32_t *world,
                                const double *value, const double *doubtful, size_t count);
bool group_recorder_wants_returns(const GroupRecorder *recorder);

// Of each call of a group with second opinions, in the order of the calls: what was found of its
// steps.
void group_recorder_judge(GroupRecorder *recorder, uint64_t call, const OpinionFound *found,
                          size_t count);

void group_recorder_flush(GroupRecorder *recorder); // batches
