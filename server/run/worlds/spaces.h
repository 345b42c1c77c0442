// SPDX-License-Identifier: MIT
// Namespaces: whose a world, a group or a snapshot is. They count from 1, as the server's tokens
// name them (access/access.h). Who looks has a *view*: one of them, or SPACE_ALL, which sees
// everything; so does everybody where there are no such tokens, and there everything is of
// SPACE_ALL.
//
// Beside the list of all, what is listed stands in a list of its namespace, so that nobody's list
// costs what others have. Loop thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SPACE_ALL = 0 };

static inline bool space_is_seen(uint32_t space, uint32_t view) {
    return view == SPACE_ALL || space == view;
}

typedef struct SpaceList {
    void **item; // [count] owned, the items are borrowed
    uint32_t count;
    size_t capacity;
} SpaceList;

typedef struct Spaces {
    SpaceList *list; // [count] owned
    size_t count, capacity;
} Spaces;

void spaces_deinit(Spaces *spaces);

// Room for one more of this namespace, which is not SPACE_ALL. false: memory ended.
bool spaces_reserve(Spaces *spaces, uint32_t space);

// Returns where it stands in its list. There is room.
uint32_t spaces_add(Spaces *spaces, uint32_t space, void *item);

// What stands there goes; the one that takes its place is returned, NULL: none.
void *spaces_remove(Spaces *spaces, uint32_t space, uint32_t index);

uint32_t spaces_count(const Spaces *spaces, uint32_t space);
void *spaces_at(const Spaces *spaces, uint32_t space, uint32_t index); // NULL: past the end
