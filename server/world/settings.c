// SPDX-License-Identifier: MIT
#include "world/settings.h"

#include "base/bytes.h"
#include "world/range.h"

#include <assert.h>
#include <stdio.h>

WorldSettings settings_default(void) {
    return (WorldSettings){
        .gravity = {0.0, 0.0, -9.81},
        .time_step = 1.0 / 240.0,
        .margin = 0.001,
        .restitution_threshold = 0.05,
        .recovery_speed = 1.0,
        .sleep_time = 0.5,
        .integrator = INTEGRATOR_SYMPLECTIC,
        .rotation = ROTATION_MIDPOINT,
        .contact_plane = CONTACT_PLANE_APPROACH,
    };
}

// one byte of padding more, and worlds that were set alike would differ
static_assert(sizeof(WorldSettings) == 16 * sizeof(double) + 2 * sizeof(uint32_t) +
                                           sizeof(((WorldSettings *)0)->parameter),
              "settings are compared as bytes");

bool settings_are_same(const WorldSettings *a, const WorldSettings *b) {
    return bytes_are_same(a, b, sizeof(*a));
}

static Status check_choice(uint32_t choice, uint32_t count, const char *field, const char *choices,
                           Error *error) {
    return choice < count ? STATUS_OK
                          : error_set(error, STATUS_INVALID_ARGUMENT, field,
                                      "The value %u is none of the choices: %s.", choice, choices);
}

static Status check_bounds(const WorldSettings *settings, Error *error) {
    for (int axis = 0; settings->has_bounds && axis < 3; axis++) {
        double lower = vec3_get(settings->bounds_lower, axis),
               upper = vec3_get(settings->bounds_upper, axis);
        Status status = range_check(RANGE_BOUNDS, lower, "settings.bounds.lower", axis, error);
        if (status == STATUS_OK) {
            status = range_check(RANGE_BOUNDS, upper, "settings.bounds.upper", axis, error);
        }
        if (status != STATUS_OK) {
            return status;
        }
        if (lower >= upper) {
            char field[64];
            snprintf(field, sizeof(field), "settings.bounds.upper[%d]", axis);
            return error_set(error, STATUS_INVALID_ARGUMENT, field,
                             "The upper bound %.17g is not above the lower one, %.17g: no body "
                             "could be inside.",
                             upper, lower);
        }
    }
    return STATUS_OK;
}

Status settings_check(const WorldSettings *settings, Error *error) {
    for (int axis = 0; axis < 3; axis++) {
        Status status = range_check(RANGE_GRAVITY, vec3_get(settings->gravity, axis),
                                    "settings.gravity", axis, error);
        if (status != STATUS_OK) {
            return status;
        }
    }
    Status status =
        range_check(RANGE_TIME_STEP, settings->time_step, "settings.time_step", -1, error);
    if (status == STATUS_OK) {
        status = range_check(RANGE_MARGIN, settings->margin, "settings.margin", -1, error);
    }
    if (status == STATUS_OK) {
        status = range_check(RANGE_RESTITUTION_THRESHOLD, settings->restitution_threshold,
                             "settings.restitution_threshold", -1, error);
    }
    if (status == STATUS_OK) {
        status = range_check(RANGE_RECOVERY_SPEED, settings->recovery_speed,
                             "settings.recovery_speed", -1, error);
    }
    if (status == STATUS_OK) {
        status = range_check(RANGE_SLEEP_SPEED, settings->sleep_speed, "settings.sleep_speed", -1,
                             error);
    }
    if (status == STATUS_OK) {
        status =
            range_check(RANGE_SLEEP_TIME, settings->sleep_time, "settings.sleep_time", -1, error);
    }
    if (status == STATUS_OK) {
        status = check_choice(settings->integrator, INTEGRATOR_COUNT, "settings.integrator",
                              "SYMPLECTIC 0, EXPLICIT 1, IMPLICIT 2, MIDPOINT 3", error);
    }
    if (status == STATUS_OK) {
        status = check_choice(settings->rotation, ROTATION_COUNT, "settings.rotation",
                              "MIDPOINT 0, EXPLICIT 1, IMPLICIT 2", error);
    }
    if (status == STATUS_OK) {
        status = check_choice(settings->contact_plane, CONTACT_PLANE_COUNT,
                              "settings.contact_plane", "APPROACH 0, START 1", error);
    }
    return status == STATUS_OK ? check_bounds(settings, error) : status;
}
