// SPDX-License-Identifier: MIT
// What a reader keeps of a recording's chunks is what is in the file: of a recording that grows, is
// pinned, loses chunks, goes and leaves its place to another, or is merged with a longer one, the
// same reader proves and tells each time what another one would that has just been opened.
#include "log/reader/proof.h"
#include "log/recovery/merge.h"

#include "log/log_file.h"
#include "support/suite.h"

static LogFile file, other;
static LogReader *reader; // one all the time
static Arena arena;
static int finds;

static void set_up(void) {
    file = file_make();
    other = file_make();
    arena_init(&arena, 1 << 24);
}

static void open_reader(void) {
    Error error = {0};
    ck_assert_msg(log_reader_open(file.path, &reader, &error) == STATUS_OK, "%s", error.message);
}

static void tear_down(void) {
    log_reader_close(reader);
    arena_deinit(&arena);
    file_remove(&file);
    file_remove(&other);
}

static void count_find(const ProofFind *find, void *context) {
    (void)find, (void)context;
    finds++;
}

static void name_of(uint64_t number, char text[UID_TEXT_BYTES]) {
    uint8_t uid[UID_BYTES];
    uid_of(number, 0xaa, uid);
    uid_text(uid, text);
}

// Finds an episode and proves it.
static EpisodeRow verify_by(LogReader *with, uint64_t number) {
    char text[UID_TEXT_BYTES];
    EpisodeRow row;
    Proof proof;
    Error error = {0};
    name_of(number, text);
    ck_assert_msg(log_reader_find(with, text, &arena, &row, &error) == STATUS_OK, "%s",
                  error.message);
    finds = 0;
    ck_assert_msg(proof_make(with, &row, &arena, count_find, NULL, &proof, &error) == STATUS_OK,
                  "%s", error.message);
    return row;
}

static void expect_same(const EpisodeRow *row, const EpisodeRow *wanted) {
    ck_assert_int_eq(row->episode, wanted->episode);
    ck_assert_int_eq(row->state, wanted->state);
    ck_assert_int_eq(row->is_pinned, wanted->is_pinned);
    ck_assert_uint_eq(row->last_step, wanted->last_step);
    ck_assert_double_eq(row->time, wanted->time);
    ck_assert_uint_eq(row->bytes, wanted->bytes);
    ck_assert_uint_eq(row->chunk_count, wanted->chunk_count);
    ck_assert_uint_eq(row->keyframe_count, wanted->keyframe_count);
    ck_assert_uint_eq(row->frame_chunk_count, wanted->frame_chunk_count);
    ck_assert_uint_eq(row->figures.unconverged_steps, wanted->figures.unconverged_steps);
    ck_assert_double_eq(row->figures.worst_own, wanted->figures.worst_own);
}

// By the reader that is kept, alone and in a list, and by a new one.
static EpisodeRow verify(uint64_t number) {
    LogReader *fresh;
    EpisodeRows rows;
    Error error = {0};
    const EpisodeRow row = verify_by(reader, number);
    const int found = finds;
    ck_assert_int_eq(log_reader_open(file.path, &fresh, &error), STATUS_OK);
    const EpisodeRow wanted = verify_by(fresh, number);
    log_reader_close(fresh);
    expect_same(&row, &wanted);
    ck_assert_int_eq(found, finds);
    const EpisodeFilter everything = {.state = -1, .count = 10};
    ck_assert_int_eq(log_reader_list(reader, &everything, &arena, &rows, &error), STATUS_OK);
    for (size_t i = 0; i < rows.count; i++) {
        if (rows.row[i].episode == row.episode) {
            expect_same(&rows.row[i], &wanted);
        }
    }
    return row;
}

// A thread of its own writes.
static void await_chunks(int count) {
    for (int i = 0; i < 30000; i++) {
        if (atoi(sql(&file, "SELECT count(*) FROM chunk")) == count) {
            return;
        }
        usleep(1000);
    }
    ck_abort_msg("the chunks are not written");
}

START_TEST(a_recording_grows_between_two_questions) {
    Log *log = file_open(&file);
    const RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    open_reader();
    for (uint64_t i = 0; i < 3; i++) { // its definition is a chunk, too
        await_chunks(1 + (int)(2 * i));
        const EpisodeRow row = verify(1);
        ck_assert_uint_eq(row.chunk_count, 1 + 2 * i);
        ck_assert_uint_eq(row.keyframe_count, i);
        ck_assert_uint_eq(row.last_step, 10 * i);
        put(log, recording, CHUNK_KEYFRAME, 10 * i, 10 * i, 100);
        put(log, recording, CHUNK_INPUTS, 10 * i, 10 * i + 10, 50);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 30, NULL), STATUS_OK);
    const EpisodeRow row = verify(1);
    ck_assert_int_eq(row.state, RECORDING_COMPLETE);
    ck_assert_uint_eq(row.chunk_count, 1 + 6 + 1); // and a seal
    ck_assert_int_eq(finds, 0);
    log_close(log);
}
END_TEST

START_TEST(a_recording_is_pinned_between_two_questions) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    open_reader();
    ck_assert(!verify(1).is_pinned);
    const RecordingDef def = def_of(1);
    for (int i = 0; i < 2; i++) {
        Waiter waiter;
        log_pin(log, def.uid, i == 0, waiter_init(&waiter));
        ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
        ck_assert(verify(1).is_pinned == (i == 0));
    }
    log_close(log);
}
END_TEST

