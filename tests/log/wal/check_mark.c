// SPDX-License-Identifier: MIT
// What a power cut leaves of the write-ahead log, which may be anything behind what was synced: the
// next start goes on from what is in front of it. What is damaged in front of the mark is refused.
#include "log/wal/mark.h"

#include "log/killed_log.h"
#include "log/recovery/recover.h"
#include "log/wal/wal.h"

enum { SECTOR_BYTES = 512, CHUNKS = 4, OPEN_RECORDINGS = 10 };

static uint64_t dice;

static uint64_t roll(void) { // xorshift64
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice >> 8;
}

static uint64_t synced_frames(void) {
    WalPlace place;
    ck_assert(wal_mark_read(file.path, &place));
    return place.frames;
}

static void do_nothing(Log *log) {
    (void)log;
}

// Each beginning is a transaction, as are the chunks in front of it; none is synced.
static void go_on(Log *log) {
    RecordingDef def = def_of(100);
    LogRecording *recording = begin(log, &def);
    for (uint64_t i = 1; i <= OPEN_RECORDINGS; i++) {
        put(log, recording, CHUNK_INPUTS, 10 * i, 10 * i + 10, 20000);
        RecordingDef other = def_of(100 + i);
        begin(log, &other);
    }
}

static void stop_one(Log *log) {
    record(log, 1, CHUNKS, 9000);
}

// An episode that is complete, which is synced, and many transactions that are not.
static void stop_one_and_go_on(Log *log) {
    stop_one(log);
    go_on(log);
}

static void record_and_settle(Log *log) {
    stop_one(log);
    take_all_in();
}

// Sectors behind the first `frames` that never came to the disk are what they were: nothing.
static void tear(uint64_t frames, uint64_t survive_percent) {
    Bytes bytes = read_file(wal);
    const size_t from = HEADER_BYTES + (size_t)frames * FRAME_BYTES;
    for (size_t at = from; at < bytes.count;) {
        size_t part = SECTOR_BYTES - at % SECTOR_BYTES;
        part = part < bytes.count - at ? part : bytes.count - at;
        if (roll() % 100 >= survive_percent) {
            memset(bytes.at + at, 0, part);
        }
        at += part;
    }
    write_file(wal, bytes.at, bytes.count);
    free(bytes.at);
}

static void expect_start(int episodes) {
    log_close(file_open(&file));
    ck_assert_int_eq(complete_episodes(), episodes);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    ck_assert_int_ne(access(wal_mark, F_OK), 0);
}

// ---- the mark

START_TEST(it_says_how_far_the_log_is_synced) {
    static void (*const acts[])(Log *) = {do_nothing, stop_one, stop_one_and_go_on};
    uint64_t frames[3], synced[3];
    for (int i = 0; i < 3; i++) {
        file_count(&file, true);
        kill_after(acts[i]);
        frames[i] = frame_count();
        synced[i] = synced_frames();
        free_bytes();
    }
    ck_assert_uint_eq(synced[0], 0);
    ck_assert_uint_eq(synced[1], frames[1]);
    ck_assert_uint_gt(synced[2], frames[0]);
    ck_assert_uint_gt(frames[2], synced[2] + OPEN_RECORDINGS);
}
END_TEST

// Whoever starts from a killed server's log has synced all of it.
START_TEST(a_start_makes_it_anew_and_a_stop_removes_it) {
    kill_after(stop_one_and_go_on);
    put_back(log_bytes.count);
    ck_assert_uint_lt(synced_frames(), frame_count());
    WalPlace synced, place;
    Error error = {0};
    ck_assert_int_eq(wal_care_for_start(file.path, &file.report, &synced, &error), STATUS_OK);
    ck_assert_uint_eq(synced.frames, frame_count());
    Log *log = file_open(&file);
    ck_assert(wal_mark_read(file.path, &place));
    ck_assert_uint_ge(place.frames, frame_count());
    ck_assert_mem_eq(place.salt, log_bytes.at + 16, WAL_SALT_BYTES);
    log_close(log);
    ck_assert_int_eq(file_count(&file, false), 1);
    free_bytes();
}
END_TEST

START_TEST(a_damaged_one_says_nothing) {
    kill_after(stop_one_and_go_on);
    put_back(log_bytes.count);
    for (size_t i = 0; i < mark_bytes.count; i++) {
        WalPlace place;
        mark_bytes.at[i] ^= 0x10;
        write_file(wal_mark, mark_bytes.at, mark_bytes.count);
        ck_assert(!wal_mark_read(file.path, &place));
        mark_bytes.at[i] ^= 0x10;
    }
    free_bytes();
}
END_TEST

