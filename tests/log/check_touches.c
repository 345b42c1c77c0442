// SPDX-License-Identifier: MIT
// Rows of touches: made of the chunks of events, of which the later one counts; compared with them,
// made again, copied out of what is damaged, gone with their recording; and found by readers.
#include "log/format/events.h"
#include "log/log_file.h"
#include "log/reader/proof.h"
#include "log/recovery/recover.h"
#include "support/suite.h"

#include <sys/stat.h>
#include <sys/wait.h>

static LogFile file;
static Arena arena;

static void set_up(void) {
    file = file_make();
    arena_init(&arena, (size_t)1 << 26);
}

static void tear_down(void) {
    arena_deinit(&arena);
    file_remove(&file);
}

static void put_events(Log *log, LogRecording *recording, uint64_t first_step, uint64_t last_step,
                       const EventsBody *body) {
    const size_t bytes = events_write(body, NULL);
    LogBuffer *buffer = log_take_buffer(log, CHUNK_HEADER_BYTES + bytes);
    ck_assert_ptr_nonnull(buffer);
    events_write(body, buffer->bytes + CHUNK_HEADER_BYTES);
    buffer->used += bytes;
    log_put(recording, buffer,
            &(Chunk){.kind = CHUNK_EVENTS,
                     .version = CHUNK_FORMAT_EVENTS,
                     .first_step = first_step,
                     .last_step = last_step,
                     .time = 0.01 * (double)last_step});
}

// "ball" (2) meets "ground" (1) and goes on, "cup" (3) meets the ball twice; the second chunk is in
// front of a key-frame.
static LogRecording *begin_touches(Log *log, uint64_t number, bool is_named) {
    RecordingDef def = def_of(number);
    def.has_events = true;
    LogRecording *recording = begin(log, &def);
    put(log, recording, CHUNK_KEYFRAME, 0, 0, 100);
    const Touch rest = {.body = 1,
                        .other = 2,
                        .first_step = 3,
                        .last_step = 10,
                        .hardest_step = 3,
                        .approach = 1.25,
                        .first_impulse = 0.5,
                        .hardest = 0.5};
    Touch hit = {.body = 2,
                 .other = 3,
                 .first_step = 7,
                 .last_step = 8,
                 .is_over = true,
                 .hardest_step = 8,
                 .approach = 2.0,
                 .first_impulse = 3.0,
                 .hardest = 4.0};
    const Touch first[] = {hit, rest};
    const TouchName names[] = {{1, "ground", 6}, {2, "ball", 4}, {3, "cup", 3}};
    put_events(
        log, recording, 0, 10,
        &(EventsBody){
            .changed = first, .changed_count = 2, .names = names, .name_count = is_named ? 3 : 0});
    put(log, recording, CHUNK_INPUTS, 0, 10, 80);
    Touch harder = rest;
    harder.last_step = 20;
    harder.hardest_step = 15;
    harder.hardest = 0.75;
    hit.first_step = hit.hardest_step = 12;
    hit.last_step = 19;
    const Touch second[] = {hit, harder};
    put_events(log, recording, 10, 20,
               &(EventsBody){.is_complete = true, .changed = second, .changed_count = 2});
    put(log, recording, CHUNK_INPUTS, 10, 20, 80);
    put(log, recording, CHUNK_KEYFRAME, 20, 20, 100);
    return recording;
}

static void record_touches(Log *log, uint64_t number, bool is_named) {
    LogRecording *recording = begin_touches(log, number, is_named);
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 20, NULL), STATUS_OK);
}

static void make_log(void) {
    Log *log = file_open(&file);
    record_touches(log, 1, true);
    log_close(log);
}

static const char all_rows[] =
    "SELECT * FROM touch; SELECT * FROM touch_body ORDER BY body; SELECT events FROM recording";
static const char expected_rows[] = "1|3|1|2|NULL|1.25|0.5|0.75|15\n"
                                    "1|7|2|3|8|2.0|3.0|4.0|8\n"
                                    "1|12|2|3|19|2.0|3.0|4.0|12\n"
                                    "1|1|ground\n1|2|ball\n1|3|cup\n1\n";

