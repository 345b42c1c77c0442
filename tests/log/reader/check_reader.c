// SPDX-License-Identifier: MIT
// The reader on real files: what was written is found, by any way that leads to it; damage is told
// and told where; and no question grows with what it does not ask for.
#include "log/reader/reader.h"

#include "log/format/schema.h"
#include "support/suite.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- a file, a writer of it, a reader

static char folder[32];
static char path[64];
static sqlite3 *db; // the writer's
static sqlite3 *reader_db;
static LogReader *reader;
static Arena arena;
static uint64_t work; // instructions of SQLite's machine that the reader has made it do

static int count_work(unsigned kind, void *context, void *statement, void *time) {
    (void)kind, (void)context, (void)time;
    work += (uint64_t)sqlite3_stmt_status(statement, SQLITE_STMTSTATUS_VM_STEP, 1);
    return 0;
}

// Runs for each connection that is opened: the last one is the reader's.
static int watch_connection(sqlite3 *opened, char **message, const void *api) {
    (void)message, (void)api;
    reader_db = opened;
    return sqlite3_trace_v2(opened, SQLITE_TRACE_PROFILE, count_work, NULL);
}

static void open_file(void) {
    strcpy(folder, "/tmp/moreau-reader-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/log.db", folder);
    Error error = {0};
    ck_assert_msg(schema_open(path, false, &db, &error) == STATUS_OK, "%s", error.message);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_auto_extension((void (*)(void))watch_connection);
    ck_assert_msg(log_reader_open(path, &reader, &error) == STATUS_OK, "%s", error.message);
    arena_init(&arena, 1 << 24);
}

