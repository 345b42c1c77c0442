// SPDX-License-Identifier: MIT
// What `moreau top` computes of two samples: rates, and the busiest worlds first.
#include "cli/worlds/sample.h"

#include "support/suite.h"

#include <stdlib.h>

static Moreau__V1__StatsReply figures[2];

static Sample sample_of(int which, double taken_s, const SampleWorld *worlds, size_t count) {
    moreau__v1__stats_reply__init(&figures[which]);
    Sample sample = {.taken_s = taken_s, .stats = &figures[which], .world_count = count};
    sample.world = calloc(count + 1, sizeof(*worlds));
    for (size_t i = 0; i < count; i++) {
        sample.world[i] = worlds[i];
    }
    return sample;
}

START_TEST(the_busiest_world_comes_first_and_a_new_one_has_no_rate) {
    const SampleWorld then[] = {
        {.id = 1, .step = 100}, {.id = 2, .step = 10}, {.id = 4, .step = 7}};
    const SampleWorld later[] = {{.id = 1, .step = 110},
                                 {.id = 2, .step = 60},
                                 {.id = 3, .step = 1000}, // was not there
                                 {.id = 4, .step = 7}};
    Sample before = sample_of(0, 10.0, then, 3), now = sample_of(1, 12.0, later, 4);
    sample_compare(&before, &now);
    const uint64_t ids[] = {2, 1, 3, 4};
    const double rates[] = {25.0, 5.0, 0.0, 0.0};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(now.world[i].id, ids[i]);
        ck_assert_double_eq(now.world[i].steps_rate, rates[i]);
    }

    // a sample that was compared is the next one's `before`
    const SampleWorld last[] = {
        {.id = 1, .step = 110}, {.id = 2, .step = 60}, {.id = 4, .step = 9}};
    Sample after = sample_of(0, 13.0, last, 3);
    sample_compare(&now, &after);
    ck_assert_uint_eq(after.world[0].id, 4);
    ck_assert_double_eq(after.world[0].steps_rate, 2.0);
    sample_free(&before);
    sample_free(&now);
    sample_free(&after);
}
END_TEST

START_TEST(rates_are_differences_over_the_time_between) {
    Sample before = sample_of(0, 1.0, NULL, 0), now = sample_of(1, 1.5, NULL, 0);
    figures[0].steps = 1000;
    figures[1].steps = 1500;
    figures[0].requests = 9; // a server that was started anew counts from 0
    figures[1].requests = 3;
    figures[1].unconverged_steps = 1;
    figures[0].timed_steps = 10;
    figures[1].timed_steps = 30;
    figures[0].solver_time = 1.0;
    figures[1].solver_time = 1.5;
    SampleRates rates = sample_compare(&before, &now);
    ck_assert_double_eq(rates.steps, 1000.0);
    ck_assert_double_eq(rates.requests, 0.0);
    ck_assert_double_eq(rates.unconverged, 2.0);
    ck_assert_double_eq(rates.failed, 0.0);
    ck_assert_double_eq(rates.solver_time, 0.025);
    now.taken_s = before.taken_s; // no time between: no rate, and no division by it
    ck_assert_double_eq(sample_compare(&before, &now).steps, 0.0);
    sample_free(&before);
    sample_free(&now);
}
END_TEST

static TCase *case_compare(void) {
    TCase *tcase = tcase_create("compare");
    tcase_add_test(tcase, the_busiest_world_comes_first_and_a_new_one_has_no_rate);
    tcase_add_test(tcase, rates_are_differences_over_the_time_between);
    return tcase;
}

SUITE_MAIN("clients/sample", case_compare)
