// SPDX-License-Identifier: MIT
// Stepping a recording again gives the same bytes, from any step on; what was changed in the file
// is found, and told for what it is.
#include "run/player.h"

#include "log/entries.h"
#include "log/frames.h"
#include "log/mend.h"
#include "run/recorder.h"
#include "step/snapshot.h"
#include "support/suite.h"

#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

enum { STEPS_MAX = 400, STRIDE = 3, KEYFRAME_STEPS = 16 };

static const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28};

typedef struct State {
    uint8_t *bytes;
    size_t count;
} State;

// A recording of everything that can be done to a world, and the world's state after each step.
typedef struct Tape {
    char folder[32], path[64];
    Arena arena;
    Door door;
    State state[STEPS_MAX]; // by step
    State end;              // after the last change
    uint64_t steps, unconverged;
    uint64_t fault_step; // behind which a step failed
    LogReader *reader;
    EpisodeRow row;
    Player *player;
} Tape;

// ---- recording

typedef struct Signal {
    LogWait wait;
    uv_sem_t sem;
} Signal;

static void post(LogWait *wait) {
    uv_sem_post(&((Signal *)wait)->sem);
}

static void await(Signal *signal) {
    uv_sem_wait(&signal->sem);
    uv_sem_destroy(&signal->sem);
    ck_assert_msg(signal->wait.error.status == STATUS_OK, "%s", signal->wait.error.message);
}

static State take_state(World *world, Arena *arena) {
    Error error = {0};
    uint8_t *bytes;
    State state;
    ck_assert_int_eq(snapshot_write(world, arena, &bytes, &state.count, &error), STATUS_OK);
    state.bytes = malloc(state.count);
    memcpy(state.bytes, bytes, state.count);
    return state;
}

static InputBytes encode(Tape *tape, const Input *input) {
    InputBytes bytes;
    Error error = {0};
    ck_assert_int_eq(input_encode(input, &tape->arena, &bytes, &error), STATUS_OK);
    return bytes;
}

static void change(Tape *tape, Input input) {
    Error error = {0};
    Status status =
        door_change(&tape->door, encode(tape, &input), &tape->arena, NULL, NULL, &error);
    ck_assert_msg(status == STATUS_OK, "%s: %s", error.field, error.message);
}

