// SPDX-License-Identifier: MIT
// Signed recordings, forged by somebody who knows the format and has not the key: chunks and fields
// of the seal are edited, chains cut, spliced and doubled, chunks swapped, signatures moved between
// recordings; numbers, predecessors, counts, checksums and rows are all made right again. None is
// called signed, and nothing at or behind what was forged is said to be signed up to there.
//
// MOREAU_FORGERIES=DIR has each of them written there, for the viewer's page to judge
// (clients/web/tests/forgeries.mjs), with a line in the list `verdicts` of each episode: the file,
// the public key, the episode, who signed it by what is judged here, and up to which step.
#include "base/hex.h"
#include "log/format/definition.h"
#include "log/mend.h"
#include "log/reader/reader.h"
#include "replay/verify/signed.h"
#include "support/suite.h"
#include "support/wire_signed.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNKS_MAX = 200, CHAINS_MAX = 16, PATH_BYTES = 256, FIND_BYTES = 1 << 28 };
enum { AT_VERSION = 8, AT_UID = 16, AT_SEQUENCE = 32, AT_FIRST_STEP = 48, AT_TIME = 64 };
enum { AT_WRITTEN = 72, AT_CHECKSUM = 184 };
enum { SEAL_KINDS = 8 * (7 + 8), SEAL_CHAINS = SEAL_KINDS + 8 * (CHUNK_SIGNATURE + 1) + 8 };
enum { SEAL_CHAIN_BYTES = 24 };

static WireSigned signing;
static char path[PATH_BYTES], kept[PATH_BYTES];
static uint8_t mine[SEAL_PUBLIC_BYTES];
static unsigned forged, asked;  // of all, and by the tool
static char judged[PATH_BYTES]; // where the file that is judged is kept; "": nowhere

// ---- a recording in the forger's hands

typedef struct Item {
    uint8_t *bytes; // owned
    size_t count;
} Item;

typedef struct Recording {
    int64_t id;
    uint64_t range; // worlds of a chain; 0: it is of one world
    Item item[CHUNKS_MAX];
    size_t count;
} Recording;

static uint64_t get_u64(const uint8_t *bytes, size_t at) {
    Source source = {.bytes = bytes, .count = at + 8, .used = at};
    return source_u64(&source);
}

static Chunk head_of(const Item *item) {
    Chunk chunk;
    ck_assert_int_eq(chunk_read_head(item->bytes, item->count, &chunk, NULL), STATUS_OK);
    return chunk;
}

static size_t chain_of(const Recording *recording, const Item *item) {
    const Chunk head = head_of(item);
    return recording->range == 0 || chunk_kind_is_common(head.kind)
               ? 0
               : 1 + (size_t)(head.first_world / recording->range);
}

static sqlite3 *open_file(void) {
    sqlite3 *db;
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *text) {
    sqlite3_stmt *statement;
    ck_assert_msg(sqlite3_prepare_v2(db, text, -1, &statement, NULL) == SQLITE_OK, "%s",
                  sqlite3_errmsg(db));
    return statement;
}

static Item copy_of(const void *bytes, size_t count) {
    Item item = {.bytes = malloc(count), .count = count};
    ck_assert_ptr_nonnull(item.bytes);
    memcpy(item.bytes, bytes, count);
    return item;
}

static void take(Recording *recording, int64_t id) {
    sqlite3 *db = open_file();
    sqlite3_stmt *row = prepare(db, "SELECT CASE WHEN world_count > 1 THEN world_range ELSE 0 END "
                                    "FROM recording WHERE id = ?1");
    sqlite3_bind_int64(row, 1, id);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    *recording = (Recording){.id = id, .range = (uint64_t)sqlite3_column_int64(row, 0)};
    sqlite3_finalize(row);
    row = prepare(db, "SELECT bytes FROM chunk WHERE recording = ?1 ORDER BY kind = 7, sequence, "
                      "first_world");
    sqlite3_bind_int64(row, 1, id);
    while (sqlite3_step(row) == SQLITE_ROW) {
        ck_assert_uint_lt(recording->count, CHUNKS_MAX);
        recording->item[recording->count++] =
            copy_of(sqlite3_column_blob(row, 0), (size_t)sqlite3_column_bytes(row, 0));
    }
    sqlite3_finalize(row);
    sqlite3_close(db);
}

