// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): O_PATH
#include "os/landlock.h"

#include "base/assert.h"

#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// ---- the kernel's, of versions up to 7

enum { CALL_CREATE = 444, CALL_ADD = 445, CALL_RESTRICT = 446 }; // of every architecture
enum { CREATE_VERSION = 1, RULE_PATH_BENEATH = 1 };

#define BIT(number) (UINT64_C(1) << (number))

enum {
    FS_WRITE_FILE = 1,
    FS_READ_FILE = 2,
    FS_READ_DIR = 3,
    FS_REMOVE_DIR = 4,
    FS_REMOVE_FILE = 5,
    FS_MAKE_REG = 8,
    FS_MAKE_SOCK = 9,
    FS_REFER = 13,
    FS_TRUNCATE = 14
};

// How many rights over files each version knows, from version 1.
static const int fs_counts[] = {13, 14, 15, 15, 16};

enum { VERSION_NET = 4, VERSION_SCOPES = 6 };

static const uint64_t net_connect_tcp = BIT(1);
static const uint64_t scopes = BIT(0) | BIT(1); // abstract Unix sockets, signals

static const uint64_t of_files = BIT(FS_WRITE_FILE) | BIT(FS_READ_FILE) | BIT(FS_TRUNCATE);

typedef struct Ruleset {
    uint64_t fs, net, scoped;
} Ruleset;

typedef struct __attribute__((packed)) PathRule {
    uint64_t allowed;
    int32_t parent;
} PathRule;

// ---- ours

int landlock_version(void) {
    const long version = syscall(CALL_CREATE, NULL, (size_t)0, CREATE_VERSION);
    return version > 0 ? (int)version : 0;
}

static uint64_t known_rights(int version) {
    const int last = (int)(sizeof(fs_counts) / sizeof(fs_counts[0]));
    return version < 1 ? 0 : BIT(fs_counts[version < last ? version - 1 : last - 1]) - 1;
}

int landlock_open(void) {
    const int version = landlock_version();
    const Ruleset rules = {.fs = known_rights(version),
                           .net = version >= VERSION_NET ? net_connect_tcp : 0,
                           .scoped = version >= VERSION_SCOPES ? scopes : 0};
    const size_t bytes = version >= VERSION_SCOPES ? sizeof(rules)
                         : version >= VERSION_NET  ? offsetof(Ruleset, scoped)
                                                   : offsetof(Ruleset, net);
    return version == 0 ? -1 : (int)syscall(CALL_CREATE, &rules, bytes, 0);
}

static uint64_t rights_of(unsigned grants) {
    uint64_t rights = 0;
    if (grants & LANDLOCK_READ) {
        rights |= BIT(FS_READ_FILE) | BIT(FS_READ_DIR);
    }
    if (grants & LANDLOCK_WRITE) {
        rights |= BIT(FS_WRITE_FILE) | BIT(FS_MAKE_REG) | BIT(FS_REMOVE_FILE) | BIT(FS_REFER) |
                  BIT(FS_TRUNCATE);
    }
    if (grants & LANDLOCK_SOCKETS) {
        rights |= BIT(FS_MAKE_SOCK) | BIT(FS_REMOVE_FILE);
    }
    if (grants & LANDLOCK_RMDIR) {
        rights |= BIT(FS_REMOVE_DIR);
    }
    return rights;
}

void landlock_allow(int rules, const char *path, unsigned grants) {
    struct stat info;
    ASSERT(grants != 0);
    const int fd = open(path, O_PATH | O_CLOEXEC);
    if (fd < 0) {
        return;
    }
    PathRule rule = {.allowed = rights_of(grants) & known_rights(landlock_version()), .parent = fd};
    if (fstat(fd, &info) == 0 && !S_ISDIR(info.st_mode)) {
        rule.allowed &= of_files;
    }
    if (rule.allowed != 0) {
        syscall(CALL_ADD, rules, RULE_PATH_BENEATH, &rule, 0);
    }
    close(fd);
}

static void allow_folder_of(int rules, const char *path, unsigned grants) {
    char folder[PATH_MAX];
    const int bytes = snprintf(folder, sizeof(folder), "%s", path);
    if (bytes >= 0 && (size_t)bytes < sizeof(folder)) {
        landlock_allow(rules, dirname(folder), grants);
    }
}

void landlock_allow_beside(int rules, const char *path, unsigned grants) {
    struct stat info;
    if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISSOCK(info.st_mode)) {
        landlock_allow(rules, path, grants);
        return;
    }
    allow_folder_of(rules, path, grants);
    char *real = realpath(path, NULL);
    if (real != NULL) {
        allow_folder_of(rules, real, grants);
    }
    free(real);
}

bool landlock_enforce(int rules) {
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(CALL_RESTRICT, rules, 0) == 0;
}
