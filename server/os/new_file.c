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

Status new_pair(const char *private_path, const char *public_path, NewPairWrite *write,
                const void *context, const char *option, Error *error) {
    FILE *private_file = new_file(private_path, S_IRUSR | S_IWUSR, option, error);
    if (private_file == NULL) {
        return error->status;
    }
    FILE *file = new_file(public_path, S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH, option, error);
    if (file == NULL) {
        fclose(private_file);
        unlink(private_path);
        return error->status;
    }
    bool is_written = write(context, private_file, file);
    is_written = new_file_end(private_file, is_written) && is_written;
    if (!new_file_end(file, is_written)) {
        unlink(private_path);
        unlink(public_path);
        return error_set(error, STATUS_UNAVAILABLE, option,
                         "%.200s and %.150s could not be written.", private_path, public_path);
    }
    return STATUS_OK;
}

Status new_folder(const char *path, const char *option, const char *holds, Error *error) {
    struct stat info;
    const bool is_made = mkdir(path, S_IRWXU) == 0;
    if (!is_made && errno != EEXIST) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option,
                         "The folder %.200s cannot be made: %s.", path, strerror(errno));
    }
    if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode)) {
        return error_set(error, STATUS_INVALID_ARGUMENT, option,
                         "%.200s is no folder: name one, for %s.", path, holds);
    }
    if (is_made) { // the umask of a server lets nobody enter a folder
        chmod(path, S_IRWXU);
    }
    return STATUS_OK;
}