static void close_file(void) {
    log_reader_close(reader);
    sqlite3_reset_auto_extension();
    sqlite3_close(db);
    arena_deinit(&arena);
    static const char *const endings[] = {"", "-wal", "-shm"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[80];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
    rmdir(folder);
}

static void run(const char *sql) {
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s: %s", sql, message);
}

// ---- what is in it

static sqlite3_stmt *prepare(const char *sql) {
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    return statement;
}

static void finish(sqlite3_stmt *statement) {
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
}

// 'e', zeros, the number in two bytes, and the four zeros of a recording.
static void make_uid(char what, int number, uint8_t uid[UID_BYTES]) {
    memset(uid, 0, UID_BYTES);
    uid[0] = (uint8_t)what;
    uid[UID_BYTES - 6] = (uint8_t)(number >> 8);
    uid[UID_BYTES - 5] = (uint8_t)number;
}

// Recording and episode `number`, of which most columns tell.
static void add_episode(int number) {
    uint8_t uid[UID_BYTES];
    sqlite3_stmt *recording = prepare(
        "INSERT INTO recording(id, uid, world_count, world_range, state, why, content, stride,"
        " keyframe_steps, lossy, dropped_steps, name, solver, client, world_name, world_step,"
        " world_time, time_step, body_count, dynamics_version, server_version, build, begun_ns,"
        " ended_ns) VALUES(?1, ?2, 1, 1, ?1 % 4, 'because', ?1 % 3, 5, 500, ?1 % 2, 3,"
        " 'Walk number ' || ?1, CASE ?1 % 2 WHEN 0 THEN 'mdp' ELSE 'pgs' END,"
        " 'client ' || (?1 % 2), 'the world', 70, 0.7, 0.01, 8, 12, '1.2.3', 'gcc',"
        " ?1 * 1000, ?1 * 1000 + 500)");
    make_uid('e', number, uid);
    sqlite3_bind_int(recording, 1, number);
    sqlite3_bind_blob(recording, 2, uid, UID_BYTES, SQLITE_STATIC);
    finish(recording);
    sqlite3_stmt *episode = prepare(
        "INSERT INTO episode(id, recording, number, world_index, first_step, last_step,"
        " state, simulated_s, seed, begun_ns, ended_ns, unconverged, worst_own,"
        " worst_penetration, contacts_max, hardest_impact, hardest_impact_step,"
        " energy_gain, energy_gain_step, parent, parent_step) VALUES(?1 << 32, ?1, 0, 0, 10, 100,"
        " ?1 % 4, 0.9, -?1, ?1 * 1000, ?1 * 1000 + 500, 9, 0.25, 0.5, 77, 3.5, 42, 0.125,"
        " 43, zeroblob(16), 17)");
    sqlite3_bind_int(episode, 1, number);
    finish(episode);
}

static void add_episodes(int first, int last) {
    run("BEGIN");
    for (int i = first; i <= last; i++) {
        add_episode(i);
    }
    run("COMMIT");
}

static void add_label(int episode, const char *label) {
    sqlite3_stmt *statement = prepare("INSERT INTO label(label, recording) VALUES(?1, ?2)");
    sqlite3_bind_text(statement, 1, label, -1, SQLITE_STATIC);
    sqlite3_bind_int(statement, 2, episode);
    finish(statement);
}

enum { CHUNK_BODY_BYTES = 24, CHUNK_BYTES = CHUNK_HEADER_BYTES + CHUNK_BODY_BYTES };

static uint64_t chunk_number; // one chain for all: numbers only grow

// A chunk whose body is its first step, over and over.
static int64_t add_chunk(int recording, ChunkKind kind, uint64_t first, uint64_t last) {
    uint8_t bytes[CHUNK_BYTES];
    size_t count = sizeof(bytes) - (kind == CHUNK_GAP ? CHUNK_BODY_BYTES : 0);
    Chunk chunk = {.kind = kind,
                   .sequence = ++chunk_number,
                   .world_count = 1,
                   .first_step = first,
                   .last_step = last,
                   .time = 0.01 * (double)last,
                   .solver = "mdp"};
    make_uid('e', recording, chunk.uid);
    memset(bytes + CHUNK_HEADER_BYTES, (int)(first & 0xff), CHUNK_BODY_BYTES);
    if (kind == CHUNK_INPUTS) {
        chunk.figures = (StepFigures){.unconverged_steps = 2,
                                      .worst_own = (double)first * 1e-9,
                                      .worst_penetration = (double)first * 1e-3,
                                      .contacts_max = 4};
    }
    chunk_seal(bytes, count, &chunk);
    sqlite3_stmt *statement =
        prepare("INSERT INTO chunk(recording, kind, sequence, first_world, world_count, first_step,"
                " last_step, time_s, written_ns, unconverged, worst_own, worst_penetration,"
                " contacts_max, hardest_impact, hardest_impact_step, energy_gain,"
                " energy_gain_step, solver, bytes) VALUES(?1, ?2, ?6, 0, 1, ?3, ?4, ?7, 0,"
                " iif(?2 = 2, 2, NULL), iif(?2 = 2, ?8, NULL), iif(?2 = 2, ?9, NULL),"
                " iif(?2 = 2, 4, NULL), iif(?2 = 2, 0.0, NULL), iif(?2 = 2, 0, NULL),"
                " iif(?2 = 2, 0.0, NULL), iif(?2 = 2, 0, NULL), iif(?2 = 2, 'mdp', NULL), ?5)");
    sqlite3_bind_int(statement, 1, recording);
    sqlite3_bind_int(statement, 2, (int)kind);
    sqlite3_bind_int64(statement, 3, (int64_t)first);
    sqlite3_bind_int64(statement, 4, (int64_t)last);
    sqlite3_bind_blob(statement, 5, bytes, (int)count, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 6, (int64_t)chunk.sequence);
    sqlite3_bind_double(statement, 7, chunk.time);
    sqlite3_bind_double(statement, 8, chunk.figures.worst_own);
    sqlite3_bind_double(statement, 9, chunk.figures.worst_penetration);
    finish(statement);
    return sqlite3_last_insert_rowid(db);
}

// Key-frame, inputs and frames for every `stride` steps.
static void add_chunks(int recording, uint64_t stride, uint64_t stretches) {
    run("BEGIN");
    for (uint64_t i = 0; i < stretches; i++) {
        add_chunk(recording, CHUNK_KEYFRAME, i * stride, i * stride);
        add_chunk(recording, CHUNK_INPUTS, i * stride, (i + 1) * stride);
        add_chunk(recording, CHUNK_FRAMES, i * stride + 1, (i + 1) * stride);
    }
    run("COMMIT");
}

// The chunk of this kind behind the one of this id; 0: the first.
static Status next(const EpisodeRow *row, ChunkKind kind, int64_t id, LogChunk *found,
                   Error *error) {
    ChunkPlace place = {.first_step = INT64_MAX, .sequence = INT64_MAX};
    sqlite3_stmt *query = prepare("SELECT first_step, sequence FROM chunk WHERE id = ?1");
    sqlite3_bind_int64(query, 1, id);
    if (sqlite3_step(query) == SQLITE_ROW) {
        place = (ChunkPlace){.first_step = (uint64_t)sqlite3_column_int64(query, 0),
                             .sequence = (uint64_t)sqlite3_column_int64(query, 1)};
    }
    sqlite3_finalize(query);
    return log_reader_next(reader, row, kind, id == 0 ? NULL : &place, &arena, found, error);
}

static EpisodeRow find(const char *text) {
    EpisodeRow row;
    Error error = {0};
    ck_assert_msg(log_reader_find(reader, text, &arena, &row, &error) == STATUS_OK, "%s",
                  error.message);
    return row;
}

static const EpisodeFilter everything = {.state = -1, .count = UINT64_MAX};

// ---- one episode

START_TEST(an_episode_comes_back_whole) {
    add_episode(7);
    add_label(7, "steep");
    add_label(7, "ice");
    add_chunks(7, 50, 2);
    EpisodeRow row = find("Walk number 7");
    uint8_t uid[UID_BYTES];
    make_uid('e', 7, uid);
    ck_assert_mem_eq(row.uid, uid, UID_BYTES);
    ck_assert_mem_eq(row.recording_uid, uid, UID_BYTES);
    ck_assert_int_eq(row.recording, 7);
    ck_assert_int_eq(row.episode, INT64_C(7) << 32);
    ck_assert_str_eq(row.name, "Walk number 7");
    ck_assert_str_eq(row.client, "client 1");
    ck_assert_str_eq(row.world_name, "the world");
    ck_assert_str_eq(row.solver, "pgs");
    ck_assert_str_eq(row.server_version, "1.2.3");
    ck_assert_str_eq(row.why, "because");
    ck_assert_uint_eq(row.label_count, 2);
    ck_assert_str_eq(row.label[0], "ice");
    ck_assert_str_eq(row.label[1], "steep");
    ck_assert_int_eq(row.state, RECORDING_INTERRUPTED);
    ck_assert_int_eq(row.content, CONTENT_FRAMES);
    ck_assert_uint_eq(row.stride, 5);
    ck_assert(row.lossy && row.has_seed);
    ck_assert_uint_eq(row.seed, UINT64_MAX - 6); // -7: all 64 bits come back
    ck_assert_uint_eq(row.dynamics_version, 12);
    ck_assert_uint_eq(row.world_index, 0);
    ck_assert_uint_eq(row.number, 0);
    ck_assert_double_eq(row.time, 0.9);
    ck_assert_str_eq(row.build, "gcc");
    ck_assert_str_eq(row.odd, "");
    ck_assert(row.has_parent && row.has_figures && !row.has_return && !row.is_pinned);
    ck_assert_uint_eq(row.parent_step, 17);
    ck_assert_uint_eq(row.first_step, 10);
    ck_assert_uint_eq(row.last_step, 100);
    ck_assert_uint_eq(row.world_step, 70);
    ck_assert_double_eq(row.world_time, 0.7);
    ck_assert_double_eq(row.time_step, 0.01);
    ck_assert_uint_eq(row.body_count, 8);
    ck_assert_uint_eq(row.begun_ns, 7000);
    ck_assert_uint_eq(row.ended_ns, 7500);
    ck_assert_uint_eq(row.dropped_steps, 3);
    ck_assert_uint_eq(row.figures.unconverged_steps, 9);
    ck_assert_double_eq(row.figures.worst_own, 0.25);
    ck_assert_double_eq(row.figures.worst_penetration, 0.5);
    ck_assert_uint_eq(row.figures.contacts_max, 77);
    ck_assert_double_eq(row.figures.hardest_impact, 3.5);
    ck_assert_uint_eq(row.figures.hardest_impact_step, 42);
    ck_assert_double_eq(row.figures.energy_gain, 0.125);
    ck_assert_uint_eq(row.figures.energy_gain_step, 43);
    ck_assert_uint_eq(row.bytes, UINT64_C(6) * CHUNK_BYTES);
    ck_assert_uint_eq(row.chunk_count, 6);
    ck_assert_uint_eq(row.keyframe_count, 2);
    ck_assert_uint_eq(row.frame_chunk_count, 2);
}
END_TEST

START_TEST(of_an_episode_being_recorded_the_last_step_is_what_is_committed) {
    add_episode(1);
    run("UPDATE episode SET last_step = NULL, simulated_s = NULL, seed = NULL, unconverged = NULL,"
        " worst_own = NULL, worst_penetration = NULL, contacts_max = NULL, hardest_impact = NULL,"
        " hardest_impact_step = NULL, energy_gain = NULL, energy_gain_step = NULL");
    EpisodeRow row = find("Walk number 1");
    ck_assert_uint_eq(row.last_step, 10); // nothing yet: it has just begun
    ck_assert(!row.has_seed);
    add_chunk(1, CHUNK_KEYFRAME, 0, 0);
    add_chunk(1, CHUNK_INPUTS, 0, 40);
    add_chunk(1, CHUNK_GAP, 40, 60);
    add_chunk(1, CHUNK_KEYFRAME, 60, 60);
    row = find("Walk number 1");
    ck_assert_uint_eq(row.last_step, 60);
    ck_assert_double_eq(row.time, 0.6);
    ck_assert(!row.has_figures);
    ck_assert_uint_eq(row.figures.unconverged_steps, 2); // of the chunk
    add_chunk(1, CHUNK_INPUTS, 60, 90);
    ck_assert_uint_eq(find("Walk number 1").last_step, 90);
}
END_TEST

#define ZEROS "00000000" // the number of a recording's first episode

static const struct {
    const char *text;
    Status status;
    int episode;
} searches[] = {
    {"650000000000000000000001" ZEROS, STATUS_OK, 1}, // the whole uid
    {"650000000000000000000002" ZEROS, STATUS_OK, 2},
    {"65000000000000000000000f" ZEROS, STATUS_OK, 15},
    {"65000000000000000000000F" ZEROS, STATUS_OK, 15},
    {"650000000000000000001", STATUS_OK, 4096},  // 21 digits of 32: half a byte at the end
    {"6500000000000000000010", STATUS_OK, 4096}, // its own name as well
    {"650000000000000000000", STATUS_INVALID_ARGUMENT, 0},
    {"6500", STATUS_INVALID_ARGUMENT, 0}, // several
    {"650", STATUS_NOT_FOUND, 0},         // too short for an id
    {"6501", STATUS_NOT_FOUND, 0},
    {"650000000000000000000003" ZEROS, STATUS_NOT_FOUND, 0},
    {"650000000000000000000001" ZEROS "0", STATUS_NOT_FOUND, 0}, // too long
    {"65000000000000000000000g" ZEROS, STATUS_NOT_FOUND, 0},
    {"Walk number 2", STATUS_OK, 2},
    {"Walk number", STATUS_NOT_FOUND, 0}, // a name is a whole one
    {"twins", STATUS_INVALID_ARGUMENT, 0},
    {"cafe", STATUS_OK, 30}, // a name that looks like an id
    {"65000000000000000000", STATUS_INVALID_ARGUMENT, 0},
    {"6500000000000000000004", STATUS_INVALID_ARGUMENT, 0}, // one's id, another's name
    {"650000000000000000000400" ZEROS, STATUS_OK, 1024},
    {"", STATUS_INVALID_ARGUMENT, 0},
    {"'; DROP TABLE episode; --", STATUS_NOT_FOUND, 0},
};

START_TEST(an_episode_is_found_by_what_a_person_types) {
    static const int numbers[] = {1, 2, 15, 30, 31, 32, 33, 1024, 4096};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        add_episode(numbers[i]);
    }
    run("UPDATE recording SET name = 'twins' WHERE id IN (31, 32);"
        "UPDATE recording SET name = 'cafe' WHERE id = 30;"
        "UPDATE recording SET name = '6500000000000000000010' WHERE id = 4096;"
        "UPDATE recording SET name = '6500000000000000000004' WHERE id = 33");
    EpisodeRow row = {0};
    Error error = {0};
    ck_assert_int_eq(log_reader_find(reader, searches[_i].text, &arena, &row, &error),
                     searches[_i].status);
    ck_assert_int_eq(error.message[0] != '\0', searches[_i].status != STATUS_OK);
    ck_assert_int_eq(row.episode >> 32, searches[_i].episode);
}
END_TEST

