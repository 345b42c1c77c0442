// SPDX-License-Identifier: MIT
// Problem files to columns and back: every number of every file in tests/problems survives, and
// what is wrong is named.
#include "support/suite.h"

#include "cli/json/text.h"
#include "cli/problems/problem.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// What a file means is what is left when keys at their defaults are dropped: the way back writes
// some that the way in had not. (A row's gap of 0 is not its default, null; but null is always
// written, and null and 0 are not the same.)
static bool is_default(const char *key, const json_t *value) {
    static const char *const zeros[] = {"gap",     "restitution", "approach", "dissipation_time",
                                        "damping", "motion",      "gdot",     "group",
                                        "gravity"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof(zeros) / sizeof(zeros[0]); i++) {
        is_known = is_known || strcmp(zeros[i], key) == 0;
    }
    bool is_zero =
        json_is_array(value) ? json_array_size(value) > 0 : json_number_value(value) == 0.0;
    for (size_t i = 0; i < json_array_size(value); i++) {
        is_zero = is_zero && json_number_value(json_array_get(value, i)) == 0.0;
    }
    return json_is_null(value) || (is_known && is_zero);
}

static bool same_json(const json_t *a, const json_t *b);

// Every member of `a` that says something is in `b` with the same meaning.
static bool members_in(const json_t *a, const json_t *b) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)a, key, value) {
        const json_t *other = json_object_get(b, key);
        if (other == NULL ? !is_default(key, value) : !same_json(value, other)) {
            printf("differs at \"%s\"\n", key);
            return false;
        }
    }
    return true;
}

static bool same_json(const json_t *a, const json_t *b) {
    if (json_is_number(a) && json_is_number(b)) {
        return json_number_value(a) == json_number_value(b);
    }
    if (json_is_array(a) && json_is_array(b) && json_array_size(a) == json_array_size(b)) {
        for (size_t i = 0; i < json_array_size(a); i++) {
            if (!same_json(json_array_get(a, i), json_array_get(b, i))) {
                return false;
            }
        }
        return true;
    }
    if (json_is_object(a) && json_is_object(b)) {
        return members_in(a, b) && members_in(b, a);
    }
    return json_equal(a, b) == 1;
}

static Moreau__V1__ContactProblem *read_problem(const char *text, JsonError *error) {
    JsonText json;
    if (!json_text_parse(&json, "p.json", text, strlen(text), error)) {
        return NULL;
    }
    ProblemSolver solver;
    Moreau__V1__ContactProblem *problem = problem_read(&json, &solver, error);
    problem_solver_free(&solver);
    json_text_free(&json);
    return problem;
}

static void check_round_trip(const char *file) {
    JsonText json;
    JsonError error;
    ck_assert_msg(json_text_load(&json, file, &error), "%s", error.message);
    ProblemSolver solver;
    Moreau__V1__ContactProblem *problem = problem_read(&json, &solver, &error);
    ck_assert_msg(problem != NULL, "%s", error.message);

    // through the wire as well: what is packed is what the server sees
    size_t count = moreau__v1__contact_problem__get_packed_size(problem);
    uint8_t *bytes = malloc(count);
    moreau__v1__contact_problem__pack(problem, bytes);
    Moreau__V1__ContactProblem *arrived = moreau__v1__contact_problem__unpack(NULL, count, bytes);
    json_t *written = problem_write(arrived, json_string_value(json_object_get(json.root, "about")),
                                    solver.name, solver.parameters);
    ck_assert_ptr_nonnull(written);
    json_object_del(json.root, "answers"); // not part of the problem
    ck_assert_msg(same_json(json.root, written), "%s changed on its way", file);

    json_decref(written);
    free(bytes);
    moreau__v1__contact_problem__free_unpacked(arrived, NULL);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
    problem_solver_free(&solver);
    json_text_free(&json);
}

