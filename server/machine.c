// SPDX-License-Identifier: MIT
#include "machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { PATH_BYTES = 1024 };

// The number in a file of one line; UINT64_MAX when there is none ("max") or no such file.
static uint64_t read_limit(const char *path) {
    uint64_t limit = UINT64_MAX;
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return UINT64_MAX;
    }
    if (fscanf(file, "%" SCNu64, &limit) != 1) {
        limit = UINT64_MAX;
    }
    fclose(file);
    return limit;
}

// The path of our group in the unified hierarchy, "" when there is none (or when it is the root).
static void find_group(char group[PATH_BYTES]) {
    static const char prefix[] = "0::";
    char line[PATH_BYTES];
    group[0] = '\0';
    FILE *file = fopen("/proc/self/cgroup", "re");
    if (file == NULL) {
        return;
    }
    while (fgets(line, sizeof(line), file) != NULL) {
        if (strncmp(line, prefix, sizeof(prefix) - 1) == 0) {
            line[strcspn(line, "\n")] = '\0';
            snprintf(group, PATH_BYTES, "%s", line + sizeof(prefix) - 1);
        }
    }
    fclose(file);
}

// The least limit of our group and the groups above it.
static uint64_t read_group_limit(void) {
    char group[PATH_BYTES];
    char path[PATH_BYTES + 64];
    uint64_t least = read_limit("/sys/fs/cgroup/memory/memory.limit_in_bytes"); // version 1
    find_group(group);
    for (;;) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
        uint64_t limit = read_limit(path);
        least = limit < least ? limit : least;
        char *slash = strrchr(group, '/');
        if (slash == NULL) {
            return least;
        }
        *slash = '\0';
    }
}

uint64_t machine_memory_bytes(void) {
    uint64_t machine = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t group = read_group_limit();
    return group < machine ? group : machine;
}

size_t machine_terminal_columns(FILE *stream) {
    struct winsize size;
    return ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
