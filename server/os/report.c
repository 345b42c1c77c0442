// SPDX-License-Identifier: MIT
#include "os/report.h"

#include "os/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[] = {"error", "warn", "info", "debug"};

static int open_file(const char *path) {
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
}

Status report_open(Report *report, ReportLevel level, const char *path, Error *error) {
    *report = (Report){.level = level, .fd = STDERR_FILENO};
    if (path == NULL || path[0] == '\0') {
        return STATUS_OK;
    }
    if (strlen(path) >= sizeof(report->path)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "log-file", "The path is too long.");
    }
    int fd = open_file(path);
    if (fd < 0) {
        return error_set(error, STATUS_INVALID_ARGUMENT, "log-file", "%s: %s.", path,
                         strerror(errno));
    }
    report->fd = fd;
    memcpy(report->path, path, strlen(path) + 1);
    return STATUS_OK;
}

void report_close(Report *report) {
    if (report->path[0] != '\0') {
        close(report->fd);
    }
    *report = (Report){.level = report->level, .fd = STDERR_FILENO};
}

Status report_reopen(Report *report, Error *error) {
    if (report->path[0] == '\0') {
        return STATUS_OK;
    }
    int fd = open_file(report->path);
    if (fd < 0) {
        return error_set(error, STATUS_UNAVAILABLE, "log-file", "%s: %s.", report->path,
                         strerror(errno));
    }
    // the descriptor's number stays, so that a lane that is writing just now writes to one of the
    // two files
    dup2(fd, report->fd);
    close(fd);
    return STATUS_OK;
}

// A client's name must neither forge a line nor steer the terminal of who reads it: what controls
// is written as \x1b, whether it takes a byte or, as U+0080 to U+009F, two. What has no room goes
// as a whole, as does the character that the text was cut in.
static size_t escape(const char *text, char *out, size_t room) {
    size_t used = 0, begun = 0; // of the last character
    for (const uint8_t *at = (const uint8_t *)text; *at != '\0'; at++) {
        const bool is_wide = at[0] == 0xC2 && at[1] >= 0x80 && at[1] < 0xA0;
        const bool controls = is_wide || at[0] < ' ' || at[0] == 0x7F;
        char one[5] = {(char)*at, '\0'};
        if (controls) {
            snprintf(one, sizeof(one), "\\x%02x", is_wide ? at[1] : at[0]);
        }
        begun = (*at & 0xC0) != 0x80 ? used : begun;
        const size_t bytes = strlen(one);
        if (used + bytes > room) {
            return begun;
        }
        for (size_t i = 0; i < bytes; i++) {
            out[used++] = one[i];
        }
        at += is_wide ? 1 : 0;
    }
    return used;
}

void report_line(const Report *report, ReportLevel level, const char *event, const char *format,
                 ...) {
    if (level > report->level) {
        return;
    }
    char line[1024];
    uint64_t now_ns = clock_wall_ns();
    time_t seconds = (time_t)(now_ns / 1000000000u);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    size_t used = strftime(line, sizeof(line), "%Y-%m-%dT%H:%M:%S", &utc);
    used += (size_t)snprintf(line + used, sizeof(line) - used, ".%03uZ %s %s ",
                             (unsigned)(now_ns / 1000000u % 1000u), level_names[level], event);

    char values[sizeof(line)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(values, sizeof(values), format, arguments);
    va_end(arguments);
    size_t end = used + escape(values, line + used, sizeof(line) - used - 1);
    line[end] = '\n';
    ssize_t ignored = write(report->fd, line, end + 1); // nobody is left to tell when the log fails
    (void)ignored;
}

bool report_level_parse(const char *name, ReportLevel *level) {
    for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++) {
        if (strcmp(name, level_names[i]) == 0) {
            *level = (ReportLevel)i;
            return true;
        }
    }
    return false;
}
