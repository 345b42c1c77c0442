// SPDX-License-Identifier: MIT
// Retention: which recordings the log deletes by itself, under each rule, and which it never does;
// what a crash in the middle of it leaves; what a damaged row cannot make it do.
#include "log/log.h"

#include "log/log_file.h"
#include "support/suite.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

static LogFile file;

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

static Log *open_keeping(LogKeep keep) {
    LogDef def = {.path = file.path,
                  .queue_bytes_max = QUEUE_BYTES,
                  .keep = keep,
                  .report = &file.report,
                  .server_version = "0.1.0"};
    Log *log = NULL;
    Error error = {0};
    ck_assert_msg(log_open(&log, &def, &error) == STATUS_OK, "%s", error.message);
    return log;
}

static void pin(Log *log, uint64_t number, uint8_t episode, bool is_pinned) {
    uint8_t uid[UID_BYTES];
    Waiter waiter;
    uid_of(number, 0xaa, uid);
    uid[UID_BYTES - 1] = episode;
    log_pin(log, uid, is_pinned, waiter_init(&waiter));
    ck_assert_msg(waiter_wait(&waiter) == STATUS_OK, "%s", waiter.wait.error.message);
}

// Recordings 1 to `count`, each of as many chunks.
static void record_all(uint64_t count, uint64_t chunks, size_t body_bytes) {
    Log *log = file_open(&file);
    for (uint64_t i = 1; i <= count; i++) {
        record(log, i, chunks, body_bytes);
    }
    log_close(log);
}

static void await(const char *question, const char *answer) {
    while (strcmp(sql(&file, question), answer) != 0) { // the suite's timeout ends it
        usleep(1000);
    }
}

static const char which[] = "SELECT group_concat(id, ' ') FROM (SELECT id FROM recording ORDER BY "
                            "id)";
// nothing of what went is left, and nothing of what stayed is gone
static const char rest[] =
    "SELECT (SELECT count(*) FROM deletion), (SELECT count(*) FROM episode WHERE recording NOT IN "
    "(SELECT id FROM recording)), (SELECT count(*) FROM recording WHERE id NOT IN (SELECT "
    "recording FROM episode)), (SELECT count(DISTINCT n) FROM (SELECT count(*) AS n FROM chunk "
    "GROUP BY recording)), (SELECT count(*) FROM chunk WHERE recording NOT IN (SELECT id FROM "
    "recording))";
static const char rest_whole[] = "0|0|0|1|0\n";

// ---- rules

START_TEST(the_newest_episodes_stay_and_the_pinned) {
    record_all(7, 150, 100); // deleted in two pieces
    Log *log = file_open(&file);
    pin(log, 2, 0, true);
    log_close(log);
    log = open_keeping((LogKeep){.episodes = 3});
    await(which, "2 5 6 7\n");
    await(rest, rest_whole);
    ck_assert_uint_eq(log_figures(log).retired_recordings, 3);
    ck_assert_uint_eq(log_figures(log).retired_episodes, 3);

    // what ends later pushes out the next, and what is not pinned any more goes
    record(log, 8, 150, 100);
    await(which, "2 6 7 8\n");
    pin(log, 2, 0, false);
    await(which, "6 7 8\n");
    await(rest, rest_whole);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), 3 * 151);
}
END_TEST

START_TEST(a_file_that_is_too_large_loses_the_oldest) {
    record_all(6, 20, 100000);
    Log *log = file_open(&file);
    pin(log, 1, 0, true);
    log_close(log);
    // a little more than half of it holds three and the tables, and not four
    uint64_t all = (uint64_t)atoll(sql(&file, "SELECT page_count * page_size FROM "
                                              "pragma_page_count, pragma_page_size"));
    log = open_keeping((LogKeep){.bytes = all * 7 / 12});
    await(which, "1 5 6\n");
    await(rest, rest_whole);
    log_close(log);

    // the newest stays, however large
    log = open_keeping((LogKeep){.bytes = 1 << 20});
    await(which, "1 6\n");
    await(rest, rest_whole);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), 2 * 21);
}
END_TEST

