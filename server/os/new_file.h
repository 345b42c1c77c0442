// SPDX-License-Identifier: MIT
// Files that are made once and never written over, as keys and certificates are. Sentences name
// `option`, which asked for them.
#pragma once

#include "base/status.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

// One with exactly these permissions, whatever the umask is. NULL, with the sentence, where there
// is one already (ALREADY_EXISTS), or none can be made.
FILE *new_file(const char *path, mode_t mode, const char *option, Error *error);

// Whether all of it is on the disk, and was written.
bool new_file_end(FILE *file, bool is_written);

// A private half, for its owner's eyes alone, and a public one, which `write` writes into files
// that are new: both are there in the end, or none.
typedef bool NewPairWrite(const void *context, FILE *private_file, FILE *public_file);
Status new_pair(const char *private_path, const char *public_path, NewPairWrite *write,
                const void *context, const char *option, Error *error);

// Makes the folder where it is not there; `holds` says for what it is.
Status new_folder(const char *path, const char *option, const char *holds, Error *error);