// ---- power cuts

START_TEST(a_torn_end_costs_what_was_not_synced_at_most) {
    kill_after(stop_one_and_go_on);
    int cuts = 0;
    for (uint64_t i = 0; i < 20; i++) {
        dice = 88172645463325252u + 1000 * i;
        put_back(log_bytes.count);
        tear(synced_frames(), 80 + i);
        WalJudged judged;
        Error error = {0};
        ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
        cuts += judged.lost_count > 0;
        expect_start(1);
        ck_assert_int_eq(file_count(&file, false), judged.lost_count > 0 ? 2 : 1); // the copy
    }
    ck_assert_int_gt(cuts, 5);
    ck_assert_ptr_nonnull(strstr(reported(), "wal_cut"));
    free_bytes();
}
END_TEST

// The tables themselves are not synced then.
START_TEST(a_first_start_that_is_cut_off_is_made_again) {
    kill_after(do_nothing);
    int cuts = 0;
    for (uint64_t i = 0; i < 12; i++) {
        dice = 88172645463325252u + 1000 * i;
        put_back(log_bytes.count);
        tear(0, 88 + i);
        WalJudged judged;
        Error error = {0};
        ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
        cuts += judged.lost_count > 0;
        expect_start(0);
    }
    ck_assert_int_gt(cuts, 1);
    free_bytes();
}
END_TEST

// What was cut off is not found once more by the start after the next.
START_TEST(what_is_cut_off_is_gone) {
    kill_after(stop_one_and_go_on);
    put_back(log_bytes.count);
    scribble(HEADER_BYTES + (size_t)(synced_frames() + 3) * FRAME_BYTES + 5000, 20000, 0xa5);
    Error error;
    ck_assert_int_eq(care(&error), STATUS_OK);
    ck_assert_ptr_nonnull(strstr(reported(), "wal_cut"));
    WalJudged judged;
    ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
    ck_assert_uint_eq(judged.sound_count, judged.frame_count);
    ck_assert_uint_ge(judged.sound_count, synced_frames());
    ck_assert_uint_eq(judged.lost_count, 0);
    expect_start(1);
    free_bytes();
}
END_TEST

START_TEST(no_room_for_a_copy_stops_no_start) {
    kill_after(stop_one_and_go_on);
    put_back(log_bytes.count);
    for (int i = 1; i <= 4; i++) {
        char copy[700];
        snprintf(copy, sizeof(copy), "%s-damaged-%d", wal, i);
        write_file(copy, mark_bytes.at, 1);
    }
    scribble(HEADER_BYTES + (size_t)(synced_frames() + 3) * FRAME_BYTES + 5000, 20000, 0xa5);
    expect_start(1);
    ck_assert_ptr_nonnull(strstr(reported(), "copy=\"\""));
    free_bytes();
}
END_TEST

// The first frame behind the mark is the first that may be torn.
START_TEST(what_was_synced_is_not_given_up) {
    kill_after(stop_one_and_go_on);
    const size_t at = HEADER_BYTES + ((size_t)synced_frames() - 1) * FRAME_BYTES;
    for (int i = 0; i < 4; i++) {
        put_back(log_bytes.count);
        tear(synced_frames(), 90);
        scribble(at + (i < 2 ? 0 : FRAME_HEADER_BYTES), i < 2 ? FRAME_BYTES : 600,
                 i % 2 == 0 ? 0 : 0xa5);
        scribble(log_bytes.count - 3 * FRAME_BYTES, 3 * FRAME_BYTES, 0);
        Bytes bytes = read_file(wal); // of which the last transactions are as they were
        memcpy(bytes.at + log_bytes.count - 3 * FRAME_BYTES,
               log_bytes.at + log_bytes.count - 3 * FRAME_BYTES, 3 * FRAME_BYTES);
        write_file(wal, bytes.at, bytes.count);
        free(bytes.at);
        Error error;
        ck_assert_int_eq(care(&error), STATUS_DATA_LOSS);
        ck_assert_int_eq(file_count(&file, false), 3);
        put_back(log_bytes.count);
        scribble(at + FRAME_BYTES + (i < 2 ? 0 : FRAME_HEADER_BYTES), i < 2 ? FRAME_BYTES : 600,
                 i % 2 == 0 ? 0 : 0xa5);
        ck_assert_int_eq(care(&error), STATUS_OK);
    }
    free_bytes();
}
END_TEST