START_TEST(every_problem_file_survives_the_way_there_and_back) {
    DIR *directory = opendir(MOREAU_SOURCE_DIR "/tests/problems");
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (strstr(entry->d_name, ".json") != NULL) {
            char file[512];
            snprintf(file, sizeof(file), MOREAU_SOURCE_DIR "/tests/problems/%s", entry->d_name);
            check_round_trip(file);
            count++;
        }
    }
    closedir(directory);
    ck_assert_uint_ge(count, 16);
}
END_TEST

// every key that the format knows, with null wherever it may stand
static const char full[] =
    "{\"format\": \"moreau-problem/1\", \"about\": \"all keys\", \"time_step\": 0.01, \"gravity\": "
    "9.81,\n"
    "\"trees\": [{\"mass\": [[2, 0.5], [0.5, 3]], \"v_free\": [0.1, -0.2]}, {\"mass\": [[4]], "
    "\"v_free\": [1]}],\n"
    "\"contacts\": [{\"mu\": 0.5, \"gap\": -1e-3, \"restitution\": 0.25, \"approach\": -2, "
    "\"stiffness\": 1e5,\n"
    "  \"dissipation_time\": 0.002, \"damping\": 200, \"bias\": -0.125, \"force\": 100, "
    "\"motion\": [0, 1, 0],\n"
    "  \"gdot\": [0.5, 0, 0], \"blocks\": [{\"tree\": 1, \"jacobian\": [[1], [2], [3]]},\n"
    "  {\"tree\": 0, \"jacobian\": [[1, 2], [3, 4], [5, 6]]}]},\n"
    "  {\"mu\": 0, \"stiffness\": null, \"blocks\": [{\"tree\": 0, \"jacobian\": [[7, 8], [9, 10], "
    "[11, 12]]}]}],\n"
    "\"rows\": [{\"low\": null, \"high\": 0.5, \"gap\": null, \"bias\": -1, \"R\": 0.01, \"gdot\": "
    "3, \"group\": 7,\n"
    "  \"blocks\": [{\"tree\": 0, \"jacobian\": [1, -1]}]},\n"
    "  {\"low\": 0, \"high\": null, \"gap\": 0, \"stiffness\": 1e7, \"dissipation_time\": 0.1, "
    "\"damping\": 5,\n"
    "  \"blocks\": [{\"tree\": 1, \"jacobian\": [2]}, {\"tree\": 0, \"jacobian\": [3, 4]}]}],\n"
    "\"warm\": {\"contacts\": [[1, 2, 3], [4, 5, 6]], \"rows\": [7, 8]}, \"answers\": []}";

START_TEST(every_key_lands_in_its_column) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(full, &error);
    ck_assert_msg(problem != NULL, "%s", error.message);
    ck_assert_uint_eq(problem->n_contact_mu, 2);
    ck_assert_uint_eq(problem->contact_given[0], 1 | 2 | 4); // stiffness, bias, force
    ck_assert_uint_eq(problem->contact_given[1], 0);
    ck_assert(problem->contact_bias[0] == -0.125);
    ck_assert_uint_eq(problem->n_contact_motion, 6);
    ck_assert(problem->contact_motion[1] == 1.0);
    ck_assert(problem->contact_jacobian[3] == 1.0 && problem->contact_jacobian[8] == 6.0);
    ck_assert(problem->contact_jacobian[14] == 12.0);
    ck_assert_uint_eq(problem->contact_block_tree[0], 1);
    ck_assert_uint_eq(problem->n_row_given, 2);
    ck_assert_uint_eq(problem->row_given[0], 2 | 16 | 32); // high, R, bias
    ck_assert_uint_eq(problem->row_given[1], 1 | 4 | 8);   // low, gap, stiffness
    ck_assert_uint_eq(problem->row_group[0], 7);
    ck_assert_uint_eq(problem->row_group[1], 0);
    ck_assert(problem->row_jacobian[3] == 3.0);
    ck_assert_uint_eq(problem->n_warm_contacts, 6);
    ck_assert(problem->warm_rows[1] == 8.0);
    json_t *written = problem_write(problem, "all keys", NULL, NULL);
    JsonText json;
    ck_assert(json_text_parse(&json, "p", full, strlen(full), &error));
    json_object_del(json.root, "answers");
    ck_assert(same_json(json.root, written));
    json_text_free(&json);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

