// SPDX-License-Identifier: MIT
// The tool as a stranger uses it, against a real server: scenes, files, mistakes, a full disk.
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SCENES MOREAU_SOURCE_DIR "/tests/scenes/"

static char said[1 << 20];

// What the first ten minutes show: three seconds of each scene, long enough to come to rest.
START_TEST(every_step_of_every_scene_converges) {
    static const char *const scenes[] = {
        "falling",    "incline",    "one_ball", "spheres",     "stack10",      "arch",      "wedge",
        "card-frame", "card-house", "tower",    "mass-ladder", "spinning_rod", "four_balls"};
    ServerProcess *server = server_start("--workers 1");
    char line[512];
    snprintf(line, sizeof(line),
             "moreau run " SCENES "%s.json --steps 720 --require-converged 2>&1", scenes[_i]);
    int status = server_shell(server->address[0], line, said, sizeof(said));
    ck_assert_msg(status == 0, "%s", said);
    server_stop(server);
}
END_TEST

// Numbers of two documents, nested alike, to the last bit.
static void expect_same_numbers(const json_t *lived, const json_t *solved, size_t *count) {
    if (json_is_array(lived)) {
        ck_assert_uint_eq(json_array_size(lived), json_array_size(solved));
        for (size_t i = 0; i < json_array_size(lived); i++) {
            expect_same_numbers(json_array_get(lived, i), json_array_get(solved, i), count);
        }
        return;
    }
    ck_assert_msg(json_number_value(lived) == json_number_value(solved),
                  "number %zu: %.17g, not %.17g", *count, json_number_value(solved),
                  json_number_value(lived));
    ++*count;
}

// The impulses of the only world's contacts, as the answer of a solve lists them.
static json_t *world_impulses(const char *address) {
    json_t *worlds = server_shell_json(address, "moreau worlds --json", 0);
    const json_t *world = json_object_get(json_array_get(worlds, 0), "world");
    char line[128];
    snprintf(line, sizeof(line), "moreau call WorldContacts '{\"world\": %lld}'",
             (long long)json_integer_value(world));
    json_decref(worlds);
    json_t *contacts = server_shell_json(address, line, 0);
    const json_t *flat = json_object_get(contacts, "impulse");
    json_t *impulses = json_array();
    for (size_t i = 0; i + 2 < json_array_size(flat); i += 3) {
        json_array_append_new(impulses,
                              json_pack("[O,O,O]", json_array_get(flat, i),
                                        json_array_get(flat, i + 1), json_array_get(flat, i + 2)));
    }
    json_decref(contacts);
    return impulses;
}

// A dump holds all that the step's solve depended on: solved alone, it takes as many iterations, to
// the same tolerance, and ends in the same impulses and certificate to the last bit.
START_TEST(a_dump_is_solved_as_the_world_solved_it) {
    static const struct {
        const char *world, *arguments;
    } runs[] = {
        {"falling", "falling.json --steps 319 --param max_iterations=3 --effort exact"},
        {"falling", "falling.json --steps 150 --effort exact --param friction=maximum_dissipation"},
        {"stack10", "stack10.json --steps 40 --param tolerance=1e-9"},
        {"spheres", "spheres.json --steps 100 --param overlap_correction=0.5"},
    };
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    char path[] = "/tmp/moreau-check-XXXXXX", line[256];
    close(mkstemp(path));
    snprintf(line, sizeof(line), "moreau run " SCENES "%s --name %s --keep --json",
             runs[_i].arguments, runs[_i].world);
    json_t *report = server_shell_json(address, line, 0);
    json_t *lived = world_impulses(address);
    snprintf(line, sizeof(line),
             "moreau solve --world %s --dump %s >/dev/null && moreau solve %s --json",
             runs[_i].world, path, path);
    json_t *answer = server_shell_json(address, line, 0);
    size_t count = 0;
    expect_same_numbers(lived, json_object_get(answer, "contacts"), &count);
    ck_assert_uint_gt(count, 0);

    const json_t *last = json_object_get(json_object_get(report, "certificate"), "last");
    const json_t *again = json_object_get(answer, "report");
    ck_assert(
        json_equal(json_object_get(report, "iterations"), json_object_get(again, "iterations")));
    static const char *const entries[] = {"e_mom", "e_pen", "e_comp", "e_cone",
                                          "e_mdp", "e_DS",  "e_own",  "e_row"};
    for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
        double one = json_number_value(json_object_get(last, entries[i]));
        double two = json_number_value(json_object_get(again, entries[i]));
        ck_assert_msg(one == two, "%s: %g %g", entries[i], one, two);
    }
    json_decref(answer);

    // the same without a file, and watched
    snprintf(line, sizeof(line), "moreau solve --world %s --history --json", runs[_i].world);
    answer = server_shell_json(address, line, 0);
    count = 0;
    expect_same_numbers(lived, json_object_get(answer, "contacts"), &count);
    ck_assert_int_eq((json_int_t)json_array_size(json_object_get(answer, "history")),
                     json_integer_value(json_object_get(report, "iterations")));
    json_decref(answer);

    // what is typed wins over the file
    snprintf(line, sizeof(line),
             "moreau solve %s --json --param method=gauss_seidel "
             "--param max_iterations=5 --param tolerance=1e-15",
             path);
    answer = server_shell_json(address, line, 0);
    const json_t *iterations = json_object_get(json_object_get(answer, "report"), "iterations");
    ck_assert_int_le(json_integer_value(iterations), 5);
    json_decref(answer);
    json_decref(lived);
    json_decref(report);
    unlink(path);
    server_stop(server);
}
END_TEST