START_TEST(the_last_word_on_a_touch_is_its_row) {
    make_log();
    ck_assert_str_eq(sql(&file, all_rows), expected_rows);
    ck_assert_str_eq(sql(&file, "SELECT name, body_name, other_name, first_step, last_step, ended, "
                                "hardest_impulse_n_s, hardest_step FROM touches ORDER BY "
                                "first_step"),
                     "fall|ground|ball|3|20|0|0.75|15\n"
                     "fall|ball|cup|7|8|1|4.0|8\n"
                     "fall|ball|cup|12|19|1|4.0|12\n");
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunks WHERE kind = 'events'"), "2\n");
}
END_TEST

// ---- proof

static size_t finds;
static char last_find[512];

static void note(const ProofFind *find, void *context) {
    (void)context;
    finds++;
    snprintf(last_find, sizeof(last_find), "%s: %s", find->quantity, find->message);
}

// How many things are found that are not as they should be.
static size_t prove(void) {
    LogReader *reader;
    EpisodeRow row;
    Proof proof;
    Error error = {0};
    finds = 0;
    ck_assert_msg(log_reader_open(file.path, &reader, &error) == STATUS_OK, "%s", error.message);
    ck_assert_int_eq(log_reader_find(reader, "fall", &arena, &row, &error), STATUS_OK);
    ck_assert_msg(proof_make(reader, &row, &arena, note, NULL, &proof, &error) == STATUS_OK, "%s",
                  error.message);
    log_reader_close(reader);
    return finds;
}

static Status recover(Error *error) {
    FILE *out = tmpfile();
    ck_assert_ptr_nonnull(out);
    const Status status = recover_file(file.path, out, error);
    fclose(out);
    return status;
}

static const char *const edits[] = {
    "UPDATE touch SET last_step = last_step + 1",
    "UPDATE touch SET last_step = NULL",
    "UPDATE touch SET last_step = 20 WHERE last_step IS NULL",
    "UPDATE touch SET hardest_impulse = 2 * hardest_impulse",
    "UPDATE touch SET hardest_impulse = 'hard'",
    "UPDATE touch SET approach = -1.0",
    "UPDATE touch SET approach = 9e999 WHERE first_step = 3",
    "UPDATE touch SET first_impulse = first_impulse + 1e-15",
    "UPDATE touch SET hardest_step = hardest_step + 1",
    "UPDATE touch SET hardest_step = x'00'",
    "UPDATE touch SET first_step = first_step + 1",
    "UPDATE touch SET body = 0 WHERE first_step = 3",
    "UPDATE touch SET other_body = 9223372036854775807",
    "DELETE FROM touch WHERE first_step = 12",
    "DELETE FROM touch",
    "INSERT INTO touch VALUES(1, 13, 1, 3, 14, 1.0, 1.0, 1.0, 13)",
    "INSERT INTO touch_body VALUES(1, 99, 'nobody')",
    "UPDATE touch_body SET name = 'bell' WHERE name = 'ball'",
    "UPDATE touch_body SET name = x'62616c6c' WHERE name = 'ball'",
    "DELETE FROM touch_body WHERE body = 2",
    "UPDATE recording SET events = 0",
    "UPDATE recording SET events = 2",
};

START_TEST(an_edited_row_is_found_and_made_right) {
    make_log();
    ck_assert_uint_eq(prove(), 0);
    sql(&file, edits[_i]);
    ck_assert_msg(prove() > 0, "%s", edits[_i]);
    ck_assert_msg(strncmp(last_find, "touch", 5) == 0 || strstr(last_find, "events") != NULL, "%s",
                  last_find);
    Error error = {0};
    ck_assert_msg(recover(&error) == STATUS_OK, "%s", error.message);
    ck_assert_str_eq(sql(&file, all_rows), expected_rows);
    ck_assert_uint_eq(prove(), 0);
}
END_TEST

