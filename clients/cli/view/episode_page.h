// SPDX-License-Identifier: MIT
// The page with an episode in it: opens from a disk, needs neither the file nor a server.
#pragma once

#include "cli/cli.h"
#include "cli/files/episode_file.h"

#include <stddef.h>
#include <stdint.h>

// What browsers still open quickly: as text in the page it is a third more.
enum { EPISODE_PAGE_BYTES_MAX = 256 * 1000 * 1000 };

typedef struct EpisodePage {
    char *text; // owned
    size_t count;
    char uid[EPISODE_UID_TEXT_BYTES];
    char name[256];
} EpisodePage;

enum { EPISODE_PAGE_KEY_BYTES = 32 };

// `episode` as episode_file_take has it; `page` as page_load has it; `key` Nullable: the public one
// that the page compares signatures with. EXIT_DONE, or says why not and returns the status to end
// with; then there is nothing to free.
int episode_page_make(Cli *cli, const char *db, const char *episode, const char *page,
                      const uint8_t *key, EpisodePage *made);
void episode_page_free(EpisodePage *page);
