// SPDX-License-Identifier: MIT
// The player (player.h) of an episode of a group's world: one world is made as the group's
// definition says, begins the episode as the recorded call did, and takes the rows that were its,
// through the functions that the group itself is stepped by. The hashes on the way are compared.
// Key-frames of its range of worlds (run/groups/keyframe.h) lead to the steps behind them; one
// whose first steps are in the recording's parent begins with the first of them and counts from it.
//
// Functions are as their namesakes of player.h. Steps are those of the group in this episode.
#pragma once

#include "replay/player/played.h"
#include "replay/player/player.h"
#include "run/groups/group.h"

typedef struct GroupPlayer GroupPlayer;

// `episode` is borrowed for the player's life. NULL when memory ends.
GroupPlayer *group_player_open(const EpisodeRow *episode, const WorldLimits *limits);
void group_player_close(GroupPlayer *player); // Nullable

// `difference` Nullable: the state at step 0 is another one; else that is DATA_LOSS.
Status group_player_seek(GroupPlayer *player, LogReader *reader, uint64_t step,
                         PlayerDifference *difference, Error *error);
Status group_player_run(GroupPlayer *player, LogReader *reader, uint64_t step, bool check,
                        Arena *scratch, uint64_t until_ns, const Context *context,
                        PlayerDifference *difference, Error *error);

// Does the next thing, of the next call if none is under way; *played says what, and is nothing
// where the call was on others. *is_done false: it was stopped before that.
Status group_player_walk(GroupPlayer *player, LogReader *reader, Arena *scratch,
                         const Context *context, bool *is_done, Played *played,
                         PlayerDifference *difference, Error *error);

const Group *group_player_group(const GroupPlayer *player);

bool group_player_would_end(const GroupPlayer *player, const Door *other, double time_step,
                            Arena *scratch);

bool group_player_is_stopped(const GroupPlayer *player);
bool group_player_is_over(const GroupPlayer *player);
uint64_t group_player_step(const GroupPlayer *player);
World *group_player_world(GroupPlayer *player);
const StepReport *group_player_report(const GroupPlayer *player);
const Stepper *group_player_stepper(const GroupPlayer *player);
uint64_t group_player_unconverged(const GroupPlayer *player);
size_t group_player_bytes(const GroupPlayer *player);
