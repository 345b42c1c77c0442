// SPDX-License-Identifier: MIT
// Bits that flip in the pages of an index: no row is wrong, and questions miss some. Proofs and
// checks say so, a running server and recovery build the index anew, and all rows are there.
#include "log/format/indexes.h"

#include "log/format/events.h"
#include "log/recovery/inspect.h"
#include "log/log_file.h"
#include "log/reader/proof.h"
#include "log/recovery/recover.h"
#include "support/suite.h"

enum { PAGE_BYTES = 32768, RECORDINGS = 30 };

static LogFile file;
static Arena arena;

static void set_up(void) {
    file = file_make();
    close(file.report.fd);
    file.report = (Report){.level = REPORT_WARN, .fd = fileno(tmpfile())};
    arena_init(&arena, (size_t)1 << 26);
}

static void tear_down(void) {
    arena_deinit(&arena);
    file_remove(&file);
}

static const char *reported(void) {
    static char text[1 << 16];
    const ssize_t count = pread(file.report.fd, text, sizeof(text) - 1, 0);
    text[count > 0 ? count : 0] = '\0';
    return text;
}

static void put_touches(Log *log, LogRecording *recording, uint64_t number) {
    Touch touch[8];
    for (size_t i = 0; i < 8; i++) {
        touch[i] = (Touch){.body = 1 + i,
                           .other = 20 + number,
                           .first_step = 1 + i / 4,
                           .last_step = 9,
                           .is_over = true,
                           .hardest_step = 3,
                           .approach = 1.0,
                           .first_impulse = 1.0,
                           .hardest = 2.0};
    }
    const TouchName names[] = {{1, "ground", 6}, {2, "ball", 4}};
    const EventsBody body = {.changed = touch, .changed_count = 8, .names = names, .name_count = 2};
    const size_t bytes = events_write(&body, NULL);
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + bytes);
    events_write(&body, buffer->bytes + CHUNK_HEADER_BYTES);
    buffer->used += bytes;
    log_put(
        recording, buffer,
        &(Chunk){
            .kind = CHUNK_EVENTS, .version = CHUNK_FORMAT_EVENTS, .last_step = 10, .time = 0.1});
}

// Every third ends with its world.
static void make_log(void) {
    Log *log = file_open(&file);
    for (uint64_t i = 1; i <= RECORDINGS; i++) {
        RecordingDef def = def_of(i);
        def.label = (const char *const[]){"kept"};
        def.label_count = 1;
        def.has_events = true;
        LogRecording *recording = begin(log, &def);
        put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
        put_touches(log, recording, i);
        put(log, recording, CHUNK_INPUTS, 0, 10, 80);
        const RecordingState state = i % 3 == 0 ? RECORDING_WORLD_DESTROYED : RECORDING_COMPLETE;
        ck_assert_int_eq(end(recording, state, 10, NULL), STATUS_OK);
    }
    log_close(log);
    ck_assert_str_eq(reported(), "");
}

// ---- damage

static bool is_of_index(const char *finds, const char *name) {
    char missing[96], wrong[96], twice[96];
    snprintf(missing, sizeof(missing), "missing from index %s\n", name);
    snprintf(wrong, sizeof(wrong), "entries in index %s\n", name);
    snprintf(twice, sizeof(twice), "entry in index %s\n", name);
    for (const char *line = finds; *line != '\0'; line = strchr(line, '\n') + 1) {
        char text[512];
        snprintf(text, sizeof(text), "%.*s", (int)(strchr(line, '\n') - line + 1), line);
        if (strstr(text, missing) == NULL && strstr(text, wrong) == NULL &&
            strstr(text, twice) == NULL) {
            return false;
        }
    }
    return true;
}

static bool misses_rows(const char *finds, const char *name) {
    char missing[96];
    snprintf(missing, sizeof(missing), "missing from index %s\n", name);
    return strstr(finds, missing) != NULL;
}

