// SPDX-License-Identifier: MIT
// The frames of an episode as files that other programs read. A format is a table of functions that
// take the frames one by one; files appear once they are whole.
#pragma once

#include "cli/episodes/body_names.h"
#include "cli/cli.h"
#include "cli/episodes/wanted.h"

typedef struct ExportWish {
    const char *path;       // where it goes, as typed
    const char *uid, *name; // of the episode
    bool poses, velocities, joints, contacts, reports;
    const WantedBodies *wanted;
    BodyNames names;
} ExportWish;

typedef struct ExportFormat {
    const char *option; // that asks for it
    size_t state_bytes; // of what the functions share, zeroed before the first
    // EXIT_DONE, or the status after a sentence; then `drop` follows all the same
    int (*begin)(Cli *cli, const ExportWish *wish, void *state);
    bool (*add)(void *state, const MoreauFrame *frame); // false: `end` will say why
    int (*end)(Cli *cli, void *state);
    void (*drop)(void *state); // always the last; what has not ended is as if it had never begun
} ExportFormat;

extern const ExportFormat export_csv; // csv.c: a table with a row per thing and frame
extern const ExportFormat export_npz; // npz.c: NumPy's arrays, one entry per frame

// html.c; `page` and `key` as episode_page_make has them
int export_html(Cli *cli, const char *db, const char *episode, const char *page, const uint8_t *key,
                const char *path);
