// SPDX-License-Identifier: MIT
#define _GNU_SOURCE // NOLINT(bugprone-reserved-identifier): dl_iterate_phdr
#include "sandbox.h"

#include "os/landlock.h"
#include "os/syscalls.h"
#include "page_file.h"

#include <libgen.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

// The sanitizers look into their own process by calls that the sandbox refuses.
#ifdef __has_feature
#define HAS_FEATURE(name) __has_feature(name)
#else
#define HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||                               \
    HAS_FEATURE(address_sanitizer) || HAS_FEATURE(thread_sanitizer) ||                             \
    HAS_FEATURE(memory_sanitizer)
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

static const char unix_prefix[] = "unix:";

// ---- files

static int allow_library(struct dl_phdr_info *library, size_t bytes, void *rules) {
    (void)bytes;
    if (library->dlpi_name != NULL && strchr(library->dlpi_name, '/') != NULL) {
        landlock_allow_beside(*(const int *)rules, library->dlpi_name, LANDLOCK_READ);
    }
    return 0;
}

// Libraries load their plug-ins and read their configuration when they are first used.
static void allow_system(int rules) {
    static const char *const read[] = {"/etc/ld.so.cache",     "/etc/localtime",
                                       "/usr/share/zoneinfo",  "/etc/ssl/openssl.cnf",
                                       "/etc/ssl/certs",       "/etc/pki/tls/openssl.cnf",
                                       "/etc/crypto-policies", "/usr/lib/ssl",
                                       "/proc/self",           "/proc/sys/vm",
                                       "/proc/meminfo",        "/proc/stat",
                                       "/sys/fs/cgroup",       "/sys/devices/system/cpu",
                                       "/dev/urandom",         "/dev/random"};
    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
        landlock_allow(rules, read[i], LANDLOCK_READ);
    }
    landlock_allow(rules, "/dev/null", LANDLOCK_READ | LANDLOCK_WRITE);
    dl_iterate_phdr(allow_library, &rules);
}

static void allow_beside(int rules, const char *path, unsigned grants) {
    if (path[0] != '\0') {
        landlock_allow_beside(rules, path, grants);
    }
}

static void allow_read(int rules, const Options *options) {
    char page[PAGE_FILE_PATH_BYTES];
    const char *const read[] = {options->tls_cert, options->tls_key, options->tls_client_ca,
                                options->tokens, options->viewer};
    for (size_t i = 0; i < sizeof(read) / sizeof(read[0]); i++) {
        allow_beside(rules, read[i], LANDLOCK_READ);
    }
    if (page_file_find(page)) {
        landlock_allow(rules, page, LANDLOCK_READ);
    }
}

// SQLite's own temporary files go where its file is, unless the environment says otherwise.
static void allow_episodes(int rules, const char *path) {
    static const unsigned grants = LANDLOCK_READ | LANDLOCK_WRITE;
    static const char variable[] = "SQLITE_TMPDIR";
    char folder[PATH_MAX];
    if (path[0] == '\0') {
        return;
    }
    landlock_allow_beside(rules, path, grants);
    snprintf(folder, sizeof(folder), "%s", path);
    setenv(variable, dirname(folder), 0);
    landlock_allow(rules, getenv(variable), grants);
}

static void allow_write(int rules, const Options *options) {
    static const unsigned grants = LANDLOCK_READ | LANDLOCK_WRITE;
    const char *const episodes[] = {options->db, options->recover, options->check, options->merge};
    for (size_t i = 0; i < sizeof(episodes) / sizeof(episodes[0]); i++) {
        allow_episodes(rules, episodes[i]);
    }
    for (size_t i = 0; i < options->merge_count; i++) {
        allow_beside(rules, options->merge_from[i], grants);
    }
    allow_beside(rules, options->log_file, grants);
    allow_beside(rules, options->audit_file, grants);
    if (options->backup_dir[0] != '\0') {
        landlock_allow(rules, options->backup_dir, grants);
    }
}

// With --parent-fd the folder of a socket goes when whoever made it is gone.
static void allow_socket(int rules, const char *address, bool may_clear_up) {
    char path[OPTIONS_ADDRESS_BYTES];
    if (strncmp(address, unix_prefix, strlen(unix_prefix)) != 0) {
        return;
    }
    snprintf(path, sizeof(path), "%s", address + strlen(unix_prefix));
    landlock_allow_beside(rules, path, LANDLOCK_SOCKETS);
    if (may_clear_up) { // which is a right over the folder that it is in
        landlock_allow(rules, dirname(dirname(path)), LANDLOCK_RMDIR);
    }
}

static bool confine_files(const Options *options) {
    const int rules = landlock_open();
    if (rules < 0) {
        return false;
    }
    allow_system(rules);
    allow_read(rules, options);
    allow_write(rules, options);
    for (size_t i = 0; i < options->listen_count; i++) {
        allow_socket(rules, options->listen[i], options->parent_fd != OPTIONS_NO_FD);
    }
    allow_socket(rules, options->http, false);
    const bool is_done = landlock_enforce(rules);
    close(rules);
    return is_done;
}

// ---- all of it

static bool has_secrets(const Options *options) {
    return options->token_file[0] != '\0' || options->tokens[0] != '\0' ||
           options->tls_key[0] != '\0' || options->seal_key[0] != '\0';
}

static void enter(Sandbox *sandbox, const Options *options) {
    if (IS_SANITIZED) {
        sandbox->why = "this build has a sanitizer, which needs what it refuses";
        return;
    }
    sandbox->files = confine_files(options) ? landlock_version() : 0;
    sandbox->calls = syscalls_refuse();
    sandbox->dumps = has_secrets(options) && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
    sandbox->why = sandbox->files == 0
                       ? "the kernel has no Landlock, or whoever started us forbids it"
                   : !sandbox->calls ? "the kernel has no seccomp filters, or not of this machine"
                                     : NULL;
}

Status sandbox_enter(Sandbox *sandbox, const Options *options, Error *error) {
    *sandbox = (Sandbox){0};
    if (options->sandbox == OPTIONS_SANDBOX_OFF) {
        return STATUS_OK;
    }
    enter(sandbox, options);
    return sandbox->why == NULL || options->sandbox != OPTIONS_SANDBOX_REQUIRED
               ? STATUS_OK
               : error_set(error, STATUS_FAILED_PRECONDITION, "sandbox",
                           "The sandbox is required (--sandbox required) and cannot be whole: %s.",
                           sandbox->why);
}