// No power cut turns one bit: where nothing says which of some it was, it is damage anywhere.
START_TEST(a_flipped_bit_is_not_a_power_cut) {
    kill_after(stop_one_and_go_on);
    int refused = 0;
    for (uint64_t i = 0; i < frame_count(); i++) {
        put_back(log_bytes.count);
        const size_t at = HEADER_BYTES + (size_t)i * FRAME_BYTES + FRAME_HEADER_BYTES + 8003;
        write_byte(at, log_bytes.at[at] ^ 0x80);
        Error error;
        refused += care(&error) == STATUS_DATA_LOSS && i >= synced_frames();
    }
    ck_assert_int_gt(refused, 0);
    ck_assert_ptr_null(strstr(reported(), "wal_cut"));
    free_bytes();
}
END_TEST

static const char *const empties_a_table = "DELETE FROM deletion";

// Behind what is synced a table is filled, and emptied again together with another change.
static void fill_and_empty(Log *log) {
    stop_one(log);
    sqlite3 *db = sql_open(file.path);
    sql_on(db, "INSERT INTO deletion VALUES (1, x'00', 0, 0)");
    sql_on(db, "BEGIN");
    sql_on(db, "UPDATE recording SET name = 'other'");
    sql_on(db, empties_a_table);
    sql_on(db, "COMMIT");
}

static void fill_and_empty_and_take_in(Log *log) {
    fill_and_empty(log);
    take_all_in();
}

// The page of a table that is empty again is in the database, as it was before the log began.
START_TEST(a_page_that_is_what_it_was_is_not_taken_in) {
    log_close(file_open(&file));
    sql(&file, "INSERT INTO deletion VALUES (1, x'00', 0, 0)");
    sql(&file, empties_a_table);
    const Bytes begun = read_file(file.path);
    for (int i = 0; i < 2; i++) {
        file_count(&file, true);
        write_file(file.path, begun.at, begun.count);
        kill_after(i == 0 ? fill_and_empty : fill_and_empty_and_take_in);
        put_back(log_bytes.count);
        scribble(HEADER_BYTES + (size_t)synced_frames() * FRAME_BYTES + 5000, 20000, 0xa5);
        WalJudged judged;
        Error error = {0};
        ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
        ck_assert_uint_eq(judged.lost_count, 1);
        ck_assert_int_eq(judged.is_taken_in, i == 1);
        ck_assert_int_eq(care(&error), i == 0 ? STATUS_OK : STATUS_DATA_LOSS);
        free_bytes();
    }
    free(begun.at);
}
END_TEST

// ---- the header

// A disk that fails while the log begins from the front again: all of it is in the file.
START_TEST(a_header_in_front_of_what_was_taken_in_is_no_loss) {
    kill_after(record_and_settle);
    put_back(log_bytes.count);
    scribble(16, 10, 0x77);
    expect_start(1);
    ck_assert_ptr_null(strstr(reported(), " wal_"));
    free_bytes();
}
END_TEST

// The mark knows the salts that neither the header nor the first frame does any more.
START_TEST(a_lost_beginning_is_refused_and_recovered) {
    kill_after(stop_one_and_go_on);
    put_back(log_bytes.count);
    scribble(0, HEADER_BYTES + FRAME_HEADER_BYTES, 0xa5);
    Error error;
    ck_assert_int_eq(care(&error), STATUS_DATA_LOSS);
    unlink(wal_mark);
    ck_assert_int_eq(care(&error), STATUS_OK); // nobody knows that there was anything
    free_bytes();
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    return tcase;
}

static TCase *case_mark(void) {
    TCase *tcase = make_case("mark");
    tcase_add_test(tcase, it_says_how_far_the_log_is_synced);
    tcase_add_test(tcase, a_start_makes_it_anew_and_a_stop_removes_it);
    tcase_add_test(tcase, a_damaged_one_says_nothing);
    return tcase;
}

static TCase *case_power(void) {
    TCase *tcase = make_case("power");
    tcase_add_test(tcase, a_torn_end_costs_what_was_not_synced_at_most);
    tcase_add_test(tcase, a_first_start_that_is_cut_off_is_made_again);
    tcase_add_test(tcase, what_is_cut_off_is_gone);
    tcase_add_test(tcase, no_room_for_a_copy_stops_no_start);
    tcase_add_test(tcase, what_was_synced_is_not_given_up);
    tcase_add_test(tcase, a_flipped_bit_is_not_a_power_cut);
    tcase_add_test(tcase, a_page_that_is_what_it_was_is_not_taken_in);
    return tcase;
}

static TCase *case_header(void) {
    TCase *tcase = make_case("header");
    tcase_add_test(tcase, a_header_in_front_of_what_was_taken_in_is_no_loss);
    tcase_add_test(tcase, a_lost_beginning_is_refused_and_recovered);
    return tcase;
}

SUITE_MAIN("log/wal_mark", case_mark, case_power, case_header)
