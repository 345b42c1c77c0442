// SPDX-License-Identifier: MIT
#include "run/worlds/names.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

// A new table is at most a quarter full, and has room for as many more names as the old one has
// places: two for each would do.
enum { CAPACITY_MIN = 64, MOVES_PER_NAME = 4 };

// Stands in the old table where a name was removed, so that those behind it are still found.
static WorldEntry removed;

void names_deinit(Names *names) {
    free(names->now.place);
    free(names->old.place);
    *names = (Names){0};
}

static uint64_t hash_of(const char *name, uint32_t space) {
    return hash_bytes(name, strlen(name), space);
}

// `hash` is of the name in its namespace.
static bool is_called(const NamePlace *place, const char *name, uint32_t space, uint64_t hash) {
    return place->hash == hash && place->entry != &removed && place->entry->space == space &&
           strcmp(place->entry->name, name) == 0;
}

// Where it is, or the first free place behind its hash. NULL: there is no table.
static NamePlace *find_in(const NameTable *table, const char *name, uint32_t space, uint64_t hash) {
    if (table->capacity == 0) {
        return NULL;
    }
    const size_t mask = table->capacity - 1;
    size_t at = (size_t)hash & mask;
    while (table->place[at].entry != NULL && !is_called(&table->place[at], name, space, hash)) {
        at = (at + 1) & mask;
    }
    return &table->place[at];
}

// One that is not there.
static void put(NameTable *table, NamePlace named) {
    ASSERT(table->capacity > 0);
    const size_t mask = table->capacity - 1;
    size_t at = (size_t)named.hash & mask;
    while (table->place[at].entry != NULL) {
        at = (at + 1) & mask;
    }
    table->place[at] = named;
}

// Those behind it may have been pushed on by it: they are put in again.
static void take_out(NameTable *table, NamePlace *place) {
    ASSERT(place >= table->place);
    ASSERT(place < table->place + table->capacity);
    const size_t mask = table->capacity - 1;
    place->entry = NULL;
    for (size_t at = ((size_t)(place - table->place) + 1) & mask; table->place[at].entry != NULL;
         at = (at + 1) & mask) {
        const NamePlace again = table->place[at];
        table->place[at].entry = NULL;
        put(table, again);
    }
}

// What was brought over stays in the old table, where others are found behind it.
static void move_some(Names *names) {
    NameTable *old = &names->old;
    for (int i = 0; i < MOVES_PER_NAME && names->moved < old->capacity; i++) {
        const NamePlace place = old->place[names->moved++];
        if (place.entry != NULL && place.entry != &removed) {
            put(&names->now, place);
        }
    }
    if (names->moved == old->capacity) {
        free(old->place);
        *old = (NameTable){0};
    }
}

bool names_reserve(Names *names) {
    if (2 * (names->count + 1) <= names->now.capacity) {
        return true;
    }
    ASSERT(names->old.capacity == 0);
    const size_t capacity = names->now.capacity == 0 ? CAPACITY_MIN : 2 * names->now.capacity;
    NamePlace *place = calloc(capacity, sizeof(*place));
    if (place == NULL) {
        return false;
    }
    names->old = names->now;
    names->moved = 0;
    names->now = (NameTable){place, capacity};
    return true;
}

WorldEntry *names_find(const Names *names, const char *name, uint32_t space) {
    const uint64_t hash = hash_of(name, space);
    const NamePlace *now = find_in(&names->now, name, space, hash);
    if (now != NULL && now->entry != NULL) {
        return now->entry;
    }
    const NamePlace *old = find_in(&names->old, name, space, hash);
    return old == NULL ? NULL : old->entry;
}

void names_add(Names *names, WorldEntry *entry) {
    ASSERT(entry->name[0] != '\0');
    put(&names->now, (NamePlace){.hash = hash_of(entry->name, entry->space), .entry = entry});
    names->count++;
    move_some(names);
    ASSERT(2 * names->count <= names->now.capacity);
}

void names_remove(Names *names, const WorldEntry *entry) {
    const uint64_t hash = hash_of(entry->name, entry->space);
    NamePlace *now = find_in(&names->now, entry->name, entry->space, hash);
    NamePlace *old = find_in(&names->old, entry->name, entry->space, hash);
    const bool is_new = now != NULL && now->entry != NULL,
               is_old = old != NULL && old->entry != NULL;
    ASSERT(is_new || is_old);
    if (is_old) {
        ASSERT(old->entry == entry);
        old->entry = &removed;
    }
    if (is_new) {
        ASSERT(now->entry == entry);
        take_out(&names->now, now);
    }
    names->count--;
}
