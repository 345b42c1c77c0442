// SPDX-License-Identifier: MIT
#include "world/range.h"

#include "base/assert.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static const Range ranges[RANGE_COUNT] = {
#define X_VECTOR(bit, section, upper, name, unit, minimum, maximum, x, y, z, meaning)              \
    [RANGE_##upper] = {"WorldSettings." #name, unit, minimum, maximum, false, meaning},
#define X_NUMBER(bit, section, upper, name, unit, minimum, maximum, initial, meaning)              \
    [RANGE_##upper] = {"WorldSettings." #name, unit, minimum, maximum, false, meaning},
#define X_COUNT(bit, section, upper, name, minimum, maximum, initial, meaning)                     \
    [RANGE_##upper] = {"WorldSettings." #name, "1", minimum, maximum, false, meaning},
#define X_NONE(...)
    SETTING_MAP(X_VECTOR, X_NUMBER, X_NONE, X_NONE, X_COUNT)
#define X(name, path, unit, minimum, maximum, exclusive, meaning)                                  \
    [RANGE_##name] = {path, unit, minimum, maximum, exclusive, meaning},
        RANGE_MAP(X)
#undef X
};

const Range *range_get(RangeKind kind) {
    ASSERT((unsigned)kind < RANGE_COUNT);
    return &ranges[kind];
}

bool range_holds(RangeKind kind, double value) {
    const Range *range = range_get(kind);
    // written so that NaN fails
    return (range->exclusive ? value > range->minimum : value >= range->minimum) &&
           value <= range->maximum;
}

Status range_check(RangeKind kind, double value, const char *field, int64_t index, Error *error) {
    if (range_holds(kind, value)) {
        return STATUS_OK;
    }
    const Range *range = range_get(kind);
    char path[128];
    if (index >= 0) {
        snprintf(path, sizeof(path), "%s[%" PRId64 "]", field, index);
    } else {
        snprintf(path, sizeof(path), "%s", field);
    }
    const char *what = isnan(value) ? "not a number" : isinf(value) ? "infinite" : "out of range";
    return error_set(error, STATUS_INVALID_ARGUMENT, path,
                     "The value %.17g is %s: it must be %s %g and <= %g (%s).", value, what,
                     range->exclusive ? ">" : ">=", range->minimum, range->maximum, range->unit);
}

Status range_check_columns(const RangeColumn *columns, size_t count, size_t length, Error *error) {
    for (const RangeColumn *column = columns; column < columns + count; column++) {
        for (size_t i = 0; column->values != NULL && i < length; i++) {
            if (!range_holds(column->kind, column->values[i])) {
                return range_check(column->kind, column->values[i], column->field, (int64_t)i,
                                   error);
            }
        }
    }
    return STATUS_OK;
}
