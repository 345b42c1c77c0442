// SPDX-License-Identifier: MIT
// The file of a training farm, written by a synthetic one: episodes are ranges of a recording,
// found by world and by id, and one of them is proven while the chunks of all other worlds are
// spoilt.
#include "log/format/doubt.h"
#include "log/reader/proof.h"

#include "log/log_file.h"
#include "log/mend_chain.h"
#include "support/suite.h"

#include <unistd.h>

enum { WORLDS = 64, RANGE = 16, ROUNDS = 10, STEPS = 20 };

static LogFile file;

static void set_up(void) {
    file = file_make();
}

static void tear_down(void) {
    file_remove(&file);
}

// Each round all worlds finish an episode of 20 steps.
static void record_group_as(Log *log, uint64_t number, uint32_t version) {
    static EpisodeRecord records[WORLDS];
    RecordingDef def = def_of(number);
    def.world_count = WORLDS;
    def.world_range = RANGE;
    LogRecording *recording = begin(log, &def);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        Chunk chunk = {.kind = CHUNK_INPUTS,
                       .first_step = STEPS * round,
                       .last_step = STEPS * (round + 1),
                       .time = 0.01 * STEPS * (double)(round + 1)};
        for (uint32_t first = 0; first < WORLDS; first += RANGE) {
            LogBuffer *inputs = log_take_buffer(log, CHUNK_HEADER_BYTES + 1000);
            memset(inputs->bytes + inputs->used, (int)first, 1000);
            inputs->used += 1000;
            chunk.first_world = first;
            log_put(recording, inputs, &chunk);
        }
        for (uint32_t i = 0; i < WORLDS; i++) {
            records[i] = (EpisodeRecord){.world = i,
                                         .state = RECORDING_COMPLETE,
                                         .first_step = STEPS * round,
                                         .last_step = STEPS * (round + 1),
                                         .length = STEPS,
                                         .turn = round,
                                         .has_seed = true,
                                         .has_return = true,
                                         .seed = 1000 * round + i + 7 * (number - 1),
                                         .return_sum = 0.5 * i,
                                         .time = 0.2,
                                         .begun_ns = 5,
                                         .ended_ns = 6,
                                         .figures = {.has_gain = 1, .gain = {0.25 * i, 10.0, 0.1}},
                                         .has_opinion = true,
                                         .has_return_doubtful = i != 1,
                                         .doubtful_steps = i,
                                         .return_doubtful = i == 2 ? -0.5 : 0.005 * i * i,
                                         .opinions = round,
                                         .opinion_gap_max = 0.001 * i};
        }
        LogBuffer *episodes = log_take_buffer(
            log, CHUNK_HEADER_BYTES + episodes_write(0, records, WORLDS, version, NULL));
        episodes->used +=
            episodes_write(0, records, WORLDS, version, episodes->bytes + episodes->used);
        chunk.kind = CHUNK_EPISODES;
        chunk.version = version;
        chunk.first_world = 0;
        log_put(recording, episodes, &chunk);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, STEPS * ROUNDS, NULL), STATUS_OK);
}

static void record_group(Log *log, uint32_t version) {
    record_group_as(log, 1, version);
}

static char first_find[512];

static void note(const ProofFind *find, void *context) {
    if (++*(int *)context == 1) {
        snprintf(first_find, sizeof(first_find), "%s", find->message);
    }
}

// How much is wrong with the episode of this id.
static int prove(Log *log, const char *id, EpisodeRow *row, Arena *arena) {
    LogReader *reader;
    Proof proof;
    Error error = {0};
    int finds = 0;
    ck_assert_int_eq(log_take_reader(log, &reader, &error), STATUS_OK);
    ck_assert_msg(log_reader_find(reader, id, arena, row, &error) == STATUS_OK, "%s",
                  error.message);
    Status status = proof_make(reader, row, arena, note, &finds, &proof, &error);
    ck_assert_msg(status == STATUS_OK, "%s", error.message);
    log_give_reader(log, reader);
    return finds;
}

// "<recording>00000143": the 0x143rd, of world 3 in round 5.
static const char episode[] = "aa0000000100000000000000"
                              "00000143";