// bodies, alone and beside a tree, on the ground and on each other
static const char bodies[] =
    "{\"format\": \"moreau-problem/1\", \"about\": \"bodies\", \"time_step\": 0.01, \"gravity\": "
    "9.81,\n"
    "\"trees\": [{\"body\": {\"mass\": 2, \"inertia\": [1, 2, 2.5, 0.1, -0.0, 0.3]},\n"
    "  \"v_free\": [1, 2, 3, 4, 5, -0.0]},\n"
    "  {\"mass\": [[3]], \"v_free\": [7]},\n"
    "  {\"body\": {\"mass\": 0.1, \"inertia\": [1, 1, 1, 0, 0, 0]}, \"v_free\": [0, 0, 0, 0, 0, "
    "0]}],\n"
    "\"contacts\": [{\"mu\": 0.5, \"frame\": [[0, 0, 1], [1, 0, 0], [0, 1, 0]],\n"
    "  \"sides\": [null, {\"tree\": 0, \"arm\": [0.1, 0.2, 0.30000000000000004]}]},\n"
    "  {\"mu\": 0.25, \"blocks\": [{\"tree\": 1, \"jacobian\": [[1], [2], [3]]}]},\n"
    "  {\"mu\": 1, \"frame\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],\n"
    "  \"sides\": [{\"tree\": 1, \"jacobian\": [[4], [5], [6]]}, {\"tree\": 2, \"arm\": [7, 8, "
    "9]}]},\n"
    "  {\"mu\": 0, \"frame\": [[0, 1, 0], [0, 0, 1], [1, 0, 0]],\n"
    "  \"sides\": [{\"tree\": 2, \"arm\": [10, 11, 12]}, {\"tree\": 0, \"arm\": [13, 14, 15]}]}],\n"
    "\"rows\": [{\"blocks\": [{\"tree\": 0, \"jacobian\": [1, 2, 3, 4, 5, 6]}]}]}";

START_TEST(bodies_land_in_their_columns_and_come_back) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(bodies, &error);
    ck_assert_msg(problem != NULL, "%s", error.message);
    ck_assert(problem->tree_is_body[0] && !problem->tree_is_body[1] && problem->tree_is_body[2]);
    ck_assert_uint_eq(problem->tree_width[2], 6);
    ck_assert_uint_eq(problem->n_mass, 1);
    ck_assert(problem->body_mass[1] == 0.1 && problem->body_inertia[5] == 0.3);
    ck_assert(signbit(problem->body_inertia[4]) && signbit(problem->v_free[5]));
    ck_assert_uint_eq(problem->contact_block_count[0], 0);
    ck_assert_uint_eq(problem->contact_block_count[1], 1);
    ck_assert_uint_eq(problem->n_contact_frame, 27);
    static const uint32_t trees[] = {UINT32_MAX, 0, 1, 2, 2, 0};
    ck_assert_uint_eq(problem->n_side_tree, 6);
    ck_assert(memcmp(problem->side_tree, trees, sizeof(trees)) == 0);
    ck_assert_uint_eq(problem->n_side_arm, 12);
    ck_assert(problem->side_arm[2] == 0.30000000000000004 && problem->side_arm[11] == 15.0);
    ck_assert(problem->contact_jacobian[3] == 4.0);
    json_t *written = problem_write(problem, "bodies", NULL, NULL);
    JsonText json;
    ck_assert(json_text_parse(&json, "p", bodies, strlen(bodies), &error));
    ck_assert(same_json(json.root, written));
    json_text_free(&json);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