// The rows of an episode without events are none.
START_TEST(rows_of_nobody_are_found) {
    Log *log = file_open(&file);
    record(log, 1, 2, 100);
    log_close(log);
    ck_assert_uint_eq(prove(), 0);
    sql(&file, "INSERT INTO touch VALUES(1, 1, 1, 2, NULL, 1.0, 1.0, 1.0, 1)");
    ck_assert_uint_eq(prove(), 1);
    Error error = {0};
    ck_assert_int_eq(recover(&error), STATUS_OK);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM touch"), "0\n");
}
END_TEST

START_TEST(rows_of_a_file_that_is_cut_short_are_made_again) {
    make_log();
    struct stat info;
    ck_assert_int_eq(stat(file.path, &info), 0);
    ck_assert_int_eq(truncate(file.path, info.st_size - 100), 0);
    Error error = {0};
    ck_assert_int_eq(recover(&error), STATUS_DATA_LOSS);
    strcat(file.path, ".recovered");
    ck_assert_str_eq(sql(&file, all_rows), expected_rows);
}
END_TEST

// What a server left that was killed: the rows of what was committed, and the seal of whoever comes
// next counts events.
START_TEST(a_recording_that_nobody_ended_keeps_its_rows) {
    pid_t child = fork();
    if (child == 0) {
        Log *log = file_open(&file);
        begin_touches(log, 1, true);
        while (log_figures(log).queue_rows > 0) {
            usleep(1000);
        }
        _exit(0);
    }
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFEXITED(status));
    log_close(file_open(&file));
    ck_assert_str_eq(sql(&file, "SELECT state FROM recording"), "3\n");
    ck_assert_str_eq(sql(&file, all_rows), expected_rows);
    ck_assert_uint_eq(prove(), 0);
}
END_TEST

START_TEST(a_deleted_recording_has_no_rows) {
    Log *log = file_open(&file);
    record_touches(log, 1, true);
    record_touches(log, 2, true);
    Waiter waiter;
    uint8_t uid[UID_BYTES];
    uid_of(1, 0xaa, uid);
    log_delete(log, uid, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT DISTINCT recording FROM touch; SELECT DISTINCT recording "
                                "FROM touch_body"),
                     "2\n2\n");
}
END_TEST

// ---- readers

static EpisodeRows list(const EpisodeFilter *filter, Error *error) {
    LogReader *reader;
    EpisodeRows rows = {0};
    ck_assert_int_eq(log_reader_open(file.path, &reader, NULL), STATUS_OK);
    log_reader_list(reader, filter, &arena, &rows, error);
    log_reader_close(reader);
    return rows;
}

// Three with names, one without, two that have no events: `meet` of the first four.
static const struct {
    TouchBody body, other;
    uint64_t after, before;
    double impulse, speed;
    uint64_t meet;
} asked[] = {
    {{0, "ball"}, {0, "cup"}, 0, UINT64_MAX, -1.0, -1.0, 3},
    {{0, "cup"}, {0, "ball"}, 0, UINT64_MAX, -1.0, -1.0, 3},
    {{0, "ball"}, {0, NULL}, 0, UINT64_MAX, -1.0, -1.0, 3},
    {{0, NULL}, {0, "ball"}, 0, UINT64_MAX, -1.0, -1.0, 3},
    {{0, "ground"}, {0, "cup"}, 0, UINT64_MAX, -1.0, -1.0, 0},
    {{0, "Ball"}, {0, NULL}, 0, UINT64_MAX, -1.0, -1.0, 0},
    {{0, "ball' OR 1 --"}, {0, NULL}, 0, UINT64_MAX, -1.0, -1.0, 0},
    {{2, NULL}, {3, NULL}, 0, UINT64_MAX, -1.0, -1.0, 4},
    {{2, NULL}, {0, "cup"}, 0, UINT64_MAX, -1.0, -1.0, 3},
    {{1, NULL}, {3, NULL}, 0, UINT64_MAX, -1.0, -1.0, 0},
    {{0, NULL}, {0, NULL}, 11, UINT64_MAX, -1.0, -1.0, 4},
    {{0, NULL}, {0, NULL}, 12, UINT64_MAX, -1.0, -1.0, 0},
    {{0, NULL}, {0, NULL}, 0, 4, -1.0, -1.0, 4},
    {{2, NULL}, {3, NULL}, 0, 7, -1.0, -1.0, 0},
    {{0, NULL}, {0, NULL}, 0, UINT64_MAX, 3.99, -1.0, 4},
    {{0, NULL}, {0, NULL}, 0, UINT64_MAX, 4.0, -1.0, 0},
    {{1, NULL}, {0, NULL}, 0, UINT64_MAX, 0.7, -1.0, 4},
    {{1, NULL}, {0, NULL}, 0, UINT64_MAX, 0.7, 1.25, 0}, // both of the same touch
    {{0, NULL}, {0, NULL}, 0, UINT64_MAX, 0.0, 1.99, 4},
    {{UINT64_MAX, NULL}, {0, NULL}, 0, UINT64_MAX, -1.0, -1.0, 0},
};

