// SPDX-License-Identifier: MIT
// The line of strands that are ready for a lane, fair between *shares*: whoever submits a job says
// whose share it comes out of (a session's number), and the shares take turns, a strand at a time.
// So a client with one short call waits for one chain of every other client, and not for the
// thousand worlds that one of them steps.
//
// There are SHARE_COUNT shares, numbers beyond are taken modulo: two clients of one share are
// merely first come, first served between themselves. A strand waits in the share of its first job.
//
// Part of lane.c, under the pool's lock; only line_count may be asked without it.
#pragma once

#include "run/lanes/lane.h"

enum { SHARE_COUNT = 256 };

typedef struct Share Share;

struct Share {
    Strand *head, *tail;
    Share *next; // with strands
};

typedef struct Line {
    Share *head, *tail; // whose turn it is, and will be
    _Atomic uint32_t count;
    Share share[SHARE_COUNT];
} Line;

// ---- strands

static inline void strand_append(Strand *strand, Job *job) {
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

// ---- the line

static inline uint32_t line_count(const Line *line) {
    return atomic_load_explicit(&line->count, memory_order_relaxed);
}

static inline void line_count_add(Line *line, uint32_t change) {
    atomic_store_explicit(&line->count, line_count(line) + change, memory_order_relaxed);
}

static inline Share *line_share(Line *line, const Strand *strand) {
    return &line->share[strand->head->share % SHARE_COUNT];
}

static inline void line_append_share(Line *line, Share *share) {
    share->next = NULL;
    if (line->tail == NULL) {
        line->head = share;
    } else {
        line->tail->next = share;
    }
    line->tail = share;
}

static inline void line_append(Line *line, Strand *strand) {
    Share *share = line_share(line, strand);
    strand->next = NULL;
    if (share->tail == NULL) {
        share->head = strand;
        line_append_share(line, share);
    } else {
        share->tail->next = strand;
    }
    share->tail = strand;
    line_count_add(line, 1);
}

// Its turn had come and is not lost.
static inline void line_prepend(Line *line, Strand *strand) {
    Share *share = line_share(line, strand);
    strand->next = share->head;
    share->head = strand;
    if (share->tail == NULL) {
        share->tail = strand;
        share->next = line->head;
        line->head = share;
        if (line->tail == NULL) {
            line->tail = share;
        }
    }
    line_count_add(line, 1);
}

// The first strand of the share whose turn it is. The line has one.
static inline Strand *line_pop(Line *line) {
    Share *share = line->head;
    Strand *strand = share->head;
    line->head = share->next;
    if (line->head == NULL) {
        line->tail = NULL;
    }
    share->head = strand->next;
    if (share->head == NULL) {
        share->tail = NULL;
    } else {
        line_append_share(line, share);
    }
    line_count_add(line, UINT32_MAX);
    return strand;
}
