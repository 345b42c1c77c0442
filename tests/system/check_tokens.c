// SPDX-License-Identifier: MIT
// Who may do what: every call by every right; who is let in; and what happens to those whose rights
// change while they are there.
#include "support/machine.h"
#include "support/server_shell.h"
#include "support/suite.h"
#include "support/wire_tokens.h"
#include "support/wire_world.h"

#include <protobuf-c/protobuf-c.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CODE(name) MOREAU__V1__STATUS__CODE__##name

static char folder[SERVER_FOLDER_BYTES];

static void stop(ServerProcess *server) {
    server_stop(server);
    server_remove_folder(folder);
}

// ---- the table

// Whoever has one right alone, all but admin, or admin alone.
static const WirePerson people[] = {{"none", "none"},     {"watch", "watch"},
                                    {"step", "step"},     {"record", "record"},
                                    {"delete", "delete"}, {"all", "watch,step,record,delete"},
                                    {"admin", "admin"}};

enum { PEOPLE = sizeof(people) / sizeof(people[0]) };

// What the right alone allows, as it was asked for; the command table is another text.
static const struct {
    const char *right, *calls;
} allowed[] = {
    {"none", " Hello Ping Describe Cancel "},
    {"watch", " Stats WorldList WorldGet WorldContacts WorldHash WorldScene WorldRayCast GroupList "
              "GroupRead SnapshotRead EpisodeList EpisodeDescribe EpisodeRead EpisodeReplay "
              "EpisodeTouches EpisodeVerify Subscribe Problem "},
    {"step",
     " WorldCreate WorldDestroy WorldAddMaterials WorldAddGeometries WorldAddShapes "
     "WorldAddBodies WorldAddJoints WorldRemove WorldSet WorldStep SnapshotTake SnapshotUpload "
     "SnapshotRestore SnapshotClone SnapshotDrop GroupCreate GroupReset GroupStep "
     "GroupSend GroupReceive GroupDestroy GroupOpinions GroupSave Solve EpisodeCompare "},
    {"record", " EpisodeStart EpisodeStop EpisodePin "},
    {"delete", " EpisodeDelete "},
    {"all", " EpisodeFork "},
    {"admin", " EpisodeBackup "},
};

// The right that allows a call; "all" where it takes two.
static const char *right_of(const char *call) {
    char word[64];
    snprintf(word, sizeof(word), " %s ", call);
    for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++) {
        if (strstr(allowed[i].calls, word) != NULL) {
            return allowed[i].right;
        }
    }
    ck_abort_msg("%s has no row", call);
}

static bool may(const char *person, const char *right) {
    return strcmp(person, "admin") == 0 || strcmp(right, "none") == 0 ||
           strcmp(person, right) == 0 ||
           (strcmp(person, "all") == 0 && strcmp(right, "admin") != 0);
}

// A call that says nothing: whoever may make it is told what is missing, or gets an answer.
static Moreau__V1__Status__Code ask(WireClient *client, const ProtobufCFieldDescriptor *field) {
    const ProtobufCMessageDescriptor *call = field->descriptor;
    union {
        ProtobufCMessage message;
        char room[1024];
    } empty;
    ck_assert_uint_le(call->sizeof_message, sizeof(empty));
    protobuf_c_message_init(call, &empty);
    const Moreau__V1__Reply *reply = wire_call(client, &empty);
    return reply->status->code;
}

START_TEST(every_call_by_every_right) {
    ServerProcess *server = wire_tokens_start(people, PEOPLE, "--db @/db --backup-dir @", folder);
    const ProtobufCMessageDescriptor *request = &moreau__v1__request__descriptor;
    for (size_t k = 0; k < PEOPLE; k++) {
        WireClient *client = wire_open_as(server, people[k].name);
        for (unsigned i = 0; i < request->n_fields; i++) {
            const ProtobufCFieldDescriptor *field = &request->fields[i];
            if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) == 0) {
                continue;
            }
            const char *call = ((const ProtobufCMessageDescriptor *)field->descriptor)->short_name;
            const bool is_denied = ask(client, field) == CODE(PERMISSION_DENIED);
            ck_assert_msg(is_denied != may(people[k].name, right_of(call)), "%s by %s", call,
                          people[k].name);
        }
        wire_close(client);
    }
    stop(server);
}
END_TEST

