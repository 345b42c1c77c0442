// SPDX-License-Identifier: MIT
#include "log/writer/writer.h"

#include "base/assert.h"
#include "log/writer/episode_rows.h"
#include "log/format/events.h"
#include "log/format/indexes.h"
#include "log/format/members.h"
#include "log/format/schema.h"
#include "log/writer/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE_BUSY_MS = 500 }; // for readers of other programs to end

// Deleting 100 chunks of 100 kB frees some 10 MB: about what one batch of the queue writes.
#define PIECE_CHUNKS "100"

// A row that nothing refers to, also nothing that has lost its recording. Text, which is more than
// any number, and numbers beyond all reason do not count.
#define MAX_OF(column, table)                                                                      \
    "coalesce((SELECT max(" column ") FROM " table " WHERE " column " < 2147483647), 0)"
#define NEXT_RECORDING                                                                             \
    "1 + max(0, " MAX_OF("id", "recording") ", " MAX_OF(                                           \
        "recording", "chunk") ", "                                                                 \
                              "coalesce((SELECT max(id) FROM episode WHERE id < 2147483647 << "    \
                              "32), 0) >> 32, " MAX_OF("recording", "deletion") ")"

static const char *const texts[WRITER_STATEMENT_COUNT] = {
    [WRITE_BEGIN] = "BEGIN IMMEDIATE",
    [WRITE_COMMIT] = "COMMIT",
    [WRITE_ROLLBACK] = "ROLLBACK",
    [WRITE_RECORDING] =
        "INSERT INTO recording(id, uid, state, content, stride, keyframe_steps, lossy, "
        "world_count, world_range, name, solver, client, world_name, world_step, world_time, "
        "time_step, body_count, dynamics_version, server_version, build, begun_ns, events, "
        "namespace) "
        "VALUES(coalesce(?1, " NEXT_RECORDING
        "), ?2, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, "
        "?16, ?17, ?18, ?19, ?20, ?21, ?22)",
    // what fails takes the whole transaction back: SQLite needs to keep no pages for the statement
    [WRITE_EPISODES] = "INSERT OR FAIL INTO episode(id, recording, " EPISODE_ROWS_COLUMNS
                       ") SELECT (?1 << 32) + number, ?1, * FROM episode_rows(?2)",
    [WRITE_LABEL] = "INSERT OR IGNORE INTO label(label, recording) VALUES(?1, ?2)",
    [WRITE_CHUNK] =
        "INSERT INTO chunk(recording, kind, sequence, first_world, world_count, first_step, "
        "last_step, time_s, written_ns, unconverged, worst_own, worst_penetration, contacts_max, "
        "hardest_impact, hardest_impact_step, energy_gain, energy_gain_step, gain, gain_scale, "
        "gain_step, solver, bytes) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
        "?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
    [WRITE_HIGHLIGHT] =
        "INSERT OR REPLACE INTO highlight VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9,"
        " ?10, ?11, ?12, ?13)",
    [WRITE_TOUCH] = "INSERT OR REPLACE INTO touch VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [WRITE_TOUCH_BODY] = "INSERT OR REPLACE INTO touch_body VALUES(?1, ?2, ?3)",
    [WRITE_GEOMETRY] = "INSERT OR REPLACE INTO geometry(name, bytes) VALUES(?1, ?2)",
    [WRITE_WORN] = "INSERT OR IGNORE INTO worn(geometry, recording) VALUES(?1, ?2)",
    [WRITE_EPISODE_END] =
        "UPDATE episode SET last_step = ?2, state = ?3, simulated_s = ?4, ended_ns = ?5, "
        "unconverged = ?6, worst_own = ?7, worst_penetration = ?8, contacts_max = ?9, "
        "hardest_impact = ?10, hardest_impact_step = ?11, energy_gain = ?12, "
        "energy_gain_step = ?13, gain = ?14, gain_scale = ?15, gain_step = ?16 WHERE id = ?1 << 32",
    [WRITE_RECORDING_END] = "UPDATE recording SET state = ?2, why = ?3, dropped_steps = ?4, "
                            "ended_ns = ?5 WHERE id = ?1",
    [WRITE_PIN] = "UPDATE episode SET pinned = ?2 WHERE id = ?1",
    [WRITE_DELETION] = "INSERT OR REPLACE INTO deletion VALUES(?1, ?2, ?3, ?4)",
    // along the index alone, however large the chunks are
    [READ_CHAINS] = "SELECT first_world, kind, count(*), max(sequence) FROM chunk "
                    "WHERE recording = ?1 GROUP BY first_world, kind",
    [READ_CHAIN_END] =
        "SELECT world_count, last_step, time_s, written_ns, substr(bytes, 1, ?5), id FROM chunk "
        "WHERE recording = ?1 AND first_world = ?2 AND kind = ?3 AND sequence = ?4 LIMIT 1",
    [READ_SEAL] = "SELECT bytes FROM chunk WHERE recording = ?1 AND first_world = 0 AND kind = 7 "
                  "ORDER BY first_step, sequence LIMIT 1",
    [READ_DEFINITION] = "SELECT bytes FROM chunk WHERE recording = ?1 AND first_world = 0 AND "
                        "kind = 6 ORDER BY first_step, sequence LIMIT 1",
    [READ_OPEN] = "SELECT id, uid FROM recording WHERE state = 0 AND id > ?1 ORDER BY id LIMIT 1",
    [READ_EPISODE] =
        "SELECT e.id, r.id, r.uid, r.state, EXISTS (SELECT 1 FROM episode o WHERE "
        "o.id" MEMBERS_OF("r.id") " AND o.id <> e.id), e.pinned FROM recording r "
                                  "JOIN episode e ON e.id = (r.id << 32) + ?2 WHERE r.uid = ?1",
    [READ_DELETION] = "SELECT d.recording, d.uid, d.asked_ns, d.checksum, EXISTS (SELECT 1 FROM "
                      "episode e WHERE e.id" MEMBERS_OF(
                          "d.recording") ") FROM deletion d "
                                         "WHERE d.recording > ?1 ORDER BY d.recording LIMIT 1",
    [READ_ORPHAN] = "SELECT count(*) FROM recording r WHERE world_count = 1 AND world_range = 1 "
                    "AND NOT EXISTS "
                    "(SELECT 1 FROM episode e WHERE e.id" MEMBERS_OF(
                        "r.id") ") AND NOT EXISTS "
                                "(SELECT 1 FROM deletion d WHERE d.recording = r.id)",
    [READ_STRAY] = "SELECT recording, EXISTS (SELECT 1 FROM recording r WHERE r.id = c.recording) "
                   "OR EXISTS (SELECT 1 FROM deletion d WHERE d.recording = c.recording) "
                   "FROM chunk c WHERE recording > ?1 ORDER BY recording LIMIT 1",
    [READ_FREE_PAGES] = "PRAGMA freelist_count",
    [READ_USED_BYTES] = "SELECT (page_count - freelist_count) * page_size FROM pragma_page_count, "
                        "pragma_freelist_count, pragma_page_size",
    [READ_ENDED] =
        "SELECT id, uid, begun_ns, ended_ns FROM recording r WHERE state <> 0 AND "
        "(ended_ns, id) > (?1, ?2) AND NOT EXISTS (SELECT 1 FROM deletion d WHERE d.recording = "
        "r.id) ORDER BY ended_ns, id LIMIT ?3",
    [READ_NEWEST] = "SELECT id, ended_ns FROM recording WHERE state <> 0 AND ended_ns BETWEEN "
                    "begun_ns AND ?1 ORDER BY ended_ns DESC, id DESC",
    [READ_NEWER] = "SELECT 1 FROM recording WHERE state <> 0 AND (ended_ns, id) > (?1, ?2) AND "
                   "ended_ns BETWEEN begun_ns AND ?3 LIMIT 1",
    [READ_EPISODE_COUNT] =
        "SELECT count(*) FROM (SELECT 1 FROM episode WHERE id" MEMBERS_OF("?1") " LIMIT ?2)",
    [READ_PINNED] =
        "SELECT 1 FROM episode WHERE id" MEMBERS_OF("?1") " AND pinned IS NOT 0 LIMIT 1",
    [READ_UID] = "SELECT id FROM recording WHERE uid = ?1",
    [READ_PLACE] =
        "SELECT id, bytes FROM chunk WHERE recording = ?1 AND first_world = ?2 AND "
        "kind = ?3 AND first_step = ?4 AND sequence = ?5 AND id > ?6 ORDER BY id LIMIT 1",
    [READ_PLACES] = "SELECT id, first_world, kind, sequence FROM chunk WHERE recording = ?1",
    [READ_BYTES] = "SELECT bytes FROM chunk WHERE id = ?1",
    [READ_GEOMETRY] = "SELECT bytes FROM geometry WHERE name = ?1",
    [MEND_CHUNK] =
        "UPDATE chunk SET recording = ?1, kind = ?2, sequence = ?3, first_world = ?4, "
        "world_count = ?5, first_step = ?6, last_step = ?7, time_s = ?8, written_ns = ?9, "
        "unconverged = ?10, worst_own = ?11, worst_penetration = ?12, contacts_max = ?13, "
        "hardest_impact = ?14, hardest_impact_step = ?15, energy_gain = ?16, "
        "energy_gain_step = ?17, gain = ?18, gain_scale = ?19, gain_step = ?20, solver = ?21 "
        "WHERE id = ?22 AND (recording, kind, sequence, "
        "first_world, world_count, first_step, last_step, time_s, written_ns, unconverged, "
        "worst_own, worst_penetration, contacts_max, hardest_impact, hardest_impact_step, "
        "energy_gain, energy_gain_step, gain, gain_scale, gain_step, solver) IS NOT (?1, ?2, ?3, "
        "?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)",
    // those that it alone names
    [DELETE_WORN_OUT] =
        "DELETE FROM geometry WHERE name IN (SELECT w.geometry FROM worn w WHERE w.recording = ?1 "
        "AND NOT EXISTS (SELECT 1 FROM worn o WHERE o.geometry = w.geometry AND o.recording <> "
        "?1))",
    [DELETE_WORN] = "DELETE FROM worn WHERE recording = ?1",
    [DELETE_LABELS] = "DELETE FROM label WHERE recording = ?1",
    [DELETE_EPISODE] = "DELETE FROM episode WHERE id = ?1",
    [DELETE_EPISODES] = "DELETE FROM episode WHERE id IN (SELECT id FROM episode WHERE "
                        "id" MEMBERS_OF("?1") " LIMIT ?2)",
    [DELETE_CHUNKS] = "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE recording = ?1 "
                      "AND substr(bytes, 17, 16) = ?2 LIMIT " PIECE_CHUNKS ")",
    [DELETE_HIGHLIGHTS] = "DELETE FROM highlight WHERE recording = ?1",
    [DELETE_TOUCHES] = "DELETE FROM touch WHERE recording = ?1",
    [DELETE_TOUCH_BODIES] = "DELETE FROM touch_body WHERE recording = ?1",
    [DELETE_RECORDING] = "DELETE FROM recording WHERE id = ?1 AND uid = ?2",
    [DELETE_DELETION] = "DELETE FROM deletion WHERE recording = ?1",
};

