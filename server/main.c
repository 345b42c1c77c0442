// SPDX-License-Identifier: MIT
// moreau-server: options in, a running server (or a mended file), an exit status out. 0 done, 1
// could not start, or something was lost, 2 usage.
#include "access/seal_key.h"
#include "access/seal_new.h"
#include "log/recovery/inspect.h"
#include "log/recovery/merge.h"
#include "log/recovery/recover.h"
#include "net/tls/self_signed.h"
#include "options.h"
#include "sandbox.h"
#include "server.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

// Blocks of this size and more go back to the system at once when they are freed. (Left alone, the
// C library raises the limit to the largest block that it has seen, and keeps what a crowd left.)
enum { BIG_BLOCK_BYTES = 1 << 20, SPARE_BYTES = 4 << 20 };

static Status run_with(Options *options, const SealKey *key, Error *error) {
    Sandbox sandbox;
    if (sandbox_enter(&sandbox, options, error) != STATUS_OK) {
        return error->status;
    }
    if (options->recover[0] != '\0') {
        return recover_file(options->recover, stdout, error);
    }
    if (options->merge[0] != '\0') {
        return merge_files(options->merge, options->merge_from, options->merge_count, stdout,
                           error);
    }
    return options->check[0] != '\0' ? inspect_file(options->check, stdout, error)
                                     : server_run(options, &sandbox, key, error);
}

static Status run(Options *options, Error *error) {
    SealKey *key = NULL;
    if (options->tls_self_signed[0] != '\0') {
        return tls_self_signed(options->tls_self_signed, stdout, error);
    }
    if (options->seal_new[0] != '\0') {
        return seal_new(options->seal_new, stdout, error);
    }
    // in the sandbox the file is out of reach: what gets into the process has no more than a copy
    if (options->seal_key[0] != '\0' &&
        seal_key_read(options->seal_key, &key, error) != STATUS_OK) {
        return error->status;
    }
    const Status status = run_with(options, key, error);
    seal_key_free(key);
    return status;
}

// What is recorded is not everybody's to read.
static void limit_files(const Options *options) {
    const mode_t given = umask(0);
    umask(given | (0777 & ~(mode_t)options->file_mode));
}

int main(int argc, char **argv) {
    mallopt(M_MMAP_THRESHOLD, BIG_BLOCK_BYTES);
    mallopt(M_TRIM_THRESHOLD, SPARE_BYTES);
    Options *options = calloc(1, sizeof(*options));
    if (options == NULL) {
        fprintf(stderr, "moreau-server: no memory\n");
        return 1;
    }
    Error error = {0};
    int exit_status = 0;
    switch (options_parse(options, argc, argv, stdout, &error)) {
    case OPTIONS_RUN:
        limit_files(options);
        if (run(options, &error) != STATUS_OK) {
            fprintf(stderr, "moreau-server: %s\n", error.message);
            exit_status = 1;
        }
        break;
    case OPTIONS_EXIT:
        break;
    case OPTIONS_WRONG:
        fprintf(stderr, "moreau-server: %s\n", error.message);
        exit_status = 2;
        break;
    }
    free(options);
    return exit_status;
}
