// SPDX-License-Identifier: MIT
// Numbers as the tool writes them.
#include "support/suite.h"

#include "cli/json/write.h"
#include "cli/text/number.h"
#include "moreau.pb-c.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    double number;
    const char *text;
} shortest[] = {
    {9.81, "9.81"},
    {0.1, "0.1"},
    {1.0, "1"},
    {-240.0, "-240"},
    {0.0, "0"},
    {-0.0, "-0.0"},
    {1e-5, "1e-5"},
    {-2.5e-7, "-2.5e-7"},
    {1e22, "1e22"},
    {5e-324, "5e-324"},
    {1.0 / 3.0, "0.3333333333333333"},
    {0.004166666666666667, "0.004166666666666667"},
    {0.1 + 0.2, "0.30000000000000004"},
    {9007199254740993.0, "9007199254740992"},
    {DBL_MAX, "1.7976931348623157e308"},
    {DBL_EPSILON, "2.220446049250313e-16"},
};

START_TEST(a_number_is_the_shortest_text_that_reads_back) {
    char text[NUMBER_BYTES];
    ck_assert_str_eq(number_write(shortest[_i].number, text), shortest[_i].text);
    double again = strtod(text, NULL);
    ck_assert_mem_eq(&again, &shortest[_i].number, sizeof(again));
}
END_TEST

// splitmix64
static uint64_t next_bits(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

START_TEST(any_number_comes_back_with_the_same_bits) {
    uint64_t state = 20261121;
    for (size_t i = 0; i < 100000; i++) {
        uint64_t bits = next_bits(&state);
        double number, again;
        memcpy(&number, &bits, sizeof(number));
        if (!isfinite(number)) {
            continue;
        }
        char text[NUMBER_BYTES];
        again = strtod(number_write(number, text), NULL);
        ck_assert_msg(memcmp(&again, &number, sizeof(again)) == 0, "%s", text);

        float single = (float)((double)(int64_t)bits * 0x1p-60);
        float single_again = (float)number_of_single(single);
        ck_assert_mem_eq(&single_again, &single, sizeof(single));
    }
}
END_TEST

START_TEST(a_float_has_the_digits_of_a_float) {
    char text[NUMBER_BYTES];
    ck_assert_str_eq(number_write(number_of_single(0.1f), text), "0.1");
    ck_assert_str_eq(number_write(number_of_single(9.81f), text), "9.81");
    ck_assert_str_eq(number_write(number_of_single(-1.0f / 3.0f), text), "-0.33333334");
    ck_assert_str_eq(number_write(number_of_single(FLT_MAX), text), "3.4028235e38");
}
END_TEST

static char *print_text(json_t *document) {
    char *text;
    size_t count;
    FILE *stream = open_memstream(&text, &count);
    json_print(stream, document);
    fclose(stream);
    json_decref(document);
    return text;
}

// A call keeps what protobuf does, and every bit; our documents are for people and their scripts.
START_TEST(our_documents_have_whole_numbers_and_no_signed_zero) {
    double pose[] = {9.81, -0.0, 1.0};
    float single[] = {0.1f};
    uint64_t hash = UINT64_MAX;
    uint64_t step = 9007199254740993u;
    Moreau__V1__WorldStepReply reply = MOREAU__V1__WORLD_STEP_REPLY__INIT;
    reply.n_step = reply.n_hash = reply.n_pose_single = 1;
    reply.step = &step;
    reply.hash = &hash;
    reply.pose_single = single;
    reply.n_pose = 3;
    reply.pose = pose;
    char *text = print_text(json_write_ours(&reply.base));
    ck_assert_msg(strstr(text, "\"step\": [9007199254740993]") != NULL, "%s", text);
    ck_assert_ptr_nonnull(strstr(text, "\"hash\": [\"18446744073709551615\"]"));
    ck_assert_ptr_nonnull(strstr(text, "[9.81, 0, 1]"));
    ck_assert_ptr_nonnull(strstr(text, "[0.1]"));
    free(text);
    text = print_text(json_write_message(&reply.base));
    ck_assert_ptr_nonnull(strstr(text, "\"step\": [\"9007199254740993\"]"));
    ck_assert_ptr_nonnull(strstr(text, "[9.81, -0.0, 1]"));
    free(text);
}
END_TEST

START_TEST(what_json_cannot_hold_is_null_or_text) {
    json_t *list = json_array();
    json_array_append_new(list, number_json((double)NAN));
    json_array_append_new(list, number_json((double)INFINITY));
    json_array_append_new(list, number_json_whole(UINT64_MAX));
    json_array_append_new(list, number_json_whole(INT64_MAX));
    char *text = print_text(list);
    ck_assert_str_eq(text, "[null, null, \"18446744073709551615\", 9223372036854775807]\n");
    free(text);
}
END_TEST

static TCase *case_number(void) {
    TCase *tcase = tcase_create("number");
    tcase_add_loop_test(tcase, a_number_is_the_shortest_text_that_reads_back, 0,
                        sizeof(shortest) / sizeof(shortest[0]));
    tcase_add_test(tcase, any_number_comes_back_with_the_same_bits);
    tcase_add_test(tcase, a_float_has_the_digits_of_a_float);
    tcase_add_test(tcase, our_documents_have_whole_numbers_and_no_signed_zero);
    tcase_add_test(tcase, what_json_cannot_hold_is_null_or_text);
    return tcase;
}

SUITE_MAIN("clients/number", case_number)
