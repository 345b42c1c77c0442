// SPDX-License-Identifier: MIT
// A server of this program's own: on this machine, on free ports, with its pages; ends with it.
#pragma once

#include "cli/cli.h"

#include <sys/types.h>

enum { LOCAL_ADDRESS_BYTES = 128 };

typedef struct LocalServer {
    pid_t process;                     // 0: none runs
    char address[LOCAL_ADDRESS_BYTES]; // of the protocol
    char http[LOCAL_ADDRESS_BYTES];    // of its pages
} LocalServer;

// `db` is the file that it records to, `log` where it writes what it has to say. EXIT_DONE, or says
// why not and returns the status to end with.
int local_server_start(Cli *cli, const char *db, const char *log, LocalServer *server);

// Browsers that watch a world through its pages; 0 as well where it does not say.
unsigned local_server_viewers(const LocalServer *server);

// Lets it finish. Does nothing where none runs.
void local_server_stop(LocalServer *server);
