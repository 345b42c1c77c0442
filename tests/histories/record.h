// SPDX-License-Identifier: MIT
// A history on file: what passes a door is recorded as the server does it, in a file of the
// process, and of the world behind every recorded step hashes are kept. When a recording ends, the
// file is asked whether it says the same: it is verified, played forward, played backward, and gone
// on from in another world, which is recorded in turn.
//
// When recordings begin and end, and what they hold, follows from a seed. It knows no history, so
// that whoever plays stored episodes can be used beside it.
#pragma once

#include "run/worlds/door.h"
#include "simulate/dice.h"

// What was not as it should be.
typedef struct RecordDoubt {
    char place[64];
    char words[400];
} RecordDoubt;

// The world behind a step, before anything else was done to it, as hashes.
typedef struct RecordMoment {
    uint64_t state;
    uint64_t shown; // bodies and joints
    uint64_t told;  // the step's report and contacts; 0: there is none
} RecordMoment;

typedef struct Record {
    Dice dice;
    WorldLimits limits;
    bool is_wanted;
    uint8_t episode[UID_BYTES]; // that is being recorded
    RecordMoment *moment;       // [count] owned; by step of the episode
    size_t count, capacity;
    uint64_t unconverged; // of its steps
    // the world as it was behind one of them, each as likely as the next
    Dice pick;
    uint8_t *live; // owned
    size_t live_bytes;
    uint64_t live_step;
} Record;

// The folder for the files of processes that are forked from now on; removed with what is in it.
void record_make_folder(void);
void record_remove_folder(void);

// Seed 0: nothing is ever recorded.
void record_init(Record *record, uint64_t seed, const WorldLimits *limits);
void record_deinit(Record *record);

// Before each deed: perhaps a recording of the door begins. true: the one that is should end.
bool record_turns(Record *record, Door *door);

// Before each step: waits until the file has caught up.
void record_await(Door *door);

// After each step that was done.
void record_step(Record *record, const Door *door, const StepReport *report);

// A recording of the door begins, of any kind; its episode's id.
void record_begin(Record *record, Door *door, uint8_t episode[UID_BYTES]);

// Ends it. Then it can be found in the file, until it is forgotten.
void record_stop(Door *door);
void record_forget(const uint8_t episode[UID_BYTES]);

// Ends what is being recorded, and asks. false: something is wrong.
bool record_end(Record *record, Door *door, RecordDoubt *doubt);