// An error is a find that is of no index.
static const char *find_all(void) {
    static char finds[ANSWER_BYTES];
    char *message = NULL;
    sqlite3 *db = sql_open(file.path);
    finds[0] = '\0';
    if (sqlite3_exec(db, "PRAGMA integrity_check(300)", sql_add_row, finds, &message) !=
        SQLITE_OK) {
        snprintf(finds, sizeof(finds), "%s\n", message);
        sqlite3_free(message);
    }
    sqlite3_close(db);
    return finds;
}

static void flip(int fd, long at, uint8_t mask) {
    uint8_t byte;
    ck_assert_int_eq(pread(fd, &byte, 1, at), 1);
    byte ^= mask;
    ck_assert_int_eq(pwrite(fd, &byte, 1, at), 1);
}

// Flips a bit of the index's page, which has one, such that trees stay whole and rows are missed;
// or, else, such that its tree is not whole.
static void damage(const char *name, bool keeps_tree) {
    char text[160];
    snprintf(text, sizeof(text), "SELECT rootpage FROM sqlite_schema WHERE name = '%s'", name);
    const long page = (atol(sql(&file, text)) - 1) * PAGE_BYTES;
    const int fd = open(file.path, O_RDWR);
    uint64_t random = 88172645463325252u;
    for (int i = 0; i < 20000; i++) { // xorshift64
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // a leaf's head and pointers are in front, its cells at the end
        const long at = keeps_tree ? PAGE_BYTES - 1 - (long)(random % 400) : (long)(random % 40);
        const uint8_t mask = (uint8_t)(1u << (random >> 32) % 8);
        flip(fd, page + at, mask);
        const char *finds = find_all();
        if (strcmp(finds, "ok\n") != 0 &&
            (keeps_tree ? is_of_index(finds, name) && misses_rows(finds, name)
                        : !is_of_index(finds, name))) {
            close(fd);
            return;
        }
        flip(fd, page + at, mask);
    }
    ck_abort_msg("no bit of %s does it", name);
}

// ---- what is said of it

static size_t index_finds;

static void note(const ProofFind *find, void *context) {
    (void)context;
    index_finds += strcmp(find->quantity, "index") == 0;
}

static size_t prove_all(void) {
    LogReader *reader;
    Error error = {0};
    index_finds = 0;
    ck_assert_msg(log_reader_open(file.path, &reader, &error) == STATUS_OK, "%s", error.message);
    for (uint64_t i = 1; i <= RECORDINGS; i++) {
        EpisodeRow row;
        Proof proof;
        char text[40];
        // of as many digits as rows are found by without the index of uids
        snprintf(text, sizeof(text), "aa000000%02x0000000000000000000000", (unsigned)i);
        if (log_reader_find(reader, text, &arena, &row, &error) == STATUS_OK) {
            ck_assert_int_eq(proof_make(reader, &row, &arena, note, NULL, &proof, &error),
                             STATUS_OK);
        }
    }
    log_reader_close(reader);
    return index_finds;
}

static Status run(Status (*what)(const char *, FILE *, Error *), char said[1 << 14]) {
    memset(said, 0, 1 << 14);
    FILE *out = fmemopen(said, (1 << 14) - 1, "w");
    Error error = {0};
    const Status status = what(file.path, out, &error);
    fclose(out);
    return status;
}

static void expect_whole(void) {
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    ck_assert_int_eq(count_sound_chunks(&file), 3 * RECORDINGS);
    ck_assert_int_eq(atoi(sql(&file, "SELECT count(*) FROM touches")), 8 * RECORDINGS);
    ck_assert_int_eq(file_count(&file, false), 1);
    ck_assert_uint_eq(prove_all(), 0);
}

START_TEST(sound_indexes_are_left_alone) {
    make_log();
    char said[1 << 14];
    ck_assert_msg(run(inspect_file, said) == STATUS_OK, "%s", said);
    Log *log = file_open(&file);
    usleep(200000); // a pass of the few rows takes a tenth of that
    ck_assert_msg(run(inspect_file, said) == STATUS_OK, "%s", said); // beside the server
    log_close(log);
    ck_assert_str_eq(reported(), "");
    expect_whole();
}
END_TEST

