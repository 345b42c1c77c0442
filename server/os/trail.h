// SPDX-License-Identifier: MIT
// A file of lines that grows for ever in little: when it is full it becomes FILE.1, the one before
// FILE.2, and so on, and the oldest goes. Lines are gathered and written together; what the disk
// does not take waits, in bounded memory, and is tried again, and what finds no room there is
// counted. Nobody waits. One thread.
#pragma once

#include "base/status.h"

#include <stddef.h>

enum { TRAIL_OLDER = 8 };               // files beside the present one
enum { TRAIL_WAITING_BYTES = 1 << 20 }; // more than so much waits for no disk

typedef struct Trail Trail;

// What a write came to, told when it is another than the last time.
typedef enum TrailNews {
    TRAIL_NOTHING_NEW,
    TRAIL_FAILS, // from now on
    TRAIL_WORKS  // again
} TrailNews;

// `path` is appended to, and made where it is not there, for its owner alone.
Status trail_open(Trail **trail, const char *path, uint64_t bytes_max, Error *error);

// What waits is written if the disk takes it.
void trail_close(Trail *trail); // Nullable

// A whole line, with its newline.
void trail_add(Trail *trail, const char *line, size_t bytes);

bool trail_waits(const Trail *trail);                   // something does, for the disk
bool trail_is_due(const Trail *trail, uint64_t now_ns); // something waits, and is to be tried

// `lost`: lines so far that found no room. `why`: of TRAIL_FAILS, for a person.
TrailNews trail_write(Trail *trail, uint64_t now_ns, uint64_t *lost, const char **why);

// Closes and opens the file again (SIGHUP); keeps the old one when that fails.
Status trail_reopen(Trail *trail, Error *error);
