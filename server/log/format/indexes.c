// SPDX-License-Identifier: MIT
#include "log/format/indexes.h"

#include "log/format/doubt.h"
#include "log/format/schema.h"

#include <stdio.h>
#include <string.h>

// Row ids above ?1 and up to ?3, ?2 of them; which of them `index` does not lead to, by `key` of
// the row t. Only what is asked for is read: no bytes of chunks.
#define BY_ID(table, columns, condition, index, key)                                               \
    "SELECT max(id), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM " table                      \
    " i INDEXED BY " index " WHERE " key " AND i.id = t.id)) FROM (SELECT id, " columns            \
    " FROM " table " NOT INDEXED WHERE id > ?1 AND id <= ?3" condition " ORDER BY id LIMIT ?2) t"

// Those of the first recording above ?1 and up to ?3, along the key that the table is in order by.
#define BY_RECORDING(table, columns, index, key)                                                   \
    "SELECT max(recording), count(*) FILTER (WHERE NOT EXISTS (SELECT 1 FROM " table               \
    " i INDEXED BY " index " WHERE " key ")) FROM (SELECT " columns " FROM " table                 \
    " INDEXED BY sqlite_autoindex_" table "_1 WHERE ?2 > 0 AND recording = "                       \
    "(SELECT min(recording) FROM " table " INDEXED BY sqlite_autoindex_" table                     \
    "_1 WHERE recording > ?1 AND recording <= ?3)) t"

static const struct {
    const char *name;
    IndexScope scope;
    const char *sql;
} table[INDEX_COUNT] = {
    {"sqlite_autoindex_recording_1", INDEX_OF_RECORDING,
     BY_ID("recording", "uid", "", "sqlite_autoindex_recording_1", "i.uid IS t.uid")},
    {"recording_by_name", INDEX_OF_RECORDING,
     BY_ID("recording", "name", "", "recording_by_name", "i.name IS t.name")},
    {"recording_by_client", INDEX_OF_RECORDING,
     BY_ID("recording", "client, begun_ns", "", "recording_by_client",
           "i.client IS t.client AND i.begun_ns IS t.begun_ns")},
    {"recording_by_end", INDEX_OF_RECORDING,
     BY_ID("recording", "ended_ns", " AND state <> 0", "recording_by_end",
           "i.ended_ns IS t.ended_ns AND i.state <> 0")},
    {"episode_by_time", INDEX_OF_EPISODE,
     BY_ID("episode", "begun_ns", "", "episode_by_time", "i.begun_ns IS t.begun_ns")},
    {"episode_by_state", INDEX_OF_EPISODE,
     BY_ID("episode", "state, begun_ns", " AND state <> 1", "episode_by_state",
           "i.state IS t.state AND i.begun_ns IS t.begun_ns AND i.state <> 1")},
    {"episode_by_doubt", INDEX_OF_EPISODE,
     BY_ID("episode", DOUBTFUL_SHARE_SQL " AS share", " AND return_doubtful IS NOT NULL",
           "episode_by_doubt", DOUBTFUL_SHARE_SQL " IS t.share AND return_doubtful IS NOT NULL")},
    {"chunk_by_step", INDEX_OF_CHUNK,
     BY_ID("chunk", "recording, first_world, kind, first_step, sequence", "", "chunk_by_step",
           "i.recording IS t.recording AND i.first_world IS t.first_world AND i.kind IS t.kind AND "
           "i.first_step IS t.first_step AND i.sequence IS t.sequence")},
    {"touch_of_bodies", INDEX_OF_TOUCHES,
     BY_RECORDING("touch", "recording, first_step, body, other_body", "touch_of_bodies",
                  "i.recording = t.recording AND i.body = t.body AND i.other_body = t.other_body "
                  "AND i.first_step = t.first_step")},
    {"touch_body_by_name", INDEX_OF_TOUCHES,
     BY_RECORDING("touch_body", "recording, body, name", "touch_body_by_name",
                  "i.name IS t.name AND i.recording = t.recording AND i.body = t.body")},
    // few, and in order by their text
    {"label_of_recording", INDEX_OF_ALL,
     "SELECT CASE WHEN ?1 < 0 AND count(*) > 0 THEN 0 END, count(*) FILTER (WHERE NOT EXISTS "
     "(SELECT 1 FROM label i INDEXED BY label_of_recording WHERE i.recording = t.recording AND "
     "i.label = t.label)) FROM label t INDEXED BY sqlite_autoindex_label_1 WHERE ?2 > 0"},
    {"sqlite_autoindex_geometry_1", INDEX_OF_ALL,
     "SELECT CASE WHEN ?1 < 0 AND count(*) > 0 THEN 0 END, count(*) FILTER (WHERE NOT EXISTS "
     "(SELECT 1 FROM geometry i INDEXED BY sqlite_autoindex_geometry_1 WHERE i.name IS t.name AND "
     "i.id = t.id)) FROM geometry t NOT INDEXED WHERE ?2 > 0"},
    {"worn_by_recording", INDEX_OF_ALL,
     "SELECT CASE WHEN ?1 < 0 AND count(*) > 0 THEN 0 END, count(*) FILTER (WHERE NOT EXISTS "
     "(SELECT 1 FROM worn i INDEXED BY worn_by_recording WHERE i.recording = t.recording AND "
     "i.geometry = t.geometry)) FROM worn t INDEXED BY sqlite_autoindex_worn_1 WHERE ?2 > 0"},
};