START_TEST(episodes_are_found_by_their_touches) {
    Log *log = file_open(&file);
    for (uint64_t i = 1; i <= 6; i++) {
        if (i <= 4) {
            record_touches(log, i, i < 4);
        } else {
            record(log, i, 2, 100);
        }
    }
    log_close(log);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        const TouchFilter touch = {.body = asked[i].body,
                                   .other = asked[i].other,
                                   .after = asked[i].after,
                                   .before = asked[i].before,
                                   .impulse_above = asked[i].impulse,
                                   .speed_above = asked[i].speed};
        TouchFilter many[FILTER_TOUCHES_MAX];
        for (size_t k = 0; k < FILTER_TOUCHES_MAX; k++) {
            many[k] = touch;
        }
        EpisodeFilter filter = {.state = -1, .touch = many, .touch_count = 1, .count = 2};
        Error error = {0};
        EpisodeRows rows = list(&filter, &error);
        ck_assert_msg(error.status == STATUS_OK, "%s", error.message);
        ck_assert_msg(rows.total == asked[i].meet, "%zu: %llu", i, (unsigned long long)rows.total);
        ck_assert_uint_eq(rows.count, asked[i].meet < 2 ? asked[i].meet : 2);
        ck_assert_uint_eq(rows.unknown, 2);
        // with all else that may be asked for, as often as may be
        filter.touch_count = FILTER_TOUCHES_MAX;
        filter.name = "fall";
        filter.client = "tests";
        filter.solver = "mdp";
        filter.since_ns = 1;
        filter.until_ns = UINT64_MAX;
        filter.state = RECORDING_COMPLETE;
        ck_assert_uint_eq(list(&filter, &error).total, asked[i].meet);
        filter.label = "none";
        ck_assert_uint_eq(list(&filter, &error).unknown, 0);
    }
}
END_TEST

static bool always(void *context) {
    ++*(int *)context;
    return true;
}