// What a call asks for beside its own work takes the rights to that.
START_TEST(what_is_asked_for_beside_takes_its_own_right) {
    const WirePerson two[] = {{"step", "step"}, {"both", "step,record"}, {"reads", "step,watch"}};
    ServerProcess *server = wire_tokens_start(two, 3, "--db @/db", folder);
    for (size_t i = 0; i < 3; i++) {
        WireClient *client = wire_open_as(server, two[i].name);
        Moreau__V1__GroupRecord record = MOREAU__V1__GROUP_RECORD__INIT;
        Moreau__V1__GroupCreate group = MOREAU__V1__GROUP_CREATE__INIT;
        Moreau__V1__EpisodeCompare compare = MOREAU__V1__EPISODE_COMPARE__INIT;
        group.record = &record;
        ck_assert_int_eq(wire_call(client, &group)->status->code == CODE(PERMISSION_DENIED),
                         i != 1);
        group.record = NULL;
        group.recording = (char *)(uintptr_t) "abcd";
        ck_assert_int_eq(wire_call(client, &group)->status->code == CODE(PERMISSION_DENIED),
                         i != 2);
        compare.has_record = compare.record = 1;
        ck_assert_int_eq(wire_call(client, &compare)->status->code == CODE(PERMISSION_DENIED),
                         i != 1);
        wire_close(client);
    }
    stop(server);
}
END_TEST

// ---- who is let in

START_TEST(a_token_or_the_user_of_a_unix_socket_is_let_in_and_nobody_else) {
    char user[32], options[128];
    snprintf(user, sizeof(user), "uid:%u", (unsigned)getuid());
    const WirePerson some[] = {{"alice", "watch"}, {user, "step"}};
    snprintf(options, sizeof(options), "--listen 127.0.0.1:0 --listen unix:@/socket");
    ServerProcess *server = wire_tokens_start(some, 2, options, folder);
    WireClient *client = wire_connect(server->address[0]);
    wire_expect(wire_greet_as(client, NULL, NULL), CODE(UNAUTHENTICATED), "token");
    wire_close(client);
    client = wire_connect(server->address[0]);
    wire_expect(wire_greet_as(client, "eve", NULL), CODE(UNAUTHENTICATED), "token");
    wire_close(client);
    client = wire_connect(server->address[1]);
    wire_expect(wire_greet_as(client, "eve", NULL), CODE(UNAUTHENTICATED), "token");
    wire_close(client);
    client = wire_connect(server->address[1]);
    wire_expect(wire_greet_as(client, NULL, NULL), CODE(OK), NULL);
    wire_small_world(client);
    wire_close(client);
    client = wire_connect(server->address[1]);
    wire_expect(wire_greet_as(client, "alice", NULL), CODE(OK), NULL);
    wire_refuse(client, &(Moreau__V1__WorldCreate)MOREAU__V1__WORLD_CREATE__INIT,
                CODE(PERMISSION_DENIED), NULL);
    wire_close(client);
    stop(server);
}
END_TEST

START_TEST(a_session_is_resumed_with_the_token_that_it_was_opened_with) {
    const WirePerson two[] = {{"alice", "watch,step"}, {"bob", "watch,step"}};
    ServerProcess *server = wire_tokens_start(two, 2, "", folder);
    WireClient *client = wire_connect(server->address[0]);
    Moreau__V1__Reply *reply = wire_greet_as(client, "alice", NULL);
    char session[64];
    wire_expect(reply, CODE(OK), NULL);
    snprintf(session, sizeof(session), "%s", reply->welcome->session);
    wire_small_world(client);
    WireClient *other = wire_connect(server->address[0]);
    wire_expect(wire_greet_as(other, "bob", session), CODE(NOT_FOUND), "resume");
    wire_close(other);
    wire_ping(client); // which was not taken over
    wire_close(client);
    client = wire_connect(server->address[0]);
    wire_expect(wire_greet_as(client, "alice", session), CODE(OK), NULL);
    wire_close(client);
    stop(server);
}
END_TEST

// ---- rights that change

static uint64_t begin_long_step(WireClient *client, uint64_t *world) {
    *world = wire_small_world(client);
    Moreau__V1__WorldStep step = wire_step_call(world, 1000000);
    return wire_submit(client, &step);
}

