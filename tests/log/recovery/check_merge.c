// SPDX-License-Identifier: MIT
// Several files in one: what each has of its own and what several have, one chain longer than the
// other, chains that went different ways, damage, pins, deletions, and who has a file open.
#include "log/recovery/merge.h"

#include "log/log_file.h"
#include "support/suite.h"

static LogFile all, first, second;
static char said[1 << 14]; // what merge_files wrote

static void set_up(void) {
    all = file_make();
    first = file_make();
    second = file_make();
}

static void tear_down(void) {
    file_remove(&all);
    file_remove(&first);
    file_remove(&second);
}

static Status merge_into(const LogFile *target, const LogFile *const *from, size_t count,
                         Error *error) {
    const char *in[3];
    for (size_t i = 0; i < count; i++) {
        in[i] = from[i]->path;
    }
    memset(said, 0, sizeof(said));
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    ck_assert_ptr_nonnull(out);
    *error = (Error){0};
    Status status = merge_files(target->path, in, count, out, error);
    fclose(out);
    return status;
}

static void merge_both(Status wanted) {
    Error error;
    const LogFile *const both[] = {&first, &second};
    ck_assert_msg(merge_into(&all, both, 2, &error) == wanted, "%s\n%s", error.message, said);
}

static void merge_one(const LogFile *from, Status wanted) {
    Error error;
    ck_assert_msg(merge_into(&all, &from, 1, &error) == wanted, "%s\n%s", error.message, said);
}

static void expect_said(const char *words) {
    ck_assert_msg(strstr(said, words) != NULL, "%s", said);
}

// Recordings with these numbers, of so many chunks each.
static void make(LogFile *file, uint64_t from, uint64_t to, uint64_t chunks) {
    Log *log = file_open(file);
    for (uint64_t i = from; i <= to; i++) {
        record(log, i, chunks, 3000);
    }
    log_close(log);
}

static void copy_file(const LogFile *from, const LogFile *to) {
    char text[1200];
    snprintf(text, sizeof(text), "VACUUM INTO '%s'", to->path);
    sql(from, text);
}

START_TEST(what_each_has_of_its_own_is_in_one_file) {
    make(&first, 1, 3, 5);
    make(&second, 4, 5, 7);
    sql(&first, "UPDATE episode SET pinned = 1 WHERE recording = 2");
    sql(&first, "UPDATE recording SET namespace = 'lab' WHERE id = 2"); // it stays whose it was
    merge_both(STATUS_OK);
    ck_assert_str_eq(sql(&all, "SELECT id, namespace FROM recording WHERE namespace IS NOT NULL"),
                     "2|lab\n");
    expect_said("3 new recordings, 24 new chunks, 0 recordings refused");
    ck_assert_int_eq(file_count(&all, false), 1); // one file, no log beside it
    ck_assert_str_eq(sql(&all, "SELECT count(*), sum(state = 1), sum(pinned) FROM episode"),
                     "5|5|1\n");
    // byte for byte, and each row by its recording
    char *before = strdup(sql(&second, "SELECT hex(uid), max(last_step), count(*) FROM recording r "
                                       "JOIN chunk c ON c.recording = r.id GROUP BY r.id"));
    ck_assert_str_eq(sql(&all, "SELECT hex(uid), max(last_step), count(*) FROM recording r JOIN "
                               "chunk c ON c.recording = r.id WHERE r.id > 3 GROUP BY r.id"),
                     before);
    free(before);
    // once more: nothing is new; pins of either stay
    sql(&first, "UPDATE episode SET pinned = recording = 3");
    merge_both(STATUS_OK);
    expect_said("0 new recordings, 0 new chunks, 0 recordings refused");
    ck_assert_str_eq(sql(&all, "SELECT recording FROM episode WHERE pinned ORDER BY 1"), "2\n3\n");
}
END_TEST

// A recording of which one file has the beginning, as of a copy of a server that runs.
static void make_halves(void) {
    Log *log = file_open(&first);
    RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
    for (uint64_t i = 0; i < 20; i++) {
        put(log, recording, CHUNK_INPUTS, 10 * i, 10 * i + 10, 3000);
        while (i == 9 && strcmp(sql(&first, "SELECT count(*) FROM chunk"), "12\n") != 0) {
            usleep(1000); // a thread of its own writes
        }
        if (i == 9) {
            copy_file(&first, &second);
        }
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 200, NULL), STATUS_OK);
    log_close(log);
}

START_TEST(a_longer_chain_extends_and_nothing_is_sealed_before) {
    make_halves();
    merge_one(&second, STATUS_OK);
    ck_assert_str_eq(sql(&all, "SELECT state, max(c.last_step) FROM recording r JOIN chunk c ON "
                               "c.recording = r.id"),
                     "0|100\n");
    merge_one(&first, STATUS_OK);
    expect_said("0 new recordings, 11 new chunks, 0 recordings refused"); // and the seal
    ck_assert_str_eq(sql(&all, "SELECT e.state, e.last_step, e.unconverged, e.contacts_max FROM "
                               "episode e"),
                     sql(&first, "SELECT e.state, e.last_step, e.unconverged, e.contacts_max FROM "
                                 "episode e"));
    // the beginning once more is nothing new
    merge_one(&second, STATUS_OK);
    expect_said("0 new recordings, 0 new chunks, 0 recordings refused");
}
END_TEST

