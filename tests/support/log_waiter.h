// SPDX-License-Identifier: MIT
// Waiting for the log as a blocked thread, which is what lanes never do and tests and benches do.
#pragma once

#include "base/assert.h"
#include "log/log.h"

#include <uv.h>

typedef struct Waiter {
    LogWait wait; // first
    uv_sem_t done;
} Waiter;

static inline void waiter_done(LogWait *wait) {
    uv_sem_post(&((Waiter *)wait)->done);
}

static inline LogWait *waiter_init(Waiter *waiter) {
    *waiter = (Waiter){.wait = {.done = waiter_done}};
    int result = uv_sem_init(&waiter->done, 0);
    ASSERT(result == 0);
    return &waiter->wait;
}

// Waits; the answer is in waiter->wait.error.
static inline Status waiter_wait(Waiter *waiter) {
    uv_sem_wait(&waiter->done);
    uv_sem_destroy(&waiter->done);
    return waiter->wait.error.status;
}