// lcp takes the contacts of a step anew until they agree with where the bodies come to; the dump
// has those of the last time, and its solve gives the world's impulses to the last bit.
START_TEST(a_dump_of_lcp_gives_the_impulses_of_its_last_pass) {
    static const struct {
        const char *world, *arguments;
    } runs[] = {
        {"falling", "falling.json --steps 150 --solver lcp"},
        {"four_balls", "four_balls.json --steps 234"},
        {"spinning_rod", "spinning_rod.json --steps 154"},
    };
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    char line[256];
    snprintf(line, sizeof(line), "moreau run " SCENES "%s --name %s --keep --json",
             runs[_i].arguments, runs[_i].world);
    json_decref(server_shell_json(address, line, 0));
    json_t *lived = world_impulses(address);
    snprintf(line, sizeof(line), "moreau solve --world %s --json", runs[_i].world);
    json_t *answer = server_shell_json(address, line, 0);
    size_t count = 0;
    expect_same_numbers(lived, json_object_get(answer, "contacts"), &count);
    ck_assert_uint_gt(count, 0);
    json_decref(answer);
    json_decref(lived);
    server_stop(server);
}
END_TEST

// The second solver, by its name and nothing else; its report says how the answer was found.
START_TEST(a_problem_is_solved_by_lcp_as_well) {
    static const struct {
        const char *parameter, *model;
    } cases[] = {{"", "polyhedral:8"}, {" --param directions=12", "polyhedral:12"}};
    ServerProcess *server = server_start("--workers 1");
    char line[256];
    snprintf(line, sizeof(line),
             "moreau solve " MOREAU_SOURCE_DIR "/tests/problems/stack-3.json --solver lcp --json%s",
             cases[_i].parameter);
    json_t *answer = server_shell_json(server->address[0], line, 0);
    const json_t *report = json_object_get(answer, "report");
    ck_assert_str_eq(json_string_value(json_object_get(answer, "model")), cases[_i].model);
    ck_assert(json_is_true(json_object_get(report, "converged")));
    ck_assert_str_eq(json_string_value(json_object_get(report, "rung")), "LEMKE");
    ck_assert_int_eq(json_integer_value(json_object_get(report, "passes")), 1);
    ck_assert_int_gt(json_integer_value(json_object_get(report, "iterations")), 0);
    json_decref(answer);
    server_stop(server);
}
END_TEST

