// SPDX-License-Identifier: MIT
// Pictures of an episode: the page is opened in a browser without a window, goes to a step, and is
// looked at.
#pragma once

#include "cli/cli.h"
#include "cli/view/devtools.h"

#include <stddef.h>
#include <stdint.h>

typedef struct ShootWish {
    const char *page; // a file: the page with the episode in it
    const char *hash; // Nullable: what stands behind its #, as "tab=plots"
    unsigned width, height;
    bool is_dark;
    bool is_bare;  // the picture alone, without what stands around it
    bool proves;   // steps the episode again first, so that the page says what that came to
    double nearer; // than where all is seen: 1, or less for nearer
} ShootWish;

typedef struct Shoot Shoot;

// EXIT_DONE, or says why not and returns the status to end with.
int shoot_open(Cli *cli, const ShootWish *wish, Shoot **shoot);
uint64_t shoot_last_step(const Shoot *shoot);
double shoot_time_step(const Shoot *shoot); // [s]

// What the proof came to, as the page says it: "proven"; "" where none was wished for.
const char *shoot_verdict(const Shoot *shoot);

// Goes to a step and takes a picture, PNG, owned by the caller.
int shoot_take(Cli *cli, Shoot *shoot, uint64_t step, uint8_t **bytes, size_t *count);

// The page, for who runs scripts in it.
Devtools *shoot_page(const Shoot *shoot);

// What the page said last, as a failure of the command.
int shoot_fail(Cli *cli, const Shoot *shoot);
void shoot_close(Shoot *shoot); // Nullable
