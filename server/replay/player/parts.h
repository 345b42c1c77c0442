// SPDX-License-Identifier: MIT
// The player's insides, shared by the files that make it:
//
//   player.c          its life, key-frames, where it stands
//   mark.c            places on the way, to go back to
//   track.c           chunks of one kind, one after the other (track.h)
//   walk.c            the stored inputs, one after the other, and the hashes behind them
//   check.c           the stored frames, contact lists and key-frames on the way
//   events.c          the stored events on the way
//   group_player.c    instead of all these, of an episode of a group
//   compare.c         what differs between a world and what is stored of it
#pragma once

#include "log/format/entries.h"
#include "log/format/frames.h"
#include "replay/player/played.h"
#include "replay/player/group_player.h"
#include "replay/player/player.h"
#include "replay/player/track.h"
#include "replay/player/wardrobe.h"
#include "run/worlds/notes.h"
#include "run/worlds/touches.h"

// The entry under way.
typedef struct PlayerEntry {
    bool is_open;
    size_t at; // where it begins in its chunk
    Entry entry;
    bool is_order;   // of steps
    uint32_t hashed; // how many of its hashes were compared
    Input input;     // decoded, of the arena
    StepRun run;
    Arena arena;
} PlayerEntry;

enum { TRACK_FRAMES, TRACK_CONTACTS, TRACK_KEYFRAMES, TRACK_COUNT };

struct Player {
    GroupPlayer *group; // owned; of an episode of a group, and then all else is idle
    Door door;
    const EpisodeRow *episode; // borrowed
    WorldLimits limits;
    Wardrobe wardrobe;
    uint64_t step, unconverged;
    bool has_state;   // a key-frame was put in
    bool is_arrived;  // nothing has changed the world since the step that it stands behind
    bool is_stopped;  // player_is_stopped
    Error lost;       // why it cannot go on from where it stands; status OK: it can
    bool is_checking; // of the last player_run
    double time;      // [s] simulated since the recording's step 0
    Track inputs;
    ChunkPlace passed; // the last chunk of inputs begun, or the key-frame it started from
    Notes notes;       // of the steps of the chunk of inputs at hand
    bool has_notes;    // … and they are still to be compared
    Touches touches;   // up to the player's step …
    bool has_touches;  // … where they are known
    PlayerEntry entry;
    Played played; // what it did last
    uint64_t hash; // of the state
    Track track[TRACK_COUNT];
};

// ---- player.c

// Where a player stands between two chunks of inputs.
typedef struct PlayerPlace {
    uint64_t step;
    double time;       // [s] simulated since the recording's step 0
    ChunkPlace passed; // the next chunk of inputs is the first behind this place
} PlayerPlace;

// It stands there, with a world that it owns from here on.
void player_settle(Player *player, World *world, const PlayerPlace *place);

// ---- walk.c

typedef enum Walked {
    WALKED_NOWHERE, // nothing is left of what may be done
    WALKED_ON,
    WALKED_STOPPED // told to stop inside a step, which has not happened
} Walked;

// Does what was done next, player->played: one change, one step, or one that failed. `settle`: only
// what was done before the next step. A difference that cannot be stepped over leaves the player
// lost.
Status player_walk(Player *player, LogReader *reader, bool settle, Arena *scratch,
                   const Context *context, Walked *walked, PlayerDifference *difference,
                   Error *error);

// Opens the next entry of the chunk at hand, as the one under way.
Status player_open_entry(Player *player, PlayerDifference *difference, Error *error);

// Whether the player stands between two chunks of inputs; the next one, if any, is at hand then.
Status player_at_border(Player *player, LogReader *reader, bool *is_border, Error *error);

// ---- check.c

// Compares the stored frames, contacts and key-frames that are due where the player stands, up to
// the first that differs, or that is not there: of several missing in a row, the first is told.
Status player_check(Player *player, LogReader *reader, Arena *scratch, PlayerDifference *difference,
                    Error *error);

// The chunk of inputs at hand was gone through: compares what is noted of its steps with what it
// says of itself.
Status player_check_notes(Player *player, LogReader *reader, Arena *scratch,
                          PlayerDifference *difference, Error *error);

// ---- events.c: nothing of it is done where no events were recorded, or nobody checks

// A chunk of inputs begins: right behind a key-frame, those who touch there are taken from the
// events in front of it. When those are not there, that is the difference.
Status player_begin_events(Player *player, LogReader *reader, Arena *scratch,
                           PlayerDifference *difference, Error *error);

// The player has taken a step.
Status player_add_events(Player *player, Error *error);

// The chunk of inputs at hand was gone through: compares its events with those that were made.
Status player_check_events(Player *player, LogReader *reader, Arena *scratch,
                           PlayerDifference *difference, Error *error);

// The hash after the player's step is not what it should be: looks for a key-frame or frame there
// and fills in what differs. Finds nothing where there is none, or where it is damaged.
void player_explain(const Player *player, LogReader *reader, Arena *scratch,
                    PlayerDifference *difference);

// ---- compare.c: true when all bits are the same; otherwise body, quantity, expected and
// value are filled in

// A frame and whose it is.
typedef struct PlayerFrame {
    const uint64_t *ids;
    size_t body_count;
    const FrameJoints *joints; // NULL: nothing is known of them
    const StateFrame *frame;
} PlayerFrame;

bool player_compare_frame(const PlayerFrame *expected, const PlayerFrame *found,
                          PlayerDifference *difference);
bool player_compare_contacts(const ContactList *expected, const ContactList *found,
                             PlayerDifference *difference);
