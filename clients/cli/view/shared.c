// SPDX-License-Identifier: MIT
#include "cli/view/shared.h"

#include "cli/view/browser.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Looks for it in these places, which are seen from this program's folder.
static bool find(const char *const *places, size_t count, const char *name, int mode,
                 char path[SHARED_PATH_BYTES]) {
    const ssize_t bytes = readlink("/proc/self/exe", path, SHARED_PATH_BYTES - 1);
    path[bytes > 0 ? bytes : 0] = '\0';
    char *slash = strrchr(path, '/');
    for (size_t i = 0; slash != NULL && i < count; i++) {
        const size_t room = SHARED_PATH_BYTES - (size_t)(slash + 1 - path);
        const int wanted = snprintf(slash + 1, room, "%s%s", places[i], name);
        if (wanted > 0 && (size_t)wanted < room && access(path, mode) == 0) {
            return true;
        }
    }
    return false;
}

bool shared_find(const char *name, char path[SHARED_PATH_BYTES]) {
    static const char *const places[] = {"", "../share/moreau/"};
    return find(places, sizeof(places) / sizeof(places[0]), name, R_OK, path);
}

bool shared_find_program(const char *name, char path[SHARED_PATH_BYTES]) {
    static const char *const places[] = {"", "../"};
    return find(places, sizeof(places) / sizeof(places[0]), name, X_OK, path) ||
           browser_find_program(name, path);
}
