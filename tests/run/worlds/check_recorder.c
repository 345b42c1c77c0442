// SPDX-License-Identifier: MIT
// The recorder: what passed the door stands in the chunks, in order, with a hash after each change
// and each step; key-frames and frames stand where they should, bit for bit; a log that cannot keep
// up makes worlds wait, or steps go missing that are counted.
#include "run/worlds/recorder.h"

#include "base/bytes.h"
#include "log/format/entries.h"
#include "log/format/frames.h"
#include "log/reader/reader.h"
#include "run/worlds/door.h"
#include "step/snapshot/snapshot.h"
#include "support/heap.h"
#include "support/log_waiter.h"
#include "support/suite.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct Fixture {
    char folder[64], path[96];
    Report report;
    Log *log;
    Lab lab;
    Door door;
    Arena arena;
} Fixture;

static void await(Waiter *waiter) {
    ck_assert_msg(waiter_wait(waiter) == STATUS_OK, "%s", waiter->wait.error.message);
}

static Fixture open_fixture(size_t queue_bytes_max) {
    Fixture fixture = {.report = {.level = REPORT_ERROR, .fd = STDERR_FILENO}};
    snprintf(fixture.folder, sizeof(fixture.folder), "/tmp/moreau-recorder-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(fixture.folder));
    snprintf(fixture.path, sizeof(fixture.path), "%s/e.db", fixture.folder);
    LogDef def = {.path = fixture.path,
                  .queue_bytes_max = queue_bytes_max,
                  .report = &fixture.report,
                  .server_version = "test"};
    Error error = {0};
    ck_assert_msg(log_open(&fixture.log, &def, &error) == STATUS_OK, "%s", error.message);
    fixture.lab = heap_create(7, 20);
    fixture.door = (Door){.world = fixture.lab.world, .stepper = fixture.lab.stepper};
    arena_init(&fixture.arena, (size_t)1 << 28);
    return fixture;
}

static void close_fixture(Fixture *fixture) {
    log_close(fixture->log);
    fixture->lab.world = fixture->door.world; // a restore may have put another one there
    lab_destroy(&fixture->lab);
    arena_deinit(&fixture->arena);
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", fixture->folder);
    ck_assert_int_eq(system(command), 0);
}

static void record(Fixture *fixture, RecordingContent content, uint64_t stride,
                   uint64_t keyframe_steps, bool lossy) {
    RecorderDef def = {.content = content,
                       .stride = stride,
                       .keyframe_steps = keyframe_steps,
                       .lossy = lossy,
                       .name = "episode",
                       .client = "test",
                       .world_name = "heap"};
    Waiter waiter;
    waiter_init(&waiter);
    Error error = {0};
    ck_assert_int_eq(recorder_start(fixture->log, &def, fixture->door.world, &waiter.wait,
                                    &fixture->door.recorder, &error),
                     STATUS_OK);
    await(&waiter);
}

static void stop(Fixture *fixture) {
    Waiter waiter;
    waiter_init(&waiter);
    recorder_stop(fixture->door.recorder, RECORDING_COMPLETE, &waiter.wait);
    fixture->door.recorder = NULL;
    await(&waiter);
}

static void change(Fixture *fixture, Input input) {
    Error error = {0};
    ck_assert_msg(door_change(&fixture->door, &input, &fixture->arena, NULL, NULL, &error) ==
                      STATUS_OK,
                  "%s", error.message);
}

// One order of steps; the hash after each goes to `hash` (Nullable). Returns how many were done.
static uint64_t order_steps(Fixture *fixture, StepOrder order, uint64_t *hash) {
    Error error = {0};
    StepRun run = {0};
    const Input input = {.kind = INPUT_STEP, .step = order};
    ck_assert_int_eq(door_step_begin(&fixture->door, &input, &fixture->arena, &run, &error),
                     STATUS_OK);
    while (run.steps_left > 0 &&
           door_step(&fixture->door, &run, &fixture->lab.scratch, 0, NULL, &error) == STATUS_OK) {
        if (hash != NULL) {
            hash[run.tally.done - 1] = snapshot_hash(fixture->door.world);
        }
    }
    return run.tally.done;
}

// ---- reading back

typedef struct Readback {
    LogReader *reader;
    EpisodeRow row;
} Readback;

static Readback open_readback(Fixture *fixture) {
    Readback readback;
    Error error = {0};
    ck_assert_int_eq(log_take_reader(fixture->log, &readback.reader, &error), STATUS_OK);
    ck_assert_msg(log_reader_find(readback.reader, "episode", &fixture->arena, &readback.row,
                                  &error) == STATUS_OK,
                  "%s", error.message);
    return readback;
}

static bool next_chunk(Fixture *fixture, Readback *readback, ChunkKind kind, LogChunk *chunk) {
    Error error = {0};
    ChunkPlace place = chunk_place(&chunk->chunk);
    Status status = log_reader_next(readback->reader, &readback->row, kind,
                                    chunk->id == 0 ? NULL : &place, &fixture->arena, chunk, &error);
    ck_assert_msg(status == STATUS_OK || status == STATUS_NOT_FOUND, "%s", error.message);
    return status == STATUS_OK;
}

typedef struct Expected {
    uint64_t step;
    uint32_t kind, flags, hash_count;
} Expected;

// Walks all entries, compares them with what is expected, and collects the hashes.
static size_t walk_entries(Fixture *fixture, Readback *readback, const Expected *expected,
                           size_t count, uint64_t *hashes) {
    LogChunk chunk = {0};
    size_t entries = 0, hash_count = 0;
    while (next_chunk(fixture, readback, CHUNK_INPUTS, &chunk)) {
        Entry entry;
        Error error = {0};
        size_t at = 0;
        while (entry_next(chunk.chunk.body, chunk.chunk.body_bytes, &at, &entry, &error)) {
            ck_assert_uint_lt(entries, count);
            InputBytes input = {.bytes = entry.input, .count = entry.input_bytes};
            ck_assert_uint_eq(input_length(entry.input, entry.input_bytes), entry.input_bytes);
            ck_assert_uint_eq(input_kind(input), expected[entries].kind);
            ck_assert_uint_eq(entry.step, expected[entries].step);
            ck_assert_uint_eq(entry.flags, expected[entries].flags);
            ck_assert_uint_eq(entry.hash_count, expected[entries].hash_count);
            for (uint32_t i = 0; i < entry.hash_count; i++) {
                hashes[hash_count++] = entry_hash(&entry, i);
            }
            if (entry.flags == 0 && input_kind(input) == INPUT_STEP) {
                Input decoded;
                ck_assert_int_eq(input_decode(input, &fixture->arena, &decoded, &error), STATUS_OK);
                ck_assert_uint_eq(decoded.step.steps, entry.hash_count);
            }
            entries++;
        }
        ck_assert_int_eq(error.status, STATUS_OK);
    }
    ck_assert_uint_eq(entries, count);
    return hash_count;
}

// ----

START_TEST(what_passed_stands_in_the_chunks_with_its_hashes) {
    Fixture fixture = open_fixture(1 << 26);
    uint64_t hash[100];
    size_t n = 0;
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);

    order_steps(&fixture, (StepOrder){.steps = 3}, hash + n);
    n += 3;
    order_steps(&fixture, (StepOrder){.steps = 4}, hash + n); // joins the one before
    n += 4;
    const uint64_t body = fixture.door.world->body_id[2];
    const double wrench[6] = {0.0, 0.0, 3.0, 0.1, 0.0, 0.0};
    order_steps(&fixture,
                (StepOrder){.steps = 2, .wrench_count = 1, .wrench_body = &body, .wrench = wrench},
                hash + n);
    n += 2;
    order_steps(&fixture, (StepOrder){.steps = 1, .time_step = 0.001}, hash + n);
    n += 1;
    const double velocity[6] = {0.0, 0.0, 1.0, 0.0, 0.0, 0.0};
    change(&fixture, (Input){.kind = INPUT_SET,
                             .set = {.update = {.count = 1, .id = &body, .velocity = velocity}}});
    hash[n++] = snapshot_hash(fixture.door.world);
    order_steps(&fixture, (StepOrder){.steps = 5, .time_step = 0.001}, hash + n);
    n += 5;
    stop(&fixture);

    const Expected expected[] = {{0, INPUT_STEP, 0, 7},
                                 {7, INPUT_STEP, 0, 2},
                                 {9, INPUT_STEP, 0, 1},
                                 {10, INPUT_SET, 0, 1},
                                 {10, INPUT_STEP, 0, 5}};
    uint64_t stored[100];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 5, stored), n);
    ck_assert_mem_eq(stored, hash, n * sizeof(uint64_t));
    ck_assert_uint_eq(readback.row.last_step, 15);
    ck_assert_int_eq(readback.row.state, RECORDING_COMPLETE);
    ck_assert_str_eq(readback.row.solver, "mdp");
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