START_TEST(parameters_of_lcp_are_refused_as_typed) {
    static const struct {
        const char *parameter, *said;
    } cases[] = {{"directions=7", "moreau: --param directions: "},
                 {"max_rows=20", "moreau: --param max_rows: "}};
    ServerProcess *server = server_start("--workers 1");
    char line[256];
    snprintf(line, sizeof(line),
             "moreau solve " MOREAU_SOURCE_DIR
             "/tests/problems/stack-3.json --solver lcp --param %s 2>&1",
             cases[_i].parameter);
    ck_assert_int_eq(server_shell(server->address[0], line, said, sizeof(said)), 1);
    ck_assert_msg(strstr(said, cases[_i].said) != NULL, "%s", said);
    server_stop(server);
}
END_TEST

// What cannot be written is said, by every command that prints.
START_TEST(a_full_disk_is_said) {
    static const char *const lines[] = {
        "run " SCENES "one_ball.json",
        "run " SCENES "one_ball.json --json",
        "run " SCENES "one_ball.json --solver all",
        "run " SCENES "one_ball.json --solver mdp,sap --json",
        "solve " MOREAU_SOURCE_DIR "/tests/problems/one-ball.json",
        "call Ping",
        "call Describe",
        "call EpisodeVerify '{\"episode\": \"demo\"}'",
        "call --list",
        "call SceneBody --help",
        "episodes",
        "episodes demo",
        "replay demo --speed 0",
        "replay demo --json",
        "verify demo",
        "compare demo --solver sap",
        "worlds",
        "worlds --json",
        "top --interval 0.1",
        "top --json --interval 0.1",
        "solve --world keep --dump -",
        "--help",
        "--version",
        "bench --list",
        "bench --list --json",
    };
    char folder[] = "/tmp/moreau-check-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(line, sizeof(line), "--workers 1 --db %s/e.db", folder);
    ServerProcess *server = server_start(line);
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES
                                  "falling.json --steps 200 --name keep --keep "
                                  "--record=frames --episode-name demo",
                                  said, sizeof(said)),
                     0);
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        snprintf(line, sizeof(line), "(moreau %s) 2>&1 >/dev/full", lines[i]);
        int status = server_shell(address, line, said, sizeof(said));
        ck_assert_msg(status == 1, "%s: %d: %s", lines[i], status, said);
        ck_assert_msg(strstr(said, "cannot write") != NULL, "%s: %s", lines[i], said);
        ck_assert_msg(strstr(said, "Input/output") == NULL, "%s: %s", lines[i], said);
    }
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

