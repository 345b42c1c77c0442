// SPDX-License-Identifier: MIT
// A thread that goes over a running server's file, slowly, and asks whether its indexes lead to its
// rows: a connection of its own that only reads, in short transactions, at most one part in
// twenty of its time. Where one does not, and SQLite finds all trees whole, the log's thread, which
// is the one that writes, builds it anew. What is more than that is told, and left to --recover.
#pragma once

#include "log/log.h"

#include <uv.h>

typedef struct IndexWatch {
    Log *log; // borrowed
    const Report *report;
    uv_thread_t thread;
    uv_mutex_t mutex;
    uv_cond_t wake;
    bool is_running; // there is a thread
    // under the lock
    bool is_stopping, is_answered;
    LogWait wait; // for an index that is being built
} IndexWatch;

// Without the thread nothing is watched, and that is told.
void index_watch_start(IndexWatch *watch, Log *log, const Report *report);

// Waits for its end. Harmless where nothing was started.
void index_watch_stop(IndexWatch *watch);