// ---- lists

// The episodes' numbers, as "9 8 7".
static const char *list(const EpisodeFilter *filter, uint64_t *total) {
    static char numbers[1000];
    EpisodeRows rows;
    Error error = {0};
    ck_assert_msg(log_reader_list(reader, filter, &arena, &rows, &error) == STATUS_OK, "%s",
                  error.message);
    *total = rows.total;
    numbers[0] = '\0';
    for (size_t i = 0; i < rows.count; i++) {
        size_t length = strlen(numbers);
        snprintf(numbers + length, sizeof(numbers) - length, "%s%d", i == 0 ? "" : " ",
                 (int)rows.row[i].recording);
    }
    return numbers;
}

static const struct {
    EpisodeFilter filter;
    const char *numbers;
    uint64_t total;
} lists[] = {
    {{.state = -1, .count = 100}, "12 11 10 9 8 7 6 5 4 3 2 1", 12},
    {{.state = -1, .count = UINT64_MAX}, "12 11 10 9 8 7 6 5 4 3 2 1", 12},
    {{.state = -1, .count = 3}, "12 11 10", 12},
    {{.state = -1, .first = 10, .count = 3}, "2 1", 12},
    {{.state = -1, .first = 12, .count = 3}, "", 12},
    {{.state = -1, .first = UINT64_MAX, .count = UINT64_MAX}, "", 12},
    {{.state = -1, .count = 0}, "", 12},
    {{.state = -1, .count = 100, .name = "NUMBER 1"}, "12 11 10 1", 4},
    {{.state = -1, .count = 2, .name = "number 1"}, "12 11", 4},
    {{.state = -1, .count = 100, .name = "%"}, "", 0}, // no pattern
    {{.state = -1, .count = 100, .name = ""}, "12 11 10 9 8 7 6 5 4 3 2 1", 12},
    {{.state = -1, .count = 100, .label = "a"}, "9 5 2", 3},
    {{.state = -1, .first = 1, .count = 1, .label = "a"}, "5", 3},
    {{.state = -1, .count = 100, .label = "b"}, "5", 1},
    {{.state = -1, .count = 100, .label = "A"}, "", 0},
    {{.state = -1, .count = 100, .solver = "mdp"}, "12 10 8 6 4 2", 6},
    {{.state = -1, .count = 100, .client = "client 1"}, "11 9 7 5 3 1", 6},
    {{.state = RECORDING_OPEN, .count = 100}, "12 8 4", 3},
    {{.state = RECORDING_INTERRUPTED, .count = 100}, "11 7 3", 3},
    {{.state = -1, .count = 100, .since_ns = 3000, .until_ns = 5000}, "4 3", 2},
    {{.state = -1, .count = 100, .since_ns = 11001}, "12", 1},
    {{.state = -1, .count = 100, .until_ns = 2001}, "2 1", 2},
    {{.state = -1, .count = 100, .since_ns = UINT64_MAX, .until_ns = UINT64_MAX}, "", 0},
    {{.state = 2,
      .count = 9,
      .name = "w",
      .label = "a",
      .solver = "mdp",
      .client = "client 0",
      .since_ns = 1,
      .until_ns = 9000},
     "2",
     1},
};