START_TEST(a_right_that_is_taken_ends_what_is_done_by_it) {
    const WirePerson before[] = {{"alice", "watch,step"}, {"bob", "watch,step"}};
    const WirePerson after[] = {{"alice", "watch"}, {"bob", "watch,step"}};
    char text[WIRE_TOKENS_BYTES];
    ServerProcess *server = wire_tokens_start(before, 2, "--workers 2", folder);
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob");
    uint64_t world[2];
    begin_long_step(alice, &world[0]);
    const uint64_t id = begin_long_step(bob, &world[1]);
    wire_tokens_text(after, 2, text);
    wire_tokens_change(server, folder, text, 1);
    Moreau__V1__Reply *reply = wire_receive(alice);
    wire_expect(reply, CODE(PERMISSION_DENIED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "WorldStep was taken"));
    wire_expect(wire_call(alice, &(Moreau__V1__WorldCreate)MOREAU__V1__WORLD_CREATE__INIT),
                CODE(PERMISSION_DENIED), NULL);
    wire_hash(alice, world[0]); // between two steps, and whole
    Moreau__V1__Cancel cancel = MOREAU__V1__CANCEL__INIT;
    cancel.has_request = 1, cancel.request = id;
    wire_submit(bob, &cancel);
    for (int i = 0; i < 2; i++) { // he goes on until he does not want to
        reply = wire_receive(bob);
        wire_expect(reply, reply->id == id ? CODE(CANCELLED) : CODE(OK), NULL);
    }
    wire_close(alice);
    wire_close(bob);
    stop(server);
}
END_TEST

START_TEST(a_token_that_is_revoked_or_another_one_may_nothing_any_more) {
    const WirePerson before[] = {{"alice", "watch"}, {"bob", "watch"}};
    char text[WIRE_TOKENS_BYTES];
    ServerProcess *server = wire_tokens_start(before, 2, "", folder);
    WireClient *alice = wire_open_as(server, "alice"), *bob = wire_open_as(server, "bob");
    const Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    wire_accept(alice, &list);
    wire_tokens_text(before + 1, 1, text);
    wire_tokens_change(server, folder, text, 1);
    Moreau__V1__Reply *reply = wire_refuse(alice, &list, CODE(PERMISSION_DENIED), NULL);
    ck_assert_ptr_nonnull(strstr(reply->status->message, "not in the server's file any more"));
    wire_accept(bob, &list);
    wire_tokens_text(before, 2, text); // the same again is not the same person's
    wire_tokens_change(server, folder, text, 2);
    wire_refuse(alice, &list, CODE(PERMISSION_DENIED), NULL);
    wire_close(alice);
    alice = wire_open_as(server, "alice");
    wire_accept(alice, &list);
    wire_close(alice);
    wire_close(bob);
    stop(server);
}
END_TEST

START_TEST(what_cannot_be_read_changes_nothing_and_is_said) {
    const WirePerson one[] = {{"alice", "watch"}};
    ServerProcess *server = wire_tokens_start(one, 1, "", folder);
    WireClient *alice = wire_open_as(server, "alice");
    const Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    char text[WIRE_TOKENS_BYTES];
    wire_tokens_text(one, 1, text);
    *strstr(text, "# end") = '\0';
    wire_tokens_change(server, folder, text, 1);
    wire_accept(alice, &list);
    char *log = server_read(server, "log");
    ck_assert_ptr_nonnull(strstr(log, "tokens_reload"));
    ck_assert_ptr_nonnull(strstr(log, "half of it is missing"));
    free(log);
    wire_close(alice);
    alice = wire_open_as(server, "alice");
    wire_close(alice);
    stop(server);
}
END_TEST

static const char *wrong_text(int kind, const char *good, size_t *bytes) {
    enum { MUCH = 10 << 20 };
    char *text = calloc(1, MUCH);
    ck_assert_ptr_nonnull(text);
    const size_t length = strlen(good);
    memcpy(text, good, length);
    *bytes = length;
    if (kind == 0) { // 10 MB
        memset(text + length, '\n', MUCH - length);
        *bytes = MUCH;
    } else if (kind == 1) {
        *strstr(text, "alice") = '\0';
    } else if (kind == 2) { // a name twice
        char *end = strstr(text, "# end");
        const char *line = strstr(good, "alice");
        const size_t line_bytes = strcspn(line, "\n") + 1;
        memcpy(end, line, line_bytes);
        strcpy(end + line_bytes, "# end 2\n");
        *bytes = strlen(text);
    } else {
        memset(text, 0xff, length);
    }
    return text;
}

