// SPDX-License-Identifier: MIT
// A file is attacked: single bits are flipped anywhere in it, every column of every table is
// edited, rows are deleted, doubled and moved. Whatever is done, a start deletes no chunk that is
// whole and does not hang, nothing is called verified that is not as it was, and recovery brings
// back every whole chunk.
//
// A hundred bits in a test; a campaign (support/campaign.h) flips as many times more.
#define _GNU_SOURCE // memmem
#include "log/recovery/chunk_search.h"
#include "log/recovery/recover.h"
#include "log/format/schema.h"
#include "replay/verify/verify.h"
#include "run/worlds/recorder.h"
#include "support/campaign.h"
#include "support/heap.h"
#include "support/log_waiter.h"
#include "support/suite.h"
#include "wire/scene/print.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FLIPS = 100, STEPS = 60, EPISODES = 2, CHUNKS_MAX = 400 };

static const WorldLimits limits = {.body_count_max = 100, .bytes_max = (size_t)1 << 28};

static char folder[64], path[96];
static Report report;
static uint8_t *original; // the file
static size_t original_bytes;

// A chunk of the original file, and where its bytes lie.
typedef struct Sealed {
    uint64_t checksum;
    uint8_t *bytes;
    size_t count;
} Sealed;

static Sealed sealed[CHUNKS_MAX];
static size_t sealed_count;
static int16_t *owner; // of each byte of the file: the chunk, or -1

// What was true of the two episodes.
typedef struct Truth {
    char id[UID_TEXT_BYTES];
    uint64_t hash;
} Truth;

static Truth truth[EPISODES];

// ---- files

static void write_file(const uint8_t *bytes, size_t count) {
    FILE *out = fopen(path, "wb");
    ck_assert_ptr_nonnull(out);
    ck_assert_uint_eq(fwrite(bytes, 1, count, out), count);
    fclose(out);
}

static void remove_others(void) {
    static const char *const endings[] = {"-wal",     "-wal-synced", "-shm",
                                          "-journal", "-reserve",    ".recovered"};
    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char name[128];
        snprintf(name, sizeof(name), "%s%s", path, endings[i]);
        unlink(name);
    }
}

static bool exists(const char *name) {
    return access(name, F_OK) == 0;
}

// ---- the original

static Log *open_log(Status *status) {
    LogDef def = {.path = path,
                  .queue_bytes_max = 1 << 24,
                  .report = &report,
                  .server_version = "0.1.0",
                  .build = "test"};
    Log *log = NULL;
    Error error = {0};
    *status = log_open(&log, &def, &error);
    return log;
}

static void take_steps(Door *door, Lab *lab, Arena *arena, uint64_t count) {
    Error error = {0};
    StepRun run = {0};
    Input input = {.kind = INPUT_STEP, .step = {.steps = count}};
    ck_assert_int_eq(door_step_begin(door, &input, arena, &run, &error), STATUS_OK);
    while (run.steps_left > 0) {
        ck_assert_int_eq(door_step(door, &run, &lab->scratch, 0, NULL, &error), STATUS_OK);
    }
}

static void await(Waiter *waiter) {
    ck_assert_msg(waiter_wait(waiter) == STATUS_OK, "%s", waiter->wait.error.message);
}

// In a process of its own: one episode is stopped, the other left open.
static void record(Log *log, const char *name, bool stops) {
    Lab lab = heap_create(7, 6);
    Door door = {.world = lab.world, .stepper = lab.stepper};
    Arena arena;
    arena_init(&arena, (size_t)1 << 28);
    RecorderDef def = {.content = CONTENT_CONTACTS,
                       .stride = 3,
                       .keyframe_steps = 16,
                       .name = name,
                       .label_count = 2,
                       .label = (const char *const[]){"red", "blue"},
                       .client = "campaign",
                       .world_name = "heap",
                       .print_scene = scene_print,
                       .has_seed = true,
                       .seed = 5};
    Waiter waiter;
    Error error = {0};
    waiter_init(&waiter);
    ck_assert_int_eq(recorder_start(log, &def, door.world, &waiter.wait, &door.recorder, &error),
                     STATUS_OK);
    await(&waiter);
    take_steps(&door, &lab, &arena, STEPS);
    if (!stops) {
        recorder_flush(door.recorder);
        return;
    }
    waiter_init(&waiter);
    recorder_stop(door.recorder, RECORDING_COMPLETE, &waiter.wait);
    await(&waiter);
}

