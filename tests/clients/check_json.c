// SPDX-License-Identifier: MIT
// JSON <-> protobuf by reflection: nothing is lost on the way, and what is wrong is named with its
// line and path.
#include "support/suite.h"

#include "cli/json/base64.h"
#include "cli/json/read.h"
#include "cli/json/text.h"
#include "cli/json/write.h"
#include "cli/base/options.h"
#include "cli/protocol/parameters.h"

#include "moreau.pb-c.h"

#include <dirent.h>
#include <float.h>
#include <stdio.h>
#include <string.h>

static ProtobufCMessage *read_text(const char *text, const ProtobufCMessageDescriptor *descriptor,
                                   JsonError *error) {
    JsonText json;
    if (!json_text_parse(&json, "scene.json", text, strlen(text), error)) {
        return NULL;
    }
    ProtobufCMessage *message = json_read_message(&json, json.root, "", descriptor, error);
    json_text_free(&json);
    return message;
}

static Moreau__V1__Scene *read_scene(const char *text) {
    JsonError error = {0};
    ProtobufCMessage *message = read_text(text, &moreau__v1__scene__descriptor, &error);
    ck_assert_msg(message != NULL, "%s", error.message);
    return (Moreau__V1__Scene *)message;
}

static char *print_text(const ProtobufCMessage *message) {
    char *text = NULL;
    size_t count = 0;
    FILE *stream = open_memstream(&text, &count);
    json_t *document = json_write_message(message);
    json_print(stream, document);
    json_decref(document);
    fclose(stream);
    return text;
}

// Packs both messages and compares the bytes, which are a function of the content.
static void assert_same_message(const ProtobufCMessage *a, const ProtobufCMessage *b) {
    size_t count = protobuf_c_message_get_packed_size(a);
    ck_assert_uint_eq(count, protobuf_c_message_get_packed_size(b));
    uint8_t *bytes_a = malloc(count + 1);
    uint8_t *bytes_b = malloc(count + 1);
    protobuf_c_message_pack(a, bytes_a);
    protobuf_c_message_pack(b, bytes_b);
    ck_assert_int_eq(memcmp(bytes_a, bytes_b, count), 0);
    free(bytes_a);
    free(bytes_b);
}

// ---- reading what is right

START_TEST(a_scene_is_read_with_every_kind_of_value) {
    Moreau__V1__Scene *scene = read_scene(
        "{\"name\": \"a\\u00e9\\n\", \"settings\": {\"gravity\": [0, 0, -9.81], \"timeStep\": "
        "1e-3},\n"
        "\"materials\": [{\"name\": \"m\", \"friction\": 1}], \"bodies\": [{\"kind\": \"static\",\n"
        "\"shapes\": [{\"plane\": {}}]}, {\"kind\": 1, \"linearVelocity\": [1, 2, 3], \"shapes\": "
        "[{\"sphere\": {\"radius\": 0.5}, \"material\": \"m\"}]}]}");
    ck_assert_str_eq(scene->name, "a\xc3\xa9\n");
    ck_assert(scene->settings->gravity[2] == -9.81);
    ck_assert(scene->settings->has_time_step && scene->settings->time_step == 1e-3);
    ck_assert(!scene->settings->has_margin);
    ck_assert(scene->materials[0]->friction == 1.0);
    ck_assert_int_eq(scene->bodies[0]->kind, MOREAU__V1__BODY__KIND__STATIC);
    ck_assert_int_eq(scene->bodies[0]->shapes[0]->shape_case,
                     MOREAU__V1__SCENE_PRIMITIVE__SHAPE_PLANE);
    ck_assert_int_eq(scene->bodies[1]->kind, MOREAU__V1__BODY__KIND__KINEMATIC);
    ck_assert(scene->bodies[1]->linear_velocity[1] == 2.0);
    ck_assert(scene->bodies[1]->shapes[0]->sphere->radius == 0.5);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

START_TEST(null_means_absent) {
    Moreau__V1__Scene *scene = read_scene("{\"name\": null, \"settings\": null, \"bodies\": null}");
    ck_assert_ptr_null(scene->name);
    ck_assert_ptr_null(scene->settings);
    ck_assert_uint_eq(scene->n_bodies, 0);
    moreau__v1__scene__free_unpacked(scene, NULL);
}
END_TEST

START_TEST(whole_numbers_may_be_strings_and_keep_all_bits) {
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"\"18446744073709551615\"", UINT64_MAX},
                 {"9007199254740993", 9007199254740993u},
                 {"0", 0},
                 {"1e3", 1000},
                 {"3.0", 3},
                 {"\"7\"", 7}};
    char text[64];
    snprintf(text, sizeof(text), "{\"payload\": %s}", cases[_i].text);
    JsonError error;
    Moreau__V1__Ping *ping =
        (Moreau__V1__Ping *)read_text(text, &moreau__v1__ping__descriptor, &error);
    ck_assert_ptr_nonnull(ping);
    ck_assert(ping->payload == cases[_i].value);
    char *printed = print_text(&ping->base);
    Moreau__V1__Ping *again =
        (Moreau__V1__Ping *)read_text(printed, &moreau__v1__ping__descriptor, &error);
    assert_same_message(&ping->base, &again->base);
    free(printed);
    moreau__v1__ping__free_unpacked(ping, NULL);
    moreau__v1__ping__free_unpacked(again, NULL);
}
END_TEST

