// SPDX-License-Identifier: MIT
// Verification misses frames and contacts: whichever row of them is deleted, it says from which
// step on something is not there; and it misses nothing in an episode that was cut off anywhere, or
// that dropped steps and says so.
#include "replay/verify/verify.h"

#include "log/writer/writer.h"
#include "replay/show/playback.h"
#include "run/worlds/recorder.h"
#include "support/heap.h"
#include "support/log_waiter.h"
#include "support/suite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEPS = 100, STRIDE = 3, KEYFRAME_STEPS = 16 };
enum { QUEUE_BYTES = 200000 };
enum { ROWS_MAX = 400, SQL_BYTES = 256 };

static const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28};

static char folder[64], path[96];
static Report report;
static Log *log_file;         // "log" is a function of C's
static sqlite3 *db;           // a hand in the file
static LogRecording *ballast; // another one, whose chunks fill the log
static Lab lab;
static Door door;
static Arena arena;

static void sql(const char *text) {
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, text, NULL, NULL, &message) == SQLITE_OK, "%s: %s", text,
                  message);
}

static void await(Waiter *waiter) {
    ck_assert_msg(waiter_wait(waiter) == STATUS_OK, "%s", waiter->wait.error.message);
}

static void begin_ballast(void) {
    RecordingDef def = {
        .uid = {1}, .stride = 1, .name = "ballast", .client = "", .world_name = "", .solver = ""};
    Waiter waiter;
    ballast = log_begin(log_file, &def, NULL, NULL, NULL, waiter_init(&waiter));
    await(&waiter);
}

static void end_ballast(void) {
    RecordingEnd end = {.state = RECORDING_WORLD_DESTROYED};
    Waiter waiter;
    log_end(ballast, &end, waiter_init(&waiter));
    await(&waiter);
}