START_TEST(a_refused_input_leaves_no_trace) {
    Fixture fixture = open_fixture(1 << 26);
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);
    uint64_t hash[4];
    order_steps(&fixture, (StepOrder){.steps = 1}, hash);
    const uint64_t unknown = 12345;
    Error error = {0};
    Input bad = {.kind = INPUT_SET, .set = {.update = {.count = 1, .id = &unknown}}};
    ck_assert_int_ne(door_change(&fixture.door, &bad, &fixture.arena, NULL, NULL, &error),
                     STATUS_OK);
    order_steps(&fixture, (StepOrder){.steps = 1}, hash + 1);
    stop(&fixture);
    const Expected expected[] = {{0, INPUT_STEP, 0, 2}};
    uint64_t stored[4];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 1, stored), 2);
    ck_assert_mem_eq(stored, hash, 2 * sizeof(uint64_t));
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// A step that fails leaves the world faulted, which is a change: it must be in the recording.
START_TEST(a_fault_and_what_cures_it_are_recorded) {
    Fixture fixture = open_fixture(1 << 26);
    World *world = fixture.door.world;
    const uint64_t body = world->body_id[3];
    const double huge[6] = {1e18, 0.0, 0.0, 0.0, 0.0, 0.0};
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);
    uint64_t hash[8];
    order_steps(&fixture, (StepOrder){.steps = 2}, hash);
    world->mass[3].mass = 1e-300; // so that a force makes it infinitely fast, which is refused
    uint64_t done = order_steps(
        &fixture, (StepOrder){.steps = 3, .wrench_count = 1, .wrench_body = &body, .wrench = huge},
        NULL);
    ck_assert_uint_eq(done, 0);
    ck_assert(world->faulted);
    hash[2] = snapshot_hash(world);
    const double velocity[6] = {0.0};
    change(&fixture, (Input){.kind = INPUT_SET,
                             .set = {.update = {.count = 1, .id = &body, .velocity = velocity}}});
    hash[3] = snapshot_hash(world);
    stop(&fixture);
    const Expected expected[] = {
        {0, INPUT_STEP, 0, 2}, {2, INPUT_STEP, ENTRY_FAULTED, 1}, {2, INPUT_SET, 0, 1}};
    uint64_t stored[8];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 3, stored), 4);
    ck_assert_mem_eq(stored, hash, 4 * sizeof(uint64_t));
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