// A server that is started with the beginning ends it there: from then on they are two histories.
START_TEST(ways_that_part_are_refused) {
    make_halves();
    log_close(file_open(&second));
    ck_assert_str_eq(sql(&second, "SELECT state FROM recording"), "3\n");
    merge_one(&second, STATUS_OK);
    merge_one(&first, STATUS_DATA_LOSS);
    expect_said("is not merged: another chunk stands in the same place");
    ck_assert_str_eq(sql(&all, "SELECT e.state, e.last_step FROM episode e"), "3|100\n");
    // the rest of that file comes all the same
    make(&first, 7, 7, 3);
    merge_one(&first, STATUS_DATA_LOSS);
    expect_said("1 new recordings, 6 new chunks, 1 recordings refused");
}
END_TEST

// An open copy that is longer than what is sealed.
START_TEST(what_is_sealed_does_not_go_on) {
    make_halves();
    copy_file(&second, &all);
    log_close(file_open(&all)); // seals at step 100
    sql(&first, "DELETE FROM chunk WHERE kind = 7");
    sql(&first, "DELETE FROM chunk WHERE sequence = 12");
    merge_one(&first, STATUS_DATA_LOSS);
    expect_said("the merged file has it sealed, and here it goes on");
    ck_assert_str_eq(sql(&all, "SELECT e.state, e.last_step FROM episode e"), "3|100\n");
}
END_TEST

START_TEST(damage_is_told_and_a_sound_chunk_takes_its_place) {
    make(&first, 1, 2, 5);
    copy_file(&first, &second);
    sql(&first, "UPDATE chunk SET bytes = substr(bytes, 1, 500) || x'00' || substr(bytes, 502) "
                "WHERE recording = 1 AND first_step = 20");
    merge_one(&first, STATUS_DATA_LOSS);
    expect_said("is damaged, and left out: its checksum is wrong");
    ck_assert_str_eq(sql(&all, "SELECT count(*) FROM chunk"), "15\n");
    merge_one(&second, STATUS_OK);
    expect_said("0 new recordings, 1 new chunks");
    // and in the merged file itself
    sql(&all, "UPDATE chunk SET bytes = substr(bytes, 1, 500) || x'00' || substr(bytes, 502) "
              "WHERE recording = 2 AND first_step = 30");
    merge_one(&second, STATUS_OK);
    expect_said("0 new recordings, 1 new chunks");
    ck_assert_str_eq(sql(&all, "SELECT count(*) FROM chunk"), "16\n");
}
END_TEST

START_TEST(what_is_being_deleted_is_left_out) {
    make(&first, 1, 2, 3);
    sql(&first, "INSERT INTO deletion SELECT id, uid, 1, 1 FROM recording WHERE id = 1");
    merge_one(&first, STATUS_OK);
    ck_assert_str_eq(sql(&all, "SELECT count(*) FROM recording"), "1\n");
    sql(&all, "INSERT INTO deletion SELECT id, uid, 1, 1 FROM recording");
    sql(&first, "DELETE FROM deletion");
    merge_one(&first, STATUS_OK);
    ck_assert_str_eq(sql(&all, "SELECT count(*) FROM recording"), "2\n"); // the other one came
}
END_TEST

START_TEST(whoever_has_a_file_open_is_told) {
    make(&first, 1, 1, 3);
    Log *log = file_open(&first);
    Error error;
    const LogFile *from = &first;
    ck_assert_int_eq(merge_into(&all, &from, 1, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_ptr_nonnull(strstr(error.message, first.path));
    ck_assert_ptr_nonnull(strstr(error.message, "moreau backup"));
    log_close(log);
    merge_one(&first, STATUS_OK);
    log = file_open(&all);
    ck_assert_int_eq(merge_into(&all, &from, 1, &error), STATUS_FAILED_PRECONDITION);
    log_close(log);
    // itself, and what is not there
    const LogFile *own = &all;
    ck_assert_int_eq(merge_into(&all, &own, 1, &error), STATUS_FAILED_PRECONDITION);
    const LogFile *none = &second;
    ck_assert_int_eq(merge_into(&all, &none, 1, &error), STATUS_NOT_FOUND);
    ck_assert_int_eq(file_count(&second, false), 0);
    // what is no log
    FILE *text = fopen(second.path, "w");
    fputs("no log of anything, but long enough for a header of one, which has a hundred bytes, or "
          "so it is said",
          text);
    fclose(text);
    ck_assert_int_eq(merge_into(&all, &none, 1, &error), STATUS_INVALID_ARGUMENT);
    ck_assert_str_eq(sql(&all, "SELECT count(*) FROM recording"), "1\n");
}
END_TEST

static TCase *case_merge(void) {
    TCase *tcase = tcase_create("merge");
    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, what_each_has_of_its_own_is_in_one_file);
    tcase_add_test(tcase, a_longer_chain_extends_and_nothing_is_sealed_before);
    tcase_add_test(tcase, ways_that_part_are_refused);
    tcase_add_test(tcase, what_is_sealed_does_not_go_on);
    tcase_add_test(tcase, damage_is_told_and_a_sound_chunk_takes_its_place);
    tcase_add_test(tcase, what_is_being_deleted_is_left_out);
    tcase_add_test(tcase, whoever_has_a_file_open_is_told);
    return tcase;
}

SUITE_MAIN("log/recovery/merge", case_merge)
