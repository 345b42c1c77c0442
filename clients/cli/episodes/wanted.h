// SPDX-License-Identifier: MIT
// Which bodies of an episode a command is about: --body BODY, an id or a name.
#pragma once

#include "cli/cli.h"

typedef struct WantedBodies {
    const OptionList *typed; // by id or name; none: all
    size_t count;            // 0: all
    uint64_t body[OPTION_LIST_MAX];
    bool was_seen[OPTION_LIST_MAX]; // in some frame
} WantedBodies;

// Asks the server for the names where one was given. EXIT_DONE, or the status after a sentence.
int wanted_find(Cli *cli, const char *episode, WantedBodies *wanted);

bool wanted_has(const WantedBodies *wanted, uint64_t body);

// Ids are not looked up before: bodies come while an episode goes on. So frames are looked through,
// and in the end, what was in none of them is told.
void wanted_look(WantedBodies *wanted, const MoreauFrame *frame);
int wanted_check_seen(Cli *cli, const WantedBodies *wanted);