#define HEAD "{\"format\": \"moreau-problem/1\", \"time_step\": 0.01,\n"
#define TREE "\"trees\": [{\"mass\": [[1]], \"v_free\": [0]}]"
#define BODY                                                                                       \
    "\"trees\": [{\"body\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}, \"v_free\": [0, 0, "   \
    "0, 0, "                                                                                       \
    "0, 0]},\n{\"mass\": [[1]], \"v_free\": [0]}]"
#define FRAME "\"frame\": [[0, 0, 1], [1, 0, 0], [0, 1, 0]]"
#define ARM   "{\"tree\": 0, \"arm\": [0, 0, 0]}"
#define BLOCK "{\"tree\": 0, \"jacobian\": [[1], [0], [0]]}"

static const struct {
    const char *text, *expected;
} refusals[] = {
    {"{\"time_step\": 1}", "p.json:1: \"format\" is missing"},
    {"{\"format\": \"moreau-problem/2\"}",
     "p.json:1: format: needs \"moreau-problem/1\", the only format this tool "
     "reads, got \"moreau-problem/2\""},
    {"{\"format\": \"moreau-problem/1\"}", "p.json:1: \"time_step\" is missing"},
    {HEAD TREE ",\n\"contcats\": []}",
     "p.json:3: contcats: unknown key in a file of format moreau-problem/1 (did "
     "you mean contacts?)"},
    {HEAD "\"trees\": [{\"mass\": [[1, 0],\n[0]], \"v_free\": [0, 0]}]}",
     "p.json:3: trees[0].mass[1]: needs 2 numbers, got 1"},
    {HEAD "\"trees\": [{\"mass\": [[1]], \"v_free\": []}]}",
     "p.json:2: trees[0].v_free: needs a list"},
    {HEAD "\"trees\": [{\"mass\": [[\"1\"]], \"v_free\": [0]}]}",
     "p.json:2: trees[0].mass[0][0]: needs a number, got \"1\""},
    {HEAD TREE ",\n\"contacts\": [{\"blocks\": []}]}", "p.json:3: contacts[0]: \"mu\" is missing"},
    {HEAD TREE ",\n\"contacts\": [{\"mu\": 1, \"blocks\": []}]}",
     "p.json:3: contacts[0].blocks: needs a list of one or two blocks {\"tree\", "
     "\"jacobian\"}, got a list of 0"},
    {HEAD TREE ",\n\"contacts\": [{\"mu\": null, \"blocks\": [" BLOCK "]}]}",
     "p.json:3: contacts[0].mu: needs a number, got null"},
    {HEAD TREE ",\n\"contacts\": [{\"mu\": 1, \"blocks\": [\n" BLOCK
               ", {\"tree\": 1, \"jacobian\": []}]}]}",
     "p.json:4: contacts[0].blocks[1].tree: there is no tree 1"},
    {HEAD TREE
     ",\n\"contacts\": [{\"mu\": 1, \"blocks\": [{\"tree\": 0, \"jacobian\": [[1], [0]]}]}]}",
     "p.json:3: contacts[0].blocks[0].jacobian: needs 3 rows, got 2"},
    {HEAD TREE ",\n\"contacts\": [{\"mu\": 1, \"motion\": [1, 2], \"blocks\": [" BLOCK "]}]}",
     "p.json:3: contacts[0].motion: needs 3 numbers, got 2"},
    {HEAD TREE ",\n\"contacts\": [{\"mu\": 1, \"Gap\": 0, \"blocks\": [" BLOCK "]}]}",
     "p.json:3: contacts[0].Gap: unknown key"},
    {HEAD "\"trees\": [{\"body\": {\"mass\": 1},\n\"v_free\": [0, 0, 0, 0, 0, 0]}]}",
     "p.json:2: trees[0].body: \"inertia\" is missing"},
    {HEAD "\"trees\": [{\"body\": 3, \"v_free\": [0, 0, 0, 0, 0, 0]}]}",
     "p.json:2: trees[0].body: needs an object, as {...}, got 3"},
    {HEAD "\"trees\": [{\"body\": {\"inertia\": []}, \"v_free\": [0, 0, 0, 0, 0, 0]}]}",
     "p.json:2: trees[0].body: \"mass\" is missing"},
    {HEAD "\"trees\": [{\"body\": {\"mass\": 1, \"inertia\": [1, 1, 1]}, \"v_free\": [0, 0, 0, 0, "
          "0, 0]}]}",
     "p.json:2: trees[0].body.inertia: needs 6 numbers, got 3"},
    {HEAD "\"trees\": [{\"body\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0], \"size\": 1}, "
          "\"v_free\": "
          "[0, 0, 0, 0, 0, 0]}]}",
     "p.json:2: trees[0].body.size: unknown key"},
    {HEAD "\"trees\": [{\"body\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}, \"v_free\": [0, "
          "0, 0]}]}",
     "p.json:2: trees[0].v_free: needs 6 numbers, got 3"},
    {HEAD "\"trees\": [{\"body\": {\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0]}, \"mass\": [[1]], "
          "\"v_free\": [0, 0, 0, 0, 0, 0]}]}",
     "p.json:2: trees[0]: a tree has either \"mass\", a matrix, or \"body\", or \"links\""},
    {HEAD "\"trees\": [{\"links\": [], \"v_free\": [0]}]}",
     "p.json:2: trees[0].links: needs a list of one or more links, got a list of 0"},
    {HEAD "\"trees\": [{\"links\": [{\"mass\": 1}],\n\"v_free\": [0]}]}",
     "p.json:2: trees[0].links[0]: \"inertia\" is missing"},
    {HEAD
     "\"trees\": [{\"links\": [{\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0], \"center\": [0, 0, "
     "0], \"motion\": [[1, 0, 0, 0, 0]]}], \"v_free\": [0]}]}",
     "p.json:2: trees[0].links[0].motion[0]: needs 6 numbers, got 5"},
    {HEAD
     "\"trees\": [{\"links\": [{\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0], \"center\": [0, 0, "
     "0], \"motion\": [[1, 0, 0, 0, 0, 0]]}], \"v_free\": [0, 0]}]}",
     "p.json:2: trees[0].links: the links have 1 velocities, v_free has 2"},
    {HEAD
     "\"trees\": [{\"links\": [{\"mass\": 1, \"inertia\": [1, 1, 1, 0, 0, 0], \"center\": [0, 0, "
     "0], \"parent\": -1, \"motion\": []}], \"v_free\": [0]}]}",
     "p.json:2: trees[0].links[0].parent: needs a whole number from 0, got -1"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [null, " ARM
               "], \"blocks\": []}]}",
     "p.json:4: contacts[0]: a contact has either \"blocks\", or \"frame\" and \"sides\""},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, \"sides\": [null, " ARM "]}]}",
     "p.json:4: contacts[0]: \"frame\" is missing"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME "}]}",
     "p.json:4: contacts[0]: \"sides\" is missing"},
    {HEAD BODY
     ",\n\"contacts\": [{\"mu\": 1, \"frame\": [[0, 0, 1], [1, 0, 0]], \"sides\": [null, " ARM
     "]}]}",
     "p.json:4: contacts[0].frame: needs 3 rows, got 2"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [" ARM "]}]}",
     "p.json:4: contacts[0].sides: needs 2 sides, got 1"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [null, 0]}]}",
     "p.json:4: contacts[0].sides[1]: needs {\"tree\", \"arm\"}, {\"tree\", \"jacobian\"}, or null "
     "for "
     "ground, got 0"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [null, {\"tree\": 2}]}]}",
     "p.json:4: contacts[0].sides[1].tree: there is no tree 2; the file has 2"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [null, {\"tree\": 0}]}]}",
     "p.json:4: contacts[0].sides[1]: \"arm\" is missing"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME
               ", \"sides\": [null, {\"tree\": 0, \"arm\": [1]}]}]}",
     "p.json:4: contacts[0].sides[1].arm: needs 3 numbers, got 1"},
    {HEAD BODY ",\n\"contacts\": [{\"mu\": 1, " FRAME ", \"sides\": [" ARM
               ", {\"tree\": 1, \"arm\": [1]}]}]}",
     "p.json:4: contacts[0].sides[1].arm: unknown key"},
    {HEAD TREE ",\n\"rows\": [{\"group\": -1, \"blocks\": []}]}",
     "p.json:3: rows[0].group: needs a whole number from 0, got -1"},
    {HEAD TREE ",\n\"rows\": [{\"blocks\": [{\"tree\": 0, \"jacobian\": [1, 2]}]}]}",
     "p.json:3: rows[0].blocks[0].jacobian: needs 1 number, got 2"},
    {HEAD TREE ",\n\"warm\": {\"contacts\": [[0, 0, 0]]}}",
     "p.json:3: warm.contacts: needs 0 rows, got 1"},
    {HEAD TREE ",\n\"parameters\": {}}", "p.json:3: parameters: these are parameters of which"},
    {HEAD TREE ",\n\"solver\": 3}", "p.json:3: solver: needs the name of a solver, got 3"},
    {HEAD TREE ",\"solver\": \"mdp\",\n\"parameters\": {\"tolernce\": 1}}",
     "p.json:3: parameters.tolernce: unknown key (did you mean tolerance?); MdpParameters has"},
    {HEAD TREE ",\"solver\": \"mdp\",\n\"parameters\": {\"friction\": \"ice\"}}",
     "p.json:3: parameters.friction: needs one of MAXIMUM_DISSIPATION, COULOMB, got \"ice\""},
    {HEAD TREE ",\"solver\": \"magic\",\n\"parameters\": {}}",
     "p.json:3: parameters: this tool knows no parameters of a solver \"magic\""},
    {HEAD TREE ",\n\"answers\": [{\"modle\": 1}]}", "p.json:3: answers[0].modle: unknown key"},
};

START_TEST(what_is_wrong_is_named_with_line_and_path) {
    JsonError error = {0};
    ck_assert_ptr_null(read_problem(refusals[_i].text, &error));
    ck_assert_msg(strncmp(error.message, refusals[_i].expected, strlen(refusals[_i].expected)) == 0,
                  "\"%s\" does not start with \"%s\"", error.message, refusals[_i].expected);
}
END_TEST

// What comes from a server is not trusted: every column cut short by one is noticed, not read
// beyond its end.
START_TEST(columns_that_do_not_fit_are_not_written) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(full, &error);
    size_t *const counts[] = {&problem->n_mass,
                              &problem->n_v_free,
                              &problem->n_contact_gap,
                              &problem->n_contact_jacobian,
                              &problem->n_contact_block_tree,
                              &problem->n_contact_block_count,
                              &problem->n_contact_given,
                              &problem->n_contact_motion,
                              &problem->n_row_jacobian,
                              &problem->n_row_block_tree,
                              &problem->n_row_block_count,
                              &problem->n_row_group,
                              &problem->n_warm_contacts,
                              &problem->n_warm_rows};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        (*counts[i])--;
        json_t *written = problem_write(problem, "", NULL, NULL);
        ck_assert_msg(written == NULL, "column %zu", i);
        (*counts[i])++;
    }
    problem->contact_block_tree[0] = 2;
    ck_assert_ptr_null(problem_write(problem, "", NULL, NULL));
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

START_TEST(columns_of_bodies_that_do_not_fit_are_not_written) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(bodies, &error);
    ck_assert_ptr_nonnull(problem);
    size_t *const counts[] = {&problem->n_tree_is_body, &problem->n_body_mass,
                              &problem->n_body_inertia, &problem->n_contact_frame,
                              &problem->n_side_tree,    &problem->n_side_arm};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        (*counts[i])--;
        json_t *written = problem_write(problem, "", NULL, NULL);
        ck_assert_msg(written == NULL, "column %zu", i);
        (*counts[i])++;
    }
    problem->side_tree[1] = 3;
    ck_assert_ptr_null(problem_write(problem, "", NULL, NULL));
    problem->side_tree[1] = 0;
    problem->tree_width[0] = 5;
    ck_assert_ptr_null(problem_write(problem, "", NULL, NULL));
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

