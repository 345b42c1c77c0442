// SPDX-License-Identifier: MIT
// A program beside this one, spoken to through pipes. It ends with this program.
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

enum { CHILD_PATH_BYTES = 4096 + 32 };

typedef struct Child {
    pid_t pid;
    FILE *to, *from;
} Child;

// The program of this name where the build puts it: moreau-bench-NAME. false: it is not there.
bool child_find(const char *name, char path[CHILD_PATH_BYTES]);

// `argument` is Nullable.
void child_start(Child *child, const char *path, const char *argument);

// Closes both pipes and waits for its end, which the end of its input should bring.
void child_stop(Child *child);

// The same of one that is not to go on.
void child_kill(Child *child);
