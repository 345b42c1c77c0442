// SPDX-License-Identifier: MIT
#include "support/log_tape.h"

#include "log/mend_chain.h"
#include "run/worlds/recorder.h"
#include "step/snapshot/snapshot.h"
#include "support/log_waiter.h"

#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const WorldLimits tape_limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28};

// ---- recording

static void await(Waiter *waiter) {
    ck_assert_msg(waiter_wait(waiter) == STATUS_OK, "%s", waiter->wait.error.message);
}

static TapeState take_state(World *world, Arena *arena) {
    Error error = {0};
    uint8_t *bytes;
    TapeState state;
    ck_assert_int_eq(snapshot_write(world, arena, &bytes, &state.count, &error), STATUS_OK);
    state.bytes = malloc(state.count);
    memcpy(state.bytes, bytes, state.count);
    return state;
}

static void change(Tape *tape, Input input) {
    Error error = {0};
    Status status = door_change(&tape->door, &input, &tape->arena, NULL, NULL, &error);
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
}

// Steps until all are done or one fails; true: one failed.
static bool step(Tape *tape, StepOrder order) {
    Input input = {.kind = INPUT_STEP, .step = order};
    StepRun run;
    Error error = {0};
    ck_assert_int_eq(door_step_begin(&tape->door, &input, &tape->arena, &run, &error), STATUS_OK);
    while (run.steps_left > 0) {
        if (door_step(&tape->door, &run, &tape->arena, 0, NULL, &error) != STATUS_OK) {
            ck_assert(tape->door.world->faulted);
            tape->unconverged += run.tally.unconverged;
            return true;
        }
        tape->state[++tape->steps] = take_state(tape->door.world, &tape->arena);
    }
    tape->unconverged += run.tally.unconverged;
    return false;
}

static void add_shapes(Tape *tape) {
    const uint32_t kinds[3] = {PRIMITIVE_PLANE, PRIMITIVE_SPHERE, PRIMITIVE_BOX};
    const double sizes[9] = {0, 0, 0, 0.1, 0, 0, 0.1, 0.2, 0.15};
    change(
        tape,
        (Input){.kind = INPUT_SHAPES,
                .shapes = {.shape_count = 3, .primitive_count = 3, .kind = kinds, .size = sizes}});
}

static const double placed[28] = {0,   0,   0,   1, 0,   0,   0,   0,   0,   0.1, 1, 0, 0, 0,
                                  0.4, 0.1, 0.3, 1, 0.1, 0.2, 0.1, 0.5, 0.1, 0.8, 1, 0, 0, 0};

// A ground, a ball at rest, a box that falls askew, and a ball above it.
static void add_bodies(Tape *tape) {
    const uint32_t kinds[4] = {BODY_STATIC, BODY_DYNAMIC, BODY_DYNAMIC, BODY_DYNAMIC};
    const uint64_t shapes[4] = {1, 2, 3, 2};
    change(tape, (Input){.kind = INPUT_BODIES,
                         .bodies = {.count = 4, .pose = placed, .kind = kinds, .shape = shapes}});
}

// Torque and time step so large that the gyroscopic term squares the spin until it overflows: some
// steps are taken before that.
static void fail_a_step(Tape *tape) {
    const uint64_t box = 3;
    const double torque[6] = {0, 0, 0, 1e17, 2e17, 3e17};
    bool failed = step(tape, (StepOrder){.steps = 50,
                                         .time_step = 1.0,
                                         .wrench_count = 1,
                                         .wrench_body = &box,
                                         .wrench = torque});
    ck_assert(failed);
    tape->fault_step = tape->steps;
}

