// SPDX-License-Identifier: MIT
// The server's log: one line per event, `time level event key=value …`, to standard error or to a
// file that can be reopened after a log rotation. Any thread may write; a line is one write() and
// never torn.
#pragma once

#include "base/status.h"

typedef enum ReportLevel { REPORT_ERROR, REPORT_WARN, REPORT_INFO, REPORT_DEBUG } ReportLevel;

typedef struct Report {
    ReportLevel level; // what is less important than this is dropped
    int fd;            // standard error, or the file; owned when path is not empty
    char path[512];    // "": standard error
} Report;

// `path` "" or NULL: standard error. On failure the report writes to standard error and the status
// says why.
Status report_open(Report *report, ReportLevel level, const char *path, Error *error);
void report_close(Report *report);

// Closes and opens the file again (SIGHUP); keeps the old one when that fails.
Status report_reopen(Report *report, Error *error);

// report_line(r, REPORT_INFO, "listening", "address=%s", address). `format` gives the key=value
// pairs; "" for none.
void report_line(const Report *report, ReportLevel level, const char *event, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

// "error" "warn" "info" "debug"; false when it is none of them
bool report_level_parse(const char *name, ReportLevel *level);