// What comes next may get the number of what was the last in its table.
START_TEST(a_recording_goes_and_another_has_its_place) {
    Log *log = file_open(&file);
    EpisodeRow row;
    char text[UID_TEXT_BYTES];
    record(log, 1, 5, 100);
    open_reader();
    const EpisodeRow first = verify(1);
    Waiter waiter;
    log_delete(log, first.uid, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    name_of(1, text);
    ck_assert_int_eq(log_reader_find(reader, text, &arena, &row, NULL), STATUS_NOT_FOUND);
    record(log, 2, 3, 100);
    row = verify(2);
    ck_assert_int_eq(row.recording, first.recording);
    ck_assert_uint_eq(row.chunk_count + 2, first.chunk_count);
    log_close(log);
}
END_TEST

START_TEST(a_recording_is_damaged_between_two_questions) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    open_reader();
    const EpisodeRow whole = verify(1);
    ck_assert_int_eq(finds, 0);
    sql(&file, "UPDATE chunk SET bytes = substr(bytes, 1, 60) WHERE first_step = 20");
    const EpisodeRow cut = verify(1);
    ck_assert_uint_lt(cut.bytes, whole.bytes);
    ck_assert_int_gt(finds, 0);
    sql(&file, "DELETE FROM chunk WHERE first_step = 20");
    const EpisodeRow lost = verify(1);
    ck_assert_uint_eq(lost.chunk_count + 1, whole.chunk_count);
    ck_assert_int_gt(finds, 0);
    log_close(log);
}
END_TEST

// The beginning of a recording, as a copy of a server that runs has it, and the whole.
START_TEST(a_recording_is_merged_with_a_longer_one) {
    char text[1200];
    Log *log = file_open(&other);
    const RecordingDef def = def_of(1);
    LogRecording *recording = begin(log, &def);
    snprintf(text, sizeof(text), "VACUUM INTO '%s'", file.path);
    sql(&other, text);
    put(log, recording, CHUNK_INPUTS, 0, 10, 50);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 10, NULL), STATUS_OK);
    log_close(log);
    open_reader();
    const EpisodeRow part = verify(1);
    const char *const in[] = {other.path};
    Error error = {0};
    FILE *out = tmpfile();
    ck_assert_ptr_nonnull(out);
    ck_assert_msg(merge_files(file.path, in, 1, out, &error) == STATUS_OK, "%s", error.message);
    fclose(out);
    const EpisodeRow all = verify(1);
    ck_assert_uint_eq(all.last_step, 10);
    ck_assert_uint_gt(all.chunk_count, part.chunk_count);
    ck_assert_int_eq(finds, 0);
}
END_TEST

// ---- which lists were compared

static ListMark mark_of_range(uint64_t first_world) {
    ListMark mark = {.recording = {1},
                     .first_world = first_world,
                     .list_end = 7,
                     .calls_end = 8,
                     .list_count = 2,
                     .calls_count = 3};
    return mark;
}

// A group of 4,096 worlds, whose 64 ranges are asked for by turns.
START_TEST(each_range_of_a_group_is_known_until_many_others_are) {
    log_close(file_open(&file));
    open_reader();
    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < 64; i++) {
            const ListMark mark = mark_of_range(64 * i);
            ck_assert(log_reader_knows(reader, &mark) == (round > 0));
            log_reader_note(reader, &mark);
        }
    }
    const ListMark more = mark_of_range(64 * 64), oldest = mark_of_range(0),
                   next = mark_of_range(64);
    log_reader_note(reader, &more);
    ck_assert(log_reader_knows(reader, &more));
    ck_assert(log_reader_knows(reader, &next));
    ck_assert(!log_reader_knows(reader, &oldest));
}
END_TEST

START_TEST(a_list_that_ends_otherwise_is_another) {
    log_close(file_open(&file));
    open_reader();
    const ListMark mark = mark_of_range(0);
    log_reader_note(reader, &mark);
    ListMark other_marks[6];
    for (int i = 0; i < 6; i++) {
        other_marks[i] = mark;
    }
    other_marks[0].recording[UID_BYTES - 1] = 1;
    other_marks[1].first_world = 1;
    other_marks[2].list_end = 8;
    other_marks[3].calls_end = 7;
    other_marks[4].list_count = 3;
    other_marks[5].calls_count = 2;
    for (int i = 0; i < 6; i++) {
        ck_assert(!log_reader_knows(reader, &other_marks[i]));
    }
    ck_assert(log_reader_knows(reader, &mark));
}
END_TEST

// A recording that goes on has no seal, and its list as few ends before it grows as behind that.
START_TEST(a_list_that_goes_on_is_never_known) {
    log_close(file_open(&file));
    open_reader();
    const ListMark open = {.recording = {1}};
    log_reader_note(reader, &open);
    ck_assert(!log_reader_knows(reader, &open));
}
END_TEST

static TCase *case_sums(void) {
    TCase *tcase = tcase_create("sums");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, a_recording_grows_between_two_questions);
    tcase_add_test(tcase, a_recording_is_pinned_between_two_questions);
    tcase_add_test(tcase, a_recording_goes_and_another_has_its_place);
    tcase_add_test(tcase, a_recording_is_damaged_between_two_questions);
    tcase_add_test(tcase, a_recording_is_merged_with_a_longer_one);
    tcase_add_test(tcase, each_range_of_a_group_is_known_until_many_others_are);
    tcase_add_test(tcase, a_list_that_ends_otherwise_is_another);
    tcase_add_test(tcase, a_list_that_goes_on_is_never_known);
    return tcase;
}

SUITE_MAIN("log/reader/sums", case_sums)