// No row has a doubtful return here: that index is empty.
static const char *const names[] = {"sqlite_autoindex_recording_1",
                                    "recording_by_name",
                                    "recording_by_client",
                                    "recording_by_end",
                                    "episode_by_time",
                                    "episode_by_state",
                                    "chunk_by_step",
                                    "touch_of_bodies",
                                    "touch_body_by_name",
                                    "label_of_recording"};
enum { NAME_COUNT = sizeof(names) / sizeof(names[0]) };

START_TEST(a_running_server_builds_an_index_anew) {
    make_log();
    damage(names[_i], true);
    char said[1 << 14], line[128];
    ck_assert_int_eq(run(inspect_file, said), STATUS_DATA_LOSS);
    snprintf(line, sizeof(line), "Index %s does not lead to all rows.", names[_i]);
    ck_assert_msg(strstr(said, line) != NULL, "%s", said);
    Log *log = file_open(&file);
    snprintf(line, sizeof(line), "index_rebuilt index=%s ", names[_i]);
    for (int i = 0; i < 2000 && strstr(reported(), line) == NULL; i++) {
        usleep(5000);
    }
    ck_assert_msg(strstr(reported(), line) != NULL, "%s", reported());
    log_close(log);
    expect_whole();
}
END_TEST

// Chunks are read along theirs, labels compared: they are missed otherwise.
START_TEST(what_an_index_misses_is_not_verified) {
    make_log();
    ck_assert_uint_eq(prove_all(), 0);
    damage(names[_i], true);
    ck_assert_uint_gt(prove_all(), 0);
}
END_TEST

START_TEST(recovery_builds_an_index_anew_in_its_place) {
    make_log();
    damage(names[_i], true);
    char said[1 << 14];
    ck_assert_msg(run(recover_file, said) == STATUS_OK, "%s", said);
    ck_assert_msg(strstr(said, names[_i]) != NULL, "%s", said);
    expect_whole();
}
END_TEST

// Pages of such a tree may be others', which building it anew would free.
START_TEST(an_index_that_is_not_whole_is_told) {
    make_log();
    damage(names[_i], false);
    char said[1 << 14];
    ck_assert_int_eq(run(inspect_file, said), STATUS_DATA_LOSS);
    LogDef def = {.path = file.path,
                  .queue_bytes_max = QUEUE_BYTES,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    Log *log = NULL;
    Error error = {0};
    const bool is_open = log_open(&log, &def, &error) == STATUS_OK; // where it needs none of it
    for (int i = 0; is_open && i < 2000 && strstr(reported(), "log_damaged") == NULL; i++) {
        usleep(5000);
    }
    ck_assert_msg(!is_open || strstr(reported(), "log_damaged") != NULL, "%s", reported());
    if (is_open) {
        log_close(log);
    }
    ck_assert_int_eq(run(recover_file, said), STATUS_DATA_LOSS);
    snprintf(file.path, sizeof(file.path), "%.400s/log.db.recovered", file.folder);
    ck_assert_int_eq(count_sound_chunks(&file), 3 * RECORDINGS);
}
END_TEST

static TCase *case_indexes(void) {
    TCase *tcase = tcase_create("indexes");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, sound_indexes_are_left_alone);
    tcase_add_loop_test(tcase, a_running_server_builds_an_index_anew, 0, NAME_COUNT);
    tcase_add_loop_test(tcase, what_an_index_misses_is_not_verified, 1, 6);
    tcase_add_loop_test(tcase, what_an_index_misses_is_not_verified, 7, 9);
    tcase_add_loop_test(tcase, recovery_builds_an_index_anew_in_its_place, 0, NAME_COUNT);
    tcase_add_loop_test(tcase, an_index_that_is_not_whole_is_told, 0, NAME_COUNT);
    return tcase;
}

SUITE_MAIN("log/indexes", case_indexes)
