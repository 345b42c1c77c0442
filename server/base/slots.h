// SPDX-License-Identifier: MIT
// Handles: an id is a slot number plus one in the low 32 bits and the slot's generation in the
// high 32. Zero is no id; an id whose thing is gone finds nothing, also when the slot is used
// again. Slots are given in ascending order as long as none was freed, so a fresh table counts 1,
// 2, 3 …. Freed slots are reused oldest first. Belongs to one thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t Id;

typedef struct Slot {
    uint32_t generation; // of the present or next use
    uint32_t index;      // where the thing is now; or, in a free slot, the next free slot
    bool used;
} Slot;

typedef struct Slots {
    Slot *slot; // owned
    size_t capacity;
    uint32_t count;      // slots ever used
    uint32_t used_count; // slots in use
    uint32_t free_first; // UINT32_MAX: none
    uint32_t free_last;
    uint32_t reuse_from; // freed slots rest until so many slots were used: small ids for people; 0:
                         // at once
} Slots;

void slots_init(Slots *slots);
void slots_deinit(Slots *slots);

// Makes room, so that the next `count` calls of slots_add cannot fail.
bool slots_reserve(Slots *slots, size_t count);

// A new id for the thing at `index`. Room must have been reserved.
Id slots_add(Slots *slots, uint32_t index);

// false: the id names nothing
bool slots_find(const Slots *slots, Id id, uint32_t *index);

// The thing has moved, or is gone; the id must be known.
void slots_move(Slots *slots, Id id, uint32_t index);
void slots_remove(Slots *slots, Id id);
