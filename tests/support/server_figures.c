// SPDX-License-Identifier: MIT
#include "support/server_figures.h"

#include <check.h>
#include <dirent.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static FILE *open_figures(pid_t pid, const char *name, const char *mode) {
    char path[320];
    snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, mode);
    ck_assert_msg(file != NULL, "%s cannot be opened", path);
    return file;
}

uint32_t server_descriptor_count(pid_t pid) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
    DIR *directory = opendir(path);
    ck_assert_msg(directory != NULL, "%s cannot be opened", path);
    uint32_t count = 0;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

uint64_t server_resident_bytes(pid_t pid) {
    FILE *file = open_figures(pid, "statm", "r");
    uint64_t pages = 0;
    bool found = fscanf(file, "%*u %" SCNu64, &pages) == 1;
    fclose(file);
    ck_assert(found);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

uint64_t server_peak_bytes(pid_t pid) {
    FILE *file = open_figures(pid, "status", "r");
    char line[128];
    uint64_t kib = 0;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "VmHWM: %" SCNu64, &kib) == 1;
    }
    fclose(file);
    ck_assert(found);
    return kib * 1024;
}

void server_reset_peak(pid_t pid) {
    FILE *file = open_figures(pid, "clear_refs", "w");
    fputs("5", file);
    ck_assert_int_eq(fclose(file), 0);
}

static uint64_t thread_wakes(pid_t pid, const char *thread) {
    char name[280], line[256];
    snprintf(name, sizeof(name), "task/%s/status", thread);
    FILE *file = open_figures(pid, name, "r");
    uint64_t wakes = 0;
    bool found = false;
    while (!found && fgets(line, sizeof(line), file) != NULL) {
        found = sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &wakes) == 1;
    }
    fclose(file);
    ck_assert(found);
    return wakes;
}

uint64_t server_wakes(pid_t pid) {
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
    DIR *folder = opendir(path);
    ck_assert_ptr_nonnull(folder);
    uint64_t wakes = 0;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        wakes += entry->d_name[0] == '.' ? 0 : thread_wakes(pid, entry->d_name);
    }
    closedir(folder);
    return wakes;
}

uint64_t server_raise_file_limit(void) {
    struct rlimit limit;
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}
