// SPDX-License-Identifier: MIT
// Things of an episode, bodies or joints, that come and go, as the columns of a matrix that has a
// row per frame and a place for each thing there ever was.
#pragma once

#include "cli/files/npz.h"

#include <stdint.h>
#include <stdio.h>

typedef struct SpreadThing {
    uint64_t id;
    uint32_t axes; // of a joint; an id that comes back with others is another thing
} SpreadThing;

// What is gathered frame by frame: which things there are, and then as many numbers of each as the
// columns want. Files are the save stream's spools.
typedef struct Spread {
    FILE *counts; // per frame: how many things, and how many it lists below: all, or 0: as before
    FILE *things; // SpreadThing, of the frames that list them
    SpreadThing *last; // owned: of the frame before
    size_t last_count, last_capacity;
    SpreadThing *all; // owned: each there ever was, rising
    size_t all_count, all_capacity;
    size_t most; // things in a frame
} Spread;

// false: save->error says why.
bool spread_open(Spread *spread, SaveStream *save);
void spread_close(Spread *spread); // also of zeros

void spread_add(Spread *spread, SaveStream *save, const SpreadThing *things, size_t count);

// An array of frames x numbers (x width, where that is above 1). What is not there is NaN.
typedef struct SpreadArray {
    const char *name;
    FILE *values; // doubles, thing after thing, frame after frame; NULL: booleans, who is there
    const uint64_t *first; // [all_count + 1] where the numbers of each thing begin
    uint64_t width;        // doubles to each of them: 7 of a pose
} SpreadArray;
void spread_write(const Spread *spread, Npz *npz, uint64_t frames, const SpreadArray *array);
