// SPDX-License-Identifier: MIT
// An episode as a video: the page shows one step after the other and encodes what it shows.
#pragma once

#include "cli/cli.h"
#include "cli/view/shoot.h"

#include <stddef.h>
#include <stdint.h>

typedef struct FilmWish {
    uint64_t from, to; // steps
    double speed;      // 1: as fast as it was simulated
    unsigned frames_per_s;
} FilmWish;

// A WebM file, owned by the caller. EXIT_DONE, or says why not and returns the status to end with.
int film_make(Cli *cli, Shoot *shoot, const FilmWish *wish, uint8_t **bytes, size_t *count);
