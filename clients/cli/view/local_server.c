// SPDX-License-Identifier: MIT
#include "cli/view/local_server.h"

#include "cli/view/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_FD = 3 };

static void run_server(const char *program, const char *db, const char *log, int ready) {
    const char *const argv[] = {program, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
                                "--db",  db,         "--log-file",  log,      "--ready-fd",
                                "3",     NULL};
    // Ctrl-C is this program's, which then stops the server; and none outlives it
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    const int nothing = open("/dev/null", O_RDWR);
    ready = fcntl(ready, F_DUPFD, READY_FD + 1);
    dup2(nothing, STDIN_FILENO), dup2(nothing, STDOUT_FILENO);
    if (dup2(ready, READY_FD) == READY_FD) {
        close(ready);
        execv(program, (char *const *)argv);
    }
    _exit(127);
}

// A line of what it writes when it is ready. false: it ended before.
static bool read_line(FILE *ready, char text[LOCAL_ADDRESS_BYTES]) {
    const bool is_there = fgets(text, LOCAL_ADDRESS_BYTES, ready) != NULL;
    text[is_there ? strcspn(text, "\n") : 0] = '\0';
    return is_there && text[0] != '\0';
}

int local_server_start(Cli *cli, const char *db, const char *log, LocalServer *server) {
    char program[SHARED_PATH_BYTES];
    int ready[2];
    *server = (LocalServer){0};
    if (!shared_find_program("moreau-server", program)) {
        return cli_fail(cli, EXIT_REFUSED,
                        "there is no moreau-server beside this program or in PATH");
    }
    if (pipe(ready) != 0) {
        return cli_fail(cli, EXIT_REFUSED, "cannot start %s: %s", program, strerror(errno));
    }
    fcntl(ready[0], F_SETFD, FD_CLOEXEC);
    server->process = fork();
    if (server->process == 0) {
        run_server(program, db, log, ready[1]);
    }
    close(ready[1]);
    FILE *lines = fdopen(ready[0], "r");
    const bool is_ready = server->process > 0 && lines != NULL &&
                          read_line(lines, server->address) && read_line(lines, server->http);
    if (lines != NULL) {
        fclose(lines);
    }
    if (!is_ready) {
        local_server_stop(server);
        return cli_fail(cli, EXIT_REFUSED, "%s did not start; %s says why", program, log);
    }
    return EXIT_DONE;
}

void local_server_stop(LocalServer *server) {
    if (server->process > 0) {
        kill(server->process, SIGTERM);
        while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *server = (LocalServer){0};
}
