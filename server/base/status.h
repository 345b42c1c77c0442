// SPDX-License-Identifier: MIT
// How things fail. A misfortune (peer, disk, memory, limits, bad input) is a Status, returned; the
// sentence for a person and the field to blame go into an Error that the caller owns and that is
// untouched on success. Codes are the canonical gRPC ones with the same numbers, so that the wire
// needs no translation.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define STATUS_MAP(X)                                                                              \
    X(OK, 0)                                                                                       \
    X(CANCELLED, 1)                                                                                \
    X(UNKNOWN, 2)                                                                                  \
    X(INVALID_ARGUMENT, 3)                                                                         \
    X(DEADLINE_EXCEEDED, 4)                                                                        \
    X(NOT_FOUND, 5)                                                                                \
    X(ALREADY_EXISTS, 6)                                                                           \
    X(PERMISSION_DENIED, 7)                                                                        \
    X(RESOURCE_EXHAUSTED, 8)                                                                       \
    X(FAILED_PRECONDITION, 9)                                                                      \
    X(ABORTED, 10)                                                                                 \
    X(OUT_OF_RANGE, 11)                                                                            \
    X(UNIMPLEMENTED, 12)                                                                           \
    X(INTERNAL, 13)                                                                                \
    X(UNAVAILABLE, 14)                                                                             \
    X(DATA_LOSS, 15)                                                                               \
    X(UNAUTHENTICATED, 16)

#define X(name, number) STATUS_##name = number,
typedef enum Status { STATUS_MAP(X) STATUS_COUNT } Status;
#undef X

// The next of several deeds, done where all before it went well; else their first failure stays:
//   Status status = open_file(log, error);
//   status = STATUS_THEN(status, read_head(log, error));
#define STATUS_THEN(status, ...) ((status) == STATUS_OK ? (__VA_ARGS__) : (status))

// The same of a deed that not always is one of them; what it depends on is asked only where all
// before it went well:
//   status = STATUS_THEN_IF(status, scene->n_joints > 0, plan_joints(scene, plan, error));
#define STATUS_THEN_IF(status, is_due, ...)                                                        \
    ((status) == STATUS_OK && (is_due) ? (__VA_ARGS__) : (status))

typedef struct Error {
    Status status;
    char field[128];   // path of the offending field, "" when none is to blame
    char message[384]; // a sentence a person can act on
} Error;

// Fills `error` (Nullable) and returns `status`, so that a check reads: return error_set(...).
// `field` is Nullable.
Status error_set(Error *error, Status status, const char *field, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

// No error: all that {0} says, without writing 500 bytes of text.
static inline void error_clear(Error *error) {
    error->status = STATUS_OK;
    error->field[0] = '\0';
    error->message[0] = '\0';
}

// "NOT_FOUND", for logs and metrics.
const char *status_name(Status status);

// Whether the same request may succeed later, without the client changing anything.
bool status_is_recoverable(Status status);