// The server's word for it is the field of a call; people typed an option, or a file.
static const struct {
    const char *line;
    int status;
    const char *expected;
} mistakes[] = {
    {"replay demo --from 99999", 1, "moreau: --from: "},
    {"replay demo --from 5 --to 3", 1, "moreau: --to: "},
    {"replay demo --speed 1e300", 1, "moreau: --speed: "},
    {"replay demo --body bal2", 2, "\"bal2\" (did you mean ball2?)"},
    {"replay nothing", 1, "moreau: EPISODE: "},
    {"verify demo --from 99999", 1, "moreau: --from: "},
    {"compare demo", 2, "--solver, --param, --time-step or --substeps"},
    {"compare demo --solver magic", 1, "moreau: --solver: "},
    {"compare demo --solver sap,sap", 2, "sap stands twice"},
    {"compare demo --param tolerance=0", 1, "moreau: --param tolerance: "},
    {"compare demo --solver sap --param reach=7", 2, "no parameter \"reach\""},
    {"compare demo --time-step 100", 1, "moreau: --time-step: "},
    {"compare demo --time-step 1e-5", 1, "moreau: --time-step: "},
    {"compare demo --time-step nan", 2, "--time-step takes seconds"},
    {"compare demo --substeps 17", 1, "moreau: --substeps: "},
    {"compare demo --substeps 0", 2, "--substeps"},
    {"compare demo --solver all --from 99999", 1, "moreau: --from: "},
    {"compare demo --solver all --label a", 2, "--record"},
    {"compare nothing --solver all", 1, "moreau: EPISODE: "},
    {"run " SCENES "one_ball.json --time-step 100", 1, "moreau: --time-step: "},
    {"run " SCENES "one_ball.json --substeps 17", 1, "moreau: --substeps: "},
    {"run " SCENES "one_ball.json --param tolerance=0", 1, "moreau: --param tolerance: "},
    {"run " SCENES "one_ball.json --solver magic", 1, "moreau: --solver: "},
    {"run " SCENES "one_ball.json --solver mdp,magic", 1, "moreau: magic: --solver: "},
    {"run " SCENES "one_ball.json --solver all --param sap.sigma=7", 1,
     "moreau: sap: --param sigma: "},
    {"run " SCENES "one_ball.json --param sap.sigma=7", 2, "solver sap does not run here"},
    {"solve " MOREAU_SOURCE_DIR "/tests/problems/one-ball.json --param sap.sigma=7", 2,
     "solver sap does not run here"},
    {"run " SCENES "one_ball.json --record --label ''", 1, "moreau: --label: "},
    {"run " SCENES "one_ball.json --record --episode-name ''", 1, "moreau: --episode-name: "},
    {"run " SCENES "one_ball.json --record=frames --stride 1e9", 1, "moreau: --stride: "},
    {"solve " MOREAU_SOURCE_DIR "/tests/problems/one-ball.json --solver magic", 1,
     "moreau: --solver: "},
    {"solve " MOREAU_SOURCE_DIR "/tests/problems/one-ball.json --param tolerance=0", 1,
     "moreau: --param tolerance: "},
    {"solve --world nowhere --dump /tmp/x", 1, "name \"nowhere\""},
    {"worlds --destroy nowhere", 1, "name \"nowhere\""},
    {"snapshot take 99 /tmp/x", 1, "moreau: WORLD: "},
    {"snapshot take nowhere /tmp/x", 1, "no world has the id or the name \"nowhere\""},
    {"snapshot restore nowhere " SCENES "one_ball.json", 1, "name \"nowhere\""},
    {"snapshot clone nowhere", 1, "no file is there, and no world has the id or the name"},
    {"bench nothing", 2, "there is no benchmark nothing"},
    {"bench --seconds 1e9 hash", 2, "3600"},
    {"wrolds", 2, "\"wrolds\" (did you mean worlds?)"},
    {"--josn worlds", 2, "--josn here (did you mean --json?)"},
};

START_TEST(errors_name_what_was_typed) {
    char folder[] = "/tmp/moreau-check-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(line, sizeof(line), "--workers 1 --db %s/e.db", folder);
    ServerProcess *server = server_start(line);
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES
                                  "falling.json --steps 20 --record --episode-name demo",
                                  said, sizeof(said)),
                     0);
    for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
        snprintf(line, sizeof(line), "moreau %s 2>&1", mistakes[i].line);
        int status = server_shell(address, line, said, sizeof(said));
        ck_assert_msg(status == mistakes[i].status, "%s: %d: %s", line, status, said);
        ck_assert_msg(strstr(said, mistakes[i].expected) != NULL, "%s: %s", line, said);

        // as a document, and nothing else
        snprintf(line, sizeof(line), "moreau %s --json 2>/dev/null", mistakes[i].line);
        json_t *document = server_shell_json(address, line, mistakes[i].status);
        const json_t *error = json_object_get(document, "error");
        ck_assert_ptr_nonnull(json_string_value(json_object_get(error, "message")));
        json_decref(document);
    }
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

