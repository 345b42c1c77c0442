// SPDX-License-Identifier: MIT
#include "log/wal/mark.h"

#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *wal_path(const char *database) {
    char *real = realpath(database, NULL);
    const char *path = real != NULL ? real : database;
    const size_t bytes = strlen(path) + sizeof("-wal");
    char *made = malloc(bytes);
    if (made != NULL) {
        snprintf(made, bytes, "%s-wal", path);
    }
    free(real);
    return made;
}

enum { AT_WAL_SALT = 16 }; // in the header of the write-ahead log

// What is in the file, its numbers little-endian.
typedef struct Note {
    char magic[8];
    WalPlace place;
    uint64_t hash; // of what stands before it
} Note;

static const char magic[8] = {'M', 'O', 'R', 'U', 's', 'y', 'n', 'c'};

static char *mark_path(const char *database) {
    char *wal = wal_path(database);
    const size_t bytes = wal != NULL ? strlen(wal) + sizeof("-synced") : 0;
    char *path = wal != NULL ? malloc(bytes) : NULL;
    if (path != NULL) {
        snprintf(path, bytes, "%s-synced", wal);
    }
    free(wal);
    return path;
}

static uint64_t hash_of(const Note *note) {
    return hash_bytes(note, offsetof(Note, hash), 0);
}

static bool write_note(const WalMark *mark) {
    Note note = {.place = mark->place};
    memcpy(note.magic, magic, sizeof(magic));
    note.hash = hash_of(&note);
    return pwrite(mark->fd, &note, sizeof(note), 0) == (ssize_t)sizeof(note);
}

bool wal_mark_read(const char *database, WalPlace *place) {
    Note note = {0};
    char *path = mark_path(database);
    const int fd = path != NULL ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool is_known = fd >= 0 && read(fd, &note, sizeof(note)) == (ssize_t)sizeof(note) &&
                          memcmp(note.magic, magic, sizeof(magic)) == 0 &&
                          note.hash == hash_of(&note);
    *place = is_known ? note.place : (WalPlace){0};
    if (fd >= 0) {
        close(fd);
    }
    free(path);
    return is_known;
}

// The name in its folder as well.
static bool sync_name(const char *path) {
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, (size_t)(slash - path) + 1);
    const int fd = folder != NULL ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    const bool is_synced = fd >= 0 && fsync(fd) == 0;
    if (fd >= 0) {
        close(fd);
    }
    free(folder);
    return is_synced;
}

bool wal_mark_begin(WalMark *mark, const char *database, const WalPlace *place) {
    *mark = (WalMark){.path = mark_path(database), .fd = -1, .place = *place};
    if (mark->path == NULL) {
        errno = ENOMEM;
        return false;
    }
    mark->fd = open(mark->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (mark->fd >= 0 && write_note(mark) && fsync(mark->fd) == 0 && sync_name(mark->path)) {
        return true;
    }
    const int code = errno;
    wal_mark_end(mark, true);
    errno = code;
    return false;
}

static bool read_salt(sqlite3 *db, uint8_t salt[WAL_SALT_BYTES]) {
    sqlite3_file *file = NULL;
    return sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file) == SQLITE_OK &&
           file != NULL && file->pMethods != NULL &&
           file->pMethods->xRead(file, salt, WAL_SALT_BYTES, AT_WAL_SALT) == SQLITE_OK;
}

void wal_mark_note(WalMark *mark, sqlite3 *db, uint64_t frames) {
    WalPlace place = {.frames = frames};
    if (mark->path == NULL || !read_salt(db, place.salt)) {
        return;
    }
    const bool is_of_before = memcmp(place.salt, mark->place.salt, WAL_SALT_BYTES) != 0;
    if (is_of_before || frames > mark->place.frames) {
        mark->place = place;
        if (!write_note(mark)) {
            wal_mark_end(mark, true);
        }
    }
}

void wal_mark_end(WalMark *mark, bool removes) {
    if (mark->path == NULL) {
        return;
    }
    if (removes) {
        unlink(mark->path);
    }
    if (mark->fd >= 0) {
        close(mark->fd);
    }
    free(mark->path);
    *mark = (WalMark){.fd = -1};
}

void wal_mark_forget(const char *database) {
    char *wal = wal_path(database);
    char *path = mark_path(database);
    if (wal != NULL && path != NULL && access(wal, F_OK) != 0) {
        unlink(path);
    }
    free(path);
    free(wal);
}