static void make_original(void) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        Status status;
        Log *log = open_log(&status);
        record(log, "stopped", true);
        record(log, "left open", false);
        while (log_figures(log).queue_rows > 0) {
            usleep(1000);
        }
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    ck_assert_int_eq(result, 0);
    Status status;
    Log *log = open_log(&status);
    ck_assert_int_eq(status, STATUS_OK);
    log_close(log);
    FILE *in = fopen(path, "rb");
    fseek(in, 0, SEEK_END);
    original_bytes = (size_t)ftell(in);
    rewind(in);
    original = malloc(original_bytes);
    ck_assert_uint_eq(fread(original, 1, original_bytes, in), original_bytes);
    fclose(in);
}

// ---- which bytes are whose

static Status keep_chunk(const uint8_t *bytes, size_t count, void *context, Error *error) {
    (void)context, (void)error;
    ck_assert_uint_lt(sealed_count, CHUNKS_MAX);
    Sealed *kept = &sealed[sealed_count++];
    *kept = (Sealed){.bytes = malloc(count), .count = count};
    memcpy(kept->bytes, bytes, count);
    memcpy(&kept->checksum, bytes + CHUNK_HEADER_BYTES - 8, sizeof(kept->checksum));
    return STATUS_OK;
}

// The longest stretch of the file that is as these bytes.
static size_t find_piece(const uint8_t *bytes, size_t count, size_t *length) {
    size_t best = 0;
    *length = 0;
    size_t probe = count < 16 ? count : 16;
    const uint8_t *at = original, *end = original + original_bytes;
    while ((at = memmem(at, (size_t)(end - at), bytes, probe)) != NULL) {
        size_t same = probe;
        while (same < count && at + same < end && at[same] == bytes[same]) {
            same++;
        }
        if (same > *length) {
            *length = same;
            best = (size_t)(at - original);
        }
        at++;
    }
    return best;
}

static void map_bytes(void) {
    Error error = {0};
    ck_assert_int_eq(chunk_search(path, keep_chunk, NULL, &error), STATUS_OK);
    owner = malloc(original_bytes * sizeof(*owner));
    for (size_t i = 0; i < original_bytes; i++) {
        owner[i] = -1;
    }
    for (size_t i = 0; i < sealed_count; i++) {
        for (size_t done = 0; done < sealed[i].count;) {
            size_t length;
            size_t at = find_piece(sealed[i].bytes + done, sealed[i].count - done, &length);
            ck_assert_uint_gt(length, 0);
            for (size_t k = 0; k < length; k++) {
                owner[at + k] = (int16_t)i;
            }
            done += length;
        }
    }
}

// ---- what is left

static Status count_chunk(const uint8_t *bytes, size_t count, void *context, Error *error) {
    (void)count, (void)error;
    bool *found = context;
    for (size_t i = 0; i < sealed_count; i++) {
        found[i] = found[i] || memcmp(&sealed[i].checksum, bytes + CHUNK_HEADER_BYTES - 8, 8) == 0;
    }
    return STATUS_OK;
}

// Whether all chunks but `lost` (-1: none) lie whole in the file.
static void expect_chunks(const char *file, int lost, const char *what) {
    bool found[CHUNKS_MAX] = {false};
    Error error = {0};
    ck_assert_int_eq(chunk_search(file, count_chunk, found, &error), STATUS_OK);
    for (size_t i = 0; i < sealed_count; i++) {
        ck_assert_msg(found[i] || (int)i == lost, "%s: chunk %zu of %zu is gone", what, i,
                      sealed_count);
    }
}

