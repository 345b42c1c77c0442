// SPDX-License-Identifier: MIT
// Files of every version of the format, kept as a server wrote them (files/schema-N.db.gz): each is
// opened, listed and proven by this one. A version that is not read any more is refused by name
// (check_schema.c: version 1, from before the first release).
#include "log/format/frames.h"
#include "log/log_file.h"
#include "log/reader/proof.h"
#include "log/recovery/recover.h"
#include "log/format/schema.h"
#include "support/suite.h"

#include <sys/stat.h>
#include <unistd.h>

static LogFile file;

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

static const struct {
    const char *name;
    const char *episode, *solver;
    uint64_t steps, bodies;
    double time; // [s] of 60 steps of 1/240 s, added one by one
    // stretches that did not converge, and of how many it is known why: since version 3
    uint64_t open, reasons;
    uint64_t launches; // since version 4: one for each chunk of inputs that has any
    uint64_t broken;   // id of the joint that broke: since version 5
    int touches;       // since version 7
} kept[] = {
    {"schema-2", "1a95c834bb3b13d933fc4e5d00000000", "mdp", 60, 37, 0.25000000000000033, 0, 0, 0, 0,
     0},
    {"schema-3", "8788c6f7fd6ffb6c096989d900000000", "mdp", 60, 7, 0.25000000000000033, 18, 18, 0,
     0, 0},
    {"schema-4", "18f5987c661b34e4e9f8818300000000", "ccp", 60, 3, 0.25000000000000033, 0, 0, 1, 0,
     0},
    {"schema-5", "676f13ad6aa601d216d2451e00000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 2,
     0},
    {"schema-6", "063c21f32eee050051f5956300000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 0,
     0},
    // and a group with an opinion
    {"schema-7", "ac611c53aa7926cee5c4d3e300000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 0,
     1},
    // and a group with an opinion
    {"schema-8", "8bcececf211f9cf2cad4980700000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 0,
     1},
    {"schema-9", "8ff2379189c330c37bd0af1800000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 0,
     1},
    // a hull, whose bytes key-frames have; and a group that wears it
    {"schema-10", "d47dc153427bcbc9fd3c141100000000", "mdp", 60, 2, 0.25000000000000033, 0, 0, 0, 0,
     1},
};

static void unpack(int which) {
    char command[1024];
    snprintf(command, sizeof(command), "gzip -dc %s/tests/log/files/%s.db.gz > %s",
             MOREAU_SOURCE_DIR, kept[which].name, file.path);
    ck_assert_int_eq(system(command), 0);
}

