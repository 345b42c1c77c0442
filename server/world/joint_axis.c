// SPDX-License-Identifier: MIT
// The numbers of an axis of a joint: which there are, and whether they can be so.
#include "world/joint.h"

#include "base/assert.h"
#include "world/range.h"

#include <math.h>
#include <stdio.h>

typedef struct NumberRow {
    const char *name;
    RangeKind range;
    double none; // needs no judging
    size_t offset;
} NumberRow;

static const NumberRow rows[JOINT_NUMBER_COUNT] = {
#define X(upper, member, range, none) {#member, RANGE_##range, none, offsetof(JointAxis, member)},
    JOINT_NUMBER_MAP(X)
#undef X
};

double *joint_axis_number(JointAxis *axis, JointNumber number) {
    ASSERT((unsigned)number < JOINT_NUMBER_COUNT);
    return (double *)(void *)((char *)axis + rows[number].offset);
}

static Status blame(Error *error, const char *prefix, const char *name, size_t entry,
                    const char *why) {
    char field[64];
    snprintf(field, sizeof(field), "%s%s[%zu]", prefix, name, entry);
    return error_set(error, STATUS_INVALID_ARGUMENT, field, "%s", why);
}

Status joint_axis_check(const JointAxis *axis, bool is_rows, const char *prefix, size_t entry,
                        Error *error) {
    for (size_t i = 0; i < JOINT_NUMBER_COUNT; i++) {
        const double value = *(const double *)(const void *)((const char *)axis + rows[i].offset);
        if (value != rows[i].none && !range_holds(rows[i].range, value)) {
            char field[64];
            snprintf(field, sizeof(field), "%s%s", prefix, rows[i].name);
            return range_check(rows[i].range, value, field, (int64_t)entry, error);
        }
    }
    if (axis->low > axis->high) {
        return blame(error, prefix, "low", entry, "The lower limit is above the upper one.");
    }
    if (axis->delay_steps != floor(axis->delay_steps)) {
        return blame(error, prefix, "delay_steps", entry, "It must be a whole number of steps.");
    }
    if (axis->no_load_speed != 0.0 && axis->stall_effort == 0.0) {
        return blame(error, prefix, "no_load_speed", entry,
                     "A motor loses its effort up to this speed: give its stall_effort, too.");
    }
    if (is_rows && axis->stall_effort != 0.0) {
        return blame(error, prefix, "stall_effort", entry,
                     "Only joints of coordinates have motors: leave out as_rows.");
    }
    if (is_rows && axis->armature != 0.0) {
        return blame(error, prefix, "armature", entry,
                     "Only joints of coordinates have armature: leave out as_rows.");
    }
    return STATUS_OK;
}
