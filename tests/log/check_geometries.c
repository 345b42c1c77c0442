// SPDX-License-Identifier: MIT
// Geometries in the file: once, however many recordings name them; as long as one does; checked
// against their names; brought along by merges, and found again by recovery.
#include "log/log_file.h"
#include "log/reader/proof.h"
#include "log/recovery/inspect.h"
#include "log/recovery/merge.h"
#include "log/recovery/recover.h"
#include "support/suite.h"

static LogFile file, other;
static char said[1 << 14];

// Of a million triangles and half as many vertices.
enum { SMALL = 4096, LARGE = 24 << 20 };

typedef struct Mesh {
    LogGeometry geometry;
    uint8_t *bytes; // owned
} Mesh;

static Mesh small, large;

static Mesh make_mesh(size_t count, uint8_t seed) {
    Mesh mesh = {.bytes = malloc(count)};
    ck_assert_ptr_nonnull(mesh.bytes);
    for (size_t i = 0; i < count; i++) {
        mesh.bytes[i] = (uint8_t)(i * 31 + i / 256 + seed);
    }
    mesh.geometry = (LogGeometry){.bytes = mesh.bytes, .byte_count = count};
    sha256(mesh.bytes, count, mesh.geometry.name);
    return mesh;
}

static void set_up(void) {
    file = file_make();
    other = file_make();
    small = make_mesh(SMALL, 1);
    large = make_mesh(LARGE, 2);
}

static void tear_down(void) {
    free(small.bytes);
    free(large.bytes);
    file_remove(&file);
    file_remove(&other);
}

// ---- recordings that wear something

static atomic_int released;

static void release(LogWorn *worn) {
    atomic_fetch_add(&released, 1);
    free(worn);
}

static LogBuffer *wear(Log *log, const LogGeometry *geometry) {
    LogWorn *worn = calloc(1, sizeof(*worn));
    *worn = (LogWorn){.release = release, .count = 1, .geometry = geometry};
    LogBuffer *buffer = log_worn_buffer(log, worn);
    ck_assert_ptr_nonnull(buffer);
    return buffer;
}

// One that wears `first` from its beginning, and `then` (Nullable) from step 10 on.
static void record_worn(Log *log, uint64_t number, const LogGeometry *first,
                        const LogGeometry *then) {
    Waiter waiter;
    const RecordingDef def = def_of(number);
    LogRecording *recording =
        log_begin(log, &def, wear(log, first), NULL, NULL, waiter_init(&waiter));
    ck_assert_ptr_nonnull(recording);
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
    put(log, recording, CHUNK_INPUTS, 0, 10, 100);
    if (then != NULL) {
        log_put(recording, wear(log, then),
                &(Chunk){.kind = CHUNK_GEOMETRIES,
                         .version = CHUNK_FORMAT_GEOMETRIES,
                         .first_step = 10,
                         .last_step = 10,
                         .time = 0.1});
    }
    put(log, recording, CHUNK_INPUTS, 10, 20, 100);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 20, NULL), STATUS_OK);
}

