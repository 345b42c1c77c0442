// SPDX-License-Identifier: MIT
// The queue of strands that are ready for a lane, fair between *owners* and their *shares*: whoever
// submits a job says whose share it comes out of (lane_share: a session's number, and whose session
// it is). Owners take turns, as many strands at a time as they have weight; within a turn of one,
// his shares do, a strand at a time. So a client with one short call waits for one chain of every
// other owner, or of every other session of his own, and not for the thousand worlds that one of
// them steps; and who opens many sessions has no more turns than who opens one.
//
// There are OWNER_COUNT owners, and SHARE_COUNT shares of each; numbers beyond are taken modulo:
// two clients of one share are merely first come, first served between themselves. Without tokens
// all are one owner's. A strand waits in the share of its first job. An owner for whom as many
// lanes work as may is *held*: he is not in the queue, and neither are his strands in its count.
//
// Part of lane.c, under the pool's lock; only queue_count may be asked without it.
#pragma once

#include "base/assert.h"
#include "run/lanes/lane.h"

enum { OWNER_COUNT = 64, SHARE_COUNT = 256 };

typedef struct Share Share;
typedef struct Owner Owner;

struct Share {
    Strand *head, *tail;
    Share *next; // with strands
};

struct Owner {
    Share *head, *tail; // whose turn it is among his, and will be
    Owner *next;        // with shares
    uint32_t turns;     // that he has before the next owner; of one with shares at least 1
    uint32_t count;     // of his strands
    bool is_held;       // he has some, and is not in the queue
    Share share[SHARE_COUNT];
};

typedef struct Queue {
    Owner *head, *tail; // whose turn it is, and will be
    _Atomic uint32_t count;
    _Atomic uint32_t held_count; // of strands of those that are held
    Owner owner[OWNER_COUNT];
} Queue;

// ---- strands

static inline void strand_append(Strand *strand, Job *job) {
    ASSERT(job != NULL);
    ASSERT((strand->head == NULL) == (strand->tail == NULL));
    job->next = NULL;
    if (strand->tail == NULL) {
        strand->head = job;
    } else {
        strand->tail->next = job;
    }
    strand->tail = job;
}

// Puts a chain back in front.
static inline void strand_prepend(Strand *strand, Job *chain) {
    ASSERT(chain != NULL);
    Job *last = chain;
    while (last->next != NULL) {
        last = last->next;
    }
    last->next = strand->head;
    strand->head = chain;
    if (strand->tail == NULL) {
        strand->tail = last;
    }
}

// Of two owners, one with a limit of lanes: each is counted for his own.
static inline bool share_parts(uint32_t a, uint32_t b) {
    return (a | b) >> 24 != 0 && (a >> 8 & 255) != (b >> 8 & 255);
}

// Takes a chain of at most so many jobs off the front.
static inline Job *strand_pop(Strand *strand, uint32_t count_max) {
    ASSERT(strand->head != NULL);
    ASSERT(count_max > 0);
    Job *chain = strand->head, *last = chain;
    for (uint32_t i = 1;
         i < count_max && last->next != NULL && !share_parts(chain->share, last->next->share);
         i++) {
        last = last->next;
    }
    strand->head = last->next;
    last->next = NULL;
    if (strand->head == NULL) {
        strand->tail = NULL;
    }
    return chain;
}

// ---- the queue

static inline uint32_t queue_count(const Queue *queue) {
    return atomic_load_explicit(&queue->count, memory_order_relaxed);
}

static inline uint32_t queue_held_count(const Queue *queue) {
    return atomic_load_explicit(&queue->held_count, memory_order_relaxed);
}

static inline void queue_count_add(Queue *queue, Owner *owner, uint32_t change) {
    owner->count += change;
    if (owner->is_held) {
        atomic_store_explicit(&queue->held_count, queue_held_count(queue) + change,
                              memory_order_relaxed);
    } else {
        atomic_store_explicit(&queue->count, queue_count(queue) + change, memory_order_relaxed);
    }
}

// A job has room for little: what lane_share says, cut to that.
static inline uint32_t share_pack(uint64_t share) {
    const uint32_t session = (uint32_t)share % SHARE_COUNT,
                   owner = (uint32_t)(share >> SHARE_OWNER_SHIFT & UINT16_MAX) % OWNER_COUNT,
                   weight = (uint32_t)(share >> SHARE_WEIGHT_SHIFT & UINT8_MAX),
                   lanes = (uint32_t)(share >> SHARE_LANES_SHIFT);
    return session | owner << 8 | (weight == 0 ? 1 : weight) << 16 | lanes << 24;
}

static inline uint32_t strand_owner(const Strand *strand) {
    ASSERT(strand->head != NULL);
    return strand->head->share >> 8 & 255;
}

