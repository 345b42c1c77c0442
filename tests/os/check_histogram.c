// SPDX-License-Identifier: MIT
// The histogram: which bucket a duration falls into, and that collecting adds up.
#include "os/histogram.h"

#include "support/suite.h"

static const struct {
    uint64_t ns;
    uint32_t bucket;
} rows[] = {
    {0, 0},
    {1000, 0},
    {1001, 1},
    {2000, 1},
    {2001, 2},
    {8388608000, HISTOGRAM_BOUND_COUNT - 1},
    {8388608001, HISTOGRAM_BOUND_COUNT},
    {UINT64_MAX, HISTOGRAM_BOUND_COUNT},
};

START_TEST(a_duration_is_in_the_first_bucket_whose_bound_it_does_not_pass) {
    Histogram histogram = {0};
    HistogramTotal total = {0};
    histogram_add(&histogram, rows[_i].ns);
    histogram_collect(&histogram, &total);
    ck_assert_uint_eq(total.bucket[rows[_i].bucket], 1);
    ck_assert_uint_eq(total.count, 1);
    ck_assert_uint_eq(total.sum_ns, rows[_i].ns);
}
END_TEST

START_TEST(several_histograms_are_collected_into_one) {
    Histogram one = {0}, other = {0};
    HistogramTotal total = {0};
    histogram_add(&one, 500);
    histogram_add(&one, 1500);
    histogram_add(&other, 600);
    histogram_collect(&one, &total);
    histogram_collect(&other, &total);
    ck_assert_uint_eq(total.bucket[0], 2);
    ck_assert_uint_eq(total.bucket[1], 1);
    ck_assert_uint_eq(total.count, 3);
    ck_assert_uint_eq(total.sum_ns, 2600);
}
END_TEST

static TCase *case_histogram(void) {
    TCase *tcase = tcase_create("histogram");
    tcase_add_loop_test(tcase, a_duration_is_in_the_first_bucket_whose_bound_it_does_not_pass, 0,
                        sizeof(rows) / sizeof(rows[0]));
    tcase_add_test(tcase, several_histograms_are_collected_into_one);
    return tcase;
}

SUITE_MAIN("base/histogram", case_histogram)
