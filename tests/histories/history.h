// SPDX-License-Identifier: MIT
// A history: what a world is told, call by call, through its door, and what is done with the whole
// of it in between. Ids are those that a fresh world gives, so that a history is the same wherever
// it is played.
#pragma once

#include "base/arena.h"
#include "run/worlds/input.h"

enum { HISTORY_SLOTS = 4, HISTORY_SEEDS = 1 << 16 };

typedef enum DeedKind {
    DEED_INPUT,   // through the door
    DEED_TAKE,    // a snapshot, into a slot
    DEED_RESTORE, // what is in a slot; nothing where it is empty
    DEED_CLONE,   // goes on in a world that was read from this one's snapshot, with nothing cached
    DEED_SCENE,   // goes on in the world that this one's scene makes
    DEED_GROUP,   // asks whether groups of this world are what they should be, by a seed
    DEED_UNITS,   // asks whether it moves alike in other units, which the slot is the seed of
    DEED_TURN,    // asks whether it moves alike turned, moved, mirrored or in another order
    DEED_MEMORY,  // asks whether its steps take no more memory the more of them there are
    DEED_KIND_COUNT
} DeedKind;

typedef struct Deed {
    DeedKind kind;
    uint32_t slot; // of those that name one; or a seed
    Input input;   // what it points to lives in an arena
} Deed;

// What must hold; findings name it.
typedef enum Property {
    PROPERTY_VALID,   // worlds are as their headers say: what is not is named before it does harm
    PROPERTY_ALIVE,   // no assertion, no signal, no sanitizer, no end of time
    PROPERTY_FINITE,  // every number of the state fits a float, orientations are unit
    PROPERTY_REFUSED, // what was refused has changed nothing
    PROPERTY_BYTES,   // world_bytes is what is allocated
    PROPERTY_FAULT,   // numbers of every day do not fault; a fault leaves the state before
    PROPERTY_AGAIN,   // snapshots are taken back, and what was taken goes on with the same bits
    PROPERTY_SCENE,   // the scene of the world that a scene makes is that scene
    PROPERTY_REPLAY,  // encoded inputs do what inputs did
    PROPERTY_JUDGE,   // the tests' own certificate agrees
    PROPERTY_ENERGY,  // nothing is unexplained, and nobody runs away
    PROPERTY_RECORD,  // recordings verify and replay, forward, backward and from within
    PROPERTY_UNITS,   // the same bits whatever the units
    PROPERTY_TURNED,  // the same motion wherever one looks from
    PROPERTY_MEMORY,  // what a step takes does not depend on how many were before it
    PROPERTY_COUNT
} Property;

extern const char *const property_names[PROPERTY_COUNT];

typedef struct Finding {
    bool is_found;
    Property property;
    char place[96];  // what tells it from others: an assertion's file and line, a sentence's stem
    char words[512]; // for people
} Finding;

typedef struct History {
    Deed *deed;
    size_t count;
    uint32_t phase; // how it is played (play_init)
} History;

// Whether a world has a tree of the kind that is stepped link by link (step/trees/flight.h).
bool history_has_wide_tree(const World *world);
