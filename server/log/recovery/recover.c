// SPDX-License-Identifier: MIT
#include "log/recovery/recover.h"

#include "log/recovery/chunk_search.h"
#include "log/format/indexes.h"
#include "log/format/lock.h"
#include "log/recovery/rebuild.h"
#include "log/format/reserve.h"
#include "log/recovery/copy_damaged.h"
#include "log/format/schema.h"
#include "log/wal/care.h"
#include "log/wal/mark.h"
#include "log/writer/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- is it a sound database?

// DATA_LOSS when SQLite finds damage that is more than indexes which miss rows; the first find goes
// to `out`.
static Status check_database(const char *path, Integrity *integrity, FILE *out, Error *error) {
    sqlite3 *db = NULL;
    Status status = schema_open_whole(path, &db, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = integrity_check(db, integrity, NULL, NULL, error);
    if (status == STATUS_OK && integrity->count > 0 && !integrity->is_indexes_only) {
        fprintf(out, "SQLite finds damage: %s.\n", integrity->first);
        status = error_set(error, STATUS_DATA_LOSS, NULL, "%.250s is damaged.", path);
    }
    sqlite3_close(db);
    return status;
}

static Status mend_indexes(Writer *writer, const Integrity *integrity, FILE *out, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < INDEX_COUNT && status == STATUS_OK; i++) {
        if (!integrity->is_damaged[i]) {
            continue;
        }
        status = writer_begin(writer, true, error);
        status = STATUS_THEN(status, writer_reindex(writer, i, error));
        status = STATUS_THEN(status, writer_commit(writer, error));
        fprintf(out, "Index %s did not lead to all rows%s.\n", index_name(i),
                status == STATUS_OK ? ", and does again" : "");
    }
    return status;
}

// ---- the whole

static Status mend(const char *path, const Integrity *integrity, Finds *finds, Error *error) {
    Writer writer;
    Status status = writer_open(&writer, path, true, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = mend_indexes(&writer, integrity, finds->out, error);
    status = STATUS_THEN(status, rebuild_rows(&writer, finds, error));
    if (status != STATUS_OK) {
        writer_rollback(&writer);
    }
    status = STATUS_THEN(status, writer_settle(&writer, error));
    writer_close(&writer);
    return status;
}

static void print_summary(const char *path, const Finds *finds, FILE *out) {
    fprintf(out,
            "%s: %" PRIu64 " episodes, %" PRIu64 " of them interrupted just now, %" PRIu64
            " made right; %" PRIu64 " chunks, %" PRIu64 " of them damaged.\n",
            path, finds->episodes, finds->interrupted, finds->remade, finds->chunks,
            finds->damaged);
}

static Status recover_damaged(const char *path, FILE *out, Error *error) {
    size_t target_bytes = strlen(path) + sizeof(".recovered");
    char *target = malloc(target_bytes);
    if (target == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended.");
    }
    snprintf(target, target_bytes, "%s.recovered", path);
    fprintf(out, "%s is damaged and stays as it is; what can be read goes into %s.\n", path,
            target);
    Finds finds = {.out = out};
    Status status = copy_damaged(path, target, out, error);
    status = STATUS_THEN(status, mend(target, &(Integrity){0}, &finds, error));
    if (status == STATUS_OK) {
        print_summary(target, &finds, out);
        status = error_set(error, STATUS_DATA_LOSS, NULL,
                           "%.150s is damaged. What could be read is in %.150s: use that one.",
                           path, target);
    }
    free(target);
    return status;
}

// Also what is not a database any more, or not ours, or too old to be ours, may be a log with a
// damaged header: its chunks know better. A newer version is believed: what its rows mean is not
// known here.
static Status note_chunk(const uint8_t *bytes, size_t count, void *context, Error *error) {
    (void)bytes, (void)count;
    *(bool *)context = true;
    return error_set(error, STATUS_ALREADY_EXISTS, NULL, "That is one.");
}

static bool has_chunks(const char *path) {
    bool has_one = false;
    chunk_search(path, note_chunk, &has_one, NULL);
    return has_one;
}

static bool is_about_the_file(Status status) {
    return status == STATUS_INVALID_ARGUMENT || status == STATUS_UNAVAILABLE;
}

static Status recover_locked(const char *path, FILE *out, Error *error) {
    Finds finds = {.out = out};
    Integrity integrity = {0};
    Status status = check_database(path, &integrity, out, error);
    status = STATUS_THEN(status, mend(path, &integrity, &finds, error));
    if (status == STATUS_DATA_LOSS || (is_about_the_file(status) && has_chunks(path))) {
        return recover_damaged(path, out, error);
    }
    if (status != STATUS_OK) {
        return status;
    }
    print_summary(path, &finds, out);
    if (finds.damaged > 0) {
        return error_set(error, STATUS_DATA_LOSS, NULL,
                         "%" PRIu64 " chunks of %.200s are damaged: their steps are lost, the rest "
                         "can be used.",
                         finds.damaged, path);
    }
    return STATUS_OK;
}

Status recover_file(const char *path, FILE *out, Error *error) {
    Status status = schema_check_path(path, error);
    if (status == STATUS_OK && access(path, F_OK) != 0) {
        status = error_set(error, STATUS_NOT_FOUND, NULL, "%.250s is not there.", path);
    }
    if (status != STATUS_OK) {
        return status;
    }
    FileLock lock;
    status = lock_take(&lock, path, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = wal_care_for_recovery(path, out, error);
    status = STATUS_THEN(status, recover_locked(path, out, error));
    Reserve reserve; // of a server that was killed
    reserve_init(&reserve, path);
    reserve.is_held = true;
    reserve_deinit(&reserve);
    wal_mark_forget(path);
    lock_release(&lock);
    return status;
}