enum { STEPS = 100, KEY = 30, STRIDE = 7 };

// What the world was after each step.
typedef struct History {
    uint8_t *snapshot[STEPS + 1];
    size_t snapshot_bytes[STEPS + 1];
    double *pose[STEPS + 1], *velocity[STEPS + 1];
    uint32_t contacts[STEPS + 1];
} History;

static void keep(Fixture *fixture, History *history, int step) {
    const World *world = fixture->door.world;
    size_t n = world->body_count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(world, &fixture->arena, &history->snapshot[step],
                                    &history->snapshot_bytes[step], &error),
                     STATUS_OK);
    history->pose[step] = arena_take_array(&fixture->arena, n, 7 * sizeof(double));
    history->velocity[step] = arena_take_array(&fixture->arena, n, 6 * sizeof(double));
    for (uint32_t b = 0; b < n; b++) {
        world_body_pose(world, b, history->pose[step] + 7 * (size_t)b);
    }
    memcpy(history->velocity[step], world->velocity, 6 * n * sizeof(double));
    history->contacts[step] = fixture->door.stepper->contact_count;
}

static void expect_keyframes(Fixture *fixture, Readback *readback, const History *history) {
    LogChunk chunk = {0};
    uint64_t step = 0;
    for (; next_chunk(fixture, readback, CHUNK_KEYFRAME, &chunk); step += KEY) {
        ck_assert_uint_eq(chunk.chunk.first_step, step);
        ck_assert_uint_eq(chunk.chunk.body_bytes, history->snapshot_bytes[step]);
        ck_assert_mem_eq(chunk.chunk.body, history->snapshot[step], chunk.chunk.body_bytes);
    }
    ck_assert_uint_eq(step, STEPS / KEY * KEY + KEY);
}

