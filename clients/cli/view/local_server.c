// SPDX-License-Identifier: MIT
#include "cli/view/local_server.h"

#include "cli/base/memory.h"
#include "cli/view/shared.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_FD = 3, PATIENCE_S = 2, METRICS_BYTES_MAX = 1 << 16 };

static void run_server(const char *program, const char *db, const char *log, int ready) {
    // who started it waits for it, or ends it: on a machine with much else to do a step is given
    // all its time
    const char *const argv[] = {
        program,      "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",       "--db",     db,
        "--log-file", log,        "--ready-fd",  "3",      "--work-timeout-ms", "86400000", NULL};
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

// Connected to its pages; -1: it is not there.
static int open_pages(const LocalServer *server) {
    const char *colon = strrchr(server->http, ':');
    const unsigned long port = colon != NULL ? strtoul(colon + 1, NULL, 10) : 0;
    const struct sockaddr_in at = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval patience = {.tv_sec = PATIENCE_S};
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0 ||
                    connect(fd, (const struct sockaddr *)&at, sizeof(at)) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

unsigned local_server_viewers(const LocalServer *server) {
    static const char gauge[] = "\nmoreau_http_viewers ";
    char request[64 + LOCAL_ADDRESS_BYTES];
    char *said = memory_take(METRICS_BYTES_MAX, 1);
    size_t count = 0;
    ssize_t got = 1;
    const int fd = open_pages(server);
    snprintf(request, sizeof(request), "GET /metrics HTTP/1.0\r\nHost: %s\r\n\r\n", server->http);
    if (fd >= 0 && send(fd, request, strlen(request), MSG_NOSIGNAL) == (ssize_t)strlen(request)) {
        while (got > 0 && count < METRICS_BYTES_MAX - 1) {
            got = recv(fd, said + count, METRICS_BYTES_MAX - 1 - count, 0);
            count += got > 0 ? (size_t)got : 0;
        }
    }
    if (fd >= 0) {
        close(fd);
    }
    said[count] = '\0';
    const char *at = strstr(said, gauge);
    const unsigned viewers = at != NULL ? (unsigned)strtoul(at + strlen(gauge), NULL, 10) : 0;
    free(said);
    return viewers;
}

void local_server_stop(LocalServer *server) {
    if (server->process > 0) {
        kill(server->process, SIGTERM);
        while (waitpid(server->process, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *server = (LocalServer){0};
}