// Many touches, and a question that looks at all of them: it is given up when it is told to be.
START_TEST(a_long_look_can_be_given_up) {
    make_log();
    sql(&file, "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) "
               "INSERT INTO touch SELECT 1, i, 1, 2, i, 0.5, 0.5, 0.5, i FROM n");
    TouchFilter touch = touch_filter_any();
    touch.impulse_above = 1e6;
    int asked_count = 0;
    const Stop stop = {.asked = always, .context = &asked_count};
    const Context context = {.stop = &stop};
    EpisodeFilter filter = {.state = -1, .touch = &touch, .touch_count = 1, .count = 2};
    Error error = {0};
    ck_assert_uint_eq(list(&filter, &error).total, 0);
    ck_assert_int_eq(error.status, STATUS_OK);
    filter.context = &context;
    list(&filter, &error);
    ck_assert_int_eq(error.status, STATUS_ABORTED);
    ck_assert_int_eq(asked_count, 1);
    LogReader *reader;
    EpisodeRow row;
    TouchRows rows;
    TouchQuery query = {.where = touch, .count = 10, .context = &context};
    ck_assert_int_eq(log_reader_open(file.path, &reader, NULL), STATUS_OK);
    ck_assert_int_eq(log_reader_find(reader, "fall", &arena, &row, NULL), STATUS_OK);
    ck_assert_int_eq(log_reader_touches(reader, &row, &query, &arena, &rows, NULL), STATUS_ABORTED);
    query.context = NULL; // and the reader is as good as before
    query.where.impulse_above = 0.7;
    ck_assert_int_eq(log_reader_touches(reader, &row, &query, &arena, &rows, NULL), STATUS_OK);
    ck_assert_uint_eq(rows.total, 3);
    log_reader_close(reader);
}
END_TEST

START_TEST(a_page_has_the_names_of_its_bodies) {
    make_log();
    LogReader *reader;
    EpisodeRow row;
    TouchRows rows;
    TouchQuery query = {.where = touch_filter_any(), .first = 1, .count = 1};
    ck_assert_int_eq(log_reader_open(file.path, &reader, NULL), STATUS_OK);
    ck_assert_int_eq(log_reader_find(reader, "fall", &arena, &row, NULL), STATUS_OK);
    ck_assert(row.has_events);
    ck_assert_int_eq(log_reader_touches(reader, &row, &query, &arena, &rows, NULL), STATUS_OK);
    ck_assert(rows.total == 3 && rows.count == 1 && rows.named_count == 2);
    ck_assert(rows.named[0] == 2 && rows.named[1] == 3);
    ck_assert_str_eq(rows.names[0], "ball");
    ck_assert_str_eq(rows.names[1], "cup");
    ck_assert(rows.touch[0].is_over && rows.touch[0].hardest == 4.0);
    query.first = UINT64_MAX;
    ck_assert_int_eq(log_reader_touches(reader, &row, &query, &arena, &rows, NULL), STATUS_OK);
    ck_assert(rows.total == 3 && rows.count == 0);
    sql(&file, "UPDATE touch SET approach = 'fast'");
    query.first = 0;
    ck_assert_int_eq(log_reader_touches(reader, &row, &query, &arena, &rows, NULL),
                     STATUS_DATA_LOSS);
    bool fitted = false, ended = false;
    sql(&file, "UPDATE touch SET approach = 1.5");
    for (size_t limit = 0; limit < 4000;
         limit += 100) { // any memory is enough, or is said not to be
        Arena small;
        arena_init(&small, limit);
        const Status status = log_reader_touches(reader, &row, &query, &small, &rows, NULL);
        ck_assert(status == STATUS_OK || status == STATUS_RESOURCE_EXHAUSTED);
        fitted = fitted || status == STATUS_OK;
        ended = ended || status != STATUS_OK;
        arena_deinit(&small);
    }
    ck_assert(fitted && ended);
    log_reader_close(reader);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof((array)[0]))

static TCase *case_touches(void) {
    TCase *tcase = tcase_create("touches");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, the_last_word_on_a_touch_is_its_row);
    tcase_add_loop_test(tcase, an_edited_row_is_found_and_made_right, 0, COUNT(edits));
    tcase_add_test(tcase, rows_of_nobody_are_found);
    tcase_add_test(tcase, rows_of_a_file_that_is_cut_short_are_made_again);
    tcase_add_test(tcase, a_recording_that_nobody_ended_keeps_its_rows);
    tcase_add_test(tcase, a_deleted_recording_has_no_rows);
    tcase_add_test(tcase, episodes_are_found_by_their_touches);
    tcase_add_test(tcase, a_long_look_can_be_given_up);
    tcase_add_test(tcase, a_page_has_the_names_of_its_bodies);
    return tcase;
}

SUITE_MAIN("log/touches", case_touches)
