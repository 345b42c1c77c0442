// SPDX-License-Identifier: MIT
// Growing arrays owned by worlds and caches. Capacity grows by halves, from 256 items on by
// quarters, and is not given back before the owner dies, so that a steady state allocates nothing;
// but for what was made room for and then refused.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// Makes room for `count` items of `item_bytes` at *items (owned, may be NULL when *capacity is 0),
// keeping what is there. Returns false, with everything as it was, when memory ends.
bool array_reserve(void **items, size_t *capacity, size_t count, size_t item_bytes);

// The same for a typed pointer: ARRAY_RESERVE(world->pose, world->pose_capacity, count).
#define ARRAY_RESERVE(items, capacity, count)                                                      \
    array_reserve((void **)&(items), &(capacity), (count), sizeof(*(items)))

// Takes the capacity back to what it was before room was made that is not needed after all. Where
// the system does not take the memory, the capacity stays as it is.
void array_give_back(void **items, size_t *capacity, size_t before, size_t item_bytes);

#define ARRAY_GIVE_BACK(items, capacity, before)                                                   \
    array_give_back((void **)&(items), &(capacity), (before), sizeof(*(items)))
