// SPDX-License-Identifier: MIT
// Recordings that a server signs with its --seal-key: who checks them with its public half is told
// so, of worlds and of groups, and that another has signed them, or nobody; of what a crash cut
// off, up to where. Keys that are none, or everybody's to read, let no server start and change
// nothing.
#include "access/seal_key.h"
#include "base/hex.h"
#include "log/format/chunk.h"
#include "support/suite.h"
#include "support/wire_signed.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATIENCE_MS = 60000 };

static WireSigned signing;
static WireDepot *const depot = &signing.depot;

static void set_up(void) {
    wire_signed_open(&signing);
}

static void tear_down(void) {
    wire_signed_close(&signing);
}

static void expect(const char *episode, const char *key, int status, const char *sentence) {
    wire_signed_expect(&signing, episode, key, status, sentence);
}

static int64_t number(const char *sql) {
    return wire_depot_number(depot, sql);
}

// What `moreau episodes` says of it, which compares nothing: "to its end,", say, and a key.
static void expect_described(const char *episode, const char *how, const char *key) {
    char line[256], path[256], digits[80], wanted[128];
    snprintf(path, sizeof(path), "%s/%s/seal.pub", signing.keys, key);
    uint8_t bytes[SEAL_PUBLIC_BYTES];
    Error error;
    ck_assert_int_eq(seal_public_read(path, bytes, &error), STATUS_OK);
    hex_text(bytes, SEAL_PUBLIC_BYTES, digits);
    snprintf(wanted, sizeof(wanted), "signed %s step 60 by %s, so the file says", how, digits);
    snprintf(line, sizeof(line), "moreau episodes %s | tr -s ' \\n' ' '", episode);
    ck_assert_int_eq(
        server_shell(depot->server->address[0], line, signing.said, sizeof(signing.said)), 0);
    ck_assert_msg(strstr(signing.said, wanted) != NULL, "not \"%s\": %s", wanted, signing.said);
}

static void expect_undescribed(const char *episode) {
    char line[128];
    snprintf(line, sizeof(line), "moreau episodes %s", episode);
    ck_assert_int_eq(
        server_shell(depot->server->address[0], line, signing.said, sizeof(signing.said)), 0);
    ck_assert_msg(strstr(signing.said, "signed") == NULL, "%s", signing.said);
}

// ---- signed

START_TEST(a_world_is_signed_to_its_end) {
    wire_signed_world(&signing, "heap");
    expect("heap", "mine", 0, "signed from its beginning to its end, step 60, by ");
    expect_described("heap", "to its end,", "mine");
    expect("heap", "other", 4, "signed by another (");
    wire_depot_stop(depot);
    // behind each key-frame, and in front of the seal
    ck_assert_int_eq(number("SELECT count(*) FROM chunk WHERE kind = 14"),
                     number("SELECT count(*) + 1 FROM chunk WHERE kind = 1"));
    ck_assert_int_eq(number("SELECT count(*) FROM chunk k JOIN chunk s ON "
                            "s.sequence = k.sequence + 1 WHERE k.kind = 1 AND "
                            "s.kind <> 14"),
                     0);
    ck_assert_int_eq(number("SELECT s.kind FROM chunk k JOIN chunk s ON "
                            "s.sequence = k.sequence - 1 WHERE k.kind = 7"),
                     CHUNK_SIGNATURE);
    wire_depot_restart(depot, "--workers 1"); // without the key, which verifying needs not
    expect("heap", "mine", 0, "signed from its beginning to its end");
}
END_TEST

// Until the log's thread has written the key-frame of step 48.
static void await_signed(const char *episode) {
    const char *all = wire_signed_verify(&signing, episode, "mine", 4);
    for (int tries = 0; tries < 50 && strstr(all, "step 48") == NULL; tries++) {
        server_sleep_ms(100);
        all = wire_signed_verify(&signing, episode, "mine", 4);
    }
    ck_assert_msg(strstr(all, "signed up to step 48 by ") != NULL, "%s", all);
}

START_TEST(what_is_being_recorded_is_signed_up_to_a_key_frame) {
    wire_signed_begin(&signing, "open");
    await_signed("open");
}
END_TEST

START_TEST(each_world_of_a_group_is_signed) {
    char last[WIRE_EPISODE_ID_BYTES];
    wire_signed_group(&signing, "balance");
    wire_depot_stop(depot);
    const int64_t count = number("SELECT count(*) FROM episode");
    ck_assert_int_ge(count, WIRE_SIGNED_WORLDS);
    wire_depot_restart(depot, signing.options);
    for (int64_t i = 0; i < count; i++) {
        wire_signed_episode(&signing, (size_t)i, last);
        expect(last, "mine", 0, "signed from its beginning to its end");
        expect(last, "other", 4, "signed by another (");
    }
}
END_TEST

