// SPDX-License-Identifier: MIT
// The write-ahead log of a killed server: cut anywhere it starts as SQLite alone would; with a
// flipped bit anywhere it is byte for byte what it was; what cannot be told is refused, and
// recovered.
#include "log/wal/wal.h"

#include "log/killed_log.h"
#include "log/recovery/recover.h"

enum { EPISODES = 6, CHUNKS = 4 };

static char other[512];

static void begin_test(void) {
    set_up();
    snprintf(other, sizeof(other), "%.400s/other.db", file.folder);
}

static void record_all(Log *log) {
    for (uint64_t i = 1; i <= EPISODES; i++) {
        record(log, i, CHUNKS, 9000);
    }
}

static void record_all_and_settle(Log *log) {
    record_all(log);
    take_all_in();
}

// A server that is killed behind the last of six episodes. `settles`: the frames up to there are in
// the database, and nothing has come since.
static void kill_one(bool settles) {
    kill_after(settles ? record_all_and_settle : record_all);
    ck_assert_uint_gt(log_bytes.count, 30 * FRAME_BYTES);
}

static void expect_all(void) {
    ck_assert_int_eq(complete_episodes(), EPISODES);
    ck_assert_int_eq(count_sound_chunks(&file), EPISODES * (CHUNKS + 1));
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
}

// ---- as ever

// Around the ends of frames, and within them.
START_TEST(a_cut_starts_as_sqlite_does) {
    kill_one(false);
    static const long off[] = {-20, -1, 0, 1, 24, 9000};
    for (uint64_t i = 0; i <= frame_count(); i += 1 + i / 8) {
        for (size_t k = 0; k < sizeof(off) / sizeof(off[0]); k++) {
            const long cut = HEADER_BYTES + (long)i * FRAME_BYTES + off[k];
            if (cut < 0 || (size_t)cut > log_bytes.count) {
                continue;
            }
            put_back((size_t)cut);
            Error error;
            ck_assert_msg(care(&error) == STATUS_OK, "cut at %ld: %s", cut, error.message);
            ck_assert_int_eq(file_count(&file, false), 3);
            ck_assert(is_file(file.path, database));
            ck_assert(is_file(wal, (Bytes){.at = log_bytes.at, .count = (size_t)cut}));
        }
    }
    put_back(log_bytes.count - 5000);
    log_close(file_open(&file));
    ck_assert_int_ge(complete_episodes(), EPISODES - 1);
    ck_assert_ptr_null(strstr(reported(), " wal_"));
    free_bytes();
}
END_TEST

// A reused log has frames of its last round behind its end, whole and with other salts.
START_TEST(frames_of_an_earlier_round_are_no_loss) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        Log *log = file_open(&file);
        record(log, 1, 40, 20000);
        take_all_in();
        record(log, 2, 2, 1000);
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    WalJudged judged;
    Error error;
    ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
    ck_assert_uint_lt(judged.sound_count, judged.frame_count); // it was reused
    ck_assert_uint_eq(judged.lost_count, 0);
    ck_assert_uint_eq(judged.flip_count, 0);
    log_close(file_open(&file));
    ck_assert_int_eq(complete_episodes(), 2);
    ck_assert_ptr_null(strstr(reported(), " wal_"));
}
END_TEST

// What was not committed when the server was killed may lie there in many whole frames.
START_TEST(an_open_transaction_is_no_loss) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        log_close(file_open(&file));
        sqlite3 *db = sql_open(file.path);
        sql_on(db, "PRAGMA journal_mode = WAL; PRAGMA cache_size = 4; CREATE TABLE pad(x); "
                   "INSERT INTO pad VALUES(randomblob(400000)); BEGIN; "
                   "INSERT INTO pad VALUES(randomblob(900000)); "
                   "UPDATE pad SET x = randomblob(900000); UPDATE pad SET x = randomblob(900000)");
        _exit(0);
    }
    int result;
    ck_assert_int_eq(waitpid(child, &result, 0), child);
    WalJudged judged;
    Error error;
    ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
    ck_assert_uint_lt(judged.sound_count, judged.frame_count);
    ck_assert_uint_eq(judged.lost_count, 0);
    ck_assert_int_eq(care(&error), STATUS_OK);
    ck_assert_int_eq(atoi(sql(&file, "SELECT sum(length(x)) FROM pad")), 400000);
    ck_assert_ptr_null(strstr(reported(), " wal_"));
}
END_TEST

// ---- one bit