static void open_file(void) {
    report = (Report){.level = REPORT_ERROR, .fd = STDERR_FILENO};
    snprintf(folder, sizeof(folder), "/tmp/moreau-verify-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/e.db", folder);
    LogDef def = {
        .path = path, .queue_bytes_max = QUEUE_BYTES, .report = &report, .server_version = "test"};
    Error error = {0};
    ck_assert_msg(log_open(&log_file, &def, &error) == STATUS_OK, "%s", error.message);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_int_eq(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    begin_ballast();
    lab = heap_create(7, 8);
    door = (Door){.world = lab.world, .stepper = lab.stepper};
    arena_init(&arena, (size_t)1 << 28);
}

static void close_file(void) {
    sqlite3_close(db);
    end_ballast();
    log_close(log_file);
    lab_destroy(&lab);
    arena_deinit(&arena);
    static const char *const endings[] = {"", "-wal", "-shm", "-lock"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char file[128];
        snprintf(file, sizeof(file), "%s%s", path, endings[i]);
        unlink(file);
    }
    ck_assert_int_eq(rmdir(folder), 0);
}

// ---- recording

static void start(bool lossy) {
    RecorderDef def = {.content = CONTENT_CONTACTS,
                       .stride = STRIDE,
                       .keyframe_steps = KEYFRAME_STEPS,
                       .lossy = lossy,
                       .name = "episode",
                       .client = "test",
                       .world_name = "heap"};
    Waiter waiter;
    waiter_init(&waiter);
    Error error = {0};
    ck_assert_int_eq(
        recorder_start(log_file, &def, door.world, &waiter.wait, &door.recorder, &error),
        STATUS_OK);
    await(&waiter);
}

static void take_steps(uint64_t count) {
    Error error = {0};
    StepRun run = {0};
    Input input = {.kind = INPUT_STEP, .step = {.steps = count}};
    ck_assert_int_eq(door_step_begin(&door, &input, &arena, &run, &error), STATUS_OK);
    while (run.steps_left > 0) {
        ck_assert_int_eq(door_step(&door, &run, &lab.scratch, 0, NULL, &error), STATUS_OK);
    }
}

static void stop(void) {
    Waiter waiter;
    waiter_init(&waiter);
    recorder_stop(door.recorder, RECORDING_COMPLETE, &waiter.wait);
    door.recorder = NULL;
    await(&waiter);
}

// Chunks also end between key-frames, as when a world waits: here so that one holds step 48 alone,
// where a key-frame ends what is verified in one piece.
static void record(void) {
    start(false);
    take_steps(46);
    recorder_flush(door.recorder);
    take_steps(STEPS - 46);
    stop();
}

// Steps while the log is full: what is open then is dropped when the next key-frame is due.
static void drop_some(void) {
    sql("BEGIN IMMEDIATE");
    LogBuffer *buffer = log_take_buffer(log_file, QUEUE_BYTES);
    ck_assert_ptr_nonnull(buffer);
    memset(buffer->bytes, 0, QUEUE_BYTES);
    buffer->used = QUEUE_BYTES;
    log_put(ballast, buffer, &(Chunk){.kind = CHUNK_FRAMES});
    ck_assert(log_is_full(log_file));
    take_steps(2 * (uint64_t)KEYFRAME_STEPS - 1);
    sql("ROLLBACK");
    for (int i = 0; log_is_full(log_file); i++) {
        ck_assert_int_lt(i, 1000);
        usleep(10000);
    }
}

// Gaps at the start, in the middle, right behind another one, and one that reaches to the end.
static void record_lossy(void) {
    start(true);
    drop_some();
    take_steps(25);
    drop_some();
    take_steps(1);
    drop_some();
    take_steps(40);
    drop_some();
    stop();
}

// ---- verification

typedef struct Finds {
    size_t count;
    PlayerDifference first;
    uint64_t steps, dropped_steps, last_step;
    uint64_t proven_step;
} Finds;

static Finds verify(void) {
    LogReader *reader;
    EpisodeRow row;
    Error error = {0};
    Verification *verification;
    Arena scratch;
    arena_init(&scratch, (size_t)1 << 28);
    ck_assert_int_eq(log_take_reader(log_file, &reader, &error), STATUS_OK);
    Status status = log_reader_find(reader, "episode", &scratch, &row, &error);
    log_give_reader(log_file, reader);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    VerifyDef def = {.log = log_file,
                     .episode = &row,
                     .limits = limits,
                     .last = row.last_step,
                     .worker_count_max = 1,
                     .plan_bytes_max = limits.bytes_max};
    status = verify_open(&verification, &def, &error);
    for (bool is_over = false, progressed; status == STATUS_OK && !is_over;) {
        status =
            verify_work(verification, 0, &scratch, UINT64_MAX, NULL, &is_over, &progressed, &error);
    }
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    VerifyResult result = verify_result(verification);
    Finds finds = {.count = result.difference_count,
                   .steps = result.steps,
                   .dropped_steps = result.dropped_steps,
                   .last_step = row.last_step,
                   .proven_step = result.proven_step};
    if (finds.count > 0) {
        finds.first = result.difference[0];
    }
    for (size_t i = 1; i < finds.count; i++) { // each is told once
        const PlayerDifference *a = &result.difference[i - 1], *b = &result.difference[i];
        ck_assert(a->step != b->step || strcmp(a->message, b->message) != 0);
    }
    verify_close(verification);
    arena_deinit(&scratch);
    return finds;
}

static void expect_whole(const char *when) {
    Finds finds = verify();
    ck_assert_msg(finds.count == 0, "%s: %s", when, finds.first.message);
    ck_assert_uint_eq(finds.steps + finds.dropped_steps, finds.last_step);
}

// ---- the file

typedef struct Row {
    int64_t id;
    ChunkKind kind;
    uint64_t first_step, last_step;
} Row;

static int list_rows(Row rows[ROWS_MAX]) {
    sqlite3_stmt *query;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT id, kind, first_step, last_step FROM chunk "
                                        "WHERE recording = 2 ORDER BY id",
                                        -1, &query, NULL),
                     SQLITE_OK);
    int count = 0;
    for (; sqlite3_step(query) == SQLITE_ROW; count++) {
        ck_assert_int_lt(count, ROWS_MAX);
        rows[count] = (Row){.id = sqlite3_column_int64(query, 0),
                            .kind = (ChunkKind)sqlite3_column_int(query, 1),
                            .first_step = (uint64_t)sqlite3_column_int64(query, 2),
                            .last_step = (uint64_t)sqlite3_column_int64(query, 3)};
    }
    sqlite3_finalize(query);
    return count;
}

