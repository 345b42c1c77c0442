// SPDX-License-Identifier: MIT
// Histories played in a process of their own, so that one that ends it is a finding like others.
#pragma once

#include "histories/make.h"
#include "histories/play.h"

// How a history is made: the seed of each of its deeds, so that one can be left out and the others
// are made for the world as it then stands.
typedef struct Roll {
    uint32_t prologue; // which of it; MAKE_PROLOGUE: any deed
    uint64_t seed;
} Roll;

typedef struct Recipe {
    Mood mood;
    MakeScale scale;
    uint32_t phase;
    Roll *roll;
    size_t count;
} Recipe;

enum { TRIAL_TEXT_BYTES = 1 << 23 };

// What a child tells, in memory shared with it.
typedef struct TrialReport {
    Finding finding;
    PlayTally tally;
    uint64_t history; // which of many is being played …
    uint64_t deed;    // … and which deed of it
    char doing[PLAY_DOING_BYTES];
    size_t text_count;
    char text[TRIAL_TEXT_BYTES]; // deeds that were made, a line of JSON each, where it is asked to
} TrialReport;

TrialReport *trial_report(void); // one for ever; NULL: no memory

// How long a seed's history may be, and of which kind it is.
typedef struct Pace {
    size_t deeds;
    bool is_brisk, is_sunken, is_wide;
} Pace;

// The recipe of a seed; its rolls live in the arena.
Recipe trial_recipe(uint64_t seed, Pace pace, Arena *arena);

// Each plays in a child and returns the finding. `writes`: the deeds that were made are in
// trial_report()->text.
Finding trial_play_recipe(const Recipe *recipe, bool writes);
Finding trial_play_history(const History *history, uint32_t phase);

// Plays the seeds first … first + count - 1 in one child, until one finds something: that one is
// report->history.
Finding trial_play_seeds(uint64_t first, uint64_t count, Pace pace);

// Whether two are the same, as far as can be told.
bool trial_is_same(const Finding *a, const Finding *b);
