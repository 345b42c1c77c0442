// SPDX-License-Identifier: MIT
// moreau bench: hands over to the benchmark program, which is built beside this tool or installed
// on the PATH.
#include "cli/cli.h"

#include "cli/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BENCH_PROGRAM "moreau-bench"

enum { PATH_BYTES = 4096 };

// The directory of this program's file, with its slash; false where the system does not tell.
static bool own_directory(const char *program, char *path) {
    ssize_t count = readlink("/proc/self/exe", path, PATH_BYTES - 1);
    if (count > 0) {
        path[count] = '\0';
    } else {
        snprintf(path, PATH_BYTES, "%s", program);
    }
    char *slash = strrchr(path, '/');
    if (slash == NULL) {
        return false;
    }
    slash[1] = '\0';
    return true;
}

int command_bench(Cli *cli, int argc, char **argv) {
    char **arguments = memory_take((size_t)argc + 3, sizeof(*arguments));
    int count = 0;
    arguments[count++] = memory_copy(BENCH_PROGRAM);
    for (int i = 0; i < argc; i++) {
        arguments[count++] = argv[i];
    }
    if (cli->json) {
        arguments[count++] = memory_copy("--json"); // it was given before the command
    }
    setenv("MOREAU_SERVER", cli->server, 1);

    char beside[PATH_BYTES + sizeof(BENCH_PROGRAM)];
    if (own_directory(cli->program, beside)) {
        strcat(beside, BENCH_PROGRAM); // own_directory leaves room for it
        execv(beside, arguments);
    }
    execvp(BENCH_PROGRAM, arguments);
    int status =
        cli_fail(EXIT_USAGE,
                 "cannot start " BENCH_PROGRAM " (%s); it is built with the project's tests, "
                 "put it beside this program or on the PATH",
                 strerror(errno));
    free(arguments[0]);
    if (cli->json) {
        free(arguments[count - 1]);
    }
    free(arguments);
    return status;
}