// All solvers at two time steps: mdp at its own is the recording to the bit.
START_TEST(an_episode_is_compared_in_a_table_and_as_a_document) {
    char folder[] = "/tmp/moreau-check-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(line, sizeof(line), "--workers 2 --db %s/e.db", folder);
    ServerProcess *server = server_start(line);
    const char *address = server->address[0];
    snprintf(line, sizeof(line),
             "moreau run " SCENES "incline.json --steps 60 --record --episode-name demo");
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    ck_assert_int_eq(server_shell(address,
                                  "moreau compare demo --solver mdp,ccp --stride 20 --record "
                                  "--label again",
                                  said, sizeof(said)),
                     0);
    ck_assert_msg(strstr(said, "\n  recorded ") != NULL, "%s", said);
    ck_assert_msg(strstr(said, "\n       0.25       60          0 ") != NULL, "%s", said);
    ck_assert_msg(strstr(said, "&with=") != NULL, "%s", said);
    for (const char *at = said, *end; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        ck_assert_int_le(end - at, 120);
    }
    json_t *document = server_shell_json(
        address, "moreau compare demo --solver mdp,ccp --time-step 0.004166666666666667 --json", 0);
    const json_t *runs = json_object_get(document, "runs");
    ck_assert_uint_eq(json_array_size(runs), 3);
    const json_t *same = json_array_get(runs, 1), *other = json_array_get(runs, 2);
    ck_assert(json_number_value(json_object_get(same, "distance")) == 0.0);
    ck_assert_ptr_null(json_object_get(same, "hash_step"));
    ck_assert_str_eq(json_string_value(json_object_get(other, "solver")), "ccp");
    ck_assert(json_number_value(json_object_get(other, "distance")) > 0.0);
    json_decref(document);
    document = server_shell_json(address, "moreau compare demo --substeps 4 --json", 0);
    const json_t *divided = json_array_get(json_object_get(document, "runs"), 1);
    ck_assert_str_eq(json_string_value(json_object_get(divided, "solver")), "mdp");
    ck_assert(json_number_value(json_object_get(divided, "distance")) > 0.0);
    json_decref(document);
    document = server_shell_json(address, "moreau episodes demo-ccp --json", 0);
    ck_assert_str_eq(json_string_value(json_object_get(document, "solver")), "ccp");
    json_decref(document);
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

START_TEST(a_list_that_is_too_short_says_what_is_needed_and_what_came) {
    ServerProcess *server = server_start("--workers 1");
    int status = server_shell(server->address[0],
                              "echo '{\"bodies\": [{\n\"position\": [1, 2]}]}' | moreau run - 2>&1",
                              said, sizeof(said));
    ck_assert_int_eq(status, 1);
    ck_assert_msg(
        strstr(said, "standard input:2: bodies[0].position: This needs 3 numbers, got 2") != NULL,
        "%s", said);
    server_stop(server);
}
END_TEST

START_TEST(a_world_that_was_kept_is_found_by_its_name_and_destroyed) {
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES "one_ball.json --steps 1 --keep --name ball",
                                  said, sizeof(said)),
                     0);
    ck_assert_int_eq(server_shell(address, "moreau worlds --destroy ball", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, " ball: 2 bodies, after 1 step\n"));
    json_t *worlds = server_shell_json(address, "moreau worlds --json", 0);
    ck_assert_uint_eq(json_array_size(worlds), 0);
    json_decref(worlds);
    server_stop(server);
}
END_TEST

START_TEST(groups_stand_behind_the_worlds) {
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES "one_ball.json --steps 1 --keep --name ball",
                                  said, sizeof(said)),
                     0);
    json_t *group = server_shell_json(
        address,
        "moreau call GroupCreate '{\"count\": 3, \"lifetime\": \"SERVER\", \"name\": \"farm\", "
        "\"scene\": {\"bodies\": [{\"name\": \"b\", \"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, "
        "0]}]}, "
        "\"action\": [{\"kind\": \"BODY_FORCE\", \"body\": \"b\"}], "
        "\"observation\": [{\"kind\": \"BODY_POSITION\", \"body\": \"b\"}]}'",
        0);
    json_decref(group);
    json_t *rows = server_shell_json(address, "moreau worlds --json", 0);
    ck_assert_uint_eq(json_array_size(rows), 2);
    ck_assert_ptr_nonnull(json_object_get(json_array_get(rows, 0), "world"));
    ck_assert_str_eq(json_string_value(json_object_get(json_array_get(rows, 1), "name")), "farm");
    ck_assert_ptr_nonnull(json_object_get(json_array_get(rows, 1), "group"));
    json_decref(rows);
    ck_assert_int_eq(server_shell(address, "moreau worlds", said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, "1 group\n"));
    ck_assert_ptr_nonnull(strstr(said, "farm                    3        1 "));
    server_stop(server);
}
END_TEST

// A thread of 5 N that holds a bob of 1 kg as it begins to swing, beside a joint that holds.
static const char swing[] =
    "{\"bodies\": [{\"name\": \"bob\", \"position\": [0, 1, 0], \"mass\": 1,"
    " \"inertia\": [0.1, 0.1, 0.1, 0, 0, 0]}],"
    " \"joints\": [{\"name\": \"thread\", \"kind\": \"BALL\", \"body_b\": \"bob\", \"anchor\": [0, "
    "0, 0],"
    " \"as_rows\": true, \"break_force\": 5}]}";

