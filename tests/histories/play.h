// SPDX-License-Identifier: MIT
// Plays a history, deed by deed, and asks after each what must hold. Beside the world itself its
// *twin* goes along, which is told the same as a recording tells it, encoded and read again: from
// the first deed on, and then ever again made anew of a snapshot, or left behind where the main one
// goes on in a copy of itself. After every deed and every step both have the same hash.
#pragma once

#include "histories/history.h"
#include "histories/record.h"
#include "run/worlds/door.h"

#include <stdarg.h>

enum { PLAY_MAIN, PLAY_TWIN, PLAY_DOORS };

// A twin is made anew after so many deeds, and goes along for so many steps; and what a history
// may cost, in what a solver does between two questions, some milliseconds at most.
enum { PLAY_PHASES = 5, PLAY_TWIN_STEPS = 20, PLAY_QUESTIONS_MAX = 100, PLAY_DOING_BYTES = 32 };

typedef struct PlayTally {
    uint64_t deeds, refused, steps, wide_steps, faults, asked, scenes;
    uint64_t groups, groups_refused, group_rows, recorded;
    // what primitives may wear, calls that brought some, and contacts of steps at those that do
    uint64_t hulls, surfaces, geometries_refused, hull_contacts, surface_contacts;
    // of worlds seen otherwise (ask_turned.h)
    uint64_t units, units_beyond, turned, turned_pairs, turned_seams, turned_answers, turned_open,
        turned_loose, turned_thrown, turned_thrown_otherwise;
    uint64_t rounds; // of steps made over and over (ask_memory.h)
} PlayTally;

typedef struct Play {
    WorldLimits limits; // with the shelf of all of its worlds
    Door door[PLAY_DOORS];
    bool has_twin;
    uint64_t twin_steps; // since it was made
    bool is_calm;        // no number was ever but one of every day
    bool is_starved;     // a step was left open for which its solver was given less than by default
    bool gains;          // it was told to gain energy in its steps (ask_energy.h)
    uint32_t asks_one_in; // of its deeds
    uint32_t phase;       // at which deeds a twin is made
    Record record;        // of the main world, in some histories
    uint64_t number;      // of the deed
    uint64_t questions;   // whether to stop that steps have asked
    bool is_over;         // they asked too often: a step was given up, and nothing follows
    Arena scratch, memory;
    uint8_t *slot[HISTORY_SLOTS]; // owned
    size_t slot_bytes[HISTORY_SLOTS];
    Finding *finding;
    char *doing; // Nullable: is told what is done, for whoever lives on
    PlayTally tally;
} Play;

// Of `phase` the remainder by PLAY_PHASES says at which deeds a twin is made, and the quotient is
// the seed of recordings; 0: there are none.
void play_init(Play *play, uint32_t phase, Finding *finding);
void play_deinit(Play *play);

// false: something was found.
bool play_deed(Play *play, const Deed *deed);

// Behind the last deed: what is being recorded ends, and is asked. false: something was found.
bool play_end(Play *play);

// Writes down what was found, unless something was before; returns false.
bool play_found(Play *play, Property property, const char *place, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