START_TEST(without_a_key_nothing_is_different) {
    wire_depot_stop(depot);
    wire_depot_restart(depot, "--workers 2");
    wire_signed_world(&signing, "heap");
    wire_signed_group(&signing, "balance");
    expect("heap", "mine", 4, "unsigned");
    expect_undescribed("heap");
    wire_depot_stop(depot);
    // what knows nothing of signatures could have written all of it
    ck_assert_int_eq(number("SELECT count(*) FROM chunk WHERE kind = 14 OR "
                            "substr(bytes, 9, 1) = x'0b'"),
                     0);
    wire_depot_restart(depot, signing.options); // nor is it signed afterwards
    expect("heap", "mine", 4, "unsigned");
}
END_TEST

// ---- found

static void kill_server(void) {
    kill(depot->server->pid, SIGKILL);
    ck_assert_int_eq(server_wait(depot->server, PATIENCE_MS), -1);
    server_free(depot->server);
    wire_close(depot->client);
    depot->server = NULL;
}

static void kill_recording(const char *name) {
    wire_signed_begin(&signing, name);
    await_signed(name);
    server_sleep_ms(1500); // what is behind the key-frame is written by then
    kill_server();
}

START_TEST(what_a_crash_cut_off_is_signed_as_it_was_found) {
    kill_recording("cut");
    wire_depot_restart(depot, signing.options);
    expect("cut", "mine", 4, "signed up to step 48 by ");
    expect("cut", "mine", 4, "what is behind it was found so when the server started again");
    expect("cut", "other", 4, "signed by another (");
    expect_described("cut", "as it was found, to", "mine");
    wire_depot_stop(depot);
    ck_assert_int_eq(number("SELECT count(*) FROM chunk WHERE kind = 2 AND last_step = 60"), 1);
    ck_assert_int_eq(number("SELECT s.kind FROM chunk k JOIN chunk s ON s.sequence = k.sequence - "
                            "1 WHERE k.kind = 7"),
                     CHUNK_SIGNATURE);
    wire_depot_restart(depot, signing.options); // once and for all
    expect("cut", "mine", 4, "was found so");
}
END_TEST

START_TEST(a_group_that_a_crash_cut_off_is_too) {
    char id[WIRE_EPISODE_ID_BYTES];
    wire_signed_begin_group(&signing, "cut");
    server_sleep_ms(2500); // finished episodes are written within a second or two
    kill_server();
    wire_depot_restart(depot, signing.options);
    wire_signed_episode(&signing, 0, id);
    expect(id, "mine", 4, "was found so when the server started again");
}
END_TEST

START_TEST(another_key_signs_nothing_that_it_found) {
    char text[512];
    kill_recording("cut");
    snprintf(text, sizeof(text), "--workers 2 --seal-key %s/other/seal.key", signing.keys);
    wire_depot_restart(depot, text);
    expect("cut", "mine", 4, "signed up to step 48 by ");
    expect("cut", "mine", 4, "nobody vouches for what is behind it");
    expect("cut", "other", 4, "signed by another (");
}
END_TEST

// A start is no forger: what it would have to sign was changed, or never signed.
START_TEST(what_was_changed_before_the_next_start_is_not_found_so) {
    kill_recording("cut");
    wire_depot_flip(depot, wire_depot_chunk(depot, CHUNK_INPUTS, 1), -1, true);
    wire_depot_restart(depot, signing.options);
    const char *all = wire_signed_verify(&signing, "cut", "mine", 4);
    ck_assert_msg(strstr(all, "was found so") == NULL, "%s", all);
    ck_assert_msg(strstr(all, "signed up to step 16 by ") != NULL, "%s", all);
}
END_TEST

START_TEST(what_nobody_signed_is_not_signed_by_the_next_start) {
    wire_depot_stop(depot);
    wire_depot_restart(depot, "--workers 2");
    wire_signed_begin(&signing, "planted");
    server_sleep_ms(2500);
    kill_server();
    wire_depot_restart(depot, signing.options);
    expect("planted", "mine", 4, "unsigned");
}
END_TEST

// ---- recovered

static void recover(void) {
    char text[512];
    wire_depot_stop(depot);
    snprintf(text, sizeof(text), "--recover %s/episodes.db", depot->folder);
    ck_assert_int_eq(server_refusal(text, signing.said, sizeof(signing.said)), 0);
}

// It copies chunks as they are, and has no key: what was signed is, and what it seals is not.
START_TEST(recovering_keeps_signatures_and_makes_none) {
    wire_signed_world(&signing, "heap");
    recover();
    wire_depot_restart(depot, signing.options);
    expect("heap", "mine", 0, "signed from its beginning to its end, step 60, by ");
    kill_recording("cut");
    recover();
    ck_assert_int_eq(number("SELECT count(*) FROM chunk WHERE kind = 14 AND recording = 2"), 4);
    wire_depot_restart(depot, signing.options); // finds nothing to be ended
    expect("cut", "mine", 4, "signed up to step 48 by ");
    expect("cut", "mine", 4, "nobody vouches for what is behind it");
}
END_TEST

