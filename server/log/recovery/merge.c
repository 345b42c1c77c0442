// SPDX-License-Identifier: MIT
#include "log/recovery/merge.h"

#include "base/arena.h"
#include "base/array.h"
#include "log/format/lock.h"
#include "log/format/members.h"
#include "log/format/schema.h"
#include "log/recovery/geometries.h"
#include "log/recovery/rebuild.h"
#include "log/wal/wal.h"
#include "log/writer/writer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ARENA_BYTES_MAX = 64 << 20 }; // a definition or a seal

// A chunk that the merged file has of a recording.
typedef struct Place {
    uint32_t first_world;
    bool is_common; // of a group: in the chain of the whole
    bool is_sound;
    uint64_t sequence, checksum;
    int64_t id;
} Place;

typedef struct Merge {
    Writer writer; // of the merged file
    FILE *says;
    const char *path; // of the file that is taken in …
    sqlite3 *from;    // … and it
    Place *place;     // of the recording at hand, in order; owned
    size_t place_count, place_capacity;
    uint64_t recordings, chunks; // new ones, of the file
    uint64_t refused, damaged;   // likewise, and of all
} Merge;

typedef struct Incoming {
    int64_t id; // its row in the file that is taken in
    uint8_t uid[UID_BYTES];
} Incoming;

static Status fail_from(const Merge *merge, Error *error) {
    return schema_error(merge->from, sqlite3_extended_errcode(merge->from), "reading a file",
                        error);
}

static Status fail_to(Merge *merge, Error *error) {
    return schema_error(merge->writer.db, sqlite3_extended_errcode(merge->writer.db),
                        "merging files", error);
}

static Status out_of_memory(Error *error) {
    return error_set(error, STATUS_RESOURCE_EXHAUSTED, NULL, "Memory ended while merging files.");
}

// ---- what is there of a recording

static int compare_places(const void *a, const void *b) {
    const Place *first = a, *second = b;
    if (first->first_world != second->first_world) {
        return first->first_world < second->first_world ? -1 : 1;
    }
    if (first->is_common != second->is_common) {
        return first->is_common ? -1 : 1;
    }
    return first->sequence < second->sequence ? -1 : first->sequence > second->sequence;
}

static Place place_of(const Chunk *chunk, bool is_group) {
    return (Place){.first_world = chunk->first_world,
                   .is_common = is_group && chunk_kind_is_common(chunk->kind),
                   .sequence = chunk->sequence,
                   .checksum = chunk->checksum};
}

