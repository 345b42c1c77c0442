// SPDX-License-Identifier: MIT
// How things look: colours where a person watches, a progress bar, numbers that fit a column. 80
// columns.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef enum TerminalStyle {
    STYLE_PLAIN,
    STYLE_BOLD,
    STYLE_DIM,
    STYLE_GOOD,
    STYLE_BAD
} TerminalStyle;

// The escape sequence that starts a style on this stream; "" where it is no terminal or NO_COLOR is
// set.
const char *terminal_style(FILE *stream, TerminalStyle style);
bool terminal_is_watched(FILE *stream);

// Lines of the terminal; 24 where the system does not tell.
unsigned terminal_lines(FILE *stream);

// Its columns, from 10 on; 80 where the system does not tell.
unsigned terminal_columns(FILE *stream);

// A progress bar on standard error: redrawn in place on a terminal, a line every few seconds
// elsewhere.
typedef struct Progress {
    double started_s;
    double shown_s; // when it was last drawn
    bool watched;
    bool drawn;
} Progress;

void progress_start(Progress *progress);
void progress_show(Progress *progress, uint64_t done, uint64_t total, double simulated);
void progress_show_bytes(Progress *progress, uint64_t done, uint64_t total);

// Removes the bar, so that a report can follow.
void progress_stop(Progress *progress);

// [s] of a clock that never goes back
double terminal_now_s(void);

// "12,345,678". Writes into `text`, returns it.
char *format_count(uint64_t count, char text[32]);

// "" for 1, "s" for every other number: "1 step", "2 steps".
const char *plural(uint64_t count);

// "1.23 s", "4.5 ms", "6.7 µs", "2 min 3 s", "5 h 2 min", "3 d 4 h".
char *format_seconds(double seconds, char text[32]);

// "999 B", "12.3 kB", "4.56 MB".
char *format_bytes(uint64_t bytes, char text[32]);

// A moment [s] since 1970 in local time: "Nov 21 14:05", or with `is_long` "2026-11-21 14:05:30".
char *format_when(double seconds, bool is_long, char text[32]);