static void expect_frames(Fixture *fixture, Readback *readback, const History *history) {
    LogChunk chunk = {0};
    uint64_t step = 0;
    size_t n = fixture->door.world->body_count;
    while (next_chunk(fixture, readback, CHUNK_FRAMES, &chunk)) {
        FrameChunk frames;
        Error error = {0};
        ck_assert_int_eq(frame_chunk_open(chunk.chunk.body, chunk.chunk.body_bytes,
                                          chunk_version(&chunk.chunk), &frames, &error),
                         STATUS_OK);
        ck_assert_uint_eq(frames.body_count, n);
        for (size_t i = 0; i < frames.frame_count; i++, step += STRIDE) {
            StateFrame frame;
            ck_assert_int_eq(frame_chunk_read(&frames, i, &fixture->arena, &frame, &error),
                             STATUS_OK);
            ck_assert_uint_eq(frame.step, step);
            ck_assert_mem_eq(frame.pose, history->pose[step], 56 * n);
            ck_assert_mem_eq(frame.velocity, history->velocity[step], 48 * n);
        }
    }
    ck_assert_uint_eq(step, STEPS / STRIDE * STRIDE + STRIDE);
}

static void expect_contacts(Fixture *fixture, Readback *readback, const History *history) {
    LogChunk chunk = {0};
    uint64_t step = STRIDE; // before the first step there are none
    while (next_chunk(fixture, readback, CHUNK_CONTACTS, &chunk)) {
        ContactList list;
        Error error = {0};
        for (size_t at = 0;
             contact_chunk_next(chunk.chunk.body, chunk.chunk.body_bytes,
                                chunk_version(&chunk.chunk), &at, &fixture->arena, &list, &error);
             step += STRIDE) {
            ck_assert_uint_eq(list.step, step);
            ck_assert_uint_eq(list.count, history->contacts[step]);
        }
        ck_assert_int_eq(error.status, STATUS_OK);
    }
    ck_assert_uint_gt(history->contacts[STEPS], 5);
    ck_assert_uint_eq(step, STEPS / STRIDE * STRIDE + STRIDE);
}

START_TEST(keyframes_frames_and_contacts_stand_where_they_should) {
    Fixture fixture = open_fixture(1 << 26);
    History *history = calloc(1, sizeof(*history));
    record(&fixture, CONTENT_CONTACTS, STRIDE, KEY, false);
    keep(&fixture, history, 0);
    for (int i = 1; i <= STEPS; i++) {
        order_steps(&fixture, (StepOrder){.steps = 1}, NULL);
        keep(&fixture, history, i);
    }
    stop(&fixture);
    Readback readback = open_readback(&fixture);
    expect_keyframes(&fixture, &readback, history);
    expect_frames(&fixture, &readback, history);
    expect_contacts(&fixture, &readback, history);
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
    free(history);
}
END_TEST

