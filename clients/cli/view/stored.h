// SPDX-License-Identifier: MIT
// Which file an episode is in: the one that was named, or the server's.
#pragma once

#include "cli/cli.h"

enum { STORED_PATH_BYTES = 4096 };

// A file of episodes, by its first bytes.
bool stored_is_file(const char *path);

// `db` is what was typed, as --db; NULL: the server is asked. EXIT_DONE, or says why not and
// returns the status to end with.
int stored_find(Cli *cli, const char *db, char path[STORED_PATH_BYTES]);

// An episode as a page in a folder of its own that only this user sees, so that a browser opens it
// from there; what lies there for longer than a day goes.
int stored_write_page(Cli *cli, const char *db, const char *episode, const char *page,
                      char path[STORED_PATH_BYTES]);