START_TEST(episodes_of_a_group_are_rows_with_numbers_of_their_own) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS);
    ck_assert_str_eq(sql(&file, "SELECT count(*), min(number), max(number), count(DISTINCT id), "
                                "sum(return_sum) FROM episode"),
                     "640|0|639|640|10080.0\n");
    ck_assert_str_eq(sql(&file, "SELECT episode, world_index, seed, steps, simulated_s, state FROM "
                                "episodes WHERE world_index = 3 AND seed = 5003"),
                     "aa000000010000000000000000000143|3|5003|20|0.2|complete\n");
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    ck_assert_msg(prove(log, episode, &row, &arena) == 0, "%s", first_find);
    ck_assert_uint_eq(row.world_index, 3);
    ck_assert_uint_eq(row.begun_call, 100);
    ck_assert_uint_eq(row.ended_call, 120);
    ck_assert_uint_eq(row.last_step, STEPS);
    ck_assert_uint_eq(row.turn, 5);
    ck_assert(row.has_return);
    ck_assert_double_eq(row.return_sum, 1.5);
    ck_assert(!row.has_opinion && !row.has_return_doubtful);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// Chunks of groups wait for others: who asks for what was put waits for it, and not for a lull.
START_TEST(what_was_put_is_in_the_file_when_that_is_asked_for) {
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    def.world_count = WORLDS;
    def.world_range = RANGE;
    LogRecording *recording = begin(log, &def);
    char count[32];
    for (uint64_t round = 0; round < ROUNDS; round++) {
        LogBuffer *inputs = log_take_buffer(log, CHUNK_HEADER_BYTES + 8);
        memset(inputs->bytes + inputs->used, (int)round, 8);
        inputs->used += 8;
        const Chunk chunk = {
            .kind = CHUNK_INPUTS, .first_step = STEPS * round, .last_step = STEPS * (round + 1)};
        log_put(recording, inputs, &chunk);
        Waiter waiter;
        log_sync(log, waiter_init(&waiter));
        ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
        snprintf(count, sizeof(count), "%d\n", (int)round + 1);
        ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk WHERE kind = 2"), count);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, STEPS * ROUNDS, NULL), STATUS_OK);
    log_close(log);
}
END_TEST

START_TEST(episodes_say_what_came_of_their_opinions) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS_AND_OPINIONS);
    // 0.045 of 1.5 was earned in doubtful steps; -0.5 against 1.5; of world 1 nobody said it
    ck_assert_str_eq(
        sql(&file, "SELECT doubtful_steps, return_doubtful, round(doubtful_share, 6), "
                   "opinions, opinion_gap_max FROM episodes WHERE turn = 5 AND "
                   "world_index IN (0, 1, 2, 3) ORDER BY world_index"),
        "0|0.0|0.0|5|0.0\n1|NULL|NULL|5|0.001\n2|-0.5|-0.25|5|0.002\n3|0.045|0.03|5|0.003\n");
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    ck_assert_msg(prove(log, episode, &row, &arena) == 0, "%s", first_find);
    ck_assert(row.has_opinion && row.has_return_doubtful);
    ck_assert_uint_eq(row.doubtful_steps, 3);
    ck_assert_uint_eq(row.opinions, 5);
    ck_assert_double_eq(row.return_doubtful, 0.005 * 3 * 3);
    ck_assert_double_eq(row.opinion_gap_max, 0.003);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// The last worlds earned most of what they earned in doubtful steps; those of one world are alike,