// ---- statements

Status writer_step(Writer *writer, WriterStatement which, const char *doing, bool *has_row,
                   Error *error) {
    int code = sqlite3_step(writer_get(writer, which));
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        Status status = schema_error(writer->db, code, doing, error);
        sqlite3_reset(writer_get(writer, which));
        return status;
    }
    if (has_row != NULL) {
        *has_row = code == SQLITE_ROW;
    }
    if (code == SQLITE_DONE) {
        sqlite3_reset(writer_get(writer, which));
    }
    return STATUS_OK;
}

void bind_figures(sqlite3_stmt *statement, int index, const StepFigures *figures) {
    if (figures == NULL) {
        for (int i = 0; i < 11; i++) {
            sqlite3_bind_null(statement, index + i);
        }
        return;
    }
    bind_u64(statement, index, figures->unconverged_steps);
    sqlite3_bind_double(statement, index + 1, figures->worst_own);
    sqlite3_bind_double(statement, index + 2, figures->worst_penetration);
    bind_u64(statement, index + 3, figures->contacts_max);
    sqlite3_bind_double(statement, index + 4, figures->hardest_impact);
    bind_u64(statement, index + 5, figures->hardest_impact_step);
    sqlite3_bind_double(statement, index + 6, figures->energy_gain);
    bind_u64(statement, index + 7, figures->energy_gain_step);
    const double gain[] = {figures->gain.sum, figures->gain.scale, figures->gain.step};
    for (int i = 0; i < 3; i++) {
        if (figures->has_gain) {
            sqlite3_bind_double(statement, index + 8 + i, gain[i]);
        } else {
            sqlite3_bind_null(statement, index + 8 + i);
        }
    }
}