START_TEST(what_breaks_is_said_by_its_name) {
    ServerProcess *server = server_start("--workers 1");
    char path[SERVER_FOLDER_BYTES + 16], line[SERVER_FOLDER_BYTES + 64];
    snprintf(path, sizeof(path), "%s/swing.json", server->folder);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs(swing, file);
    fclose(file);
    snprintf(line, sizeof(line), "moreau run %s --steps 60", path);
    ck_assert_int_eq(server_shell(server->address[0], line, said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, "  broken       1 joint: 'thread'\n") != NULL, "%s", said);
    strcat(line, " --json");
    json_t *report = server_shell_json(server->address[0], line, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "broken_joints")), 1);
    json_decref(report);
    server_stop(server);
}
END_TEST

// A cube that stands half in the ground leaves at 1 m/s, and the run says that it was held back.
START_TEST(a_deep_overlap_is_said_and_the_settings_are_those_of_the_scene) {
    static const char *const scene =
        "'{\"name\": \"sunk\", \"settings\": {\"integrator\": \"MIDPOINT\", \"rotation\": "
        "\"EXPLICIT\", \"recoverySpeed\": 0.5}, \"bodies\": [{\"kind\": \"STATIC\", \"shapes\": "
        "[{\"plane\": {}}]}, {\"shapes\": [{\"box\": {\"half_extents\": [0.5, 0.5, 0.5]}}]}]}'";
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    char path[] = "/tmp/moreau-check-XXXXXX", line[1024];
    close(mkstemp(path));
    snprintf(line, sizeof(line), "echo %s > %s; moreau run %s --steps 3 --keep --json", scene, path,
             path);
    json_t *report = server_shell_json(address, line, 0);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "recovery_contacts")), 4);
    ck_assert_int_eq(json_integer_value(json_object_get(report, "recovery_steps")), 3);
    json_decref(report);
    json_t *got = server_shell_json(address, "moreau call WorldGet '{\"world\": 1}'", 0);
    const json_t *settings = json_object_get(got, "settings");
    ck_assert_str_eq(json_string_value(json_object_get(settings, "integrator")), "MIDPOINT");
    ck_assert_str_eq(json_string_value(json_object_get(settings, "rotation")), "EXPLICIT");
    ck_assert(json_number_value(json_object_get(settings, "recovery_speed")) == 0.5);
    json_decref(got);
    snprintf(line, sizeof(line), "moreau run %s --steps 3", path);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    ck_assert_msg(strstr(said, "in 3 steps some were too deep") != NULL, "%s", said);
    unlink(path);
    server_stop(server);
}
END_TEST

START_TEST(a_snapshot_is_of_a_world_by_its_name) {
    char folder[] = "/tmp/moreau-check-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES "one_ball.json --steps 7 --keep --name ball",
                                  said, sizeof(said)),
                     0);
    snprintf(line, sizeof(line), "moreau snapshot take ball %s/ball", folder);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, " at step 7 is in "));
    snprintf(line, sizeof(line), "moreau snapshot restore ball %s/ball", folder);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    ck_assert_ptr_nonnull(strstr(said, " is what it was at step 7\n"));
    ck_assert_int_eq(
        server_shell(address, "moreau snapshot clone ball --name second", said, sizeof(said)), 0);
    // a file wins over a world of its name
    snprintf(line, sizeof(line),
             "cd %s && cp ball second && moreau worlds --destroy ball && "
             "moreau snapshot clone second --name third && cp second 77 && rm second && "
             "moreau snapshot clone second --name fourth",
             folder);
    ck_assert_msg(server_shell(address, line, said, sizeof(said)) == 0, "%s", said);
    snprintf(line, sizeof(line), "cd %s && moreau snapshot clone 77 2>&1", folder); // an id
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 1);
    json_t *worlds = server_shell_json(address, "moreau worlds --json", 0);
    ck_assert_uint_eq(json_array_size(worlds), 3);
    json_decref(worlds);
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