// ---- bad keys

static void refuse(const char *file, const char *sentence) {
    char text[512];
    struct stat info;
    snprintf(text, sizeof(text), "--db %s/never.db --seal-key %s/%s", signing.keys, signing.keys,
             file);
    const int status = server_refusal(text, signing.said, sizeof(signing.said));
    ck_assert_msg(status == 1 && strstr(signing.said, sentence) != NULL, "%s: %d, %s", file, status,
                  signing.said);
    ck_assert_ptr_null(strchr(strchr(signing.said, '\n') + 1, '\n')); // one sentence
    snprintf(text, sizeof(text), "%s/never.db", signing.keys);
    ck_assert_int_ne(stat(text, &info), 0); // nothing was made
}

START_TEST(what_is_no_key_is_said) {
    char path[256], command[1024];
    static char long_text[20000];
    refuse("nowhere", "nowhere cannot be read: No such file or directory.");
    server_write(signing.keys, "text", "a key of Ed25519\n");
    snprintf(path, sizeof(path), "%s/text", signing.keys);
    ck_assert_int_eq(chmod(path, 0600), 0);
    refuse("text", "holds no Ed25519 key in PEM without a passphrase");
    memset(long_text, 'x', sizeof(long_text) - 1);
    server_write(signing.keys, "long", long_text);
    snprintf(path, sizeof(path), "%s/long", signing.keys);
    ck_assert_int_eq(chmod(path, 0600), 0);
    refuse("long", "is too long for a key");
    snprintf(command, sizeof(command),
             "cd %s && openssl genpkey -algorithm RSA -out rsa 2>/dev/null && openssl pkcs8 -topk8 "
             "-in mine/seal.key -passout pass:x -out locked && cp mine/seal.key open && chmod 604 "
             "open && cp mine/seal.key shared && chmod 640 shared && mkdir folder && mkfifo -m 600 "
             "pipe && cp mine/seal.pub public && chmod 600 rsa locked public",
             signing.keys);
    ck_assert_int_eq(system(command), 0);
    refuse("rsa", "holds no Ed25519 key");
    refuse("locked", "without a passphrase");
    refuse("public", "holds no Ed25519 key");
    refuse("open", "may be read by everybody");
    refuse("folder", "is no file.");
    refuse("pipe", "is no file.");
    snprintf(command, sizeof(command), "--workers 2 --seal-key %s/shared", signing.keys);
    wire_depot_stop(depot);
    wire_depot_restart(depot, command); // its group may read it
}
END_TEST

START_TEST(keys_are_made_once) {
    char text[256];
    snprintf(text, sizeof(text), "--seal-new %s/mine", signing.keys);
    ck_assert_int_eq(server_refusal(text, signing.said, sizeof(signing.said)), 1);
    ck_assert_msg(strstr(signing.said, "seal.key is there already, and is left as it is.") != NULL,
                  "%s", signing.said);
    ck_assert_int_eq(server_refusal("--seal-key x", signing.said, sizeof(signing.said)), 2);
    ck_assert_msg(strstr(signing.said, "give it with --db") != NULL, "%s", signing.said);
    wire_signed_world(&signing, "heap");
    expect("heap", "nobody", 2, "cannot be read: No such file or directory.");
    ck_assert_int_eq(server_shell(depot->server->address[0],
                                  "moreau call EpisodeVerify '{\"episode\": \"heap\", "
                                  "\"seal_public_key\": \"AAAA\"}' 2>&1",
                                  signing.said, sizeof(signing.said)),
                     1);
    ck_assert_msg(strstr(signing.said, "A public key of Ed25519 has 32 bytes, not 3.") != NULL,
                  "%s", signing.said);
}
END_TEST

static TCase *case_signed(void) {
    TCase *tcase = tcase_create("signed");
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, a_world_is_signed_to_its_end);
    tcase_add_test(tcase, what_is_being_recorded_is_signed_up_to_a_key_frame);
    tcase_add_test(tcase, each_world_of_a_group_is_signed);
    tcase_add_test(tcase, without_a_key_nothing_is_different);
    tcase_add_test(tcase, what_a_crash_cut_off_is_signed_as_it_was_found);
    tcase_add_test(tcase, a_group_that_a_crash_cut_off_is_too);
    tcase_add_test(tcase, another_key_signs_nothing_that_it_found);
    tcase_add_test(tcase, what_was_changed_before_the_next_start_is_not_found_so);
    tcase_add_test(tcase, what_nobody_signed_is_not_signed_by_the_next_start);
    tcase_add_test(tcase, recovering_keeps_signatures_and_makes_none);
    tcase_add_test(tcase, what_is_no_key_is_said);
    tcase_add_test(tcase, keys_are_made_once);
    return tcase;
}

SUITE_MAIN("system/signed", case_signed)
