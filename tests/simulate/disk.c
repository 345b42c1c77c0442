// SPDX-License-Identifier: MIT
#include "simulate/disk.h"

#include "simulate/schedule.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { FDS_MAX = 256, FILES_MAX = 16, PATH_BYTES = 512, SECTOR_BYTES = 512 };
enum { READ_FAULT_PERCENT = 5 }; // of a broken disk

// A change that is not synced. `bytes` NULL: the file was cut to `at`.
typedef struct Change {
    struct Change *next;
    uint8_t *bytes; // owned
    size_t count;
    size_t at;
} Change;

// A file by its path, whether it is open or not.
typedef struct Image {
    char path[PATH_BYTES];
    uint8_t *bytes; // owned: what is synced
    size_t count;
    Change *first, *last;
} Image;

typedef enum FaultKind { FAULT_NONE, FAULT_FULL, FAULT_BROKEN, FAULT_SLOW } FaultKind;

static struct {
    Image image[FILES_MAX];
    size_t image_count;
    Image *of_fd[FDS_MAX];
    DiskAtOperation *at_operation;
    uint64_t operation;
    Dice dice;
    bool faults_allowed, faults_came;
    FaultKind fault;
    uint64_t fault_begin, fault_end; // operations
    uint64_t fault_percent;
    uint64_t slept_ns;        // of FAULT_SLOW
    uint64_t survive_percent; // of what was not synced, when the power goes
} disk;

// ---- what is synced

static void *memory_or_end(void *memory) {
    if (memory == NULL) {
        fprintf(stderr, "simulate: no memory for the disk\n");
        abort();
    }
    return memory;
}

static void resize(Image *image, size_t count) {
    image->bytes = memory_or_end(realloc(image->bytes, count + 1));
    if (count > image->count) {
        memset(image->bytes + image->count, 0, count - image->count);
    }
    image->count = count;
}

static void write_to(Image *image, size_t at, const uint8_t *bytes, size_t count) {
    if (at + count > image->count) {
        resize(image, at + count);
    }
    memcpy(image->bytes + at, bytes, count);
}

// Sector by sector, as the dice fall.
static void write_some(Image *image, const Change *change) {
    for (size_t done = 0; done < change->count;) {
        size_t part = SECTOR_BYTES - (change->at + done) % SECTOR_BYTES;
        part = part < change->count - done ? part : change->count - done;
        if (dice_chance(&disk.dice, disk.survive_percent)) {
            write_to(image, change->at + done, change->bytes + done, part);
        }
        done += part;
    }
}

// The first change that is not synced happens (all of it or, `torn`, perhaps some), and is
// forgotten.
static void settle_first(Image *image, bool torn) {
    Change *change = image->first;
    image->first = change->next;
    if (change->bytes == NULL && (!torn || dice_chance(&disk.dice, disk.survive_percent))) {
        resize(image, change->at);
    } else if (change->bytes != NULL && torn) {
        write_some(image, change);
    } else if (change->bytes != NULL) {
        write_to(image, change->at, change->bytes, change->count);
    }
    free(change->bytes);
    free(change);
}

static void settle(Image *image, bool torn) {
    while (image->first != NULL) {
        settle_first(image, torn);
    }
    image->last = NULL;
}

static void add_change(Image *image, const void *bytes, size_t count, size_t at) {
    Change *change = memory_or_end(calloc(1, sizeof(*change)));
    *change = (Change){.count = count, .at = at};
    if (bytes != NULL) {
        change->bytes = memory_or_end(malloc(count + 1));
        memcpy(change->bytes, bytes, count);
    }
    *(image->first == NULL ? &image->first : &image->last->next) = change;
    image->last = change;
}

static void load(Image *image, int fd) {
    struct stat status;
    if (fstat(fd, &status) == 0 && status.st_size > 0) {
        resize(image, (size_t)status.st_size);
        ssize_t count = pread(fd, image->bytes, image->count, 0);
        resize(image, count > 0 ? (size_t)count : 0);
    }
}

static Image *find_image(const char *path) {
    for (size_t i = 0; i < disk.image_count; i++) {
        if (strcmp(disk.image[i].path, path) == 0) {
            return &disk.image[i];
        }
    }
    return NULL;
}

// The shared memory of a write-ahead log means nothing after a crash.
static bool is_kept(const char *path) {
    size_t length = strlen(path);
    return strstr(path, ".db") != NULL && (length < 4 || strcmp(path + length - 4, "-shm") != 0);
}

static Image *image_of(const char *path, int fd) {
    Image *image = find_image(path);
    if (image == NULL) {
        image = find_image(""); // of a file that was removed
    }
    if (image == NULL && disk.image_count < FILES_MAX) {
        image = &disk.image[disk.image_count++];
    }
    if (image != NULL && image->path[0] == '\0') {
        snprintf(image->path, sizeof(image->path), "%s", path);
        load(image, fd);
    }
    return image;
}

// ---- faults

// All that a slow disk takes: a step waits for what is recorded, and its client (link.c) not much
// longer than this.
static const uint64_t slow_ns_max = 60000000000u;

static bool is_due(uint64_t operation) {
    return disk.faults_allowed && operation >= disk.fault_begin && operation < disk.fault_end;
}

// True, with errno set: this change of a file does not take place.
static bool refuses(void) {
    uint64_t operation = ++disk.operation;
    disk.at_operation(operation);
    schedule_note(operation);
    if (disk.fault == FAULT_NONE || !is_due(operation) ||
        !dice_chance(&disk.dice, disk.fault_percent)) {
        return false;
    }
    disk.faults_came = true;
    if (disk.fault == FAULT_SLOW) {
        const uint64_t ns = dice_roll(&disk.dice, 400000000);
        disk.slept_ns += ns;
        if (disk.slept_ns <= slow_ns_max) {
            schedule_sleep(ns);
        }
        return false;
    }
    errno = disk.fault == FAULT_FULL ? ENOSPC : EIO;
    return true;
}