// Bounds, out of which a ball is pushed in the middle of an order, whose rest spans a key-frame;
// and a body instead of it, so that there are as many as before.
static void lose_a_ball(Tape *tape) {
    const uint64_t pushed[2] = {4, 3};
    const double push[12] = {2000.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 0.1};
    change(tape, (Input){.kind = INPUT_SET,
                         .set.settings = {.given = CHANGE_BOUNDS,
                                          .value.has_bounds = true,
                                          .value.bounds_lower = {-1.0, -1.0, -1.0},
                                          .value.bounds_upper = {1.0, 1.0, 2.0}}});
    uint32_t before = tape->door.world->body_count;
    step(tape, (StepOrder){.steps = 25, .wrench_count = 2, .wrench_body = pushed, .wrench = push});
    ck_assert_uint_eq(tape->door.world->body_count, before - 1);
    const double above[7] = {0.1, 0.0, 0.6, 1, 0, 0, 0};
    change(tape, (Input){.kind = INPUT_BODIES,
                         .bodies = {.count = 1, .pose = above, .shape = (uint64_t[1]){3}}});
    ck_assert_uint_eq(tape->door.world->body_count, before);

    // the same between two frames that no key-frame parts, which have as many bodies then, but not
    // the same
    while (tape->steps % TAPE_STRIDE != 0 || tape->steps % TAPE_KEYFRAME_STEPS < 2 ||
           tape->steps % TAPE_KEYFRAME_STEPS > TAPE_KEYFRAME_STEPS - 4) {
        step(tape, (StepOrder){.steps = 1});
    }
    const double outside[7] = {3.0, 0.0, 0.5, 1, 0, 0, 0};
    change(tape, (Input){.kind = INPUT_SET,
                         .set.update = {.count = 1, .id = (uint64_t[1]){5}, .pose = outside}});
    step(tape, (StepOrder){.steps = 1});
    ck_assert_uint_eq(tape->door.world->body_count, before - 1);
    change(tape, (Input){.kind = INPUT_BODIES,
                         .bodies = {.count = 1, .pose = above, .shape = (uint64_t[1]){2}}});
    step(tape, (StepOrder){.steps = 5});
}

// The last body goes, and a shape that no body has.
static void remove_things(Tape *tape) {
    World *world = tape->door.world;
    uint64_t gone = world->body_id[world->body_count - 1], spare = world->shape_id_next;
    change(tape, (Input){.kind = INPUT_SHAPES,
                         .shapes = {.shape_count = 1,
                                    .primitive_count = 1,
                                    .kind = (uint32_t[1]){PRIMITIVE_CAPSULE},
                                    .size = (double[3]){0.1, 0.2, 0.0},
                                    .group = (uint32_t[1]){2}}});
    change(tape,
           (Input){.kind = INPUT_REMOVE,
                   .remove = {.body_count = 1, .body = &gone, .shape_count = 1, .shape = &spare}});
    step(tape, (StepOrder){.steps = 3});
}

static void perform(Tape *tape) {
    const uint64_t ball = 2, balls_and_box[3] = {2, 3, 4};
    const double push[6] = {3.0, 1.0, 0.0, 0.0, 0.1, 0.0}, still[18] = {0};
    step(tape, (StepOrder){.steps = 20});
    change(tape, (Input){.kind = INPUT_SET,
                         .set.settings = {.given = CHANGE_GRAVITY | CHANGE_ROTATION,
                                          .value.gravity = {1.0, 0.0, -9.0},
                                          .value.rotation = ROTATION_EXPLICIT}});
    step(tape, (StepOrder){.steps = 25, .wrench_count = 1, .wrench_body = &ball, .wrench = push});
    const double above[7] = {0.1, 0.0, 0.5, 1, 0, 0, 0};
    change(tape, (Input){.kind = INPUT_BODIES,
                         .bodies = {.count = 1, .pose = above, .shape = (uint64_t[1]){3}}});
    step(tape, (StepOrder){.steps = 30, .time_step = 0.002});
    TapeState early = tape->state[40];
    fail_a_step(tape);
    change(tape,
           (Input){.kind = INPUT_SET,
                   .set.update = {
                       .count = 3, .id = balls_and_box, .pose = placed + 7, .velocity = still}});
    step(tape, (StepOrder){.steps = 10});
    change(tape, (Input){.kind = INPUT_RESTORE,
                         .restore = {.snapshot = early.bytes, .snapshot_bytes = early.count}});
    step(tape, (StepOrder){.steps = 41});
    lose_a_ball(tape);
    remove_things(tape);
    change(tape, (Input){.kind = INPUT_SET,
                         .set.settings = {.given = CHANGE_MARGIN, .value.margin = 0.002}});
}