// doubles whose shortest form needs all 17 digits, and the ends of the range
START_TEST(doubles_come_back_with_the_same_bits) {
    static double numbers[] = {0.1,
                               1.0 / 3.0,
                               5e-324,
                               DBL_MAX,
                               DBL_MIN,
                               -0.0,
                               123456789012345678.0,
                               0.004166666666666667,
                               DBL_EPSILON};
    Moreau__V1__WorldSet set = MOREAU__V1__WORLD_SET__INIT;
    set.n_pose = sizeof(numbers) / sizeof(numbers[0]);
    set.pose = numbers;
    char *text = print_text(&set.base);
    JsonError error;
    ProtobufCMessage *again = read_text(text, &moreau__v1__world_set__descriptor, &error);
    ck_assert_ptr_nonnull(again);
    assert_same_message(&set.base, again);
    protobuf_c_message_free_unpacked(again, NULL);
    free(text);
}
END_TEST

START_TEST(a_reply_with_every_scalar_type_survives_the_way_there_and_back) {
    uint64_t ids[] = {1, UINT64_MAX};
    uint64_t hashes[] = {0x8000000000000001u};
    uint32_t contacts[] = {UINT32_MAX};
    protobuf_c_boolean converged[] = {1, 0};
    float singles[] = {0.1f, -FLT_MAX};
    Moreau__V1__StepReports reports = MOREAU__V1__STEP_REPORTS__INIT;
    reports.n_contacts = 1;
    reports.contacts = contacts;
    reports.n_converged = 2;
    reports.converged = converged;
    Moreau__V1__Status failure = MOREAU__V1__STATUS__INIT;
    failure.has_code = 1;
    failure.code = MOREAU__V1__STATUS__CODE__ABORTED;
    failure.message = (char *)"quote \" and \\ and \xc3\xbc";
    Moreau__V1__Status *failures[] = {&failure};
    Moreau__V1__WorldStepReply step = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    step.n_step = 2;
    step.step = ids;
    step.n_hash = 1;
    step.hash = hashes;
    step.n_pose_single = 2;
    step.pose_single = singles;
    step.reports = &reports;
    step.n_failures = 1;
    step.failures = failures;
    Moreau__V1__Reply reply = MOREAU__V1__REPLY__INIT;
    reply.result_case = MOREAU__V1__REPLY__RESULT_WORLD_STEP;
    reply.world_step = &step;
    char *text = print_text(&reply.base);
    ck_assert_ptr_nonnull(strstr(text, "\"18446744073709551615\"")); // 64 bits as a string
    ck_assert_ptr_nonnull(strstr(text, "ABORTED"));                  // enums by name
    ck_assert_ptr_null(strstr(text, "velocity")); // empty columns are not printed
    JsonError error;
    ProtobufCMessage *again = read_text(text, &moreau__v1__reply__descriptor, &error);
    ck_assert_msg(again != NULL, "%s", error.message);
    assert_same_message(&reply.base, again);
    protobuf_c_message_free_unpacked(again, NULL);
    free(text);
}
END_TEST

