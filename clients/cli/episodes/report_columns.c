// SPDX-License-Identifier: MIT
#include "cli/episodes/report_columns.h"

#include <stddef.h>

#define COLUMN(name, kind, type, c_type)                                                           \
    { #name, kind, type, sizeof(c_type), offsetof(MoreauFrameReport, name) }
#define WHOLE(name) COLUMN(name, REPORT_WHOLE, "u4", uint32_t)
#define ID(name)    COLUMN(name, REPORT_ID, "u8", uint64_t)
#define FLAG(name)  COLUMN(name, REPORT_FLAG, "b1", bool)
#define REAL(name)  COLUMN(name, REPORT_REAL, "f8", double)

const ReportColumn report_columns[REPORT_COLUMN_COUNT] = {
    WHOLE(contacts),
    WHOLE(rows),
    WHOLE(iterations),
    FLAG(converged),
    REAL(tolerance),
    ID(worst_body_a),
    ID(worst_body_b),
    WHOLE(recovery_contacts),
    WHOLE(asleep),
    REAL(e_mom),
    REAL(e_pen),
    REAL(e_comp),
    REAL(e_cone),
    REAL(e_mdp),
    REAL(e_ds),
    REAL(e_own),
    REAL(e_row),
    REAL(penetration),
    REAL(energy_before),
    REAL(energy_after),
    REAL(energy_contact),
    REAL(energy_row),
    REAL(energy_applied),
    REAL(energy_scheme),
    REAL(energy_unexplained),
    REAL(energy_drive),
    REAL(energy_swing),
};

static const void *at(const MoreauFrameReport *report, const ReportColumn *column) {
    return (const char *)report + column->offset;
}

double report_real(const MoreauFrameReport *report, const ReportColumn *column) {
    return *(const double *)at(report, column);
}

uint64_t report_whole(const MoreauFrameReport *report, const ReportColumn *column) {
    const void *number = at(report, column);
    return column->kind == REPORT_WHOLE ? *(const uint32_t *)number
           : column->kind == REPORT_ID  ? *(const uint64_t *)number
                                        : *(const bool *)number;
}