void writer_copy_uid(sqlite3_stmt *statement, int column, uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES);
    const void *bytes = sqlite3_column_blob(statement, column);
    if (bytes != NULL && sqlite3_column_bytes(statement, column) == UID_BYTES) {
        memcpy(uid, bytes, UID_BYTES);
    }
}

// ---- life

Status writer_open(Writer *writer, const char *path, bool full_durability, Error *error) {
    *writer = (Writer){.full_durability = full_durability};
    Status status = schema_open(path, full_durability, &writer->db, error);
    if (status == STATUS_OK) {
        int code = episode_rows_register(writer->db);
        status =
            code == SQLITE_OK ? status : schema_error(writer->db, code, "opening the log", error);
    }
    for (int i = 0; status == STATUS_OK && i < WRITER_STATEMENT_COUNT; i++) {
        int code = sqlite3_prepare_v3(writer->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                      &writer->statement[i], NULL);
        if (code == SQLITE_ERROR) { // the text is ours: the tables are not
            status = error_set(error, STATUS_DATA_LOSS, "db",
                               "%.200s has not the tables of a log (%.80s): copy what can be read "
                               "with moreau-server --recover FILE.",
                               path, sqlite3_errmsg(writer->db));
        } else if (code != SQLITE_OK) {
            status = schema_error(writer->db, code, "opening the log", error);
        }
    }
    if (status != STATUS_OK) {
        writer_close(writer);
    }
    return status;
}

