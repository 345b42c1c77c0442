// SPDX-License-Identifier: MIT
#include "page_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static Status refuse(const char *path, const char *why, Error *error) {
    return error_set(error, STATUS_INVALID_ARGUMENT, "viewer", "The page %.200s %s.", path, why);
}

static Status read_text(FILE *file, const char *path, char **text, Error *error) {
    long bytes = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    if (bytes < 0 || fseek(file, 0, SEEK_SET) != 0) {
        return refuse(path, "is no file that can be read", error);
    }
    if (bytes > PAGE_FILE_BYTES_MAX) {
        return refuse(path, "is longer than 64 MiB", error);
    }
    size_t count = (size_t)bytes;
    char *read = malloc(count + 1);
    if (read == NULL || fread(read, 1, count, file) != count || memchr(read, '\0', count) != NULL) {
        free(read);
        return refuse(path, "cannot be read to its end, or is no text", error);
    }
    read[count] = '\0';
    *text = read;
    return STATUS_OK;
}

Status page_file_read(const char *path, char **text, Error *error) {
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return refuse(path, strerror(errno), error);
    }
    Status status = read_text(file, path, text, error);
    fclose(file);
    return status;
}

bool page_file_find(char path[PAGE_FILE_PATH_BYTES]) {
    static const char *const places[] = {
        "share/moreau/moreau-viewer.html",
        "../share/moreau/moreau-viewer.html",
    };
    ssize_t count = readlink("/proc/self/exe", path, PAGE_FILE_PATH_BYTES - 1);
    path[count > 0 ? count : 0] = '\0';
    char *slash = strrchr(path, '/');
    for (size_t i = 0; slash != NULL && i < sizeof(places) / sizeof(places[0]); i++) {
        size_t room = PAGE_FILE_PATH_BYTES - (size_t)(slash + 1 - path);
        int wanted = snprintf(slash + 1, room, "%s", places[i]);
        if (wanted > 0 && (size_t)wanted < room && access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}
