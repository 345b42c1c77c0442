// SPDX-License-Identifier: MIT
#include "os/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

FILE *new_file(const char *path, mode_t mode, const char *option, Error *error) {
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (file != NULL) {
        fchmod(fd, mode); // whatever the umask is
        return file;
    }
    int why = errno;
    if (fd >= 0) {
        close(fd);
    }
    error_set(error, why == EEXIST ? STATUS_ALREADY_EXISTS : STATUS_INVALID_ARGUMENT, option,
              why == EEXIST ? "%.300s is there already, and is left as it is."
                            : "%.300s cannot be made: %s.",
              path, strerror(why));
    return NULL;
}

bool new_file_end(FILE *file, bool is_written) {
    bool is_whole = fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && is_whole && is_written;
}

Status new_folder(const char *path, const char *option, const char *holds, Error *error) {
    struct stat info;
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option,
                         "The folder %.200s cannot be made: %s.", path, strerror(errno));
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option,
                         "%.200s is no folder: name one, for %s.", path, holds);
    }
    return STATUS_OK;
}