// and the newest comes first. World 1 is not among them.
START_TEST(episodes_rank_by_what_was_earned_in_doubtful_steps) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_OPINIONS);
    LogReader *reader;
    Arena arena;
    EpisodeRows list;
    Error error = {0};
    arena_init(&arena, 1 << 24);
    const EpisodeFilter filter = {.state = -1, .first = 0, .count = 1000, .is_by_doubt = true};
    ck_assert_int_eq(log_take_reader(log, &reader, &error), STATUS_OK);
    ck_assert_int_eq(log_reader_list(reader, &filter, &arena, &list, &error), STATUS_OK);
    log_give_reader(log, reader);
    ck_assert_uint_eq(list.total, (uint64_t)(WORLDS - 1) * ROUNDS);
    ck_assert_uint_eq(list.count, list.total);
    const EpisodeRow *rows = list.row;
    for (size_t i = 1; i < list.count; i++) {
        const double before = episode_doubtful_share(&rows[i - 1]),
                     here = episode_doubtful_share(&rows[i]);
        ck_assert(before > here || (before == here && rows[i - 1].number > rows[i].number));
        ck_assert_uint_ne(rows[i].world_index, 1);
    }
    ck_assert_uint_eq(rows[0].world_index, WORLDS - 1);
    ck_assert_uint_eq(rows[list.count - 1].world_index, 2);
    // along its index, without sorting
    ck_assert_ptr_nonnull(
        strstr(sql(&file, "EXPLAIN QUERY PLAN SELECT e.id FROM episode e WHERE 1 AND "
                          "e.return_doubtful IS NOT NULL ORDER BY " DOUBTFUL_SHARE_SQL
                          " DESC, e.id DESC LIMIT 10"),
               "episode_by_doubt"));
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

START_TEST(one_world_is_proven_without_the_others) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS);
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    sql(&file, "UPDATE chunk SET bytes = zeroblob(length(bytes)) WHERE first_world > 0");
    ck_assert_msg(prove(log, episode, &row, &arena) == 0, "%s", first_find);
    sql(&file, "UPDATE chunk SET bytes = zeroblob(length(bytes)) WHERE first_world = 0 AND kind = "
               "2 AND first_step = 20");
    ck_assert_int_gt(prove(log, episode, &row, &arena), 0);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// What was sealed with a batch of finished episodes; edits that are seen in one of them.
static const char *const edits[] = {
    "UPDATE episode SET return_sum = 99 WHERE number = 323",
    "UPDATE episode SET seed = 1 WHERE number = 323",
    "UPDATE episode SET world_index = 4 WHERE number = 323",
    "UPDATE episode SET last_step = 119 WHERE number = 323",
    "UPDATE episode SET simulated_s = 0.3 WHERE number = 323",
    "UPDATE episode SET state = 3 WHERE number = 323",
    "UPDATE episode SET ended_ns = 7 WHERE number = 323",
    "UPDATE episode SET worst_own = 1 WHERE number = 323",
    "UPDATE episode SET first_step = 99 WHERE number = 323",
    "UPDATE episode SET length = 21 WHERE number = 323",
    "UPDATE episode SET turn = 4 WHERE number = 323",
    "UPDATE episode SET begun_ns = 4 WHERE number = 323",
    "UPDATE episode SET parent = x'aa000000010000000000000000000001', parent_step = 3 "
    "WHERE number = 323",
    "UPDATE episode SET pinned = 'text' WHERE number = 323",
    "UPDATE episode SET doubtful_steps = 4 WHERE number = 323",
    "UPDATE episode SET doubtful_steps = NULL WHERE number = 323",
    "UPDATE episode SET return_doubtful = 0.08 WHERE number = 323",
    "UPDATE episode SET return_doubtful = NULL WHERE number = 323",
    "UPDATE episode SET opinions = 6 WHERE number = 323",
    "UPDATE episode SET opinion_gap_max = 0.002 WHERE number = 323",
    "UPDATE recording SET world_count = 65",
    "UPDATE recording SET world_range = 17",
    "UPDATE chunk SET last_step = 121 WHERE first_world = 0 AND kind = 2 AND first_step = 100",
    "UPDATE chunk SET first_world = 16 - first_world WHERE kind = 2 AND first_world < 32 AND "
    "first_step = 100",
    "INSERT INTO highlight VALUES(1, 6, 0, 1, 1, 1, 0.5, NULL, NULL, NULL, NULL, NULL, "
    "NULL)",
    "INSERT INTO highlight VALUES(1, 1, 5, 1, 1, 1, 0.5, 1, 1, 1, NULL, NULL, NULL)",
    "DELETE FROM chunk WHERE first_world = 0 AND kind = 2 AND first_step = 180",
    "DELETE FROM chunk WHERE kind = 8 AND first_step = 100",
};

enum { EDITS = sizeof(edits) / sizeof(edits[0]) };

