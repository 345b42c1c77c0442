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

    va_list arguments;
    va_start(arguments, format);
    int written = vsnprintf(line + used, sizeof(line) - used, format, arguments);
    va_end(arguments);
    size_t end = used + (written > 0 ? (size_t)written : 0);
    if (end > sizeof(line) - 2) {
        end = sizeof(line) - 2;
    }
    for (size_t i = 0; i < end; i++) {
        if ((unsigned char)line[i] < ' ') {
            line[i] = ' '; // a client's name must not forge a line
        }
    }
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