static Status list_places(Merge *merge, int64_t recording, bool is_group, Error *error) {
    sqlite3_stmt *statement = NULL;
    Status status = STATUS_OK;
    int code = sqlite3_prepare_v2(
        merge->writer.db, "SELECT id, bytes FROM chunk WHERE recording = ?1", -1, &statement, NULL);
    sqlite3_bind_int64(statement, 1, recording);
    merge->place_count = 0;
    while (code == SQLITE_OK && status == STATUS_OK &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        const uint8_t *bytes = sqlite3_column_blob(statement, 1);
        const size_t count = (size_t)sqlite3_column_bytes(statement, 1);
        Chunk chunk;
        if (bytes == NULL || chunk_read_head(bytes, count, &chunk, NULL) != STATUS_OK) {
            continue; // nobody knows where it stands
        }
        if (!ARRAY_RESERVE(merge->place, merge->place_capacity, merge->place_count + 1)) {
            status = out_of_memory(error);
            continue;
        }
        Place *place = &merge->place[merge->place_count++];
        *place = place_of(&chunk, is_group);
        place->id = sqlite3_column_int64(statement, 0);
        place->is_sound = chunk_open(bytes, count, NULL, &chunk, NULL) == STATUS_OK;
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail_to(merge, error) : status;
    sqlite3_finalize(statement);
    if (merge->place_count > 1) {
        qsort(merge->place, merge->place_count, sizeof(Place), compare_places);
    }
    return status;
}

static const Place *find_place(const Merge *merge, const Place *of) {
    return merge->place_count == 0
               ? NULL
               : bsearch(of, merge->place, merge->place_count, sizeof(Place), compare_places);
}

// ---- one recording

static Status refuse(Merge *merge, const Incoming *incoming, const char *why) {
    char text[UID_TEXT_BYTES];
    uid_text(incoming->uid, text);
    fprintf(merge->says, "Recording %s of %s is not merged: %s.\n", text, merge->path, why);
    merge->refused++;
    return STATUS_ABORTED; // this one alone
}

// One row of the file that is taken in, by the recording's id. NOT_FOUND: none.
static Status take_one(const Merge *merge, const char *sql, const Incoming *incoming, Arena *arena,
                       Chunk *chunk, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(merge->from, sql, -1, &statement, NULL);
    sqlite3_bind_int64(statement, 1, incoming->id);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    Status status = code == SQLITE_ROW    ? STATUS_OK
                    : code == SQLITE_DONE ? STATUS_NOT_FOUND
                                          : fail_from(merge, error);
    if (status == STATUS_OK) {
        const size_t count = (size_t)sqlite3_column_bytes(statement, 0);
        const void *bytes = sqlite3_column_blob(statement, 0);
        uint8_t *own = arena_take(arena, count);
        if (bytes != NULL && own != NULL) {
            memcpy(own, bytes, count);
        }
        status = bytes != NULL && own != NULL &&
                         chunk_open(own, count, incoming->uid, chunk, NULL) == STATUS_OK
                     ? STATUS_OK
                     : STATUS_NOT_FOUND;
    }
    sqlite3_finalize(statement);
    return status;
}

// Whose the recording is: of an older file nobody's, as when it cannot be read.
static const char *take_space(const Merge *merge, const Incoming *incoming, Arena *arena) {
    static const char sql[] = "SELECT namespace FROM recording WHERE id = ?1";
    sqlite3_stmt *statement = NULL;
    char *space = NULL;
    if (sqlite3_prepare_v2(merge->from, sql, -1, &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_int64(statement, 1, incoming->id);
        if (sqlite3_step(statement) == SQLITE_ROW &&
            sqlite3_column_type(statement, 0) == SQLITE_TEXT &&
            sqlite3_column_bytes(statement, 0) < RECORDING_SPACE_BYTES) {
            space = arena_take(arena, RECORDING_SPACE_BYTES);
        }
        if (space != NULL) {
            snprintf(space, RECORDING_SPACE_BYTES, "%s",
                     (const char *)sqlite3_column_text(statement, 0));
        }
    }
    sqlite3_finalize(statement);
    return space;
}

// Whether a file has more than no row for this.
static bool has_row(sqlite3 *db, const char *sql, const uint8_t uid[UID_BYTES]) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, sql, -1, &statement, NULL);
    sqlite3_bind_blob(statement, 1, uid, UID_BYTES, SQLITE_STATIC);
    code = code == SQLITE_OK ? sqlite3_step(statement) : code;
    sqlite3_finalize(statement);
    return code == SQLITE_ROW;
}

static bool is_going(const Merge *merge, const Incoming *incoming) {
    static const char sql[] = "SELECT 1 FROM deletion WHERE uid = ?1";
    return has_row(merge->from, sql, incoming->uid) ||
           has_row(merge->writer.db, sql, incoming->uid);
}

// A recording on its way.
typedef struct Taking {
    const Incoming *incoming;
    int64_t recording; // its row in the merged file
    bool is_group;
    bool is_closed; // the merged file has its seal already, and the other file has not
} Taking;

// What a chunk names comes along, from the file that has it whole.
static Status take_geometries(Merge *merge, const Chunk *chunk, Error *error) {
    size_t count = 0;
    Status status =
        geometries_open(chunk, &count, NULL) == STATUS_OK ? STATUS_OK : STATUS_NOT_FOUND;
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        const LogGeometry named = geometries_get(chunk, i);
        Error why = {0};
        status = geometries_take(&merge->writer, merge->from, named.name, &why);
        if (status == STATUS_NOT_FOUND) {
            merge->damaged++;
            fprintf(merge->says, "%s: %s\n", merge->path, why.message);
            status = STATUS_OK;
        } else if (status != STATUS_OK) {
            *error = why;
        }
    }
    return status == STATUS_NOT_FOUND ? STATUS_OK : status; // verifying tells of the chunk
}

