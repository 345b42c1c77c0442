// SPDX-License-Identifier: MIT
#include "base/status.h"

#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>

Status error_set(Error *error, Status status, const char *field, const char *format, ...) {
    if (error == NULL) {
        return status;
    }
    error->status = status;
    snprintf(error->field, sizeof(error->field), "%s", field == NULL ? "" : field);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof(error->message), format, arguments);
    va_end(arguments);
    // replies carry them: names of files are any bytes, and what is too long ends anywhere
    utf8_mend(error->field);
    utf8_mend(error->message);
    return status;
}

bool status_is_recoverable(Status status) {
    return status == STATUS_CANCELLED || status == STATUS_DEADLINE_EXCEEDED ||
           status == STATUS_RESOURCE_EXHAUSTED || status == STATUS_ABORTED ||
           status == STATUS_UNAVAILABLE;
}

const char *status_name(Status status) {
#define X(name, number) [number] = #name,
    static const char *const names[STATUS_COUNT] = {STATUS_MAP(X)};
#undef X
    return names[status];
}
