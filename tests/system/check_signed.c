// SPDX-License-Identifier: MIT
// Recordings that a server signs with its --seal-key: who checks them with its public half is told
// so, of worlds and of groups, and that another has signed them, or nobody. Keys that are none, or
// everybody's to read, let no server start and change nothing.
#include "log/format/chunk.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_episode.h"
#include "support/wire_group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEPS = 60, SAID_BYTES = 8192, WORLDS = 4 };

static WireDepot depot;
static char keys[SERVER_FOLDER_BYTES], options[512], said[SAID_BYTES];

static void make_key(const char *name) {
    char text[256];
    snprintf(text, sizeof(text), "--seal-new %s/%s", keys, name);
    ck_assert_msg(server_refusal(text, said, sizeof(said)) == 0, "%s", said);
}

static void set_up(void) {
    server_make_folder(keys);
    make_key("mine");
    make_key("other");
    snprintf(options, sizeof(options), "--workers 2 --seal-key %s/mine/seal.key", keys);
    wire_depot_open(&depot, options);
}

static void tear_down(void) {
    wire_depot_close(&depot);
    server_remove_folder(keys);
}

static void record_world(void) {
    const uint64_t world = wire_world(depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = "heap";
    start.has_keyframe_steps = 1, start.keyframe_steps = 16;
    wire_record(depot.client, &start);
    wire_step(depot.client, world, STEPS);
    wire_stop_recording(depot.client, world);
}

static uint64_t record_group(void) {
    Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
    record.name = "balance";
    record.has_keyframe_steps = 1, record.keyframe_steps = 16;
    Moreau__V1__GroupCreate *call = wire_group_create_call(WORLDS);
    call->record = &record;
    const uint64_t group = wire_accept(depot.client, call)->group_create->group;
    wire_group_reset(depot.client, group);
    for (int step = 0; step < STEPS; step++) {
        float action[WORLDS] = {0.5f, -0.5f, 0.25f, -0.25f};
        Moreau__V1__GroupStep steps = wire_group_step_call(group, action, WORLDS);
        wire_accept(depot.client, &steps);
    }
    return group;
}

static void end_group(uint64_t group) {
    Moreau__V1__GroupDestroy end = MOREAU__V1__GROUP_DESTROY__INIT;
    end.has_group = 1, end.group = group;
    wire_accept(depot.client, &end);
}

// What `moreau verify` says, which ends with that status.
static const char *verify(const char *episode, const char *key, int status) {
    char line[512];
    snprintf(line, sizeof(line), "moreau verify %s --seal-pub %s/%s/seal.pub 2>&1", episode, keys,
             key);
    const int ended = server_shell(depot.server->address[0], line, said, sizeof(said));
    ck_assert_msg(ended == status, "status %d: %s", ended, said);
    return said;
}

static void expect(const char *episode, const char *key, int status, const char *sentence) {
    const char *all = verify(episode, key, status);
    ck_assert_msg(strstr(all, sentence) != NULL, "not \"%s\": %s", sentence, all);
}

// ---- signed

START_TEST(a_world_is_signed_to_its_end) {
    record_world();
    expect("heap", "mine", 0, "signed from its beginning to its end, step 60, by ");
    expect("heap", "other", 4, "signed by another (");
    wire_depot_stop(&depot);
    // behind each key-frame, and in front of the seal
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk WHERE kind = 14"),
                     wire_depot_number(&depot, "SELECT count(*) + 1 FROM chunk WHERE kind = 1"));
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk k JOIN chunk s ON "
                                               "s.sequence = k.sequence + 1 WHERE k.kind = 1 AND "
                                               "s.kind <> 14"),
                     0);
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT s.kind FROM chunk k JOIN chunk s ON "
                                               "s.sequence = k.sequence - 1 WHERE k.kind = 7"),
                     CHUNK_SIGNATURE);
    wire_depot_restart(&depot, "--workers 1"); // without the key, which verifying needs not
    expect("heap", "mine", 0, "signed from its beginning to its end");
}
END_TEST

START_TEST(what_is_being_recorded_is_signed_up_to_a_key_frame) {
    const uint64_t world = wire_world(depot.client, 4, 7, MOREAU__V1__WORLD__LIFETIME__SESSION).id;
    Moreau__V1__EpisodeStart start = wire_start_call(world);
    start.name = "open";
    start.has_keyframe_steps = 1, start.keyframe_steps = 16;
    wire_record(depot.client, &start);
    wire_step(depot.client, world, STEPS);
    const char *all = verify("open", "mine", 4);
    for (int tries = 0; tries < 50 && strstr(all, "step 48") == NULL; tries++) {
        server_sleep_ms(100); // the log's thread is behind
        all = verify("open", "mine", 4);
    }
    ck_assert_msg(strstr(all, "signed up to step 48 by ") != NULL, "%s", all);
}
END_TEST

