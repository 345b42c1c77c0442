// SPDX-License-Identifier: MIT
#include "api/calls/touch_filter.h"

#include <inttypes.h>
#include <stdio.h>

static Status blame(const char *path, const char *field, const char *what, Error *error) {
    char whole[128];
    snprintf(whole, sizeof(whole), "%s.%s", path, field);
    return error_set(error, STATUS_INVALID_ARGUMENT, whole, "%s", what);
}

static Status read_body(const Moreau__V1__EpisodeBody *message, const char *path, const char *field,
                        TouchBody *body, Error *error) {
    if (message == NULL) {
        return STATUS_OK;
    }
    if ((message->has_id != 0) == (message->name != NULL)) {
        return blame(path, field, "Give a body's id or its name, one of the two.", error);
    }
    if (message->has_id && (message->id == 0 || message->id > INT64_MAX)) {
        return blame(path, field, "No body has that id: they begin at 1.", error);
    }
    if (message->name != NULL && message->name[0] == '\0') {
        return blame(path, field, "A name has 1 to 255 bytes.", error);
    }
    *body = (TouchBody){.id = message->has_id ? message->id : 0, .name = message->name};
    return STATUS_OK;
}

static Status read_least(bool is_given, double value, const char *path, const char *field,
                         double *least, Error *error) {
    if (is_given && value < 0.0) {
        return blame(path, field, "It is 0 or more.", error);
    }
    *least = is_given ? value : *least;
    return STATUS_OK;
}

Status touch_filter_read(const Moreau__V1__EpisodeTouch *message, const char *path,
                         TouchFilter *filter, Error *error) {
    *filter = touch_filter_any();
    if (message == NULL) {
        return STATUS_OK;
    }
    filter->after = message->after;
    filter->before = message->has_before ? message->before : filter->before;
    Status status = read_body(message->body, path, "body", &filter->body, error);
    status = STATUS_THEN(status,
                         read_body(message->other_body, path, "other_body", &filter->other, error));
    status = STATUS_THEN(status, read_least(message->has_impulse_above, message->impulse_above,
                                            path, "impulse_above", &filter->impulse_above, error));
    return STATUS_THEN(status, read_least(message->has_speed_above, message->speed_above, path,
                                          "speed_above", &filter->speed_above, error));
}
