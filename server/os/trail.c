// SPDX-License-Identifier: MIT
#include "os/trail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 512 };
enum { RETRY_NS = 1000000000 };

struct Trail {
    char path[PATH_BYTES];
    int fd;
    bool is_file;    // not a pipe or a device: it is full one day
    bool is_between; // what was written ends with a line
    uint64_t bytes, bytes_max;
    char waiting[TRAIL_WAITING_BYTES];
    size_t used;
    uint64_t lost; // so far
    bool fails;
    uint64_t tried_ns;
};

static Status fail(const Trail *trail, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, "audit-file", "%.200s cannot be written: %s.",
                     trail->path, strerror(errno));
}

static int open_path(const char *path) {
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
}

// Takes the place of the file that is open, if there is one.
static Status take_file(Trail *trail, Error *error) {
    struct stat info;
    const int fd = open_path(trail->path);
    if (fd < 0 || fstat(fd, &info) != 0) {
        return fail(trail, error);
    }
    if (trail->fd >= 0) {
        close(trail->fd);
    }
    trail->fd = fd;
    trail->is_file = S_ISREG(info.st_mode);
    trail->bytes = trail->is_file ? (uint64_t)info.st_size : 0;
    return STATUS_OK;
}

Status trail_open(Trail **trail, const char *path, uint64_t bytes_max, Error *error) {
    Trail *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        return error_set(error, STATUS_RESOURCE_EXHAUSTED, "", "Memory ended while starting.");
    }
    made->fd = -1;
    made->is_between = true;
    made->bytes_max = bytes_max;
    snprintf(made->path, sizeof(made->path), "%s", path);
    const Status status = take_file(made, error);
    if (status != STATUS_OK) {
        free(made);
        return status;
    }
    *trail = made;
    return STATUS_OK;
}

Status trail_reopen(Trail *trail, Error *error) {
    return take_file(trail, error);
}

void trail_add(Trail *trail, const char *line, size_t bytes) {
    if (bytes > sizeof(trail->waiting) - trail->used) {
        trail->lost++;
        return;
    }
    memcpy(trail->waiting + trail->used, line, bytes);
    trail->used += bytes;
}

bool trail_waits(const Trail *trail) {
    return trail->used > 0;
}

bool trail_is_due(const Trail *trail, uint64_t now_ns) {
    return trail->used > 0 && (!trail->fails || now_ns - trail->tried_ns >= RETRY_NS);
}

// Where that fails it goes on in the same file.
static void turn_over(Trail *trail) {
    char from[PATH_BYTES + 16], to[PATH_BYTES + 16];
    for (int i = TRAIL_OLDER; i > 0; i--) {
        if (i == 1) {
            snprintf(from, sizeof(from), "%s", trail->path);
        } else {
            snprintf(from, sizeof(from), "%s.%d", trail->path, i - 1);
        }
        snprintf(to, sizeof(to), "%s.%d", trail->path, i);
        rename(from, to);
    }
    Error ignored;
    take_file(trail, &ignored);
}

static void take_out(Trail *trail, size_t bytes) {
    trail->is_between = trail->waiting[bytes - 1] == '\n';
    trail->used -= bytes;
    memmove(trail->waiting, trail->waiting + bytes, trail->used);
    trail->bytes += bytes;
}

TrailNews trail_write(Trail *trail, uint64_t now_ns, uint64_t *lost, const char **why) {
    const bool failed = trail->fails;
    trail->tried_ns = now_ns;
    trail->fails = false;
    while (trail->used > 0 && !trail->fails) {
        if (trail->is_file && trail->is_between && trail->bytes > 0 &&
            trail->bytes + trail->used > trail->bytes_max) {
            turn_over(trail);
        }
        const ssize_t written = write(trail->fd, trail->waiting, trail->used);
        if (written > 0) {
            take_out(trail, (size_t)written);
        } else if (written < 0 && errno != EINTR) {
            trail->fails = true;
            *why = strerror(errno);
        }
    }
    *lost = trail->lost;
    return trail->fails == failed ? TRAIL_NOTHING_NEW : trail->fails ? TRAIL_FAILS : TRAIL_WORKS;
}

void trail_close(Trail *trail) {
    if (trail == NULL) {
        return;
    }
    uint64_t lost;
    const char *why;
    trail_write(trail, 0, &lost, &why);
    close(trail->fd);
    free(trail);
}
