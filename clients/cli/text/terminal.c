// SPDX-License-Identifier: MIT
#include "cli/text/terminal.h"

#include "cli/text/shown.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { BAR_COLUMNS = 20 };

#define REDRAW_S 0.1 // often enough to look smooth
#define LINE_S   5.0 // seldom enough not to fill a log

bool terminal_is_watched(FILE *stream) {
    return isatty(fileno(stream)) == 1;
}

unsigned terminal_lines(FILE *stream) {
    enum { LINES_STANDARD = 24 };
    struct winsize size;
    bool is_known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
    return is_known ? size.ws_row : LINES_STANDARD;
}

unsigned terminal_columns(FILE *stream) {
    enum { COLUMNS_STANDARD = 80, COLUMNS_MIN = 10 };
    struct winsize size;
    bool is_known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
    return !is_known ? COLUMNS_STANDARD : size.ws_col > COLUMNS_MIN ? size.ws_col : COLUMNS_MIN;
}

const char *terminal_style(FILE *stream, TerminalStyle style) {
    static const char *const sequences[] = {
        [STYLE_PLAIN] = "\033[0m", [STYLE_BOLD] = "\033[1m", [STYLE_DIM] = "\033[2m",
        [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[31m",
    };
    const char *refused = getenv("NO_COLOR");
    bool wanted = refused == NULL || refused[0] == '\0';
    return wanted && terminal_is_watched(stream) ? sequences[style] : "";
}

double terminal_now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(Progress *progress) {
    double now = terminal_now_s();
    *progress =
        (Progress){.started_s = now, .shown_s = now, .watched = terminal_is_watched(stderr)};
}

// The bar has what the words leave of the line, and goes where that is too little; words that do
// not fit either are cut, as a line that is broken cannot be drawn again in its place.
static void draw_bar(uint64_t done, uint64_t total, const char *tells, double left_s) {
    enum { BAR_COLUMNS_MIN = 5, LINE_BYTES = 160 };
    double share = total > 0 ? (double)done / (double)total : 1.0;
    char left[32], line[LINE_BYTES], cut[SHOWN_COLUMN_BYTES], bar[3 * BAR_COLUMNS + 1] = "";
    snprintf(line, sizeof(line), "%3.0f %%  %s  %s left", 100.0 * share, tells,
             format_seconds(left_s, left));
    const unsigned columns = terminal_columns(stderr);
    const unsigned words = shown_width(line) + 2; // a space, and the cursor's place
    unsigned room = columns > words ? columns - words : 0;
    room = room < BAR_COLUMNS_MIN ? 0 : room < BAR_COLUMNS ? room : BAR_COLUMNS;
    for (size_t i = 0; i < room; i++) {
        // a block is three bytes of UTF-8
        snprintf(bar + 3 * i, sizeof(bar) - 3 * i, "%s",
                 (double)i < share * room ? "\u2588" : "\u2591");
    }
    fprintf(stderr, "\r%s%s%s%s%s\033[K", terminal_style(stderr, STYLE_GOOD), bar,
            terminal_style(stderr, STYLE_PLAIN), room > 0 ? " " : "",
            shown_cut(line, columns - 1, cut));
    fflush(stderr);
}

// How many per second so far; negative: it is not yet time to show more.
static double take_rate(Progress *progress, uint64_t done) {
    double now = terminal_now_s();
    if (now - progress->shown_s < (progress->watched ? REDRAW_S : LINE_S)) {
        return -1.0;
    }
    progress->shown_s = now;
    progress->drawn = true;
    double elapsed = now - progress->started_s;
    return elapsed > 0.0 ? (double)done / elapsed : 0.0;
}

static double time_left(uint64_t done, uint64_t total, double rate) {
    return rate > 0.0 && total > done ? (double)(total - done) / rate : 0.0;
}

void progress_show(Progress *progress, uint64_t done, uint64_t total, double simulated) {
    double rate = take_rate(progress, done);
    char text[2][32], tells[96];
    if (rate < 0.0) {
        return;
    }
    if (progress->watched) {
        snprintf(tells, sizeof(tells), "%s steps/s  t = %.2f s",
                 format_count((uint64_t)rate, text[0]), simulated);
        draw_bar(done, total, tells, time_left(done, total, rate));
        return;
    }
    fprintf(stderr, "%s of %s step%s, %.6g s simulated\n", format_count(done, text[0]),
            format_count(total, text[1]), plural(total), simulated);
}

void progress_show_bytes(Progress *progress, uint64_t done, uint64_t total) {
    double rate = take_rate(progress, done);
    char text[2][32], tells[96];
    if (rate < 0.0) {
        return;
    }
    if (progress->watched) {
        snprintf(tells, sizeof(tells), "%s, %s/s", format_bytes(done, text[0]),
                 format_bytes((uint64_t)rate, text[1]));
        draw_bar(done, total, tells, time_left(done, total, rate));
        return;
    }
    fprintf(stderr, "%s of %s\n", format_bytes(done, text[0]), format_bytes(total, text[1]));
}

void progress_stop(Progress *progress) {
    if (progress->watched && progress->drawn) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

char *format_count(uint64_t count, char text[32]) {
    char digits[24];
    int length = snprintf(digits, sizeof(digits), "%" PRIu64, count);
    char *out = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *out++ = ',';
        }
        *out++ = digits[i];
    }
    *out = '\0';
    return text;
}

const char *plural(uint64_t count) {
    return count == 1 ? "" : "s";
}

// A long time in two units, the smaller one rounded: 119.6 s of a third minute make it whole.
static void format_long(double seconds, char text[32]) {
    static const struct {
        const char *large, *small;
        double large_s, small_s, least_s; // is used from least_s on
    } units[] = {{"d", "h", 86400.0, 3600.0, 172800.0},
                 {"h", "min", 3600.0, 60.0, 7200.0},
                 {"min", "s", 60.0, 1.0, 0.0}};
    size_t i = 0;
    while (seconds < units[i].least_s - 0.5 * units[i].small_s) {
        i++;
    }
    double small = floor(seconds / units[i].small_s + 0.5);
    double per_large = units[i].large_s / units[i].small_s;
    double large = floor(small / per_large);
    snprintf(text, 32, "%.0f %s %.0f %s", large, units[i].large, small - large * per_large,
             units[i].small);
}

char *format_seconds(double seconds, char text[32]) {
    // three digits: from 999.5 on they would be 1e+03 of a unit
    if (seconds >= 119.5) {
        format_long(seconds, text);
    } else if (seconds >= 0.9995 || seconds == 0.0) {
        snprintf(text, 32, "%.3g s", seconds + 0.0);
    } else if (seconds >= 0.9995e-3) {
        snprintf(text, 32, "%.3g ms", 1e3 * seconds);
    } else {
        snprintf(text, 32, "%.3g \u00b5s", 1e6 * seconds);
    }
    return text;
}

char *format_bytes(uint64_t bytes, char text[32]) {
    static const char *const units[] = {"kB", "MB", "GB", "TB"};
    if (bytes < 1000) {
        snprintf(text, 32, "%" PRIu64 " B", bytes);
        return text;
    }
    double size = (double)bytes / 1000.0;
    size_t unit = 0;
    // 999.5 would be rounded to four digits
    while (size >= 999.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        size /= 1000.0;
        unit++;
    }
    int decimals = size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    snprintf(text, 32, "%.*f %s", decimals, size, units[unit]);
    return text;
}

char *format_when(double seconds, bool is_long, char text[32]) {
    time_t moment = (time_t)seconds;
    struct tm date;
    if (localtime_r(&moment, &date) == NULL ||
        strftime(text, 32, is_long ? "%Y-%m-%d %H:%M:%S" : "%b %d %H:%M", &date) == 0) {
        snprintf(text, 32, "?");
    }
    return text;
}
