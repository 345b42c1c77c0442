// SPDX-License-Identifier: MIT
// Files of every version of the format, kept as a server wrote them (files/schema-N.db.gz): each is
// opened, listed and proven by this one. A version that is not read any more is refused by name
// (check_schema.c: version 1, from before the first release).
#include "log/log_file.h"
#include "log/proof.h"
#include "support/suite.h"

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
} kept[] = {{"schema-2", "1a95c834bb3b13d933fc4e5d00000000", "mdp", 60, 37, 0.25000000000000033}};

static void note(const ProofFind *find, void *context) {
    (void)context;
    ck_abort_msg("%s", find->message);
}

START_TEST(a_kept_file_is_read_as_it_was_written) {
    char command[1024];
    snprintf(command, sizeof(command), "gzip -dc %s/tests/log/files/%s.db.gz > %s",
             MOREAU_SOURCE_DIR, kept[_i].name, file.path);
    ck_assert_int_eq(system(command), 0);
    Log *log = file_open(&file);
    LogReader *reader;
    EpisodeRow row;
    Proof proof;
    Arena arena;
    Error error = {0};
    arena_init(&arena, 1 << 24);
    ck_assert_int_eq(log_take_reader(log, &reader, &error), STATUS_OK);
    ck_assert_msg(log_reader_find(reader, "kept", &arena, &row, &error) == STATUS_OK, "%s",
                  error.message);
    char id[UID_TEXT_BYTES];
    uid_text(row.uid, id);
    ck_assert_str_eq(id, kept[_i].episode);
    ck_assert_str_eq(row.solver, kept[_i].solver);
    ck_assert_int_eq(row.state, RECORDING_COMPLETE);
    ck_assert_uint_eq(row.last_step, kept[_i].steps);
    ck_assert_uint_eq(row.body_count, kept[_i].bodies);
    ck_assert_double_eq(row.time, kept[_i].time);
    ck_assert_int_eq(proof_make(reader, &row, &arena, note, NULL, &proof, &error), STATUS_OK);
    ck_assert(proof.is_sealed);
    ck_assert_uint_eq(proof.proven_step, kept[_i].steps);
    log_give_reader(log, reader);
    arena_deinit(&arena);
    record(log, 9, 2, 100); // and it is gone on with
    log_close(log);
}
END_TEST

static TCase *case_kept(void) {
    TCase *tcase = tcase_create("kept");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_loop_test(tcase, a_kept_file_is_read_as_it_was_written, 0,
                        (int)(sizeof(kept) / sizeof(kept[0])));
    return tcase;
}

SUITE_MAIN("log/kept", case_kept)