START_TEST(every_scene_file_is_a_scene_and_survives_the_way_there_and_back) {
    static const char *const folders[] = {
        MOREAU_SOURCE_DIR "/tests/scenes", MOREAU_SOURCE_DIR "/tests/scenes/joints",
        MOREAU_SOURCE_DIR "/tests/scenes/large", MOREAU_SOURCE_DIR "/tests/scenes/moving",
        MOREAU_SOURCE_DIR "/tests/scenes/shapes"};
    DIR *directory = opendir(folders[_i]);
    ck_assert_ptr_nonnull(directory);
    size_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory)) != NULL) {
        if (strstr(entry->d_name, ".json") == NULL) {
            continue;
        }
        char file[512];
        snprintf(file, sizeof(file), "%s/%s", folders[_i], entry->d_name);
        JsonText json;
        JsonError error;
        ck_assert_msg(json_text_load(&json, file, &error), "%s", error.message);
        ProtobufCMessage *scene =
            json_read_message(&json, json.root, "", &moreau__v1__scene__descriptor, &error);
        ck_assert_msg(scene != NULL, "%s", error.message);
        char *text = print_text(scene);
        Moreau__V1__Scene *again = read_scene(text);
        assert_same_message(scene, &again->base);
        free(text);
        protobuf_c_message_free_unpacked(scene, NULL);
        moreau__v1__scene__free_unpacked(again, NULL);
        json_text_free(&json);
        count++;
    }
    closedir(directory);
    ck_assert_uint_ge(count, 2);
}
END_TEST

static TCase *case_reading(void) {
    TCase *tcase = tcase_create("reading");
    tcase_add_test(tcase, a_scene_is_read_with_every_kind_of_value);
    tcase_add_test(tcase, null_means_absent);
    tcase_add_loop_test(tcase, whole_numbers_may_be_strings_and_keep_all_bits, 0, 6);
    tcase_add_test(tcase, doubles_come_back_with_the_same_bits);
    tcase_add_test(tcase, a_reply_with_every_scalar_type_survives_the_way_there_and_back);
    tcase_add_loop_test(tcase, every_scene_file_is_a_scene_and_survives_the_way_there_and_back, 0,
                        5);
    return tcase;
}

// ---- refusing what is wrong

typedef struct Refusal {
    const char *text, *expected; // how the message starts
} Refusal;