START_TEST(a_flush_hands_over_what_is_open) {
    Fixture fixture = open_fixture(1 << 26);
    record(&fixture, CONTENT_FRAMES, 1, 1000, false);
    order_steps(&fixture, (StepOrder){.steps = 10}, NULL);
    ck_assert(recorder_has_open_chunks(fixture.door.recorder));
    recorder_flush(fixture.door.recorder);
    ck_assert(!recorder_has_open_chunks(fixture.door.recorder));
    uint64_t seen = 0;
    for (int i = 0; seen < 10; i++) { // committed soon, without a stop
        ck_assert_int_lt(i, 1000);
        usleep(10000);
        Readback readback = open_readback(&fixture);
        seen = readback.row.last_step;
        ck_assert_int_eq(readback.row.state, RECORDING_OPEN);
        log_give_reader(fixture.log, readback.reader);
    }
    stop(&fixture);
    close_fixture(&fixture);
}
END_TEST

START_TEST(a_restored_snapshot_is_an_input_like_any_other) {
    Fixture fixture = open_fixture(1 << 26);
    uint8_t *bytes;
    size_t count;
    Error error = {0};
    ck_assert_int_eq(snapshot_write(fixture.door.world, &fixture.arena, &bytes, &count, &error),
                     STATUS_OK);
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);
    uint64_t hash[20];
    order_steps(&fixture, (StepOrder){.steps = 4}, hash);
    change(&fixture,
           (Input){.kind = INPUT_RESTORE, .restore = {.snapshot = bytes, .snapshot_bytes = count}});
    hash[4] = snapshot_hash(fixture.door.world);
    ck_assert_uint_eq(fixture.door.world->step, 0);
    order_steps(&fixture, (StepOrder){.steps = 4}, hash + 5);
    ck_assert_mem_eq(hash, hash + 5, 4 * sizeof(uint64_t));
    stop(&fixture);
    const Expected expected[] = {
        {0, INPUT_STEP, 0, 4}, {4, INPUT_RESTORE, 0, 1}, {4, INPUT_STEP, 0, 4}};
    uint64_t stored[20];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 3, stored), 9);
    ck_assert_mem_eq(stored, hash, 9 * sizeof(uint64_t));
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// What the recording has is whole; what it has not, it says.
START_TEST(an_input_that_memory_has_no_room_for_ends_the_recording_and_is_told) {
    Fixture fixture = open_fixture(1 << 26);
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);
    uint64_t hash[8];
    order_steps(&fixture, (StepOrder){.steps = 3}, hash);
    recorder_flush(fixture.door.recorder);
    order_steps(&fixture, (StepOrder){.steps = 2}, hash + 3);
    // no memory holds its encoding, so nobody comes to read it
    const Input huge = {.kind = INPUT_RESTORE, .restore = {.snapshot_bytes = SIZE_MAX / 2 - 4096}};
    recorder_change(fixture.door.recorder, fixture.door.world, &huge);
    Error error = {0};
    ck_assert_int_eq(recorder_status(fixture.door.recorder, &error), STATUS_RESOURCE_EXHAUSTED);
    ck_assert_ptr_nonnull(strstr(error.message, "step 5"));
    order_steps(&fixture, (StepOrder){.steps = 2}, NULL);
    stop(&fixture);
    const Expected expected[] = {{0, INPUT_STEP, 0, 3}};
    uint64_t stored[8];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 1, stored), 3);
    ck_assert_mem_eq(stored, hash, 3 * sizeof(uint64_t));
    ck_assert_int_eq(readback.row.state, RECORDING_INTERRUPTED);
    ck_assert_uint_eq(readback.row.last_step, 3);
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// An order under way is the first entry of a recording that begins in its middle, and of every
// chunk that does.
START_TEST(a_long_order_is_told_anew_where_a_recording_or_a_chunk_begins) {
    Fixture fixture = open_fixture(1 << 26);
    const uint64_t body = fixture.door.world->body_id[2];
    const double wrench[6] = {0.0, 0.0, 3.0, 0.1, 0.0, 0.0};
    const Input order = {.kind = INPUT_STEP,
                         .step = {.steps = 10,
                                  .time_step = 0.001,
                                  .wrench_count = 1,
                                  .wrench_body = &body,
                                  .wrench = wrench}};
    Error error = {0};
    StepRun run = {0};
    uint64_t hash[10];
    ck_assert_int_eq(door_step_begin(&fixture.door, &order, &fixture.arena, &run, &error),
                     STATUS_OK);
    while (run.steps_left > 0) {
        if (run.tally.done == 4) {
            record(&fixture, CONTENT_INPUTS, 1, 1000, false);
        } else if (run.tally.done == 7) {
            recorder_flush(fixture.door.recorder);
        }
        ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.lab.scratch, 0, NULL, &error),
                         STATUS_OK);
        hash[run.tally.done - 1] = snapshot_hash(fixture.door.world);
    }
    stop(&fixture);
    const Expected expected[] = {{0, INPUT_STEP, 0, 3}, {3, INPUT_STEP, 0, 3}};
    uint64_t stored[10];
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(walk_entries(&fixture, &readback, expected, 2, stored), 6);
    ck_assert_mem_eq(stored, hash + 4, 6 * sizeof(uint64_t));
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// ---- a log that cannot keep up: somebody else holds the file

