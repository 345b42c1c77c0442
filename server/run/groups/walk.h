// SPDX-License-Identifier: MIT
// One episode of one world of a group, carried out again from what was recorded of it: the world is
// made as the group's definition says, begins the episode as the recorded call did, and takes the
// rows that were its, through the functions that the group itself is stepped by. The hashes on the
// way are compared. Where the calls come from is the caller's:
//
//   group_walk_make ──► group_walk_take, of each call on the range in turn ──► group_walk_begin, of
//   the one that began the episode; group_walk_step of those behind it
#pragma once

#include "log/format/entries.h"
#include "run/groups/code.h"
#include "run/groups/input.h"

// What was found to be otherwise than recorded.
typedef struct GroupDifference {
    bool is_found;
    bool is_nonsense; // what stands in the call cannot be: it goes on from "it …"
    uint64_t expected_hash, found_hash;
    char message[384]; // as an Error's
} GroupDifference;

typedef struct GroupWalk {
    Group *group; // of one world; NULL: not made yet
    uint32_t hash_steps;
    uint32_t world;       // in its range
    void *numbers;        // of the row under way
    bool is_in_row;       // a step was stopped in the middle
    bool is_paced;        // steps are, where the action is in force and behind each substep
    uint64_t unconverged; // substeps
    uint64_t doubtful;    // steps of the group
    Gain gain;            // of the substeps since whoever walks cleared it
    uint64_t before;      // steps of the episode that were taken elsewhere, in front of these
    uint64_t compared;    // steps in front of the last state whose hash was the recorded one
    Entry entry;          // under way
    GroupInput input;
    GroupCall call;
} GroupWalk;

// What the walk needs lives in the arena, but for the group, which group_walk_end destroys.
Status group_walk_make(GroupWalk *walk, const GroupCode *code, uint32_t world_in_range,
                       const WorldLimits *limits, Arena *memory, Error *error);
void group_walk_end(GroupWalk *walk);

static inline GroupWorld *group_walk_world(const GroupWalk *walk) {
    return &walk->group->world[0];
}

// Steps of the episode, of those that are recorded here.
static inline uint64_t group_walk_steps(const GroupWalk *walk) {
    return group_walk_world(walk)->length - walk->before;
}

// The next call on the range. DATA_LOSS goes on from "it …". The entry's bytes are borrowed until
// the next one.
Status group_walk_take(GroupWalk *walk, const Entry *entry, uint64_t calls, Error *error);

// Whether the call that was taken named the world.
bool group_walk_is_named(const GroupWalk *walk);

// By the call that was taken the episode of this seed and turn began.
void group_walk_begin(GroupWalk *walk, uint64_t seed, uint64_t turn, Arena *scratch,
                      GroupDifference *difference);

// By the call that was taken, which named the world, it takes a step. false: stopped inside it.
bool group_walk_step(GroupWalk *walk, Arena *scratch, const Context *context,
                     GroupDifference *difference);

// Whether the action of that step was applied: one that cannot be is refused, and nothing is done.
bool group_walk_has_acted(const GroupWalk *walk);