const char *index_name(size_t index) {
    return table[index].name;
}

IndexScope index_scope(size_t index) {
    return table[index].scope;
}

void indexes_deinit(Indexes *indexes) {
    for (size_t i = 0; i < INDEX_COUNT; i++) {
        sqlite3_finalize(indexes->statement[i]);
    }
    *indexes = (Indexes){0};
}

Status indexes_look(Indexes *indexes, sqlite3 *db, size_t index, int64_t above, int64_t until,
                    int64_t rows, IndexBite *bite, Error *error) {
    sqlite3_stmt **statement = &indexes->statement[index];
    int code = SQLITE_OK;
    if (*statement == NULL) {
        code = sqlite3_prepare_v3(db, table[index].sql, -1, SQLITE_PREPARE_PERSISTENT, statement,
                                  NULL);
    }
    if (code == SQLITE_OK) {
        sqlite3_bind_int64(*statement, 1, above);
        sqlite3_bind_int64(*statement, 2, rows);
        sqlite3_bind_int64(*statement, 3, until); // of labels there is none
        code = sqlite3_step(*statement);
    }
    if (code == SQLITE_ROW) {
        bite->is_end = sqlite3_column_type(*statement, 0) == SQLITE_NULL;
        bite->last = sqlite3_column_int64(*statement, 0);
        bite->missing = (uint64_t)sqlite3_column_int64(*statement, 1);
    }
    sqlite3_reset(*statement);
    return code == SQLITE_ROW ? STATUS_OK : schema_error(db, code, "checking its indexes", error);
}

// ---- what SQLite finds

// "row 5 missing from index X", "wrong # of entries in index X", "non-unique entry in index X".
static bool note_find(Integrity *integrity, const char *find) {
    const char *name = strstr(find, " index ");
    const bool is_of_rows = strstr(find, " missing from index ") != NULL ||
                            strncmp(find, "wrong # of entries in index ", 28) == 0 ||
                            strncmp(find, "non-unique entry in index ", 26) == 0;
    for (size_t i = 0; is_of_rows && i < INDEX_COUNT; i++) {
        if (strcmp(name + strlen(" index "), table[i].name) == 0) {
            integrity->is_damaged[i] = true;
            return true;
        }
    }
    return false;
}

Status integrity_check(sqlite3 *db, Integrity *integrity, void (*say)(const char *, void *),
                       void *context, Error *error) {
    *integrity = (Integrity){.is_indexes_only = true};
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(db, "PRAGMA integrity_check(10000)", -1, &statement, NULL);
    while (code == SQLITE_OK || code == SQLITE_ROW) {
        code = sqlite3_step(statement);
        const char *find =
            code == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
        if (find == NULL || strcmp(find, "ok") == 0) {
            continue;
        }
        if (integrity->count++ == 0) {
            snprintf(integrity->first, sizeof(integrity->first), "%s", find);
        }
        integrity->is_indexes_only = note_find(integrity, find) && integrity->is_indexes_only;
        if (say != NULL) {
            say(find, context);
        }
    }
    // behind that many it has not looked
    integrity->is_indexes_only =
        integrity->is_indexes_only && integrity->count > 0 && integrity->count < INTEGRITY_FINDS;
    Status status = code == SQLITE_DONE ? STATUS_OK
                                        : schema_error(db, sqlite3_extended_errcode(db),
                                                       "checking the file", error);
    sqlite3_finalize(statement);
    return status;
}