START_TEST(a_list_holds_what_the_filter_says_the_newest_first) {
    add_episodes(1, 12);
    add_label(2, "a");
    add_label(5, "a");
    add_label(5, "b");
    add_label(9, "a");
    uint64_t total;
    ck_assert_str_eq(list(&lists[_i].filter, &total), lists[_i].numbers);
    ck_assert_uint_eq(total, lists[_i].total);
}
END_TEST

START_TEST(a_list_sees_what_was_committed_since) {
    uint64_t total;
    ck_assert_str_eq(list(&everything, &total), "");
    add_episodes(1, 2);
    ck_assert_str_eq(list(&everything, &total), "2 1");
    run("BEGIN");
    add_episode(3);
    ck_assert_str_eq(list(&everything, &total), "2 1");
    run("COMMIT; DELETE FROM episode WHERE recording = 1");
    ck_assert_str_eq(list(&everything, &total), "3 2");
}
END_TEST

// Hundreds of thousands of episodes of one recording share its figures.
START_TEST(episodes_of_one_recording_have_the_same_figures) {
    add_episodes(1, 3);
    add_chunks(1, 10, 2);
    add_chunks(2, 10, 5);
    run("UPDATE episode SET id = (2 << 32) + 1, recording = 2, number = 1 WHERE recording = 3");
    EpisodeRows rows;
    log_reader_list(reader, &everything, &arena, &rows, NULL);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_uint_eq(rows.row[0].chunk_count, 15);
    ck_assert_uint_eq(rows.row[1].chunk_count, 15);
    ck_assert_uint_eq(rows.row[2].chunk_count, 6);
}
END_TEST

// ---- chunks

START_TEST(the_chunk_at_a_step_is_the_last_that_begins_there_or_before) {
    add_episodes(1, 2);
    add_chunks(1, 100, 10);
    add_chunks(2, 10, 10); // must not be taken for the other's
    EpisodeRow row = find("Walk number 1");
    static const struct {
        uint64_t step, first;
    } cases[] = {{0, 0}, {1, 0}, {99, 0}, {100, 100}, {101, 100}, {950, 900}, {UINT64_MAX, 900}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        LogChunk found;
        Error error = {0};
        ck_assert_int_eq(
            log_reader_at(reader, &row, CHUNK_KEYFRAME, cases[i].step, &arena, &found, &error),
            STATUS_OK);
        ck_assert_uint_eq(found.chunk.first_step, cases[i].first);
        ck_assert_uint_eq(found.chunk.last_step, cases[i].first);
        ck_assert_uint_eq(found.chunk.body_bytes, CHUNK_BODY_BYTES);
        ck_assert_uint_eq(found.chunk.body[CHUNK_BODY_BYTES - 1], cases[i].first & 0xff);
        ck_assert_uint_eq((uintptr_t)found.chunk.body % 8, 0);
    }
    LogChunk found;
    Error error = {0};
    ck_assert_int_eq(log_reader_at(reader, &row, CHUNK_FRAMES, 0, &arena, &found, &error),
                     STATUS_NOT_FOUND);
    ck_assert_str_eq(error.message,
                     "The recording has no chunk (frames) that begins at or before step 0.");
    ck_assert_int_eq(log_reader_at(reader, &row, CHUNK_GAP, 1000, &arena, &found, &error),
                     STATUS_NOT_FOUND);
}
END_TEST