// Also where its connection has found all of the recording whole before.
START_TEST(what_is_said_of_one_episode_is_compared_with_what_was_sealed) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS_AND_OPINIONS);
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    for (int i = 0; i < 3 && _i >= EDITS; i++) {
        ck_assert_msg(prove(log, episode, &row, &arena) == 0, "%s", first_find);
    }
    sql(&file, edits[_i % EDITS]);
    ck_assert_int_gt(prove(log, episode, &row, &arena), 0);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

static Proof prove_by(LogReader *reader, const char *id, EpisodeRow *row, Arena *arena) {
    Proof proof;
    Error error = {0};
    int finds = 0;
    ck_assert_int_eq(log_reader_find(reader, id, arena, row, &error), STATUS_OK);
    ck_assert_int_eq(proof_make(reader, row, arena, note, &finds, &proof, &error), STATUS_OK);
    ck_assert_msg(finds == 0, "%s", first_find);
    return proof;
}

// A proof by what an earlier one kept is the same, of another episode as well; what was opened is
// known of until somebody writes, whatever it is.
START_TEST(what_several_episodes_share_is_kept_until_somebody_writes) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS_AND_OPINIONS);
    LogReader *reader;
    EpisodeRow row;
    Arena arena;
    arena_init(&arena, 1 << 22);
    ck_assert_int_eq(log_take_reader(log, &reader, NULL), STATUS_OK);
    const Proof first = prove_by(reader, episode, &row, &arena);
    ck_assert_uint_eq(first.row_count, ROUNDS);
    ck_assert(!proof_has_opened(reader, &row, &first, 5));
    proof_note_opened(reader, &row, &first, 5);
    for (int i = 0; i < 3; i++) {
        char id[64];
        snprintf(id, sizeof(id), "aa0000000100000000000000%08x", 0x40 * i + 3);
        const Proof again = prove_by(reader, id, &row, &arena);
        ck_assert_uint_eq(again.row_count, first.row_count);
        ck_assert_mem_eq(again.row, first.row, first.row_count * sizeof(*first.row));
        ck_assert_str_eq(again.def.name, first.def.name);
        ck_assert(again.has_definition && again.has_seal && again.is_sealed);
        ck_assert_uint_eq(again.seal.chain_count, first.seal.chain_count);
        ck_assert_uint_eq(again.seal.chain[1].checksum, first.seal.chain[1].checksum);
        for (size_t k = 0; k < first.row_count; k++) {
            ck_assert(proof_has_opened(reader, &row, &again, k) == (k == 5));
        }
    }
    sql(&file, "UPDATE episode SET pinned = 1 WHERE number = 1");
    ck_assert(!proof_has_opened(reader, &row, &first, 5));
    log_give_reader(log, reader);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// A byte of each chunk of finished episodes, behind what its row says: the chain is as it was.
static void spoil_episodes(const LogFile *of) {
    sqlite3 *db = sql_open(of->path);
    for (sqlite3_int64 id = 1; id <= atoi(sql(of, "SELECT max(id) FROM chunk")); id++) {
        sqlite3_blob *bytes;
        char is_of_episodes[128];
        snprintf(is_of_episodes, sizeof(is_of_episodes),
                 "SELECT count(*) FROM chunk WHERE id = %lld AND kind = 8", (long long)id);
        if (strcmp(sql(of, is_of_episodes), "1\n") == 0) {
            ck_assert_int_eq(sqlite3_blob_open(db, "main", "chunk", "bytes", id, 1, &bytes),
                             SQLITE_OK);
            ck_assert_int_eq(sqlite3_blob_write(bytes, "?", 1, sqlite3_blob_bytes(bytes) - 9),
                             SQLITE_OK);
            sqlite3_blob_close(bytes);
        }
    }
    sqlite3_close(db);
}