static const Refusal scene_refusals[] = {
    {"{\"name\": \"x\",\n }", "scene.json:2: string or '}' expected near '}'; there is a comma in"},
    {"{\"bodies\": [{},]}",
     "scene.json:1: unexpected token near ']'; there is a comma in front of it"},
    {"{\"bodies\": [{}}", "scene.json:1: ']' expected near '}'"}, // no word of commas
    {"\xEF\xBB\xBF{}",
     "scene.json:1: '[' or '{' expected near '\uFEFF'; the text begins with a byte"},
    {"{\n\n\"nmae\": \"x\"}",
     "scene.json:3: nmae: unknown key (did you mean name?); Scene has name, about, settings"},
    {"{\"bodies\": [{},\n{}, {\n\"shapes\": [\n{\"sphere\": {\"radius\":\n \"big\"}}]}]}",
     "scene.json:5: bodies[2].shapes[0].sphere.radius: needs a number, got \"big\""},
    {"{\"bodies\": [{\"position\": [0,\n0,\ntrue]}]}",
     "scene.json:3: bodies[0].position[2]: needs a number, got true"},
    {"{\"bodies\": [{\"kind\":\n\"fixed\"}]}",
     "scene.json:2: bodies[0].kind: needs one of DYNAMIC, KINEMATIC, STATIC, got \"fixed\""},
    {"{\"bodies\": {}}", "scene.json:1: bodies: needs a list, as [...], got an object"},
    {"{\"settings\": []}", "scene.json:1: settings: needs an object, as {...}, got a list of 0"},
    {"{\"name\": 3}", "scene.json:1: name: needs a string, got 3"},
    {"[]", "scene.json:1: needs an object"},
    {"{\"settings\": {\"time_step\": 1,\n\"timeStep\": 2}}",
     "scene.json:2: settings.timeStep: time_step is given twice"},
    {"{\"bodies\": [{\"shapes\": [{\"sphere\": {}, \"box\": {}}]}]}",
     "scene.json:1: bodies[0].shapes[0].box: only one of sphere and box may be given"},
    {"{\"settings\": {\"parameters\": {\"mdp\": {\"warm_start\": 1}}}}",
     "scene.json:1: settings.parameters.mdp.warm_start: needs true or false, got 1"},
    {"{\"settings\": {\"parameters\": {\"mdp\": {\"max_iterations\": -1}}}}",
     "scene.json:1: settings.parameters.mdp.max_iterations: needs a whole number that is not "
     "negative, got -1"},
    {"{\"settings\": {\"parameters\": {\"mdp\": {\"max_iterations\": 4294967296}}}}",
     "scene.json:1: settings.parameters.mdp.max_iterations: this whole number does not fit 32 "
     "bits"},
    {"{\"settings\": {\"parameters\": {\"mdp\": {\"max_iterations\": 1.5}}}}",
     "scene.json:1: settings.parameters.mdp.max_iterations: needs a whole number, got 1.5"},
    {"{\"settings\": {\"TimeStep\": 1}}", "scene.json:1: settings.TimeStep: unknown key"},
    {"{\n\"name\": \"a\",\n\"name\": \"b\"}", "scene.json:3: duplicate object key"},
    {"{\"name\": \"a\"\n\"about\": \"b\"}", "scene.json:2: "},
    {"{\"settings\": {\"margin\": NaN}}", "scene.json:1: settings.margin: invalid token"},
    {"{\"settings\": {\"margin\": 1e999}}", "scene.json:1: settings.margin: real number overflow"},
    {"{\"name\": \"[{\\\",\", \"bodies\": [{}, {\"mass\": 1,\n\"position\": [0, 1, -Infinity]}]}",
     "scene.json:2: bodies[1].position[2]: invalid token"},
    {"[[1, 2], [3, nan]]", "scene.json:1: [1][1]: invalid token"},
    {"nan", "scene.json:1: '[' or '{' expected"},
    {"", "scene.json:1: "},
};

START_TEST(what_is_wrong_is_named_with_line_and_path) {
    const Refusal *refusal = &scene_refusals[_i];
    JsonError error = {0};
    ck_assert_ptr_null(read_text(refusal->text, &moreau__v1__scene__descriptor, &error));
    ck_assert_msg(strncmp(error.message, refusal->expected, strlen(refusal->expected)) == 0,
                  "\"%s\" does not start with \"%s\"", error.message, refusal->expected);
}
END_TEST

// strings that hold brackets, quotes and commas must not lead the walk astray
START_TEST(lines_are_found_behind_confusing_strings) {
    static const char text[] = "{\"a\": \"}]\\\"{[,\",\n \"b\": [[], {}, \"],\", -1.5e3,\n  "
                               "{\"c_d\":\n null}],\n\"e\": true}";
    JsonText json;
    JsonError error;
    ck_assert(json_text_parse(&json, "x", text, strlen(text), &error));
    ck_assert_uint_eq(json_text_line(&json, ""), 1);
    ck_assert_uint_eq(json_text_line(&json, "a"), 1);
    ck_assert_uint_eq(json_text_line(&json, "b[3]"), 2);
    ck_assert_uint_eq(json_text_line(&json, "b[4]"), 3);
    ck_assert_uint_eq(json_text_line(&json, "b[4].cD"), 4);
    ck_assert_uint_eq(json_text_line(&json, "e"), 5);
    ck_assert_uint_eq(json_text_line(&json, "b[9].x"), 2); // the deepest part that exists
    ck_assert_uint_eq(json_text_line(&json, "nothing"), 1);
    ck_assert_uint_eq(json_text_line(&json, "[[.."), 1);
    json_text_free(&json);
}
END_TEST

