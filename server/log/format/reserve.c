// SPDX-License-Identifier: MIT
#include "log/format/reserve.h"

#include "os/clock.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint64_t retry_ns = 1000000000;

void reserve_init(Reserve *reserve, const char *log_path) {
    size_t bytes = strlen(log_path) + sizeof("-reserve");
    *reserve = (Reserve){.path = malloc(bytes)};
    if (reserve->path != NULL) {
        snprintf(reserve->path, bytes, "%s-reserve", log_path);
    }
}

void reserve_deinit(Reserve *reserve) {
    reserve_give(reserve);
    free(reserve->path);
    *reserve = (Reserve){0};
}

void reserve_take(Reserve *reserve) {
    uint64_t now_ns = clock_now_ns();
    if (reserve->path == NULL || reserve->is_held || now_ns < reserve->retry_at_ns) {
        return;
    }
    reserve->retry_at_ns = now_ns + retry_ns;
    int fd = open(reserve->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) {
        return;
    }
    reserve->is_held = posix_fallocate(fd, 0, RESERVE_BYTES) == 0;
    close(fd);
    if (!reserve->is_held) {
        unlink(reserve->path);
    }
}

bool reserve_give(Reserve *reserve) {
    bool was_held = reserve->is_held;
    if (was_held) {
        unlink(reserve->path);
    }
    reserve->is_held = false;
    return was_held;
}