// How many lanes may work for its owner; 0: any number.
static inline uint32_t strand_lanes_max(const Strand *strand) {
    return strand->head->share >> 24;
}

static inline Owner *queue_owner(Queue *queue, const Strand *strand) {
    return &queue->owner[strand_owner(strand)];
}

static inline uint32_t owner_weight(const Strand *strand) {
    return strand->head->share >> 16 & 255;
}

static inline Share *owner_share(Owner *owner, const Strand *strand) {
    return &owner->share[strand->head->share & 255];
}

static inline void owner_append_share(Owner *owner, Share *share) {
    share->next = NULL;
    if (owner->tail == NULL) {
        owner->head = share;
    } else {
        owner->tail->next = share;
    }
    owner->tail = share;
}

static inline void queue_append_owner(Queue *queue, Owner *owner) {
    owner->next = NULL;
    if (queue->tail == NULL) {
        queue->head = owner;
    } else {
        queue->tail->next = owner;
    }
    queue->tail = owner;
}

static inline void queue_append(Queue *queue, Strand *strand) {
    Owner *owner = queue_owner(queue, strand);
    Share *share = owner_share(owner, strand);
    strand->next = NULL;
    if (owner->tail == NULL) {
        owner->turns = owner_weight(strand);
        queue_append_owner(queue, owner);
    }
    if (share->tail == NULL) {
        share->head = strand;
        owner_append_share(owner, share);
    } else {
        share->tail->next = strand;
    }
    share->tail = strand;
    queue_count_add(queue, owner, 1);
}

static inline void owner_prepend_share(Owner *owner, Share *share) {
    share->next = owner->head;
    owner->head = share;
    if (owner->tail == NULL) {
        owner->tail = share;
    }
}

static inline void queue_prepend_owner(Queue *queue, Owner *owner) {
    owner->next = queue->head;
    queue->head = owner;
    if (queue->tail == NULL) {
        queue->tail = owner;
    }
}

// Its turn had come and is not lost.
static inline void queue_prepend(Queue *queue, Strand *strand) {
    Owner *owner = queue_owner(queue, strand);
    Share *share = owner_share(owner, strand);
    if (owner->tail == NULL) {
        owner->turns = 0;
        queue_prepend_owner(queue, owner);
    }
    owner->turns++;
    strand->next = share->head;
    share->head = strand;
    if (share->tail == NULL) {
        share->tail = strand;
        owner_prepend_share(owner, share);
    }
    queue_count_add(queue, owner, 1);
}

// The first strand of the share of the owner whose turn it is. The queue has one.
static inline Strand *owner_pop(Owner *owner) {
    ASSERT(owner->head != NULL);
    ASSERT(owner->head->head != NULL);
    Share *share = owner->head;
    Strand *strand = share->head;
    owner->head = share->next;
    if (owner->head == NULL) {
        owner->tail = NULL;
    }
    share->head = strand->next;
    if (share->head == NULL) {
        share->tail = NULL;
    } else {
        owner_append_share(owner, share);
    }
    return strand;
}

// Which queue_pop would take; NULL: the queue is empty.
static inline const Strand *queue_first(const Queue *queue) {
    return queue->head == NULL ? NULL : queue->head->head->head;
}

// ---- owners that are held

static inline void queue_move_counts(Queue *queue, Owner *owner, bool is_held) {
    const uint32_t count = owner->count;
    queue_count_add(queue, owner, 0u - count);
    owner->is_held = is_held;
    queue_count_add(queue, owner, count);
}

// An owner that is in the queue, wherever.
static inline void queue_hold(Queue *queue, Owner *owner) {
    ASSERT(!owner->is_held);
    ASSERT(owner->head != NULL);
    Owner *before = NULL;
    for (Owner *at = queue->head; at != owner; at = at->next) {
        before = at;
    }
    *(before == NULL ? &queue->head : &before->next) = owner->next;
    if (queue->tail == owner) {
        queue->tail = before;
    }
    queue_move_counts(queue, owner, true);
}

static inline void queue_release(Queue *queue, Owner *owner) {
    ASSERT(owner->is_held);
    owner->turns = owner_weight(owner->head->head);
    queue_append_owner(queue, owner);
    queue_move_counts(queue, owner, false);
}

// ---- taking

static inline Strand *queue_pop(Queue *queue) {
    ASSERT(queue->head != NULL);
    Owner *owner = queue->head;
    Strand *strand = owner_pop(owner);
    ASSERT(owner->turns > 0);
    owner->turns--;
    if (owner->head == NULL || owner->turns == 0) {
        queue->head = owner->next;
        if (queue->head == NULL) {
            queue->tail = NULL;
        }
        if (owner->head != NULL) {
            owner->turns = owner_weight(owner->head->head);
            queue_append_owner(queue, owner);
        }
    }
    queue_count_add(queue, owner, UINT32_MAX);
    return strand;
}
