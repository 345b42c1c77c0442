// SPDX-License-Identifier: MIT
#include "base/slots.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>

enum { SLOT_COUNT_MAX = INT32_MAX };

void slots_init(Slots *slots) {
    *slots = (Slots){.free_first = UINT32_MAX, .free_last = UINT32_MAX};
}

void slots_deinit(Slots *slots) {
    free(slots->slot);
    slots_init(slots);
}

bool slots_reserve(Slots *slots, size_t count) {
    if (count > SLOT_COUNT_MAX - (size_t)slots->count) {
        return false;
    }
    return ARRAY_RESERVE(slots->slot, slots->capacity, slots->count + count);
}

Id slots_add(Slots *slots, uint32_t index) {
    uint32_t number = slots->free_first;
    if (number != UINT32_MAX && slots->count >= slots->reuse_from) {
        slots->free_first = slots->slot[number].index;
        if (slots->free_first == UINT32_MAX) {
            slots->free_last = UINT32_MAX;
        }
    } else {
        number = slots->count++;
        ASSERT(number < slots->capacity);
        slots->slot[number].generation = 0;
    }
    slots->slot[number].index = index;
    slots->slot[number].used = true;
    slots->used_count++;
    return (Id)slots->slot[number].generation << 32 | (number + 1);
}

static Slot *find_slot(const Slots *slots, Id id) {
    uint32_t number = (uint32_t)id - 1; // id 0 wraps to a slot that never exists
    if (number >= slots->count) {
        return NULL;
    }
    Slot *slot = &slots->slot[number];
    return slot->used && slot->generation == (uint32_t)(id >> 32) ? slot : NULL;
}

bool slots_find(const Slots *slots, Id id, uint32_t *index) {
    const Slot *slot = find_slot(slots, id);
    if (slot == NULL) {
        return false;
    }
    *index = slot->index;
    return true;
}

void slots_move(Slots *slots, Id id, uint32_t index) {
    Slot *slot = find_slot(slots, id);
    ASSERT(slot != NULL);
    slot->index = index;
}

void slots_remove(Slots *slots, Id id) {
    Slot *slot = find_slot(slots, id);
    ASSERT(slot != NULL);
    uint32_t number = (uint32_t)id - 1;
    slot->used = false;
    slot->generation++;
    slot->index = UINT32_MAX;
    slots->used_count--;
    if (slots->free_last == UINT32_MAX) {
        slots->free_first = number;
    } else {
        slots->slot[slots->free_last].index = number;
    }
    slots->free_last = number;
}
