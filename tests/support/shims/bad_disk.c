// SPDX-License-Identifier: MIT
// A disk that misbehaves on command, loaded into a server by LD_PRELOAD. In the folder that the
// variable MOREAU_BAD_DISK names, a file `full` makes every write to a database fail as on a full
// disk, and a file `slow` makes every sync take 300 ms. It stands between SQLite and the system, so
// that what is tested is the whole server as it is.
//
// There, too, a file `starved` makes memory end for whoever wants a list to grow beyond 100,000
// bytes.
//
// With MOREAU_DAYS_AGO=N the wall clock shows what it did N days ago.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static bool is_told(const char *word) {
    const char *folder = getenv("MOREAU_BAD_DISK");
    char path[256];
    if (folder == NULL) {
        return false;
    }
    snprintf(path, sizeof(path), "%s/%s", folder, word);
    return access(path, F_OK) == 0;
}

static bool is_database(int fd) {
    char link[64], path[512];
    snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
    ssize_t count = readlink(link, path, sizeof(path) - 1);
    if (count <= 0) {
        return false;
    }
    path[count] = '\0';
    return strstr(path, ".db") != NULL;
}

static bool refuses(int fd) {
    if (is_database(fd) && is_told("full")) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off_t offset) {
    ssize_t (*real)(int, const void *, size_t, off_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "pwrite64");
    return refuses(fd) ? -1 : real(fd, bytes, count, offset);
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}

int clock_gettime(clockid_t which, struct timespec *now) {
    int (*real)(clockid_t, struct timespec *) = NULL;
    const char *days = getenv("MOREAU_DAYS_AGO");
    *(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(which, now);
    now->tv_sec -= which == CLOCK_REALTIME && days != NULL ? 86400 * atol(days) : 0;
    return result;
}

void *realloc(void *old, size_t count) {
    enum { SMALL_BYTES = 100000 };
    void *(*real)(void *, size_t) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "realloc");
    return count > SMALL_BYTES && is_told("starved") ? NULL : real(old, count);
}

static void be_slow(int fd) {
    if (is_database(fd) && is_told("slow")) {
        struct timespec pause = {.tv_nsec = 300000000};
        nanosleep(&pause, NULL);
    }
}

int fdatasync(int fd) {
    int (*real)(int) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    be_slow(fd);
    return real(fd);
}

int fsync(int fd) {
    int (*real)(int) = NULL;
    *(void **)&real = dlsym(RTLD_NEXT, "fsync");
    be_slow(fd);
    return real(fd);
}