void writer_close(Writer *writer) {
    for (int i = 0; i < WRITER_STATEMENT_COUNT; i++) {
        sqlite3_finalize(writer->statement[i]);
    }
    int code = sqlite3_close(writer->db);
    ASSERT(code == SQLITE_OK); // a statement would have been left
    free(writer->geometry);
    *writer = (Writer){0};
}

// ---- transactions

static void set_synced(Writer *writer, bool synced) {
    if (!writer->full_durability && synced != writer->is_synced) {
        sqlite3_exec(writer->db,
                     synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", NULL,
                     NULL, NULL);
        writer->is_synced = synced;
    }
}

Status writer_begin(Writer *writer, bool synced, Error *error) {
    set_synced(writer, synced);
    return writer_step(writer, WRITE_BEGIN, "beginning a transaction", NULL, error);
}

Status writer_commit(Writer *writer, Error *error) {
    return writer_step(writer, WRITE_COMMIT, "writing into the log", NULL, error);
}

void writer_rollback(Writer *writer) {
    for (int i = 0; i < WRITER_STATEMENT_COUNT; i++) {
        sqlite3_reset(writer->statement[i]);
    }
    writer->geometry_count = 0;
    // some errors have rolled back already; then this would be one more
    if (!sqlite3_get_autocommit(writer->db)) {
        writer_step(writer, WRITE_ROLLBACK, "taking a transaction back", NULL, NULL);
    }
}

// ---- recordings

static Status add_labels(Writer *writer, const RecordingDef *def, int64_t recording, Error *error) {
    Status status = STATUS_OK;
    for (size_t i = 0; i < def->label_count && status == STATUS_OK; i++) {
        bind_text(writer_get(writer, WRITE_LABEL), 1, def->label[i]);
        sqlite3_bind_int64(writer_get(writer, WRITE_LABEL), 2, recording);
        status = writer_step(writer, WRITE_LABEL, "writing a label", NULL, error);
    }
    return status;
}

static Status add_rows(Writer *writer, int64_t recording, EpisodeSource source, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, WRITE_EPISODES);
    sqlite3_bind_int64(statement, 1, recording);
    episode_rows_bind(statement, 2, &source);
    Status status = writer_step(writer, WRITE_EPISODES, "writing an episode", NULL, error);
    sqlite3_clear_bindings(statement); // `source` ends here
    return status;
}

// The episode of a world: its end is not known yet.
static Status add_open_episode(Writer *writer, const RecordingDef *def, int64_t recording,
                               Error *error) {
    EpisodeRecord record = {.state = RECORDING_OPEN,
                            .has_seed = def->has_seed,
                            .seed = def->seed,
                            .begun_ns = def->begun_ns,
                            .parent_step = def->parent_step};
    if (def->has_parent) {
        memcpy(record.parent, def->parent, UID_BYTES);
    }
    return add_rows(writer, recording, (EpisodeSource){.record = &record}, error);
}

