// SPDX-License-Identifier: MIT
#include "cli/text/chart.h"

#include "cli/text/terminal.h"

#include <math.h>

// the axis takes AXIS_COLUMNS before the columns of numbers
enum { CHART_COLUMNS = 64, CHART_COLUMNS_MIN = 8, CHART_ROWS = 12, AXIS_COLUMNS = 11 };

// what is smaller than so many powers of ten below the largest is drawn at the bottom
enum { CHART_DECADES_MAX = 24 };

// The powers of ten at the two ends.
typedef struct Scale {
    double top, bottom;
} Scale;

static Scale find_scale(const double *value, size_t count, double goal) {
    double most = goal, least = goal;
    for (size_t i = 0; i < count; i++) {
        most = fmax(most, value[i]);
        least = value[i] > 0.0 && !(least <= value[i] && least > 0.0) ? value[i] : least;
    }
    if (!(least > 0.0)) {
        return (Scale){0.0, -1.0}; // all are 0
    }
    Scale scale = {ceil(log10(most)), floor(log10(least))};
    scale.bottom = fmax(scale.bottom, scale.top - CHART_DECADES_MAX);
    scale.bottom = fmin(scale.bottom, scale.top - 1.0);
    return scale;
}

// The row of a number, counted from the top.
static int find_row(Scale scale, double number) {
    if (!(number > 0.0)) {
        return CHART_ROWS - 1;
    }
    double share = (scale.top - log10(number)) / (scale.top - scale.bottom);
    return (int)fmin(fmax(round(share * (CHART_ROWS - 1)), 0.0), CHART_ROWS - 1);
}

// A column is marked from the row of the largest of its numbers to that of the smallest.
static void draw(const double *value, size_t count, Scale scale, size_t columns,
                 char canvas[CHART_ROWS][CHART_COLUMNS]) {
    for (size_t c = 0; c < columns; c++) {
        size_t begin = c * count / columns, end = (c + 1) * count / columns;
        int highest = CHART_ROWS, lowest = 0;
        for (size_t i = begin; i < end; i++) {
            int row = find_row(scale, value[i]);
            highest = row < highest ? row : highest;
            lowest = row > lowest ? row : lowest;
        }
        for (int row = highest; row <= lowest; row++) {
            canvas[row][c] = '*';
        }
    }
}

// Columns of numbers that a terminal has room for.
static size_t find_room(FILE *stream) {
    const unsigned columns = terminal_columns(stream);
    const unsigned room = columns > AXIS_COLUMNS ? columns - AXIS_COLUMNS : 0;
    return room > CHART_COLUMNS       ? CHART_COLUMNS
           : room < CHART_COLUMNS_MIN ? CHART_COLUMNS_MIN
                                      : room;
}

void chart_print(FILE *stream, const double *value, size_t count, double goal,
                 unsigned long iterations) {
    if (count == 0) {
        return;
    }
    const size_t room = find_room(stream), columns = count < room ? count : room;
    Scale scale = find_scale(value, count, goal);
    char canvas[CHART_ROWS][CHART_COLUMNS];
    int goal_row = goal > 0.0 ? find_row(scale, goal) : CHART_ROWS;
    for (int row = 0; row < CHART_ROWS; row++) {
        for (size_t c = 0; c < CHART_COLUMNS; c++) {
            canvas[row][c] = row == goal_row && c % 2 == 0 ? '-' : ' ';
        }
    }
    draw(value, count, scale, columns, canvas);
    for (int row = 0; row < CHART_ROWS; row++) {
        double power = scale.top - row * (scale.top - scale.bottom) / (CHART_ROWS - 1);
        fprintf(stream, "  %7.0e |%.*s\n", pow(10.0, power), (int)room, canvas[row]);
    }
    fprintf(stream, "          +");
    for (size_t c = 0; c < room; c++) {
        fputc('-', stream);
    }
    fprintf(stream, "\n           1%*lu\n", (int)columns > 1 ? (int)columns - 1 : 1, iterations);
}