static TCase *case_refusing(void) {
    TCase *tcase = tcase_create("refusing");
    tcase_add_loop_test(tcase, what_is_wrong_is_named_with_line_and_path, 0,
                        sizeof(scene_refusals) / sizeof(scene_refusals[0]));
    tcase_add_test(tcase, lines_are_found_behind_confusing_strings);
    return tcase;
}

// ---- options and parameters

enum { SENTENCE_BYTES = 640 };

// Of a solver that runs alone.
static bool set_alone(const char *solver, const OptionList *params,
                      Moreau__V1__SolverParameters **all, char sentence[SENTENCE_BYTES]) {
    const OptionList solvers = {{solver}, 1};
    return parameters_set(solver, &solvers, params, all, sentence, SENTENCE_BYTES);
}

START_TEST(parameters_are_set_by_name) {
    OptionList params = {
        {"tolerance=1e-9", "friction=coulomb", "warmStart=off", "max_iterations=1e4"}, 4};
    Moreau__V1__SolverParameters *all = NULL;
    char message[SENTENCE_BYTES], model[PARAMETERS_MODEL_BYTES];
    ck_assert_msg(set_alone("mdp", &params, &all, message), "%s", message);
    ck_assert(all->mdp->tolerance == 1e-9);
    ck_assert_int_eq(all->mdp->friction, MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB);
    ck_assert(all->mdp->has_warm_start && !all->mdp->warm_start);
    ck_assert_uint_eq(all->mdp->max_iterations, 10000);
    ck_assert_str_eq(parameters_model("mdp", all, model), "coulomb");
    all->mdp->friction = MOREAU__V1__MDP_PARAMETERS__FRICTION__MAXIMUM_DISSIPATION;
    ck_assert_str_eq(parameters_model("mdp", all, model), "dissipation");
    all->mdp->friction = MOREAU__V1__MDP_PARAMETERS__FRICTION__COULOMB;
    ck_assert_str_eq(parameters_model("mdp", NULL, model), "coulomb");
    ck_assert_str_eq(parameters_model("lcp", NULL, model), "polyhedral:8");
    json_t *written = parameters_write("mdp", all);
    ck_assert_str_eq(json_string_value(json_object_get(written, "friction")), "COULOMB");
    ck_assert_uint_eq(json_object_size(written), 4);
    json_decref(written);
    moreau__v1__solver_parameters__free_unpacked(all, NULL);
}
END_TEST

// What is for one of several solvers is its alone; what names none is everybody's.
START_TEST(of_several_solvers_each_gets_its_own_parameters) {
    const OptionList solvers = {{"mdp", "sap"}, 2};
    const OptionList params = {{"sap.sigma=1e-4", "tolerance=1e-9", "mdp.friction=coulomb"}, 3};
    Moreau__V1__SolverParameters *of[2] = {NULL, NULL};
    char message[SENTENCE_BYTES];
    for (size_t i = 0; i < 2; i++) {
        ck_assert_msg(
            parameters_set(solvers.item[i], &solvers, &params, &of[i], message, sizeof(message)),
            "%s", message);
    }
    ck_assert(of[0]->mdp->has_friction && of[0]->mdp->tolerance == 1e-9 && of[0]->sap == NULL);
    ck_assert(of[1]->sap->sigma == 1e-4 && of[1]->sap->tolerance == 1e-9 && of[1]->mdp == NULL);
    for (size_t i = 0; i < 2; i++) {
        moreau__v1__solver_parameters__free_unpacked(of[i], NULL);
    }
}
END_TEST

START_TEST(lcp_is_named_after_its_directions) {
    OptionList params = {{"directions=16", "maxRows=500"}, 2};
    Moreau__V1__SolverParameters *all = NULL;
    char message[SENTENCE_BYTES], model[PARAMETERS_MODEL_BYTES];
    ck_assert_msg(set_alone("lcp", &params, &all, message), "%s", message);
    ck_assert_uint_eq(all->lcp->directions, 16);
    ck_assert_uint_eq(all->lcp->max_rows, 500);
    ck_assert_str_eq(parameters_model("lcp", all, model), "polyhedral:16");
    moreau__v1__solver_parameters__free_unpacked(all, NULL);
}
END_TEST