static void keep_rows(void) {
    sql("CREATE TABLE kept AS SELECT * FROM chunk");
}

static void sql_of(const char *format, int64_t id) {
    char text[SQL_BYTES];
    snprintf(text, sizeof(text), format, (long long)id);
    sql(text);
}

// The first step of the chunk that no gap explains; UINT64_MAX: all of it may be gone. A frame
// where a gap begins may have been dropped with it, one where it ends may not.
static uint64_t first_missed(const Row *chunk, const Row *rows, int count) {
    for (uint64_t step = chunk->first_step; step <= chunk->last_step; step += STRIDE) {
        bool is_dropped = false;
        for (int i = 0; i < count; i++) {
            is_dropped |=
                rows[i].kind == CHUNK_GAP && step >= rows[i].first_step && step < rows[i].last_step;
        }
        if (!is_dropped) {
            return step;
        }
    }
    return UINT64_MAX;
}

// Deletes each row of this kind, one at a time; returns how many were missed.
static int expect_missed(ChunkKind kind) {
    static Row rows[ROWS_MAX];
    int count = list_rows(rows), missed = 0;
    keep_rows();
    for (int i = 0; i < count; i++) {
        if (rows[i].kind != kind) {
            continue;
        }
        uint64_t step = first_missed(&rows[i], rows, count);
        sql_of("DELETE FROM chunk WHERE id = %lld", rows[i].id);
        Finds finds = verify();
        sql_of("INSERT INTO chunk SELECT * FROM kept WHERE id = %lld", rows[i].id);
        ck_assert_uint_eq(finds.count > 0, step != UINT64_MAX);
        if (finds.count == 0) {
            continue;
        }
        missed++;
        ck_assert_uint_eq(finds.first.step, step);
        ck_assert_int_eq((int)finds.first.chunk_kind, (int)kind);
        ck_assert_int_eq(finds.first.chunk, 0);
        ck_assert(finds.first.is_damage);
        ck_assert_ptr_nonnull(strstr(finds.first.message, "is missing"));
        ck_assert_uint_eq(finds.steps + finds.dropped_steps, finds.last_step);
    }
    expect_whole("with all rows back");
    return missed;
}

// The file as it was before the chunk was committed, and whatever came behind it.
static void cut_off(const Row *chunk) {
    sql_of("DELETE FROM chunk WHERE id >= %lld AND recording = 2", chunk->id);
    sql("UPDATE recording SET state = 0, why = '', ended_ns = 0, dropped_steps = 0 WHERE id = 2;"
        "UPDATE episode SET state = 0, last_step = NULL, simulated_s = NULL, ended_ns = 0,"
        " unconverged = NULL, worst_own = NULL, worst_penetration = NULL, contacts_max = NULL,"
        " hardest_impact = NULL, hardest_impact_step = NULL, energy_gain = NULL,"
        " energy_gain_step = NULL, gain = NULL, gain_scale = NULL, gain_step = NULL"
        " WHERE recording = 2");
    if (chunk->kind == CHUNK_HIGHLIGHTS) {
        sql_of("DELETE FROM highlight WHERE recording = 2 AND first_step > %lld",
               (int64_t)chunk->first_step);
    }
}

// What the next server does.
static void find_cut_off(void) {
    Writer writer;
    Error error = {0};
    ck_assert_int_eq(writer_open(&writer, path, false, &error), STATUS_OK);
    ck_assert_int_eq(writer_begin(&writer, false, &error), STATUS_OK);
    ck_assert_msg(writer_interrupt(&writer, 2, "killed", NULL, &error) == STATUS_OK, "%s",
                  error.message);
    ck_assert_int_eq(writer_commit(&writer, &error), STATUS_OK);
    writer_close(&writer);
}

// Takes the rows away from the end, one after the other, as if the server had been killed when no
// more was committed.
static void expect_whole_wherever_cut(void) {
    static Row rows[ROWS_MAX];
    int count = list_rows(rows);
    for (int i = count - 1; i > 1; i--) { // definition and first key-frame come together
        char when[64];
        cut_off(&rows[i]);
        if (i % 2 == 0) {
            expect_whole("before anybody has looked"); // as it is while it is being recorded
        }
        find_cut_off();
        snprintf(when, sizeof(when), "cut off behind chunk %d of %d", i, count);
        if (rows[i - 1].kind != CHUNK_GAP) { // nothing can be stepped to where that one ends
            expect_whole(when);
        }
    }
}