static Image *image_of_fd(int fd) {
    return fd >= 0 && fd < FDS_MAX ? disk.of_fd[fd] : NULL;
}

// ---- system calls

static int do_open(const char *path, int flags, int mode) {
    int fd = open(path, flags, mode);
    if (fd >= 0 && fd < FDS_MAX) {
        disk.of_fd[fd] = is_kept(path) ? image_of(path, fd) : NULL;
    }
    return fd;
}

static int do_close(int fd) {
    if (fd >= 0 && fd < FDS_MAX) {
        disk.of_fd[fd] = NULL;
    }
    return close(fd);
}

static ssize_t do_write(int fd, const void *bytes, size_t count, off_t at) {
    Image *image = image_of_fd(fd);
    if (image == NULL) {
        return pwrite(fd, bytes, count, at);
    }
    if (refuses()) {
        // a disk that is nearly full takes a part first
        if (count < 2 || errno != ENOSPC || !dice_chance(&disk.dice, 30)) {
            return -1;
        }
        count = 1 + (size_t)dice_roll(&disk.dice, count - 1);
    }
    ssize_t written = pwrite(fd, bytes, count, at);
    if (written > 0) {
        add_change(image, bytes, (size_t)written, (size_t)at);
    }
    return written;
}

static ssize_t do_read(int fd, void *bytes, size_t count, off_t at) {
    if (image_of_fd(fd) != NULL && disk.fault == FAULT_BROKEN && is_due(disk.operation) &&
        dice_chance(&disk.dice, READ_FAULT_PERCENT)) {
        disk.faults_came = true;
        errno = EIO;
        return -1;
    }
    return pread(fd, bytes, count, at);
}

static int do_truncate(int fd, off_t count) {
    Image *image = image_of_fd(fd);
    if (image != NULL && refuses()) {
        return -1;
    }
    int result = ftruncate(fd, count);
    if (image != NULL && result == 0) {
        add_change(image, NULL, 0, (size_t)count);
    }
    return result;
}

static int do_unlink(const char *path) {
    Image *image = find_image(path);
    if (image != NULL && refuses()) {
        return -1;
    }
    int result = unlink(path);
    if (image != NULL && result == 0) {
        settle(image, false);
        resize(image, 0);
        image->path[0] = '\0';
        for (size_t i = 0; i < FDS_MAX; i++) {
            disk.of_fd[i] = disk.of_fd[i] == image ? NULL : disk.of_fd[i];
        }
    }
    return result;
}

static int sync_file(int fd, long number) {
    Image *image = image_of_fd(fd);
    if (image == NULL) {
        return (int)syscall(number, fd);
    }
    if (refuses()) {
        errno = EIO;
        return -1;
    }
    settle(image, false); // nobody waits for the real disk: power is lost in the simulation alone
    return 0;
}

// In front of libc's: SQLite, a shared library, finds these.
int fdatasync(int fd) {
    return sync_file(fd, SYS_fdatasync);
}

int fsync(int fd) {
    return sync_file(fd, SYS_fsync);
}

// ---- life

static void draw_faults(void) {
    disk.fault = dice_chance(&disk.dice, 50) ? FAULT_NONE : 1 + (FaultKind)dice_roll(&disk.dice, 3);
    disk.fault_begin = dice_magnitude(&disk.dice, 8);
    disk.fault_end =
        dice_chance(&disk.dice, 30) ? UINT64_MAX : disk.fault_begin + dice_magnitude(&disk.dice, 7);
    disk.fault_percent = dice_chance(&disk.dice, 50) ? 100 : 1 + dice_roll(&disk.dice, 60);
    disk.survive_percent = dice_chance(&disk.dice, 30) ? 0 : dice_roll(&disk.dice, 101);
}

void disk_begin(uint64_t seed, DiskAtOperation *at_operation) {
    disk.dice = dice_make(seed, 4);
    disk.at_operation = at_operation;
    draw_faults();
    sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)do_open);
    vfs->xSetSystemCall(vfs, "close", (sqlite3_syscall_ptr)do_close);
    vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)do_write);
    vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)do_write);
    vfs->xSetSystemCall(vfs, "pread", (sqlite3_syscall_ptr)do_read);
    vfs->xSetSystemCall(vfs, "pread64", (sqlite3_syscall_ptr)do_read);
    vfs->xSetSystemCall(vfs, "ftruncate", (sqlite3_syscall_ptr)do_truncate);
    vfs->xSetSystemCall(vfs, "unlink", (sqlite3_syscall_ptr)do_unlink);
    sqlite3_test_control(SQLITE_TESTCTRL_PRNG_SEED, (int)(seed & 0x7fffffff) | 1, NULL);
}

void disk_allow_faults(void) {
    disk.faults_allowed = true;
    disk.fault_begin += disk.operation;
    disk.fault_end = disk.fault_end == UINT64_MAX ? UINT64_MAX : disk.fault_end + disk.operation;
}

bool disk_has_faults(void) {
    return disk.faults_came;
}

void disk_lose_power(void) {
    for (size_t i = 0; i < disk.image_count; i++) {
        Image *image = &disk.image[i];
        if (image->path[0] == '\0') {
            continue;
        }
        settle(image, true);
        int fd = open(image->path, O_WRONLY | O_CREAT | O_TRUNC, 0640);
        ssize_t written = fd < 0 ? -1 : write(fd, image->bytes, image->count);
        if (written != (ssize_t)image->count) {
            fprintf(stderr, "simulate: cannot write %s\n", image->path);
            abort();
        }
        close(fd);
    }
}
