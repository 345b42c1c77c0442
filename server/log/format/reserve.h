// SPDX-License-Identifier: MIT
// Some room on the disk that nobody else gets: a file of zeros beside the log, given up when the
// disk is full and somebody deletes, as also a deletion must write before it frees anything.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { RESERVE_BYTES = 16 << 20 };

typedef struct Reserve {
    char *path; // owned; NULL: none
    bool is_held;
    uint64_t retry_at_ns; // not earlier
} Reserve;

void reserve_init(Reserve *reserve, const char *log_path);
void reserve_deinit(Reserve *reserve); // the file as well

// Makes the file, if there is room again: asked as often as one likes, it looks once a second.
void reserve_take(Reserve *reserve);

// False: there was none to give up.
bool reserve_give(Reserve *reserve);