static void record(Tape *tape) {
    Error error = {0};
    Report report = {.level = REPORT_ERROR, .fd = 2};
    LogDef log_def = {.path = tape->path,
                      .queue_bytes_max = 1 << 26,
                      .report = &report,
                      .server_version = "test"};
    Log *log;
    Status status = log_open(&log, &log_def, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    ck_assert_int_eq(door_init(&tape->door, &tape_limits, &error), STATUS_OK);
    add_shapes(tape);
    add_bodies(tape);
    RecorderDef def = {.content = CONTENT_CONTACTS,
                       .stride = TAPE_STRIDE,
                       .keyframe_steps = TAPE_KEYFRAME_STEPS,
                       .name = "tape",
                       .client = "check",
                       .world_name = "world"};
    Waiter begun, ended;
    waiter_init(&begun);
    waiter_init(&ended);
    status = recorder_start(log, &def, tape->door.world, &begun.wait, &tape->door.recorder, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    await(&begun);
    tape->state[0] = take_state(tape->door.world, &tape->arena);
    perform(tape);
    tape->end = take_state(tape->door.world, &tape->arena);
    recorder_stop(tape->door.recorder, RECORDING_COMPLETE, &ended.wait);
    tape->door.recorder = NULL;
    await(&ended);
    log_close(log);
}

void tape_open_reader(Tape *tape) {
    Error error = {0};
    Status status = log_reader_open(tape->path, &tape->reader, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    status = log_reader_find(tape->reader, "tape", &tape->arena, &tape->row, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    status = player_open(&tape->player, &tape->row, &tape_limits, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
}

void tape_close_reader(Tape *tape) {
    player_close(tape->player);
    log_reader_close(tape->reader);
}

Tape *tape_open(void) {
    Tape *tape = calloc(1, sizeof(*tape));
    snprintf(tape->folder, sizeof(tape->folder), "/tmp/moreau-player-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tape->folder));
    snprintf(tape->path, sizeof(tape->path), "%s/log.db", tape->folder);
    arena_init(&tape->arena, (size_t)1 << 30);
    record(tape);
    tape_open_reader(tape);
    ck_assert_uint_eq(tape->row.last_step, tape->steps);
    return tape;
}

void tape_close(Tape *tape) {
    tape_close_reader(tape);
    door_deinit(&tape->door);
    arena_deinit(&tape->arena);
    for (uint64_t i = 0; i <= tape->steps; i++) {
        free(tape->state[i].bytes);
    }
    free(tape->end.bytes);
    const char *const endings[] = {"", "-wal", "-shm", "-lock", ".lock"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char path[96];
        snprintf(path, sizeof(path), "%s%s", tape->path, endings[i]);
        unlink(path);
    }
    ck_assert_int_eq(rmdir(tape->folder), 0);
    free(tape);
}

// ---- playing

void tape_seek(Tape *tape, uint64_t to) {
    Error error = {0};
    PlayerDifference difference;
    Status status = player_seek(tape->player, tape->reader, to, &difference, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    ck_assert_msg(!difference.found, "%s", difference.message);
}

PlayerDifference tape_play(Tape *tape, uint64_t to, bool check) {
    Error error = {0};
    PlayerDifference difference;
    Status status = player_run(tape->player, tape->reader, to, check, &tape->arena, UINT64_MAX,
                               NULL, &difference, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return difference;
}

void tape_expect_state(Tape *tape, TapeState expected) {
    Error error = {0};
    uint8_t *bytes;
    size_t count;
    ck_assert_int_eq(
        snapshot_write(player_world(tape->player), &tape->arena, &bytes, &count, &error),
        STATUS_OK);
    ck_assert_uint_eq(count, expected.count);
    ck_assert_mem_eq(bytes, expected.bytes, count);
}

void tape_expect_whole(Tape *tape) {
    tape_seek(tape, 0);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert_uint_eq(player_step(tape->player), tape->steps);
    tape_expect_state(tape, tape->end);
}

// ---- the file, edited

static sqlite3 *edit(const Tape *tape) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(tape->path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

void tape_sql(const Tape *tape, const char *sql) {
    sqlite3 *db = edit(tape);
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    sqlite3_close(db);
}

// The `index`-th chunk of this kind.
bool tape_read_blob(const Tape *tape, ChunkKind kind, int index, TapeBlob *blob) {
    sqlite3 *db = edit(tape);
    sqlite3_stmt *query;
    ck_assert_int_eq(sqlite3_prepare_v2(db,
                                        "SELECT id, first_step, last_step, bytes FROM chunk WHERE "
                                        "kind = ?1 ORDER BY id LIMIT 1 OFFSET ?2",
                                        -1, &query, NULL),
                     SQLITE_OK);
    sqlite3_bind_int(query, 1, (int)kind);
    sqlite3_bind_int(query, 2, index);
    bool found = sqlite3_step(query) == SQLITE_ROW;
    if (found) {
        *blob = (TapeBlob){.id = sqlite3_column_int64(query, 0),
                           .kind = kind,
                           .first_step = (uint64_t)sqlite3_column_int64(query, 1),
                           .last_step = (uint64_t)sqlite3_column_int64(query, 2),
                           .count = (size_t)sqlite3_column_bytes(query, 3)};
        blob->bytes = malloc(blob->count);
        memcpy(blob->bytes, sqlite3_column_blob(query, 3), blob->count);
    }
    sqlite3_finalize(query);
    sqlite3_close(db);
    return found;
}

void tape_write_blob(const Tape *tape, const TapeBlob *blob) {
    sqlite3 *db = edit(tape);
    sqlite3_stmt *query;
    ck_assert_int_eq(
        sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ?2 WHERE id = ?1", -1, &query, NULL),
        SQLITE_OK);
    sqlite3_bind_int64(query, 1, blob->id);
    sqlite3_bind_blob(query, 2, blob->bytes, (int)blob->count, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(query), SQLITE_DONE);
    sqlite3_finalize(query);
    sqlite3_close(db);
}

void tape_write_mended(const Tape *tape, TapeBlob *blob) {
    mend_checksum(blob->bytes, blob->count);
    tape_write_blob(tape, blob);
    sqlite3 *db = edit(tape);
    mend_chain(db, 1);
    sqlite3_close(db);
}

void tape_expect_lost(Tape *tape) {
    Error error = {0};
    PlayerDifference difference;
    ck_assert_int_eq(player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, NULL, &difference, &error),
                     STATUS_DATA_LOSS);
    ck_assert(!difference.found);
    ck_assert_uint_gt(strlen(error.message), 10);
}

// From the next key-frame on everything is as it was.
void tape_expect_sound_behind(Tape *tape, uint64_t to) {
    uint64_t keyframe = (to / TAPE_KEYFRAME_STEPS + 1) * TAPE_KEYFRAME_STEPS;
    if (keyframe > tape->steps) {
        return;
    }
    tape_seek(tape, keyframe);
    tape_seek(tape, keyframe);
    ck_assert_uint_eq(player_step(tape->player), keyframe);
    PlayerDifference difference = tape_play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    tape_expect_state(tape, tape->end);
}

void tape_expect_damage(const PlayerDifference *difference, const TapeBlob *blob) {
    ck_assert(difference->found);
    ck_assert(difference->is_damage);
    ck_assert_int_eq(difference->chunk, blob->id);
    ck_assert_uint_eq(difference->chunk_kind, (uint32_t)blob->kind);
    char name[32];
    snprintf(name, sizeof(name), "%lld", (long long)blob->id);
    ck_assert_ptr_nonnull(strstr(difference->message, name));
}

// The chunk of inputs that leads away from this step.
TapeBlob tape_inputs_behind(const Tape *tape, uint64_t from) {
    TapeBlob blob;
    for (int i = 0; tape_read_blob(tape, CHUNK_INPUTS, i, &blob); i++) {
        if (blob.first_step <= from && from < blob.last_step) {
            return blob;
        }
        free(blob.bytes);
    }
    ck_abort_msg("no inputs lead away from step %llu", (unsigned long long)from);
    return blob;
}