START_TEST(a_wrong_parameter_lists_what_is_right) {
    static const struct {
        const char *solver, *param, *expected;
    } cases[] = {
        {"mdp", "tolernce=1", "tolerance, max_iterations"},
        {"mdp", "friction=ice", "MAXIMUM_DISSIPATION, COULOMB"},
        {"mdp", "tolerance=small", "takes a number"},
        {"mdp", "max_iterations=1.5", "takes a whole number"},
        {"mdp", "tolerance", "KEY=VALUE"},
        {"mdp", "warm_start=maybe", "true or false"},
        {"nosuch", "tolerance=1", "mdp"},
        {"mdp", "tolerance=nan", "takes a number"},
        {"mdp", "directions=8", "has no parameter \"directions\" (lcp has one)"},
        {"mdp", "sap.sigma=1e-4", "solver sap does not run here, but mdp"},
        {"mdp", "sup.sigma=1e-4", "there is no solver \"sup\"; there are mdp, lcp, ccp"},
        {"sap", "sap.directions=8", "solver sap has no parameter \"directions\" (lcp has one)"},
    };
    OptionList params = {{cases[_i].param}, 1};
    Moreau__V1__SolverParameters *all = NULL;
    char message[SENTENCE_BYTES] = "";
    ck_assert(!set_alone(cases[_i].solver, &params, &all, message));
    ck_assert_msg(strstr(message, cases[_i].expected) != NULL, "%s", message);
    if (all != NULL) {
        moreau__v1__solver_parameters__free_unpacked(all, NULL);
    }
}
END_TEST

START_TEST(options_are_taken_in_both_spellings_and_any_order) {
    bool flag = false;
    const char *text = NULL;
    uint64_t count = 0;
    double number = 0.0;
    OptionList list = {0};
    const Option table[] = {
        {"--flag", OPTION_FLAG, &flag, NULL, ""},   {"--text", OPTION_TEXT, &text, "T", ""},
        {"--count", OPTION_COUNT, &count, "N", ""}, {"--number", OPTION_NUMBER, &number, "X", ""},
        {"--list", OPTION_LIST, &list, "L", ""},
    };
    OptionTable tables[] = {{table, 5}};
    char *argv[] = {(char *)"first",    (char *)"--text=a=b", (char *)"--list", (char *)"x",
                    (char *)"-",        (char *)"--count",    (char *)"1e6",    (char *)"--flag",
                    (char *)"--list=y", (char *)"--number",   (char *)"0.5",    (char *)"--",
                    (char *)"--flag"};
    OptionList words = {0};
    char message[128];
    ck_assert_int_eq(options_parse(tables, 1, 13, argv, false, &words, message, sizeof(message)),
                     13);
    ck_assert(flag);
    ck_assert_str_eq(text, "a=b");
    ck_assert_uint_eq(count, 1000000);
    ck_assert(number == 0.5);
    ck_assert_uint_eq(list.count, 2);
    ck_assert_str_eq(list.item[1], "y");
    ck_assert_uint_eq(words.count, 3);
    ck_assert_str_eq(words.item[1], "-");
    ck_assert_str_eq(words.item[2], "--flag");
}
END_TEST

START_TEST(a_wrong_option_is_refused) {
    static const char *const cases[][2] = {
        {"--nothing", "no option --nothing"},
        {"--count=0", "whole number"},
        {"--count=x", "whole number"},
        {"--count=-3", "whole number"},
        {"--flag=1", "no value"},
        {"--count", "needs N"},
        {"--index=-1", "whole number from 0"},
        {"--factor=-0.5", "not negative"},
        {"--factor=nan", "not negative"},
    };
    bool flag = false;
    uint64_t count = 0;
    double factor = 0.0;
    const Option table[] = {{"--flag", OPTION_FLAG, &flag, NULL, ""},
                            {"--count", OPTION_COUNT, &count, "N", ""},
                            {"--index", OPTION_INDEX, &count, "N", ""},
                            {"--factor", OPTION_FACTOR, &factor, "X", ""}};
    OptionTable tables[] = {{table, 4}};
    char *argv[] = {(char *)cases[_i][0]};
    OptionList words = {0};
    char message[128] = "";
    ck_assert_int_eq(options_parse(tables, 1, 1, argv, false, &words, message, sizeof(message)),
                     -1);
    ck_assert_msg(strstr(message, cases[_i][1]) != NULL, "%s", message);
}
END_TEST