Status writer_add_recording(Writer *writer, const RecordingDef *def, int64_t *recording,
                            Error *error) {
    sqlite3_stmt *statement = writer_get(writer, WRITE_RECORDING);
    if (*recording == WRITER_NEXT_ROW) {
        sqlite3_bind_null(statement, 1);
    } else {
        sqlite3_bind_int64(statement, 1, *recording);
    }
    bind_uid(statement, 2, def->uid);
    sqlite3_bind_int(statement, 3, (int)def->content);
    bind_u64(statement, 4, def->stride);
    bind_u64(statement, 5, def->keyframe_steps);
    sqlite3_bind_int(statement, 6, def->lossy);
    bind_u64(statement, 7, def->world_count);
    bind_u64(statement, 8, def->world_range);
    bind_text(statement, 9, def->name);
    bind_text(statement, 10, def->solver);
    bind_text(statement, 11, def->client);
    bind_text(statement, 12, def->world_name);
    bind_u64(statement, 13, def->world_step);
    sqlite3_bind_double(statement, 14, def->world_time);
    sqlite3_bind_double(statement, 15, def->time_step);
    bind_u64(statement, 16, def->body_count);
    bind_u64(statement, 17, def->dynamics_version);
    bind_text(statement, 18, def->server_version);
    bind_text(statement, 19, def->build);
    bind_u64(statement, 20, def->begun_ns);
    sqlite3_bind_int(statement, 21, def->has_events);
    if (def->space == NULL) {
        sqlite3_bind_null(statement, 22);
    } else {
        bind_text(statement, 22, def->space);
    }
    Status status = writer_step(writer, WRITE_RECORDING, "writing a recording", NULL, error);
    if (status != STATUS_OK && (sqlite3_errcode(writer->db) & 0xff) == SQLITE_CONSTRAINT) {
        return error_set(error, STATUS_ALREADY_EXISTS, NULL,
                         "The log has a recording of this id already.");
    }
    if (status != STATUS_OK) {
        return status;
    }
    *recording = sqlite3_last_insert_rowid(writer->db);
    status = add_labels(writer, def, *recording, error);
    return status == STATUS_OK && !recording_is_group(def->world_count, def->world_range)
               ? add_open_episode(writer, def, *recording, error)
               : status;
}

// ---- chunks

static Status add_highlights(Writer *writer, int64_t recording, const Chunk *chunk, Error *error) {
    size_t count;
    Status status = highlights_open(chunk, &count, error);
    sqlite3_stmt *statement = writer_get(writer, WRITE_HIGHLIGHT);
    for (size_t i = 0; status == STATUS_OK && i < count; i++) {
        Highlight highlight = highlights_get(chunk, i);
        sqlite3_clear_bindings(statement); // what is not bound below is NULL
        sqlite3_bind_int64(statement, 1, recording);
        sqlite3_bind_int(statement, 2, (int)highlight.kind);
        bind_u64(statement, 3, chunk->first_world);
        bind_u64(statement, 4, highlight.first_step);
        bind_u64(statement, 5, highlight.last_step);
        bind_u64(statement, 6, highlight.step);
        sqlite3_bind_double(statement, 7, highlight.value);
        if (highlight.reason > 0) {
            bind_u64(statement, 8, highlight.reason);
            bind_u64(statement, 9, highlight.body);
            bind_u64(statement, 10, highlight.contacts);
        } else if (highlight.kind == HIGHLIGHT_LAUNCH) {
            bind_u64(statement, 9, highlight.body);
            bind_u64(statement, 11, highlight.other);
            sqlite3_bind_double(statement, 12, highlight.height);
        } else if (highlight.kind == HIGHLIGHT_BROKEN) {
            bind_u64(statement, 13, highlight.joint);
        }
        status = writer_step(writer, WRITE_HIGHLIGHT, "writing a highlight", NULL, error);
    }
    return status;
}

static Status add_touch(Writer *writer, int64_t recording, const Touch *touch, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, WRITE_TOUCH);
    sqlite3_bind_int64(statement, 1, recording);
    bind_u64(statement, 2, touch->first_step);
    bind_u64(statement, 3, touch->body);
    bind_u64(statement, 4, touch->other);
    if (touch->is_over) {
        bind_u64(statement, 5, touch->last_step);
    } else {
        sqlite3_bind_null(statement, 5);
    }
    sqlite3_bind_double(statement, 6, touch->approach);
    sqlite3_bind_double(statement, 7, touch->first_impulse);
    sqlite3_bind_double(statement, 8, touch->hardest);
    bind_u64(statement, 9, touch->hardest_step);
    return writer_step(writer, WRITE_TOUCH, "writing a touch", NULL, error);
}