// Rows that lead to all of them, where somebody looks for them.
static void expect_rows(const char *file, int lost, const char *what) {
    sqlite3 *db;
    sqlite3_stmt *query;
    bool found[CHUNKS_MAX] = {false};
    ck_assert_int_eq(sqlite3_open_v2(file, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(
        sqlite3_prepare_v2(db,
                           "SELECT c.bytes FROM chunk c JOIN recording r ON r.id = c.recording AND "
                           "r.uid = substr(c.bytes, 17, 16) JOIN episode e ON e.recording = r.id",
                           -1, &query, NULL) == SQLITE_OK,
        "%s: %s", what, sqlite3_errmsg(db));
    while (sqlite3_step(query) == SQLITE_ROW) {
        Chunk chunk;
        const uint8_t *bytes = sqlite3_column_blob(query, 0);
        size_t count = (size_t)sqlite3_column_bytes(query, 0);
        if (bytes != NULL && chunk_open(bytes, count, NULL, &chunk, NULL) == STATUS_OK) {
            count_chunk(bytes, count, found, NULL);
        }
    }
    sqlite3_finalize(query);
    sqlite3_close(db);
    for (size_t i = 0; i < sealed_count; i++) {
        ck_assert_msg(found[i] || (int)i == lost, "%s: no row leads to chunk %zu of %zu", what, i,
                      sealed_count);
    }
}

// ---- verification

static uint64_t hash_text(const char *text, uint64_t seed) {
    return hash_bytes(text, strlen(text), seed);
}

// All that is said of an episode, but for what anybody may change.
static uint64_t hash_row(const EpisodeRow *row) {
    const uint64_t numbers[] = {row->state,
                                row->recording_state,
                                row->content,
                                row->stride,
                                row->keyframe_steps,
                                row->lossy,
                                row->has_seed,
                                row->seed,
                                row->dynamics_version,
                                row->world_index,
                                row->world_count,
                                row->world_range,
                                row->first_step,
                                row->last_step,
                                row->world_step,
                                row->body_count,
                                row->begun_ns,
                                row->ended_ns,
                                row->recording_begun_ns,
                                row->recording_ended_ns,
                                row->dropped_steps,
                                row->has_figures,
                                row->label_count,
                                row->has_return,
                                row->has_parent};
    uint64_t hash = hash_bytes(numbers, sizeof(numbers), 1);
    hash = hash_bytes(&row->figures, sizeof(row->figures), hash);
    const double times[] = {row->world_time, row->time_step, row->time};
    hash = hash_bytes(times, sizeof(times), hash);
    const char *const texts[] = {row->name,           row->client, row->world_name, row->solver,
                                 row->server_version, row->build,  row->why};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        hash = hash_text(texts[i], hash);
    }
    for (size_t i = 0; i < row->label_count; i++) {
        hash = hash_text(row->label[i], hash);
    }
    return hash;
}

// OK: it was gone through. *hash: what its row says.
static Status verify(Log *log, const char *episode, bool *verified, uint64_t *hash) {
    LogReader *reader;
    EpisodeRow row;
    Error error = {0};
    Verification *verification = NULL;
    Arena scratch;
    arena_init(&scratch, (size_t)1 << 28);
    *verified = false;
    Status status = log_take_reader(log, &reader, &error);
    if (status == STATUS_OK) {
        status = log_reader_find(reader, episode, &scratch, &row, &error);
        log_give_reader(log, reader);
    }
    if (status == STATUS_OK) {
        VerifyDef def = {.log = log,
                         .episode = &row,
                         .limits = limits,
                         .last = row.last_step,
                         .worker_count_max = 1,
                         .plan_bytes_max = limits.bytes_max};
        *hash = hash_row(&row);
        status = verify_open(&verification, &def, &error);
    }
    for (bool is_over = false, progressed; status == STATUS_OK && !is_over;) {
        status =
            verify_work(verification, 0, &scratch, UINT64_MAX, NULL, &is_over, &progressed, &error);
    }
    *verified = status == STATUS_OK && verify_result(verification).difference_count == 0;
    verify_close(verification);
    arena_deinit(&scratch);
    return status;
}

// A start and an end of the server; what it calls verified is as it was. Returns how many are.
static int serve(const char *what, bool may_fail) {
    Status status;
    int verified_count = 0;
    Log *log = open_log(&status);
    ck_assert_msg(log != NULL || may_fail, "%s: status %d", what, status);
    for (int i = 0; log != NULL && i < EPISODES; i++) {
        bool verified;
        uint64_t hash = 0;
        verify(log, truth[i].id, &verified, &hash);
        ck_assert_msg(!verified || hash == truth[i].hash,
                      "%s: episode %d is called verified and is not as it was", what, i);
        verified_count += verified;
    }
    if (log != NULL) {
        log_close(log);
    }
    return verified_count;
}

// Everything that is whole is there, and what is there verifies.
static void recover(int lost, const char *what) {
    char name[128];
    static char said[1 << 20];
    Error error = {0};
    FILE *out = fmemopen(said, sizeof(said), "w");
    Status status = recover_file(path, out, &error);
    fclose(out);
    ck_assert_msg(status == STATUS_OK || status == STATUS_DATA_LOSS, "%s: %d %s\n%.999s", what,
                  status, error.message, said);
    snprintf(name, sizeof(name), "%s.recovered", path);
    if (exists(name)) {
        ck_assert_int_eq(rename(name, path), 0);
    }
    expect_rows(path, lost, what);
    Log *log = open_log(&status);
    ck_assert_msg(log != NULL, "%s: %d", what, status);
    for (int i = 0; i < EPISODES; i++) {
        bool verified;
        uint64_t hash = 0;
        verify(log, truth[i].id, &verified, &hash);
        ck_assert_msg(!verified || hash == truth[i].hash, "%s: recovered %d otherwise", what, i);
        ck_assert_msg(verified || lost >= 0, "%s: recovered %d does not verify\n%.999s", what, i,
                      said);
    }
    log_close(log);
}

static void set_up(void) {
    report = (Report){.level = REPORT_ERROR, .fd = open("/dev/null", O_WRONLY)};
    snprintf(folder, sizeof(folder), "/tmp/moreau-campaign-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/e.db", folder);
    make_original();
    map_bytes();
    Status status;
    Log *log = open_log(&status);
    LogReader *reader;
    Arena arena;
    arena_init(&arena, 1 << 20);
    ck_assert_int_eq(log_take_reader(log, &reader, NULL), STATUS_OK);
    static const char *const names[EPISODES] = {"stopped", "left open"};
    for (int i = 0; i < EPISODES; i++) {
        EpisodeRow row;
        Error error = {0};
        ck_assert_msg(log_reader_find(reader, names[i], &arena, &row, &error) == STATUS_OK, "%s",
                      error.message);
        uid_text(row.uid, truth[i].id);
    }
    log_give_reader(log, reader);
    for (int i = 0; i < EPISODES; i++) {
        bool verified;
        verify(log, truth[i].id, &verified, &truth[i].hash);
        ck_assert(verified);
    }
    log_close(log);
    arena_deinit(&arena);
}

static void tear_down(void) {
    remove_others();
    unlink(path);
    rmdir(folder);
}

// ---- bits

enum { VERSION_AT = 60 }; // PRAGMA user_version: 32 bits, the highest first

static bool is_of_newer_version(void) {
    uint32_t version = 0;
    for (size_t i = 0; i < 4; i++) {
        version = version << 8 | original[VERSION_AT + i];
    }
    return version > SCHEMA_VERSION && version <= INT32_MAX;
}

// Of a file that claims a newer version nothing is known, and nothing is written.
static void expect_no_recovery(const char *what) {
    Error error = {0};
    FILE *out = fopen("/dev/null", "w");
    ck_assert_msg(recover_file(path, out, &error) == STATUS_FAILED_PRECONDITION, "%s: %s", what,
                  error.message);
    fclose(out);
}

START_TEST(a_flipped_bit_costs_what_it_is_in_and_nothing_else) {
    uint64_t seed = 20261 + (uint64_t)_i;
    int count = campaign_count(FLIPS) / 4;
    for (int i = 0; i < count; i++) {
        // every fourth in the header or the first page, where most depends on few bits; the first
        // in the version
        double end = i % 4 == 0 ? 4096.0 : (double)original_bytes;
        size_t at = (size_t)lab_random(&seed, 0.0, end);
        at = i == 0 ? VERSION_AT + (size_t)_i : at;
        uint8_t mask = (uint8_t)(1u << (unsigned)lab_random(&seed, 0.0, 8.0));
        char what[64];
        snprintf(what, sizeof(what), "bit 0x%02x of byte %zu", mask, at);
        original[at] ^= mask;
        remove_others();
        write_file(original, original_bytes);
        serve(what, true);
        expect_chunks(path, owner[at], what);
        remove_others();
        write_file(original, original_bytes);
        if (is_of_newer_version()) {
            expect_no_recovery(what);
        } else {
            recover(owner[at], what);
        }
        original[at] ^= mask;
    }
}
END_TEST

// ---- SQL

static char *dump(sqlite3 *db) {
    static const char *const tables[] = {"recording", "episode",   "label",
                                         "chunk",     "highlight", "deletion"};
    char *text = sqlite3_mprintf("");
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        sqlite3_stmt *query;
        char sql[64];
        snprintf(sql, sizeof(sql), "SELECT * FROM %s", tables[i]);
        ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &query, NULL), SQLITE_OK);
        uint64_t hash = 0;
        while (sqlite3_step(query) == SQLITE_ROW) {
            for (int k = 0; k < sqlite3_column_count(query); k++) {
                int type = sqlite3_column_type(query, k);
                hash = hash_bytes(&type, sizeof(type), hash);
                hash = hash_bytes(sqlite3_column_blob(query, k),
                                  (size_t)sqlite3_column_bytes(query, k), hash);
            }
        }
        sqlite3_finalize(query);
        char *longer = sqlite3_mprintf("%s %llx", text, (unsigned long long)hash);
        sqlite3_free(text);
        text = longer;
    }
    return text;
}

