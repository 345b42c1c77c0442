// SPDX-License-Identifier: MIT
// A stored episode, stepped again: a world of its own behind a door of its own, fed with the stored
// inputs from the nearest key-frame on, checking every hash on its way. Replay of what was not
// stored, verification, forks and comparisons are all this.
//
// Belongs to one thread at a time; long work stops at `until_ns` or when `context` says so, and
// goes on with the next call.
#pragma once

#include "log/reader/reader.h"
#include "replay/player/played.h"
#include "run/worlds/door.h"

typedef struct Player Player;

// What was found when a stored hash, frame or key-frame was not what the steps gave.
typedef struct PlayerDifference {
    bool found;
    uint64_t step;
    uint64_t expected_hash, found_hash; // 0: the difference is in a frame or key-frame
    int64_t chunk;                      // row id of the chunk that differs or is damaged; 0: none
    uint32_t chunk_kind;
    bool is_damage; // the chunk's bytes are broken, or gone; the sentence says how
    uint64_t body;  // id of the first body that differs, where a frame or key-frame tells; 0: none
    char quantity[32]; // "position.x", "velocity.wz", "mass" …; "": unknown
    double expected, value;
    char message[384];
} PlayerDifference;

// DATA_LOSS, of a call that needs what the recording says: it is not what its steps give.
Status player_tell_difference(const PlayerDifference *difference, Error *error);

// `episode` is borrowed for the player's life. FAILED_PRECONDITION: another dynamics version,
// naming both.
Status player_open(Player **player, const EpisodeRow *episode, const WorldLimits *limits,
                   Error *error);
void player_close(Player *player);

// Starts again from the last sound key-frame at or before `step`, unless the player stands between
// it and `step` already. Damaged key-frames on the way are passed over, and the first of them is
// put into `difference` (Nullable). OUT_OF_RANGE beyond the episode; DATA_LOSS when no key-frame is
// left or a lossy recording dropped the step. Other damage in between is found by player_run.
Status player_seek(Player *player, LogReader *reader, uint64_t step, PlayerDifference *difference,
                   Error *error);

// A place on the way, to go back to as player_seek goes to a key-frame.
typedef struct PlayerMark PlayerMark;

// Right behind a step, of a player that is not lost. NULL: memory ended, or the episode is of a
// group, which can only be begun again.
PlayerMark *player_mark(const Player *player);
void player_mark_free(PlayerMark *mark); // Nullable
uint64_t player_mark_step(const PlayerMark *mark);
size_t player_mark_bytes(const PlayerMark *mark);

// Goes back (or on) to a mark that it made. DATA_LOSS: what was read there before is not there now.
Status player_return(Player *player, LogReader *reader, const PlayerMark *mark, Error *error);

// Steps on to `step` at most, until `until_ns` (clock_now_ns) has passed or `context` (Nullable)
// says stop; at least one. There the world is as it was right after that step, before later
// changes.
//
// A difference ends it with STATUS_OK and difference->found. The next call goes on behind a frame,
// a list of contacts or a key-frame that differs or is damaged. Behind inputs that are damaged, are
// refused or lead to another state it cannot, nor into a gap of a lossy recording: then it returns
// DATA_LOSS until player_seek has taken another key-frame.
//
// `check`: also compares the stored frames, contacts and key-frames met on the way, misses frames
// and contacts that the episode should have there, and, at the episode's last step, goes through
// what was done to the world behind it, until `context` says stop.
Status player_run(Player *player, LogReader *reader, uint64_t step, bool check, Arena *scratch,
                  uint64_t until_ns, const Context *context, PlayerDifference *difference,
                  Error *error);

// Does the next thing behind where it stands, which *played tells, and checks its hashes.
// *is_stopped: `context` said stop before that was done, and it is to be asked for again. A
// difference is as that of player_run.
Status player_next(Player *player, LogReader *reader, Arena *scratch, const Context *context,
                   bool *is_stopped, Played *played, PlayerDifference *difference, Error *error);

// Whether `context` ended the last player_run: there is more to do, also when it stands at its
// step.
bool player_is_stopped(const Player *player);

// At the last step, and, of a group, behind what calls did after it, as one that was stopped within
// its substeps: that is no step.
bool player_is_over(const Player *player);

uint64_t player_step(const Player *player);            // where it stands
World *player_world(Player *player);                   // its state there; not to be changed
const Stepper *player_stepper(const Player *player);   // contacts of the last step, where has_last
const StepReport *player_report(const Player *player); // of the last step, likewise
uint64_t player_unconverged(const Player *player);     // steps taken by this player that were not
size_t player_bytes(const Player *player);             // memory held
uint64_t player_hash(const Player *player);            // of its world's state

// Of its world's steps, as the next one is taken: [s], and how many make one of the episode (more
// than one where that is a group's).
double player_time_step(const Player *player);
uint64_t player_substeps(const Player *player);

// Of an episode of a group, once it has been sought; else NULL. Borrowed.
const struct Group *player_group(const Player *player);

// Whether the rules of its group would end an episode behind a step that left a world so: its own,
// or (Nullable) another one that did the same, with this time step [s]. false: of no group.
bool player_would_end(const Player *player, const Door *other, double time_step, Arena *scratch);
