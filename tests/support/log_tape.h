// SPDX-License-Identifier: MIT
// A small recording in a file of its own, with everything in it that can be done to a world, and
// the world's state after each of its steps; a player over it; and the file opened up for editing.
// What cannot be is a failed test.
#pragma once

#include "replay/player/player.h"

enum { TAPE_STEPS_MAX = 400, TAPE_STRIDE = 3, TAPE_KEYFRAME_STEPS = 16 };

extern const WorldLimits tape_limits;

typedef struct TapeState {
    uint8_t *bytes; // a snapshot
    size_t count;
} TapeState;

// Bodies by id: 1 the ground, 2 a ball at rest on it, 3 a box that falls, 4 a ball above; 5 comes
// later. Behind step 20 gravity changes, and body 2 is pushed with 3 N along x. At the end body 4
// leaves the bounds that there are then.
typedef struct Tape {
    char folder[32], path[64];
    Arena arena;
    Door door;
    TapeState state[TAPE_STEPS_MAX]; // by step
    TapeState end;                   // after the last change
    uint64_t steps, unconverged;
    uint64_t fault_step; // behind which a step failed
    LogReader *reader;
    EpisodeRow row;
    Player *player;
} Tape;

Tape *tape_open(void);
void tape_close(Tape *tape);

// The reader and the player alone: the row is read again.
void tape_open_reader(Tape *tape);
void tape_close_reader(Tape *tape);

// Seeks without finding damage.
void tape_seek(Tape *tape, uint64_t to);
PlayerDifference tape_play(Tape *tape, uint64_t to, bool check);

void tape_expect_state(Tape *tape, TapeState expected);

// All of it is as it was recorded.
void tape_expect_whole(Tape *tape);

// The player cannot go on from where it stands.
void tape_expect_lost(Tape *tape);

// From the next key-frame behind `to` on everything is as it was recorded.
void tape_expect_sound_behind(Tape *tape, uint64_t to);

// ---- the file

void tape_sql(const Tape *tape, const char *sql);

typedef struct TapeBlob {
    int64_t id;
    ChunkKind kind;
    uint64_t first_step, last_step;
    uint8_t *bytes; // owned
    size_t count;
} TapeBlob;

// The `index`-th chunk of this kind. False: there are not so many.
bool tape_read_blob(const Tape *tape, ChunkKind kind, int index, TapeBlob *blob);

// The chunk of inputs that leads away from this step.
TapeBlob tape_inputs_behind(const Tape *tape, uint64_t from);

void tape_write_blob(const Tape *tape, const TapeBlob *blob);
void tape_write_mended(const Tape *tape, TapeBlob *blob); // with the right checksum

// The difference is damage of this chunk, and names it.
void tape_expect_damage(const PlayerDifference *difference, const TapeBlob *blob);
