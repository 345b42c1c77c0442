// SPDX-License-Identifier: MIT
#define _XOPEN_SOURCE 700 // nftw
#include "cli/view/folder.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_S = 86400, OPEN_AT_ONCE = 16 };

bool folder_make(const char *name, char path[FOLDER_PATH_BYTES]) {
    const char *place = getenv("TMPDIR");
    const int used = snprintf(path, FOLDER_PATH_BYTES, "%s/moreau-%s-XXXXXX",
                              place != NULL && place[0] == '/' ? place : "/tmp", name);
    return used > 0 && used < FOLDER_PATH_BYTES && mkdtemp(path) != NULL;
}

static int remove_any(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info, (void)kind, (void)walk;
    remove(path);
    return 0;
}

void folder_remove(const char *path) {
    nftw(path, remove_any, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS);
}

static int remove_old(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)walk;
    if (kind == FTW_F && time(NULL) - info->st_mtime > KEPT_S) {
        remove(path);
    }
    return 0;
}

static void name_cache(char path[FOLDER_PATH_BYTES]) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache != NULL && cache[0] == '/') {
        snprintf(path, FOLDER_PATH_BYTES, "%s", cache);
    } else if (home != NULL && home[0] == '/') {
        snprintf(path, FOLDER_PATH_BYTES, "%s/.cache", home);
    } else {
        snprintf(path, FOLDER_PATH_BYTES, "/tmp");
    }
}

// PLACE/moreau-NAME-UID, which only this user may write in.
static bool own_folder(const char *name, char path[FOLDER_PATH_BYTES]) {
    struct stat info;
    name_cache(path);
    mkdir(path, 0700);
    const size_t used = strlen(path);
    snprintf(path + used, FOLDER_PATH_BYTES - used, "/moreau-%s-%u", name, (unsigned)geteuid());
    if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &info) != 0) {
        return false;
    }
    if (!S_ISDIR(info.st_mode) || info.st_uid != geteuid()) {
        errno = EPERM;
        return false;
    }
    return true;
}

bool folder_cache(char path[FOLDER_PATH_BYTES]) {
    if (!own_folder("view", path)) {
        return false;
    }
    nftw(path, remove_old, OPEN_AT_ONCE, FTW_PHYS);
    return true;
}

bool folder_profile(char path[FOLDER_PATH_BYTES]) {
    return own_folder("window", path);
}