// Those that have changed: the others have their rows.
static Status add_events(Writer *writer, int64_t recording, const Chunk *chunk, Error *error) {
    EventsChunk events;
    TouchName name;
    size_t at = 0;
    Status status = events_open(chunk, &events, error);
    for (size_t i = 0; status == STATUS_OK && i < events.changed_count; i++) {
        const Touch touch = events_get(&events, i);
        status = add_touch(writer, recording, &touch, error);
    }
    sqlite3_stmt *statement = writer_get(writer, WRITE_TOUCH_BODY);
    while (status == STATUS_OK && events_next_name(&events, &at, &name)) {
        sqlite3_bind_int64(statement, 1, recording);
        bind_u64(statement, 2, name.body);
        sqlite3_bind_text64(statement, 3, name.text, name.bytes, SQLITE_STATIC, SQLITE_UTF8);
        status = writer_step(writer, WRITE_TOUCH_BODY, "writing a body's name", NULL, error);
    }
    return status;
}

static Status add_episodes(Writer *writer, int64_t recording, const Chunk *chunk, Error *error) {
    EpisodesChunk episodes;
    Status status = episodes_open(chunk, &episodes, error);
    return STATUS_THEN(status,
                       add_rows(writer, recording, (EpisodeSource){.episodes = &episodes}, error));
}

static void bind_chunk(sqlite3_stmt *statement, int64_t recording, const Chunk *chunk) {
    bool has_figures = chunk->kind == CHUNK_INPUTS;
    sqlite3_bind_int64(statement, 1, recording);
    sqlite3_bind_int(statement, 2, (int)chunk->kind);
    bind_u64(statement, 3, chunk->sequence);
    bind_u64(statement, 4, chunk->first_world);
    bind_u64(statement, 5, chunk->world_count);
    bind_u64(statement, 6, chunk->first_step);
    bind_u64(statement, 7, chunk->last_step);
    sqlite3_bind_double(statement, 8, chunk->time);
    bind_u64(statement, 9, chunk->written_ns);
    bind_figures(statement, 10, has_figures ? &chunk->figures : NULL);
    if (has_figures) {
        bind_text(statement, 21, chunk->solver);
    } else {
        sqlite3_bind_null(statement, 21);
    }
}

Status writer_put_chunk(Writer *writer, int64_t recording, const Chunk *chunk, const uint8_t *bytes,
                        size_t count, Error *error) {
    int bytes_max = sqlite3_limit(writer->db, SQLITE_LIMIT_LENGTH, -1);
    if (count > (size_t)bytes_max) {
        return error_set(error, STATUS_OUT_OF_RANGE, NULL,
                         "A chunk of %zu bytes does not fit into one row of the log, which holds "
                         "%d: record a smaller world, or fewer steps per chunk.",
                         count, bytes_max);
    }
    sqlite3_stmt *statement = writer_get(writer, WRITE_CHUNK);
    bind_chunk(statement, recording, chunk);
    sqlite3_bind_blob64(statement, 22, bytes, count, SQLITE_STATIC);
    return writer_step(writer, WRITE_CHUNK, "writing a chunk", NULL, error);
}

Status writer_add_derived(Writer *writer, int64_t recording, const Chunk *chunk, Error *error) {
    if (chunk->kind == CHUNK_HIGHLIGHTS) {
        return add_highlights(writer, recording, chunk, error);
    }
    if (chunk->kind == CHUNK_EVENTS) {
        return add_events(writer, recording, chunk, error);
    }
    if (chunk->kind == CHUNK_GEOMETRIES) {
        return writer_add_worn(writer, recording, chunk, error);
    }
    return chunk->kind == CHUNK_EPISODES ? add_episodes(writer, recording, chunk, error)
                                         : STATUS_OK;
}

Status writer_add_chunk(Writer *writer, int64_t recording, const Chunk *chunk, const uint8_t *bytes,
                        size_t count, Error *error) {
    Status status = writer_put_chunk(writer, recording, chunk, bytes, count, error);
    return STATUS_THEN(status, writer_add_derived(writer, recording, chunk, error));
}

