// SPDX-License-Identifier: MIT
// The queue of strands that are ready for a lane, fair between *shares*: whoever submits a job says
// whose share it comes out of (a session's number), and the shares take turns, a strand at a time.
// So a client with one short call waits for one chain of every other client, and not for the
// thousand worlds that one of them steps.
//
// There are SHARE_COUNT shares, numbers beyond are taken modulo: two clients of one share are
// merely first come, first served between themselves. A strand waits in the share of its first job.
//
// Part of lane.c, under the pool's lock; only queue_count may be asked without it.
#pragma once

#include "base/assert.h"
#include "run/lanes/lane.h"

enum { SHARE_COUNT = 256 };

typedef struct Share Share;

struct Share {
    Strand *head, *tail;
    Share *next; // with strands
};

typedef struct Queue {
    Share *head, *tail; // whose turn it is, and will be
    _Atomic uint32_t count;
    Share share[SHARE_COUNT];
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

// Takes a chain of at most so many jobs off the front.
static inline Job *strand_pop(Strand *strand, uint32_t count_max) {
    ASSERT(strand->head != NULL);
    ASSERT(count_max > 0);
    Job *chain = strand->head, *last = chain;
    for (uint32_t i = 1; i < count_max && last->next != NULL; i++) {
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

static inline void queue_count_add(Queue *queue, uint32_t change) {
    atomic_store_explicit(&queue->count, queue_count(queue) + change, memory_order_relaxed);
}

static inline Share *queue_share(Queue *queue, const Strand *strand) {
    ASSERT(strand->head != NULL);
    return &queue->share[strand->head->share % SHARE_COUNT];
}

static inline void queue_append_share(Queue *queue, Share *share) {
    share->next = NULL;
    if (queue->tail == NULL) {
        queue->head = share;
    } else {
        queue->tail->next = share;
    }
    queue->tail = share;
}

static inline void queue_append(Queue *queue, Strand *strand) {
    Share *share = queue_share(queue, strand);
    strand->next = NULL;
    if (share->tail == NULL) {
        share->head = strand;
        queue_append_share(queue, share);
    } else {
        share->tail->next = strand;
    }
    share->tail = strand;
    queue_count_add(queue, 1);
}

// Its turn had come and is not lost.
static inline void queue_prepend(Queue *queue, Strand *strand) {
    Share *share = queue_share(queue, strand);
    strand->next = share->head;
    share->head = strand;
    if (share->tail == NULL) {
        share->tail = strand;
        share->next = queue->head;
        queue->head = share;
        if (queue->tail == NULL) {
            queue->tail = share;
        }
    }
    queue_count_add(queue, 1);
}

// The first strand of the share whose turn it is. The queue has one.
static inline Strand *queue_pop(Queue *queue) {
    ASSERT(queue->head != NULL);
    ASSERT(queue->head->head != NULL);
    Share *share = queue->head;
    Strand *strand = share->head;
    queue->head = share->next;
    if (queue->head == NULL) {
        queue->tail = NULL;
    }
    share->head = strand->next;
    if (share->head == NULL) {
        share->tail = NULL;
    } else {
        queue_append_share(queue, share);
    }
    queue_count_add(queue, UINT32_MAX);
    return strand;
}
