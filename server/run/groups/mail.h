// SPDX-License-Identifier: MIT
// What became of worlds that were sent on their way and not fetched yet: a row for each world of a
// group, and the order in which they finished. The loop thread's, but for rows and actions, which
// are those of whoever works on the world, and `is_free`, by which a lane says that a row was told.
#pragma once

#include "run/groups/group.h"

#include <stdatomic.h>

typedef struct GroupMail {
    Arena memory;
    GroupCall call;        // its row i is world i
    double *action;        // rows of all worlds
    _Atomic bool *is_free; // [count] the world may be sent, stepped or reset
    uint32_t *finished;    // [count] a ring of worlds
    uint32_t first, finished_count;
    uint32_t sent_count;    // of worlds that nobody has asked for yet …
    uint32_t claimed_count; // … and that somebody waits for
} GroupMail;

// NULL when memory ends; it takes no more than so many bytes.
GroupMail *group_mail_create(Group *group, size_t bytes_max);
void group_mail_destroy(GroupMail *mail); // Nullable

static inline bool group_mail_is_free(const GroupMail *mail, uint32_t world) { // Nullable: all are
    return mail == NULL || atomic_load_explicit(&mail->is_free[world], memory_order_acquire);
}

// The world is on its way, with an action of one of the two kinds.
void group_mail_send(GroupMail *mail, uint32_t world, const float *action,
                     const double *action_double);

// It has come back.
void group_mail_finish(GroupMail *mail, uint32_t world);

// Takes the first `count` of those that have.
void group_mail_take(GroupMail *mail, uint32_t count, uint32_t *worlds);
