// SPDX-License-Identifier: MIT
// A thread that goes over a running server's file, slowly, and asks whether its indexes lead to its
// rows: a connection of its own that only reads, in short transactions, at most one part in
// twenty of its time. Where one does not, and SQLite finds all trees whole, the log's thread, which
// is the one that writes, builds it anew. What is more than that is told, and left to --recover.
#include "log/log_parts.h"

#include "log/format/indexes.h"
#include "log/format/schema.h"
#include "os/clock.h"
#include "os/nice.h"
#include "os/thread.h"

#include <inttypes.h>

enum { WATCH_NICENESS = 10 };
enum { BITE_ROWS = 500 };                                // some 0.3 ms
enum { SHARE = 20 };                                     // one part of the time in so many
static const uint64_t pause_ns = 1000000;                // behind a bite, at least
static const uint64_t rest_ns = UINT64_C(3600000000000); // behind all of them

// False: it is to stop.
static bool sleep_for(IndexWatch *watch, uint64_t ns) {
    const uint64_t until_ns = clock_now_ns() + ns;
    uv_mutex_lock(&watch->mutex);
    while (!watch->is_stopping && clock_now_ns() < until_ns) {
        uv_cond_timedwait(&watch->wake, &watch->mutex, until_ns - clock_now_ns());
    }
    const bool goes_on = !watch->is_stopping;
    uv_mutex_unlock(&watch->mutex);
    return goes_on;
}

static void on_built(LogWait *wait) {
    IndexWatch *watch = (IndexWatch *)((char *)wait - offsetof(IndexWatch, wait));
    uv_mutex_lock(&watch->mutex);
    watch->is_answered = true;
    uv_cond_signal(&watch->wake);
    uv_mutex_unlock(&watch->mutex);
}

static int is_stopping(void *context) {
    IndexWatch *watch = context;
    uv_mutex_lock(&watch->mutex);
    const bool stops = watch->is_stopping;
    uv_mutex_unlock(&watch->mutex);
    return stops;
}

// The log answers, also while it closes.
static void build(IndexWatch *watch, size_t index) {
    watch->is_answered = false;
    watch->wait = (LogWait){.done = on_built};
    log_reindex(watch->log, index, &watch->wait);
    uv_mutex_lock(&watch->mutex);
    while (!watch->is_answered) {
        uv_cond_wait(&watch->wake, &watch->mutex);
    }
    uv_mutex_unlock(&watch->mutex);
    const bool is_built = watch->wait.error.status == STATUS_OK;
    report_line(watch->report, REPORT_WARN, is_built ? "index_rebuilt" : "log_damaged",
                "index=%s why=\"%s\"", index_name(index),
                is_built ? "it did not lead to all rows" : watch->wait.error.message);
}

// An index of a tree that is not whole may share pages with others: building it anew would free
// them.
static bool mend(IndexWatch *watch, sqlite3 *db) {
    Integrity integrity;
    Error error = {0};
    enum { OPERATIONS = 100000 };
    sqlite3_progress_handler(db, OPERATIONS, is_stopping, watch);
    const Status status = integrity_check(db, &integrity, NULL, NULL, &error);
    sqlite3_progress_handler(db, 0, NULL, NULL);
    if (is_stopping(watch)) {
        return false;
    }
    if (status != STATUS_OK || !integrity.is_indexes_only) {
        report_line(watch->report, REPORT_WARN, "log_damaged",
                    "why=\"%s\" hint=\"stop the server, then moreau-server --recover FILE\"",
                    status != STATUS_OK ? error.message : integrity.first);
        return false;
    }
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        if (integrity.is_damaged[i]) {
            build(watch, i);
        }
    }
    return true;
}

// Over all rows of a table. False: it is to stop, or nothing more can be said of the file.
static bool go_over(IndexWatch *watch, sqlite3 *db, Indexes *indexes, size_t index) {
    IndexBite bite = {.last = -1};
    Error error;
    do {
        const uint64_t begun_ns = clock_now_ns();
        const Status status =
            indexes_look(indexes, db, index, bite.last, INT64_MAX, BITE_ROWS, &bite, &error);
        if (status != STATUS_OK && status != STATUS_DATA_LOSS) {
            return false;
        }
        if (status == STATUS_DATA_LOSS || bite.missing > 0) {
            return mend(watch, db);
        }
        const uint64_t spent_ns = clock_now_ns() - begun_ns;
        if (!sleep_for(watch, (SHARE - 1) * spent_ns + pause_ns)) {
            return false;
        }
    } while (!bite.is_end);
    return true;
}

static void run(void *context) {
    IndexWatch *watch = context;
    nice_thread(WATCH_NICENESS);
    do {
        sqlite3 *db = NULL;
        Indexes indexes = {0};
        bool goes_on = schema_open_reader(log_path(watch->log), &db, NULL) == STATUS_OK;
        for (size_t i = 0; goes_on && i < INDEX_COUNT; i++) {
            goes_on = go_over(watch, db, &indexes, i);
        }
        indexes_deinit(&indexes);
        sqlite3_close(db);
    } while (sleep_for(watch, rest_ns));
}

void index_watch_start(IndexWatch *watch, Log *log, const Report *report) {
    *watch = (IndexWatch){.log = log, .report = report};
    if (uv_mutex_init(&watch->mutex) != 0) {
        return;
    }
    if (uv_cond_init(&watch->wake) != 0) {
        uv_mutex_destroy(&watch->mutex);
        return;
    }
    watch->is_running = thread_start(&watch->thread, run, watch) == 0;
    if (!watch->is_running) {
        uv_cond_destroy(&watch->wake);
        uv_mutex_destroy(&watch->mutex);
        report_line(report, REPORT_WARN, "indexes_unwatched", "why=\"no thread\"");
    }
}

void index_watch_stop(IndexWatch *watch) {
    if (!watch->is_running) {
        return;
    }
    uv_mutex_lock(&watch->mutex);
    watch->is_stopping = true;
    uv_cond_signal(&watch->wake);
    uv_mutex_unlock(&watch->mutex);
    uv_thread_join(&watch->thread);
    uv_cond_destroy(&watch->wake);
    uv_mutex_destroy(&watch->mutex);
    watch->is_running = false;
}
