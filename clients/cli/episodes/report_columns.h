// SPDX-License-Identifier: MIT
// The numbers of a step's report as columns of a table.
#pragma once

#include "moreau.h"

typedef enum ReportKind { REPORT_WHOLE, REPORT_ID, REPORT_FLAG, REPORT_REAL } ReportKind;

typedef struct ReportColumn {
    const char *name;
    ReportKind kind;
    const char *type;  // as NumPy has it
    size_t item_bytes; // of a number in MoreauFrameReport, and in an array
    size_t offset;     // in MoreauFrameReport
} ReportColumn;

enum { REPORT_COLUMN_COUNT = 27 };
extern const ReportColumn report_columns[REPORT_COLUMN_COUNT];

double report_real(const MoreauFrameReport *report, const ReportColumn *column);    // REPORT_REAL
uint64_t report_whole(const MoreauFrameReport *report, const ReportColumn *column); // the others
