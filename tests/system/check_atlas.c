// SPDX-License-Identifier: MIT
// The contact problems of tests/problems/atlas, which come from scenes of our own
// (tests/problems/make_atlas): each is a problem, and what was once solved is solved again.
#include "support/server_process.h"
#include "support/server_shell.h"
#include "support/suite.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

#define ATLAS MOREAU_SOURCE_DIR "/tests/problems/atlas/"

#define SOLVED 1e-9 // as a file states it
#define AGAIN  1e-8 // what is asked for: less, so that no rounding decides

// The e_DS of the answer that a file brings.
static double stated(const char *path) {
    json_error_t error;
    json_t *problem = json_load_file(path, 0, &error);
    ck_assert_msg(problem != NULL, "%s: %s, line %d", path, error.text, error.line);
    const json_t *answer = json_array_get(json_object_get(problem, "answers"), 0);
    ck_assert_str_eq(json_string_value(json_object_get(answer, "model")), "coulomb");
    double e_ds = json_number_value(json_object_get(json_object_get(answer, "residual"), "e_DS"));
    json_decref(problem);
    return e_ds;
}

// One that nobody has solved is a problem all the same, and is not tried for long.
static void solve_again(const ServerProcess *server, const char *path, bool was_solved) {
    char line[1024];
    snprintf(line, sizeof(line),
             "moreau solve %s --json --param friction=coulomb --param tolerance=%g "
             "--param max_iterations=%d",
             path, AGAIN, was_solved ? 100000 : 10);
    json_t *found = server_shell_json(server->address[0], line, 0);
    const json_t *report = json_object_get(found, "report");
    double e_ds = json_number_value(json_object_get(report, "e_DS"));
    ck_assert_msg(!was_solved || e_ds <= AGAIN, "%s: %g", path, e_ds);
    ck_assert(!was_solved || json_is_true(json_object_get(report, "converged")));
    json_decref(found);
}

START_TEST(what_was_solved_is_solved_again) {
    ServerProcess *server = server_start("--workers 1");
    DIR *directory = opendir(ATLAS);
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (strstr(entry->d_name, ".json") != NULL) {
            char path[512];
            snprintf(path, sizeof(path), ATLAS "%s", entry->d_name);
            solve_again(server, path, stated(path) <= SOLVED);
            count++;
        }
    }
    closedir(directory);
    server_stop(server);
    ck_assert_uint_ge(count, 10);
}
END_TEST

static TCase *case_atlas(void) {
    TCase *tcase = tcase_create("atlas");
    tcase_add_test(tcase, what_was_solved_is_solved_again);
    return tcase;
}

SUITE_MAIN("system/atlas", case_atlas)
