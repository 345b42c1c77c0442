// SPDX-License-Identifier: MIT
// Requests that wait for their last answer, oldest first. Their ids rise, so one is found by
// halving; one that is over is only marked until those before it are over too, or room is wanted:
// so thousands may wait, and be answered in any order.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Asked {
    uint64_t id;
    uint8_t *frame; // owned, Nullable; as it was sent, with its header
    size_t frame_bytes;
    bool has_events; // some of its events have come
    bool is_over;    // nobody waits for it any more
} Asked;

typedef struct AskedList {
    Asked *item;       // owned
    size_t first, end; // of those that may wait
    size_t capacity;
    size_t count; // of those that do
} AskedList;

void asked_deinit(AskedList *list);

// Room for one more. false: memory ended.
bool asked_reserve(AskedList *list);

// Its id is above those of all before it, and there is room. `frame` is the list's from now on.
void asked_add(AskedList *list, uint64_t id, uint8_t *frame, size_t frame_bytes);

// NULL: none with this id waits.
Asked *asked_find(const AskedList *list, uint64_t id);

// It is over. Other entries stay where they are.
void asked_forget(AskedList *list, Asked *asked);