START_TEST(of_chunks_that_begin_at_one_step_the_last_is_taken) {
    add_episode(1);
    add_chunk(1, CHUNK_INPUTS, 0, 5);
    add_chunk(1, CHUNK_INPUTS, 5, 5); // changes between two steps
    int64_t last = add_chunk(1, CHUNK_INPUTS, 5, 5);
    EpisodeRow row = find("Walk number 1");
    LogChunk found;
    ck_assert_int_eq(log_reader_at(reader, &row, CHUNK_INPUTS, 7, &arena, &found, NULL), STATUS_OK);
    ck_assert_int_eq(found.id, last);
}
END_TEST

START_TEST(chunks_follow_each_other_by_step_and_id) {
    add_episodes(1, 2);
    add_chunk(1, CHUNK_KEYFRAME, 0, 0);
    add_chunk(1, CHUNK_INPUTS, 0, 5);
    add_chunk(2, CHUNK_INPUTS, 0, 5);
    add_chunk(1, CHUNK_INPUTS, 5, 5);
    int64_t key = add_chunk(1, CHUNK_KEYFRAME, 5, 5);
    // frames may be flushed later than the key-frame behind their first step
    add_chunk(1, CHUNK_FRAMES, 1, 5);
    add_chunk(1, CHUNK_FRAMES, 6, 9);
    add_chunk(1, CHUNK_INPUTS, 5, 9);
    add_chunk(1, CHUNK_GAP, 9, 20);
    EpisodeRow row = find("Walk number 1");
    static const uint64_t last[] = {5, 5, 9};
    LogChunk found = {0};
    for (size_t i = 0; i < 3; i++) {
        int64_t before = found.id;
        ck_assert_int_eq(next(&row, CHUNK_INPUTS, before, &found, NULL), STATUS_OK);
        ck_assert_int_gt(found.id, before);
        ck_assert_uint_eq(found.chunk.last_step, last[i]);
    }
    Error error = {0};
    ck_assert_int_eq(next(&row, CHUNK_INPUTS, found.id, &found, &error), STATUS_NOT_FOUND);
    ck_assert_int_eq(next(&row, CHUNK_FRAMES, key, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.chunk.first_step, 6);
    ck_assert_int_eq(next(&row, CHUNK_INPUTS, key, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.chunk.last_step, 9);
    ck_assert_int_eq(next(&row, CHUNK_GAP, 0, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.chunk.body_bytes, 0);
    ck_assert_int_eq(next(&row, CHUNK_GAP, INT64_MAX, &found, NULL), STATUS_NOT_FOUND);
}
END_TEST

START_TEST(a_chunk_is_read_by_its_id) {
    add_episodes(1, 2);
    add_chunks(1, 100, 4);
    add_chunks(2, 100, 1);
    EpisodeRow row = find("Walk number 1");
    LogChunk found;
    ck_assert_int_eq(log_reader_get(reader, &row, CHUNK_INPUTS, 5, &arena, &found, NULL),
                     STATUS_OK);
    ck_assert_int_eq(found.id, 5);
    ck_assert_uint_eq(found.chunk.first_step, 100);
    // of another kind, of another recording, of nobody
    static const int64_t others[] = {4, 14, 1000};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        ck_assert_int_eq(
            log_reader_get(reader, &row, CHUNK_INPUTS, others[i], &arena, &found, NULL),
            STATUS_NOT_FOUND);
    }
}
END_TEST

START_TEST(rows_of_chunks_come_in_order) {
    add_episodes(1, 2);
    add_chunks(1, 100, 4);
    add_chunks(2, 100, 1);
    EpisodeRow row = find("Walk number 1");
    ChunkRow *rows;
    size_t count;
    ck_assert_int_eq(log_reader_chunks(reader, &row, CHUNK_INPUTS, &arena, &rows, &count, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(rows[i].id, (int)(3 * i + 2));
        ck_assert_int_eq(rows[i].kind, CHUNK_INPUTS);
        ck_assert_uint_eq(rows[i].first_step, 100 * i);
        ck_assert_uint_eq(rows[i].last_step, 100 * i + 100);
        ck_assert_uint_eq(rows[i].bytes, CHUNK_BYTES);
    }
    ck_assert_int_eq(log_reader_chunks(reader, &row, CHUNK_GAP, &arena, &rows, &count, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(count, 0);
}
END_TEST

// ---- damage

static const struct {
    const char *sql, *why;
} damages[] = {
    {"UPDATE chunk SET bytes = substr(bytes, 1, 198) WHERE id = 5",
     "Chunk 5 (inputs, steps 100 to 200) is damaged: it is cut short: its body has 6 bytes instead "
     "of 24."},
    {"UPDATE chunk SET bytes = x'' WHERE id = 5", "it is cut short: 0 bytes of a header of 192."},
    {"UPDATE chunk SET bytes = zeroblob(200) WHERE id = 5", "it does not begin as a chunk does."},
    {"UPDATE chunk SET bytes = 'text' WHERE id = 5", "its bytes are no BLOB."},
    {"UPDATE chunk SET bytes = 17 WHERE id = 5", "its bytes are no BLOB."},
    {"UPDATE chunk SET bytes = CAST(substr(bytes, 1, 208) || x'ffffffffffffffff' AS BLOB)"
     " WHERE id = 5",
     "its checksum is wrong: 0x"},
    {"UPDATE chunk SET bytes = (SELECT bytes FROM chunk WHERE id = 2) WHERE id = 5",
     "its row says another place than its bytes."}, // moved to another place
    {"UPDATE chunk SET bytes = (SELECT bytes FROM chunk WHERE id = 11) WHERE id = 5",
     "it belongs to another recording."},
    {"UPDATE chunk SET last_step = 199 WHERE id = 5",
     "Chunk 5 (inputs, steps 100 to 199) is damaged: its row says another place than "
     "its bytes."},
    {"DELETE FROM chunk WHERE id = 5; UPDATE chunk SET id = 5, kind = 2 WHERE id = 4",
     "its row says another place"}, // a key-frame's bytes
    {"UPDATE chunk SET last_step = 'soon' WHERE id = 5", "its row says another place"},
    {"UPDATE chunk SET last_step = -5 WHERE id = 5", "its row says another place"},
};

START_TEST(a_damaged_chunk_is_named) {
    add_episodes(1, 2);
    add_chunks(1, 100, 3); // inputs are 2, 5 and 8
    add_chunks(2, 100, 3);
    run(damages[_i].sql);
    EpisodeRow row = find("Walk number 1");
    LogChunk found = {0};
    Error error = {0};
    ck_assert_int_eq(log_reader_at(reader, &row, CHUNK_INPUTS, 150, &arena, &found, &error),
                     STATUS_DATA_LOSS);
    ck_assert_int_eq(found.id, 5);
    ck_assert_int_eq(found.chunk.kind, CHUNK_INPUTS);
    ck_assert_uint_eq(found.chunk.first_step, 100);
    ck_assert_msg(strstr(error.message, damages[_i].why) != NULL, "%s", error.message);
    // the way leads on behind it
    ck_assert_int_eq(next(&row, CHUNK_INPUTS, 2, &found, &error), STATUS_DATA_LOSS);
    ck_assert_int_eq(found.id, 5);
    ck_assert_int_eq(next(&row, CHUNK_INPUTS, found.id, &found, NULL), STATUS_OK);
    ck_assert_int_eq(found.id, 8);
}
END_TEST

static const char *const damaged_rows[] = {
    "UPDATE episode SET number = 4294967296",  "UPDATE episode SET state = 4",
    "UPDATE recording SET uid = x'00'",        "UPDATE recording SET state = 4",
    "UPDATE recording SET state = 4294967296", "UPDATE recording SET content = 3",
};

// The others are listed all the same.
START_TEST(a_damaged_row_hides_no_other_one) {
    add_episodes(1, 3);
    run("PRAGMA foreign_keys = OFF");
    char sql[128];
    bool is_episode = strstr(damaged_rows[_i], "episode") != NULL;
    snprintf(sql, sizeof(sql), "%s WHERE %s = 2", damaged_rows[_i],
             is_episode ? "recording" : "id");
    run(sql);
    EpisodeRows rows;
    Error error = {0};
    ck_assert_msg(log_reader_list(reader, &everything, &arena, &rows, &error) == STATUS_OK, "%s",
                  error.message);
    ck_assert_uint_eq(rows.total, 3);
    ck_assert_uint_eq(rows.count, 3);
    ck_assert_ptr_eq(strstr(rows.row[1].damage, "Row "), rows.row[1].damage);
    for (int i = 0; i < 3; i += 2) { // the newest first
        ck_assert_ptr_null(rows.row[i].damage);
        ck_assert_str_eq(rows.row[i].name, i == 0 ? "Walk number 3" : "Walk number 1");
    }
}
END_TEST

START_TEST(a_damaged_row_is_named) {
    add_episode(1);
    run("PRAGMA foreign_keys = OFF");
    run(damaged_rows[_i]);
    EpisodeRow row;
    Error error = {0};
    ck_assert_int_eq(log_reader_find(reader, "Walk number 1", &arena, &row, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_eq(strstr(error.message, "Row "), error.message);
}
END_TEST

static const char *const values[] = {"-1",    "9223372036854775807", "1e308", "9e999", "'text'",
                                     "x'00'", "zeroblob(16)",        "''",    "0"};
static const char *const columns[] = {"recording.world_count",
                                      "recording.world_range",
                                      "recording.state",
                                      "recording.why",
                                      "recording.content",
                                      "recording.stride",
                                      "recording.keyframe_steps",
                                      "recording.lossy",
                                      "recording.dropped_steps",
                                      "recording.name",
                                      "recording.solver",
                                      "recording.client",
                                      "recording.world_name",
                                      "recording.world_step",
                                      "recording.world_time",
                                      "recording.time_step",
                                      "recording.body_count",
                                      "recording.dynamics_version",
                                      "recording.server_version",
                                      "recording.build",
                                      "recording.begun_ns",
                                      "recording.ended_ns",
                                      "episode.recording",
                                      "episode.number",
                                      "episode.world_index",
                                      "episode.first_step",
                                      "episode.last_step",
                                      "episode.state",
                                      "episode.simulated_s",
                                      "episode.seed",
                                      "episode.return_sum",
                                      "episode.begun_ns",
                                      "episode.ended_ns",
                                      "episode.unconverged",
                                      "episode.worst_own",
                                      "episode.worst_penetration",
                                      "episode.contacts_max",
                                      "episode.hardest_impact",
                                      "episode.hardest_impact_step",
                                      "episode.energy_gain",
                                      "episode.energy_gain_step",
                                      "episode.gain",
                                      "episode.gain_scale",
                                      "episode.gain_step",
                                      "episode.parent",
                                      "episode.parent_step",
                                      "episode.pinned",
                                      "label.label",
                                      "label.recording",
                                      "chunk.recording",
                                      "chunk.kind",
                                      "chunk.sequence",
                                      "chunk.first_world",
                                      "chunk.world_count",
                                      "chunk.first_step",
                                      "chunk.last_step",
                                      "chunk.time_s",
                                      "chunk.written_ns",
                                      "chunk.unconverged",
                                      "chunk.worst_own",
                                      "chunk.worst_penetration",
                                      "chunk.contacts_max",
                                      "chunk.hardest_impact",
                                      "chunk.hardest_impact_step",
                                      "chunk.energy_gain",
                                      "chunk.energy_gain_step",
                                      "chunk.gain",
                                      "chunk.gain_scale",
                                      "chunk.gain_step",
                                      "chunk.solver",
                                      "chunk.bytes"};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

// Whatever somebody wrote into a column: an answer or an error, and the next question works.
START_TEST(an_edited_file_is_read_or_refused) {
    run("PRAGMA foreign_keys = OFF");
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        run("DELETE FROM chunk; DELETE FROM label; DELETE FROM episode; DELETE FROM recording");
        add_episode(1);
        add_label(1, "a");
        add_chunks(1, 100, 3);
        EpisodeRow row = find("Walk number 1");
        const char *dot = strchr(columns[_i], '.');
        char sql[200];
        snprintf(sql, sizeof(sql), "UPDATE %.*s SET %s = %s", (int)(dot - columns[_i]), columns[_i],
                 dot + 1, values[i]);
        run(sql);
        EpisodeRows rows;
        ChunkRow *chunk_rows;
        size_t count;
        LogChunk found = {0};
        Status status = log_reader_list(reader, &everything, &arena, &rows, NULL);
        ck_assert(status == STATUS_OK || status == STATUS_DATA_LOSS);
        for (size_t k = 0; status == STATUS_OK && k < rows.count; k++) {
            ck_assert(rows.row[k].damage != NULL ||
                      (rows.row[k].stride > 0 && rows.row[k].first_step <= rows.row[k].last_step));
        }
        for (ChunkKind kind = CHUNK_KEYFRAME; kind < CHUNK_KIND_COUNT; kind++) {
            log_reader_at(reader, &row, kind, UINT64_MAX, &arena, &found, NULL);
            ck_assert_int_eq(
                log_reader_chunks(reader, &row, kind, &arena, &chunk_rows, &count, NULL),
                STATUS_OK);
            // every walk ends: at the last chunk, or where the way would lead back
            ChunkPlace place = {0};
            status = STATUS_OK;
            for (size_t k = 0; status != STATUS_NOT_FOUND; k++) {
                ck_assert_uint_le(k, count + 1);
                found.id = 0;
                status = log_reader_next(reader, &row, kind, k == 0 ? NULL : &place, &arena, &found,
                                         NULL);
                if (status == STATUS_DATA_LOSS && found.id == 0) {
                    break;
                }
                place = chunk_place(&found.chunk);
            }
        }
    }
}
END_TEST

// ---- limits

// Memory that ends anywhere is told, and the reader works on.
START_TEST(an_arena_that_ends_is_told) {
    add_episodes(1, 3);
    add_label(2, "a");
    add_chunks(2, 100, 2);
    EpisodeRow row = find("Walk number 2");
    bool ended = false, fitted = false;
    for (size_t limit = 0; limit < 40000; limit += 500) {
        Arena small;
        arena_init(&small, limit);
        EpisodeRows rows;
        EpisodeRow found_row;
        ChunkRow *chunk_rows;
        size_t count;
        LogChunk found;
        const Status results[] = {
            log_reader_list(reader, &everything, &small, &rows, NULL),
            log_reader_find(reader, "Walk number 2", &small, &found_row, NULL),
            log_reader_at(reader, &row, CHUNK_INPUTS, 5, &small, &found, NULL),
            log_reader_chunks(reader, &row, CHUNK_INPUTS, &small, &chunk_rows, &count, NULL)};
        for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
            ck_assert(results[i] == STATUS_OK || results[i] == STATUS_RESOURCE_EXHAUSTED);
            ended = ended || results[i] == STATUS_RESOURCE_EXHAUSTED;
            fitted = fitted || results[i] == STATUS_OK;
        }
        arena_deinit(&small);
    }
    ck_assert(ended && fitted);
    ck_assert_uint_eq(find("Walk number 2").label_count, 1);
}
END_TEST

START_TEST(a_file_that_is_none_is_refused) {
    LogReader *other;
    Error error = {0};
    ck_assert_int_ne(log_reader_open("/tmp/moreau-no-such-folder/log.db", &other, &error),
                     STATUS_OK);
    ck_assert_str_ne(error.message, "");
    run("DROP TABLE chunk");
    ck_assert_int_ne(log_reader_open(path, &other, &error), STATUS_OK);
    ck_assert_str_ne(error.message, "");
}
END_TEST

// Every statement that the reader keeps goes along an index, and sorts nothing.
START_TEST(no_kept_statement_scans_a_table) {
    int explained = 0;
    for (sqlite3_stmt *kept = sqlite3_next_stmt(reader_db, NULL); kept != NULL;
         kept = sqlite3_next_stmt(reader_db, kept)) {
        char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", sqlite3_sql(kept));
        sqlite3_stmt *plan = prepare(sql);
        while (sqlite3_step(plan) == SQLITE_ROW) {
            const char *detail = (const char *)sqlite3_column_text(plan, 3);
            // what a subquery does stands in lines of its own
            ck_assert_msg(strstr(detail, "SEARCH") == detail ||
                              strstr(detail, "SCALAR SUBQUERY") == detail ||
                              // the highlights of one episode are few
                              (strstr(detail, "USE TEMP B-TREE FOR ORDER BY") == detail &&
                               strstr(sql, "FROM highlight") != NULL),
                          "%s: %s", detail, sql);
            explained++;
        }
        sqlite3_finalize(plan);
        sqlite3_free(sql);
    }
    ck_assert_int_ge(explained, 12);
}
END_TEST

static uint64_t work_of_seeking(const EpisodeRow *row, uint64_t step) {
    LogChunk found;
    work = 0;
    ck_assert_int_eq(log_reader_at(reader, row, CHUNK_KEYFRAME, step, &arena, &found, NULL),
                     STATUS_OK);
    ck_assert_int_eq(next(row, CHUNK_INPUTS, found.id, &found, NULL), STATUS_OK);
    ck_assert_uint_eq(found.chunk.first_step, step);
    ck_assert_uint_gt(work, 0);
    return work;
}

// 10 stretches of a hundred thousand steps, or 2,000 of 500: a million steps both times.
START_TEST(seeking_does_not_grow_with_the_episode) {
    add_episodes(1, 3);
    add_chunks(1, 100000, 10);
    add_chunks(2, 500, 2000);
    add_chunks(3, 500, 100);
    EpisodeRow few = find("Walk number 1"), many = find("Walk number 2");
    uint64_t expected = work_of_seeking(&few, 500000);
    ck_assert_uint_eq(work_of_seeking(&many, 0), expected);
    ck_assert_uint_eq(work_of_seeking(&many, 500000), expected);
    ck_assert_uint_eq(work_of_seeking(&many, 999500), expected);
    work = 0;
    LogChunk found;
    ck_assert_int_eq(next(&few, CHUNK_INPUTS, 29, &found, NULL),
                     STATUS_NOT_FOUND); // with all of the others' chunks behind it
    ck_assert_uint_lt(work, 2 * expected);
}
END_TEST

// A world that is changed and changed again between two steps.
START_TEST(walking_does_not_grow_with_the_chunks_of_one_step) {
    add_episodes(1, 2);
    for (int i = 0; i < 500; i++) {
        add_chunk(i < 5 ? 1 : 2, CHUNK_INPUTS, 7, 7);
    }
    uint64_t took[2];
    for (int i = 0; i < 2; i++) {
        EpisodeRow row = find(i == 0 ? "Walk number 1" : "Walk number 2");
        LogChunk found;
        work = 0;
        ck_assert_int_eq(next(&row, CHUNK_INPUTS, i == 0 ? 3 : 400, &found, NULL), STATUS_OK);
        ck_assert_int_eq(found.id, i == 0 ? 4 : 401);
        took[i] = work;
    }
    ck_assert_uint_gt(took[0], 0);
    ck_assert_uint_eq(took[1], took[0]);
}
END_TEST

static const EpisodeFilter cheap_filters[] = {
    {.state = -1, .count = 5},
    {.state = -1, .count = 5, .label = "rare"},
    {.state = -1, .count = 5, .label = "rare", .client = "client 0", .solver = "mdp"},
    {.state = -1, .count = 5, .client = "rare"},
    {.state = RECORDING_OPEN, .count = 5},
    {.state = RECORDING_INTERRUPTED, .count = 5, .until_ns = 7000},
    {.state = -1, .count = 5, .since_ns = 4000, .until_ns = 7000}};

// Complete ones, but for a few.
static void add_common_episodes(int first, int last) {
    add_episodes(first, last);
    run("BEGIN");
    for (int i = first; i <= last; i++) {
        add_label(i, "common");
    }
    run("UPDATE episode SET state = 1 WHERE recording NOT IN (4, 7);"
        "UPDATE recording SET client = 'rare' WHERE id IN (4, 7); COMMIT");
}

START_TEST(a_page_does_not_grow_with_the_file) {
    add_common_episodes(1, 20);
    add_label(4, "rare");
    add_label(6, "rare");
    uint64_t total;
    work = 0;
    list(&cheap_filters[_i], &total);
    uint64_t before = work;
    ck_assert_uint_gt(before, 0);
    add_common_episodes(21, 3000);
    work = 0;
    list(&cheap_filters[_i], &total);
    ck_assert_uint_eq(work, before);
}
END_TEST

// ---- all of it

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, open_file, close_file);
    return tcase;
}

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static TCase *case_episodes(void) {
    TCase *tcase = make_case("episodes");
    tcase_add_test(tcase, an_episode_comes_back_whole);
    tcase_add_test(tcase, of_an_episode_being_recorded_the_last_step_is_what_is_committed);
    tcase_add_loop_test(tcase, an_episode_is_found_by_what_a_person_types, 0, COUNT(searches));
    tcase_add_loop_test(tcase, a_list_holds_what_the_filter_says_the_newest_first, 0, COUNT(lists));
    tcase_add_test(tcase, a_list_sees_what_was_committed_since);
    tcase_add_test(tcase, episodes_of_one_recording_have_the_same_figures);
    return tcase;
}

static TCase *case_chunks(void) {
    TCase *tcase = make_case("chunks");
    tcase_add_test(tcase, the_chunk_at_a_step_is_the_last_that_begins_there_or_before);
    tcase_add_test(tcase, of_chunks_that_begin_at_one_step_the_last_is_taken);
    tcase_add_test(tcase, chunks_follow_each_other_by_step_and_id);
    tcase_add_test(tcase, a_chunk_is_read_by_its_id);
    tcase_add_test(tcase, rows_of_chunks_come_in_order);
    return tcase;
}

static TCase *case_damage(void) {
    TCase *tcase = make_case("damage");
    tcase_add_loop_test(tcase, a_damaged_chunk_is_named, 0, COUNT(damages));
    tcase_add_loop_test(tcase, a_damaged_row_is_named, 0, COUNT(damaged_rows));
    tcase_add_loop_test(tcase, a_damaged_row_hides_no_other_one, 0, COUNT(damaged_rows));
    tcase_add_loop_test(tcase, an_edited_file_is_read_or_refused, 0, COLUMN_COUNT);
    return tcase;
}

static TCase *case_limits(void) {
    TCase *tcase = make_case("limits");
    tcase_add_test(tcase, an_arena_that_ends_is_told);
    tcase_add_test(tcase, a_file_that_is_none_is_refused);
    tcase_add_test(tcase, no_kept_statement_scans_a_table);
    tcase_add_test(tcase, seeking_does_not_grow_with_the_episode);
    tcase_add_test(tcase, walking_does_not_grow_with_the_chunks_of_one_step);
    tcase_add_loop_test(tcase, a_page_does_not_grow_with_the_file, 0, COUNT(cheap_filters));
    return tcase;
}

SUITE_MAIN("log/reader", case_episodes, case_chunks, case_damage, case_limits)