START_TEST(what_is_too_old_goes_when_its_time_has_come) {
    const uint64_t age_ns = 300000000;
    record_all(3, 5, 100);
    Log *log = file_open(&file);
    pin(log, 2, 0, true);
    log_close(log);
    usleep(age_ns / 1000);
    log = open_keeping((LogKeep){.age_ns = age_ns});
    RecordingDef def = def_of(4), next = def_of(5);
    LogRecording *open = begin(log, &def), *other = begin(log, &next);
    await(which, "2 4 5\n");
    // nothing else happens: it is the log's own clock that makes it go, a moment later
    ck_assert_int_eq(end(open, RECORDING_COMPLETE, 0, NULL), STATUS_OK);
    await(which, "2 5\n");
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM episode WHERE state = 0"), "1\n");
    ck_assert_int_eq(end(other, RECORDING_COMPLETE, 0, NULL), STATUS_OK);
    log_close(log);
}
END_TEST

START_TEST(what_is_read_stays_until_it_is_not) {
    record_all(3, 5, 100);
    LogHold hold;
    Log *log = file_open(&file);
    log_close(log);
    log = open_keeping((LogKeep){.episodes = 2});
    await(which, "2 3\n");
    log_hold(log, 2, &hold);
    record(log, 4, 5, 100);
    record(log, 5, 5, 100);
    await(which, "2 4 5\n");
    log_release(log, &hold);
    await(which, "4 5\n");
    log_close(log);
}
END_TEST

// ---- groups

enum { WORLDS = 64, ROUNDS = 24, EPISODES = WORLDS * ROUNDS }; // more than one piece removes

static void record_group(Log *log, uint64_t number) {
    static EpisodeRecord records[WORLDS];
    RecordingDef def = def_of(number);
    def.world_count = def.world_range = WORLDS;
    LogRecording *recording = begin(log, &def);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < WORLDS; i++) {
            records[i] = (EpisodeRecord){.world = i,
                                         .state = RECORDING_COMPLETE,
                                         .first_step = round,
                                         .last_step = round + 1,
                                         .length = 1,
                                         .turn = round,
                                         .begun_ns = 5,
                                         .ended_ns = 6};
        }
        LogBuffer *episodes =
            log_take_buffer(log, CHUNK_HEADER_BYTES + episodes_write(0, records, WORLDS,
                                                                     CHUNK_FORMAT_LAUNCHES, NULL));
        episodes->used += episodes_write(0, records, WORLDS, CHUNK_FORMAT_LAUNCHES,
                                         episodes->bytes + episodes->used);
        Chunk chunk = {.kind = CHUNK_EPISODES, .first_step = round, .last_step = round + 1};
        log_put(recording, episodes, &chunk);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, ROUNDS, NULL), STATUS_OK);
}

START_TEST(a_group_goes_whole_or_not_at_all) {
    Log *log = file_open(&file);
    for (uint64_t i = 1; i <= 4; i++) {
        record_group(log, i);
    }
    pin(log, 1, 77, true);
    log_close(log);
    // the newest EPISODES + 1 are those of the last and one of the third
    log = open_keeping((LogKeep){.episodes = EPISODES + 1});
    await(which, "1 3 4\n");
    await(rest, rest_whole);
    ck_assert_uint_eq(log_figures(log).retired_episodes, EPISODES);
    pin(log, 1, 77, false);
    await(which, "3 4\n");
    await(rest, rest_whole);
    log_close(log);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM episode"), "3072\n");
}
END_TEST

// ---- crashes

// Deletes until it is killed.
static void keep_until_killed(uint64_t recordings, int told) {
    Log *log = open_keeping((LogKeep){.episodes = 1});
    while (log_figures(log).retired_recordings < recordings) {
        usleep(100);
    }
    if (write(told, "", 1) == 1) {
        pause();
    }
    exit(1);
}