static void check_highlights(LogReader *reader, const EpisodeRow *row, int which, Arena *arena) {
    Highlight *found;
    size_t count;
    uint64_t total, reasons = 0;
    ck_assert_int_eq(log_reader_highlights(reader, row, HIGHLIGHT_UNCONVERGED, 1000, arena, &found,
                                           &count, &total, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(total, kept[which].open);
    for (size_t i = 0; i < count; i++) {
        reasons += found[i].reason > 0;
        ck_assert((found[i].reason > 0) == (found[i].body > 0 && found[i].contacts > 0));
    }
    ck_assert_uint_eq(reasons, kept[which].reasons);
    ck_assert_int_eq(log_reader_highlights(reader, row, HIGHLIGHT_LAUNCH, 1000, arena, &found,
                                           &count, &total, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(total, kept[which].launches);
    for (size_t i = 0; i < count; i++) { // the ground and the box that slides
        ck_assert(found[i].value > 0.0 && found[i].height > 0.0 && found[i].reason == 0);
        ck_assert_uint_eq(found[i].body + found[i].other, 1 + 3);
    }
}

static void check_broken(LogReader *reader, const EpisodeRow *row, int which, Arena *arena) {
    Highlight *found;
    size_t count;
    uint64_t total;
    ck_assert_int_eq(log_reader_highlights(reader, row, HIGHLIGHT_BROKEN, 1000, arena, &found,
                                           &count, &total, NULL),
                     STATUS_OK);
    ck_assert_uint_eq(total, kept[which].broken > 0);
    for (size_t i = 0; i < count; i++) {
        ck_assert_uint_eq(found[i].joint, kept[which].broken);
        ck_assert_double_eq(found[i].value, 1.0);
    }
}

// Frames have joints since version 5: a hinge and what breaks, then the hinge alone.
static void check_joints(LogReader *reader, const EpisodeRow *row, int which, Arena *arena) {
    for (uint64_t step = 0; kept[which].broken > 0 && step <= 60; step += 60) {
        LogChunk chunk;
        FrameChunk frames;
        FrameJoints joints;
        StateFrame frame;
        Error error = {0};
        ck_assert_int_eq(log_reader_at(reader, row, CHUNK_FRAMES, step, arena, &chunk, &error),
                         STATUS_OK);
        ck_assert_int_eq(frame_chunk_open(chunk.chunk.body, chunk.chunk.body_bytes,
                                          chunk_version(&chunk.chunk), &frames, &error),
                         STATUS_OK);
        ck_assert_int_eq(frame_chunk_joints(&frames, arena, &joints, &error), STATUS_OK);
        ck_assert_int_eq(frame_chunk_read(&frames, 0, arena, &frame, &error), STATUS_OK);
        ck_assert_uint_eq(joints.count, step == 0 ? 2 : 1);
        ck_assert_uint_eq(joints.ids[0], 1);
        ck_assert_uint_eq(joints.axes[0], 1 << 5);
        ck_assert_uint_eq(joints.position_count, step == 0 ? 1 + 4 : 1);
        ck_assert_double_eq(frame.joint_target[0], 0.3);
    }
}

static void note(const ProofFind *find, void *context) {
    (void)context;
    ck_abort_msg("%s", find->message);
}

START_TEST(a_kept_file_is_read_as_it_was_written) {
    unpack(_i);
    Log *log = file_open(&file);
    LogReader *reader;
    EpisodeRow row;
    Proof proof;
    Arena arena;
    Error error = {0};
    arena_init(&arena, 1 << 24);
    ck_assert_int_eq(log_take_reader(log, &reader, &error), STATUS_OK);
    ck_assert_msg(log_reader_find(reader, kept[_i].episode, &arena, &row, &error) == STATUS_OK,
                  "%s", error.message);
    char id[UID_TEXT_BYTES];
    uid_text(row.uid, id);
    ck_assert_str_eq(id, kept[_i].episode);
    ck_assert_str_eq(row.solver, kept[_i].solver);
    ck_assert_int_eq(row.state, RECORDING_COMPLETE);
    ck_assert_uint_eq(row.last_step, kept[_i].steps);
    ck_assert_uint_eq(row.body_count, kept[_i].bodies);
    ck_assert_double_eq(row.time, kept[_i].time);
    const bool has_gain = atoi(kept[_i].name + strlen("schema-")) >= 9; // since version 9
    ck_assert_uint_eq(row.figures.has_gain, has_gain);
    ck_assert_int_eq(atoi(sql(&file, "SELECT count(gained_j) FROM episodes")) > 0, has_gain);
    // nobody's, since version 10
    ck_assert_str_eq(sql(&file, "SELECT count(namespace) FROM recording"), "0\n");
    ck_assert_int_eq(proof_make(reader, &row, &arena, note, NULL, &proof, &error), STATUS_OK);
    ck_assert(proof.is_sealed);
    ck_assert_uint_eq(proof.proven_step, kept[_i].steps);
    check_highlights(reader, &row, _i, &arena);
    check_broken(reader, &row, _i, &arena);
    check_joints(reader, &row, _i, &arena);
    ck_assert_int_eq(atoi(sql(&file, "SELECT count(*) FROM touches")), kept[_i].touches);
    log_give_reader(log, reader);
    arena_deinit(&arena);
    record(log, 9, 2, 100); // and it is gone on with
    log_close(log);
}
END_TEST

// Whoever only reads waits for somebody who may write; what is brought to this version is what a
// new file is, but for the words of its tables.
static const struct {
    const char *version, *named, *brought, *count;
} older[] = {
    {"2\n", "version 2", "11\nok\n13\n1\n", "11\n1\n"},
    {"3\n", "version 3", "11\nok\n13\n1\n", "11\n19\n"},
    {"4\n", "version 4", "11\nok\n13\n2\n", "11\n2\n"},
    {"5\n", "version 5", "11\nok\n13\n1\n", "11\n1\n"},
    {"6\n", "version 6", "11\nok\n13\n1\n", "11\n1\n"},
    {"7\n", "version 7", "11\nok\n13\n1\n", "11\n1\n"},
    {"8\n", "version 8", "11\nok\n13\n1\n", "11\n1\n"},
    {"9\n", "version 9", "11\nok\n13\n1\n", "11\n1\n"},
    {"10\n", "version 10", "11\nok\n13\n1\n", "11\n1\n"},
};
enum { OLDER = sizeof(older) / sizeof(older[0]) };

static const char helpers[] = "SELECT name, sql FROM sqlite_schema WHERE type <> 'table' AND name "
                              "NOT LIKE 'sqlite_%' ORDER BY name";

START_TEST(an_older_file_is_brought_to_this_version_once) {
    char fresh[ANSWER_BYTES];
    log_close(file_open(&file));
    snprintf(fresh, sizeof(fresh), "%s", sql(&file, helpers));
    unpack(_i);
    sqlite3 *db = NULL;
    Error error = {0};
    ck_assert_int_eq(schema_open_reader(file.path, &db, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, older[_i].named));
    ck_assert_ptr_nonnull(strstr(error.message, "version 11"));
    ck_assert_str_eq(sql(&file, "PRAGMA user_version"), older[_i].version);
    for (int i = 0; i < 2; i++) {
        ck_assert_msg(schema_open(file.path, false, &db, &error) == STATUS_OK, "%s", error.message);
        ck_assert_str_eq(sql_on(db, "PRAGMA user_version; PRAGMA integrity_check; "
                                    "SELECT count(*) FROM pragma_table_info('highlight'); "
                                    "SELECT count(*) FROM highlights WHERE reason IS NULL"),
                         older[_i].brought);
        ck_assert_msg(strcmp(sql_on(db, helpers), fresh) == 0,
                      "its indexes or views are not those of a new file");
        sqlite3_close(db);
    }
}
END_TEST

START_TEST(an_older_file_is_recovered) {
    unpack(_i / 2);
    if (_i % 2 == 1) { // its rows are made anew from its chunks
        sql(&file, "DELETE FROM highlight");
    }
    Error error = {0};
    FILE *out = tmpfile();
    ck_assert_msg(recover_file(file.path, out, &error) == STATUS_OK, "%s", error.message);
    fclose(out);
    ck_assert_str_eq(sql(&file, "PRAGMA user_version; SELECT count(*) FROM highlight"),
                     older[_i / 2].count);
}
END_TEST

// What is copied row by row has fewer columns than this version's tables.
START_TEST(an_older_file_that_was_cut_short_is_copied) {
    unpack(_i);
    struct stat info;
    ck_assert_int_eq(stat(file.path, &info), 0);
    ck_assert_int_eq(truncate(file.path, info.st_size - 100), 0);
    Error error = {0};
    char said[4096] = "";
    FILE *out = fmemopen(said, sizeof(said), "w");
    ck_assert_int_eq(recover_file(file.path, out, &error), STATUS_DATA_LOSS);
    fclose(out);
    char copied[96];
    snprintf(copied, sizeof(copied), "Table highlight: %d rows copied, nothing of it is damaged",
             atoi(older[_i].count + 3));
    ck_assert_msg(strstr(said, copied) != NULL, "%s", said);
    strcat(file.path, ".recovered");
    ck_assert_str_eq(sql(&file, "PRAGMA user_version; SELECT count(*) FROM highlight"),
                     older[_i].count);
}
END_TEST

static TCase *case_kept(void) {
    TCase *tcase = tcase_create("kept");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_kept_file_is_read_as_it_was_written, 0,
                        (int)(sizeof(kept) / sizeof(kept[0])));
    tcase_add_loop_test(tcase, an_older_file_is_brought_to_this_version_once, 0, OLDER);
    tcase_add_loop_test(tcase, an_older_file_is_recovered, 0, 2 * OLDER);
    tcase_add_loop_test(tcase, an_older_file_that_was_cut_short_is_copied, 0, OLDER);
    return tcase;
}

SUITE_MAIN("log/kept", case_kept)
