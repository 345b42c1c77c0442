// SPDX-License-Identifier: MIT
// A world by what a person calls it: its id, or its name. What is a number is an id.
#pragma once

#include "cli/cli.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct FoundWorld {
    Moreau__V1__Reply *reply;          // owned; holds `info`
    const Moreau__V1__WorldInfo *info; // what the server's list says of it
} FoundWorld;

// Looks through the server's worlds. EXIT_DONE, or after a sentence what to return; then there is
// nothing to free.
int world_find(Cli *cli, const char *text, FoundWorld *found);
void world_find_free(FoundWorld *found);

// Only its id. One that is typed is taken as it is: the server says whether there is such a world.
// `or_file`: the text might have been a file, which is not there, and the sentence says so.
int world_find_id(Cli *cli, const char *text, bool or_file, uint64_t *id);