START_TEST(each_world_of_a_group_is_signed) {
    char last[64];
    end_group(record_group());
    wire_depot_stop(&depot);
    const int64_t count = wire_depot_number(&depot, "SELECT count(*) FROM episode");
    ck_assert_int_ge(count, WORLDS);
    wire_depot_restart(&depot, options);
    for (int64_t i = 0; i < count; i++) {
        json_t *list = server_shell_json(depot.server->address[0], "moreau episodes --json", 0);
        const json_t *episode = json_array_get(list, (size_t)i);
        snprintf(last, sizeof(last), "%s", json_string_value(json_object_get(episode, "episode")));
        json_decref(list);
        expect(last, "mine", 0, "signed from its beginning to its end");
        expect(last, "other", 4, "signed by another (");
    }
}
END_TEST

START_TEST(without_a_key_nothing_is_different) {
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, "--workers 2");
    record_world();
    end_group(record_group());
    expect("heap", "mine", 4, "unsigned");
    wire_depot_stop(&depot);
    // what knows nothing of signatures could have written all of it
    ck_assert_int_eq(wire_depot_number(&depot, "SELECT count(*) FROM chunk WHERE kind = 14 OR "
                                               "substr(bytes, 9, 1) = x'0b'"),
                     0);
    wire_depot_restart(&depot, options); // nor is it signed afterwards
    expect("heap", "mine", 4, "unsigned");
}
END_TEST

// ---- bad keys

static void refuse(const char *file, const char *sentence) {
    char text[512];
    struct stat info;
    snprintf(text, sizeof(text), "--db %s/never.db --seal-key %s/%s", keys, keys, file);
    const int status = server_refusal(text, said, sizeof(said));
    ck_assert_msg(status == 1 && strstr(said, sentence) != NULL, "%s: %d, %s", file, status, said);
    ck_assert_ptr_null(strchr(strchr(said, '\n') + 1, '\n')); // one sentence
    snprintf(text, sizeof(text), "%s/never.db", keys);
    ck_assert_int_ne(stat(text, &info), 0); // nothing was made
}

START_TEST(what_is_no_key_is_said) {
    char path[256], command[1024];
    static char long_text[20000];
    refuse("nowhere", "nowhere cannot be read: No such file or directory.");
    server_write(keys, "text", "a key of Ed25519\n");
    snprintf(path, sizeof(path), "%s/text", keys);
    ck_assert_int_eq(chmod(path, 0600), 0);
    refuse("text", "holds no Ed25519 key in PEM without a passphrase");
    memset(long_text, 'x', sizeof(long_text) - 1);
    server_write(keys, "long", long_text);
    snprintf(path, sizeof(path), "%s/long", keys);
    ck_assert_int_eq(chmod(path, 0600), 0);
    refuse("long", "is too long for a key");
    snprintf(command, sizeof(command),
             "cd %s && openssl genpkey -algorithm RSA -out rsa 2>/dev/null && openssl pkcs8 -topk8 "
             "-in mine/seal.key -passout pass:x -out locked && cp mine/seal.key open && chmod 604 "
             "open && cp mine/seal.key shared && chmod 640 shared && mkdir folder && mkfifo -m 600 "
             "pipe && cp mine/seal.pub public && chmod 600 rsa locked public",
             keys);
    ck_assert_int_eq(system(command), 0);
    refuse("rsa", "holds no Ed25519 key");
    refuse("locked", "without a passphrase");
    refuse("public", "holds no Ed25519 key");
    refuse("open", "may be read by everybody");
    refuse("folder", "is no file.");
    refuse("pipe", "is no file.");
    snprintf(command, sizeof(command), "--workers 2 --seal-key %s/shared", keys);
    wire_depot_stop(&depot);
    wire_depot_restart(&depot, command); // its group may read it
}
END_TEST

START_TEST(keys_are_made_once) {
    char text[256];
    snprintf(text, sizeof(text), "--seal-new %s/mine", keys);
    ck_assert_int_eq(server_refusal(text, said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, "seal.key is there already, and is left as it is.") != NULL, "%s",
                  said);
    ck_assert_int_eq(server_refusal("--seal-key x", said, sizeof(said)), 2);
    ck_assert_msg(strstr(said, "give it with --db") != NULL, "%s", said);
    record_world();
    expect("heap", "nobody", 2, "cannot be read: No such file or directory.");
    ck_assert_int_eq(server_shell(depot.server->address[0],
                                  "moreau call EpisodeVerify '{\"episode\": \"heap\", "
                                  "\"seal_public_key\": \"AAAA\"}' 2>&1",
                                  said, sizeof(said)),
                     1);
    ck_assert_msg(strstr(said, "A public key of Ed25519 has 32 bytes, not 3.") != NULL, "%s", said);
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
    tcase_add_test(tcase, what_is_no_key_is_said);
    tcase_add_test(tcase, keys_are_made_once);
    return tcase;
}

SUITE_MAIN("system/signed", case_signed)
