// SPDX-License-Identifier: MIT
// Finished episodes as a table of SQLite, so that one statement inserts all of a chunk: a statement
// for each would open the table and its index again, and take every number by a call.
//
//     SELECT … FROM episode_rows(?1)     -- ?1: an EpisodeSource *, bound by episode_rows_bind
//
// Its columns are those of the table `episode` in the order of EPISODE_ROWS_COLUMNS; what a row has
// not is NULL. Numbers of episodes count on from the first one's.
#pragma once

#include "log/format/definition.h"

#include <sqlite3.h>

// One record, or all of a chunk.
typedef struct EpisodeSource {
    const EpisodeRecord *record;   // Nullable
    const EpisodesChunk *episodes; // Nullable
} EpisodeSource;

#define EPISODE_ROWS_COLUMNS                                                                       \
    "number, world_index, first_step, last_step, state, simulated_s, seed, return_sum, begun_ns, " \
    "ended_ns, unconverged, worst_own, worst_penetration, contacts_max, hardest_impact, "          \
    "hardest_impact_step, energy_gain, energy_gain_step, parent, parent_step, length, turn, "      \
    "doubtful_steps, return_doubtful, opinions, opinion_gap_max, gain, gain_scale, gain_step"

// A result code of SQLite.
int episode_rows_register(sqlite3 *db);

// `source` is borrowed until the statement is done.
void episode_rows_bind(sqlite3_stmt *statement, int index, EpisodeSource *source);