// ---- links

static const char arm[] =
    "{\"format\": \"moreau-problem/1\", \"about\": \"arm\", \"time_step\": 0.01, \"gravity\": "
    "9.81,\n"
    "\"trees\": [{\"mass\": [[3]], \"v_free\": [7]},\n"
    "  {\"links\": [{\"parent\": null, \"mass\": 2, \"inertia\": [1, 2, 2.5, 0.1, -0.0, 0.3],\n"
    "     \"center\": [0.1, 0.2, 0.30000000000000004], \"motion\": [[1, 2, 3, 4, 5, -0.0]],\n"
    "     \"added\": [[0.5]]},\n"
    "    {\"parent\": 0, \"mass\": 0, \"inertia\": [0, 0, 0, 0, 0, 0], \"center\": [1, 1, 1],\n"
    "     \"motion\": [[0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]], \"added\": [[0, 1], [1, 0]]},\n"
    "    {\"parent\": 1, \"mass\": 4, \"inertia\": [1, 1, 1, 0, 0, 0], \"center\": [2, 1, 1],\n"
    "     \"motion\": []}], \"v_free\": [8, 9, 10]}],\n"
    "\"contacts\": [], \"rows\": []}";

START_TEST(links_land_in_their_columns_and_come_back) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(arm, &error);
    ck_assert_msg(problem != NULL, "%s", error.message);
    ck_assert_uint_eq(problem->tree_link_count[0], 0);
    ck_assert_uint_eq(problem->tree_link_count[1], 3);
    ck_assert_uint_eq(problem->tree_width[1], 3);
    ck_assert_uint_eq(problem->n_mass, 1);
    static const uint32_t parents[] = {UINT32_MAX, 0, 1}, velocities[] = {1, 2, 0};
    ck_assert(memcmp(problem->link_parent, parents, sizeof(parents)) == 0);
    ck_assert(memcmp(problem->link_velocities, velocities, sizeof(velocities)) == 0);
    ck_assert(problem->link_center[2] == 0.30000000000000004 && problem->link_mass[2] == 4.0);
    ck_assert(signbit(problem->link_inertia[4]) && signbit(problem->link_motion[5]));
    ck_assert_uint_eq(problem->n_link_motion, 18);
    ck_assert_uint_eq(problem->n_link_added, 5);
    json_t *written = problem_write(problem, "arm", NULL, NULL);
    JsonText json;
    ck_assert(json_text_parse(&json, "p", arm, strlen(arm), &error));
    ck_assert(same_json(json.root, written));
    json_text_free(&json);
    json_decref(written);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

