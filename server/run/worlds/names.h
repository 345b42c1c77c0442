// SPDX-License-Identifier: MIT
// The worlds of a host by their names: open addressing, a power of two of places, at most half of
// them taken. It grows without a pause, as it may hold tens of thousands: beside the new table the
// old one stays, and each name that is added brings some of it over. Loop thread.
#pragma once

#include "run/worlds/entry.h"

// The hash stands beside the entry, so that a table grows without a look at the entries: each would
// be waited for.
typedef struct NamePlace {
    uint64_t hash;
    WorldEntry *entry; // borrowed; NULL: free
} NamePlace;

typedef struct NameTable {
    NamePlace *place; // owned
    size_t capacity;  // 0 or a power of two
} NameTable;

typedef struct Names {
    NameTable now, old; // a name is in one of them, or, until the old one goes, in both
    size_t moved;       // of the old one's places have been brought over
    size_t count;
} Names;

void names_deinit(Names *names);

// Room for one more. false: memory ended.
bool names_reserve(Names *names);

// NULL: none has this name in this namespace
WorldEntry *names_find(const Names *names, const char *name, uint32_t space);
void names_add(Names *names, WorldEntry *entry);          // there is room, and no such name
void names_remove(Names *names, const WorldEntry *entry); // it is there