// ---- tests

static const ChunkKind kinds[] = {CHUNK_FRAMES, CHUNK_CONTACTS};

START_TEST(a_deleted_row_is_missed) {
    record();
    expect_whole("as it was recorded");
    // a chunk per 16 steps, and one more for the flush
    ck_assert_int_ge(expect_missed(kinds[_i]), STEPS / KEYFRAME_STEPS + 2);
}
END_TEST

START_TEST(all_deleted_rows_are_missed_from_the_first_step_on) {
    record();
    sql("DELETE FROM chunk WHERE recording = 2 AND kind IN (3, 4)");
    Finds finds = verify();
    // the frame of step 0, and the contacts of the first step that has some
    ck_assert_uint_ge(finds.count, 2);
    ck_assert_uint_eq(finds.first.step, 0);
    ck_assert_int_eq(finds.first.chunk_kind, CHUNK_FRAMES);
    ck_assert_str_eq(finds.first.message,
                     "Step 0: the frame is missing: the recording has lost it, and it has none "
                     "behind it.");
}
END_TEST

START_TEST(an_episode_that_was_cut_off_anywhere_is_whole) {
    record();
    expect_whole_wherever_cut();
}
END_TEST

START_TEST(steps_that_were_dropped_are_not_missed) {
    record_lossy();
    Finds finds = verify();
    ck_assert_uint_ge(finds.dropped_steps, (uint64_t)4 * KEYFRAME_STEPS);
    expect_whole("as it was recorded");
    // a key-frame's worth behind the first gap, none behind the second, two behind the third
    ck_assert_int_eq(expect_missed(kinds[_i]), 3);
}
END_TEST

// Of an episode that is being recorded.
static const char *const ends[] = {
    "UPDATE recording SET why = 'somebody says so' WHERE id = 2",
    "UPDATE recording SET dropped_steps = 3 WHERE id = 2",
    "UPDATE recording SET ended_ns = 5 WHERE id = 2",
    "UPDATE recording SET state = 1 WHERE id = 2",
    "UPDATE episode SET state = 1 WHERE recording = 2",
    "UPDATE episode SET ended_ns = 5 WHERE recording = 2",
    "UPDATE episode SET unconverged = 0, worst_own = 0.0, worst_penetration = 0.0, contacts_max = "
    "0, hardest_impact = 0.0, hardest_impact_step = 0, energy_gain = 0.0, energy_gain_step = 0 "
    "WHERE recording = 2",
};

START_TEST(an_end_that_has_not_come_is_not_believed) {
    record();
    static Row rows[ROWS_MAX];
    int count = list_rows(rows);
    cut_off(&rows[count - 1]); // its seal
    expect_whole("before the edit");
    sql(ends[_i]);
    ck_assert_msg(verify().count > 0, "%s: nobody has noticed", ends[_i]);
}
END_TEST

// What chunks there are decides how far a recording without a seal is proven, not its row.
START_TEST(nothing_is_proven_beyond_the_chunks) {
    record();
    static Row rows[ROWS_MAX];
    int count = list_rows(rows);
    cut_off(&rows[count - 1]); // its seal
    ck_assert_uint_eq(verify().proven_step, STEPS);
    sql("UPDATE episode SET last_step = 999 WHERE recording = 2");
    Finds finds = verify();
    ck_assert_uint_gt(finds.count, 0);
    ck_assert_uint_eq(finds.proven_step, STEPS);
}
END_TEST

static Status plan(const EpisodeRow *row, size_t bytes_max, Verification **made, Error *error) {
    VerifyDef def = {.log = log_file,
                     .episode = row,
                     .limits = limits,
                     .last = row->last_step,
                     .worker_count_max = 1,
                     .plan_bytes_max = bytes_max};
    return verify_open(made, &def, error);
}