// ---- mending

Status writer_mend_chunk(Writer *writer, int64_t id, int64_t recording, const Chunk *chunk,
                         bool *changed, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, MEND_CHUNK);
    bind_chunk(statement, recording, chunk);
    sqlite3_bind_int64(statement, 22, id);
    Status status = writer_step(writer, MEND_CHUNK, "mending a row", NULL, error);
    *changed = status == STATUS_OK && sqlite3_changes(writer->db) > 0;
    return status;
}

Status writer_find_recording(Writer *writer, const uint8_t uid[UID_BYTES], int64_t *recording,
                             Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_UID);
    bind_uid(statement, 1, uid);
    bool has_row = false;
    Status status = writer_step(writer, READ_UID, "looking for a recording", &has_row, error);
    if (status == STATUS_OK && has_row) {
        *recording = sqlite3_column_int64(statement, 0);
        sqlite3_reset(statement);
    }
    return status == STATUS_OK && !has_row ? STATUS_NOT_FOUND : status;
}

Status writer_find_place(Writer *writer, int64_t recording, const Chunk *chunk, int64_t above,
                         int64_t *id, bool *is_same, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_PLACE);
    sqlite3_bind_int64(statement, 1, recording);
    bind_u64(statement, 2, chunk->first_world);
    sqlite3_bind_int(statement, 3, (int)chunk->kind);
    bind_u64(statement, 4, chunk->first_step);
    bind_u64(statement, 5, chunk->sequence);
    sqlite3_bind_int64(statement, 6, above);
    bool has_row = false;
    Status status = writer_step(writer, READ_PLACE, "looking for a chunk", &has_row, error);
    if (status != STATUS_OK || !has_row) {
        return status != STATUS_OK ? status : STATUS_NOT_FOUND;
    }
    Chunk found;
    const uint8_t *bytes = sqlite3_column_blob(statement, 1);
    size_t count = (size_t)sqlite3_column_bytes(statement, 1);
    *id = sqlite3_column_int64(statement, 0);
    *is_same = bytes != NULL && chunk_open(bytes, count, chunk->uid, &found, NULL) == STATUS_OK &&
               found.checksum == chunk->checksum;
    sqlite3_reset(statement);
    return STATUS_OK;
}

// ---- room

Status writer_vacuum(Writer *writer, int pages, int64_t *left, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_FREE_PAGES);
    char text[64];
    sqlite3_snprintf(sizeof(text), text, "PRAGMA incremental_vacuum(%d)", pages);
    int code = sqlite3_exec(writer->db, text, NULL, NULL, NULL);
    if (code != SQLITE_OK) {
        return schema_error(writer->db, code, "giving free pages back", error);
    }
    bool has_row = false;
    Status status = writer_step(writer, READ_FREE_PAGES, "counting free pages", &has_row, error);
    *left = has_row ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

Status writer_checkpoint(Writer *writer, int *left, Error *error) {
    int in_log = 0, done = 0;
    int code =
        sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_PASSIVE, &in_log, &done);
    if (left != NULL) {
        *left = in_log - done;
    }
    if (code != SQLITE_OK) {
        return schema_error(writer->db, code, "bringing the write-ahead log in", error);
    }
    if (writer->wal_mark != NULL && done > 0) { // it has been synced first
        wal_mark_note(writer->wal_mark, writer->db, (uint64_t)done);
    }
    return STATUS_OK;
}

Status writer_reindex(Writer *writer, size_t index, Error *error) {
    char text[96];
    snprintf(text, sizeof(text), "REINDEX %s", index_name(index));
    const int code = sqlite3_exec(writer->db, text, NULL, NULL, NULL);
    return code == SQLITE_OK ? STATUS_OK
                             : schema_error(writer->db, code, "building an index", error);
}

Status writer_settle(Writer *writer, Error *error) {
    sqlite3_busy_timeout(writer->db, SETTLE_BUSY_MS);
    int code = sqlite3_wal_checkpoint_v2(writer->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    if (code == SQLITE_OK) {
        code = sqlite3_exec(writer->db, SCHEMA_HEADER_SYNC_SQL "; PRAGMA journal_mode = DELETE",
                            NULL, NULL, NULL);
    }
    return code == SQLITE_OK ? STATUS_OK
                             : schema_error(writer->db, sqlite3_extended_errcode(writer->db),
                                            "bringing the log into one file", error);
}
