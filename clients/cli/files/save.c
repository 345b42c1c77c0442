// SPDX-License-Identifier: MIT
#include "cli/files/save.h"

#include "cli/cli.h"
#include "cli/base/memory.h"

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

// What mkstemp makes a file of, in the folder of this one. To be freed.
static char *name_beside(const char *place) {
    char *folder = folder_of(place);
    size_t room = strlen(folder) + sizeof(".moreau-XXXXXX");
    char *name = memory_take(room, 1);
    snprintf(name, room, "%s.moreau-XXXXXX", folder);
    free(folder);
    return name;
}

// `place` is where the file itself is, `path` how it was called; `mode` is what it gets.
static int begin_beside(Cli *cli, const char *path, const char *place, mode_t mode,
                        SaveStream *save) {
    char *fresh = name_beside(place);
    int fd = mkstemp(fresh);
    if (fd < 0) {
        int reason = errno;
        free(fresh);
        return refuse(cli, path, strerror(reason));
    }
    save->fresh = fresh;
    save->place = memory_copy(place);
    save->mode = mode;
    save->file = memory_must(fdopen(fd, "w+"));
    return EXIT_DONE;
}

static int begin_present(Cli *cli, const char *path, mode_t mode, SaveStream *save) {
    char *place = realpath(path, NULL);
    if (place == NULL || access(place, W_OK) != 0) { // who may not write it may not replace it
        free(place);
        return refuse(cli, path, strerror(errno));
    }
    int status = begin_beside(cli, path, place, mode, save);
    free(place);
    return status;
}

// A device or a pipe has no disk to be brought to, and no other to put into its place.
static int begin_through(Cli *cli, const char *path, SaveStream *save) {
    int fd = open(path, O_WRONLY | O_NOCTTY);
    if (fd < 0) {
        return refuse(cli, path, strerror(errno));
    }
    save->file = memory_must(fdopen(fd, "w"));
    return EXIT_DONE;
}

static int begin(Cli *cli, const char *path, SaveStream *save) {
    struct stat there;
    if (stat(path, &there) == 0) {
        if (S_ISREG(there.st_mode)) {
            return begin_present(cli, path, there.st_mode & 0777, save);
        }
        if (S_ISCHR(there.st_mode) || S_ISFIFO(there.st_mode)) {
            return begin_through(cli, path, save);
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
    return begin_beside(cli, path, path, mode_of_new(), save);
}

// Lets go of what was written, or was begun at all.
static void forget(SaveStream *save) {
    if (save->file != NULL) {
        fclose(save->file);
        if (save->fresh != NULL) {
            unlink(save->fresh);
        }
    }
    free(save->fresh);
    free(save->place);
    *save = (SaveStream){0};
}

int save_begin(Cli *cli, const char *path, SaveStream *save) {
    *save = (SaveStream){.path = path};
    int status = begin(cli, path, save);
    if (status != EXIT_DONE) {
        forget(save);
    }
    return status;
}

bool save_write(SaveStream *save, const void *data, size_t bytes) {
    return save_spool_write(save, save->file, data, bytes);
}

bool save_patch(SaveStream *save, uint64_t offset, const void *data, size_t bytes) {
    if (save->error == 0 &&
        (fseeko(save->file, (off_t)offset, SEEK_SET) != 0 || !save_write(save, data, bytes) ||
         fseeko(save->file, 0, SEEK_END) != 0)) {
        save->error = errno;
    }
    return save->error == 0;
}

FILE *save_spool(SaveStream *save) {
    char *name = name_beside(save->place);
    int fd = mkstemp(name);
    if (fd < 0) {
        save->error = errno;
    } else {
        unlink(name);
    }
    free(name);
    return fd < 0 ? NULL : memory_must(fdopen(fd, "w+"));
}

bool save_spool_write(SaveStream *save, FILE *spool, const void *data, size_t bytes) {
    if (save->error == 0 && bytes > 0 && fwrite(data, 1, bytes, spool) != bytes) {
        save->error = errno;
    }
    return save->error == 0;
}

void save_spool_rewind(SaveStream *save, FILE *spool) {
    if (save->error == 0 && fflush(spool) != 0) {
        save->error = errno;
    }
    rewind(spool);
}

bool save_spool_read(SaveStream *save, FILE *spool, void *data, size_t bytes) {
    errno = 0;
    if (save->error == 0 && bytes > 0 && fread(data, 1, bytes, spool) != bytes) {
        save->error = errno != 0 ? errno : EIO; // its end came too early
    }
    return save->error == 0;
}

bool save_is_file(const SaveStream *save) {
    return save->fresh != NULL;
}

bool save_settle(SaveStream *save) {
    if (save->error == 0 && (fflush(save->file) != 0 ||
                             (save_is_file(save) && (fchmod(fileno(save->file), save->mode) != 0 ||
                                                     fsync(fileno(save->file)) != 0)))) {
        save->error = errno;
    }
    return save->error == 0;
}

int save_end(Cli *cli, SaveStream *save) {
    bool is_file = save_is_file(save);
    if (save_settle(save) && is_file && rename(save->fresh, save->place) != 0) {
        save->error = errno;
    }
    if (save->error != 0) {
        int status =
            cli_fail(cli, EXIT_REFUSED, "cannot write %s: %s%s", save->path, strerror(save->error),
                     is_file ? "; what was there is as it was" : "");
        forget(save);
        return status;
    }
    if (is_file) {
        char *folder = folder_of(save->place);
        sync_folder(folder);
        free(folder);
        free(save->fresh);
        save->fresh = NULL; // it has gone where it belongs
    }
    forget(save);
    return EXIT_DONE;
}

void save_drop(SaveStream *save) {
    forget(save);
}

int save_file(Cli *cli, const char *path, const void *data, size_t bytes) {
    SaveStream save;
    int status = save_begin(cli, path, &save);
    if (status == EXIT_DONE) {
        save_write(&save, data, bytes);
        status = save_end(cli, &save);
    }
    return status;
}