static void wait_for_lines(ServerProcess *server, const char *word, int wanted) {
    for (int tries = 0;; tries++) {
        char *log = server_read(server, "log");
        int count = 0;
        for (const char *at = log; (at = strstr(at, word)) != NULL; at++) {
            count++;
        }
        free(log);
        if (count >= wanted) {
            return;
        }
        ck_assert_msg(tries < 500, "%d lines of %s, not %d", count, word, wanted);
        server_sleep_ms(10);
    }
}

START_TEST(whatever_is_put_there_the_tokens_from_before_stay) {
    const WirePerson one[] = {{"alice", "watch"}};
    ServerProcess *server = wire_tokens_start(one, 1, "", folder);
    char good[WIRE_TOKENS_BYTES], path[128];
    wire_tokens_text(one, 1, good);
    snprintf(path, sizeof(path), "%s/tokens", folder);
    for (int kind = 0; kind < 6; kind++) {
        unlink(path);
        if (kind == 4) {
            ck_assert_int_eq(mkdir(path, 0700), 0);
        } else if (kind < 4) {
            size_t bytes;
            const char *text = wrong_text(kind, good, &bytes);
            FILE *file = fopen(path, "w");
            ck_assert_ptr_nonnull(file);
            ck_assert_uint_eq(fwrite(text, 1, bytes, file), bytes);
            fclose(file);
            chmod(path, 0600);
            free((char *)(uintptr_t)text);
        } // 5: there is none
        kill(server->pid, SIGHUP);
        wait_for_lines(server, "error tokens_reload why=", kind + 1);
        wire_close(wire_open_as(server, "alice"));
        rmdir(path);
    }
    stop(server);
}
END_TEST

// In place, not by renaming: whatever of it is read, whole or half, alice is who she was.
START_TEST(a_file_may_be_written_while_it_is_read) {
    const WirePerson one[] = {{"alice", "watch"}};
    ServerProcess *server = wire_tokens_start(one, 1, "", folder);
    WireClient *alice = wire_open_as(server, "alice");
    const Moreau__V1__WorldList list = MOREAU__V1__WORLD_LIST__INIT;
    char text[WIRE_TOKENS_BYTES], path[128];
    wire_tokens_text(one, 1, text);
    snprintf(path, sizeof(path), "%s/tokens", folder);
    for (int i = 0; i < 100; i++) {
        FILE *file = fopen(path, "w");
        ck_assert_ptr_nonnull(file);
        setvbuf(file, NULL, _IONBF, 0);
        for (const char *at = text; *at != '\0'; at++) {
            fputc(*at, file);
            if ((at - text) % 16 == i % 16) {
                kill(server->pid, SIGHUP);
            }
        }
        fclose(file);
        wire_accept(alice, &list);
    }
    wire_close(alice);
    wire_close(wire_open_as(server, "alice"));
    stop(server);
}
END_TEST

// ---- at the start

static void expect_refusal(const char *options, const char *wanted) {
    char all[512], said[1024];
    snprintf(all, sizeof(all), options, folder, folder);
    ck_assert_int_ne(server_refusal(all, said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, wanted) != NULL, "it says: %s", said);
}

START_TEST(a_file_that_is_wrong_is_refused_at_the_start) {
    char path[128];
    server_make_folder(folder);
    expect_refusal("--tokens %s/tokens", "tokens cannot be read");
    server_write(folder, "tokens", "# moreau tokens 1\n# end 1\n");
    expect_refusal("--tokens %s/tokens", "says 1 tokens, and it holds 0");
    server_write(folder, "tokens", "# moreau tokens 1\n# end 0\n");
    expect_refusal("--tokens %s/tokens --token-file %s/tokens", "exclude each other");
    expect_refusal("--tokens %s", "is no file");
    snprintf(path, sizeof(path), "%s/tokens", folder);
    ck_assert_int_eq(chmod(path, 0666), 0);
    expect_refusal("--tokens %s/tokens", "can be written by others");
    ck_assert_int_eq(chmod(path, 0200), 0);
    if (geteuid() != 0) {
        expect_refusal("--tokens %s/tokens", "tokens cannot be read");
    }
    server_remove_folder(folder);
}
END_TEST

// ---- the tool that writes it

static int shell(const char *format, char *said, size_t capacity) {
    char line[512];
    snprintf(line, sizeof(line), format, folder, folder, folder);
    return server_shell("", line, said, capacity);
}

