// SPDX-License-Identifier: MIT
#include "log/recovery/inspect.h"

#include "log/format/indexes.h"
#include "log/format/schema.h"
#include "log/recovery/geometries.h"
#include "log/wal/wal.h"

#include <inttypes.h>

enum { SENTENCES_MAX = 20 };

typedef struct Says {
    FILE *out;
    size_t count;
} Says;

static void say(const char *find, void *context) {
    Says *says = context;
    if (says->count++ < SENTENCES_MAX) {
        fprintf(says->out, "SQLite finds: %s.\n", find);
    }
}

// Of a running server its last frame may be under way.
static bool is_log_damaged(const char *path, FILE *out, Status *status, Error *error) {
    WalJudged judged;
    *status = wal_judge(path, &judged, error);
    for (size_t i = 0; i < judged.flip_count; i++) {
        fprintf(out, "The write-ahead log: a bit of byte %" PRIu64 " has flipped.\n",
                judged.flip[i].at);
    }
    if (judged.lost_count > 0) {
        fprintf(out,
                "The write-ahead log: frame %" PRIu64 " of %" PRIu64 " is damaged, and %" PRIu64
                " transactions lie behind it.\n",
                judged.bad_frame, judged.frame_count, judged.lost_count);
    }
    return judged.flip_count > 0 || judged.lost_count > 0;
}

static Status sum_up(const char *path, const Integrity *integrity, bool is_log_bad, FILE *out,
                     Error *error) {
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        if (integrity->is_damaged[i]) {
            fprintf(out, "Index %s does not lead to all rows.\n", index_name(i));
        }
    }
    if (integrity->count == 0 && !is_log_bad) {
        fprintf(out, "%s: its trees are whole, and its indexes lead to all rows.\n", path);
        return STATUS_OK;
    }
    return error_set(error, STATUS_DATA_LOSS, NULL, "%.200s is damaged. %s", path,
                     integrity->is_indexes_only && !is_log_bad
                         ? "A running server builds such indexes anew; so does moreau-server "
                           "--recover FILE."
                         : "Stop the server and mend it with moreau-server --recover FILE.");
}

Status inspect_file(const char *path, FILE *out, Error *error) {
    sqlite3 *db = NULL;
    Integrity integrity;
    Status status;
    const bool is_log_bad = is_log_damaged(path, out, &status, error);
    status = STATUS_THEN(status, schema_open_reader(path, &db, error));
    if (status != STATUS_OK) {
        return status;
    }
    Says says = {.out = out};
    uint64_t geometry_finds = 0;
    status = integrity_check(db, &integrity, say, &says, error);
    // where trees are damaged, what is read along them says nothing
    status = STATUS_THEN_IF(status, integrity.count == 0,
                            geometries_inspect(db, out, &geometry_finds, error));
    sqlite3_close(db);
    status = STATUS_THEN(status, sum_up(path, &integrity, is_log_bad, out, error));
    if (status != STATUS_OK || geometry_finds == 0) {
        return status;
    }
    return error_set(error, STATUS_DATA_LOSS, NULL,
                     "%.200s lacks %" PRIu64
                     " geometries, or has them damaged: what wears them cannot be stepped again. "
                     "moreau-server --merge from a file that has them brings them back.",
                     path, geometry_finds);
}