// A disk on which nothing more may be written; the shell's limit is in blocks.
START_TEST(a_dump_that_does_not_fit_leaves_the_file_as_it_was) {
    char path[] = "/tmp/moreau-check-XXXXXX", line[512];
    close(mkstemp(path));
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    ck_assert_int_eq(server_shell(address,
                                  "moreau run " SCENES "one_ball.json --steps 7 --keep --name ball",
                                  said, sizeof(said)),
                     0);
    snprintf(line, sizeof(line),
             "echo precious > %s; (trap '' XFSZ; ulimit -f 0; "
             "moreau solve --world ball --dump %s 2>&1)",
             path, path);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 1);
    snprintf(line, sizeof(line), "cat %s", path);
    ck_assert_int_eq(server_shell(address, line, said, sizeof(said)), 0);
    ck_assert_str_eq(said, "precious\n");
    server_stop(server);
    unlink(path);
}
END_TEST

// What a row of several solvers says is what a run of that solver alone says, to the last bit, and
// drift is what the worlds themselves tell. Convex models alone lift the box that slides, until it
// glides mu h v above the ground.
START_TEST(solvers_side_by_side_are_each_as_alone) {
    static const char *const solvers[] = {"mdp", "lcp", "ccp", "sap", "compliant"};
    ServerProcess *server = server_start("--workers 1");
    const char *address = server->address[0];
    json_t *beside = server_shell_json(
        address, "moreau run " SCENES "incline.json --solver all --name tilted --keep --json", 0);
    const json_t *runs = json_object_get(beside, "runs");
    ck_assert_uint_eq(json_array_size(runs), 5);
    json_t *places[5];
    char line[256];
    for (size_t i = 0; i < 5; i++) {
        const json_t *run = json_array_get(runs, i);
        ck_assert_str_eq(json_string_value(json_object_get(run, "solver")), solvers[i]);
        snprintf(line, sizeof(line), "moreau run " SCENES "incline.json --solver %s --json",
                 solvers[i]);
        json_t *alone = server_shell_json(address, line, 0);
        static const char *const same[] = {"hash", "certificate", "energy", "unconverged_steps"};
        for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
            ck_assert_msg(
                json_equal(json_object_get(run, same[k]), json_object_get(alone, same[k])),
                "%s: %s", solvers[i], same[k]);
        }
        json_decref(alone);
        snprintf(line, sizeof(line), "moreau call WorldGet '{\"world\": %lld}'",
                 (long long)json_integer_value(json_object_get(run, "world")));
        places[i] = server_shell_json(address, line, 0);
        double drift = 0.0;
        for (size_t body = 0; body < 3; body++) {
            double square = 0.0;
            for (size_t k = 7 * body; k < 7 * body + 3; k++) {
                double by =
                    json_number_value(json_array_get(json_object_get(places[i], "pose"), k)) -
                    json_number_value(json_array_get(json_object_get(places[0], "pose"), k));
                square += by * by;
            }
            drift = fmax(drift, sqrt(square));
        }
        ck_assert(json_number_value(json_object_get(run, "drift")) == drift);
    }
    for (size_t i = 0; i < 5; i++) {
        const json_t *run = json_array_get(runs, i);
        bool is_convex = i == 2 || i == 3;
        ck_assert((json_object_get(run, "worst_launch") != NULL) == is_convex);
        json_decref(places[i]);
    }
    json_decref(beside);
    server_stop(server);
}
END_TEST