// The chunk of finished episodes that was looked at last serves all ranges, but no other recording,
// and not when somebody has written.
START_TEST(a_chunk_of_episodes_that_is_kept_is_of_its_recording_and_its_time) {
    Log *log = file_open(&file);
    for (uint64_t number = 1; number <= 2; number++) {
        record_group_as(log, number, CHUNK_FORMAT_GAINS_AND_OPINIONS);
    }
    LogReader *reader;
    EpisodeRow row;
    Proof proof;
    Arena arena;
    int finds = 0;
    arena_init(&arena, 1 << 22);
    ck_assert_int_eq(log_take_reader(log, &reader, NULL), STATUS_OK);
    for (unsigned i = 0; i < 16; i++) { // of two recordings by turns, and of all four ranges
        char id[64];
        snprintf(id, sizeof(id), "aa0000000%u00000000000000%08x", 1 + i % 2, 0x143 + i / 2 * 8);
        prove_by(reader, id, &row, &arena);
        ck_assert_uint_eq(row.seed, 5003 + 8 * (i / 2) + 7 * (i % 2));
    }
    spoil_episodes(&file);
    ck_assert_int_eq(proof_make(reader, &row, &arena, note, &finds, &proof, NULL), STATUS_OK);
    ck_assert_int_gt(finds, 0);
    log_give_reader(log, reader);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// Fields of a chunk's header, which somebody changes who makes all checksums right again: nothing
// but the comparison with the row tells.
static const struct {
    const char *name;
    size_t at;
} fields[] = {{"uid", 16},         {"sequence", 32},      {"first world", 40}, {"worlds", 44},
              {"first step", 48},  {"last step", 56},     {"time", 64},        {"written", 72},
              {"unconverged", 80}, {"worst own", 88},     {"penetration", 96}, {"contacts", 104},
              {"impact", 112},     {"its step", 120},     {"energy", 128},     {"its step", 136},
              {"solver", 144},     {"kind", MEND_AT_KIND}};

// Flips a bit of chunk 4, at `at` bytes (from its end where that is negative).
static void flip_bit(sqlite3 *db, int at, bool mend) {
    sqlite3_stmt *chunk, *update;
    sqlite3_prepare_v2(db, "SELECT bytes FROM chunk WHERE id = 4", -1, &chunk, NULL);
    ck_assert_int_eq(sqlite3_step(chunk), SQLITE_ROW);
    int count = sqlite3_column_bytes(chunk, 0);
    uint8_t *bytes = malloc((size_t)count);
    memcpy(bytes, sqlite3_column_blob(chunk, 0), (size_t)count);
    sqlite3_finalize(chunk);
    bytes[at < 0 ? count + at : at] ^= 1;
    if (mend) {
        mend_checksum(bytes, (size_t)count);
    }
    sqlite3_prepare_v2(db, "UPDATE chunk SET bytes = ?1 WHERE id = 4", -1, &update, NULL);
    sqlite3_bind_blob(update, 1, bytes, count, free);
    ck_assert_int_eq(sqlite3_step(update), SQLITE_DONE);
    sqlite3_finalize(update);
}

START_TEST(a_header_that_lies_with_right_checksums_is_not_what_its_row_says) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    sqlite3 *db = sql_open(file.path);
    flip_bit(db, (int)fields[_i].at, false);
    mend_chain(db, 1);
    sqlite3_close(db);
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    ck_assert_msg(prove(log, "fall", &row, &arena) > 0, "%s", fields[_i].name);
    ck_assert_msg(strstr(first_find, "Chunk 4 (inputs)") != NULL, "%s: %s", fields[_i].name,
                  first_find);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// The chunk behind it carries the checksum that it had.
START_TEST(a_chunk_that_is_sound_alone_is_not_the_one_that_was_followed) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    sqlite3 *db = sql_open(file.path);
    flip_bit(db, -1, true);
    sqlite3_close(db);
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    ck_assert_int_gt(prove(log, "fall", &row, &arena), 0);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

START_TEST(a_chain_whose_checksums_were_made_right_is_as_it_was) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    sqlite3 *db = sql_open(file.path);
    mend_chain(db, 1);
    sqlite3_close(db);
    Arena arena;
    EpisodeRow row;
    arena_init(&arena, 1 << 22);
    ck_assert_msg(prove(log, "fall", &row, &arena) == 0, "%s", first_find);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

// What anything is stepped or sized by.
static const char *const sizes[] = {"body_count",       "content",     "stride",     "lossy",
                                    "dynamics_version", "world_count", "world_range"};

START_TEST(nothing_is_stepped_by_a_row_that_its_definition_does_not_confirm) {
    Log *log = file_open(&file);
    record(log, 1, 5, 100);
    LogReader *reader;
    Arena arena;
    EpisodeRow row;
    Error error = {0};
    char edit[96];
    arena_init(&arena, 1 << 22);
    ck_assert_int_eq(log_take_reader(log, &reader, &error), STATUS_OK);
    ck_assert_int_eq(log_reader_find(reader, "fall", &arena, &row, &error), STATUS_OK);
    ck_assert_int_eq(proof_check_row(reader, &row, &error), STATUS_OK);
    snprintf(edit, sizeof(edit), "UPDATE recording SET %s = %s + 1", sizes[_i], sizes[_i]);
    sql(&file, edit);
    ck_assert_int_eq(log_reader_find(reader, "fall", &arena, &row, &error), STATUS_OK);
    ck_assert_int_eq(proof_check_row(reader, &row, &error), STATUS_DATA_LOSS);
    ck_assert_msg(strstr(error.message, sizes[_i]) != NULL, "%s", error.message);
    log_give_reader(log, reader);
    arena_deinit(&arena);
    log_close(log);
}
END_TEST

START_TEST(one_episode_is_deleted_and_the_others_stay) {
    Log *log = file_open(&file);
    record_group(log, CHUNK_FORMAT_GAINS);
    uint8_t uid[UID_BYTES];
    uid_of(1, 0xaa, uid);
    uid_of_episode(uid, 323, uid);
    Waiter waiter;
    log_delete(log, uid, waiter_init(&waiter));
    ck_assert_int_eq(waiter_wait(&waiter), STATUS_OK);
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM episode"), "639\n");
    ck_assert_str_eq(sql(&file, "SELECT count(*) FROM chunk"), "52\n");
    log_close(log);
}
END_TEST

// A chunk now and then, as ranges of worlds close theirs; also where the machine is busy, most come
// while another one waits.
START_TEST(chunks_of_a_group_share_transactions) {
    enum { CHUNKS = 40 };
    Log *log = file_open(&file);
    RecordingDef def = def_of(1);
    def.world_count = WORLDS;
    def.world_range = RANGE;
    LogRecording *recording = begin(log, &def);
    const uint64_t before = log_figures(log).transactions;
    for (uint64_t i = 0; i < CHUNKS; i++) {
        put(log, recording, CHUNK_INPUTS, i, i + 1, 100);
        usleep(1000);
    }
    ck_assert_int_eq(end(recording, RECORDING_COMPLETE, CHUNKS, NULL), STATUS_OK);
    ck_assert_uint_le(log_figures(log).transactions - before, CHUNKS / 2);
    log_close(log);
}
END_TEST

static TCase *case_group(void) {
    TCase *tcase = tcase_create("group");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, chunks_of_a_group_share_transactions);
    tcase_add_test(tcase, episodes_of_a_group_are_rows_with_numbers_of_their_own);
    tcase_add_test(tcase, what_was_put_is_in_the_file_when_that_is_asked_for);
    tcase_add_test(tcase, episodes_say_what_came_of_their_opinions);
    tcase_add_test(tcase, episodes_rank_by_what_was_earned_in_doubtful_steps);
    tcase_add_test(tcase, one_world_is_proven_without_the_others);
    tcase_add_test(tcase, what_several_episodes_share_is_kept_until_somebody_writes);
    tcase_add_test(tcase, a_chunk_of_episodes_that_is_kept_is_of_its_recording_and_its_time);
    tcase_add_loop_test(tcase, what_is_said_of_one_episode_is_compared_with_what_was_sealed, 0,
                        2 * EDITS);
    tcase_add_test(tcase, a_chunk_that_is_sound_alone_is_not_the_one_that_was_followed);
    tcase_add_loop_test(tcase, a_header_that_lies_with_right_checksums_is_not_what_its_row_says, 0,
                        (int)(sizeof(fields) / sizeof(fields[0])));
    tcase_add_test(tcase, a_chain_whose_checksums_were_made_right_is_as_it_was);
    tcase_add_loop_test(tcase, nothing_is_stepped_by_a_row_that_its_definition_does_not_confirm, 0,
                        (int)(sizeof(sizes) / sizeof(sizes[0])));
    tcase_add_test(tcase, one_episode_is_deleted_and_the_others_stay);
    return tcase;
}

SUITE_MAIN("log/group", case_group)