static void drop(Recording *recording) {
    for (size_t i = 0; i < recording->count; i++) {
        free(recording->item[i].bytes);
    }
    recording->count = 0;
}

static void leave_out(Recording *recording, size_t index) {
    free(recording->item[index].bytes);
    recording->count--;
    memmove(&recording->item[index], &recording->item[index + 1],
            (recording->count - index) * sizeof(Item));
}

static void put_in(Recording *recording, size_t index, Item item) {
    ck_assert_uint_lt(recording->count, CHUNKS_MAX);
    memmove(&recording->item[index + 1], &recording->item[index],
            (recording->count - index) * sizeof(Item));
    recording->item[index] = item;
    recording->count++;
}

// ---- everything made right again

typedef struct Ends {
    uint64_t count[CHAINS_MAX], checksum[CHAINS_MAX], kinds[CHUNK_KIND_COUNT];
} Ends;

static void mend_seal(const Item *seal, const Ends *ends) {
    uint8_t *body = seal->bytes + CHUNK_HEADER_BYTES;
    ck_assert_uint_eq(seal->bytes[AT_VERSION], CHUNK_FORMAT_SIGNATURES);
    for (size_t kind = 0; kind <= CHUNK_SIGNATURE; kind++) {
        put_u64(body, SEAL_KINDS + 8 * kind, ends->kinds[kind]);
    }
    const uint64_t chains = get_u64(body, SEAL_CHAINS - 8);
    for (size_t i = 0; i < chains; i++) {
        put_u64(body, SEAL_CHAINS + SEAL_CHAIN_BYTES * i + 8, ends->count[i]);
        put_u64(body, SEAL_CHAINS + SEAL_CHAIN_BYTES * i + 16, ends->checksum[i]);
    }
}

// `word` of the seal's body is another one in the end; SIZE_MAX: none.
static void mend(Recording *recording, size_t word) {
    Ends ends = {0};
    for (size_t i = 0; i < recording->count; i++) {
        const Item *item = &recording->item[i];
        const Chunk head = head_of(item);
        const size_t chain = chain_of(recording, item);
        ck_assert_uint_lt(chain, CHAINS_MAX);
        if (head.kind == CHUNK_SEAL) {
            mend_seal(item, &ends);
            if (word != SIZE_MAX) {
                item->bytes[CHUNK_HEADER_BYTES + 8 * word] ^= 1;
            }
        }
        ends.kinds[head.kind] += head.kind != CHUNK_SEAL;
        put_u64(item->bytes, AT_SEQUENCE, ends.count[chain]++);
        put_u64(item->bytes, MEND_AT_PREDECESSOR, ends.checksum[chain]);
        mend_checksum(item->bytes, item->count);
        ends.checksum[chain] = get_u64(item->bytes, AT_CHECKSUM);
    }
}

