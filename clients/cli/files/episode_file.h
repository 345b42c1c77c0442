// SPDX-License-Identifier: MIT
// One episode out of a server's file, as a file of its own: the same tables with its rows alone,
// its chunks as they were sealed. The server may be running; nothing is written into its file.
#pragma once

#include "cli/cli.h"

#include <stddef.h>
#include <stdint.h>

enum { EPISODE_UID_TEXT_BYTES = 33 };

typedef struct EpisodeFile {
    uint8_t *bytes; // owned by the caller, freed with free: an SQLite database
    size_t count;
    char uid[EPISODE_UID_TEXT_BYTES]; // of the episode
    char name[256];                   // of it; a longer one is cut
} EpisodeFile;

// `episode` is an id, its first digits (at least 4), or a name that only one has; NULL: the newest.
// EXIT_DONE, or says why not and returns the status to end with. More than `bytes_max` is refused.
int episode_file_take(Cli *cli, const char *db, const char *episode, size_t bytes_max,
                      EpisodeFile *file);

// How many bytes its chunks have. `file` gets what names it, and no bytes.
int episode_file_measure(Cli *cli, const char *db, const char *episode, uint64_t *bytes,
                         EpisodeFile *file);

// The same, of any size, into the file `to`, which is replaced. `file` gets what names it.
int episode_file_copy(Cli *cli, const char *db, const char *episode, const char *to,
                      EpisodeFile *file);
