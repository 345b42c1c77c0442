// SPDX-License-Identifier: MIT
#include "bench/child.h"

#include "bench/bench.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

bool child_find(const char *name, char path[CHILD_PATH_BYTES]) {
    char own[4096];
    ssize_t count = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[count > 0 ? count : 0] = '\0';
    snprintf(path, CHILD_PATH_BYTES, "%s-%s", own, name);
    return access(path, X_OK) == 0;
}

// Ends that no other process inherits: a child's input must end when this program closes it.
static void open_pipe(int ends[2]) {
    if (pipe(ends) != 0 || fcntl(ends[0], F_SETFD, FD_CLOEXEC) != 0 ||
        fcntl(ends[1], F_SETFD, FD_CLOEXEC) != 0) {
        bench_fail("no pipe");
    }
}

void child_start(Child *child, const char *path, const char *argument) {
    int in[2], out[2];
    open_pipe(in);
    open_pipe(out);
    child->pid = fork();
    if (child->pid < 0) {
        bench_fail("cannot start a process");
    }
    if (child->pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execl(path, path, argument, (char *)NULL);
        _exit(EXIT_FAILURE);
    }
    close(in[0]);
    close(out[1]);
    child->to = fdopen(in[1], "w");
    child->from = fdopen(out[0], "r");
    if (child->to == NULL || child->from == NULL) {
        bench_fail("memory ended");
    }
}

void child_stop(Child *child) {
    fclose(child->to);
    fclose(child->from);
    waitpid(child->pid, NULL, 0);
    child->pid = 0;
}

void child_kill(Child *child) {
    kill(child->pid, SIGKILL);
    child_stop(child);
}
