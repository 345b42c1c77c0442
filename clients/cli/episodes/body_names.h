// SPDX-License-Identifier: MIT
// What the bodies of an episode are called, by id.
#pragma once

#include "cli/cli.h"

typedef struct BodyName {
    uint64_t id;
    const char *name; // borrowed from the reply
} BodyName;

typedef struct BodyNames {
    BodyName *item; // owned, [count], by id
    size_t count;
    MoreauReply *reply; // owned
} BodyNames;

// Asks the server; EXIT_DONE, or the status after a sentence. body_names_free in any case.
int body_names_take(Cli *cli, const char *episode, BodyNames *names);
void body_names_free(BodyNames *names);

// "": it has none.
const char *body_names_find(const BodyNames *names, uint64_t id);