static uint32_t page_of(const uint8_t *wal_bytes, uint64_t index) {
    const uint8_t *at = wal_bytes + HEADER_BYTES + index * FRAME_BYTES;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

// What SQLite takes of the two is the same: of each page the last frame, and where it ends.
static bool is_same_to_sqlite(const uint8_t *a, const uint8_t *b) {
    const uint64_t count = frame_count();
    for (uint64_t i = 0; i < count; i++) {
        const size_t at = HEADER_BYTES + i * FRAME_BYTES;
        bool is_last = true;
        for (uint64_t k = i + 1; k < count && is_last; k++) {
            is_last = page_of(a, k) != page_of(a, i);
        }
        if (memcmp(a + at, b + at, FRAME_HEADER_BYTES) != 0 ||
            (is_last && memcmp(a + at, b + at, FRAME_BYTES) != 0)) {
            return false;
        }
    }
    return memcmp(a, b, HEADER_BYTES) == 0;
}

// Made right, or told: never a wrong bit turned that matters, never a loss that is not said.
static bool is_made_right(size_t at, uint8_t mask) {
    const uint8_t was = log_bytes.at[at];
    write_byte(at, was ^ mask);
    WalJudged judged;
    Error error = {0};
    ck_assert_int_eq(wal_judge(file.path, &judged, &error), STATUS_OK);
    ck_assert_msg(judged.flip_count + judged.lost_count > 0, "byte %zu bit %x", at, mask);
    if (judged.lost_count > 0) {
        ck_assert_uint_ge(judged.lost_end, judged.bad_frame);
        write_byte(at, was);
        return false;
    }
    ck_assert_uint_eq(judged.flip_count, 1);
    ck_assert_uint_eq(judged.sound_count, frame_count());
    ck_assert_int_eq(wal_mend(file.path, &judged, &error), STATUS_OK);
    if (judged.flip[0].at != at || judged.flip[0].mask != mask) {
        Bytes mended = read_file(wal);
        ck_assert_msg(is_same_to_sqlite(mended.at, log_bytes.at), "byte %zu bit %x", at, mask);
        free(mended.at);
        write_byte(at, was);
        write_byte(judged.flip[0].at, log_bytes.at[judged.flip[0].at]);
    }
    return true;
}

// All bits of the header; each byte of frames' headers; bits of pages, which are as many of each
// place in their word.
START_TEST(a_flipped_bit_is_made_right_or_told) {
    kill_one(false);
    put_back(log_bytes.count);
    for (size_t at = 0; at < HEADER_BYTES; at++) {
        for (int bit = 0; bit < 8; bit++) {
            ck_assert(is_made_right(at, (uint8_t)(1u << bit)));
        }
    }
    uint64_t random = 88172645463325252u;
    const uint64_t count = frame_count();
    int right = 0, all = 0;
    for (uint64_t i = 0; i < count; i += i + 3 >= count || i < 3 ? 1 : 7) {
        const size_t frame = HEADER_BYTES + i * FRAME_BYTES;
        for (size_t k = 0; k < FRAME_HEADER_BYTES; k++) {
            right += is_made_right(frame + k, (uint8_t)(1u << (i + k) % 8));
        }
        for (unsigned k = 0; k < 8; k++) { // xorshift64
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            const size_t at = FRAME_HEADER_BYTES + (random >> 8) % 8192 * 4 + k / 2;
            right += is_made_right(frame + at, (uint8_t)(1u << random % 8));
        }
        all += FRAME_HEADER_BYTES + 8;
    }
    ck_assert(is_file(wal, log_bytes));
    ck_assert_msg(right > all * 4 / 5, "%d of %d", right, all);
    free_bytes();
}
END_TEST

// The header, and of a frame its page number, its mark, a salt, a sum, its page; of the first, of
// one in the middle and of the last.
static const size_t flips[] = {3, 17, 26, 32 + 3, 32 + 7, 32 + 9, 32 + 20, 32 + 30, 32 + 24 + 9000};

// A bit that cannot be told: nothing is changed, and recovery takes the frame as it stands. Where
// the bit is of its page's number, two pages are others than they were: then there is
// a new file, without what was on them; or one, where the number leads behind the file's end.
static void expect_recovery(Bytes flipped) {
    ck_assert(is_file(wal, flipped));
    ck_assert(is_file(file.path, database));
    Error error;
    FILE *out = fopen("/dev/null", "w");
    const Status status = recover_file(file.path, out, &error);
    fclose(out);
    if (status == STATUS_OK) {
        ck_assert_int_eq(file_count(&file, false), 2);
    } else {
        snprintf(file.path, sizeof(file.path), "%s/log.db.recovered", file.folder);
    }
    ck_assert_msg(status == STATUS_OK || status == STATUS_DATA_LOSS, "%s", error.message);
    // a page has at most four of the chunks
    ck_assert_int_ge(count_sound_chunks(&file), EPISODES * (CHUNKS + 1) - 8);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    ck_assert_int_ge(complete_episodes(), EPISODES - 2);
}

START_TEST(a_start_loses_nothing_to_a_flipped_bit) {
    kill_one(false);
    const size_t at = flips[_i % 9];
    const uint64_t frames[] = {0, frame_count() / 2, frame_count() - 1};
    const size_t place = at + (at < HEADER_BYTES ? 0 : (size_t)frames[_i / 9] * FRAME_BYTES);
    put_back(log_bytes.count);
    write_byte(place, log_bytes.at[place] ^ 4);
    Bytes flipped = read_file(wal);
    Error error;
    if (care(&error) == STATUS_OK) {
        log_close(file_open(&file));
        ck_assert_ptr_nonnull(strstr(reported(), "wal_mended"));
        expect_all();
        ck_assert_int_eq(file_count(&file, false), 2);
    } else {
        ck_assert_int_eq(error.status, STATUS_DATA_LOSS);
        expect_recovery(flipped);
    }
    char copy[700];
    snprintf(copy, sizeof(copy), "%s-damaged-1", wal);
    ck_assert(is_file(copy, flipped));
    free(flipped.at);
    free_bytes();
}
END_TEST

// Turned back as far as SQLite can see, and said; or refused, with nothing changed.
static void expect_nothing_dropped(const char *what) {
    Bytes flipped = read_file(wal);
    Error error;
    const Status status = care(&error);
    Bytes now = read_file(wal);
    ck_assert_msg(now.count == log_bytes.count, "%s", what);
    if (status == STATUS_OK) {
        char copy[700];
        snprintf(copy, sizeof(copy), "%s-damaged-1", wal);
        ck_assert_msg(is_same_to_sqlite(now.at, log_bytes.at), "%s", what);
        ck_assert_msg(strstr(reported(), "wal_mended") != NULL, "%s", what);
        ck_assert_msg(is_file(copy, flipped), "%s", what);
    } else {
        ck_assert_msg(status == STATUS_DATA_LOSS, "%s: %s", what, error.message);
        ck_assert_msg(is_file(wal, flipped) && is_file(file.path, database), "%s", what);
    }
    free(flipped.at);
    free(now.at);
}

// All bits of the two numbers in front of a frame, which SQLite's sums alone guard: of what page it
// is, and whether a transaction ends with it. With every other bit nobody knows how far the log was
// synced.
START_TEST(no_bit_of_a_frames_numbers_drops_what_was_synced) {
    enum { NUMBER_BITS = 64 };
    kill_one(false);
    const uint64_t count = frame_count(), frames[] = {0, 1, count / 2, count - 2, count - 1};
    const size_t frame = HEADER_BYTES + (size_t)frames[_i] * FRAME_BYTES;
    for (unsigned bit = 0; bit < NUMBER_BITS; bit++) {
        const size_t place = frame + bit / 8;
        char what[64];
        snprintf(what, sizeof(what), "frame %zu of %zu bit %u", (size_t)frames[_i], (size_t)count,
                 bit);
        put_back(log_bytes.count);
        ck_assert_int_eq(bit % 2 == 0 ? 0 : unlink(wal_mark), 0);
        write_byte(place, log_bytes.at[place] ^ (uint8_t)(1u << bit % 8));
        ck_assert_int_eq(ftruncate(file.report.fd, lseek(file.report.fd, 0, SEEK_SET)), 0);
        expect_nothing_dropped(what);
    }
    free_bytes();
}
END_TEST

START_TEST(recovery_loses_nothing_to_flipped_bits) {
    kill_one(false);
    put_back(log_bytes.count);
    for (size_t i = 0; i < 3; i++) { // in three frames
        const size_t place = HEADER_BYTES + (4 + 9 * i) * FRAME_BYTES + 1000 * i;
        write_byte(place, log_bytes.at[place] ^ 0x10);
    }
    static char said[1 << 14];
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    Error error = {0};
    ck_assert_msg(recover_file(file.path, out, &error) == STATUS_OK, "%s", error.message);
    fclose(out);
    ck_assert_msg(strstr(said, "-wal-damaged-1 is a copy") != NULL, "%s", said);
    expect_all();
    free_bytes();
}
END_TEST

// ---- more than one bit

// A start refuses and changes nothing; recovery loses what is on the page, at most, and keeps a
// copy.
START_TEST(what_cannot_be_told_is_refused_and_recovered) {
    kill_one(false);
    put_back(log_bytes.count);
    static const size_t places[] = {100, 16000, 24, 12, 0};
    const size_t frame = HEADER_BYTES + (12 + 5 * (size_t)_i) * FRAME_BYTES;
    scribble(_i == 4 ? 0 : frame + places[_i], _i == 4 ? 30 : 200, 0xa5);
    Bytes damaged = read_file(wal);
    Error error;
    ck_assert_int_eq(care(&error), STATUS_DATA_LOSS);
    ck_assert_msg(strstr(error.message, "--recover") != NULL, "%s", error.message);
    ck_assert(is_file(file.path, database));
    ck_assert(is_file(wal, damaged));
    ck_assert_int_eq(file_count(&file, false), 3);

    static char said[1 << 16];
    FILE *out = fmemopen(said, sizeof(said) - 1, "w");
    const Status status = recover_file(file.path, out, &error);
    fclose(out);
    ck_assert_msg(status == STATUS_OK || status == STATUS_DATA_LOSS, "%s %s", error.message, said);
    LogFile found = file;
    snprintf(found.path, sizeof(found.path), "%s/log.db.recovered", file.folder);
    if (access(found.path, F_OK) == 0) {
        file = found;
    }
    // a page has at most four of the chunks
    ck_assert_int_ge(count_sound_chunks(&file), EPISODES * (CHUNKS + 1) - 4);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    ck_assert_msg(complete_episodes() >= EPISODES - 1, "%d: %s", complete_episodes(), said);
    free(damaged.at);
    free_bytes();
}
END_TEST

// Frames that never came to the disk, as a power cut leaves them: the state in front of them is
// one that there was. Nothing says how far an older server's log was synced.
START_TEST(a_gap_of_a_power_cut_ends_the_log) {
    kill_one(false);
    put_back(log_bytes.count);
    unlink(wal_mark);
    scribble(HEADER_BYTES + (size_t)(frame_count() - 8) * FRAME_BYTES, FRAME_BYTES, 0);
    log_close(file_open(&file));
    ck_assert_int_lt(complete_episodes(), EPISODES);
    ck_assert_int_ge(complete_episodes(), EPISODES - 2);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
    ck_assert_ptr_nonnull(strstr(reported(), "wal_cut"));
    ck_assert_int_eq(file_count(&file, false), 2); // the copy
    free_bytes();
}
END_TEST

// The same where the frames are in the database already: their beginning with the database's pages
// is no state that there ever was.
START_TEST(a_gap_in_what_was_taken_in_is_no_power_cut) {
    kill_one(true);
    put_back(log_bytes.count);
    scribble(HEADER_BYTES + 9 * FRAME_BYTES, FRAME_BYTES, 0);
    Error error;
    ck_assert_int_eq(care(&error), STATUS_DATA_LOSS);
    FILE *out = fopen("/dev/null", "w");
    ck_assert_msg(recover_file(file.path, out, &error) == STATUS_OK, "%s", error.message);
    fclose(out);
    expect_all();
    free_bytes();
}
END_TEST

// Six episodes that are in the database, and one of them pinned and let go again, six times over.
static void pin_and_let_go(Log *log) {
    record_all(log);
    take_all_in();
    sqlite3 *reader = sql_open(file.path); // as long as it reads, nothing more is taken in
    sql_on(reader, "BEGIN");
    sql_on(reader, "SELECT count(*) FROM chunk");
    for (int i = 0; i < 12; i++) {
        uint8_t uid[UID_BYTES];
        Waiter waiter;
        uid_of(1, 0xaa, uid);
        log_pin(log, uid, i % 2 == 0, waiter_init(&waiter));
        ck_assert_msg(waiter_wait(&waiter) == STATUS_OK, "%s", waiter.wait.error.message);
    }
}

// A page that comes to the same again and again may have been so in front of the log: that a frame
// behind the gap is in the database tells of no checkpoint.
START_TEST(a_page_that_comes_and_goes_is_not_taken_in) {
    kill_after(pin_and_let_go);
    put_back(log_bytes.count);
    unlink(wal_mark);
    scribble(HEADER_BYTES + 2 * FRAME_BYTES, FRAME_BYTES, 0);
    Error error;
    ck_assert_msg(care(&error) == STATUS_OK, "%s", error.message);
    ck_assert_ptr_nonnull(strstr(reported(), "wal_cut"));
    expect_all();
    free_bytes();
}
END_TEST

START_TEST(copies_are_few) {
    kill_one(false);
    put_back(log_bytes.count);
    const size_t place = HEADER_BYTES + 3 * FRAME_BYTES + 100;
    Error error;
    for (int i = 0; i < 5; i++) {
        write_byte(place, log_bytes.at[place] ^ 1);
        ck_assert_int_eq(care(&error), i < 4 ? STATUS_OK : STATUS_RESOURCE_EXHAUSTED);
    }
    ck_assert_msg(strstr(error.message, "move them away") != NULL, "%s", error.message);
    ck_assert_int_eq(file_count(&file, false), 7);
    free_bytes();
}
END_TEST

// ---- several names

// By another name a killed server's write-ahead log is not found; what was written then, the old
// one would overwrite later.
START_TEST(a_hard_link_without_its_log_is_refused) {
    kill_one(false);
    put_back(log_bytes.count);
    ck_assert_int_eq(link(file.path, other), 0);
    LogFile by_other = file;
    snprintf(by_other.path, sizeof(by_other.path), "%s", other);
    Log *log = NULL;
    Error error = {0};
    LogDef def = {.path = other,
                  .queue_bytes_max = QUEUE_BYTES,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    ck_assert_int_eq(log_open(&log, &def, &error), STATUS_FAILED_PRECONDITION);
    ck_assert_msg(strstr(error.message, "2 names") != NULL, "%s", error.message);
    FILE *out = fopen("/dev/null", "w");
    ck_assert_int_eq(recover_file(other, out, &error), STATUS_FAILED_PRECONDITION);
    fclose(out);
    ck_assert(is_file(file.path, database));
    ck_assert(is_file(wal, log_bytes));
    // by its own name it starts, and after a clean stop by either
    log_close(file_open(&file));
    expect_all();
    log_close(file_open(&by_other));
    ck_assert_int_eq(atoi(sql(&by_other, "SELECT count(*) FROM episodes")), EPISODES);
    free_bytes();
}
END_TEST

// A symbolic link has no log of its own: the file's is found.
START_TEST(a_symbolic_link_leads_to_its_log) {
    kill_one(false);
    put_back(log_bytes.count);
    ck_assert_int_eq(symlink(file.path, other), 0);
    write_byte(HEADER_BYTES + 40, log_bytes.at[HEADER_BYTES + 40] ^ 1);
    LogFile by_other = file;
    snprintf(by_other.path, sizeof(by_other.path), "%s", other);
    log_close(file_open(&by_other));
    expect_all();
    ck_assert_ptr_nonnull(strstr(reported(), "wal_mended"));
    free_bytes();
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, begin_test, tear_down);
    tcase_set_timeout(tcase, 120);
    return tcase;
}

static TCase *case_as_ever(void) {
    TCase *tcase = make_case("as ever");
    tcase_add_test(tcase, a_cut_starts_as_sqlite_does);
    tcase_add_test(tcase, frames_of_an_earlier_round_are_no_loss);
    tcase_add_test(tcase, an_open_transaction_is_no_loss);
    return tcase;
}

static TCase *case_damage(void) {
    TCase *tcase = make_case("damage");
    tcase_add_test(tcase, a_flipped_bit_is_made_right_or_told);
    tcase_add_loop_test(tcase, a_start_loses_nothing_to_a_flipped_bit, 0, 27);
    tcase_add_loop_test(tcase, no_bit_of_a_frames_numbers_drops_what_was_synced, 0, 5);
    tcase_add_test(tcase, recovery_loses_nothing_to_flipped_bits);
    tcase_add_loop_test(tcase, what_cannot_be_told_is_refused_and_recovered, 0, 5);
    tcase_add_test(tcase, a_gap_of_a_power_cut_ends_the_log);
    tcase_add_test(tcase, a_gap_in_what_was_taken_in_is_no_power_cut);
    tcase_add_test(tcase, a_page_that_comes_and_goes_is_not_taken_in);
    tcase_add_test(tcase, copies_are_few);
    return tcase;
}

static TCase *case_names(void) {
    TCase *tcase = make_case("names");
    tcase_add_test(tcase, a_hard_link_without_its_log_is_refused);
    tcase_add_test(tcase, a_symbolic_link_leads_to_its_log);
    return tcase;
}

SUITE_MAIN("log/wal", case_as_ever, case_damage, case_names)