// True: the file is another one now.
static bool edit(const char *sql) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *before = dump(db);
    sqlite3_exec(db, sql, NULL, NULL, NULL); // what breaks a rule of the tables changes nothing
    char *after = dump(db);
    bool changed = strcmp(before, after) != 0;
    sqlite3_free(before);
    sqlite3_free(after);
    sqlite3_close(db);
    return changed;
}

// What a start has made right, as an ending that a row forgot.
static bool is_right_again(void) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *now = dump(db);
    sqlite3_close(db);
    remove_others();
    write_file(original, original_bytes);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    char *before = dump(db);
    sqlite3_close(db);
    bool is_same = strcmp(now, before) == 0;
    sqlite3_free(now);
    sqlite3_free(before);
    return is_same;
}

static void attack(const char *sql) {
    remove_others();
    write_file(original, original_bytes);
    if (!edit(sql)) {
        return;
    }
    bool spoils_bytes =
        strstr(sql, "SET bytes") != NULL || strstr(sql, "DELETE FROM chunk") != NULL;
    // the numbers of rows are nobody's word, nor is what somebody wants deleted
    bool is_harmless = strstr(sql, "SET id") != NULL || strstr(sql, "deletion") != NULL;
    int verified = serve(sql, true);
    ck_assert_msg(verified < EPISODES || is_harmless || is_right_again(), "%s: nobody has noticed",
                  sql);
    if (!spoils_bytes) {
        expect_chunks(path, -1, sql);
        remove_others();
        write_file(original, original_bytes);
        edit(sql);
        recover(-1, sql);
    }
}