// ---- bytes

static const struct {
    const char *text; // RFC 4648, section 10
    const char *bytes;
} base64[] = {{"", ""},
              {"Zg==", "f"},
              {"Zm8=", "fo"},
              {"Zm9v", "foo"},
              {"Zm9vYg==", "foob"},
              {"Zm9vYmE=", "fooba"},
              {"Zm9vYmFy", "foobar"},
              {"/+8=", "\xff\xef"}};

START_TEST(bytes_are_base64) {
    char *text = base64_write((const uint8_t *)base64[_i].bytes, strlen(base64[_i].bytes));
    ck_assert_str_eq(text, base64[_i].text);
    free(text);
    uint8_t *bytes;
    size_t count;
    ck_assert(base64_read(base64[_i].text, &bytes, &count));
    ck_assert_uint_eq(count, strlen(base64[_i].bytes));
    if (count > 0) {
        ck_assert_mem_eq(bytes, base64[_i].bytes, count);
    }
    free(bytes);
}
END_TEST

START_TEST(what_is_no_base64_is_refused) {
    static const char *const texts[] = {
        "Z", "Zg", "Zg=", "Zg==Zg==", "Zm9*", "=Zg=", "====", "Zm 9"};
    uint8_t *bytes;
    size_t count;
    ck_assert(!base64_read(texts[_i], &bytes, &count));
    ck_assert_ptr_null(bytes);
}
END_TEST

START_TEST(bytes_go_through_a_message) {
    JsonText json;
    JsonError error;
    const char *text = "{\"first\": \"3\", \"data\": \"AAEC/w==\"}";
    ck_assert(json_text_parse(&json, "argument", text, strlen(text), &error));
    ProtobufCMessage *message =
        json_read_message(&json, json.root, "", &moreau__v1__snapshot_upload__descriptor, &error);
    ck_assert_msg(message != NULL, "%s", error.message);
    const Moreau__V1__SnapshotUpload *upload = (const Moreau__V1__SnapshotUpload *)message;
    ck_assert(upload->has_data && upload->data.len == 4);
    ck_assert_mem_eq(upload->data.data, "\0\1\2\xff", 4);
    json_t *document = json_write_message(message);
    ck_assert_str_eq(json_string_value(json_object_get(document, "data")), "AAEC/w==");
    json_decref(document);
    protobuf_c_message_free_unpacked(message, NULL);
    json_text_free(&json);
}
END_TEST

static TCase *case_bytes(void) {
    TCase *tcase = tcase_create("bytes");
    tcase_add_loop_test(tcase, bytes_are_base64, 0, sizeof(base64) / sizeof(base64[0]));
    tcase_add_loop_test(tcase, what_is_no_base64_is_refused, 0, 8);
    tcase_add_test(tcase, bytes_go_through_a_message);
    return tcase;
}

static TCase *case_options(void) {
    TCase *tcase = tcase_create("options");
    tcase_add_test(tcase, parameters_are_set_by_name);
    tcase_add_test(tcase, lcp_is_named_after_its_directions);
    tcase_add_test(tcase, of_several_solvers_each_gets_its_own_parameters);
    tcase_add_loop_test(tcase, a_wrong_parameter_lists_what_is_right, 0, 12);
    tcase_add_test(tcase, options_are_taken_in_both_spellings_and_any_order);
    tcase_add_loop_test(tcase, a_wrong_option_is_refused, 0, 9);
    return tcase;
}

SUITE_MAIN("clients/json", case_reading, case_refusing, case_bytes, case_options)