START_TEST(what_links_add_may_be_left_out) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(
        "{\"format\": \"moreau-problem/1\", \"time_step\": 0.01, \"trees\": [{\"links\": "
        "[{\"mass\": 2, \"inertia\": [1, 1, 1, 0, 0, 0], \"center\": [0, 0, 0], \"motion\": "
        "[[0, 0, 1, 0, 0, 0], [0, 1, 0, 0, 0, 0]]}], \"v_free\": [1, 2]}]}",
        &error);
    ck_assert_msg(problem != NULL, "%s", error.message);
    ck_assert_uint_eq(problem->link_parent[0], UINT32_MAX);
    ck_assert_uint_eq(problem->n_link_added, 4);
    ck_assert(problem->link_added[3] == 0.0);
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

START_TEST(columns_of_links_that_do_not_fit_are_not_written) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(arm, &error);
    ck_assert_ptr_nonnull(problem);
    size_t *const counts[] = {&problem->n_tree_link_count, &problem->n_link_parent,
                              &problem->n_link_velocities, &problem->n_link_mass,
                              &problem->n_link_inertia,    &problem->n_link_center,
                              &problem->n_link_motion,     &problem->n_link_added};
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
        (*counts[i])--;
        ck_assert_msg(problem_write(problem, "", NULL, NULL) == NULL, "column %zu", i);
        (*counts[i])++;
    }
    problem->link_velocities[1] = 7;
    ck_assert_ptr_null(problem_write(problem, "", NULL, NULL));
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