// Each with the rows of it that are edited, of the first recording and of the second.
static const struct {
    const char *table, *columns, *rows[EPISODES];
} tables[] = {
    {"recording",
     "id uid world_count world_range state why content stride keyframe_steps lossy "
     "dropped_steps name solver client world_name world_step world_time time_step "
     "body_count dynamics_version server_version build begun_ns ended_ns",
     {"id = 1", "id = 2"}},
    {"episode",
     "id recording number world_index first_step last_step state simulated_s seed "
     "return_sum begun_ns ended_ns unconverged worst_own worst_penetration "
     "contacts_max hardest_impact hardest_impact_step energy_gain energy_gain_step "
     "parent parent_step gain gain_scale gain_step",
     {"recording = 1", "recording = 2"}},
    {"label", "label recording", {"recording = 1", "recording = 2"}},
    {"chunk",
     "id recording kind sequence first_world world_count first_step last_step time_s "
     "written_ns unconverged worst_own worst_penetration contacts_max hardest_impact "
     "hardest_impact_step energy_gain energy_gain_step solver bytes gain gain_scale "
     "gain_step",
     {"recording = 1 AND kind = 2 AND first_step = 16", "recording = 2 AND kind = 1"}},
    {"highlight",
     "recording kind first_world first_step last_step step value reason body contacts "
     "other_body height",
     {"recording = 1", "recording = 2"}},
};