static sqlite3 *hold_file(const Fixture *fixture) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(fixture->path, &db), SQLITE_OK);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    ck_assert_int_eq(sqlite3_busy_timeout(db, 5000), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void let_go(sqlite3 *db) {
    ck_assert_int_eq(sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

START_TEST(a_full_log_makes_the_world_wait_and_loses_nothing) {
    Fixture fixture = open_fixture(200000);
    record(&fixture, CONTENT_FRAMES, 1, 10, false);
    sqlite3 *db = hold_file(&fixture);
    uint64_t steps = 0;
    for (; door_is_ready(&fixture.door, NULL); steps++) {
        ck_assert_uint_lt(steps, 10000);
        order_steps(&fixture, (StepOrder){.steps = 1}, NULL);
    }
    // an order of many steps ends early, too: at least one step is taken, and then it waits
    Error error = {0};
    StepRun run = {0};
    const Input order = {.kind = INPUT_STEP, .step = {.steps = 50}};
    ck_assert_int_eq(door_step_begin(&fixture.door, &order, &fixture.arena, &run, &error),
                     STATUS_OK);
    ck_assert_int_eq(door_step(&fixture.door, &run, &fixture.lab.scratch, UINT64_MAX, NULL, &error),
                     STATUS_OK);
    ck_assert_uint_eq(run.tally.done, 1);
    Waiter waiter;
    waiter_init(&waiter);
    ck_assert(!door_is_ready(&fixture.door, &waiter.wait));
    let_go(db);
    await(&waiter);
    ck_assert(door_is_ready(&fixture.door, NULL));
    stop(&fixture);
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(readback.row.last_step, steps + 1);
    ck_assert_uint_eq(readback.row.dropped_steps, 0);
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// Of a chunk of inputs whose entries follow one another without a hole.
static uint64_t count_hashes(const LogChunk *chunk) {
    uint64_t hashes = 0;
    size_t at = 0;
    Entry entry;
    Error error = {0};
    while (entry_next(chunk->chunk.body, chunk->chunk.body_bytes, &at, &entry, &error)) {
        ck_assert_uint_eq(entry.step, chunk->chunk.first_step + hashes);
        hashes += entry.hash_count;
    }
    ck_assert_msg(error.status == STATUS_OK, "%s", error.message);
    return hashes;
}

START_TEST(a_lossy_recording_goes_on_and_counts_what_it_lost) {
    enum { LONG = 200 };
    Fixture fixture = open_fixture(200000);
    record(&fixture, CONTENT_FRAMES, 1, 10, true);
    sqlite3 *db = hold_file(&fixture);
    for (int i = 0; i < LONG; i++) {
        ck_assert(door_is_ready(&fixture.door, NULL));
        order_steps(&fixture, (StepOrder){.steps = 1}, NULL);
    }
    ck_assert(log_is_full(fixture.log));
    let_go(db);
    for (int i = 0; log_is_full(fixture.log); i++) {
        ck_assert_int_lt(i, 1000);
        usleep(10000);
    }
    for (int i = 0; i < 25; i++) {
        order_steps(&fixture, (StepOrder){.steps = 1}, NULL);
    }
    stop(&fixture);
    Readback readback = open_readback(&fixture);
    ck_assert_uint_eq(readback.row.last_step, LONG + 25);
    LogChunk chunk = {0};
    uint64_t missing = 0;
    while (next_chunk(&fixture, &readback, CHUNK_GAP, &chunk)) {
        missing += chunk.chunk.last_step - chunk.chunk.first_step;
        // behind a gap stands a key-frame, from which the rest can be stepped again
        LogChunk keyframe = chunk;
        ck_assert(next_chunk(&fixture, &readback, CHUNK_KEYFRAME, &keyframe));
        ck_assert_uint_eq(keyframe.chunk.first_step, chunk.chunk.last_step);
    }
    uint64_t covered = 0;
    chunk = (LogChunk){0};
    while (next_chunk(&fixture, &readback, CHUNK_INPUTS, &chunk)) {
        uint64_t steps = chunk.chunk.last_step - chunk.chunk.first_step;
        ck_assert_uint_eq(count_hashes(&chunk), steps);
        covered += steps;
    }
    ck_assert_uint_gt(missing, 20);
    ck_assert_uint_eq(missing, readback.row.dropped_steps);
    ck_assert_uint_eq(missing + covered, LONG + 25);
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

// ---- what is noted beside the chunks

START_TEST(simulated_time_is_the_sum_of_the_steps_whatever_they_were) {
    Fixture fixture = open_fixture(1 << 26);
    record(&fixture, CONTENT_INPUTS, 1, 8, false);
    Sum time = {0.0, 0.0};
    const double own = fixture.door.world->settings.time_step;
    order_steps(&fixture, (StepOrder){.steps = 11}, NULL);
    order_steps(&fixture, (StepOrder){.steps = 7, .time_step = 0.0005}, NULL);
    change(&fixture,
           (Input){.kind = INPUT_SET,
                   .set.settings = {.given = CHANGE_TIME_STEP, .value.time_step = 0.003}});
    order_steps(&fixture, (StepOrder){.steps = 5}, NULL);
    for (int i = 0; i < 23; i++) { // the same additions in the same order
        time = sum_add(time, i < 11 ? own : i < 18 ? 0.0005 : 0.003);
    }
    stop(&fixture);
    Readback readback = open_readback(&fixture);
    ck_assert_double_eq(readback.row.time, time.value);
    ck_assert_double_eq(readback.row.time_step, own);
    // a key-frame knows how late it is
    LogChunk keyframe;
    ck_assert_int_eq(log_reader_at(readback.reader, &readback.row, CHUNK_KEYFRAME, 23,
                                   &fixture.arena, &keyframe, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(keyframe.chunk.first_step, 16);
    ck_assert_double_gt(keyframe.chunk.time, 11 * own);
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

START_TEST(steps_that_matter_are_stretches_that_can_be_asked_for) {
    Fixture fixture = open_fixture(1 << 26);
    record(&fixture, CONTENT_INPUTS, 1, 1000, false);
    order_steps(&fixture, (StepOrder){.steps = 60}, NULL); // falls: the first impacts
    // one sweep does not bring a heap in contact to what doubles hardly hold
    SettingsChange one_sweep = {.given = CHANGE_PARAMETERS, .parameter_solver = SOLVER_MDP};
    const Solver *solver = solver_get(SOLVER_MDP);
    for (uint32_t i = 0; i < solver->parameter_count; i++) {
        const char *name = solver->parameters[i].name;
        bool is_limit = strcmp(name, "max_iterations") == 0;
        if (is_limit || strcmp(name, "tolerance") == 0 || strcmp(name, "method") == 0) {
            one_sweep.parameter_given |= 1u << i; // of sweeps, not of newton
            one_sweep.value.parameter[i] = is_limit ? 1.0 : solver->parameters[i].minimum;
        }
    }
    change(&fixture, (Input){.kind = INPUT_SET, .set.settings = one_sweep});
    order_steps(&fixture, (StepOrder){.steps = 20}, NULL);
    stop(&fixture);
    Readback readback = open_readback(&fixture);
    Highlight *found;
    size_t count;
    uint64_t total, steps = 0;
    ck_assert_int_eq(log_reader_highlights(readback.reader, &readback.row, HIGHLIGHT_UNCONVERGED,
                                           100, &fixture.arena, &found, &count, &total, NULL),
                     STATUS_OK);
    ck_assert_uint_gt(count, 0);
    ck_assert_uint_eq(total, count);
    for (size_t i = 0; i < count; i++) {
        ck_assert(found[i].first_step <= found[i].step && found[i].step <= found[i].last_step);
        steps += found[i].last_step - found[i].first_step + 1;
        // why, and of which island: a body that lives, and no more contacts than the world has
        ck_assert_uint_eq(found[i].reason, END_ITERATIONS);
        uint32_t body;
        ck_assert(world_find_body(fixture.door.world, found[i].body, &body));
        ck_assert(found[i].contacts > 0 && found[i].contacts <= readback.row.figures.contacts_max);
        ck_assert(i == 0 || found[i].value <= found[i - 1].value); // the worst first
    }
    ck_assert_uint_eq(steps, readback.row.figures.unconverged_steps);
    ck_assert_int_eq(log_reader_highlights(readback.reader, &readback.row, HIGHLIGHT_IMPACT, 1,
                                           &fixture.arena, &found, &count, &total, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(found[0].reason, 0);
    ck_assert_double_eq(found[0].value, readback.row.figures.hardest_impact);
    ck_assert_uint_eq(found[0].step, readback.row.figures.hardest_impact_step);
    ck_assert_double_gt(found[0].value, 0.1); // it fell some decimetres
    log_give_reader(fixture.log, readback.reader);
    close_fixture(&fixture);
}
END_TEST

static TCase *case_recorder(void) {
    TCase *tcase = tcase_create("recorder");
    tcase_set_timeout(tcase, 60.0);
    tcase_add_test(tcase, what_passed_stands_in_the_chunks_with_its_hashes);
    tcase_add_test(tcase, a_refused_input_leaves_no_trace);
    tcase_add_test(tcase, a_fault_and_what_cures_it_are_recorded);
    tcase_add_test(tcase, keyframes_frames_and_contacts_stand_where_they_should);
    tcase_add_test(tcase, a_flush_hands_over_what_is_open);
    tcase_add_test(tcase, a_restored_snapshot_is_an_input_like_any_other);
    tcase_add_test(tcase, an_input_that_memory_has_no_room_for_ends_the_recording_and_is_told);
    tcase_add_test(tcase, a_long_order_is_told_anew_where_a_recording_or_a_chunk_begins);
    tcase_add_test(tcase, a_full_log_makes_the_world_wait_and_loses_nothing);
    tcase_add_test(tcase, a_lossy_recording_goes_on_and_counts_what_it_lost);
    tcase_add_test(tcase, simulated_time_is_the_sum_of_the_steps_whatever_they_were);
    tcase_add_test(tcase, steps_that_matter_are_stretches_that_can_be_asked_for);
    return tcase;
}

SUITE_MAIN("run/recorder", case_recorder)