static void store(const Recording *recording) {
    sqlite3 *db = open_file();
    char text[128];
    snprintf(text, sizeof(text), "BEGIN; DELETE FROM chunk WHERE recording = %lld",
             (long long)recording->id);
    ck_assert_int_eq(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_stmt *row = prepare(
        db, "INSERT INTO chunk(recording, kind, sequence, first_world, world_count, first_step, "
            "last_step, time_s, written_ns, bytes) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, "
            "?10)");
    for (size_t i = 0; i < recording->count; i++) {
        const Chunk head = head_of(&recording->item[i]);
        sqlite3_bind_int64(row, 1, recording->id);
        sqlite3_bind_int(row, 2, (int)head.kind);
        sqlite3_bind_int64(row, 3, (int64_t)head.sequence);
        sqlite3_bind_int64(row, 4, head.first_world);
        sqlite3_bind_int64(row, 5, head.world_count);
        sqlite3_bind_int64(row, 6, (int64_t)head.first_step);
        sqlite3_bind_int64(row, 7, (int64_t)head.last_step);
        sqlite3_bind_double(row, 8, head.time);
        sqlite3_bind_int64(row, 9, (int64_t)head.written_ns);
        sqlite3_bind_blob(row, 10, recording->item[i].bytes, (int)recording->item[i].count,
                          SQLITE_STATIC);
        ck_assert_int_eq(sqlite3_step(row), SQLITE_DONE);
        sqlite3_reset(row);
    }
    sqlite3_finalize(row);
    ck_assert_int_eq(sqlite3_exec(db, "COMMIT", NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

// ---- who is asked

static void copy_file(const char *from, const char *to) {
    char command[2 * PATH_BYTES + 64];
    snprintf(command, sizeof(command), "cp %s %s && rm -f %s-wal %s-shm", from, to, to, to);
    ck_assert_int_eq(system(command), 0);
}

// What the page is to say of it, too.
static void keep_file(void) {
    const char *folder = getenv("MOREAU_FORGERIES");
    static unsigned count;
    judged[0] = '\0';
    if (folder != NULL) { // each test is a process of its own
        snprintf(judged, sizeof(judged), "%s/%d-%03u.db.gz", folder, (int)getpid(), count++);
        char command[2 * PATH_BYTES + 32]; // of a megabyte most is empty
        snprintf(command, sizeof(command), "gzip -1 <%s >%s", path, judged);
        ck_assert_int_eq(system(command), 0);
    }
}

static void keep_verdict(const EpisodeRow *row, const SignedResult *result) {
    static const char *const by[] = {[SIGNED_BY_NOBODY] = "nobody",
                                     [SIGNED_BY_ANOTHER] = "another",
                                     [SIGNED_IN_PART] = "part",
                                     [SIGNED_FOUND] = "found",
                                     [SIGNED_WHOLLY] = "wholly"};
    char list[PATH_BYTES], key[2 * SEAL_PUBLIC_BYTES + 1], uid[2 * UID_BYTES + 1];
    if (judged[0] == '\0') {
        return;
    }
    snprintf(list, sizeof(list), "%s/verdicts", getenv("MOREAU_FORGERIES"));
    hex_text(mine, SEAL_PUBLIC_BYTES, key);
    hex_text(row->uid, UID_BYTES, uid);
    FILE *file = fopen(list, "a");
    ck_assert_ptr_nonnull(file);
    fprintf(file, "%s %s %s %s %llu\n", strrchr(judged, '/') + 1, key, uid, by[result->by],
            (unsigned long long)result->step);
    ck_assert_int_eq(fclose(file), 0);
}

// What `moreau verify` asks of each episode of the recording: how many of a chain (SIZE_MAX: of
// any) are signed to the end, and the last step of one of these that is signed.
static size_t count_signed(const Recording *recording, size_t chain, uint64_t *step) {
    LogReader *reader;
    Arena arena;
    EpisodeRows rows;
    Error error = {0};
    size_t count = 0;
    *step = 0;
    keep_file();
    arena_init(&arena, FIND_BYTES);
    ck_assert_int_eq(log_reader_open(path, &reader, &error), STATUS_OK);
    const EpisodeFilter all = {.state = -1, .count = 1000};
    ck_assert_msg(log_reader_list(reader, &all, &arena, &rows, &error) == STATUS_OK, "%s",
                  error.message);
    for (size_t i = 0; i < rows.count; i++) {
        const EpisodeRow *row = &rows.row[i];
        const size_t its =
            recording->range == 0 ? 0 : 1 + (size_t)(row->world_index / recording->range);
        if (row->recording != recording->id) {
            continue;
        }
        SignedCheck *check;
        bool is_over = false;
        ck_assert_int_eq(signed_open(&check, reader, row, mine, FIND_BYTES, &error), STATUS_OK);
        while (!is_over) {
            ck_assert_int_eq(signed_work(check, reader, UINT64_MAX, NULL, &is_over, &error),
                             STATUS_OK);
        }
        const SignedResult result = signed_result(check);
        keep_verdict(row, &result);
        if (chain == SIZE_MAX || chain == 0 || its == chain) {
            count += result.by == SIGNED_WHOLLY;
            *step = result.step > *step ? result.step : *step;
        }
        signed_close(check);
    }
    log_reader_close(reader);
    arena_deinit(&arena);
    return count;
}

// Every so often the tool itself is asked, too.
static void ask_tool(const Recording *recording) {
    enum { EVERY = 25 };
    if (forged % EVERY != 0) {
        return;
    }
    wire_depot_restart(&signing.depot, "--workers 1");
    wire_signed_verify(&signing, recording->range == 0 ? "world" : "first", "mine", 4);
    wire_depot_stop(&signing.depot);
    asked++;
}

// The recording as it stands now is not signed to its end, nor beyond that step.
static void refuse(Recording *recording, size_t chain, uint64_t step, size_t word,
                   const char *what) {
    uint64_t signed_step;
    mend(recording, word);
    store(recording);
    const size_t count = count_signed(recording, chain, &signed_step);
    ck_assert_msg(count == 0, "%s: signed", what);
    ck_assert_msg(recording->range > 0 || signed_step <= step,
                  "%s: signed up to step %llu, and forged from %llu on", what,
                  (unsigned long long)signed_step, (unsigned long long)step);
    forged++;
    if (recording->range == 0) {
        ask_tool(recording);
    }
    copy_file(kept, path);
}

// The last step of the inputs before a chunk.
static uint64_t steps_before(const Recording *recording, size_t index) {
    uint64_t step = 0;
    for (size_t i = 0; i < index && i < recording->count; i++) {
        const Chunk head = head_of(&recording->item[i]);
        step = head.kind == CHUNK_INPUTS && head.last_step > step ? head.last_step : step;
    }
    return step;
}

// ---- life

static void set_up(void) {
    char text[PATH_BYTES];
    Error error;
    wire_signed_open(&signing);
    const uint64_t world =
        wire_world(signing.depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = "world";
    start.has_keyframe_steps = 1, start.keyframe_steps = 16;
    start.has_content = 1, start.content = MOREAU__V1__EPISODE__CONTENT__CONTACTS;
    start.has_events = 1, start.events = true;
    wire_record(signing.depot.client, &start);
    wire_step(signing.depot.client, world, WIRE_SIGNED_STEPS);
    wire_stop_recording(signing.depot.client, world);
    wire_signed_world(&signing, "second"); // what is spliced
    wire_signed_group(&signing, "group");
    wire_signed_expect(&signing, "world", "mine", 0, "signed from its beginning to its end");
    wire_depot_stop(&signing.depot);
    snprintf(path, sizeof(path), "%s/episodes.db", signing.depot.folder);
    snprintf(kept, sizeof(kept), "%s/kept.db", signing.keys);
    snprintf(text, sizeof(text), "%s/mine/seal.pub", signing.keys);
    ck_assert_int_eq(seal_public_read(text, mine, &error), STATUS_OK);
    copy_file(path, kept);
    forged = asked = 0;
}

static void tear_down(void) {
    wire_depot_restart(&signing.depot, "--workers 1");
    wire_signed_close(&signing);
}

// So that what is refused is not refused for how it was written.
START_TEST(what_is_made_right_and_not_forged_is_signed) {
    Recording recording;
    uint64_t step;
    for (int64_t id = 1; id <= 3; id++) {
        take(&recording, id);
        mend(&recording, SIZE_MAX);
        store(&recording);
        const size_t count = count_signed(&recording, SIZE_MAX, &step);
        ck_assert_uint_eq(count, (size_t)wire_depot_number(
                                     &signing.depot, id == 1   ? "SELECT count(*) FROM episode "
                                                                 "WHERE recording = 1"
                                                     : id == 2 ? "SELECT count(*) FROM episode "
                                                                 "WHERE recording = 2"
                                                               : "SELECT count(*) FROM episode "
                                                                 "WHERE recording = 3"));
        ck_assert_uint_gt(count, 0);
        drop(&recording);
    }
}
END_TEST

// ---- edits

// Other bytes of a body with the same checksum, so that nothing behind it changes: 16, of which the
// product in the first lane of base/hash.c is what it was. False: the body is too short.
static bool collide(Item *item) {
    static const uint64_t key[] = {0x6a09e667f3bcc909u, 0xbb67ae8584caa73bu}; // of that lane
    enum { AT = CHUNK_HEADER_BYTES + 8, BEFORE = 184 }; // 64 bytes a block, three in front of it
    if (item->count < AT + 16) {
        return false;
    }
    Hash hash;
    hash_init(&hash, 0);
    hash_add(&hash, item->bytes, BEFORE);
    hash_add(&hash, item->bytes + CHUNK_HEADER_BYTES, 8);
    const uint64_t state = key[1] ^ hash.accumulator[0];
    __extension__ const unsigned __int128 wide =
        (unsigned __int128)(get_u64(item->bytes, AT) ^ key[0]) *
        (get_u64(item->bytes, AT + 8) ^ state);
    const uint64_t checksum = get_u64(item->bytes, AT_CHECKSUM);
    put_u64(item->bytes, AT, key[0] ^ 1);
    put_u64(item->bytes, AT + 8, (uint64_t)wide ^ (uint64_t)(wide >> 64) ^ state);
    mend_checksum(item->bytes, item->count);
    ck_assert_uint_eq(get_u64(item->bytes, AT_CHECKSUM), checksum);
    return true;
}

static bool is_edited(Item *item, int edit) {
    const Chunk head = head_of(item);
    switch (edit) {
    case 0:
        item->bytes[AT_WRITTEN] ^= 1;
        return true;
    case 1:
        item->bytes[AT_TIME + 6] ^= 1;
        return head.time != 0.0 || head.kind == CHUNK_DEFINITION;
    case 2:
        put_u64(item->bytes, AT_FIRST_STEP, head.first_step + 1);
        put_u64(item->bytes, AT_FIRST_STEP + 8, head.last_step + 1);
        return true;
    case 3:
        item->bytes[item->count - 1] ^= 1;
        return item->count > CHUNK_HEADER_BYTES;
    case 4:
        item->bytes[CHUNK_HEADER_BYTES] ^= 1;
        return item->count > CHUNK_HEADER_BYTES;
    case 5:
        return collide(item);
    default:
        item->bytes[CHUNK_HEADER_BYTES + (item->count - CHUNK_HEADER_BYTES) / 2] ^= 1;
        return item->count > CHUNK_HEADER_BYTES;
    }
}

START_TEST(no_edited_chunk_is_signed) {
    enum { EDITS = 7 };
    Recording recording;
    bool seen[CHUNK_KIND_COUNT] = {false};
    take(&recording, _i);
    const size_t count = recording.count;
    drop(&recording);
    for (size_t i = 0; i < count; i++) {
        for (int edit = 0; edit < EDITS; edit++) {
            char what[64];
            take(&recording, _i);
            const Chunk head = head_of(&recording.item[i]);
            snprintf(what, sizeof(what), "chunk %zu (%s), edit %d", i, chunk_kind_name(head.kind),
                     edit);
            // the end of a seal is padding and text; what its fields are is another test's
            if (head.kind != CHUNK_SEAL && is_edited(&recording.item[i], edit)) {
                const uint64_t step = steps_before(&recording, i);
                refuse(&recording, chain_of(&recording, &recording.item[i]), step, SIZE_MAX, what);
                seen[head.kind] = true;
            }
            drop(&recording);
        }
    }
    static const ChunkKind of_world[] = {CHUNK_KEYFRAME,   CHUNK_INPUTS,   CHUNK_FRAMES,
                                         CHUNK_CONTACTS,   CHUNK_SCENE,    CHUNK_EVENTS,
                                         CHUNK_DEFINITION, CHUNK_SIGNATURE};
    static const ChunkKind of_group[] = {CHUNK_KEYFRAME, CHUNK_INPUTS, CHUNK_EPISODES,
                                         CHUNK_DEFINITION, CHUNK_SIGNATURE};
    for (size_t i = 0; i < (_i == 1 ? 8 : 5); i++) {
        const ChunkKind kind = _i == 1 ? of_world[i] : of_group[i];
        ck_assert_msg(seen[kind], "no chunk (%s) was edited", chunk_kind_name(kind));
    }
    ck_assert_uint_gt(forged, _i == 1 ? 100 : 20);
    ck_assert_uint_ge(asked, _i == 1 ? 4 : 0);
}
END_TEST

// But for the checksum of the chain of all, which mend_seal makes right.
START_TEST(no_edited_field_of_a_seal_is_signed) {
    Recording recording;
    take(&recording, _i);
    const size_t words = (recording.item[recording.count - 1].count - CHUNK_HEADER_BYTES) / 8;
    drop(&recording);
    for (size_t word = 0; word < words; word++) {
        char what[64];
        if (8 * word == SEAL_AT_CHECKSUM) {
            continue;
        }
        take(&recording, _i);
        snprintf(what, sizeof(what), "word %zu of a seal", word);
        refuse(&recording, SIZE_MAX, WIRE_SIGNED_STEPS, word, what);
        drop(&recording);
    }
    ck_assert_uint_gt(forged, 30);
}
END_TEST

// ---- chains

START_TEST(no_chain_that_was_cut_doubled_or_swapped_is_signed) {
    Recording recording;
    take(&recording, _i);
    const size_t count = recording.count;
    put_in(&recording, count, copy_of(recording.item[0].bytes, recording.item[0].count));
    refuse(&recording, 0, WIRE_SIGNED_STEPS, SIZE_MAX, "one is behind the seal");
    drop(&recording);
    for (size_t i = 0; i + 1 < count; i++) {
        take(&recording, _i); // cut off there, with a seal behind
        while (recording.count > i + 1) {
            leave_out(&recording, recording.count - 2);
        }
        refuse(&recording, SIZE_MAX, steps_before(&recording, i), SIZE_MAX, "cut, and sealed");
        drop(&recording);

        take(&recording, _i); // this one is missing
        const uint64_t step = steps_before(&recording, i);
        const size_t chain = chain_of(&recording, &recording.item[i]);
        leave_out(&recording, i);
        refuse(&recording, chain, step, SIZE_MAX, "one is missing");
        drop(&recording);

        take(&recording, _i); // and twice
        put_in(&recording, i, copy_of(recording.item[i].bytes, recording.item[i].count));
        refuse(&recording, chain, steps_before(&recording, i + 1), SIZE_MAX, "one is there twice");
        drop(&recording);

        take(&recording, _i); // and in another's place
        if (i + 2 < count && chain_of(&recording, &recording.item[i + 1]) == chain) {
            const Item item = recording.item[i];
            recording.item[i] = recording.item[i + 1];
            recording.item[i + 1] = item;
            refuse(&recording, chain, step, SIZE_MAX, "two are swapped");
        }
        drop(&recording);
    }
    ck_assert_uint_gt(forged, _i == 1 ? 40 : 30);
}
END_TEST

// A chunk of another recording, which the same server signed, says that it is of this one.
START_TEST(nothing_of_another_recording_is_signed_here) {
    Recording recording, other;
    take(&other, 2);
    for (size_t i = 0; i < other.count; i++) {
        take(&recording, 1);
        memcpy(other.item[i].bytes + AT_UID, recording.item[0].bytes + AT_UID, UID_BYTES);
        const Chunk head = head_of(&other.item[i]);
        for (size_t k = 0; k < recording.count; k++) {
            const Chunk here = head_of(&recording.item[k]);
            if (here.kind == head.kind && here.first_step == head.first_step) {
                const uint64_t step = steps_before(&recording, k);
                leave_out(&recording, k);
                put_in(&recording, k, copy_of(other.item[i].bytes, other.item[i].count));
                refuse(&recording, 0, step, SIZE_MAX, chunk_kind_name(head.kind));
                break;
            }
        }
        drop(&recording);
    }
    ck_assert_uint_ge(forged, other.count - 1);
    drop(&other);
    take(&recording, 1); // all of its chunks, by the name of the first
    take(&other, 2);
    for (size_t i = 0; i < other.count; i++) {
        memcpy(other.item[i].bytes + AT_UID, recording.item[0].bytes + AT_UID, UID_BYTES);
    }
    other.id = 1;
    refuse(&other, 0, 0, SIZE_MAX, "all of another recording");
    drop(&other);
    drop(&recording);
}
END_TEST

static TCase *case_forged(void) {
    TCase *tcase = tcase_create("forged");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 600);
    tcase_add_test(tcase, what_is_made_right_and_not_forged_is_signed);
    tcase_add_loop_test(tcase, no_edited_chunk_is_signed, 1, 2);
    tcase_add_loop_test(tcase, no_edited_chunk_is_signed, 3, 4);
    tcase_add_loop_test(tcase, no_edited_field_of_a_seal_is_signed, 1, 2);
    tcase_add_loop_test(tcase, no_edited_field_of_a_seal_is_signed, 3, 4);
    tcase_add_loop_test(tcase, no_chain_that_was_cut_doubled_or_swapped_is_signed, 1, 2);
    tcase_add_loop_test(tcase, no_chain_that_was_cut_doubled_or_swapped_is_signed, 3, 4);
    tcase_add_test(tcase, nothing_of_another_recording_is_signed_here);
    return tcase;
}

SUITE_MAIN("system/signed_forged", case_forged)