// Steps until all are done or one fails; true: one failed.
static bool step(Tape *tape, StepOrder order) {
    Input input = {.kind = INPUT_STEP, .step = order};
    StepRun run;
    Error error = {0};
    ck_assert_int_eq(door_step_begin(&tape->door, encode(tape, &input), &tape->arena, &run, &error),
                     STATUS_OK);
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

static void perform(Tape *tape) {
    const uint64_t ball = 2, balls_and_box[3] = {2, 3, 4};
    const double push[6] = {3.0, 1.0, 0.0, 0.0, 0.1, 0.0}, still[18] = {0};
    step(tape, (StepOrder){.steps = 20});
    change(tape, (Input){.kind = INPUT_SET,
                         .set.settings = {.given = CHANGE_GRAVITY, .gravity = {1.0, 0.0, -9.0}}});
    step(tape, (StepOrder){.steps = 25, .wrench_count = 1, .wrench_body = &ball, .wrench = push});
    const double above[7] = {0.1, 0.0, 0.5, 1, 0, 0, 0};
    change(tape, (Input){.kind = INPUT_BODIES,
                         .bodies = {.count = 1, .pose = above, .shape = (uint64_t[1]){3}}});
    step(tape, (StepOrder){.steps = 30, .time_step = 0.002});
    State early = tape->state[40];
    fail_a_step(tape);
    change(tape,
           (Input){.kind = INPUT_SET,
                   .set.update = {
                       .count = 3, .id = balls_and_box, .pose = placed + 7, .velocity = still}});
    step(tape, (StepOrder){.steps = 10});
    change(tape, (Input){.kind = INPUT_RESTORE,
                         .restore = {.snapshot = early.bytes, .snapshot_bytes = early.count}});
    step(tape, (StepOrder){.steps = 41});
    change(tape,
           (Input){.kind = INPUT_SET, .set.settings = {.given = CHANGE_MARGIN, .margin = 0.002}});
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
    ck_assert_int_eq(door_init(&tape->door, &limits, &error), STATUS_OK);
    add_shapes(tape);
    add_bodies(tape);
    RecorderDef def = {.content = CONTENT_CONTACTS,
                       .stride = STRIDE,
                       .keyframe_steps = KEYFRAME_STEPS,
                       .name = "tape",
                       .client = "check",
                       .world_name = "world"};
    Signal begun = {.wait.done = post}, ended = {.wait.done = post};
    uv_sem_init(&begun.sem, 0);
    uv_sem_init(&ended.sem, 0);
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

static void open_reader(Tape *tape) {
    Error error = {0};
    Status status = log_reader_open(tape->path, &tape->reader, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    status = log_reader_find(tape->reader, "tape", &tape->arena, &tape->row, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    status = player_open(&tape->player, &tape->row, &limits, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
}

static void close_reader(Tape *tape) {
    player_close(tape->player);
    log_reader_close(tape->reader);
}

static Tape *open_tape(void) {
    Tape *tape = calloc(1, sizeof(*tape));
    snprintf(tape->folder, sizeof(tape->folder), "/tmp/moreau-player-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(tape->folder));
    snprintf(tape->path, sizeof(tape->path), "%s/log.db", tape->folder);
    arena_init(&tape->arena, (size_t)1 << 30);
    record(tape);
    open_reader(tape);
    ck_assert_uint_eq(tape->row.last_step, tape->steps);
    return tape;
}

static void close_tape(Tape *tape) {
    close_reader(tape);
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

static void seek_to(Tape *tape, uint64_t to) {
    Error error = {0};
    PlayerDifference difference;
    Status status = player_seek(tape->player, tape->reader, to, &difference, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    ck_assert_msg(!difference.found, "%s", difference.message);
}

static PlayerDifference play(Tape *tape, uint64_t to, bool check) {
    Error error = {0};
    PlayerDifference difference;
    Status status = player_run(tape->player, tape->reader, to, check, &tape->arena, UINT64_MAX,
                               NULL, &difference, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    return difference;
}

static void expect_state(Tape *tape, State expected) {
    Error error = {0};
    uint8_t *bytes;
    size_t count;
    ck_assert_int_eq(
        snapshot_write(player_world(tape->player), &tape->arena, &bytes, &count, &error),
        STATUS_OK);
    ck_assert_uint_eq(count, expected.count);
    ck_assert_mem_eq(bytes, expected.bytes, count);
}

static void expect_whole(Tape *tape) {
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert_uint_eq(player_step(tape->player), tape->steps);
    expect_state(tape, tape->end);
}

START_TEST(a_recording_steps_again_without_a_difference) {
    Tape *tape = open_tape();
    ck_assert_uint_gt(tape->steps, tape->fault_step);
    ck_assert_uint_gt(tape->fault_step, 75); // some steps of the order that failed were taken
    expect_whole(tape);
    ck_assert_uint_eq(player_unconverged(tape->player), tape->unconverged);
    ck_assert_uint_gt(player_bytes(tape->player), sizeof(World));
    close_tape(tape);
}
END_TEST

START_TEST(every_step_is_reached_from_every_other) {
    Tape *tape = open_tape();
    for (uint64_t i = 0; i <= tape->steps; i++) {
        // forwards, backwards, far and near: 37 is no divisor of the number of steps plus one
        uint64_t to = i * 37 % (tape->steps + 1);
        seek_to(tape, to);
        ck_assert_uint_le(player_step(tape->player), to);
        ck_assert_uint_lt(to - player_step(tape->player), KEYFRAME_STEPS);
        PlayerDifference difference = play(tape, to, i % 2 == 1);
        ck_assert_msg(!difference.found, "%s", difference.message);
        ck_assert_uint_eq(player_step(tape->player), to);
        expect_state(tape, to == tape->steps && i % 2 == 1 ? tape->end : tape->state[to]);
    }
    close_tape(tape);
}
END_TEST

START_TEST(a_player_that_stands_before_the_step_goes_on_from_there) {
    Tape *tape = open_tape();
    seek_to(tape, 17);
    play(tape, 19, false);
    seek_to(tape, 20);
    ck_assert_uint_eq(player_step(tape->player), 19);
    play(tape, 20, false);
    seek_to(tape, 18);
    ck_assert_uint_eq(player_step(tape->player), KEYFRAME_STEPS);
    Error error = {0};
    ck_assert_int_eq(player_seek(tape->player, tape->reader, tape->steps + 1, NULL, &error),
                     STATUS_OUT_OF_RANGE);
    close_tape(tape);
}
END_TEST

static bool is_tired(void *context) {
    return ++*(int *)context > 5;
}

START_TEST(it_stops_between_steps_when_told_to) {
    Tape *tape = open_tape();
    Error error = {0};
    PlayerDifference difference;
    seek_to(tape, 0);
    for (uint64_t i = 1; i <= 20; i++) { // there is no time at all: a step per call
        ck_assert_int_eq(player_run(tape->player, tape->reader, 20, true, &tape->arena, 0, NULL,
                                    &difference, &error),
                         STATUS_OK);
        ck_assert_uint_eq(player_step(tape->player), i);
        expect_state(tape, tape->state[i]);
    }
    int asked = 0;
    SolverStop stop = {.asked = is_tired, .context = &asked};
    ck_assert_int_eq(player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, &stop, &difference, &error),
                     STATUS_OK);
    ck_assert(!difference.found);
    ck_assert_uint_lt(player_step(tape->player), 30);
    PlayerDifference rest = play(tape, tape->steps, true);
    ck_assert_msg(!rest.found, "%s", rest.message);
    expect_state(tape, tape->end);
    close_tape(tape);
}
END_TEST

START_TEST(another_dynamics_version_is_refused_by_both_names) {
    Tape *tape = open_tape();
    EpisodeRow row = tape->row;
    row.dynamics_version = 4711;
    Player *player = NULL;
    Error error = {0};
    ck_assert_int_eq(player_open(&player, &row, &limits, &error), STATUS_FAILED_PRECONDITION);
    char own[32];
    snprintf(own, sizeof(own), "is %d:", DYNAMICS_VERSION);
    ck_assert_ptr_nonnull(strstr(error.message, "4711"));
    ck_assert_ptr_nonnull(strstr(error.message, own));
    close_tape(tape);
}
END_TEST

// ---- the file, edited

static sqlite3 *edit(const Tape *tape) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(tape->path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, "PRAGMA synchronous = OFF", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void run_sql(const Tape *tape, const char *sql) {
    sqlite3 *db = edit(tape);
    char *message = NULL;
    ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &message) == SQLITE_OK, "%s", message);
    sqlite3_close(db);
}

typedef struct Blob {
    int64_t id;
    ChunkKind kind;
    uint64_t first_step, last_step;
    uint8_t *bytes; // owned
    size_t count;
} Blob;

// The `index`-th chunk of this kind.
static bool read_blob(const Tape *tape, ChunkKind kind, int index, Blob *blob) {
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
        *blob = (Blob){.id = sqlite3_column_int64(query, 0),
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

static void write_blob(const Tape *tape, const Blob *blob) {
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

static void write_mended(const Tape *tape, Blob *blob) {
    mend_checksum(blob->bytes, blob->count);
    write_blob(tape, blob);
}

static void expect_lost(Tape *tape) {
    Error error = {0};
    PlayerDifference difference;
    ck_assert_int_eq(player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, NULL, &difference, &error),
                     STATUS_DATA_LOSS);
    ck_assert(!difference.found);
    ck_assert_uint_gt(strlen(error.message), 10);
}

// From the next key-frame on everything is as it was.
static void expect_sound_behind(Tape *tape, uint64_t to) {
    uint64_t keyframe = (to / KEYFRAME_STEPS + 1) * KEYFRAME_STEPS;
    if (keyframe > tape->steps) {
        return;
    }
    seek_to(tape, keyframe);
    seek_to(tape, keyframe);
    ck_assert_uint_eq(player_step(tape->player), keyframe);
    PlayerDifference difference = play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    expect_state(tape, tape->end);
}

static void expect_damage(const PlayerDifference *difference, const Blob *blob) {
    ck_assert(difference->found);
    ck_assert(difference->is_damage);
    ck_assert_int_eq(difference->chunk, blob->id);
    ck_assert_uint_eq(difference->chunk_kind, (uint32_t)blob->kind);
    char name[32];
    snprintf(name, sizeof(name), "%lld", (long long)blob->id);
    ck_assert_ptr_nonnull(strstr(difference->message, name));
}

static void expect_damage_once(Tape *tape, const Blob *blob) {
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    expect_damage(&difference, blob);
    ck_assert_uint_ge(difference.step, blob->first_step);
    ck_assert_uint_le(difference.step, blob->last_step);
    if (blob->kind == CHUNK_INPUTS) {
        expect_lost(tape);
        expect_sound_behind(tape, blob->first_step);
        return;
    }
    difference = play(tape, tape->steps, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    ck_assert_uint_eq(player_step(tape->player), tape->steps);
    expect_state(tape, tape->end);
}

static const ChunkKind kinds[] = {CHUNK_KEYFRAME, CHUNK_INPUTS, CHUNK_FRAMES, CHUNK_CONTACTS};

START_TEST(a_flipped_byte_is_found_in_every_chunk) {
    Tape *tape = open_tape();
    ChunkKind kind = kinds[_i];
    Blob blob;
    int count = 0;
    for (; read_blob(tape, kind, count, &blob); count++) {
        size_t at = CHUNK_HEADER_BYTES + 7 * (size_t)count % (blob.count - CHUNK_HEADER_BYTES);
        blob.bytes[at] ^= 0x10;
        write_blob(tape, &blob);
        if (kind == CHUNK_KEYFRAME && blob.first_step == 0) {
            PlayerDifference difference;
            Error error = {0};
            ck_assert_int_eq(player_seek(tape->player, tape->reader, 5, &difference, &error),
                             STATUS_DATA_LOSS);
            expect_damage(&difference, &blob);
        } else {
            expect_damage_once(tape, &blob);
        }
        blob.bytes[at] ^= 0x10;
        write_blob(tape, &blob);
        free(blob.bytes);
        expect_whole(tape);
    }
    ck_assert_int_ge(count, 1);
    close_tape(tape);
}
END_TEST

START_TEST(a_damaged_keyframe_is_passed_over) {
    Tape *tape = open_tape();
    Blob blob;
    ck_assert(read_blob(tape, CHUNK_KEYFRAME, 2, &blob));
    ck_assert_uint_eq(blob.first_step, 2 * KEYFRAME_STEPS);
    for (int mended = 0; mended < 2; mended++) { // also one that is no snapshot
        blob.bytes[CHUNK_HEADER_BYTES + 40] ^= 0xff;
        blob.bytes[CHUNK_HEADER_BYTES] = 'x';
        mended ? write_mended(tape, &blob) : write_blob(tape, &blob);
        seek_to(tape, 0);
        PlayerDifference difference;
        Error error = {0};
        ck_assert_int_eq(
            player_seek(tape->player, tape->reader, blob.first_step + 3, &difference, &error),
            STATUS_OK);
        expect_damage(&difference, &blob);
        difference = play(tape, blob.first_step + 3, false);
        ck_assert(!difference.found);
        expect_state(tape, tape->state[blob.first_step + 3]);
    }
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

// ---- content that differs, with a sound checksum

static double flip_double(uint8_t *bytes, size_t at, double *before) {
    double number;
    memcpy(before, bytes + at, sizeof(*before));
    bytes[at] ^= 1; // the lowest bit
    memcpy(&number, bytes + at, sizeof(number));
    return number;
}

static void expect_content(const PlayerDifference *difference, const Blob *blob, uint64_t at_step,
                           uint64_t body, const char *quantity, double expected, double found) {
    ck_assert(difference->found);
    ck_assert(!difference->is_damage);
    ck_assert_int_eq(difference->chunk, blob->id);
    ck_assert_uint_eq(difference->step, at_step);
    ck_assert_uint_eq(difference->body, body);
    ck_assert_str_eq(difference->quantity, quantity);
    ck_assert_mem_eq(&difference->expected, &expected, sizeof(double));
    ck_assert_mem_eq(&difference->value, &found, sizeof(double));
    ck_assert_ptr_nonnull(strstr(difference->message, quantity));
}

START_TEST(a_frame_that_differs_names_body_and_quantity) {
    Tape *tape = open_tape();
    Blob blob;
    ck_assert(read_blob(tape, CHUNK_FRAMES, 0, &blob));
    const size_t bodies = 4, head = CHUNK_HEADER_BYTES + 16 + 8 * bodies;
    const size_t frame = head + 5 * frame_chunk_frame_bytes(bodies); // of step 5 * STRIDE
    const struct {
        size_t at;
        uint64_t body;
        const char *quantity;
    } numbers[] = {{16, 0, "time"},
                   {24 + 8 * (7 * 2 + 2), 3, "position.z"},
                   {24 + 8 * (7 * 3 + 3), 4, "orientation.w"},
                   {24 + 8 * (7 * 4 + 6 * 2 + 5), 3, "velocity.wz"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double before, after = flip_double(blob.bytes, frame + numbers[i].at, &before);
        write_mended(tape, &blob);
        seek_to(tape, 0);
        PlayerDifference difference = play(tape, tape->steps, true);
        expect_content(&difference, &blob, 5 * STRIDE, numbers[i].body, numbers[i].quantity, after,
                       before);
        ck_assert_uint_eq(player_step(tape->player), 5 * STRIDE);
        difference = play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, frame + numbers[i].at, &before);
    }
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

START_TEST(contacts_that_differ_name_body_and_quantity) {
    Tape *tape = open_tape();
    Blob blob;
    ck_assert(read_blob(tape, CHUNK_CONTACTS, 0, &blob));
    uint64_t first;
    memcpy(&first, blob.bytes + CHUNK_HEADER_BYTES + 16, sizeof(first));
    ck_assert_uint_ge(first, 1); // the ball rests on the ground
    const size_t list = CHUNK_HEADER_BYTES + 24;
    const struct {
        size_t at;
        const char *quantity;
    } numbers[] = {{24 * first + 8, "contact.point[1]"},
                   {24 * first + 8 * 12 * first, "contact.gap"},
                   {24 * first + 8 * 13 * first, "contact.impulse[0]"},
                   {24 * first + 8 * 19 * first, "contact.friction"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        double before, after = flip_double(blob.bytes, list + numbers[i].at, &before);
        write_mended(tape, &blob);
        seek_to(tape, 0);
        PlayerDifference difference = play(tape, tape->steps, true);
        expect_content(&difference, &blob, STRIDE, 1, numbers[i].quantity, after, before);
        difference = play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, list + numbers[i].at, &before);
    }
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

// Where a section of this kind begins in a snapshot that stands in a chunk.
static size_t find_section(const Blob *blob, uint32_t kind) {
    Source source = {.bytes = blob->bytes, .count = blob->count, .used = CHUNK_HEADER_BYTES + 16};
    for (;;) {
        uint32_t found = source_u32(&source);
        source_u32(&source);
        size_t count = source_count(&source, 1);
        ck_assert(!source.failed);
        if (found == kind) {
            return source.used;
        }
        source_bytes(&source, (count + 7) / 8 * 8);
    }
}

START_TEST(a_keyframe_that_differs_names_body_and_quantity) {
    Tape *tape = open_tape();
    Blob blob;
    ck_assert(read_blob(tape, CHUNK_KEYFRAME, 1, &blob));
    enum { SETTINGS = 1, BODIES = 4, STATE = 6, MEMORY = 7 };
    const struct {
        uint32_t section;
        size_t at;
        uint64_t body;
        const char *quantity;
    } numbers[] = {{SETTINGS, 24, 0, "time_step"},
                   {BODIES, 8 + 96 * 2 + 16, 3, "mass"},
                   {BODIES, 8 + 96 * 1 + 64, 2, "inertia.zz"},
                   {STATE, 8, 0, "time"},
                   {STATE, 24 + 8 * 7 * 1, 2, "position.x"},
                   {STATE, 24 + 8 * (7 * 4 + 6 * 3 + 2), 4, "velocity.vz"},
                   {MEMORY, 8 + 32, 1, "impulse.z"}};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        size_t at = find_section(&blob, numbers[i].section) + numbers[i].at;
        double before, after = flip_double(blob.bytes, at, &before);
        write_mended(tape, &blob);
        seek_to(tape, 0);
        PlayerDifference difference = play(tape, tape->steps, true);
        expect_content(&difference, &blob, KEYFRAME_STEPS, numbers[i].body, numbers[i].quantity,
                       after, before);
        difference = play(tape, tape->steps, true);
        ck_assert_msg(!difference.found, "%s", difference.message);
        flip_double(blob.bytes, at, &before);
    }
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

// ---- inputs that differ

// The first entry of a chunk of inputs that passes the test, and where its input and hashes stand.
typedef struct Found {
    Entry entry;
    size_t input, hashes;
} Found;

static Found find_entry(const Blob *blob, uint32_t input_is, uint32_t flags) {
    size_t at = 0;
    Found found;
    Error error = {0};
    do {
        ck_assert(entry_next(blob->bytes + CHUNK_HEADER_BYTES, blob->count - CHUNK_HEADER_BYTES,
                             &at, &found.entry, &error));
    } while (found.entry.flags != flags ||
             input_kind((InputBytes){.bytes = found.entry.input,
                                     .count = found.entry.input_bytes}) != input_is);
    found.input = (size_t)(found.entry.input - blob->bytes);
    found.hashes = (size_t)(found.entry.hashes - blob->bytes);
    return found;
}

// The chunk of inputs that leads away from this step.
static Blob inputs_behind(const Tape *tape, uint64_t from) {
    Blob blob;
    for (int i = 0; read_blob(tape, CHUNK_INPUTS, i, &blob); i++) {
        if (blob.first_step <= from && from < blob.last_step) {
            return blob;
        }
        free(blob.bytes);
    }
    ck_abort_msg("no inputs lead away from step %llu", (unsigned long long)from);
    return blob;
}

static PlayerDifference expect_hash(Tape *tape, const Blob *blob, uint64_t at_step) {
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    ck_assert(difference.found);
    ck_assert(!difference.is_damage);
    ck_assert_int_eq(difference.chunk, blob->id);
    ck_assert_uint_eq(difference.chunk_kind, CHUNK_INPUTS);
    ck_assert_uint_eq(difference.step, at_step);
    ck_assert(difference.expected_hash != difference.found_hash);
    char hash[32];
    snprintf(hash, sizeof(hash), "0x%016llx", (unsigned long long)difference.expected_hash);
    ck_assert_ptr_nonnull(strstr(difference.message, hash));
    expect_lost(tape);
    expect_sound_behind(tape, at_step);
    return difference;
}

START_TEST(a_hash_that_differs_is_found_at_its_step) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, 0);
    Found found = find_entry(&blob, INPUT_STEP, 0);
    uint64_t hash = entry_hash(&found.entry, 6);
    put_u64(blob.bytes, found.hashes + 8 * 6, hash ^ 0x100);
    write_mended(tape, &blob);
    PlayerDifference difference = expect_hash(tape, &blob, 7);
    ck_assert_uint_eq(difference.expected_hash, hash ^ 0x100);
    ck_assert_uint_eq(difference.found_hash, hash);
    ck_assert_str_eq(difference.quantity, "");
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

START_TEST(a_change_that_differs_is_found_by_its_hash) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, 20);
    Found found = find_entry(&blob, INPUT_SET, 0);
    double gravity;
    size_t at = found.input + 16 + 8;
    while (memcpy(&gravity, blob.bytes + at, 8), gravity != -9.0) {
        at += 4;
    }
    flip_double(blob.bytes, at, &gravity);
    write_mended(tape, &blob);
    expect_hash(tape, &blob, 20);
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

// The entry of steps that begins at `from`.
static Found find_order(const Blob *blob, uint64_t from) {
    Found found;
    Blob rest = *blob;
    for (;;) {
        found = find_entry(&rest, INPUT_STEP, 0);
        found.input = (size_t)(found.entry.input - blob->bytes);
        found.hashes = (size_t)(found.entry.hashes - blob->bytes);
        if (found.entry.step == from) {
            return found;
        }
        size_t next = found.hashes + 8 * (size_t)found.entry.hash_count;
        rest.bytes = blob->bytes + next - CHUNK_HEADER_BYTES;
        rest.count = blob->count - next + CHUNK_HEADER_BYTES;
    }
}

// Another push from step 20 on, and step 21 has a frame.
START_TEST(steps_that_differ_name_a_body_where_there_is_a_frame) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, 20);
    Found found = find_order(&blob, 20);
    const size_t push_x = found.input + 16 + 8 + 8 + 8 + 8; // head, steps, time step, count, body
    double push;
    memcpy(&push, blob.bytes + push_x, sizeof(push));
    ck_assert_double_eq(push, 3.0);
    push = 4.0;
    memcpy(blob.bytes + push_x, &push, sizeof(push));
    write_mended(tape, &blob);
    PlayerDifference difference = expect_hash(tape, &blob, 21);
    ck_assert_uint_eq(difference.body, 2);
    ck_assert_str_eq(difference.quantity, "position.x");
    ck_assert_double_gt(difference.value, difference.expected);
    ck_assert_ptr_nonnull(strstr(difference.message, "position.x of body 2 is "));
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

START_TEST(a_step_that_failed_must_fail_again) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, tape->fault_step);
    Found found = find_entry(&blob, INPUT_STEP, ENTRY_FAULTED);
    ck_assert_uint_eq(found.entry.step + found.entry.hash_count - 1, tape->fault_step);

    // another hash of the faulted world
    size_t last = found.hashes + 8 * ((size_t)found.entry.hash_count - 1);
    uint64_t hash = entry_hash(&found.entry, found.entry.hash_count - 1);
    put_u64(blob.bytes, last, ~hash);
    write_mended(tape, &blob);
    expect_hash(tape, &blob, tape->fault_step);
    put_u64(blob.bytes, last, hash);

    // a step that is said to have succeeded: the steps it asks for count it as done
    put_u32(blob.bytes, found.input - ENTRY_HEAD_BYTES + 8, 0);
    put_u64(blob.bytes, found.input + 16, found.entry.hash_count);
    write_mended(tape, &blob);
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    ck_assert(difference.found && !difference.is_damage);
    ck_assert_uint_eq(difference.step, tape->fault_step + 1);
    ck_assert_ptr_nonnull(strstr(difference.message, "finite"));
    expect_lost(tape);
    free(blob.bytes);

    // a step that is said to have failed, and does not
    blob = inputs_behind(tape, 0);
    found = find_entry(&blob, INPUT_STEP, 0);
    put_u32(blob.bytes, found.input - ENTRY_HEAD_BYTES + 8, ENTRY_FAULTED);
    put_u64(blob.bytes, found.input + 16, found.entry.hash_count - 1);
    write_mended(tape, &blob);
    seek_to(tape, 0);
    difference = play(tape, tape->steps, true);
    ck_assert(difference.found && !difference.is_damage);
    ck_assert_uint_eq(difference.step, KEYFRAME_STEPS);
    expect_lost(tape);
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

START_TEST(more_steps_than_hashes_are_refused) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, 0);
    Found found = find_entry(&blob, INPUT_STEP, 0);
    put_u64(blob.bytes, found.input + 16, UINT64_C(1000000000000));
    write_mended(tape, &blob);
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    expect_damage(&difference, &blob);
    ck_assert_uint_eq(player_step(tape->player), 0);
    expect_lost(tape);
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

START_TEST(inputs_that_are_missing_are_missed) {
    Tape *tape = open_tape();
    Blob blob = inputs_behind(tape, 20), next = inputs_behind(tape, blob.last_step);
    char sql[96];
    snprintf(sql, sizeof(sql), "DELETE FROM chunk WHERE id = %lld", (long long)blob.id);
    run_sql(tape, sql);
    seek_to(tape, 0);
    PlayerDifference difference = play(tape, tape->steps, true);
    expect_damage(&difference, &next);
    ck_assert_uint_eq(player_step(tape->player), blob.first_step);
    expect_lost(tape);
    expect_sound_behind(tape, blob.first_step);

    run_sql(tape, "DELETE FROM chunk WHERE kind = 2 AND last_step > 50");
    seek_to(tape, 48);
    difference = play(tape, tape->steps, false);
    ck_assert(difference.found && difference.is_damage);
    ck_assert_ptr_nonnull(strstr(difference.message, "end at step"));
    free(blob.bytes);
    free(next.bytes);
    close_tape(tape);
}
END_TEST

// ---- gaps

START_TEST(a_gap_says_which_steps_a_lossy_recording_dropped) {
    Tape *tape = open_tape();
    close_reader(tape);
    Blob blob = inputs_behind(tape, KEYFRAME_STEPS);
    ck_assert_uint_eq(blob.first_step, KEYFRAME_STEPS);
    ck_assert_uint_eq(blob.last_step, 2 * KEYFRAME_STEPS);
    blob.count = CHUNK_HEADER_BYTES;
    chunk_seal(blob.bytes, blob.count, CHUNK_GAP, tape->row.recording_uid, blob.first_step,
               blob.last_step);
    write_blob(tape, &blob);
    char sql[160];
    snprintf(sql, sizeof(sql),
             "UPDATE chunk SET kind = %d WHERE id = %lld; "
             "UPDATE recording SET lossy = 1",
             CHUNK_GAP, (long long)blob.id);
    run_sql(tape, sql);
    open_reader(tape);

    // up to the gap and from its end on everything is there
    Error error = {0};
    ck_assert_int_eq(player_seek(tape->player, tape->reader, KEYFRAME_STEPS + 3, NULL, &error),
                     STATUS_DATA_LOSS);
    ck_assert_ptr_nonnull(strstr(error.message, "behind 16 up to 32"));
    seek_to(tape, KEYFRAME_STEPS);
    expect_state(tape, tape->state[KEYFRAME_STEPS]);
    seek_to(tape, 3);
    PlayerDifference difference = play(tape, KEYFRAME_STEPS, true);
    ck_assert_msg(!difference.found, "%s", difference.message);
    expect_state(tape, tape->state[KEYFRAME_STEPS]);
    expect_lost(tape);
    expect_sound_behind(tape, KEYFRAME_STEPS);
    free(blob.bytes);
    close_tape(tape);
}
END_TEST

// ---- any bytes

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

// Whatever stands in chunks with sound checksums, every call ends, and with a sentence.
START_TEST(no_bytes_bring_it_down) {
    Tape *tape = open_tape();
    uint32_t seed = 17;
    int counts[4] = {0};
    Blob blob;
    for (size_t k = 0; k < 4; k++) {
        while (read_blob(tape, kinds[k], counts[k], &blob)) {
            counts[k]++;
            free(blob.bytes);
        }
    }
    int found = 0;
    for (int round = 0; round < 300; round++) {
        size_t k = next_random(&seed) % 4;
        ck_assert(read_blob(tape, kinds[k], (int)next_random(&seed) % counts[k], &blob));
        uint8_t *sound = malloc(blob.count);
        memcpy(sound, blob.bytes, blob.count);
        for (uint32_t flips = 1 + next_random(&seed) % 3; flips > 0; flips--) {
            size_t at = CHUNK_HEADER_BYTES + next_random(&seed) % (blob.count - CHUNK_HEADER_BYTES);
            blob.bytes[at] = (uint8_t)(next_random(&seed) % 5 == 0 ? 0xff : next_random(&seed));
        }
        write_mended(tape, &blob);
        Error error = {0};
        PlayerDifference difference = {0};
        Status status = player_seek(tape->player, tape->reader, blob.first_step, NULL, &error);
        for (int calls = 0; status == STATUS_OK && calls < 1000; calls++) {
            status = player_run(tape->player, tape->reader, tape->steps, true, &tape->arena,
                                UINT64_MAX, NULL, &difference, &error);
            found += difference.found;
            ck_assert(!difference.found || strlen(difference.message) > 10);
            if (status == STATUS_OK && !difference.found) {
                ck_assert_uint_eq(player_step(tape->player), tape->steps);
                break;
            }
        }
        ck_assert(status == STATUS_OK || strlen(error.message) > 10);
        memcpy(blob.bytes, sound, blob.count);
        write_blob(tape, &blob);
        free(blob.bytes);
        free(sound);
    }
    ck_assert_int_gt(found, 100);
    expect_whole(tape);
    close_tape(tape);
}
END_TEST

static TCase *case_play(void) {
    TCase *tcase = tcase_create("play");
    tcase_add_test(tcase, a_recording_steps_again_without_a_difference);
    tcase_add_test(tcase, every_step_is_reached_from_every_other);
    tcase_add_test(tcase, a_player_that_stands_before_the_step_goes_on_from_there);
    tcase_add_test(tcase, it_stops_between_steps_when_told_to);
    tcase_add_test(tcase, another_dynamics_version_is_refused_by_both_names);
    return tcase;
}

static TCase *case_differ(void) {
    TCase *tcase = tcase_create("differ");
    tcase_add_loop_test(tcase, a_flipped_byte_is_found_in_every_chunk, 0, 4);
    tcase_add_test(tcase, a_damaged_keyframe_is_passed_over);
    tcase_add_test(tcase, a_frame_that_differs_names_body_and_quantity);
    tcase_add_test(tcase, contacts_that_differ_name_body_and_quantity);
    tcase_add_test(tcase, a_keyframe_that_differs_names_body_and_quantity);
    tcase_add_test(tcase, a_hash_that_differs_is_found_at_its_step);
    tcase_add_test(tcase, a_change_that_differs_is_found_by_its_hash);
    tcase_add_test(tcase, steps_that_differ_name_a_body_where_there_is_a_frame);
    tcase_add_test(tcase, a_step_that_failed_must_fail_again);
    tcase_add_test(tcase, more_steps_than_hashes_are_refused);
    tcase_add_test(tcase, inputs_that_are_missing_are_missed);
    tcase_add_test(tcase, a_gap_says_which_steps_a_lossy_recording_dropped);
    tcase_add_test(tcase, no_bytes_bring_it_down);
    return tcase;
}

SUITE_MAIN("run/player", case_play, case_differ)