// What could have been there, and then what nobody writes.
static const char *const edits[] = {
    ("CASE typeof(%1$s) WHEN 'text' THEN %1$s || 'x' WHEN 'blob' THEN zeroblob(length(%1$s)) "
     "ELSE coalesce(%1$s, 0) + 1 END"),
    "%1$s - 1",
    "0",
    "NULL",
    "'text'",
    "9223372036854775807",
    "-9223372036854775807"};

enum { EDITS = sizeof(edits) / sizeof(edits[0]) };

static void edit_column(const char *table, const char *column, const char *rows, int which) {
    char sql[512], value[256];
    snprintf(value, sizeof(value), edits[which], column);
    snprintf(sql, sizeof(sql), "UPDATE OR IGNORE %s SET %s = %s WHERE %s", table, column, value,
             rows);
    attack(sql);
}

// Each column gets the first of the values in both recordings, and one of the others in one; all of
// them in a campaign.
START_TEST(an_edited_column_is_found_and_made_right) {
    char columns[1024];
    snprintf(columns, sizeof(columns), "%s", tables[_i].columns);
    int count = campaign_count(2), turn = 0;
    for (char *column = strtok(columns, " "); column != NULL; column = strtok(NULL, " "), turn++) {
        for (int k = 0; k < count && k < EDITS; k++) {
            int which = k == 0 ? 0 : 1 + (turn + k - 1) % (EDITS - 1);
            for (int i = 0; i < EPISODES; i++) {
                if (k == 0 || count >= EDITS || turn % EPISODES == i) {
                    edit_column(tables[_i].table, column, tables[_i].rows[i], which);
                }
            }
        }
    }
}
END_TEST