START_TEST(a_crash_in_the_middle_costs_nothing_else) {
    int told[2];
    record_all(6, 250, 1000);
    ck_assert_int_eq(pipe(told), 0);
    pid_t child = fork();
    if (child == 0) {
        keep_until_killed((uint64_t)_i, told[1]);
    }
    char byte;
    ck_assert_int_eq(read(told[0], &byte, 1), 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(told[0]);
    close(told[1]);

    // without a rule what was begun is ended, and nothing else is touched
    Log *log = file_open(&file);
    await("SELECT count(*) FROM deletion", "0\n");
    log_close(log);
    int left = atoi(sql(&file, "SELECT count(*) FROM recording"));
    ck_assert_int_le(left, 6 - _i);
    ck_assert_int_eq(count_sound_chunks(&file), 251 * left);
    log = open_keeping((LogKeep){.episodes = 1});
    await(which, "6\n");
    await(rest, rest_whole);
    log_close(log);
    ck_assert_int_eq(count_sound_chunks(&file), 251);
}
END_TEST

// ---- damage

// Each makes a recording look as if it were beyond the rule.
static const char *const lies[] = {
    "UPDATE recording SET ended_ns = 1 WHERE id = 1",
    "UPDATE recording SET ended_ns = 1, begun_ns = 0",
    "UPDATE recording SET uid = zeroblob(16), ended_ns = 1 WHERE id = 1",
    "UPDATE recording SET state = 1, ended_ns = 1; DELETE FROM chunk WHERE kind = 7 AND recording "
    "= 1",
    "UPDATE episode SET recording = 4611686018427387904 WHERE recording = 3",
    "CREATE TEMP TABLE other AS SELECT * FROM recording WHERE id = 1; UPDATE other SET id = "
    "4611686018427387904, uid = randomblob(16); INSERT INTO recording SELECT * FROM other",
    "DELETE FROM episode WHERE recording = 1; UPDATE recording SET world_count = 2, ended_ns = 1",
    "UPDATE recording SET ended_ns = -1; UPDATE episode SET ended_ns = 1",
};

START_TEST(a_row_that_lies_makes_nothing_go) {
    record_all(3, 5, 100);
    sql(&file, lies[_i]);
    const char *question = "SELECT count(*), sum(id) FROM chunk";
    char before[64];
    snprintf(before, sizeof(before), "%.60s", sql(&file, question));
    // three newest episodes, and those of the last hour: none of the three is beyond
    Log *log = open_keeping((LogKeep){.episodes = 3, .age_ns = UINT64_C(3600000000000)});
    while (log_figures(log).looks == 0) {
        usleep(1000);
    }
    log_close(log);
    ck_assert_str_eq(sql(&file, question), before);
}
END_TEST

// ---- room

START_TEST(what_goes_makes_the_file_smaller_while_it_serves) {
    record_all(4, 100, 100000); // less than makes the log bring its write-ahead log in
    struct stat before, after = {0};
    ck_assert_int_eq(stat(file.path, &before), 0);
    Log *log = open_keeping((LogKeep){.episodes = 1});
    RecordingDef def = def_of(9);
    LogRecording *recording = begin(log, &def);
    await(which, "4 5\n");
    // a quarter is left, and 8 MiB of free pages are kept for what comes
    do {
        put(log, recording, CHUNK_INPUTS, 0, 10, 1000);
        usleep(10000);
        ck_assert_int_eq(stat(file.path, &after), 0);
    } while (after.st_size > before.st_size / 4 + (9 << 20));
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, 10, NULL), STATUS_OK);
    log_close(log);
    ck_assert_str_eq(sql(&file, "PRAGMA integrity_check"), "ok\n");
}
END_TEST

static TCase *make_case(const char *name) {
    TCase *tcase = tcase_create(name);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    return tcase;
}

static TCase *case_rules(void) {
    TCase *tcase = make_case("rules");
    tcase_add_test(tcase, the_newest_episodes_stay_and_the_pinned);
    tcase_add_test(tcase, a_file_that_is_too_large_loses_the_oldest);
    tcase_add_test(tcase, what_is_too_old_goes_when_its_time_has_come);
    tcase_add_test(tcase, what_is_read_stays_until_it_is_not);
    tcase_add_test(tcase, a_group_goes_whole_or_not_at_all);
    return tcase;
}

static TCase *case_trouble(void) {
    TCase *tcase = make_case("trouble");
    tcase_add_loop_test(tcase, a_crash_in_the_middle_costs_nothing_else, 1, 4);
    tcase_add_loop_test(tcase, a_row_that_lies_makes_nothing_go, 0,
                        (int)(sizeof(lies) / sizeof(lies[0])));
    return tcase;
}

static TCase *case_room(void) {
    TCase *tcase = make_case("room");
    tcase_add_test(tcase, what_goes_makes_the_file_smaller_while_it_serves);
    return tcase;
}

SUITE_MAIN("log/keep", case_rules, case_trouble, case_room)
