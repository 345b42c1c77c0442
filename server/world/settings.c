// SPDX-License-Identifier: MIT
#include "world/settings.h"

#include "world/range.h"

WorldSettings settings_default(void) {
    return (WorldSettings){
        .gravity = {0.0, 0.0, -9.81},
        .time_step = 1.0 / 240.0,
        .margin = 0.001,
        .restitution_threshold = 0.05,
    };
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
    return status;
}