static void delete_recording(Log *log, uint64_t number) {
    Waiter waiter;
    uint8_t uid[UID_BYTES];
    uid_of(number, 0xaa, uid);
    log_delete(log, uid, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
}

static const char *hold(const LogFile *of) {
    return sql(of, "SELECT count(*), sum(length(bytes) - 192), (SELECT count(*) FROM worn) FROM "
                   "geometry");
}

static const char *name_of(const Mesh *mesh) {
    static char text[SHA256_TEXT_BYTES];
    sha256_text(mesh->geometry.name, text);
    return text;
}

// ---- what a proof says

static void note(const ProofFind *find, void *context) {
    (void)context;
    strncat(said, find->message, sizeof(said) - strlen(said) - 1);
}

// Of the recording of that number: how many finds there are, which are in `said`.
static void prove(uint64_t number, const char *words) {
    LogReader *reader;
    EpisodeRow row;
    Proof proof;
    Arena arena;
    Error error = {0};
    uint8_t uid[UID_BYTES];
    char text[UID_TEXT_BYTES];
    uid_of(number, 0xaa, uid);
    uid_text(uid, text);
    arena_init(&arena, 1 << 28);
    said[0] = '\0';
    ck_assert_int_eq(log_reader_open(file.path, &reader, &error), STATUS_OK);
    ck_assert_int_eq(log_reader_find(reader, text, &arena, &row, &error), STATUS_OK);
    ck_assert_int_eq(proof_make(reader, &row, &arena, note, NULL, &proof, &error), STATUS_OK);
    ck_assert_msg(words[0] == '\0' ? said[0] == '\0' : strstr(said, words) != NULL, "%s", said);
    log_reader_close(reader);
    arena_deinit(&arena);
}

static Status run_tool(Status (*tool)(const char *path, FILE *out, Error *error), Error *error) {
    memset(said, 0, sizeof(said));
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    *error = (Error){0};
    const Status status = tool(file.path, out, error);
    fclose(out);
    return status;
}

static void expect_check(Status wanted, const char *words) {
    Error error;
    ck_assert_msg(run_tool(inspect_file, &error) == wanted, "%s %s", said, error.message);
    ck_assert_msg(strstr(said, words) != NULL, "%s", said);
}

static void expect_recovery(Status wanted, const char *words) {
    Error error;
    ck_assert_msg(run_tool(recover_file, &error) == wanted, "%s %s", said, error.message);
    ck_assert_msg(strstr(said, words) != NULL, "%s", said);
}

// ---- tests

// A mesh of a million triangles, which four recordings name, one of them twice.
START_TEST(a_file_has_each_once_and_as_long_as_it_is_named) {
    Log *log = file_open(&file);
    atomic_store(&released, 0);
    for (uint64_t i = 1; i <= 3; i++) {
        record_worn(log, i, &large.geometry, NULL);
    }
    record_worn(log, 4, &small.geometry, &large.geometry);
    ck_assert_str_eq(hold(&file), "2|25169920|5\n");
    log_close(log);
    ck_assert_int_eq(atomic_load(&released), 5);
    prove(4, "");
    ck_assert_str_eq(sql(&file, "SELECT geometry, bytes, recordings FROM geometries LIMIT 0"), "");
    log = file_open(&file);
    delete_recording(log, 1);
    delete_recording(log, 3);
    ck_assert_str_eq(hold(&file), "2|25169920|3\n");
    delete_recording(log, 4);
    ck_assert_str_eq(hold(&file), "1|25165824|1\n");
    delete_recording(log, 2);
    ck_assert_str_eq(hold(&file), "0|NULL|0\n");
    record_worn(log, 5, &large.geometry, NULL); // it is not believed to be there still
    ck_assert_str_eq(hold(&file), "1|25165824|1\n");
    log_close(log);
    prove(5, "");
}
END_TEST

static const struct {
    const char *sql, *proof, *check, *recovery;
    Status checked, recovered;
} damages[] = {
    {"DELETE FROM geometry", "is not in this file.", "is not in this file, and recordings name it.",
     "is not in this file, and recordings name it.", STATUS_DATA_LOSS, STATUS_DATA_LOSS},
    {"UPDATE geometry SET bytes = CAST(substr(bytes, 1, 300) || 'x' || substr(bytes, 302) AS BLOB)",
     "is damaged in this file: its checksum is wrong", "is damaged: its checksum is wrong",
     "is damaged: its checksum is wrong", STATUS_DATA_LOSS, STATUS_DATA_LOSS},
    {"UPDATE geometry SET bytes = substr(bytes, 1, 500)",
     "is damaged in this file: it is cut short", "is damaged: it is cut short",
     "is damaged: it is cut short", STATUS_DATA_LOSS, STATUS_DATA_LOSS},
    // a name is a claim: recovery calls the bytes what they are
    {"UPDATE geometry SET name = zeroblob(32)", "is not in this file.",
     "its bytes are not those of its name", "its row was wrong and is right again",
     STATUS_DATA_LOSS, STATUS_OK},
    {"DELETE FROM worn", "are not those that its chunks name", "its trees are whole",
     "The rows of recording aa", STATUS_OK, STATUS_OK},
    {"INSERT INTO worn SELECT zeroblob(32), id FROM recording",
     "are not those that its chunks name", "is not in this file, and recordings name it",
     "The rows of recording aa", STATUS_DATA_LOSS, STATUS_OK},
};

START_TEST(what_is_missing_or_damaged_is_said_by_name) {
    Log *log = file_open(&file);
    record_worn(log, 1, &small.geometry, NULL);
    log_close(log);
    prove(1, "");
    expect_check(STATUS_OK, "its trees are whole");
    sql(&file, damages[_i].sql);
    prove(1, damages[_i].proof);
    if (_i < 4) {
        ck_assert_ptr_nonnull(strstr(said, name_of(&small)));
    }
    expect_check(damages[_i].checked, damages[_i].check);
    expect_recovery(damages[_i].recovered, damages[_i].recovery);
    prove(1, damages[_i].recovered == STATUS_OK ? "" : damages[_i].proof);
    // whoever wears the same again brings it back
    log = file_open(&file);
    record_worn(log, 2, &small.geometry, NULL);
    log_close(log);
    prove(1, "");
    prove(2, "");
    expect_check(STATUS_OK, "its trees are whole");
}
END_TEST

// Another geometry's bytes, sealed well, under this one's name: the file's own checksums are right.
START_TEST(no_other_bytes_pass_for_it) {
    Log *log = file_open(&file);
    record_worn(log, 1, &small.geometry, NULL);
    log_close(log);
    Mesh forged = make_mesh(SMALL, 9);
    memcpy(forged.geometry.name, small.geometry.name, UID_BYTES); // what its uid is made of
    const size_t count = geometry_chunk_bytes(&forged.geometry);
    uint8_t *bytes = malloc(count);
    geometry_chunk_write(&forged.geometry, bytes);
    sqlite3 *db = sql_open(file.path);
    sqlite3_stmt *statement;
    sqlite3_prepare_v2(db, "UPDATE geometry SET bytes = ?1", -1, &statement, NULL);
    sqlite3_bind_blob(statement, 1, bytes, (int)count, SQLITE_STATIC);
    ck_assert_int_eq(sqlite3_step(statement), SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
    prove(1, "its bytes are not those of its name");
    free(bytes);
    free(forged.bytes);
}
END_TEST

START_TEST(a_merge_brings_them_along) {
    Log *log = file_open(&other);
    record_worn(log, 1, &small.geometry, &large.geometry);
    record_worn(log, 2, &large.geometry, NULL);
    log_close(log);
    log = file_open(&file);
    record_worn(log, 3, &small.geometry, NULL);
    log_close(log);
    Error error = {0};
    const char *in[] = {other.path};
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    ck_assert_msg(merge_files(file.path, in, 1, out, &error) == STATUS_OK, "%s", error.message);
    ck_assert_str_eq(hold(&file), "2|25169920|4\n");
    sql(&file, "DELETE FROM geometry");
    // what is there already misses them: the same merge brings them back
    ck_assert_msg(merge_files(file.path, in, 1, out, &error) == STATUS_OK, "%s", error.message);
    fclose(out);
    ck_assert_str_eq(hold(&file), "2|25169920|4\n");
    for (uint64_t i = 1; i <= 3; i++) {
        prove(i, "");
    }
}
END_TEST

START_TEST(a_merge_says_what_neither_has) {
    Log *log = file_open(&other);
    record_worn(log, 1, &small.geometry, NULL);
    log_close(log);
    sql(&other, "DELETE FROM geometry");
    Error error = {0};
    const char *in[] = {other.path};
    memset(said, 0, sizeof(said));
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    ck_assert_int_eq(merge_files(file.path, in, 1, out, &error), STATUS_DATA_LOSS);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(said, name_of(&small)));
    prove(1, "is not in this file.");
}
END_TEST

// Only its pages are left of the file, in which the tree of the tables' names is damaged.
START_TEST(pages_have_them_still) {
    Log *log = file_open(&file);
    record_worn(log, 1, &small.geometry, NULL);
    record_worn(log, 2, &large.geometry, NULL);
    log_close(log);
    FILE *bytes = fopen(file.path, "r+");
    char zeros[4000] = {0};
    ck_assert_int_eq(fseek(bytes, 100, SEEK_SET), 0);
    ck_assert_uint_eq(fwrite(zeros, 1, sizeof(zeros), bytes), sizeof(zeros));
    fclose(bytes);
    Error error;
    ck_assert_int_eq(run_tool(recover_file, &error), STATUS_DATA_LOSS);
    snprintf(file.path, sizeof(file.path), "%s/log.db.recovered", file.folder);
    ck_assert_str_eq(hold(&file), "2|25169920|2\n");
    prove(1, "");
    prove(2, "");
}
END_TEST

static TCase *case_geometries(void) {
    TCase *tcase = tcase_create("geometries");
    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_file_has_each_once_and_as_long_as_it_is_named);
    tcase_add_loop_test(tcase, what_is_missing_or_damaged_is_said_by_name, 0,
                        sizeof(damages) / sizeof(damages[0]));
    tcase_add_test(tcase, no_other_bytes_pass_for_it);
    tcase_add_test(tcase, a_merge_brings_them_along);
    tcase_add_test(tcase, a_merge_says_what_neither_has);
    tcase_add_test(tcase, pages_have_them_still);
    return tcase;
}

SUITE_MAIN("log/geometries", case_geometries)