static const char *const row_edits[] = {
    "DELETE FROM recording WHERE id = 1",
    "DELETE FROM recording",
    "DELETE FROM episode",
    "DELETE FROM label",
    "DELETE FROM highlight",
    "DELETE FROM chunk WHERE id = 1",
    "DELETE FROM chunk WHERE kind = 1 AND first_step = 16",
    "DELETE FROM chunk WHERE kind = 7",
    "DELETE FROM chunk WHERE kind = 2 AND first_step = 16",
    "DELETE FROM chunk WHERE kind = 9",
    "DELETE FROM chunk WHERE id > 10",
    "INSERT INTO label VALUES('green', 1)",
    "DELETE FROM label WHERE label = 'red' AND recording = 1",
    "UPDATE episode SET parent = zeroblob(16), parent_step = 0 WHERE recording = 1",
    "UPDATE recording SET content = content - 1 WHERE id = 1",
    "UPDATE episode SET last_step = last_step - 1 WHERE recording = 1",
    "UPDATE episode SET seed = NULL WHERE recording = 1",
    "UPDATE episode SET return_sum = 1.5 WHERE recording = 1",
    "INSERT INTO highlight VALUES(1, 6, 0, 1, 1, 1, 0.5, NULL, NULL, NULL, NULL, NULL, "
    "NULL)",
    "INSERT INTO highlight VALUES(1, 'text', 0, 1, 1, 1, 0.5, NULL, NULL, NULL, NULL, NULL, "
    "NULL)",
    "INSERT INTO highlight VALUES(1, 1, 7, 1, 1, 1, 0.5, 1, 1, 1, NULL, NULL, NULL)",
    "INSERT INTO highlight SELECT recording, kind, first_world, first_step + 1, last_step + 1, "
    "step, "
    "value, reason, body, contacts, other_body, height, joint FROM highlight LIMIT 1",
    "INSERT INTO chunk SELECT 1000 + id, recording, kind, sequence, first_world, world_count, "
    "first_step, last_step, time_s, written_ns, unconverged, worst_own, worst_penetration, "
    "contacts_max, hardest_impact, hardest_impact_step, energy_gain, energy_gain_step, solver, "
    "bytes, gain, gain_scale, gain_step "
    "FROM chunk WHERE kind = 2 AND recording = 1 LIMIT 1",
    "INSERT INTO chunk SELECT 0, recording, kind, sequence, first_world, world_count, first_step, "
    "last_step, time_s, written_ns, unconverged, worst_own, worst_penetration, contacts_max, "
    "hardest_impact, hardest_impact_step, energy_gain, energy_gain_step, solver, bytes, gain, "
    "gain_scale, gain_step FROM chunk WHERE kind = 1 LIMIT 1",
    "UPDATE chunk SET id = -id",
    "UPDATE chunk SET id = 0 WHERE id = 5",
    "UPDATE chunk SET id = 5000 - id",
    "UPDATE chunk SET recording = 3 - recording",
    "UPDATE episode SET recording = 3 - recording, number = number + 1",
    "UPDATE episode SET recording = 3 - recording",
    "UPDATE episode SET id = id + 1",
    "UPDATE episode SET id = 0 WHERE recording = 1",
    "UPDATE recording SET id = 0 WHERE id = 1",
    "UPDATE chunk SET bytes = (SELECT bytes FROM chunk c WHERE c.kind = 2 AND c.recording = 2 "
    "LIMIT "
    "1) WHERE kind = 2 AND recording = 1 AND first_step = 0",
    "UPDATE chunk SET bytes = (SELECT bytes FROM chunk c WHERE c.kind = 6 AND c.recording = 2), "
    "sequence = 0 WHERE kind = 6 AND recording = 1",
    "UPDATE chunk SET bytes = (SELECT bytes FROM chunk c WHERE c.kind = 7 AND c.recording = 2) "
    "WHERE kind = 7 AND recording = 1",
    "INSERT INTO deletion SELECT id, uid, 1, 1 FROM recording",
};

START_TEST(rows_that_are_deleted_doubled_or_moved_are_found_and_made_right) {
    attack(row_edits[_i]);
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 240 + campaign_count(240));
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    return tcase;
}

static TCase *case_bits(void) {
    TCase *tcase = make_case("bits");
    tcase_add_loop_test(tcase, a_flipped_bit_costs_what_it_is_in_and_nothing_else, 0, 4);
    return tcase;
}

static TCase *case_sql(void) {
    TCase *tcase = make_case("sql");
    tcase_add_loop_test(tcase, an_edited_column_is_found_and_made_right, 0,
                        (int)(sizeof(tables) / sizeof(tables[0])));
    tcase_add_loop_test(tcase, rows_that_are_deleted_doubled_or_moved_are_found_and_made_right, 0,
                        (int)(sizeof(row_edits) / sizeof(row_edits[0])));
    return tcase;
}

SUITE_MAIN("replay/campaign", case_bits, case_sql)