static void expect_shell(const char *format, int status, const char *wanted) {
    char said[2048];
    ck_assert_msg(shell(format, said, sizeof(said)) == status, "%s: %s", format, said);
    ck_assert_msg(strstr(said, wanted) != NULL, "%s says: %s", format, said);
}

START_TEST(a_token_is_made_used_and_revoked_by_the_tool) {
    char said[2048], options[128], secret[80] = "";
    struct stat info;
    server_make_folder(folder);
    ck_assert_int_eq(shell("moreau token new alice --tokens %s/tokens --rights watch,step "
                           "--namespace lab --worlds 2 --bytes 1G > %s/alice",
                           said, sizeof(said)),
                     0);
    expect_shell("moreau token new uid:7 --tokens %s/tokens --rights none", 0, "");
    expect_shell("moreau token new alice --tokens %s/tokens --rights watch 2>&1", 1, "already");
    expect_shell("moreau token new bob --tokens %s/tokens --rights look 2>&1", 2, "--rights takes");
    expect_shell("moreau token new b/b --tokens %s/tokens --rights watch 2>&1", 2, "letters");
    expect_shell("moreau token new bob --tokens %s/tokens --rights watch --weight 0 2>&1", 2,
                 "--weight takes");
    expect_shell("moreau token list --tokens %s/tokens", 0, "watch,step");
    expect_shell("moreau token list --tokens %s/tokens --json", 0, "\"namespace\": \"lab\"");
    expect_shell("cat %s/tokens", 0, "watch,step namespace=lab worlds=2 bytes=1073741824\n");
    expect_shell("cat %s/alice", 0, "");
    snprintf(options, sizeof(options), "%s/tokens", folder);
    ck_assert_int_eq(stat(options, &info), 0);
    ck_assert_uint_eq(info.st_mode & 0777, 0600);
    ck_assert_int_eq(shell("cat %s/alice", secret, sizeof(secret)), 0);
    ck_assert_uint_eq(strspn(secret, "0123456789abcdef"), 64);
    snprintf(options, sizeof(options), "--tokens %s/tokens", folder);
    ServerProcess *server = server_start(options);
    snprintf(options, sizeof(options), "moreau call Ping '{}' --token-file %s/alice", folder);
    ck_assert_msg(server_shell(server->address[0], options, said, sizeof(said)) == 0, "%s", said);
    server_stop(server);
    expect_shell("moreau token revoke alice --tokens %s/tokens", 0, "");
    expect_shell("moreau token revoke alice --tokens %s/tokens 2>&1", 1, "no token of alice");
    expect_shell("cat %s/tokens", 0, "# moreau tokens 1\nuid:7 - none\n# end 1\n");
    expect_shell(
        "echo half > %s/tokens; moreau token new bob --tokens %s/tokens --rights none 2>&1", 1,
        "first line");
    expect_shell("moreau token list --tokens %s/nowhere 2>&1", 2, "cannot read");
    server_remove_folder(folder);
}
END_TEST

static TCase *case_tool(void) {
    TCase *tcase = tcase_create("tool");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_token_is_made_used_and_revoked_by_the_tool);
    return tcase;
}

static TCase *case_rights(void) {
    TCase *tcase = tcase_create("rights");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_call_by_every_right);
    tcase_add_test(tcase, what_is_asked_for_beside_takes_its_own_right);
    return tcase;
}

static TCase *case_greetings(void) {
    TCase *tcase = tcase_create("greetings");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_token_or_the_user_of_a_unix_socket_is_let_in_and_nobody_else);
    tcase_add_test(tcase, a_session_is_resumed_with_the_token_that_it_was_opened_with);
    tcase_add_test(tcase, a_file_that_is_wrong_is_refused_at_the_start);
    return tcase;
}

static TCase *case_changes(void) {
    TCase *tcase = tcase_create("changes");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, a_right_that_is_taken_ends_what_is_done_by_it);
    tcase_add_test(tcase, a_token_that_is_revoked_or_another_one_may_nothing_any_more);
    tcase_add_test(tcase, what_cannot_be_read_changes_nothing_and_is_said);
    tcase_add_test(tcase, whatever_is_put_there_the_tokens_from_before_stay);
    tcase_add_test(tcase, a_file_may_be_written_while_it_is_read);
    return tcase;
}

SUITE_MAIN("system/tokens", case_rights, case_greetings, case_changes, case_tool)