// ---- answers

START_TEST(an_answer_lists_velocities_per_tree) {
    JsonError error;
    Moreau__V1__ContactProblem *problem = read_problem(full, &error);
    double v[] = {1, 2, 3};
    double contacts[] = {1, 0, 0, 2, 0, 0};
    double rows[] = {5, 6};
    Moreau__V1__Certificate certificate = MOREAU__V1__CERTIFICATE__INIT;
    certificate.e_ds = 0.25;
    certificate.scale = 2.0;
    certificate.converged = 1;
    Moreau__V1__SolveReply reply = MOREAU__V1__SOLVE_REPLY__INIT;
    reply.n_v = 3;
    reply.v = v;
    reply.n_contacts = 6;
    reply.contacts = contacts;
    reply.n_rows = 2;
    reply.rows = rows;
    ck_assert_ptr_null(problem_write_answer(problem, "mdp", NULL, &reply)); // no certificate
    reply.certificate = &certificate;
    json_t *answer = problem_write_answer(problem, "mdp", NULL, &reply);
    const json_t *trees = json_object_get(answer, "v");
    ck_assert_str_eq(json_string_value(json_object_get(answer, "model")), "coulomb");
    ck_assert_uint_eq(json_array_size(trees), 2);
    ck_assert_uint_eq(json_array_size(json_array_get(trees, 0)), 2);
    ck_assert(json_real_value(json_array_get(json_array_get(trees, 1), 0)) == 3.0);
    ck_assert_uint_eq(json_array_size(json_object_get(answer, "contacts")), 2);
    ck_assert(json_real_value(json_object_get(json_object_get(answer, "report"), "e_DS")) == 0.25);
    ck_assert(json_real_value(json_object_get(json_object_get(answer, "report"), "V")) == 2.0);
    json_decref(answer);
    reply.n_v = 2;
    ck_assert_ptr_null(problem_write_answer(problem, "mdp", NULL, &reply));
    moreau__v1__contact_problem__free_unpacked(problem, NULL);
}
END_TEST

static TCase *case_problem(void) {
    TCase *tcase = tcase_create("problem");
    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, every_problem_file_survives_the_way_there_and_back);
    tcase_add_test(tcase, every_key_lands_in_its_column);
    tcase_add_loop_test(tcase, what_is_wrong_is_named_with_line_and_path, 0,
                        sizeof(refusals) / sizeof(refusals[0]));
    tcase_add_test(tcase, bodies_land_in_their_columns_and_come_back);
    tcase_add_test(tcase, columns_that_do_not_fit_are_not_written);
    tcase_add_test(tcase, columns_of_bodies_that_do_not_fit_are_not_written);
    tcase_add_test(tcase, links_land_in_their_columns_and_come_back);
    tcase_add_test(tcase, what_links_add_may_be_left_out);
    tcase_add_test(tcase, columns_of_links_that_do_not_fit_are_not_written);
    tcase_add_test(tcase, an_answer_lists_velocities_per_tree);
    return tcase;
}

SUITE_MAIN("clients/problem", case_problem)