static Status take_chunk(Merge *merge, const Taking *taking, const Chunk *chunk,
                         const uint8_t *bytes, size_t count, Error *error) {
    const Place wanted = place_of(chunk, taking->is_group), *there = find_place(merge, &wanted);
    if (there != NULL && there->is_sound) {
        return there->checksum == chunk->checksum
                   ? STATUS_OK
                   : refuse(merge, taking->incoming,
                            "another chunk stands in the same place of the merged file, so one of "
                            "the two went another way");
    }
    if (there == NULL && taking->is_closed) {
        return refuse(merge, taking->incoming,
                      "the merged file has it sealed, and here it goes on: merge into a file in "
                      "which no server has ended it");
    }
    merge->chunks++;
    if (there == NULL) {
        return writer_add_chunk(&merge->writer, taking->recording, chunk, bytes, count, error);
    }
    Status status = rebuild_delete_chunk(&merge->writer, there->id, error); // a damaged one
    return STATUS_THEN(
        status, writer_put_chunk(&merge->writer, taking->recording, chunk, bytes, count, error));
}

static Status take_chunks(Merge *merge, const Taking *taking, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(merge->from,
                                  "SELECT id, bytes FROM chunk WHERE recording = ?1 ORDER BY id",
                                  -1, &statement, NULL);
    sqlite3_bind_int64(statement, 1, taking->incoming->id);
    Status status = STATUS_OK;
    while (code == SQLITE_OK && status == STATUS_OK &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        const uint8_t *bytes = sqlite3_column_blob(statement, 1);
        const size_t count = (size_t)sqlite3_column_bytes(statement, 1);
        Chunk chunk;
        Error why = {0};
        if (bytes == NULL ||
            chunk_open(bytes, count, taking->incoming->uid, &chunk, &why) != STATUS_OK) {
            merge->damaged++;
            fprintf(merge->says, "Chunk %lld of %s is damaged, and left out: %s.\n",
                    (long long)sqlite3_column_int64(statement, 0), merge->path, why.message);
            continue;
        }
        status = take_chunk(merge, taking, &chunk, bytes, count, error);
        status = STATUS_THEN_IF(status, chunk.kind == CHUNK_GEOMETRIES,
                                take_geometries(merge, &chunk, error));
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail_from(merge, error) : status;
    sqlite3_finalize(statement);
    return status;
}

// As it stands among the pins of the file that is taken in.
static Status take_pins(Merge *merge, const Taking *taking, Error *error) {
    sqlite3_stmt *read = NULL, *write = NULL;
    int code = sqlite3_prepare_v2(
        merge->from, "SELECT number FROM episode WHERE id" MEMBERS_OF("?1") " AND pinned = 1", -1,
        &read, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_prepare_v2(merge->writer.db, "UPDATE episode SET pinned = 1 WHERE id = ?1",
                                  -1, &write, NULL);
    }
    sqlite3_bind_int64(read, 1, taking->incoming->id);
    while (code == SQLITE_OK && (code = sqlite3_step(read)) == SQLITE_ROW) {
        const int64_t number = sqlite3_column_int64(read, 0);
        sqlite3_bind_int64(write, 1, (int64_t)((uint64_t)taking->recording << 32) + number);
        code = sqlite3_step(write) == SQLITE_DONE ? SQLITE_OK : SQLITE_ERROR;
        sqlite3_reset(write);
    }
    Status status = code == SQLITE_DONE ? STATUS_OK : fail_to(merge, error);
    sqlite3_finalize(read);
    sqlite3_finalize(write);
    return status;
}

// Its row in the merged file, which may be a new one, and what is there already.
static Status find_home(Merge *merge, Taking *taking, const RecordingDef *def, Error *error) {
    Status status =
        writer_find_recording(&merge->writer, taking->incoming->uid, &taking->recording, error);
    merge->place_count = 0;
    if (status == STATUS_NOT_FOUND) {
        taking->recording = WRITER_NEXT_ROW;
        merge->recordings++;
        return writer_add_recording(&merge->writer, def, &taking->recording, error);
    }
    return STATUS_THEN(status, list_places(merge, taking->recording, taking->is_group, error));
}

// Rows say what the seal says, if there is one.
static Status settle(Merge *merge, const Taking *taking, const RecordingDef *def, Arena *arena,
                     Error *error) {
    RecordingSeal seal;
    Status status = writer_read_seal(&merge->writer, taking->recording, taking->incoming->uid,
                                     arena, &seal, error);
    if (status == STATUS_NOT_FOUND) {
        return STATUS_OK; // it stays open
    }
    return STATUS_THEN(status,
                       writer_end_recording(&merge->writer, taking->recording, def, &seal, error));
}

static Status take_defined(Merge *merge, Taking *taking, Arena *arena, Error *error) {
    Chunk chunk;
    RecordingDef def;
    RecordingSeal seal;
    const Incoming *incoming = taking->incoming;
    Status status =
        take_one(merge, "SELECT bytes FROM chunk WHERE recording = ?1 AND kind = 6 ORDER BY id",
                 incoming, arena, &chunk, error);
    if (status == STATUS_NOT_FOUND ||
        (status == STATUS_OK && definition_read(&chunk, arena, &def, NULL) != STATUS_OK)) {
        return refuse(merge, incoming, "its definition is lost");
    }
    if (status != STATUS_OK) {
        return status;
    }
    taking->is_group = recording_is_group(def.world_count, def.world_range);
    def.space = take_space(merge, incoming, arena);
    status = find_home(merge, taking, &def, error);
    if (status != STATUS_OK) {
        return status;
    }
    const bool has_seal = take_one(merge,
                                   "SELECT bytes FROM chunk WHERE recording = ?1 AND kind = 7 "
                                   "ORDER BY id",
                                   incoming, arena, &chunk, error) == STATUS_OK;
    taking->is_closed =
        !has_seal && writer_read_seal(&merge->writer, taking->recording, incoming->uid, arena,
                                      &seal, error) == STATUS_OK;
    if ((status = take_chunks(merge, taking, error)) != STATUS_OK ||
        (status = settle(merge, taking, &def, arena, error)) != STATUS_OK) {
        return status;
    }
    return take_pins(merge, taking, error);
}

// All of it, in one transaction, or nothing.
static Status take_recording(Merge *merge, const Incoming *incoming, Error *error) {
    if (is_going(merge, incoming)) {
        return STATUS_OK;
    }
    const uint64_t recordings = merge->recordings, chunks = merge->chunks;
    Arena arena;
    arena_init(&arena, ARENA_BYTES_MAX);
    Status status = writer_begin(&merge->writer, false, error);
    if (status == STATUS_OK) {
        Taking taking = {.incoming = incoming};
        status = take_defined(merge, &taking, &arena, error);
        status = STATUS_THEN(status, writer_commit(&merge->writer, error));
        if (status != STATUS_OK) {
            writer_rollback(&merge->writer);
            merge->recordings = recordings;
            merge->chunks = chunks;
        }
    }
    arena_deinit(&arena);
    return status == STATUS_ABORTED ? STATUS_OK : status; // it was told
}

// ---- one file

static Status take_recordings(Merge *merge, Error *error) {
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(merge->from, "SELECT id, uid FROM recording ORDER BY id", -1,
                                  &statement, NULL);
    Status status = STATUS_OK;
    while (code == SQLITE_OK && status == STATUS_OK &&
           (code = sqlite3_step(statement)) == SQLITE_ROW) {
        code = SQLITE_OK;
        Incoming incoming = {.id = sqlite3_column_int64(statement, 0)};
        const void *uid = sqlite3_column_blob(statement, 1);
        if (uid == NULL || sqlite3_column_bytes(statement, 1) != UID_BYTES) {
            continue; // --recover makes such a row right
        }
        memcpy(incoming.uid, uid, UID_BYTES);
        status = take_recording(merge, &incoming, error);
    }
    status = status == STATUS_OK && code != SQLITE_DONE ? fail_from(merge, error) : status;
    sqlite3_finalize(statement);
    return status;
}

// SQLite would drop what lies behind a damaged frame, and say nothing.
static Status check_log(const char *path, Error *error) {
    WalJudged judged;
    Status status = wal_judge(path, &judged, error);
    if (status == STATUS_OK && (judged.lost_count > 0 || judged.flip_count > 0)) {
        status = error_set(error, STATUS_DATA_LOSS, NULL,
                           "The write-ahead log of %.200s is damaged: mend it with moreau-server "
                           "--recover, and merge then.",
                           path);
    }
    return status;
}

static Status take_open_file(Merge *merge, Error *error) {
    Status status = schema_open_whole(merge->path, &merge->from, error);
    status = STATUS_THEN(status, take_recordings(merge, error));
    sqlite3_close(merge->from);
    merge->from = NULL;
    return status;
}

static Status check_there(const char *path, Error *error) {
    return access(path, F_OK) == 0
               ? STATUS_OK
               : error_set(error, STATUS_NOT_FOUND, NULL, "%.250s is not there.", path);
}

static Status take_file(Merge *merge, const char *path, Error *error) {
    merge->path = path;
    merge->recordings = merge->chunks = 0;
    const uint64_t refused = merge->refused;
    FileLock lock;
    Error why = {0};
    if (check_there(path, error) != STATUS_OK) {
        return error->status;
    }
    if (lock_take(&lock, path, &why) != STATUS_OK) {
        return error_set(error, why.status, NULL,
                         "%.150s cannot be merged: %.250s Of a running server merge a copy: moreau "
                         "backup.",
                         path, why.message);
    }
    Status status = check_log(path, error);
    status = STATUS_THEN(status, take_open_file(merge, error));
    lock_release(&lock);
    if (status == STATUS_OK) {
        fprintf(merge->says,
                "%s: %" PRIu64 " new recordings, %" PRIu64 " new chunks, %" PRIu64
                " recordings refused.\n",
                path, merge->recordings, merge->chunks, merge->refused - refused);
        fflush(merge->says);
    }
    return status;
}

// ---- all

static Status take_files(Merge *merge, const char *out, const char *const *in, size_t count,
                         Error *error) {
    Status status = check_log(out, error);
    status = STATUS_THEN(status, writer_open(&merge->writer, out, true, error));
    if (status != STATUS_OK) {
        return status;
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = take_file(merge, in[i], error);
    }
    Error settling = {0};
    if (writer_settle(&merge->writer, &settling) != STATUS_OK && status == STATUS_OK) {
        status = error_set(error, settling.status, NULL, "%s", settling.message);
    }
    writer_close(&merge->writer);
    return status;
}

Status merge_files(const char *out, const char *const *in, size_t count, FILE *says, Error *error) {
    Merge merge = {.says = says};
    Status status = schema_check_path(out, error);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = check_there(in[i], error); // before anything is made
    }
    if (status != STATUS_OK) {
        return status;
    }
    FileLock lock;
    status = lock_take(&lock, out, error);
    if (status != STATUS_OK) {
        return status;
    }
    status = take_files(&merge, out, in, count, error);
    wal_mark_forget(out);
    lock_release(&lock);
    free(merge.place);
    if (status == STATUS_OK && merge.refused + merge.damaged > 0) {
        status = error_set(error, STATUS_DATA_LOSS, NULL,
                           "Merged into %.200s, but for %" PRIu64 " recordings and %" PRIu64
                           " damaged chunks, which the files that they are in still have.",
                           out, merge.refused, merge.damaged);
    }
    return status;
}
