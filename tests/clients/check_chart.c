// SPDX-License-Identifier: MIT
// Charts: every number lies in the row of its power of ten, and nothing is wider than a terminal.
#include "cli/text/chart.h"

#include "support/suite.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LINES_MAX = 32 };

static char *text;
static char *line[LINES_MAX];
static size_t line_count;

static void draw(const double *value, size_t count, double goal, unsigned long iterations) {
    size_t bytes;
    FILE *stream = open_memstream(&text, &bytes);
    chart_print(stream, value, count, goal, iterations);
    fclose(stream);
    line_count = 0;
    for (char *at = strtok(text, "\n"); at != NULL; at = strtok(NULL, "\n")) {
        ck_assert_uint_lt(line_count, LINES_MAX);
        ck_assert_uint_le(strlen(at), 80);
        line[line_count++] = at;
    }
}

// Columns of numbers begin behind the axis.
static char mark_at(size_t row, size_t column) {
    return strchr(line[row], '|')[1 + column];
}

START_TEST(a_falling_row_is_a_staircase) {
    // from 1 to 1e-11, in the middle of twelve rows of one power each
    double value[12];
    for (int i = 0; i < 12; i++) {
        value[i] = pow(10.0, -i);
    }
    draw(value, 12, 1e-5, 12);
    ck_assert_uint_eq(line_count, 14);
    for (size_t row = 0; row < 12; row++) {
        ck_assert_double_eq_tol(strtod(line[row], NULL), value[row], 1e-6 * value[row]);
        for (size_t column = 0; column < 12; column++) {
            ck_assert_int_eq(mark_at(row, column) == '*', row == column);
        }
        ck_assert_int_eq(mark_at(row, 20) == '-', row == 5); // the goal
    }
    ck_assert_int_eq(atoi(line[13]), 1);
    ck_assert_ptr_nonnull(strstr(line[13], " 12"));
    free(text);
}
END_TEST

// Where many numbers share a column, it is marked from the largest to the smallest.
START_TEST(a_column_shows_all_of_its_numbers) {
    double value[6400];
    for (int i = 0; i < 6400; i++) {
        value[i] = i == 50 ? 1e-11 : 1.0;
    }
    draw(value, 6400, 0.0, 6400);
    for (size_t row = 0; row < 12; row++) {
        ck_assert_int_eq(mark_at(row, 0), '*');
        ck_assert_int_eq(mark_at(row, 1) == '*', row == 0);
        ck_assert_int_eq(mark_at(row, 63) == '*', row == 0);
    }
    free(text);
}
END_TEST

// Zeros, the largest number there is, one value, values that are all alike: rows, and no more.
START_TEST(any_numbers_can_be_drawn) {
    static const double values[][3] = {{0.0, 0.0, 0.0},
                                       {DBL_MAX, 1.0, 0.0},
                                       {1.0, 1.0, 1.0},
                                       {5e-324, 0.0, DBL_MAX},
                                       {1e-6, 0.0, 0.0}};
    static const double goals[] = {0.0, 1e-6, 1.0};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        for (size_t g = 0; g < 3; g++) {
            for (size_t count = 1; count <= 3; count++) {
                draw(values[i], count, goals[g], 3);
                ck_assert_uint_eq(line_count, 14);
                size_t marked = 0;
                for (size_t row = 0; row < 12; row++) {
                    marked += mark_at(row, 0) == '*';
                }
                ck_assert_uint_eq(marked, 1);
                free(text);
            }
        }
    }
    draw(NULL, 0, 1.0, 0);
    ck_assert_uint_eq(line_count, 0);
    free(text);
}
END_TEST

static TCase *case_chart(void) {
    TCase *tcase = tcase_create("chart");
    tcase_add_test(tcase, a_falling_row_is_a_staircase);
    tcase_add_test(tcase, a_column_shows_all_of_its_numbers);
    tcase_add_test(tcase, any_numbers_can_be_drawn);
    return tcase;
}

SUITE_MAIN("clients/chart", case_chart)