// A row of each chunk, once; half as much is enough for segments, definition, seal and scene. An
// arena's block is twice as large as the piece that it is made for, so that the rows held twice
// would be four times as much.
START_TEST(a_plan_holds_each_row_once_and_no_more_than_it_may) {
    start(false);
    for (int i = 0; i < 8 * STEPS; i++) { // a chunk each at least
        take_steps(1);
        recorder_flush(door.recorder);
    }
    stop();
    LogReader *reader;
    EpisodeRow row;
    Error error = {0};
    Verification *verification;
    ck_assert_int_eq(log_take_reader(log_file, &reader, &error), STATUS_OK);
    ck_assert_int_eq(log_reader_find(reader, "episode", &arena, &row, &error), STATUS_OK);
    log_give_reader(log_file, reader);
    ck_assert_int_eq(plan(&row, limits.bytes_max, &verification, &error), STATUS_OK);
    size_t bytes = verify_plan_bytes(verification), rows = row.chunk_count * sizeof(ChunkRow);
    verify_close(verification);
    ck_assert_uint_ge(bytes, rows);
    ck_assert_msg(bytes < 3 * rows, "%zu bytes for %zu of rows", bytes, rows);
    ck_assert_int_eq(plan(&row, rows / 2, &verification, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_msg(strstr(error.message, "--memory-bytes-max") != NULL, "%s", error.message);
}
END_TEST

// Shows all that was not dropped by stepping, as a replay does. Returns how many frames.
static uint64_t step_to_every_frame(bool contacts, uint64_t *last_step) {
    LogReader *reader;
    EpisodeRow row;
    Error error = {0};
    Playback *playback;
    Arena scratch;
    arena_init(&scratch, (size_t)1 << 28);
    ck_assert_int_eq(log_take_reader(log_file, &reader, &error), STATUS_OK);
    Status status = log_reader_find(reader, "episode", &scratch, &row, &error);
    log_give_reader(log_file, reader);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    PlaybackDef def = {.log = log_file,
                       .episode = &row,
                       .limits = limits,
                       .wants = {.contacts = contacts},
                       .again = true};
    ck_assert_int_eq(playback_open(&playback, &def, &error), STATUS_OK);
    uint64_t frames = 0, step = playback_skip_gap(playback, 0);
    while (step <= row.last_step) {
        EpisodeFrame frame;
        bool found;
        status = playback_get(playback, step, &scratch, UINT64_MAX, NULL, &frame, &found, &error);
        ck_assert_msg(status == STATUS_OK, "%s", error.message);
        ck_assert(found && !frame.is_stored);
        frames++;
        step = playback_skip_gap(playback, step + 1);
    }
    *last_step = row.last_step;
    playback_close(playback);
    arena_deinit(&scratch);
    return frames;
}

START_TEST(what_a_lossy_episode_has_can_be_stepped_to_over_its_gaps) {
    record_lossy();
    uint64_t last_step, frames = step_to_every_frame(_i == 1, &last_step);
    // the steps before and behind a gap are there; behind the last of the four there is nothing
    ck_assert_uint_eq(frames, last_step + 1 - verify().dropped_steps + 3);
}
END_TEST

START_TEST(a_lossy_episode_that_was_cut_off_anywhere_is_whole) {
    record_lossy();
    expect_whole_wherever_cut();
}
END_TEST

static TCase *case_missing(void) {
    TCase *tcase = tcase_create("missing");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_checked_fixture(tcase, open_file, close_file);
    tcase_add_loop_test(tcase, a_deleted_row_is_missed, 0, 2);
    tcase_add_test(tcase, all_deleted_rows_are_missed_from_the_first_step_on);
    tcase_add_test(tcase, an_episode_that_was_cut_off_anywhere_is_whole);
    tcase_add_loop_test(tcase, an_end_that_has_not_come_is_not_believed, 0,
                        (int)(sizeof(ends) / sizeof(ends[0])));
    tcase_add_test(tcase, nothing_is_proven_beyond_the_chunks);
    tcase_add_test(tcase, a_plan_holds_each_row_once_and_no_more_than_it_may);
    tcase_add_loop_test(tcase, steps_that_were_dropped_are_not_missed, 0, 2);
    tcase_add_loop_test(tcase, what_a_lossy_episode_has_can_be_stepped_to_over_its_gaps, 0, 2);
    tcase_add_test(tcase, a_lossy_episode_that_was_cut_off_anywhere_is_whole);
    return tcase;
}

SUITE_MAIN("run/verify", case_missing)
