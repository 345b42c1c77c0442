// SPDX-License-Identifier: MIT
// Retention: which recordings have ended, what vouches for that, and taking one away. A row alone
// makes nobody delete anything: what a recording's seal does not say as well is left where it is.
#include "log/writer/parts.h"

#include <string.h>

enum { SEALED_BYTES_MAX = 1 << 30 }; // of a definition, which holds a group's template, and a seal

Status writer_used_bytes(Writer *writer, uint64_t *bytes, Error *error) {
    bool has_row = false;
    Status status = writer_step(writer, READ_USED_BYTES, "counting pages", &has_row, error);
    *bytes = has_row ? (uint64_t)sqlite3_column_int64(writer_get(writer, READ_USED_BYTES), 0) : 0;
    sqlite3_reset(writer_get(writer, READ_USED_BYTES));
    return status;
}

// Counts up to `most`, however many a group has.
static Status count_episodes(Writer *writer, int64_t recording, uint64_t most, uint64_t *count,
                             Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_EPISODE_COUNT);
    sqlite3_bind_int64(statement, 1, recording);
    bind_u64(statement, 2, most < INT64_MAX ? most : INT64_MAX);
    bool has_row = false;
    Status status = writer_step(writer, READ_EPISODE_COUNT, "counting episodes", &has_row, error);
    *count = has_row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return status;
}

Status writer_list_ended(Writer *writer, const EndedRecording *behind, EndedRecording *list,
                         size_t *count, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_ENDED);
    bind_u64(statement, 1, behind->ended_ns);
    sqlite3_bind_int64(statement, 2, behind->recording.recording);
    bind_u64(statement, 3, *count);
    size_t found = 0;
    bool has_row = true;
    Status status = STATUS_OK;
    while ((status = writer_step(writer, READ_ENDED, "looking for recordings", &has_row, error)) ==
               STATUS_OK &&
           has_row && found < *count) {
        EndedRecording *ended = &list[found++];
        *ended = (EndedRecording){.recording = {.recording = sqlite3_column_int64(statement, 0)},
                                  .begun_ns = (uint64_t)sqlite3_column_int64(statement, 2),
                                  .ended_ns = (uint64_t)sqlite3_column_int64(statement, 3)};
        writer_copy_uid(statement, 1, ended->recording.uid);
    }
    sqlite3_reset(statement);
    *count = found;
    return status;
}

Status writer_find_newest(Writer *writer, uint64_t count, uint64_t now_ns, EndedRecording *newest,
                          Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_NEWEST);
    bind_u64(statement, 1, now_ns);
    EndedRecording ended = {0};
    uint64_t found = 0, more;
    bool has_row = true;
    Status status = STATUS_OK;
    *newest = ended;
    while (status == STATUS_OK && found < count) {
        status = writer_step(writer, READ_NEWEST, "looking for recordings", &has_row, error);
        if (status != STATUS_OK || !has_row) {
            return status;
        }
        ended.recording.recording = sqlite3_column_int64(statement, 0);
        ended.ended_ns = (uint64_t)sqlite3_column_int64(statement, 1);
        status = count_episodes(writer, ended.recording.recording, count - found, &more, error);
        found += more;
    }
    sqlite3_reset(statement);
    *newest = ended;
    return status;
}

Status writer_is_newest(Writer *writer, const EndedRecording *ended, uint64_t now_ns,
                        bool *is_newest, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_NEWER);
    bind_u64(statement, 1, ended->ended_ns);
    sqlite3_bind_int64(statement, 2, ended->recording.recording);
    bind_u64(statement, 3, now_ns);
    bool has_newer = false;
    Status status = writer_step(writer, READ_NEWER, "looking for recordings", &has_newer, error);
    sqlite3_reset(statement);
    *is_newest = !has_newer;
    return status;
}

static Status check_sealed(Writer *writer, const EndedRecording *ended, Arena *arena,
                           bool *is_sound, Error *error) {
    RecordingDef def;
    RecordingSeal seal;
    int64_t recording = ended->recording.recording;
    const uint8_t *uid = ended->recording.uid;
    uint64_t episodes = 0;
    Status status = writer_read_definition(writer, recording, arena, &def, error);
    status = STATUS_THEN(status, writer_read_seal(writer, recording, uid, arena, &seal, error));
    status = STATUS_THEN(status, count_episodes(writer, recording, 1, &episodes, error));
    *is_sound = false;
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    // no episode leads to a group that finished none; else one is lost, and may come back
    bool is_group = recording_is_group(def.world_count, def.world_range);
    bool has_none = is_group && seal.chunk_count[CHUNK_EPISODES] == 0;
    *is_sound = memcmp(def.uid, uid, UID_BYTES) == 0 && def.begun_ns == ended->begun_ns &&
                seal.ended_ns == ended->ended_ns && (episodes > 0 || has_none);
    return STATUS_OK;
}

Status writer_check_ended(Writer *writer, const EndedRecording *ended, bool *is_sound,
                          Error *error) {
    Arena arena;
    arena_init(&arena, SEALED_BYTES_MAX);
    Status status = check_sealed(writer, ended, &arena, is_sound, error);
    arena_deinit(&arena);
    return status;
}

Status writer_is_pinned(Writer *writer, int64_t recording, bool *is_pinned, Error *error) {
    sqlite3_stmt *statement = writer_get(writer, READ_PINNED);
    sqlite3_bind_int64(statement, 1, recording);
    Status status = writer_step(writer, READ_PINNED, "looking for pins", is_pinned, error);
    sqlite3_reset(statement);
    return status;
}

Status writer_retire_piece(Writer *writer, const Deletion *deletion, uint64_t now_ns,
                           uint64_t *episodes, RetireOutcome *outcome, Error *error) {
    bool is_pinned = false;
    Status status = writer_is_pinned(writer, deletion->recording, &is_pinned, error);
    *outcome = RETIRE_NOT;
    *episodes = 0;
    if (status != STATUS_OK || is_pinned) {
        return status;
    }
    sqlite3_bind_int64(writer_get(writer, DELETE_EPISODES), 1, deletion->recording);
    sqlite3_bind_int(writer_get(writer, DELETE_EPISODES), 2, WRITER_PIECE_EPISODES);
    status = writer_step(writer, DELETE_EPISODES, "removing episodes", NULL, error);
    if (status != STATUS_OK) {
        return status;
    }
    *episodes = (uint64_t)sqlite3_changes(writer->db);
    if (*episodes == WRITER_PIECE_EPISODES) {
        *outcome = RETIRE_MORE;
        return STATUS_OK;
    }
    *outcome = RETIRE_INTENT;
    return writer_put_intent(writer, deletion, now_ns, error);
}