// What a run says was launched fastest, the log says as well, from the same step of the same
// contact; the replay says so at that step; and it verifies. The box that slides at v has been
// lifted by mu v, and glides mu h v above the plane (solvers/ccp.md): mu = sqrt(0.5 0.08).
START_TEST(what_was_launched_stands_in_the_log) {
    char folder[] = "/tmp/moreau-check-XXXXXX", line[512];
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(line, sizeof(line), "--workers 1 --db %s/e.db", folder);
    ServerProcess *server = server_start(line);
    const char *address = server->address[0];
    json_t *run = server_shell_json(
        address,
        "moreau run " SCENES "incline.json --solver ccp --record --episode-name tilted --json", 0);
    const json_t *worst = json_object_get(run, "worst_launch");
    json_t *episode = server_shell_json(address, "moreau episodes tilted --json", 0);
    const json_t *highlight, *launch = NULL;
    size_t i;
    json_array_foreach(json_object_get(episode, "highlights"), i, highlight) {
        const char *kind = json_string_value(json_object_get(highlight, "kind"));
        launch = launch == NULL && strcmp(kind, "LAUNCH") == 0 ? highlight : launch;
    }
    ck_assert_ptr_nonnull(launch);
    json_t *logged =
        json_pack("{s:O,s:O,s:O,s:[O,O]}", "step", json_object_get(launch, "worst_step"), "speed",
                  json_object_get(launch, "value"), "gliding", json_object_get(launch, "height"),
                  "bodies", json_object_get(launch, "body"), json_object_get(launch, "other_body"));
    ck_assert_msg(json_equal(worst, logged), "%s", json_dumps(launch, 0));
    json_int_t step = json_integer_value(json_object_get(logged, "step"));
    snprintf(line, sizeof(line), "moreau replay tilted --from %lld --to %lld --json",
             (long long)step, (long long)step);
    json_t *frame = server_shell_json(address, line, 0);
    json_object_del(logged, "step");
    ck_assert(json_equal(json_object_get(frame, "launch"), logged));
    const json_t *velocity =
        json_object_get(json_array_get(json_object_get(frame, "bodies"), 2), "velocity");
    double v = hypot(json_number_value(json_array_get(velocity, 0)),
                     json_number_value(json_array_get(velocity, 2)));
    double speed = json_number_value(json_object_get(logged, "speed")), mu = sqrt(0.5 * 0.08);
    double gliding = json_number_value(json_object_get(logged, "gliding"));
    // the step's law is met to its tolerance, 1e-6 of |g| h; a box of four contacts turns as little
    ck_assert_msg(fabs(speed - mu * v) <= 1e-3 * speed, "%g %g", speed, mu * v);
    ck_assert_msg(fabs(gliding - speed / 240.0) <= 1e-3 * gliding, "%g %g", gliding, speed / 240);
    json_decref(frame);
    json_decref(logged);
    json_decref(episode);
    json_decref(run);
    ck_assert_int_eq(server_shell(address, "moreau verify tilted", said, sizeof(said)), 0);
    server_stop(server);
    snprintf(line, sizeof(line), "rm -r %s", folder);
    ck_assert_int_eq(system(line), 0);
}
END_TEST

static TCase *case_command_line(void) {
    TCase *tcase = tcase_create("command line");
    tcase_add_loop_test(tcase, every_step_of_every_scene_converges, 0, 13);
    tcase_add_loop_test(tcase, a_dump_is_solved_as_the_world_solved_it, 0, 4);
    tcase_add_loop_test(tcase, a_dump_of_lcp_gives_the_impulses_of_its_last_pass, 0, 3);
    tcase_add_loop_test(tcase, a_problem_is_solved_by_lcp_as_well, 0, 2);
    tcase_add_loop_test(tcase, parameters_of_lcp_are_refused_as_typed, 0, 2);
    tcase_add_test(tcase, what_breaks_is_said_by_its_name);
    tcase_add_test(tcase, a_deep_overlap_is_said_and_the_settings_are_those_of_the_scene);
    tcase_add_test(tcase, solvers_side_by_side_are_each_as_alone);
    tcase_add_test(tcase, what_was_launched_stands_in_the_log);
    tcase_add_test(tcase, a_full_disk_is_said);
    tcase_add_test(tcase, errors_name_what_was_typed);
    tcase_add_test(tcase, an_episode_is_compared_in_a_table_and_as_a_document);
    tcase_add_test(tcase, a_list_that_is_too_short_says_what_is_needed_and_what_came);
    tcase_add_test(tcase, a_world_that_was_kept_is_found_by_its_name_and_destroyed);
    tcase_add_test(tcase, groups_stand_behind_the_worlds);
    tcase_add_test(tcase, a_snapshot_is_of_a_world_by_its_name);
    tcase_add_test(tcase, a_dump_that_does_not_fit_leaves_the_file_as_it_was);
    return tcase;
}

SUITE_MAIN("system/command_line", case_command_line)
