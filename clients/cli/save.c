// SPDX-License-Identifier: MIT
#include "cli/save.h"

#include "cli/cli.h"
#include "cli/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int refuse(Cli *cli, const char *path, const char *why) {
    return cli_fail(cli, EXIT_USAGE, "cannot write %s: %s", path, why);
}

static bool write_all(int fd, const void *data, size_t bytes) {
    const uint8_t *next = data;
    while (bytes > 0) {
        ssize_t count = write(fd, next, bytes);
        if (count < 0 && errno != EINTR) {
            return false;
        }
        size_t written = count < 0 ? 0 : (size_t)count;
        next += written;
        bytes -= written;
    }
    return true;
}

// A device or a pipe has no disk to be brought to, and no other to put into its place.
static int write_through(Cli *cli, const char *path, const void *data, size_t bytes) {
    int fd = open(path, O_WRONLY | O_NOCTTY);
    if (fd < 0) {
        return refuse(cli, path, strerror(errno));
    }
    bool is_whole = write_all(fd, data, bytes);
    int reason = errno;
    if (close(fd) != 0 && is_whole) {
        is_whole = false;
        reason = errno;
    }
    return is_whole ? EXIT_DONE
                    : cli_fail(cli, EXIT_REFUSED, "cannot write %s: %s", path, strerror(reason));
}

// ---- regular files

// The folder that a path is in, with its slash; "" for the one we are in. To be freed.
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = memory_copy(path);
    folder[slash == NULL ? 0 : slash - path + 1] = '\0';
    return folder;
}

static mode_t mode_of_new(void) {
    mode_t mask = umask(0);
    umask(mask);
    return 0666 & ~mask;
}

// What was put into a folder is there after a power cut once the folder is on the disk as well. Not
// every file system can, and the file is whole either way.
static void sync_folder(const char *folder) {
    int fd = open(folder[0] == '\0' ? "." : folder, O_RDONLY | O_DIRECTORY);
    if (fd >= 0) {
        fsync(fd);
        close(fd);
    }
}

static bool fill(int fd, mode_t mode, const void *data, size_t bytes) {
    bool is_whole = write_all(fd, data, bytes) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    int reason = errno;
    if (close(fd) != 0 && is_whole) {
        return false;
    }
    errno = reason;
    return is_whole;
}

// `place` is where the file itself is, `path` how it was called; `mode` is what it gets.
static int replace(Cli *cli, const char *path, const char *place, mode_t mode, const void *data,
                   size_t bytes) {
    static const char pattern[] = ".moreau-XXXXXX";
    char *folder = folder_of(place);
    size_t room = strlen(folder) + sizeof(pattern);
    char *fresh = memory_take(room, 1);
    snprintf(fresh, room, "%s%s", folder, pattern);
    int status = EXIT_DONE;
    int fd = mkstemp(fresh);
    if (fd < 0) {
        status = refuse(cli, path, strerror(errno));
    } else if (!fill(fd, mode, data, bytes) || rename(fresh, place) != 0) {
        status = cli_fail(cli, EXIT_REFUSED, "cannot write %s: %s; what was there is as it was",
                          path, strerror(errno));
        unlink(fresh);
    } else {
        sync_folder(folder);
    }
    free(fresh);
    free(folder);
    return status;
}

static int replace_present(Cli *cli, const char *path, mode_t mode, const void *data,
                           size_t bytes) {
    char *place = realpath(path, NULL);
    if (place == NULL || access(place, W_OK) != 0) { // who may not write it may not replace it
        free(place);
        return refuse(cli, path, strerror(errno));
    }
    int status = replace(cli, path, place, mode, data, bytes);
    free(place);
    return status;
}

int save_file(Cli *cli, const char *path, const void *data, size_t bytes) {
    struct stat there;
    if (stat(path, &there) == 0) {
        if (S_ISREG(there.st_mode)) {
            return replace_present(cli, path, there.st_mode & 0777, data, bytes);
        }
        if (S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode)) {
            return write_through(cli, path, data, bytes);
        }
        return refuse(cli, path,
                      S_ISDIR(there.st_mode) ? "it is a folder: name a file in it"
                                             : "it is neither a file nor a pipe");
    }
    if (errno != ENOENT) {
        return refuse(cli, path, strerror(errno));
    }
    if (lstat(path, &there) == 0) {
        return refuse(cli, path, "it is a link to a file that is not there");
    }
    return replace(cli, path, path, mode_of_new(), data, bytes);
}
